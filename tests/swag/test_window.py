"""A window moved by hand: the same answers as the oracle, kept and restored anywhere."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.errors import (
    BrokenWindow,
    EmptyWindow,
    InvalidAggregate,
    InvalidInput,
    InvalidState,
    NumberOverflow,
    UnknownName,
)
from sash.swag import state_bytes
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm
from sash.swag.facts import Sizes
from tests.swag.monoids import TEMPLATES
from tests.swag.test_conformance import histories, pairs

STEPPED = {name: each for name, each in ALGORITHMS.items() if each.facts.sizes is not Sizes.FIXED}


def fold(values: list[int], name: str) -> Any:
    template = TEMPLATES[name]
    assert isinstance(template, sash.Aggregate) and template.lower is not None
    partial = template.identity
    for value in values:
        partial = template.combine(partial, template.lift(value))
    return template.lower(partial)


@pytest.mark.parametrize(
    ("algorithm", "aggregate"), [p for p in pairs(STEPPED) if p.values[1] in ("words", "latest", "turns")]
)
@settings(max_examples=6)
@given(history=histories(), cut=st.integers(0, 7))
def test_saved_and_restored_anywhere_it_goes_on_as_if_never_stopped(
    algorithm: Algorithm, aggregate: str, history: list[tuple[str, int]], cut: int
) -> None:
    window = sash.swag.open(algorithm.name, TEMPLATES[aggregate])
    values: list[int] = []
    for step, (verb, value) in enumerate(history):
        if step % 8 == cut:
            window = sash.swag.open(algorithm.name, TEMPLATES[aggregate]).restore(window.save())
        if verb == "insert":
            window.insert(value)
            values.append(value)
        elif verb == "evict":
            window.evict()
            values.pop(0)
        elif values:
            assert window.query() == fold(values, aggregate)
        assert len(window) == len(values)


@pytest.mark.only_compiled
@pytest.mark.parametrize("algorithm", STEPPED.values(), ids=lambda each: each.name)
def test_it_grows_by_thousands_and_shrinks_again(algorithm: Algorithm) -> None:
    name = "turns" if algorithm.admits(True, False) else "latest"
    window = sash.swag.open(algorithm.name, TEMPLATES[name])
    values = np.random.default_rng(5).integers(-9, 10, 3000).tolist()
    window.insert_many(values)
    assert window.query() == fold(values, name)
    window.evict(2990)
    assert window.query() == fold(values[2990:], name)
    window.insert_many(values[:100])
    assert window.query() == fold(values[2990:] + values[:100], name)
    window.evict(110)
    assert len(window) == 0


def test_an_empty_window_refuses_and_stays() -> None:
    window = sash.swag.open("daba_lite", sash.max())
    for call in (window.evict, window.query):
        with pytest.raises(EmptyWindow, match="empty window"):
            call()
    window.insert(1)
    with pytest.raises(EmptyWindow, match="evict 2 rows"):
        window.evict(2)
    assert window.query() == 1 and len(window) == 1


def test_nulls_take_a_place_and_count_for_nothing() -> None:
    window = sash.swag.open("two_stacks_lite", sash.sum(), dtype="i8")
    window.insert(None)
    assert window.query() is None and len(window) == 1
    window.insert(5)
    assert window.query() == 5
    window.evict()
    assert window.query() == 5


def test_the_first_value_decides_the_type() -> None:
    window = sash.swag.open("daba_lite", sash.max())
    window.insert(3)
    with pytest.raises(InvalidInput, match=r"2\.5 is not a value for a window of int64"):
        window.insert(2.5)
    with pytest.raises(InvalidInput, match="'a'"):
        window.insert("a")
    assert window.query() == 3
    window = sash.swag.open("daba_lite", sash.max(), dtype=float)
    window.insert(3)
    assert window.query() == 3.0
    with pytest.raises(InvalidInput, match="needs 2 column"):
        sash.swag.open("daba_lite", sash.argmax()).insert(1)


def test_the_newest_few_where_the_algorithm_answers_many_ranges() -> None:
    for name, algorithm in STEPPED.items():
        if algorithm.facts.ranges and algorithm.admits(False, True):
            window = sash.swag.open(name, sash.max())
            window.insert_many([5, 1, 4, 2])
            assert [window.query(last=k) for k in (1, 2, 3, 4)] == [2, 4, 4, 5]
            with pytest.raises(InvalidInput, match="from 1 to 4"):
                window.query(last=5)
    window = sash.swag.open("daba_lite", sash.max())
    window.insert(1)
    with pytest.raises(TypeError, match="computes one range per pass"):
        window.query(last=1)


def test_what_cannot_be_opened() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'flat_fat'"):
        sash.swag.open("flatfat", sash.max())
    with pytest.raises(InvalidInput, match="one size over a whole array"):
        sash.swag.open("pba", sash.max())
    with pytest.raises(InvalidAggregate, match="Expected an aggregate"):
        sash.swag.open("daba_lite", "max")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="dtype"):
        sash.swag.open("daba_lite", sash.max(), dtype="c16")


def test_overflow_is_told_and_forgotten_when_the_row_leaves() -> None:
    window = sash.swag.open("daba_lite", sash.sum())
    window.insert_many([2**63 - 1, 1])
    with pytest.raises(NumberOverflow):
        window.query()
    window.evict()
    assert window.query() == 1


def fails_at_nine(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    if b[0] == 9:
        raise ArithmeticError("nine")
    return (a[0] + b[0],)


def test_a_function_that_raises_says_so_and_loses_nothing_silently() -> None:
    picky = sash.Aggregate("picky", state=("O",), identity=(0,), lift=lambda x: (10 // x,), combine=fails_at_nine)
    window = sash.swag.open("two_stacks_lite", picky)
    window.insert_many([1, 2])
    with pytest.raises(InvalidAggregate, match="lift raised ZeroDivisionError"):
        window.insert_many([5, 0])
    assert len(window) == 2 and window.query() == 15
    blob = window.save()
    nine = sash.Aggregate("picky", state=("O",), identity=(0,), lift=lambda x: (x,), combine=fails_at_nine)
    broken = sash.swag.open("two_stacks_lite", nine).restore(blob)
    with pytest.raises(InvalidAggregate, match=r"raised ArithmeticError: nine.*no longer usable"):
        broken.insert(9)
    with pytest.raises(BrokenWindow, match="Restore it from its last save"):
        broken.query()
    assert broken.restore(blob).query() == 15


# --- blobs -----------------------------------------------------------------------------------------


def test_a_foreign_or_damaged_blob_changes_nothing() -> None:
    window = sash.swag.open("daba_lite", sash.max())
    window.insert_many([3, 1, 2])
    blob = window.save()
    for wrong, message in [
        (b"", "do not start as the bytes of save"),
        (b"PK\3\4 something else", "do not start as the bytes of save"),
        ("text", "do not start as the bytes of save"),
        (blob[:10], "ends after 10 bytes"),
        (blob[:-1], "bytes were written"),
        (blob + b"\0", "bytes were written"),
        (blob[:-1] + bytes([blob[-1] ^ 1]), "checksum"),
        (blob[:8] + b"\x09\0" + blob[10:], "format 9"),
        (state_bytes.pack([1, 2]), "not the state of a window"),
        (sash.swag.open("two_stacks_lite", sash.max()).save(), "algorithm two_stacks_lite, not daba_lite"),
        (sash.swag.open("daba_lite", sash.min()).save(), "aggregate min, not max"),
    ]:
        with pytest.raises(InvalidState, match=message):
            window.restore(wrong)  # type: ignore[arg-type]
        assert window.query() == 3 and len(window) == 3


def test_every_single_bit_flip_is_noticed() -> None:
    window = sash.swag.open("two_stacks_lite", sash.sum())
    window.insert_many([1, 2])
    blob = window.save()
    random = np.random.default_rng(6)
    for bit in random.choice(len(blob) * 8, 300, replace=False):
        flipped = bytearray(blob)
        flipped[bit // 8] ^= 1 << (bit % 8)
        with pytest.raises(InvalidState):
            window.restore(bytes(flipped))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.datetimes()
    | st.dates()
    | st.times(),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(value=values)
def test_what_is_packed_comes_back(value: Any) -> None:
    again = state_bytes.unpack(state_bytes.pack(value))
    assert again == value and type(again) is type(value)


def test_what_cannot_be_saved_is_named() -> None:
    window = sash.swag.open(
        "two_stacks_lite",
        sash.Aggregate("things", state=("O",), identity=(None,), lift=lambda x: (object(),), combine=lambda a, b: b),
    )
    window.insert("x")
    with pytest.raises(InvalidState, match="holds a object, which cannot be saved"):
        window.save()


def test_positions_beyond_64_bits_are_refused() -> None:
    window = sash.swag.open("fiba", sash.sum())
    with pytest.raises(InvalidInput, match="64 bits"):
        window.insert_at(np.array([2**63 + 5, 1], np.uint64), [1, 10])
    with pytest.raises(InvalidInput, match="position"):
        window.evict_at("x")  # type: ignore[arg-type]
    window.insert_at([2**63 - 1], [1])
    with pytest.raises(InvalidInput, match="there is none after it"):
        window.insert(2)
    assert window.query() == 1
    with pytest.raises(InvalidInput, match="accepts rows in order"):
        sash.swag.open("daba_lite", sash.sum()).insert_at([1], [1])


def test_a_result_is_read_as_slide_reads_it() -> None:
    square = sash.Aggregate(
        "square", state="i4", identity=0, lift=lambda x: x, combine=lambda a, b: a + b, lower=lambda p: p * p
    )
    window = sash.swag.open("daba_lite", square)
    window.insert(100_000)
    assert window.query() == 10_000_000_000
    inverse = sash.Aggregate(
        "inverse", state="f8", identity=0.0, lift=lambda x: x, combine=lambda a, b: a + b, lower=lambda p: 1 / p
    )
    window = sash.swag.open("daba_lite", inverse)
    window.insert(0.0)
    with pytest.raises(InvalidAggregate, match="lower raised ZeroDivisionError"):
        window.query()
    window.insert(2.0)
    assert window.query() == 0.5


def test_dates_are_refused_where_they_would_come_back_as_numbers() -> None:
    window = sash.swag.open("daba_lite", sash.max())
    with pytest.raises(TypeError, match="does not accept values of type time"):
        window.insert_many(np.arange(3).astype("M8[D]"))
