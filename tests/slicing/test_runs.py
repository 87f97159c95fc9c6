"""Runs against counters: what a slice holds is a multiset, however its rows came."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.algebra.aggregate import Template
from sash.algebra.fields import Field
from sash.algebra.holistic import collect_distinct, count_distinct, median, mode, quantile
from sash.algebra.monoid import Column
from sash.slicing.lists import Lists
from sash.slicing.runs import Read, Runs, Statistic
from sash.slicing.slices import Slices
from sash.slicing.window_manager import Ended

pytestmark = pytest.mark.compiled

SLICES = 8
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int64": st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1]),
    "float64": st.integers(-3, 3).map(float)
    | st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 0.0, 1e308, -5e-324]),
    "bool": st.booleans(),
}
STATISTICS: list[tuple[Statistic, Template]] = [
    (Statistic(Read.QUANTILE), median()),
    (Statistic(Read.COLLECT_DISTINCT), collect_distinct()),
    (Statistic(Read.QUANTILE, 0.95), quantile(q=0.95)),
    (Statistic(Read.QUANTILE, 1), quantile(q=1)),
    (Statistic(Read.COUNT_DISTINCT), count_distinct()),
    (Statistic(Read.MODE), mode()),
]
NAN = "nan"  # as a key: no NaN is equal to itself


def key_of(value: Any) -> Any:
    return NAN if value != value else value + 0.0 if isinstance(value, float) else value


def ranked(key: Any) -> Any:
    return (key == NAN, 0 if key == NAN else key)


def steps(dtype: str) -> st.SearchStrategy[list[Any]]:
    number = st.integers(0, SLICES - 1)
    row = st.tuples(number, VALUES[dtype] | st.none())
    many = st.tuples(number, st.integers(17, 60), st.randoms(use_true_random=False))
    pair = st.lists(number, min_size=2, max_size=2, unique=True)
    step = (
        st.tuples(st.just("add"), st.lists(row, max_size=40))
        | st.tuples(st.just("add many"), many)
        | st.tuples(st.just("reset"), st.lists(number, max_size=3, unique=True))
        | st.tuples(st.just("merge"), st.lists(pair, max_size=3))
        | st.tuples(st.sampled_from(["copy", "save"]), st.none())
    )
    return st.lists(step, max_size=12)


def columns(rows: list[tuple[int, Any]], dtype: str) -> tuple[Any, Any]:
    data = np.array([value if value is not None else 1 for _, value in rows], dtype)
    return np.array([number for number, _ in rows], np.int64), (data, np.array([v is not None for _, v in rows], bool))


def held(runs: Runs) -> list[Counter[Any]]:
    lengths, values, counts = runs.save(np.arange(SLICES))
    ends = np.cumsum(lengths)
    return [
        Counter(dict(zip(map(key_of, values[e - n : e].tolist()), counts[e - n : e].tolist(), strict=True)))
        for n, e in zip(lengths, ends, strict=True)
    ]


def windows(order: list[int], ranges: list[tuple[int, int]]) -> tuple[Slices, Ended]:
    slices = Slices.empty(np.int64)
    slices.order = np.array(order, np.int64)
    lows, highs = (np.array(each, np.int64) for each in zip(*ranges, strict=True))
    return slices, Ended(np.zeros(len(lows), np.int64), lows, highs, lows, highs)


def expected(template: Template, multiset: Counter[Any], dtype: str) -> Any:
    """What the aggregate itself reads off the multiset, as plain values; None where there is nothing."""
    parts = template.parts((Column(Field(np.dtype(dtype).str[1:]), nullable=True),), False)
    keys = sorted(multiset, key=ranked)
    partial = ((tuple(math.nan if key == NAN else key for key in keys), tuple(multiset[key] for key in keys)),)
    return None if parts.presence is not None and not parts.presence(partial) else parts.lower(partial)


def plain(value: Any) -> Any:
    return [key_of(each) for each in value] if isinstance(value, list) else None if value is None else key_of(value)


def assert_finishes(
    runs: Runs, model: list[Counter[Any]], order: list[int], ranges: list[tuple[int, int]], dtype: str
) -> None:
    results = runs.compute_windows([each for each, _ in STATISTICS], *windows(order, ranges))
    for (statistic, template), (values, valid) in zip(STATISTICS, results, strict=True):
        assert isinstance(values, Lists) == (statistic.read is Read.COLLECT_DISTINCT)
        got = [value if known else None for value, known in zip(values.tolist(), valid.tolist(), strict=True)]
        for (low, high), value in zip(ranges, got, strict=True):
            whole: Counter[Any] = sum((model[order[at]] for at in range(low, high)), Counter())
            assert plain(value) == plain(expected(template, whole, dtype)), (statistic, low, high)


@pytest.mark.parametrize("dtype", VALUES)
@settings(max_examples=40)
@given(data=st.data())
def test_slices_hold_the_rows_that_were_added(dtype: str, data: st.DataObject) -> None:
    runs, model = Runs(dtype), [Counter[Any]() for _ in range(SLICES)]
    runs.ensure(SLICES)
    for kind, what in data.draw(steps(dtype)):
        if kind in ("add", "add many"):
            rows = what
            if kind == "add many":
                number, count, chance = what
                rows = [(number, chance.randrange(2 if dtype == "bool" else 50)) for _ in range(count)]
            runs.add(*columns(rows, dtype))
            for number, value in rows:
                if value is not None:
                    model[number][key_of(np.dtype(dtype).type(value).item())] += 1
        elif kind == "reset":
            runs.reset(np.array(what, np.int64))
            for number in what:
                model[number] = Counter()
        elif kind == "merge":
            runs.merge(np.array(what, np.int64).reshape(-1, 2))
            for first, second in what:
                model[first], model[second] = model[first] + model[second], Counter()
        elif kind == "copy":
            old, runs = runs, runs.copy()
            old.add(*columns([(number, 1) for number in range(SLICES)], dtype))
        else:
            saved = runs.save(np.arange(SLICES))
            runs = Runs.from_saved(dtype, saved, len(saved[0]))
            again = runs.save(np.arange(SLICES))
            assert all(a.tobytes() == b.tobytes() for a, b in zip(saved, again, strict=True))
        runs.check()
        assert held(runs) == model
    order = data.draw(st.permutations(range(SLICES)))
    edge = st.integers(0, SLICES)
    ranges = data.draw(st.lists(st.tuples(edge, edge).map(lambda e: (min(e), max(e))), min_size=1, max_size=6))
    assert_finishes(runs, model, order, ranges, dtype)


@pytest.mark.parametrize("dtype", VALUES)
@settings(max_examples=15)
@given(data=st.data(), size=st.integers(14, 26), seed=st.integers(0, 2**32 - 1))
def test_windows_that_overlap_many_times_are_slid_over(dtype: str, data: st.DataObject, size: int, seed: int) -> None:
    # slices  |0|1|2|3| … |39|    windows [0, size) [1, size + 1) …, then others that part the chain
    count = 40
    runs, model = Runs(dtype), [Counter[Any]() for _ in range(count)]
    runs.ensure(count)
    chance = np.random.default_rng(seed)
    few = data.draw(st.lists(VALUES[dtype], min_size=1, max_size=5))
    ids = chance.integers(0, count, 400)
    rows = [(int(n), few[int(chance.integers(len(few)))]) for n in ids]
    if dtype != "bool":  # more distinct values than one block of the tally
        rows += [(int(n), int(chance.integers(200))) for n in ids]
    runs.add(*columns(rows, dtype))
    for number, value in rows:
        model[number][key_of(np.dtype(dtype).type(value).item())] += 1
    ranges = [(low, low + size) for low in range(count - size + 1)]
    ranges += [(0, 2), (1, 3), (30, 31), (30, 40), *ranges]
    assert_finishes(runs, model, list(range(count)), ranges, dtype)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float32"])
def test_every_type_comes_back_in_order(dtype: str) -> None:
    kind = np.dtype(dtype)
    limits: Any = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    values = np.array(
        [limits.max, 1, limits.min, 0, 1, *([math.nan, -math.inf, -0.0] if kind.kind == "f" else [])], kind
    )
    runs = Runs(kind, 1)
    runs.add(np.zeros(len(values), np.int64), (values, np.ones(len(values), bool)))
    lengths, kept, counts = runs.save(np.array([0]))
    wanted, often = np.unique(values + kind.type(0), return_counts=True)
    assert kept.dtype == kind and lengths.tolist() == [len(wanted)]
    assert np.array_equal(kept, wanted, equal_nan=kind.kind == "f") and counts.tolist() == often.tolist()


def test_a_slice_of_many_rows_is_sorted_whole() -> None:
    values = np.random.default_rng(5).integers(0, 3000, 5000)
    ids = np.arange(5000) % 2
    runs = Runs("int64", 2)
    for part in (slice(0, 4000), slice(4000, 4003), slice(4003, 5000)):
        runs.add(ids[part], (values[part], np.ones(len(values[part]), bool)))
        runs.check()
    model = [Counter(values[ids == k].tolist()) for k in range(2)]
    assert_finishes(runs, model, [0, 1], [(0, 1), (1, 2), (0, 2)], "int64")


def test_the_arena_does_not_outgrow_what_is_held() -> None:
    runs = Runs("int64", 4)
    for turn in range(200):
        number = np.array([turn % 4])
        runs.reset(number)
        runs.add(np.repeat(number, 100 + turn % 7), (np.arange(100 + turn % 7), np.ones(100 + turn % 7, bool)))
    runs.check()
    assert len(runs.values) <= 4 * 4 * 107
