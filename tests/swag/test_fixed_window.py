"""A window of one fixed size: values in, results out, and a helper that ends."""

import gc
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.errors import BrokenWindow, EmptyWindow, InvalidAggregate, InvalidInput, NumberOverflow
from tests.swag.monoids import TEMPLATES


def helpers() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("sash-pba")]


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["turns", "max", "first"])
@settings(max_examples=25)
@given(
    size=st.integers(1, 50),
    slide=st.integers(1, 50),
    batches=st.lists(st.lists(st.integers(-99, 99), max_size=60), min_size=1, max_size=6),
    threads=st.integers(1, 2),
)
def test_agrees_with_recalculation(name: str, size: int, slide: int, batches: list[list[int]], threads: int) -> None:
    every = min(size, slide)
    options: dict[str, Any] = {"every": every, "threads": threads, "handover": 1, "dtype": "int64"}
    with sash.swag.open_fixed(TEMPLATES[name], size, **options) as window:
        found = [window.insert_many(np.array(batch, np.int64)) for batch in batches]
    values = np.array([each for batch in batches for each in batch], np.int64)
    expected = sash.swag.slide(values, size, TEMPLATES[name], every=every, algorithm="recalculate")
    assert np.concatenate(found).tolist() == expected.tolist()
    assert not helpers()


@pytest.mark.only_compiled
def test_long_chunks_are_swept_by_a_helper() -> None:
    values = np.random.default_rng(7).integers(-9, 9, 200_000)
    with sash.swag.open_fixed(TEMPLATES["turns"], 40_001) as window:
        found = [window.insert_many(part) for part in np.array_split(values, 7)]
        assert window.has_helper and helpers()
    assert not helpers()
    expected = sash.swag.slide(values, 40_001, TEMPLATES["turns"], algorithm="two_stacks")
    assert np.array_equal(np.concatenate(found), expected)


def test_rows_one_by_one() -> None:
    window = sash.swag.open_fixed(sash.sum(), 3, every=2)
    with pytest.raises(EmptyWindow):
        window.query()
    found: list[Any] = []
    for value in (1, 2, 3, 4, 5, 6):
        window.insert(value)
        found.append(window.query() if len(found) else None)
    assert found == [None, 3, 3, 9, 9, 15]
    assert len(window) == 3
    window.close()


def test_results_are_of_the_kind_of_the_values() -> None:
    window = sash.swag.open_fixed(sash.max(), 2)
    assert window.insert_many([3, None, None, 1]) == [3, 3, None, 1]
    assert window.insert_many(pa.array([None, None])).to_pylist() == [1, None]
    assert window.insert_many(np.array([5])).tolist() == [5]
    assert window.insert_many([]) == []
    assert window.query() == 5
    strings = sash.swag.open_fixed(sash.min(), 2)
    assert strings.insert_many(["b", "a", "c", "d"]) == ["b", "a", "a", "c"]
    pairs = sash.swag.open_fixed(sash.argmax(), 2)
    assert pairs.insert_many(([1, 3, 2, 0], ["a", "b", "c", "d"])) == ["a", "b", "b", "c"]


def test_an_exact_sum_that_does_not_fit_raises() -> None:
    window = sash.swag.open_fixed(sash.sum(), 2)
    with pytest.raises(NumberOverflow):
        window.insert_many([2**63 - 1, 1])
    with pytest.raises(NumberOverflow):
        window.query()
    assert window.insert_many([1, 1]) == [2, 2]


def test_a_chunk_by_theorem_1_or_by_theorem_2() -> None:
    assert sash.swag.open_fixed(sash.max(), 1000).chunk == 501
    assert sash.swag.open_fixed(sash.max(), 1000, every=10).chunk == 91
    assert sash.swag.open_fixed(sash.max(), 1000, chunk=7).chunk == 7
    assert sash.swag.open_fixed(sash.max(), 1000, row_ns=10**12).chunk is None
    timed = sash.swag.open_fixed(sash.max(), 1000, row_ns=10**12)
    timed.insert_many(list(range(100)))
    assert timed.chunk == 1000, "rows come so seldom that a whole window is swept between two of them"
    hurried = sash.swag.open_fixed(sash.max(), 10**6, row_ns=1, threads=1)
    hurried.insert_many(list(range(100)))
    assert 500_000 < (hurried.chunk or 0) < 10**6


def fails_at_nine(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    if b[0] == 9:
        raise ArithmeticError("nine")
    return (a[0] + b[0],)


PICKY = sash.Aggregate("picky", state=("O",), identity=(0,), lift=lambda x: (10 // x,), combine=fails_at_nine)


def test_a_function_that_fails_ends_the_window_and_its_helper() -> None:
    window = sash.swag.open_fixed(PICKY, 4, handover=1)
    window.insert_many([1, 2, 5])
    with pytest.raises(InvalidAggregate, match="lift raised ZeroDivisionError"):
        window.insert_many([5, 0])
    assert window.query() == 17, "no row of a batch is inserted if one cannot be lifted"
    window.close()
    lifted_to_nine = sash.Aggregate("nine", state=("O",), identity=(0,), lift=lambda x: (x,), combine=fails_at_nine)
    window = sash.swag.open_fixed(lifted_to_nine, 4, handover=1)
    with pytest.raises(InvalidAggregate, match="open another window"):
        window.insert_many([1, 9])
    with pytest.raises(BrokenWindow, match="nine"):
        window.insert(1)
    with pytest.raises(BrokenWindow, match="nine"):
        window.query()
    window.close()
    assert not helpers()


def test_a_closed_window_refuses() -> None:
    with sash.swag.open_fixed(sash.max(), 4, handover=1) as window:
        window.insert_many(list(range(50)))
    window.close()
    assert not helpers()
    for call in (lambda: window.insert(1), lambda: window.insert_many([1]), window.query):
        with pytest.raises(BrokenWindow, match="closed"):
            call()


def test_what_cannot_be_opened() -> None:
    for options, what in (
        ({"size": 0}, "size"),
        ({"size": 3, "every": 4}, "every must be a whole number from 1 to 3"),
        ({"size": 6, "every": 2, "chunk": 4}, "chunk must be a whole number from 1 to 3"),
        ({"size": 3, "threads": 0}, "threads"),
        ({"size": 3, "row_ns": 0}, "row_ns"),
    ):
        with pytest.raises(InvalidInput, match=what):
            sash.swag.open_fixed(sash.max(), **options)
    with pytest.raises(InvalidAggregate, match="Expected an aggregate"):
        sash.swag.open_fixed("max", 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="needs 2 column"):
        sash.swag.open_fixed(sash.argmax(), 3).insert(1)
    with pytest.raises(InvalidInput, match="'a'"):
        sash.swag.open_fixed(sash.max(), 3, dtype=float).insert("a")


def test_the_helper_of_a_window_that_is_forgotten_ends() -> None:
    window = sash.swag.open_fixed(sash.max(), 4, handover=1)
    window.insert_many(list(range(50)))
    threads = [each for each in threading.enumerate() if each.name.startswith("sash-pba")]
    assert threads
    del window
    gc.collect()
    for thread in threads:
        thread.join(60)
    assert not helpers()
