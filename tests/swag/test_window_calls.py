"""Calls that move one row: the same answers and the same bytes as general calls."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.errors import EmptyWindow, InvalidInput
from sash.swag.catalog import ALGORITHMS
from sash.swag.facts import Sizes

ORDERLY = [name for name in ("two_stacks_lite", "daba_lite", "fiba", "flat_fat") if name in ALGORITHMS]
MOVES = st.lists(
    st.sampled_from(["insert", "insert", "insert", "insert null", "evict", "evict 3", "many"]), max_size=60
)


@pytest.mark.parametrize("algorithm", ORDERLY)
@pytest.mark.parametrize(("name", "kind"), [("sum", int), ("max", float)])
@settings(max_examples=15, deadline=None)
@given(moves=MOVES)
def test_one_by_one_is_the_same_as_in_columns(algorithm: str, name: str, kind: type, moves: list[str]) -> None:
    choices: dict[str, tuple[Any, Any]] = {"sum": (sash.sum(), sum), "max": (sash.max(), max)}
    aggregate, expected = choices[name]
    window, general = (sash.swag.open(algorithm, aggregate, dtype=kind) for _ in range(2))
    rows: list[Any] = []
    for number, move in enumerate(moves):
        value = None if move == "insert null" else kind(number % 7)
        if move.startswith("insert"):
            window.insert(value)
            general.insert_many([value])
            rows.append(value)
        elif move == "many":
            window.insert_many([kind(1)] * 5)
            general.insert_many([kind(1)] * 5)
            rows += [kind(1)] * 5
        else:
            count = 3 if move == "evict 3" else 1
            if len(rows) < count:
                with pytest.raises(EmptyWindow):
                    window.evict(count)
                continue
            window.evict(count)
            general.evict(np.int64(count))  # type: ignore[arg-type]  # not a plain int, so not a call of one row
            del rows[:count]
        assert len(window) == len(rows)
        if rows:
            known = [value for value in rows if value is not None]
            assert window.query() == (expected(known) if known else None)
    assert window.save() == general.save()


def test_missing_positions_are_filled_as_before() -> None:
    for name in [name for name, each in ALGORITHMS.items() if each.facts.sizes is Sizes.UNORDERED]:
        window, general = (sash.swag.open(name, sash.sum(), dtype=int) for _ in range(2))
        for each in (window, general):
            each.insert_at([10, 30, 20, 50, 40], [1, 3, 2, 5, 4])
            each.evict_at(30)
        for value in range(40):
            window.insert(value)
            general.insert_many([value])
            if value % 3 == 0:
                window.evict()
                general.evict(np.int64(1))  # type: ignore[arg-type]
            assert window.query() == general.query() and len(window) == len(general)
        assert window.save() == general.save()


@pytest.mark.parametrize("bad", ["x", 1.5, True, 2**63, [1], (), b"", np.datetime64("2026-01-01")])
def test_a_wrong_value_has_the_same_error_at_any_call(bad: Any) -> None:
    fresh, used = (sash.swag.open("daba_lite", sash.sum(), dtype=int) for _ in range(2))
    for value in (1, 2, None, 3):
        used.insert(value)
    said = []
    for window in (fresh, used):
        with pytest.raises(InvalidInput) as raised:
            window.insert(bad)
        said.append(str(raised.value))
    assert said[0] == said[1]
    assert used.query() == 6 and len(used) == 4


def test_several_columns_and_nulls() -> None:
    product = sash.Aggregate("dot", state="f8", identity=0.0, lift=lambda x, y: x * y, combine=lambda a, b: a + b)
    window = sash.swag.open("daba_lite", product)
    for row in [(1.0, 2.0), (None, 3.0), (4, 1.0), (5.0, None), (7.0, 1)]:
        window.insert(*row)
    assert window.query() == 1 * 2 + 4 + 7
    with pytest.raises(InvalidInput):
        window.insert(1.0)
