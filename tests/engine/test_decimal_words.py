"""Words of decimals against Python's own: they come back, they are in order, and means are rounded half up."""

import random
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sash.engine.decimal_words import (
    as_bytes,
    decimals_of,
    limbs_of,
    mean_words,
    of_bytes,
    sum_words,
    to_floats,
    units_of,
    words_of,
)
from sash.errors import NumberOverflow

# Where a half of a word is full, and one beside it.
EDGES = [sign * (2**bits + beside) for sign in (1, -1) for bits in (0, 31, 32, 62, 63, 64, 96) for beside in (-1, 0, 1)]
LONG = [0, *EDGES, 10**38 - 1, 1 - 10**38]


def decimals(units: Sequence[int | None], kind: Any) -> Any:
    with localcontext(prec=80):
        return pa.array([None if u is None else Decimal(u).scaleb(-kind.scale) for u in units], kind)


@pytest.mark.parametrize("kind", [pa.decimal128(38, 0), pa.decimal128(38, 7), pa.decimal128(38, 38)], ids=str)
def test_words_and_bytes_give_back_the_decimals(kind: Any) -> None:
    array = decimals([*LONG, None], kind)
    low, high = units_of(array)
    found = [int(upper) * 2**64 + int(lower) for upper, lower in zip(high, low, strict=True)]
    assert found == [*LONG, 0]
    limbs = [each.astype(object) for each in limbs_of(array)]
    assert sum(limb * 2 ** (32 * k) for k, limb in enumerate(limbs)).tolist() == [*LONG, 0]
    whole = array.drop_null()
    assert of_bytes(as_bytes(whole), kind).equals(whole)
    assert of_bytes(as_bytes(whole.slice(3, 5)), kind).equals(whole.slice(3, 5))


def test_bytes_have_the_order_of_the_decimals() -> None:
    shuffled = random.Random(3).sample(LONG, len(LONG))
    keys = as_bytes(decimals(shuffled, pa.decimal128(38, 2))).to_pylist()
    assert [unit for _, unit in sorted(zip(keys, shuffled, strict=True))] == sorted(LONG)


def test_decimals_of_one_word_and_of_two_are_the_same() -> None:
    units, valid = np.array([5, -5, 0, 7]), np.array([True, True, True, False])
    kind = pa.decimal128(18, 1)
    wanted = [Decimal("0.5"), Decimal("-0.5"), Decimal("0.0"), None]
    assert decimals_of(units, valid, kind).to_pylist() == wanted
    assert decimals_of(words_of(units, units >> 63), valid, kind).to_pylist() == wanted


@pytest.mark.parametrize("kind", [pa.decimal128(15, 3), pa.decimal128(38, 3)], ids=str)
def test_floats_are_the_nearest_ones(kind: Any) -> None:
    dice = random.Random(5)
    units = [dice.randrange(-(10**15) + 1, 10**15) for _ in range(200)]
    assert to_floats(decimals(units, kind)).tolist() == [float(Decimal(u).scaleb(-3)) for u in units]


def drawn(seed: int) -> tuple[list[list[int]], list[Any]]:
    """Lists of units, and the limbs of their sums."""
    dice = random.Random(seed)
    lists = [[dice.choice(EDGES) * dice.randrange(3) for _ in range(dice.randrange(1, 9))] for _ in range(50)]
    parts = [limbs_of(decimals(each, pa.decimal128(38, 0))) for each in lists]
    return lists, [np.array([int(part[k].sum()) for part in parts]) for k in range(4)]


@pytest.mark.parametrize("seed", range(3))
def test_sums_and_means_are_those_of_python(seed: int) -> None:
    lists, limbs = drawn(seed)
    valid = np.ones(len(lists), np.bool_)
    total = pa.decimal128(38, 0)
    assert decimals_of(sum_words(limbs, valid, total, "s"), None, total).to_pylist() == [Decimal(sum(u)) for u in lists]
    mean = pa.decimal128(38, 4)
    words = mean_words(limbs, np.array(list(map(len, lists))), valid, 10**4, mean, "m")
    with localcontext(prec=80):
        wanted = [(Decimal(sum(u)) / len(u)).quantize(Decimal("0.0001"), ROUND_HALF_UP) for u in lists]
    assert decimals_of(words, None, mean).to_pylist() == wanted


@pytest.mark.parametrize("sign", [1, -1])
def test_halves_are_rounded_away_from_zero(sign: int) -> None:
    kind = pa.decimal128(10, 0)
    limbs = limbs_of(decimals([sign * 1, sign * 3, sign * 5], pa.decimal128(38, 0)))
    words = mean_words(limbs, np.array([2, 2, 2]), np.ones(3, np.bool_), 1, kind, "m")
    assert decimals_of(words, None, kind).to_pylist() == [sign * 1, sign * 2, sign * 3]


@pytest.mark.parametrize("sign", [1, -1])
def test_only_a_number_with_too_many_digits_is_refused(sign: int) -> None:
    kind, valid = pa.decimal128(6, 0), np.array([True, True])
    fits, larger = (limbs_of(decimals([0, sign * units], pa.decimal128(38, 0))) for units in (999_999, 1_000_000))
    assert decimals_of(sum_words(fits, valid, kind, "s"), None, kind).to_pylist() == [0, sign * 999_999]
    with pytest.raises(NumberOverflow, match=r"decimal\(6, 0\)"):
        sum_words(larger, valid, kind, "s")
    sum_words(larger, np.array([True, False]), kind, "s")  # no one reads the number of a null
