"""Tables of text, rendered as plain text, Markdown, HTML, or for a terminal."""

from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """Rows under headings; columns of numbers are aligned to the right."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """Return the table in plain characters, as wide as needed.

        >>> print(Table("Speed", ("who", "rows/s"), (("copy", "900"), ("sba", "80"))).text())
        Speed
        who   rows/s
        ----  ------
        copy     900
        sba       80
        """
        widths = [max(map(len, column)) for column in zip(self.headings, *self.rows, strict=True)]
        aligns = [self._align(k) for k in range(len(self.headings))]
        lines = [self.headings, tuple("-" * width for width in widths), *self.rows]
        texts = ("  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(line, aligns, widths, strict=True)) for line in lines)
        return "\n".join([self.title, *(text.rstrip() for text in texts)])

    def markdown(self) -> str:
        """Return a Markdown table.

        >>> print(Table("", ("who", "rows/s"), (("copy", "900"),)).markdown())
        | who | rows/s |
        | :-- | --: |
        | copy | 900 |
        """
        rule = tuple("--:" if self._align(k) == ">" else ":--" for k in range(len(self.headings)))
        return "\n".join("| " + " | ".join(cells) + " |" for cells in (self.headings, rule, *self.rows))

    def html(self) -> str:
        """Return an HTML table; text is escaped, verdicts and numbers have a class.

        >>> print(Table("<1>", ("who", "rows/s"), (("copy", "900"),)).html())
        <table><caption>&lt;1&gt;</caption>
        <tr><th>who</th><th class="number">rows/s</th></tr>
        <tr><td>copy</td><td class="number">900</td></tr>
        </table>
        """
        aligned = ["number" if self._align(k) == ">" else "" for k in range(len(self.headings))]

        def line(tag: str, cells: tuple[str, ...]) -> str:
            kinds = [
                cell.replace(" ", "-") if len(cell) > 1 and cell in _STYLES else kind
                for cell, kind in zip(cells, aligned, strict=True)
            ]
            opened = [f'<{tag} class="{kind}">' if kind else f"<{tag}>" for kind in kinds]
            return "".join(f"{tag_}{escape(cell)}</{tag}>" for tag_, cell in zip(opened, cells, strict=True))

        lines = [line("th", self.headings), *(line("td", row) for row in self.rows)]
        body = "\n".join(f"<tr>{cells}</tr>" for cells in lines)
        return f"<table><caption>{escape(self.title)}</caption>\n{body}\n</table>"

    def rich(self) -> Any:
        """Return a table of Rich, for a terminal."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(
            title=self.title,
            box=box.SIMPLE_HEAD,
            title_justify="left",
            title_style="bold",
            pad_edge=False,
            show_edge=False,
        )
        for k, heading in enumerate(self.headings):
            side: Any = "right" if self._align(k) == ">" else "left"
            table.add_column(heading, justify=side, overflow="fold", no_wrap=k == 0)  # names are not wrapped
        for row in self.rows:
            table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
        return table

    def _align(self, column: int) -> str:
        cells = [row[column] for row in self.rows if row[column] not in ("", "–")]
        return ">" if cells and all(cell[0] in "0123456789-<>≈≥≤" for cell in cells) else "<"


_STYLES = {
    **dict.fromkeys(("pass", "agrees", "✓"), "green"),
    **dict.fromkeys(("miss", "differs", "✗"), "bold red"),
    **dict.fromkeys(("not measured", "–"), "dim"),
}
