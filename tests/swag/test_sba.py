"""SBA over ranges of rows that move forward: any starts and ends, with a gap or without, against plain folds."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.algebra.aggregate import Aggregate, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid, combine, identity, lift
from sash.swag import loops
from sash.swag.catalog import find
from sash.swag.split_ranges import over_split_ranges
from tests.swag.monoids import Counter, bound

ROWS = 30
Ranges = list[tuple[int, int]]


@st.composite
def forward(draw: st.DrawFn, count: int = 12) -> Ranges:
    """Draw ranges whose starts and ends never decrease; some are empty, and some rows are in no range."""
    cuts = draw(st.lists(st.tuples(st.integers(0, ROWS), st.integers(0, ROWS)), min_size=count, max_size=count))
    starts, ends = sorted(min(each) for each in cuts), sorted(max(each) for each in cuts)
    return list(zip(starts, ends, strict=True))


def folded(monoid: Monoid, values: Sequence[int], *parts: tuple[int, int]) -> Any:
    """Return the result of the rows of some ranges, one after the other."""
    partial = identity(monoid)
    for start, end in parts:
        for value in values[start:end]:
            partial = combine(monoid, partial, lift(monoid, (value,)))
    return monoid.outputs[0].read(partial)[0]


def swept(monoid: Monoid, values: Sequence[int], ranges: Ranges) -> list[Any]:
    inputs = (np.array(values),) if monoid.is_compiled else (list(values),)
    output = monoid.outputs[0]
    results = (output.result.empty(len(ranges), monoid.is_compiled),)
    presences = (np.zeros(len(ranges), np.uint8),) if output.presence else ()
    starts, ends = (np.array([each[k] for each in ranges], np.int64) for k in (0, 1))
    loops.over_ranges(find("sba"), monoid, inputs, starts, ends, results, presences)
    return list(results[0])


@pytest.mark.compiled
@settings(max_examples=60)
@given(ranges=forward(), name=st.sampled_from(["turns", "latest"]))
def test_ranges_that_move_forward_equal_a_fold_each(ranges: Ranges, name: str) -> None:
    values = list(range(-7, ROWS - 7))
    assert swept(bound(name, False), values, ranges) == [folded(bound(name), values, each) for each in ranges]


@given(ranges=forward())
def test_partials_of_python_objects_keep_every_row_in_order(ranges: Ranges) -> None:
    values = list(range(ROWS))
    assert swept(bound("words"), values, ranges) == [tuple(values[start:end]) for start, end in ranges]


@pytest.mark.parametrize("size", [1, 2, 10, 64, 500])
@pytest.mark.parametrize("keys", [1, 7, 200])
def test_rows_of_frames_need_three_combines_at_most(size: int, keys: int) -> None:
    # key 0   [0  [0 1  [0 1 2   [1 2 3 …  key 1   [k  [k k+1 …
    rows, counter = 400, Counter(bound("turns"))
    begins = [row - row % (rows // keys) for row in range(rows)]
    ranges = [(max(begin, row - size + 1), row + 1) for row, begin in enumerate(begins)]
    values = np.random.default_rng(5).integers(1, 99, rows).tolist()
    assert swept(counter.monoid, values, ranges) == [folded(bound("turns"), values, each) for each in ranges]
    assert counter.calls <= 3 * rows
    if size >= rows // keys:  # no start moves
        assert counter.calls <= rows


@pytest.mark.compiled
@settings(max_examples=40)
@given(before=forward(), after=forward(), middle=st.lists(st.booleans(), min_size=12, max_size=12))
def test_ranges_with_a_gap_equal_a_fold_each(before: Ranges, after: Ranges, middle: list[bool]) -> None:
    rows = [min(place, ROWS - 1) for place in range(12)]
    parts = [
        (first, (row, row + has_row), last)
        for first, row, has_row, last in zip(before, rows, middle, after, strict=True)
    ]
    edges = np.array(parts, np.int64).transpose(2, 1, 0)
    values, monoid = list(range(-7, ROWS - 7)), bound("turns", False)
    inputs = (np.array(values),) if monoid.is_compiled else (values,)
    results = (monoid.outputs[0].result.empty(12, monoid.is_compiled),)
    over_split_ranges(monoid, inputs, np.ascontiguousarray(edges[0]), np.ascontiguousarray(edges[1]), results, ())
    assert list(results[0]) == [folded(bound("turns"), values, *each) for each in parts]


def _added(a: Any, b: Any) -> Any:
    b[0][0] += a[0][0]  # changes and returns the newer operand
    a[0][0] = 99
    return b


def _emptied(a: Any) -> float:
    total = a[0][0]
    a[0][0] = 0.0
    return float(total)


@pytest.mark.only_compiled
def test_functions_that_change_their_arrays_cannot_change_later_results() -> None:
    own = sash.Aggregate(
        "own",
        state=("f8[1]",),
        identity=(0.0,),
        lift=lambda x: (np.full(1, x * 1.0),),
        combine=_added,
        lower=_emptied,
        commutative=True,
    )
    monoid = bind(own, (Column(Field("i8")),))
    ranges = [(0, 1), (0, 2), (0, 5), (1, 6), (3, 6), (4, 9), (9, 9), (9, 12)]
    values = np.arange(12)
    expected = [float(values[start:end].sum()) for start, end in ranges]
    assert swept(monoid, values.tolist(), ranges) == expected


@pytest.mark.compiled
def test_a_sketch_with_arrays_is_not_changed_by_reading_it() -> None:
    # The range after the gap starts where its prefix starts, so its partial is the prefix itself.
    values = np.random.default_rng(8).normal(size=60)
    table = {"t": np.arange(60), "x": values}
    for exclude in ("row", "ties"):
        frame = sash.frame(rows=(-9, 3), exclude=exclude, m=sash.moment_sketch("x"))
        found = sash.rolling(table, frame, on="t")["m"].to_pylist()
        for row in (0, 1, 20, 57, 58):
            near = np.arange(max(0, row - 9), min(60, row + 4))
            kept = values[near[near != row] if exclude == "row" else near]
            (one,) = sash.aggregate(
                {"t": np.arange(len(kept)), "x": kept},
                sash.query("q", sash.tumbling(100), m=sash.moment_sketch("x")),
                on="t",
            )["m"].to_pylist()
            assert found[row] == pytest.approx(one, rel=1e-6), (exclude, row)


# --- parts of the ranges, each swept by itself -------------------------------------------------------

# Not associative: a result shows every combine, so equal results are equal combines.
tree = Aggregate(
    "tree",
    state=("O",),
    identity=(None,),
    lift=lambda x: (x,),
    combine=lambda a, b: a if b[0] is None else b if a[0] is None else ((a[0], b[0]),),
    lower=lambda p: p[0],
)


def of_keys(sizes: Sequence[int], width: int) -> Ranges:
    """Return the ranges of the newest `width` rows of keys with so many rows."""
    ranges: Ranges = []
    for size in sizes:
        begin = len(ranges)
        ranges += [(max(begin, row + 1 - width), row + 1) for row in range(begin, begin + size)]
    return ranges


@given(
    ranges=st.one_of(
        forward(), st.builds(of_keys, st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(1, 12))
    ),
    parts=st.integers(2, 5),
)
def test_ranges_swept_in_parts_have_the_same_combines(ranges: Ranges, parts: int) -> None:
    monoid = replace(bind(tree, (Column(Field("i8")),)), is_compiled=False)
    inputs, steps = (list(range(ROWS)),), find("sba").steps
    starts, ends = (np.array([each[k] for each in ranges], np.int64) for k in (0, 1))

    def sweep(begin: int, end: int) -> list[Any]:
        results: list[Any] = [None] * (end - begin)
        before = int(ends[begin - 1]) if begin else 0
        scratch = steps.range_scratch(monoid, ROWS)
        steps.sweep_ranges(monoid, inputs, starts[begin:end], ends[begin:end], before, scratch, ((results,), ()))
        return results

    wanted = [len(ranges) * k // parts for k in range(1, parts)]
    cuts = [0, *steps.range_cuts(starts, ends, wanted).tolist(), len(ranges)]
    assert cuts == sorted(cuts) and all(cut >= place for cut, place in zip(cuts[1:-1], wanted, strict=True))
    found = [result for begin, end in pairwise(cuts) for result in sweep(begin, end)]
    assert found == sweep(0, len(ranges))


def test_ranges_of_many_keys_and_of_one_key_are_cut_near_the_wanted_places() -> None:
    for sizes, width in (((7,) * 60, 3), ((420,), 5), ((420,), 100)):
        starts, ends = (np.array(each) for each in zip(*of_keys(sizes, width), strict=True))
        (cut,) = find("sba").steps.range_cuts(starts, ends, [210]).tolist()
        assert 210 <= cut <= 210 + width


@pytest.mark.only_compiled
@pytest.mark.parametrize("keys", [1, 50])
def test_threads_change_no_bit_of_sums_of_floats(keys: int) -> None:
    rows, monoid = 4000, bind(sash.sum(), (Column(Field("f8")),))
    values = np.random.default_rng(keys).normal(0, 10.0 ** np.arange(rows).clip(0, 12), rows)
    starts, ends = (np.array(each) for each in zip(*of_keys((rows // keys,) * keys, 30), strict=True))

    def summed(threads: int) -> Any:
        results, presences = (np.zeros(rows),), (np.zeros(rows, np.uint8),) if monoid.outputs[0].presence else ()
        loops.over_ranges(find("sba"), monoid, (values,), starts, ends, results, presences, threads)
        return results[0]

    assert (summed(3) == summed(1)).all()
