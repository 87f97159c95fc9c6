"""Draws the state of an algorithm: each partial is a bar over the rows that it folds, with its value on it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from docs.drawings.canvas import Canvas
from docs.drawings.spans import PI, Run, Span, costs

__all__ = ["LEFT", "RIGHT", "Columns", "Group", "bars", "heading", "height", "marks", "named", "rows", "sheet", "strip"]

LEFT, RIGHT = 176, 744
CELL, BAR, LANE = 56, 17, 21


@dataclass(frozen=True)
class Group:
    """Partials that are kept for one purpose."""

    name: str
    spans: Sequence[Span]
    color: str = "blue"


@dataclass(frozen=True)
class Columns:
    """Where positions are on the sheet."""

    first: int
    end: int

    @property
    def cell(self) -> float:
        return min(CELL, (RIGHT - LEFT) / (self.end - self.first))

    def x(self, position: float) -> float:
        return LEFT + (position - self.first) * self.cell


def heading(canvas: Canvas) -> float:
    """The title; what follows begins below it."""
    canvas.text(16, 24, canvas.title, 15, anchor="start", bold=True)
    return 48


def named(canvas: Canvas, y: float, name: str, color: str = "ink") -> None:
    """A name in the left margin."""
    canvas.text(16, y, name, 12, color, anchor="start")


def rows(canvas: Canvas, columns: Columns, y: float, oldest: int, name: str = "rows of the window") -> float:
    """The digits, those before `oldest` as gone."""
    named(canvas, y + 13, name)
    for position in range(columns.first, columns.end):
        gone = position < oldest
        canvas.box(columns.x(position) + 1, y, columns.cell - 2, 26, "grey" if gone else "ink", gone, filled=not gone)
        canvas.text(columns.x(position + 0.5), y + 13, str(PI[position]), 14, "grey" if gone else "ink")
    return y + 36


def lanes(spans: Iterable[Span]) -> list[list[Span]]:
    """Spans in as few lines as they need so that none covers another."""
    found: list[list[Span]] = []
    for span in spans:
        for lane in found:
            if all(span.end <= other.start or other.end <= span.start for other in lane):
                lane.append(span)
                break
        else:
            found.append([span])
    return found


def height(group: Group) -> float:
    """How much of the sheet a group takes."""
    return max(1, len(lanes(group.spans))) * LANE + 7


def bars(canvas: Canvas, columns: Columns, y: float, group: Group, strong: Iterable[Span] = ()) -> float:
    """A group; the strong ones are what an answer is made of."""
    named(canvas, y + BAR / 2, group.name, group.color)
    for lane in lanes(group.spans) or [[]]:
        for span in lane:
            width = (span.end - span.start) * columns.cell
            used = any(span is each for each in strong)
            canvas.box(columns.x(span.start) + 2, y, width - 4, BAR, group.color, strong=used)
            canvas.text(columns.x(span.start) + width / 2, y + BAR / 2, str(span.value), 12, bold=used)
        y += LANE
    return y + 7


def marks(canvas: Canvas, columns: Columns, top: float, bottom: float, letters: Mapping[str, int]) -> None:
    """Letters at positions, with a line down to what they part."""
    places: dict[int, str] = {}
    for letter, position in letters.items():
        places[position] = f"{places[position]} {letter}" if position in places else letter
    for position, letter in places.items():
        canvas.line((columns.x(position), top + 9), (columns.x(position), bottom), "grey", 0.8, dashed=True)
        canvas.text(columns.x(position), top, letter, 12, "grey", bold=True)


def strip(canvas: Canvas, y: float, found: Sequence[int], size: int = 8) -> float:
    """Combines slide by slide, on one scale for all algorithms."""
    unit = 5
    floor = y + max(46, unit * max(found) + 6)
    named(canvas, floor - 22, "combines of each slide,")
    named(canvas, floor - 6, f"window of {size}")
    for k, cost in enumerate(found):
        canvas.box(LEFT + 10 * k, floor - unit * cost, 8, unit * cost, "amber", radius=1)
    canvas.line((LEFT - 4, floor), (LEFT + 10 * len(found), floor), "grey", 1)
    canvas.text(
        LEFT + 10 * len(found) + 10,
        floor - 8,
        f"at most {max(found)}, mean {sum(found) / len(found):.1f}",
        12,
        anchor="start",
    )
    return floor + 8


def sheet(
    title: str,
    run: Run,
    groups: Sequence[Group],
    letters: Mapping[str, int],
    formula: str = "",
    used: Sequence[Span] | None = None,
    step: str = "query",
    measured: bool = True,
) -> Canvas:
    """Rows, partials, the answer and its cost."""
    canvas = Canvas(title)
    y = heading(canvas)
    if used is None:
        answer, used = run.query()
        parts = [str(each) for each in sorted(used)]
        formula = formula or (f"{' ⊕ '.join(parts)} = {answer}" if len(parts) > 1 else str(answer))
    everything = [span for group in groups for span in group.spans]
    first = min([run.oldest - 1, *(span.start for span in everything)])
    columns = Columns(max(first, 0), run.newest)
    top = y
    y = rows(canvas, columns, y + 16, run.oldest)
    marks(canvas, columns, top, y + sum(map(height, groups)) - 6, letters)
    for k, group in enumerate(groups):
        later = {id(span) for each in groups[k + 1 :] for span in each.spans}
        y = bars(canvas, columns, y, group, [span for span in used if id(span) not in later])
    named(canvas, y + 10, step)
    canvas.text(LEFT, y + 10, formula, 13, anchor="start", bold=True)
    y += 28
    if measured:
        strip(canvas, y, costs(run.algorithm, run.size, sizes=run.sizes), run.size)
    return canvas
