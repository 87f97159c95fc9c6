"""Edges that arithmetic cannot compute, such as the midnights of a time zone: a small table that Spark joins to rows.

Positions are looked up by their cell. Cells are a power of two long and hold one edge at most, so that the last edge
that is not after a position is either the last one of its cell, or the one before that. Edges come from the kind of
window itself and not from Java, whose time zones may be of another year.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.kinds.kind import Kind, Stretch
from sash.spark.versions import create_table

__all__ = ["can_list", "with_listed_starts"]

_MOST_CELLS = 1 << 17  # what Spark sends to every executor: 3 MiB
_BEFORE_ALL = -(2**61)


@dataclass(frozen=True)
class _Cells:
    """The edges of a stretch by cells of 2 ** bits positions, which begin at the first edge."""

    low: int
    high: int
    bits: int
    lasts: Any  # the last edge that begins before the end of each cell
    befores: Any  # the edge before that one

    @classmethod
    def of(cls, edges: Any) -> "_Cells | None":
        if len(edges) < 2:
            return None
        bits = int(np.diff(edges).min()).bit_length() - 1
        low, high = int(edges[0]), int(edges[-1])
        count = ((high - low) >> bits) + 1
        if count > _MOST_CELLS:
            return None
        ends = low + ((np.arange(count, dtype=np.int64) + 1) << bits)
        last = np.searchsorted(edges, ends, side="left") - 1
        return cls(low, high, bits, edges[last], edges[np.maximum(last - 1, 0)])


def _step(edges: Any) -> int | None:
    """Return the step of a grid that has all edges and few others, None if there is none."""
    step = int(np.gcd.reduce(edges)) if len(edges) else 0
    return step if step and step * 2 > np.diff(edges).min(initial=step) else None


@lru_cache(maxsize=64)
def _stretch(kind: Kind) -> Stretch | None:
    """Return the edges of a kind, which are listed once for a plan."""
    return kind.stretch()


def can_list(kind: Kind) -> bool:
    """Return whether the edges of a kind fit into a table, or lie on a grid."""
    stretch = _stretch(kind)
    return stretch is not None and (_Cells.of(stretch.edges) is not None or _step(stretch.edges) is not None)


def with_listed_starts(rows: DataFrame, position: Column, kinds: list[Kind]) -> tuple[DataFrame, list[Column]]:
    """Return rows with columns for their slices, and for each kind the last edge at or before a position."""
    starts = []
    for place, kind in enumerate(kinds):
        stretch = _stretch(kind)
        assert stretch is not None
        cells = _Cells.of(stretch.edges)
        if cells is None:
            step = _step(stretch.edges)
            within = position - F.pmod(position, F.lit(step))
        else:
            rows, within = _look_up(rows, position, cells, place)
        starts.append(_clamp(position, within, stretch))
    return rows, starts


def _look_up(rows: DataFrame, position: Column, cells: _Cells, place: int) -> tuple[DataFrame, Column]:
    cell, last, before = (f"_{name}{place}" for name in ("cell", "last", "before"))
    columns = {cell: np.arange(len(cells.lasts), dtype=np.int64), last: cells.lasts, before: cells.befores}
    table = create_table(rows.sparkSession, pa.table(columns))
    joined = rows.join(F.broadcast(table), F.shiftright(position - cells.low, cells.bits) == F.col(cell), "left")
    return joined, F.when(position >= F.col(last), F.col(last)).otherwise(F.col(before))


def _clamp(position: Column, within: Column, stretch: Stretch) -> Column:
    low, high = int(stretch.edges[0]), int(stretch.edges[-1])
    if stretch.beyond is None:
        return F.when(position < low, F.lit(_BEFORE_ALL)).when(position >= high, F.lit(high)).otherwise(within)
    outside = position - F.pmod(position, F.lit(stretch.beyond))
    return F.when((position >= low) & (position < high), within).otherwise(outside)
