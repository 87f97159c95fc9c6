"""Where streams are cut and what slices hold, drawn from the state of a stream."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from docs.drawings.canvas import Canvas
from docs.drawings.timeline import Bar, Timeline
from docs.drawings.windows import TIMES, VALUES

import sash
from sash.slicing.slicer import Progression, cutty, pairs, panes
from sash.windows.grid import Grid

__all__ = ["PICTURES"]

QUERIES = {
    "sliding(10, every=5)": ("blue", sash.query("sliding", sash.sliding(10, every=5), total=sash.sum("x"))),
    "tumbling(6)": ("green", sash.query("tumbling", sash.tumbling(6), total=sash.sum("x"))),
}


def edges_of(progressions: Iterable[Progression], first: int, last: int) -> list[int]:
    """All edges of some progressions in [first, last]."""
    given = list(progressions)
    every = range(first, last + 1)
    return [p for p in every if any((p - each.phase) % each.step == 0 for each in given)]


CUTS = edges_of([*pairs(Grid.of(10, 5, 0)), *pairs(Grid.of(6, 6, 0))], -5, 35)


def slices_of(stream: sash.Stream, rows: Iterable[int]) -> list[Bar]:
    """The slices of a stream without keys: from the edge before the first row to the one after the last."""
    state: Any = stream._state
    slices, sums = state.slices, state.partials[0].fields[-1]
    begin = int(slices.begin[0])
    found = []
    for number in slices.order[begin : begin + int(slices.count[0])]:
        first, last, end = (int(each[number]) for each in (slices.firsts, slices.lasts, slices.ends))
        assert end in CUTS
        start = max(cut for cut in CUTS if cut <= first)
        found.append(Bar(start, end, str(int(sums[number])), [row for row in rows if first <= row <= last]))
    return found


def windows_of(results: Any, query: str, slices: list[Bar]) -> list[Bar]:
    """The windows of a query, each with the slices that it is made of."""
    found = []
    for row in results.to_pylist():
        if row["query"] == query:
            start, end = row["window_start"], row["window_end"]
            parts = [each.words for each in slices if start <= each.start and each.end <= end]
            assert sum(map(int, parts)) == row["total"]
            found.append(Bar(start, end, " + ".join(parts) + f" = {row['total']}" * (len(parts) > 1)))
    return found


def shared() -> Canvas:
    line = Timeline("Two queries, one set of slices (sums)")
    stream = sash.Stream([query for _color, query in QUERIES.values()], on="t")
    stream.push({"t": TIMES, "x": VALUES})
    slices = slices_of(stream, TIMES)
    results = stream.finish()
    line.axis(TIMES)
    line.edges(CUTS, line.y - 10, line.y + 136)
    line.bars("slices, with their sums", slices, "amber")
    for name, (color, query) in QUERIES.items():
        line.bars(name, windows_of(results, query.name, slices), color)
    return line.canvas


def corrected() -> Canvas:
    """A late row changes one slice, and the windows over it are emitted again."""
    late = 14
    stream = sash.Stream([query for _color, query in QUERIES.values()], on="t", allowed_lateness=30)
    stream.push({"t": TIMES, "x": VALUES}, watermark=30)
    before = slices_of(stream, TIMES)
    results = stream.push({"t": [late], "x": [7]})
    after = slices_of(stream, [*TIMES, late])
    line = Timeline(f"A late row, at {late}, changes one slice (sums)")
    line.axis([*TIMES, late], above={late: "late"})
    line.bars("slices before", before, "amber")
    changed = [
        new if new == old else Bar(new.start, new.end, new.words, new.rows, "red")
        for old, new in zip(before, after, strict=True)
    ]
    line.bars("slices after", changed, "amber")
    for name, (color, query) in QUERIES.items():
        line.bars(name, windows_of(results, query.name, after), color, "emitted again")
    return line.canvas


def cuts() -> Canvas:
    """The same windows, cut in three ways."""
    size, every = 10, 3
    line = Timeline(f"Where to cut for windows of {size}, every {every}", 0, 30)
    line.axis(())
    starts = range(0, 21, every)
    line.bars("the windows", [Bar(start, start + size, f"[{start}, {start + size})") for start in starts], "grey")
    for name, way, note in (
        ("Panes", panes, f"every gcd({size}, {every})"),
        ("Pairs", pairs, "at starts and ends"),
        ("Cutty", cutty, "at starts alone"),
    ):
        edges = edges_of(way(Grid.of(size, every, 0)), 0, 30)
        line.bars(name, [Bar(start, end, str(end - start)) for start, end in pairwise(edges)], "amber", note)
        line.y += 6
    return line.canvas


PICTURES = {"slices": shared, "slice_update": corrected, "cuts": cuts}
