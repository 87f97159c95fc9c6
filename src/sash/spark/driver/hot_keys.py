"""Find hot keys, which most rows have, and cut their time into chunks, each a bucket of its own.

A window or frame that crosses a border belongs to the chunk that it ends in. That chunk also gets the rows before its
start that such windows reach back to, its halo. So chunks are answered independently, after one shuffle.

     … ──────[ chunk 1 ──────────────)[ chunk 2 ──────────────)[ chunk 3 …
                            [ halo of 2 )          [ halo of 3 )

Quantiles of positions say where to cut. The first rows say which keys may be hot; only if there are any, one narrow
pass reads all positions. Frames by rows need a halo of a number of rows: a second pass counts them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.limits import Limits
from sash.spark.driver.schema import column
from sash.spark.wire.hot_keys import Chunk, HotKey
from sash.windows.measure import Measure

__all__ = ["Reach", "find_hot_keys"]

_NO_KEY = 0  # the hash where there are no key columns


@dataclass(frozen=True)
class Reach:
    """How far back windows and frames look, in positions and in rows."""

    length: Any = 0
    rows: int = 0


def find_hot_keys(
    rows: DataFrame,
    by: Sequence[str],
    on: str,
    measure: Measure,
    reach: Reach,
    tasks: int,
    first_bucket: int,
    limits: Limits,
) -> tuple[HotKey, ...]:
    """Return the keys whose rows would keep one task busy while others wait, with their chunks."""
    candidates = _candidates(rows, by, tasks, limits) if by else [(_NO_KEY, ())]
    if not candidates or tasks < 2:
        return ()
    quantiles = limits.chunk_quantiles
    shares = [k / quantiles for k in range(1, quantiles)]
    position = column(on) if measure.dtype.kind == "i" else F.when(F.abs(column(on)) < math.inf, column(on))
    narrow = rows.select(position.alias("position"), _hash(by).alias("hash"))
    wanted = [F.count(F.lit(1)).alias("total")]
    for k, (number, _) in enumerate(candidates):
        own = F.when(F.col("hash") == number, F.col("position"))
        wanted += [F.count(own).alias(f"n{k}"), F.percentile_approx(own, shares, 4 * quantiles).alias(f"q{k}")]
    found = narrow.agg(*wanted).toArrow().combine_chunks()
    total = found["total"][0].as_py()
    hot: list[HotKey] = []
    for k, (number, key) in enumerate(candidates):
        count = found[f"n{k}"][0].as_py()
        if count < limits.hot_rows or count * 2 * tasks < total:
            continue
        marks, _ = measure.positions(found[f"q{k}"].combine_chunks().flatten(), on)
        marks = np.unique(marks)
        own_rows = narrow.where(F.col("hash") == number)
        counts = _count_rows(own_rows, on, measure, marks) if reach.rows else _equal_counts(count, len(marks))
        chunks = tuple(_chunks(marks, counts, reach, measure, 4 * tasks, first_bucket, limits))
        first_bucket += len(chunks)
        if len(chunks) > 1:
            hot.append(HotKey(key, chunks))
    return tuple(hot)


def _candidates(rows: DataFrame, by: Sequence[str], tasks: int, limits: Limits) -> list[tuple[int, tuple[Any, ...]]]:
    """Return keys that many of the first rows have, each with its hash."""
    probed = limits.probed_rows
    first = rows.limit(probed).select(_hash(by), *map(column, by)).toArrow().combine_chunks()
    if first.num_rows < probed:
        return []  # not many rows at all
    counts = first.column(0).value_counts()
    candidates = min(limits.hot_candidates, len(counts))
    largest = pc.select_k_unstable(counts.field("counts"), candidates, [("", "descending")])
    often = counts.take(largest).filter(pc.greater(counts.field("counts").take(largest), probed / (2 * tasks)))
    numbers = often.field("values").to_pylist()
    places = [pc.index(first.column(0), number).as_py() for number in numbers]
    return [
        (number, tuple(each.slice(place, 1).combine_chunks() for each in first.columns[1:]))
        for number, place in zip(numbers, places, strict=True)
    ]


def _hash(by: Sequence[str]) -> Column:
    """Return a number for each key, the same for keys that are equal to Spark.

    Keys are compared by it because not every value has a literal: Python's times end at the year 9999, and PySpark
    accepts no date before the year 1000.
    """
    # xxhash64 skips nulls, so whether a column is null is hashed as well.
    return (
        F.xxhash64(*(part for name in by for part in (column(name), column(name).isNull()))) if by else F.lit(_NO_KEY)
    )


def _equal_counts(count: int, marks: int) -> Any:
    return np.full(marks + 1, count / (marks + 1))


def _count_rows(rows: DataFrame, on: str, measure: Measure, marks: Any) -> Any:
    """Return the numbers of rows before the first mark, between each two, and from the last on."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = np.zeros(len(marks) + 1, np.int64)
        for batch in batches:
            positions, valid = measure.positions(batch.column(0), on)
            places = np.searchsorted(marks, positions if valid is None else positions[valid], side="right")
            counts += np.bincount(places, minlength=len(counts))
        yield pa.record_batch([pa.array([counts.tolist()], pa.list_(pa.int64()))], names=["counts"])

    parts = rows.select("position").mapInArrow(count, "counts array<bigint>").toArrow()["counts"].to_pylist()
    return np.sum(np.array(parts, np.int64), axis=0)


def _chunks(
    marks: Any, counts: Any, reach: Reach, measure: Measure, most: int, bucket: int, limits: Limits
) -> Iterator[Chunk]:
    """Return as many chunks as pay: with equal numbers of rows, and with halos that are small beside them."""
    before = np.cumsum(counts[:-1])  # rows before each mark
    total = float(before[-1] + counts[-1]) if len(before) else 0.0
    for number in range(min(most, int(total // limits.chunk_rows)), 1, -1):
        borders = np.unique(np.searchsorted(before, total * np.arange(1, number) / number))
        borders = borders[(borders < len(marks)) & (before[np.minimum(borders, len(marks) - 1)] > 0)]
        halos = [_halo(marks, before, int(border), reach, measure) for border in borders]
        if not len(borders) or sum(rows for _, rows in halos) > limits.halo_share * total:
            continue
        starts = [measure.lowest, *marks[borders].tolist()]
        ends = [*marks[borders].tolist(), measure.highest]
        reached = [(measure.lowest, 0.0), *halos]
        for start, end, (halo, _) in zip(starts, ends, reached, strict=True):
            yield Chunk(bucket, start, end, halo, max(0, reach.rows))
            bucket += 1
        return


def _halo(marks: Any, before: Any, border: int, reach: Reach, measure: Measure) -> tuple[Any, float]:
    """Return where the halo before a border starts, and about how many rows it has."""
    length = reach.length
    if measure.dtype.kind == "f":  # edges are rounded, each by itself
        length += 4 * np.spacing(max(abs(marks[border]), length))
    from_length = measure.dtype.type(max(marks[border].item() - length, measure.lowest))
    place = int(np.searchsorted(marks, from_length, side="right")) - 1
    if reach.rows:
        place = min(place, int(np.searchsorted(before, before[border] - reach.rows, side="right")) - 1)
    if place < 0:
        return measure.lowest, float(before[border])
    return (marks[place].item() if reach.rows else from_length.item()), float(before[border] - before[place])
