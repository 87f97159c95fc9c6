"""The algorithms that keep a window as a queue of partials, drawn from their state."""

from collections.abc import Iterable, Sequence
from typing import Any

from docs.drawings.canvas import Canvas
from docs.drawings.folds import Group, sheet
from docs.drawings.spans import Run, Span

from sash.algebra.fields import Fields, load
from sash.swag import daba, daba_lite, foa, ioa, sba, slide_side, slide_side_inv, two_stacks
from sash.swag import slick_deque as selective
from sash.swag.ring import slot

__all__ = ["PICTURES"]


def kept(ring: Fields, start: int, end: int) -> list[Span]:
    """What a ring holds at the positions [start, end)."""
    return [load(ring, slot(ring, position))[0] for position in range(start, end)]


def alone(fields: Fields, place: int = 0) -> list[Span]:
    """What a place outside the ring holds."""
    span = load(fields, place)[0]
    return [] if span is None else [span]


def recalculate() -> Canvas:
    run = Run("recalculate").slide(11)
    ring, (f, b) = run.state
    groups = [Group("ring, as inserted", kept(ring, f, b))]
    return sheet("Recalculate: fold all rows for each query", run, groups, {"f": f, "b": b})


def subtract_on_evict() -> Canvas:
    run = Run("subtract_on_evict").slide(11)
    ring, total, (f, b) = run.state
    groups = [Group("ring, as inserted", kept(ring, f, b), "grey"), Group("total", alone(total))]
    title = "Subtract-on-Evict: one total, add and subtract (sum)"
    return sheet(title, run, groups, {"f": f, "b": b})


def two_stacks_of_values() -> Canvas:
    run = Run("two_stacks").slide(12)
    values, sums, cursor = run.state
    f, m, b = (cursor[place] for place in (two_stacks.F, two_stacks.M, two_stacks.B))
    groups = [
        Group("values, as inserted", kept(values, f, b), "grey"),
        Group("front: folds up to m", kept(sums, f, m), "blue"),
        Group("back: folds from m on", kept(sums, m, b), "green"),
    ]
    title = "Two-Stacks: the front is popped, the back is pushed (max)"
    return sheet(title, run, groups, {"f": f, "m": m, "b": b})


def two_stacks_lite() -> Canvas:
    run = Run("two_stacks_lite").slide(12)
    ring, tail, (f, m, b) = run.state
    groups = [
        Group("ring before m: folded", kept(ring, f, m), "blue"),
        Group("ring from m: as inserted", kept(ring, m, b), "grey"),
        Group("tail", alone(tail), "green"),
    ]
    title = "Two-Stacks Lite: one ring, one spare partial (max)"
    return sheet(title, run, groups, {"f": f, "m": m, "b": b})


def two_stacks_flip() -> Canvas:
    """The same just before and just after a flip."""
    before, after = Run("two_stacks_lite").slide(16), Run("two_stacks_lite").slide(16)
    after.evict()
    ring, tail, (_f, m, b) = before.state
    flipped, _tail, (g, n, _b) = after.state
    groups = [
        Group("before: as inserted", kept(ring, m, b), "grey"),
        Group("before: tail", alone(tail), "green"),
        Group("after: folded, newest first", kept(flipped, g, n), "blue"),
    ]
    title = "The flip: the front has run out, so the back becomes the front"
    formula = f"{after.combines - before.combines} combines"
    return sheet(title, after, groups, {"f": g, "m": n, "b": n}, formula, [], "evict took", measured=False)


def daba_of_values() -> Canvas:
    run = Run("daba", 12).slide(15)
    values, sums, cursor = run.state
    f, l, r, a, b, e = (cursor[getattr(daba, letter)] for letter in "FLRABE")  # noqa: E741  # the module's letters
    groups = [
        Group("values, as inserted", kept(values, f, e), "grey"),
        Group("f … l: folds to b", kept(sums, f, l), "blue"),
        Group("l … r: folds to r", kept(sums, l, r), "violet"),
        Group("r … a: folds from r", kept(sums, r, a), "amber"),
        Group("a … b: folds to b", kept(sums, a, b), "blue"),
        Group("b … e: folds from b", kept(sums, b, e), "green"),
    ]
    letters = {"f": f, "l": l, "r": r, "a": a, "b": b, "e": e}
    return sheet("DABA: the flip in many small steps (max)", run, groups, letters)


def daba_in_one_ring() -> Canvas:
    run = Run("daba_lite", 12).slide(15)
    ring, sums, (f, r, b, e) = run.state
    l = f + e - b + 1  # noqa: E741  # K6 of the module
    a = 2 * r - l
    groups = [
        Group("f … l: folds to b", kept(ring, f, l), "blue"),
        Group("l … r: folds to r", kept(ring, l, r), "violet"),
        Group("r … a: as inserted", kept(ring, r, a), "grey"),
        Group("a … b: folds to b", kept(ring, a, b), "blue"),
        Group("b … e: as inserted", kept(ring, b, e), "grey"),
        Group("mid", alone(sums, daba_lite.MID), "amber"),
        Group("back", alone(sums, daba_lite.BACK), "green"),
    ]
    letters = {"f": f, "l": l, "r": r, "a": a, "b": b, "e": e}
    return sheet("DABA Lite: one ring, two spare partials (max)", run, groups, letters)


def totals(cells: Iterable[Any]) -> list[Span]:
    """What the cells of a linked list hold."""
    return [cell.total[0] for cell in cells]


def rotating(run: Run, title: str, waits: str, lists: Sequence[Iterable[Any]]) -> Canvas:
    """A queue of two lists in the middle of a rotation: front, left, right, after, back."""
    front, left, right, after, back = (totals(each) for each in lists)
    groups = [
        Group("front: folds to m", front, "blue"),
        Group(f"{waits}: left", left, "violet"),
        Group(f"{waits}: right", right[::-1], "amber"),
        Group(f"{waits}: after", after, "blue"),
        Group("back: folds from m", back[::-1], "green"),
    ]
    return sheet(title, run, groups, {"f": run.oldest, "m": run.newest - len(back), "b": run.newest})


def okasaki_lazy() -> Canvas:
    run = Run("foa", 12).slide(14)
    queue = run.state[0]
    front = list(foa._known(queue.front))
    pending = front[-1].rest.rot
    assert pending is not None
    lists = [front, *map(foa._known, pending), foa._known(queue.back)]
    return rotating(run, "FOA: a lazy front, one cell at a time (max)", "lazy", lists)


def okasaki_in_place() -> Canvas:
    run = Run("ioa", 12).slide(14)
    front = list(ioa._known(run.state.front))
    cell = front[-1].rest
    assert cell is not None
    lists = [front, *map(ioa._known, (cell.left, cell.right, cell.after)), ioa._known(run.state.back)]
    return rotating(run, "IOA: the same cells, filled in place (max)", "delayed", lists)


def flat_fit() -> Canvas:
    """Skips before a walk, and those that it made longer."""
    run = Run("flat_fit").slide(12)
    run.evict()
    run.insert()
    ring, _ends, (f, b) = run.state
    before = kept(ring, f, b)
    answer, used = run.query()
    longer = [new for old, new in zip(before, kept(ring, f, b), strict=True) if old is not new]
    groups = [Group("before the query", before, "blue"), Group("extended by it", longer, "green")]
    formula = f"{' ⊕ '.join(map(str, sorted(used)))} = {answer}"
    return sheet("FlatFIT: each query extends the skips (max)", run, groups, {"f": f, "b": b}, formula, used)


def slick_deque_inv() -> Canvas:
    run = Run("slick_deque_inv", sizes=(8, 5, 2)).slide(11)
    ring, answer, size, (f, b) = run.state
    groups = [Group("ring, as inserted", kept(ring, f, b), "grey")]
    groups += [Group(f"result of the last {size[k]}", alone(answer, k)) for k in range(len(size))]
    title = "SlickDeque with an inverse: one total per range (sum)"
    formula = ", ".join(str(alone(answer, k)[0]) for k in range(len(size))) + ": all are at hand"
    return sheet(title, run, groups, {"f": f, "b": b}, formula, [alone(answer, k)[0] for k in range(len(size))])


def slick_deque() -> Canvas:
    """Only rows that no newer one wins against; each answers for the starts up to itself."""
    run = Run("slick_deque").slide(20)
    node, _at, cursor = run.state
    f, h, t = (cursor[getattr(selective, letter)] for letter in "FHT")
    nodes = kept(node, h, t)
    starts = [f, *(span.end for span in nodes)]
    answers = [Span(start, span.end, span.value) for start, span in zip(starts, nodes, strict=False)]
    groups = [Group("deque", nodes, "blue"), Group("results for starts here", answers, "green")]
    found = [f"last {count}: {run.query_last(count)[0]}" for count in (8, 5, 3)]
    title = "SlickDeque without an inverse: only rows that can still win (max)"
    letters = {"f": f, "b": run.newest}
    return sheet(title, run, groups, letters, "; ".join(found), [])


def slide_side_folds() -> Canvas:
    run = Run("slide_side", sizes=(8, 3)).slide(14)
    ring, tail, cursor = run.state
    f, m, b = (cursor[place] for place in (slide_side.F, slide_side.M, slide_side.B))
    groups = [
        Group("before m: folded", kept(ring, f, m), "blue"),
        Group("from m: as inserted, ≤ 3", kept(ring, m, b), "grey"),
        Group("tail", alone(tail), "green"),
    ]
    found, used = [], []
    for count in (8, 5, 3):
        answer, parts = run.query_last(count)
        found.append(f"last {count}: {' ⊕ '.join(map(str, parts))} = {answer}")
        used += parts
    title = "SlideSide: two stacks that serve many ranges (max)"
    letters = {"f": f, "m": m, "b": b}
    return sheet(title, run, groups, letters, "; ".join(found), used)


def slide_side_prefixes() -> Canvas:
    run = Run("slide_side_inv", 6).slide(13)
    ring, base, cursor = run.state
    f, a, b = (cursor[place] for place in (slide_side_inv.F, slide_side_inv.A, slide_side_inv.B))
    groups = [
        Group("base: just before f", alone(base), "red"),
        Group("prefixes before a", kept(ring, f, a), "violet"),
        Group("prefixes from a", kept(ring, a, b), "green"),
    ]
    answer, (whole, older, newest) = run.query()
    title = "SlideSide with an inverse: any range from two prefixes (sum)"
    formula = f"({whole} ⊖ {older}) ⊕ {newest} = {answer}"
    letters = {"f": f, "a": a, "b": b}
    return sheet(title, run, groups, letters, formula, [whole, older, newest])


def boundary() -> Canvas:
    run = Run("sba").slide(11)
    ring, prefix, cursor = run.state
    f, v, b = (cursor[place] for place in (sba.F, sba.V, sba.B))
    groups = [
        Group("complete chunk: folds to v", kept(ring, f, v), "violet"),
        Group("growing: as inserted", kept(ring, v, b), "grey"),
        Group("prefix", alone(prefix), "green"),
    ]
    title = "SBA: a suffix of the chunk before, a prefix of this one (max)"
    return sheet(title, run, groups, {"f": f, "v": v, "b": b})


PICTURES = {
    "recalculate": recalculate,
    "subtract_on_evict": subtract_on_evict,
    "two_stacks": two_stacks_of_values,
    "two_stacks_lite": two_stacks_lite,
    "two_stacks_flip": two_stacks_flip,
    "daba": daba_of_values,
    "daba_lite": daba_in_one_ring,
    "foa": okasaki_lazy,
    "ioa": okasaki_in_place,
    "flat_fit": flat_fit,
    "slick_deque": slick_deque,
    "slick_deque_inv": slick_deque_inv,
    "slide_side": slide_side_folds,
    "slide_side_inv": slide_side_prefixes,
    "sba": boundary,
}
