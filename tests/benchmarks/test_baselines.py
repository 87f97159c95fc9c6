"""Every technique against a recomputation of all windows from all rows."""

from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sash
from benchmarks.baselines import slice_manager
from benchmarks.baselines.chains import CHUNK, chain_positions
from benchmarks.baselines.contract import TECHNIQUES, Kind, Operator, Technique, Window
from benchmarks.baselines.slice_manager import F, merge, new_line, open_slice, shift, split, update, with_room
from benchmarks.baselines.slices_on_rows import SlicesOnRows
from sash.algebra.aggregate import Template, bind
from sash.algebra.compiler import JIT_DISABLED
from sash.algebra.fields import Field, load, same
from sash.algebra.monoid import Column, Monoid, combine, lift
from sash.errors import InvalidInput, UnsupportedAggregate, UnsupportedWindow
from tests.swag.monoids import words

AGGREGATES: dict[str, Template | dict[str, Template]] = {
    "sum": {"sum": sash.sum(), "count": sash.count("x")},
    "max": sash.max(),
    "last": {"first": sash.first(), "last": sash.last()},
    "median": sash.median(),
    "words": words,
    "collect": sash.collect(),
}
SLIDING = (Window.time(10, 4), Window.time(7, 7, 3), Window.time(3, 5))
QUERIES: dict[str, tuple[Window, ...]] = {
    "time": SLIDING,
    "sessions": (Window.session(3), Window.time(10, 4)),
    "count": (Window.count(10, 4), Window.count(3), Window.count(5, 1)),
    "mixed": (Window.count(6, 2), Window.time(10, 4), Window.session(2)),
    "punctuated": (Window.punctuated(), Window.time(10, 5)),
    "all": (Window.punctuated(), Window.session(2), Window.count(4, 3), Window.time(12, 5, 1)),
}


def monoid(name: str, compiled: bool = False) -> Monoid:
    bound = bind(AGGREGATES[name], (Column(Field("i8")),), invertible=True)
    return bound if compiled else replace(bound, is_compiled=False)


# --- the oracle ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Push:
    positions: list[int]
    values: list[int]
    marks: list[bool]
    watermark: int


def stream(seed: int, pushes: int, rows: int, late: bool) -> list[Push]:
    """Rows with ties and gaps; late ones lag behind by up to 15, some of them behind the watermark."""
    random = np.random.default_rng(seed)
    made, now = [], int(random.integers(-50, 50))
    for _ in range(pushes):
        count = int(random.integers(0, rows))
        steps = np.where(random.random(count) < 0.1, random.integers(0, 20, count), random.integers(0, 3, count))
        positions = now + np.cumsum(steps)
        now = int(positions[-1]) if count else now
        if late:
            positions = positions - np.where(random.random(count) < 0.4, random.integers(0, 15, count), 0)
        watermark = now - int(random.integers(0, 12)) if late else now
        values, marks = random.integers(-99, 99, count), random.random(count) < 0.1
        made.append(Push(positions.tolist(), values.tolist(), marks.tolist(), watermark))
    made.append(Push([], [], [], now + 100))
    return made


Row = tuple[int, int, bool]


def spans(window: Window, rows: list[Row], before: int | None, watermark: int) -> list[tuple[int, int, list[Row]]]:
    """All windows of one definition that end in (before, watermark], with their rows."""
    found: list[tuple[int, int, list[Row]]] = []

    positions = [row[0] for row in rows]

    def between(start: int, end: int) -> list[Row]:
        return rows[bisect_left(positions, start) : bisect_left(positions, end)]

    if not rows:
        return found
    if window.kind is Kind.TIME:
        first, last = rows[0][0] if before is None else max(before, rows[0][0]), rows[-1][0]
        for n in range((first - window.size - window.offset) // window.every - 1, last // window.every + 10):
            start = window.offset + n * window.every
            found.append((start, start + window.size, between(start, start + window.size)))
        return [each for each in found if each[2] and each[1] <= watermark and (before is None or each[1] > before)]
    if window.kind is Kind.COUNT:
        for start in range(0, len(rows) - window.size + 1, window.every):
            part = rows[start : start + window.size]
            if part[-1][0] < watermark and (before is None or part[-1][0] >= before):
                found.append((start, start + window.size, part))
        return found
    if window.kind is Kind.SESSION:
        groups: list[list[Row]] = [[rows[0]]]
        for row in rows[1:]:
            if row[0] - groups[-1][-1][0] <= window.size:
                groups[-1].append(row)
            else:
                groups.append([row])
        found = [(group[0][0], group[-1][0] + window.size, group) for group in groups]
        return [each for each in found if each[1] < watermark and (before is None or each[1] >= before)]
    edges = sorted({row[0] for row in rows if row[2]} | {rows[0][0]})
    found = [(start, end, between(start, end)) for start, end in pairwise(edges)]
    # A mark at the watermark before this one may have come since: it ends a window that nobody has seen.
    return [each for each in found if each[1] <= watermark and (before is None or each[1] >= before)]


def expected(aggregate: Monoid, windows: tuple[Window, ...], history: list[Push]) -> list[list[Any]]:
    """What each push must send, sorted."""
    rows: list[Row] = []
    before: int | None = None
    ended: set[tuple[int, int, int]] = set()
    sent = []
    for push in history:
        new = zip(push.positions, push.values, push.marks, strict=True)
        rows += [row for row in new if before is None or row[0] >= before]
        rows.sort(key=lambda row: row[0])
        now = push.watermark if before is None else max(before, push.watermark)
        answers = []
        for place, window in enumerate(windows):
            for start, end, part in spans(window, rows, before, now):
                if (place, start, end) in ended:
                    continue
                ended.add((place, start, end))
                folded = lift(aggregate, (part[0][1],))
                for row in part[1:]:
                    folded = combine(aggregate, folded, lift(aggregate, (row[1],)))
                answers.append((place, start, end, *(output.read(folded)[0] for output in aggregate.outputs)))
        sent.append(sorted(answers))
        before = now
    return sent


def sent_by(operator: Operator, history: list[Push]) -> list[list[Any]]:
    sent = []
    for push in history:
        positions = np.array(push.positions, np.int64)
        marks = np.array(push.marks, np.bool_)
        results = operator.push(positions, np.array(push.values, np.int64), push.watermark, marks)
        columns = (results.windows, results.starts, results.ends, *results.outputs)
        listed = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
        sent.append(sorted(zip(*listed, strict=True)))
    return sent


PAIRS = [(technique, query) for technique in TECHNIQUES.values() for query in QUERIES]
ABLE = [pair for pair in PAIRS if all(pair[0].answers(window) for window in QUERIES[pair[1]])]


def names(value: Any) -> str:
    return value.name if isinstance(value, Technique) else str(value)


@pytest.mark.parametrize(("technique", "query"), ABLE, ids=names)
@pytest.mark.parametrize("name", ["words", "sum", "max", "median", "collect"])
@pytest.mark.parametrize("late", [False, True], ids=["in order", "late"])
def test_agrees_with_a_recomputation_as_plain_python(technique: Technique, query: str, name: str, late: bool) -> None:
    aggregate = monoid(name)
    if not technique.admits(aggregate):
        pytest.skip("refused: see test_refuses_what_it_cannot_answer")
    for seed in range(6):
        history = stream(seed, 8, 25, late)
        operator = technique.start(aggregate, QUERIES[query])
        assert sent_by(operator, history) == expected(aggregate, QUERIES[query], history), seed


@pytest.mark.compiled
@pytest.mark.long
@pytest.mark.skipif(JIT_DISABLED, reason="compiled reading")
@pytest.mark.parametrize(
    ("technique", "name"),
    [(each, "sum") for each in TECHNIQUES.values()] + [(TECHNIQUES["slices_on_rows"], "last")],
    ids=str,
)
def test_agrees_with_a_recomputation_when_compiled(technique: Technique, name: str) -> None:
    aggregate, plain = monoid(name, compiled=True), monoid(name)
    if not technique.admits(aggregate):
        pytest.skip("refused: see test_refuses_what_it_cannot_answer")
    for query in [query for able, query in ABLE if able is technique]:
        for seed in range(12):
            history = stream(100 + seed, 6, 30 if seed else 600, late=seed % 3 != 1)
            operator = technique.start(aggregate, QUERIES[query])
            assert sent_by(operator, history) == expected(plain, QUERIES[query], history), (query, seed)


@pytest.mark.parametrize(("technique", "query"), [pair for pair in PAIRS if pair not in ABLE], ids=names)
def test_refuses_what_it_cannot_answer(technique: Technique, query: str) -> None:
    with pytest.raises(UnsupportedWindow, match=f"{technique.name} cannot compute"):
        technique.start(monoid("sum"), QUERIES[query])


def test_what_cannot_keep_order_refuses_an_ordered_aggregate() -> None:
    refused = [each for each in TECHNIQUES.values() if not each.facts.ordered]
    assert refused
    for technique in refused:
        with pytest.raises(UnsupportedAggregate, match="tuple_buffer"):
            technique.start(monoid("words"), SLIDING)


def test_windows_that_make_no_sense_are_refused() -> None:
    for kind, size, every in ((Kind.TIME, 0, 1), (Kind.TIME, 3, 0), (Kind.COUNT, 3, 4)):
        with pytest.raises(InvalidInput):
            Window(kind, size, every)
    with pytest.raises(InvalidInput, match="at most one session"):
        TECHNIQUES["tuple_buffer"].start(monoid("sum"), (Window.session(1), Window.session(2)))


@pytest.mark.parametrize("technique", TECHNIQUES.values(), ids=names)
def test_a_smaller_watermark_is_no_news_and_late_rows_are_ignored(technique: Technique) -> None:
    operator = technique.start(monoid("sum"), (Window.time(10),))
    assert len(operator.push([1, 12], [5, 6], 11)) == 1
    results = operator.push([3, 13], [100, 1], 4)  # 3 is before 11
    assert len(results) == 0
    assert operator.push([], [], 20).outputs[0] == [7]


@pytest.mark.parametrize("technique", TECHNIQUES.values(), ids=names)
def test_what_is_over_is_forgotten(technique: Technique) -> None:
    windows = (Window.time(20, 10), *([Window.count(8, 4)] if technique.facts.counts else []), Window.session(2))
    operator = technique.start(monoid("max"), windows)
    sizes = []
    for n in range(50):
        operator.push(list(range(20 * n, 20 * n + 20)), list(range(20)), 20 * n + 20)
        sizes.append(operator.size_bytes())
        # Positions 20 n + 19 and 20 n + 20 are one apart, so the one session never ends.
    held = operator.size_bytes()
    operator.push([], [], 5000)
    assert operator.size_bytes() < held
    assert max(sizes[:10]) > 0


@pytest.mark.long
def test_memory_follows_the_formulas() -> None:
    positions, values = np.arange(0, 1000), np.ones(1000, np.int64)
    compiled = not JIT_DISABLED
    held = {}
    for name, technique in TECHNIQUES.items():
        operator = technique.start(monoid("max", compiled), (Window.time(100, 50),))
        operator.push(positions, values, 0)
        held[name] = operator.size_bytes()
    assert held["tuple_buffer"] == 1000 * 16
    if compiled:
        assert held["aggregate_tree"] == 1000 * 16 + 999 * 8
        assert held["aggregate_buckets"] == 21 * (8 + 24)
    assert held["tuple_buckets"] > 2 * held["tuple_buffer"] > held["slices_on_rows"] > held["tuple_buffer"]


# --- slice manager, each operation on its own ----------------------------------------------------------


class Line:
    """Slices over plain Python, made by hand."""

    def __init__(self, name: str) -> None:
        self.calls = 0
        plain = monoid(name)

        def counting(a: Any, b: Any) -> Any:
            self.calls += 1
            return plain.combine(a, b)

        self.aggregate = replace(plain, combine=counting)
        self.line = new_line(self.aggregate)

    def slice(self, start: int, end: int, rows: list[tuple[int, int]]) -> None:
        cursor = self.line[-1]
        slot = int(cursor[slice_manager.B])
        open_slice(self.line, slot, start, end)
        for position, value in rows:
            self.line = with_room(self.line, 4)
            update(self.aggregate, self.line, int(self.line[-1][slice_manager.B]) - 1, position, (value,))

    def check(self, *slices: tuple[int, int, list[tuple[int, int]]]) -> None:
        """K1, K2 and K3."""
        meta, partials, pool, cursor = self.line
        calls = self.calls
        assert int(cursor[slice_manager.B] - cursor[F]) == len(slices)
        for slot, (start, end, rows) in enumerate(slices, int(cursor[F])):
            starts, ends, firsts, lasts, counts, heads, _tails = meta
            assert (starts[slot], ends[slot], counts[slot]) == (start, end, len(rows))
            assert chain_positions(pool, heads, slot) == [position for position, _ in rows]
            if rows:
                assert (firsts[slot], lasts[slot]) == (rows[0][0], rows[-1][0])
                folded = lift(self.aggregate, (rows[0][1],))
                for _, value in rows[1:]:
                    folded = combine(self.aggregate, folded, lift(self.aggregate, (value,)))
                assert same(load(partials, slot), folded)
        self.calls = calls


def counted_rows(start: int, count: int) -> list[tuple[int, int]]:
    return [(start + n, n * n % 17) for n in range(count)]


@pytest.mark.parametrize("name", ["words", "sum", "max"])
def test_merge_joins_rows_and_combines_once(name: str) -> None:
    line = Line(name)
    older, newer = counted_rows(1, 40), counted_rows(50, 3)
    line.slice(0, 50, older)
    line.slice(50, 60, newer)
    line.slice(60, 70, [(61, 1)])
    line.calls = 0
    merge(line.aggregate, line.line, 0)
    assert line.calls == 1
    line.check((0, 60, older + newer), (60, 70, [(61, 1)]))


@pytest.mark.parametrize("name", ["words", "sum", "max"])
@pytest.mark.parametrize("at", [2, 5, CHUNK + 1, CHUNK + 2, 70])
def test_split_parts_rows_at_a_position_and_recomputes_both(name: str, at: int) -> None:
    line = Line(name)
    rows = sorted([*counted_rows(1, 70), (5, 3), (5, 4)], key=lambda row: row[0])
    line.slice(0, 80, rows)
    line.slice(80, 90, [(80, 1)])
    line.calls = 0
    split(line.aggregate, line.line, 0, at)
    older, newer = [r for r in rows if r[0] < at], [r for r in rows if r[0] >= at]
    assert line.calls == len(rows) - 2
    line.check((0, at, older), (at, 80, newer), (80, 90, [(80, 1)]))
    merge(line.aggregate, line.line, 0)
    line.check((0, 80, rows), (80, 90, [(80, 1)]))


@pytest.mark.parametrize("at", [1, 10])
def test_split_beside_all_rows_recomputes_nothing(at: int) -> None:
    line = Line("words")
    rows = counted_rows(2, 5)
    line.slice(0, 20, rows)
    line.calls = 0
    split(line.aggregate, line.line, 0, at)
    assert line.calls == 0
    line.check((0, at, rows if at == 10 else []), (at, 20, [] if at == 10 else rows))


def test_a_late_row_costs_one_combine_if_the_aggregate_commutes_and_the_slice_if_not() -> None:
    rows = counted_rows(0, 50)
    for name, calls in (("sum", 1), ("max", 1), ("words", 50)):
        line = Line(name)
        line.slice(0, 60, rows)
        line.calls = 0
        line.line = with_room(line.line, 4)
        update(line.aggregate, line.line, 0, 7, (100,))
        assert line.calls == calls
        line.check((0, 60, [*rows[:8], (7, 100), *rows[8:]]))


@pytest.mark.parametrize(("name", "value", "calls"), [("sum", 5, 1), ("max", 5, 1), ("max", 99, 49), ("words", 5, 49)])
def test_shift_moves_the_last_row_one_slice_on(name: str, value: int, calls: int) -> None:
    line = Line(name)
    older, newer = [*counted_rows(0, 49), (50, value)], counted_rows(50, 40)
    line.slice(0, 49, older)
    line.slice(49, 89, newer)
    line.calls = 0
    shift(line.aggregate, line.line, 0)
    assert line.calls == calls  # 1 to add it; without an inverse, 48 for the 49 that are left
    line.check((0, 49, older[:-1]), (49, 89, [(50, value), *newer]))


def test_in_order_punctuations_split_nothing_and_late_ones_do() -> None:
    operator = TECHNIQUES["slices_on_rows"].start(monoid("words"), (Window.punctuated(),))
    assert isinstance(operator, SlicesOnRows)
    operator.push([1, 2, 3, 5, 6], [1, 2, 3, 5, 6], 0, [False, False, True, False, False])
    results = operator.push([5], [7], 5, [True])  # the row at 5 that came before belongs to the new window
    assert (results.starts.tolist(), results.ends.tolist(), results.outputs[0]) == ([1, 3], [3, 5], [(1, 2), (3,)])
    results = operator.push([9], [9], 9, [True])
    assert results.outputs[0] == [(5, 7, 6)]


def test_a_row_between_two_sessions_merges_their_slices() -> None:
    operator = TECHNIQUES["slices_on_rows"].start(monoid("words"), (Window.session(3), Window.time(100)))
    assert isinstance(operator, SlicesOnRows)

    def slices() -> int:
        cursor = operator.timed[-1]
        return int(cursor[slice_manager.B] - cursor[F])

    operator.push([1, 10], [1, 10], 0)
    assert slices() == 2
    operator.push([4], [4], 0)
    assert slices() == 2
    operator.push([7], [7], 0)
    assert slices() == 1
    assert operator.push([], [], 50).outputs[0] == [(1, 4, 7, 10)]
