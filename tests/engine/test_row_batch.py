"""Rows as arrays: their order, and what is kept of it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sash.algebra.fields import Field
from sash.algebra.monoid import Column
from sash.engine.row_batch import RowBatch, order_by_key
from sash.errors import InvalidState
from sash.plan.share import ColumnType

X = {"x": ColumnType(Column(Field("i8"), nullable=True), pa.int64())}


def batch(positions: list[int], values: list[int], slots: list[int] | None = None, bits: Any = ()) -> RowBatch:
    columns = {"x": (np.array(values, np.int64), np.ones(len(values), np.bool_))}
    own = np.zeros(len(positions), np.int64) if slots is None else np.array(slots, np.int64)
    return RowBatch(own, np.array(positions, np.int64), np.array(bits, np.int64), columns)


def shown(rows: RowBatch) -> list[tuple[int, int]]:
    return list(zip(rows.positions.tolist(), rows.columns["x"][0].tolist(), strict=True))


def test_rows_grouped_by_key_keep_their_order_within_each_key() -> None:
    assert order_by_key(np.array([2, 0, 2, 1, 0]), 3).tolist() == [1, 4, 3, 0, 2]
    assert shown(batch([5, 6, 7], [1, 2, 3], slots=[1, 0, 1]).by_key(2)) == [(6, 2), (5, 1), (7, 3)]


def test_newer_rows_come_after_older_ones_at_the_same_position() -> None:
    waiting = RowBatch.empty(X, np.int64).with_newer(batch([4, 2], [1, 2]))
    assert shown(waiting) == [(2, 2), (4, 1)]
    assert shown(waiting.with_newer(batch([4, 3, 2], [3, 4, 5]))) == [(2, 2), (2, 5), (3, 4), (4, 1), (4, 3)]


def test_rows_at_a_position_are_among_those_until_it() -> None:
    rows = batch([2, 4, 4, 7], [1, 2, 3, 4])
    assert [rows.until(position) for position in (1, 4, 6, 7)] == [0, 3, 3, 4]
    assert shown(rows.part(1, 3)) == [(4, 2), (4, 3)]
    assert rows.part(0, 9) is rows


def test_punctuations_move_with_their_rows() -> None:
    rows = batch([3, 1, 2], [1, 2, 3], bits=[5, 0, 6])
    assert rows.take(np.array([2, 0])).bits.tolist() == [6, 5]
    assert RowBatch.empty(X, np.int64).with_newer(rows).bits.tolist() == [0, 6, 5]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"positions": np.array([7, 3])}, "not in order"),
        ({"bits": np.array([1])}, "not in order"),
        ({"columns": {}}, "column 'x' of waiting rows is missing"),
        ({"positions": np.array([3])}, "positions of waiting rows"),
        ({"columns": None}, "incomplete"),
    ],
)
def test_saved_rows_that_do_not_fit_together_are_refused(change: dict[str, Any], reason: str) -> None:
    rows = batch([3, 7], [1, 2])
    saved = {"slots": rows.slots, "positions": rows.positions, "bits": rows.bits, "columns": rows.columns}
    assert shown(RowBatch.from_saved(saved, np.int64, X)) == [(3, 1), (7, 2)]
    with pytest.raises(InvalidState, match=reason):
        RowBatch.from_saved({**saved, **change}, np.int64, X)
