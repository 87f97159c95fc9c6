"""The style sheet of the page, light and dark, for large and small screens."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fff; --soft: #6b6b70; --line: #dcdce0; --panel: #f6f6f8;
  --good: #1a7f37; --bad: #c0392b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8ea; --paper: #161618; --soft: #9a9aa0; --line: #38383c;
  --panel: #202024; --good: #57c878; --bad: #ff7b6b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 3rem; border-bottom: 2px solid var(--line); padding-bottom: .3rem; }
h3 { margin-top: 2rem; }
a { color: inherit; }
nav a { margin-right: 1rem; }
code { background: var(--panel); padding: .1rem .3rem; border-radius: .3rem; font-size: .9em; }
img { display: block; max-width: 100%; height: auto; margin: 1rem 0; background: #fff; border-radius: .5rem;
  border: 1px solid var(--line); }
.soft, .note, caption { color: var(--soft); }
.note { font-size: .9rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .85rem; }
caption { text-align: left; padding: .3rem 0; white-space: nowrap; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.agrees, .pass { color: var(--good); font-weight: 600; }
.differs, .miss { color: var(--bad); font-weight: 600; }
.not-measured { color: var(--soft); }
.cards { list-style: none; padding: 0; display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
.cards > li { background: var(--panel); border-left: 4px solid currentColor; border-radius: .4rem;
  padding: .6rem .8rem; }
.cards > li > * { color: var(--ink); font-weight: 400; margin: .2rem 0; }
.cards > li > .verdict { color: inherit; font-weight: 600; }
.cards > li > .note { color: var(--soft); }
.cards ul { padding-left: 1.1rem; font-size: .9rem; }
summary { cursor: pointer; }
"""
