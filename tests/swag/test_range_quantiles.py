"""Quantiles over ranges of rows, against sorting every range."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.swag.bit_levels import add, check_levels, empty_levels, first_from, last_before, remove
from sash.swag.range_quantiles import check, quantiles, rank, slide, start

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0, math.nan, math.inf, -math.inf, 1e300, 7.0])
SHARES = [0.0, 0.25, 0.5, 0.95, 1.0]


def of_sorted(values: list[float], q: float) -> float:
    ordered = sorted(values, key=lambda x: (math.isnan(x), x))
    place = q * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[min(math.floor(place) + 1, len(ordered) - 1)]
    share = place % 1
    return low if share == 0 or low == high else (1 - share) * low + share * high


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


@st.composite
def ranges_by_key(draw: Any) -> tuple[list[float], list[bool], list[int], list[int], list[int]]:
    """Return values, validity, the first row of each key, and ranges within keys that move forward."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    rows = sum(sizes)
    values = draw(st.lists(NUMBERS, min_size=rows, max_size=rows))
    valid = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    begins = [sum(sizes[:k]) for k in range(len(sizes))]
    starts, ends = [], []
    for begin, size in zip(begins, sizes, strict=True):
        low = high = begin
        for _ in range(draw(st.integers(0, 8))):
            high = draw(st.integers(high, begin + size))
            low = draw(st.integers(low, high))
            starts.append(low)
            ends.append(high)
    return values, valid, begins, starts, ends


@settings(max_examples=200)
@given(case=ranges_by_key())
def test_quantiles_of_ranges_by_key_agree_with_sorting(case: Any) -> None:
    values, valid, begins, starts, ends = case
    ranking = rank(np.array(values), np.array(begins))
    inputs = np.array(valid), np.array(starts, np.int64), np.array(ends, np.int64)
    results, exists = quantiles(ranking, *inputs, np.array(SHARES))
    for place, (low, high) in enumerate(zip(starts, ends, strict=True)):
        inside = [value for value, known in zip(values[low:high], valid[low:high], strict=True) if known]
        assert exists[place] == bool(inside)
        for j, q in enumerate(SHARES):
            assert not inside or same(results[j, place], of_sorted(inside, q)), (place, q)
            assert not inside or math.copysign(1, results[j, place]) > 0 or results[j, place] != 0  # never -0.0


@settings(max_examples=100)
@given(case=ranges_by_key())
def test_the_state_is_right_after_every_range(case: Any) -> None:
    values, valid, begins, starts, ends = case
    ranking = rank(np.array(values), np.array(begins))
    known, shares = np.array(valid), np.array([0.1, 0.9])
    state = start(len(values), len(shares))
    for low, high in zip(starts, ends, strict=True):
        out = np.zeros((2, 1)), np.zeros(1, np.bool_)
        slide(state, ranking.ranks, ranking.values, known, np.array([[low]]), np.array([[high]]), shares, *out)
        check(state, ranking.ranks, known)
        assert state[3][:, 0].tolist() == [low, high] or low == high


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i8", "u8", "b1"])
@pytest.mark.parametrize("keys", [1, 3, 200])
def test_ranks_are_those_of_each_key(dtype: str, keys: int) -> None:
    dice = np.random.default_rng(keys)
    begins = np.concatenate([[0], np.sort(dice.choice(np.arange(1, 900), keys - 1, replace=False))])
    data = (dice.normal(size=900) * 50).astype(dtype)
    ranking = rank(data, begins)
    assert sorted(ranking.ranks.tolist()) == list(range(900))
    for begin, end in zip(begins, [*begins[1:], 900], strict=True):
        assert sorted(ranking.ranks[begin:end].tolist()) == list(range(begin, end))
        assert ranking.values[begin:end].tolist() == sorted(data[begin:end].astype(float).tolist())


@pytest.mark.parametrize("ranks", [1, 64, 65, 4096, 4097, 300_000, 2_000_000])
def test_members_are_found_across_all_levels(ranks: int) -> None:
    dice = np.random.default_rng(ranks)
    levels = empty_levels(ranks)
    members: set[int] = set()
    for member in {0, ranks - 1, *dice.integers(0, ranks, 40).tolist()}:
        add(levels, member)
        members.add(member)
    for leaving in [*list(members)[::2], None]:
        ordered = sorted(members)
        for member, following in pairwise(ordered):
            assert first_from(levels, member) == member
            assert first_from(levels, member + 1) == following
            assert last_before(levels, following) == member
            assert last_before(levels, member + 1) == member
        if leaving is not None:
            remove(levels, leaving)
            members.remove(leaving)
    if ranks <= 300_000:
        check_levels(levels)


@pytest.mark.parametrize("kind", ["floats", "nulls", "strings"])
def test_fold_reads_ranks_and_agrees_with_the_named_algorithm(kind: str) -> None:
    dice = np.random.default_rng(4)
    numbers = dice.integers(-9, 9, 80).astype(float)
    numbers[::7], numbers[::11] = math.nan, -0.0
    values: list[Any] = numbers.tolist()
    if kind == "nulls":
        values[::3] = [None] * len(values[::3])
    if kind == "strings":
        values = [None if x != x else f"s{x + 0.0}" for x in values]
    starts = np.sort(dice.integers(0, 80, 50))
    ends = np.maximum.accumulate(np.maximum(starts, np.sort(dice.integers(0, 81, 50))))
    wanted: dict[str, Any] = {"n": sash.count_distinct()}
    if kind != "strings":
        wanted = {"m": sash.median(), **wanted, "p": sash.quantile(q=0.9), "low": sash.quantile(q=0)}
    for least in (1, 3):
        found = sash.swag.fold(values, starts, ends, wanted, min_samples=least)
        slow = sash.swag.fold(values, starts, ends, wanted, min_samples=least, algorithm="two_stacks_lite")
        assert repr(found) == repr(slow)


@pytest.mark.parametrize("every", [1, 3])
def test_several_quantiles_slide_as_each_does_alone(every: int) -> None:
    values = [3, None, 1, 2, 9, 9, 4, None, 0, 5]
    wanted = {"m": sash.median(), "p": sash.quantile(q=0.9)}
    for size in (1, 3, 20):
        found = sash.swag.slide(values, size, wanted, every=every)
        assert found == {name: sash.swag.slide(values, size, each, every=every) for name, each in wanted.items()}
        assert found == sash.swag.slide(values, size, wanted, every=every, algorithm="two_stacks_lite")
