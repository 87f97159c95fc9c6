"""First, last, min and max of every column of pixels equal those of all results, found one by one."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.page.kept_results import KeptResults
from sash.page.m4 import BLOCK, Line
from sash.page.records import QueryFacts

NUMBERS = st.integers(-50, 50).map(float)


def brute_force(points: Any, edges: Any) -> Any:
    """Return pixel, first, last, min and max of each column as (time, value), from sorted points."""
    found = []
    for pixel in range(len(edges) - 1):
        is_last = pixel == len(edges) - 2
        own = [
            p for p in points if edges[pixel] <= p[0] and (p[0] < edges[pixel + 1] or (is_last and p[0] == edges[-1]))
        ]
        if own:
            low, high = min(value for _, value in own), max(value for _, value in own)
            first_low = next(p for p in own if p[1] == low)
            first_high = next(p for p in own if p[1] == high)
            found.append((pixel, *own[0], *own[-1], *first_low, *first_high))
    return found


def columns_of(line: Any, edges: Any) -> Any:
    pixels, *places = line.columns(np.array(edges, np.float64))
    points = [each[place].tolist() for place in places for each in (line.times, line.values)]
    return list(zip(pixels.tolist(), *points, strict=True))


def add(line: Any, results: Any, **options: Any) -> None:
    line.add(*(np.array([each[k] for each in results], np.float64) for k in range(3)), **options)


@given(st.lists(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=20), max_size=5), st.integers(1, 9), NUMBERS)
def test_columns_equal_brute_force_in_any_order_of_arrival(batches: Any, width: Any, start: Any) -> None:
    line = Line()
    known: dict[tuple[float, float], float] = {}
    for batch in batches:
        add(line, batch)
        known |= {(s, e): value for s, e, value in batch}
    points = [(e, value) for (s, e), value in sorted(known.items(), key=lambda each: each[0][::-1])]
    edges = np.linspace(start, start + 40, width + 1)
    assert columns_of(line, edges) == brute_force(points, edges)


@given(st.lists(st.tuples(NUMBERS, st.integers(1, 9).map(float), NUMBERS), min_size=1, max_size=30), st.integers(1, 30))
def test_session_replaces_the_windows_that_it_overlaps(sessions: Any, size: Any) -> None:
    results = [(start, start + length, value) for start, length, value in sessions]
    line = Line()
    known: list[tuple[float, float, float]] = []
    for begin in range(0, len(results), size):
        add(line, results[begin : begin + size], replaces="overlap")
    for each in results:
        known = [other for other in known if other[1] <= each[0] or each[1] <= other[0]] + [each]
    assert list(zip(line.starts, line.times, line.values, strict=True)) == sorted(known, key=lambda each: each[1])


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=30), st.integers(1, 30))
def test_last_rows_window_replaces_the_one_with_the_same_end(results: Any, size: Any) -> None:
    line = Line()
    for begin in range(0, len(results), size):
        add(line, results[begin : begin + size], replaces="end")
    known = {end: (start, end, value) for start, end, value in results}
    assert list(zip(line.starts, line.times, line.values, strict=True)) == [known[end] for end in sorted(known)]


@pytest.mark.compiled
def test_columns_equal_brute_force_over_many_blocks() -> None:
    dice = np.random.default_rng(5)
    count = 7 * BLOCK + 13
    times = np.cumsum(dice.integers(1, 4, count)).astype(np.float64)
    values = dice.integers(-1000, 1000, count).astype(np.float64)
    line = Line()
    for begin in range(0, count, 100):
        part = slice(begin, begin + 100)
        line.add(times[part] - 5, times[part], values[part])
    values[5 * BLOCK] = 5000  # a revision
    line.add(times[5 * BLOCK : 5 * BLOCK + 1] - 5, times[5 * BLOCK : 5 * BLOCK + 1], values[5 * BLOCK : 5 * BLOCK + 1])
    points = list(zip(times.tolist(), values.tolist(), strict=True))
    for start, end, width in ((0, times[-1], 3), (100, 2000, 7), (times[3], times[3], 1), (-5, times[-1] + 5, 1000)):
        edges = np.linspace(start, end, width + 1)
        assert columns_of(line, edges) == brute_force(points, edges)


def test_line_keeps_no_more_than_its_limit() -> None:
    line = Line(most=100)
    for begin in range(0, 1000, 10):
        ends = np.arange(begin, begin + 10, dtype=np.float64)
        line.add(ends - 1, ends, ends)
    assert len(line) <= 100
    assert line.times[-1] == 999


def test_missing_result_removes_the_one_that_it_revises() -> None:
    line = Line()
    add(line, [(0, 10, 1), (10, 20, 2)])
    add(line, [(0, 10, math.nan)])
    assert line.times.tolist() == [20]


# --- kept results ----------------------------------------------------------------------------------------


def kept(by: Any = ("k",), most: Any = 10_000, aggregates: Any = ("x",)) -> Any:
    found = KeptResults(most)
    found.describe(by, "number", [QueryFacts("q", "q: …", aggregates)])
    return found


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 20), st.sampled_from("ab"), st.one_of(st.none(), NUMBERS)), max_size=8),
        max_size=12,
    ),
    st.booleans(),
)
@settings(max_examples=40)
def test_line_equals_all_results_whenever_it_is_first_asked_for(pushes: Any, is_asked_early: Any) -> None:
    results = kept()
    known: dict[tuple[str, int], float | None] = {}
    if is_asked_early:
        results.m4("q", "a", "x", None, None, 10)
    for push in pushes:
        starts, keys, values = zip(*push, strict=True) if push else ((), (), ())
        table = pa.table(
            {
                "k": pa.array(keys, pa.string()),
                "query": pa.array(["q"] * len(push), pa.string()),
                "window_start": pa.array(starts, pa.int64()),
                "window_end": pa.array([each + 5 for each in starts], pa.int64()),
                "x": pa.array(values, pa.float64()),
            }
        )
        results.add([table])
        for start, key, value in push:
            known[key, start] = value
    points = sorted((start + 5, value) for (key, start), value in known.items() if key == "a" and value is not None)
    answer = results.m4("q", "a", "x", 0, 30, 4)
    assert answer["columns"] == brute_force(points, np.linspace(0, 30, 5))
    assert answer["count"] == len(points)


def test_m4_of_results_equals_the_m4_that_sash_computes() -> None:
    dice = np.random.default_rng(1)
    rows = {"t": np.arange(5000), "x": dice.integers(0, 1000, 5000)}
    results = sash.aggregate(rows, sash.query("q", sash.tumbling(5), x=sash.max("x")), on="t")
    found = kept(by=())
    found.add([results])
    answer = found.m4("q", "", "x", 0, 5000, 50)
    shape = sash.query("m4", sash.tumbling(100), m4=sash.m4("x"))
    expected = sash.aggregate(results.select(["window_end", "x"]), shape, on="window_end")
    drawn = [(first, last, low, high) for _, _, first, _, last, _, low, _, high in answer["columns"]]
    # The last column of the answer also has the result at its end.
    assert drawn[:-1] == [tuple(map(float, each)) for each in expected.column("m4").to_pylist()][:49]


def test_oldest_results_go_first() -> None:
    results = kept(by=(), most=1000)
    for begin in range(0, 5000, 100):
        ends = list(range(begin, begin + 100))
        results.add([pa.table({"query": ["q"] * 100, "window_start": ends, "window_end": ends, "x": ends})])
    (news,) = results.news()
    assert news["count"] <= 1000
    assert results.m4("q", "", "x", None, None, 10)["bounds"][1] == 4999


def test_keys_are_found_by_a_part_of_their_text() -> None:
    results = kept()
    names = ["<script>alert(1)</script>", "kitchen", "hall"] + [f"room {n}" for n in range(300)]
    ends = [1] * len(names)
    results.add(
        [pa.table({"k": names, "query": ["q"] * len(names), "window_start": ends, "window_end": ends, "x": ends})]
    )
    assert results.series("q", "ll")["queries"][0]["keys"] == ["hall"]
    assert len(results.series(None, "")["queries"][0]["keys"]) == 100
    assert results.m4("q", "<script>alert(1)</script>", "x", None, None, 1)["count"] == 1


def test_values_that_no_line_can_show_are_left_out() -> None:
    results = kept(by=(), aggregates=("x", "name"))
    values = pa.array([1.0, math.nan, math.inf, None])
    table = {"query": ["q"] * 4, "window_start": [0, 1, 2, 3], "window_end": [1, 2, 3, 4], "x": values}
    results.add([pa.table({**table, "name": ["a", "b", "c", "d"]})])
    assert results.m4("q", "", "x", None, None, 4)["count"] == 1
    assert results.m4("q", "", "name", None, None, 4)["count"] == 0
