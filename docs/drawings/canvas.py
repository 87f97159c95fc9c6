"""A sheet to draw on: a few shapes and words, written down as SVG."""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

__all__ = ["COLORS", "Canvas", "Label"]

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MARGIN = 16
PAPER, EDGE = "#ffffff", "#d0d7de"
COLORS = {  # a name: its line, its surface
    "ink": ("#1f2937", "#e5e7eb"),
    "grey": ("#6b7280", "#f3f4f6"),
    "blue": ("#1d4ed8", "#dbeafe"),
    "green": ("#047857", "#d1fae5"),
    "amber": ("#b45309", "#fef3c7"),
    "red": ("#b91c1c", "#fee2e2"),
    "violet": ("#6d28d9", "#ede9fe"),
}


@dataclass(frozen=True)
class Label:
    """Words on the sheet, and about how much of it they take."""

    words: str
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Label") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


@dataclass
class Canvas:
    """A white sheet of a given width that grows downward with what is drawn on it."""

    title: str
    width: float = 760
    height: float = 0
    labels: list[Label] = field(default_factory=list)
    _shapes: list[str] = field(default_factory=list)

    def _add(self, shape: str, bottom: float) -> None:
        self._shapes.append(shape)
        self.height = max(self.height, bottom + MARGIN)

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        color: str = "ink",
        width: float = 1.5,
        dashed: bool = False,
        arrow: bool = False,
    ) -> None:
        """A straight line; an arrow has its head at the end."""
        extra = ' stroke-dasharray="4 4"' if dashed else ""
        extra += f' marker-end="url(#{color})"' if arrow else ""
        self._add(
            f'<line x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}" '
            f'stroke="{COLORS[color][0]}" stroke-width="{width:g}"{extra}/>',
            max(start[1], end[1]),
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        color: str = "grey",
        dashed: bool = False,
        strong: bool = False,
        filled: bool = True,
        radius: float = 4,
    ) -> None:
        """A box with round corners; a strong one has a thick line."""
        line, surface = COLORS[color]
        extra = ' stroke-dasharray="4 3"' if dashed else ""
        self._add(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
            f'fill="{surface if filled else "none"}" stroke="{line}" stroke-width="{2.6 if strong else 1}"{extra}/>',
            y + height,
        )

    def dot(self, x: float, y: float, color: str = "ink", radius: float = 4.5, hollow: bool = False) -> None:
        """A row."""
        line = COLORS[color][0]
        self._add(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{PAPER if hollow else line}" stroke="{line}" '
            'stroke-width="1.5"/>',
            y + radius,
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 13,
        color: str = "ink",
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """Words whose middle height is at y, and whose start, middle or end is at x."""
        base = y + 0.36 * size
        extra = ' font-weight="bold"' if bold else ""
        self._add(
            f'<text x="{x:g}" y="{base:g}" font-size="{size:g}" fill="{COLORS[color][0]}" '
            f'text-anchor="{anchor}"{extra}>{escape(words)}</text>',
            y + size / 2,
        )
        wide = len(words) * size * (0.58 if bold else 0.54)
        left = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        self.labels.append(Label(words, left, y - size / 2, left + wide, y + size / 2))

    def svg(self) -> str:
        """The sheet as a file."""
        heads = "".join(
            f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{line}"/></marker>\n'
            for name, (line, _surface) in COLORS.items()
            if any(f"url(#{name})" in shape for shape in self._shapes)
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{self.height:g}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" role="img" aria-label={quoteattr(self.title)} '
            f'font-family="{FONT}">\n<title>{escape(self.title)}</title>\n'
            + (f"<defs>\n{heads}</defs>\n" if heads else "")
            + f'<rect x="0.5" y="0.5" width="{self.width - 1:g}" height="{self.height - 1:g}" rx="10" '
            f'fill="{PAPER}" stroke="{EDGE}"/>\n' + "\n".join(self._shapes) + "\n</svg>\n"
        )
