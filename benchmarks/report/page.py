"""The page as one HTML text without external files; all content is escaped."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from benchmarks.catalog import SUITES
from benchmarks.records import Record
from benchmarks.report.findings import AGREES, DIFFERS, NOT_MEASURED, Finding, Paper, verdicts
from benchmarks.report.images import Pictures
from benchmarks.report.runs import Run, Runs, command
from benchmarks.report.stylesheet import STYLE
from benchmarks.suite import CAUTIONS
from sash.cli.table import Table

__all__ = ["Content", "render"]

PEERS = "peers"
MOST_NOTES = 8  # of what was left out
VERDICTS = (AGREES, DIFFERS, NOT_MEASURED)


@dataclass(frozen=True)
class Content:
    """The content of the page."""

    papers: tuple[Paper, ...]
    runs: Runs
    pictures: Mapping[Path, Pictures]  # by the path of the run's report
    headline: str | None  # image of native against sash


def render(content: Content) -> str:
    """Return the page."""
    sections = {
        "papers": ("The papers", _papers(content)),
        "libraries": ("Other libraries", _experiments(content, "algorithms", only={PEERS})),
        "tables": ("Spark, tables: native against sash", _experiments(content, "spark_tables")),
        "streams": ("Spark, streams: native against sash", _experiments(content, "spark_streams")),
        "promises": ("What sash promises", _promises(content.runs)),
        "algorithms": ("Algorithms that slide", _experiments(content, "algorithms", but={PEERS})),
        "slicing": ("Many windows over one stream", _experiments(content, "slicing")),
        "matrix": ("Every aggregate, window and type", _experiments(content, "matrix")),
        "runs": ("The runs", _runs(content.runs)),
    }
    links = " ".join(f'<a href="#{key}">{escape(title)}</a>' for key, (title, _) in sections.items())
    body = "\n".join(_section(key, 2, title, *parts) for key, (title, parts) in sections.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>sash, measured</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>sash, measured</h1>\n{_summary(content)}\n<nav>{links}</nav>\n{body}\n</body>\n</html>\n"
    )


def _section(key: str, level: int, title: str, *parts: str) -> str:
    inside = "\n".join(each for each in parts if each)
    return f'<section id="{escape(key)}">\n<h{level}>{escape(title)}</h{level}>\n{inside}\n</section>'


def _list(items: Iterable[str], kind: str = "note") -> str:
    found = "".join(f"<li>{escape(each)}</li>" for each in items)
    return f'<ul class="{kind}">{found}</ul>' if found else ""


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _counted(seen: Counter[str], *names: str) -> str:
    """Count each, as in "3 agree, 1 differ, 0 not measured"."""
    words = {AGREES: "agree", DIFFERS: "differ"}
    return ", ".join(f'<span class="{_kind(each)}">{seen[each]} {words.get(each, each)}</span>' for each in names)


def _summary(content: Content) -> str:
    seen = Counter(verdicts(content.papers, content.runs))
    kept = Counter(bar.verdict for bars in content.runs.promises().values() for bar in bars)
    picture = "" if content.headline is None else _img("native Spark against sash as windows grow", content.headline)
    findings = f"Of {seen.total()} findings of {len(content.papers)} papers: {_counted(seen, *VERDICTS)}."
    promises = f"Of {kept.total()} promises of sash: {_counted(kept, 'pass', 'miss', NOT_MEASURED)}."
    return f"<p>{findings} {promises}</p>\n{_list(_cautions(content.runs))}\n{picture}"


def _cautions(runs: Runs) -> Iterator[str]:
    """Return the notes that question the results of their run."""
    return (f"{run.report.name}: {note}" for run in runs for note in run.report.notes if note.startswith(CAUTIONS))


def _kind(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _img(name: str, image: str) -> str:
    return f'<img src="{image}" alt="{escape(name)}" loading="lazy">'


# --- papers ------------------------------------------------------------------------------------------

HOW = (
    "Findings of each paper, in our words, and what the records of these runs show. A finding agrees if every number "
    "reaches its limit; we chose the limits, and they are shown. A ratio over many windows is the geometric mean."
)


def _papers(content: Content) -> Iterator[str]:
    yield f'<p class="soft">{HOW}</p>'
    for paper in content.papers:
        cited = f"{escape(paper.authors)}. <i>{escape(paper.title)}</i>. {escape(paper.venue)}, {paper.year}."
        if paper.doi:
            cited += f' <a href="https://doi.org/{escape(paper.doi)}">doi:{escape(paper.doi)}</a>'
        cards = "\n".join(_finding(each, content.runs) for each in paper.findings)
        names = f'<p class="soft">{escape(paper.names)}</p>'
        yield _section(paper.key, 3, paper.cited, f"<p>{cited}</p>", names, f'<ul class="cards">\n{cards}\n</ul>')


def _finding(finding: Finding, runs: Runs) -> str:
    outcome = finding.judge(runs)
    parts = [
        f'<div class="verdict">{outcome.verdict}</div>',
        f"<div><b>{escape(finding.where)}.</b> {escape(finding.claim)}</div>",
        _list((f"{bar.name}: {bar.found} (required {bar.limit})" for bar in outcome.bars), "numbers"),
        f'<div class="note">{_measured_by(finding, runs)}</div>' if finding.experiment else "",
        f'<div class="note">{escape(finding.note)}</div>' if finding.note else "",
    ]
    return f'<li class="{_kind(outcome.verdict)}">{"".join(parts)}</li>'


def _measured_by(finding: Finding, runs: Runs) -> str:
    suite, experiment = finding.experiment.split()
    run = runs.with_experiment(suite, experiment)
    if run is None:
        return f"Not run: {_code(command(suite, experiment))}"
    return f'Measured by <a href="#{escape(_anchor(run, runs, experiment))}">{escape(finding.experiment)}</a>'


# --- experiments -------------------------------------------------------------------------------------


def _anchor(run: Run, runs: Runs, experiment: str) -> str:
    """Return the anchor of an experiment; only the first run of a suite has no number."""
    number = runs.of(run.suite.name).index(run)
    return f"{run.suite.name}-{experiment}" + (f"-{number + 1}" if number else "")


def _experiments(
    content: Content, suite: str, only: Collection[str] | None = None, but: Collection[str] = ()
) -> Iterator[str]:
    """Show plots and tables of every run of a suite, or the command to make them."""

    def is_selected(name: str) -> bool:
        return name not in but and (only is None or name in only)

    for run in content.runs.of(suite):
        yield from (_experiment(content, run, name) for name in run.experiments if is_selected(name))
    known = [each for each in SUITES[suite].experiments if is_selected(each)]
    missing = [each for each in known if content.runs.with_experiment(suite, each) is None]
    if missing:
        how = command(suite) if len(missing) == len(SUITES[suite].experiments) else command(suite, *missing)
        yield f'<p class="soft">Not run: {escape(", ".join(missing))}. Run {_code(how)}.</p>'


def _experiment(content: Content, run: Run, name: str) -> str:
    records = tuple(each for each in run.report.records if each.experiment == name)
    question = run.suite.experiments[name].question if name in run.suite.experiments else ""
    tables = "".join(map(_scrolled, run.suite.tables(replace(run.report, records=records, bars=()))))
    shown = content.pictures.get(run.path, {}).get(name, ())
    images = "\n".join(_img(title.replace("_", " "), image) for title, image in shown)
    numbers = f"<summary>Numbers</summary>\n{tables}{_list(_left_out(records))}"
    made = f"{escape(run.report.machine.date)}, {_code(command(run.suite.name, name))}"
    return _section(
        _anchor(run, content.runs, name),
        3,
        name,
        f'<p>{escape(question)} <span class="soft">{made}</span></p>',
        images,
        f"<details{'' if images else ' open'}>{numbers}</details>",
    )


def _left_out(records: Iterable[Record]) -> Iterator[str]:
    """List what was not measured and why, up to a limit."""
    left = list(dict.fromkeys(f"{each.subject}: {each.note}" for each in records if each.value is None and each.note))
    yield from left[:MOST_NOTES]
    if len(left) > MOST_NOTES:
        yield f"and {len(left) - MOST_NOTES} more, in report.json"


def _scrolled(table: Table) -> str:
    return f'<div class="scroll">{table.html()}</div>\n'


# --- promises and runs -------------------------------------------------------------------------------


BY_WHICH = (
    "Each target appears once, with the newest run that measured it. Quick runs count only if a suite has no full run."
)


def _promises(runs: Runs) -> Iterator[str]:
    yield f'<p class="soft">{BY_WHICH}</p>'
    promises = runs.promises()
    for run in runs:
        if bars := promises[run.path]:
            yield _scrolled(replace(replace(run.report, bars=bars).bar_table(), title=run.report.name))


def _runs(runs: Runs) -> Iterator[str]:
    for run in runs:
        about = f"<p>{escape(str(run.report.machine))}.<br>Again: {_code(_again(run))}</p>"
        yield f"<h3>{escape(run.report.name)}</h3>\n{about}\n{_list(run.report.notes)}"
    for name in SUITES:
        if not runs.of(name):
            yield f"<h3>{name}</h3>\n<p>Never run: {_code(command(name))}</p>"


def _again(run: Run) -> str:
    """Return the command that repeats a run."""
    partly = () if set(run.experiments) >= set(run.suite.experiments) else run.experiments
    return command(run.suite.name, *partly) + (" --quick" if run.is_quick else "")
