"""Send rows of hot keys to the buckets of their chunks and halos, in map tasks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.spark.wire.hot_keys import HotKey

__all__ = ["bucketed"]


def bucketed(
    table: pa.Table, by: Sequence[str], positions: Any, buckets: Any, hot: Sequence[HotKey]
) -> tuple[Any, Any]:
    """Return the places of rows, and the bucket of each; a row in a halo has more than one place."""
    places, targets = [np.arange(len(buckets))], [buckets.copy()]
    for each in hot:
        own = _rows_of(table, by, each.key)
        at = positions[own]
        starts = np.array([chunk.start for chunk in each.chunks], positions.dtype)
        targets[0][own] = each.chunks[0].bucket + np.searchsorted(starts, at, side="right") - 1
        for chunk in each.chunks[1:]:
            halo = own[(at >= chunk.halo) & (at < chunk.start)]
            places.append(halo)
            targets.append(np.full(len(halo), chunk.bucket, buckets.dtype))
    return np.concatenate(places), np.concatenate(targets)


def _rows_of(table: pa.Table, by: Sequence[str], key: tuple[Any, ...]) -> Any:
    match = np.ones(table.num_rows, np.bool_)
    for name, value in zip(by, key, strict=True):
        match &= pc.fill_null(_is_same(table.column(name), value), False).to_numpy()
    return np.flatnonzero(match)


def _is_same(values: Any, key: Any) -> Any:
    """Return where a column has the value of a key."""
    if key.null_count:
        return pc.is_null(values)
    if pa.types.is_floating(key.type) and pc.is_nan(key)[0].as_py():
        return pc.is_nan(values)
    return pc.equal(values, key.cast(values.type)[0])
