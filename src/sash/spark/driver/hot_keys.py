"""Find hot keys, which most rows have, and cut their time into chunks, each a bucket of its own.

A window or frame that crosses a border belongs to the chunk that it ends in, or that has its row. That chunk also gets
the rows before its start and after its end that such windows and frames reach, its halo. So chunks are answered
independently, after one shuffle.

     … ──────[ chunk 1 ──────────────)[ chunk 2 ──────────────)[ chunk 3 …
                            [ halo of 2 )                      [ halo of 2 )   after it: for frames that look ahead
                                                   [ halo of 3 )

Quantiles of positions say where to cut. The first rows say which keys may be hot; only if there are any, one narrow
pass reads all positions. Frames by rows or groups need a halo of a number of them: a second pass counts rows, and a
third one groups, which are different positions.
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

from sash.activity import doing
from sash.limits import Limits
from sash.spark.driver.schema import column
from sash.spark.driver.worker_python import use_driver_python
from sash.spark.versions import collect
from sash.spark.wire.hot_keys import Chunk, HotKey
from sash.windows.measure import Measure

__all__ = ["Distance", "Reach", "find_hot_keys"]

_NO_KEY = 0  # the hash where there are no key columns


@dataclass(frozen=True)
class Distance:
    """How far windows and frames look in one direction: in positions, in rows and in groups of equal positions."""

    length: Any = 0
    rows: int = 0
    groups: int = 0

    @property
    def least_rows(self) -> int:
        """How many rows it spans at least."""
        return max(self.rows, self.groups)


@dataclass(frozen=True)
class Reach:
    """How far windows and frames look back and ahead."""

    back: Distance
    ahead: Distance = Distance()


@dataclass(frozen=True)
class _Marks:
    """Positions among which a key can be cut, and how many of its rows and groups are before each of them."""

    positions: Any
    rows: Any
    groups: Any
    total: float  # of rows


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
    with doing("Spark counts the rows of hot keys"):
        found = collect(narrow.agg(*wanted)).combine_chunks()
    total = found["total"][0].as_py()
    hot: list[HotKey] = []
    for k, (number, key) in enumerate(candidates):
        count = found[f"n{k}"][0].as_py()
        if count < limits.hot_rows or count * 2 * tasks < total:
            continue
        marks, _ = measure.positions(found[f"q{k}"].combine_chunks().flatten(), on)
        marks = np.unique(marks)
        own_positions = narrow.where(F.col("hash") == number).select("position")
        counted = _count_before(own_positions, count, on, measure, marks, reach)
        chunks = tuple(_chunks(counted, reach, measure, 4 * tasks, first_bucket, limits))
        first_bucket += len(chunks)
        if len(chunks) > 1:
            hot.append(HotKey(key, chunks))
    return tuple(hot)


def _candidates(rows: DataFrame, by: Sequence[str], tasks: int, limits: Limits) -> list[tuple[int, tuple[Any, ...]]]:
    """Return keys that many of the first rows have, each with its hash."""
    probed = limits.probed_rows
    with doing("Spark reads the first rows, to find hot keys"):
        first = collect(rows.limit(probed).select(_hash(by), *map(column, by))).combine_chunks()
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


def _count_before(rows: DataFrame, count: int, on: str, measure: Measure, marks: Any, reach: Reach) -> _Marks:
    """Count the rows and groups of a key before each mark, as far as frames need it; else assume equal numbers."""
    sides = (reach.back, reach.ahead)
    counts = np.full(len(marks) + 1, count / (len(marks) + 1))
    if any(side.rows for side in sides):
        counts = _count_rows(rows, on, measure, marks)
    groups = np.zeros(len(marks) + 1, np.int64)
    if any(side.groups for side in sides):
        groups = _count_rows(rows.distinct(), on, measure, marks)
    return _Marks(marks, np.cumsum(counts[:-1]), np.cumsum(groups[:-1]), float(counts.sum()))


def _count_rows(rows: DataFrame, on: str, measure: Measure, marks: Any) -> Any:
    """Return the numbers of rows before the first mark, between each two, and from the last on."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = np.zeros(len(marks) + 1, np.int64)
        for batch in batches:
            positions, valid = measure.positions(batch.column(0), on)
            places = np.searchsorted(marks, positions if valid is None else positions[valid], side="right")
            counts += np.bincount(places, minlength=len(counts))
        yield pa.record_batch([pa.array([counts.tolist()], pa.list_(pa.int64()))], names=["counts"])

    use_driver_python(rows.sparkSession)
    with doing("Spark counts the rows of chunks"):
        parts = collect(rows.mapInArrow(count, "counts array<bigint>"))["counts"].to_pylist()
    return np.sum(np.array(parts, np.int64), axis=0)


def _chunks(marks: _Marks, reach: Reach, measure: Measure, most: int, bucket: int, limits: Limits) -> Iterator[Chunk]:
    """Return as many chunks as pay: with equal numbers of rows, and with halos that are small beside them."""
    before, total = marks.rows, marks.total
    if not len(before):
        return
    for number in range(min(most, int(total // limits.chunk_rows)), 1, -1):
        borders = np.unique(np.searchsorted(before, total * np.arange(1, number) / number))
        borders = borders[(borders < len(before)) & (before[np.minimum(borders, len(before) - 1)] > 0)]
        earlier = [_earlier(marks, int(border), reach.back, measure) for border in borders]
        later = [_later(marks, int(border), reach.ahead, measure) for border in borders]
        if not len(borders) or sum(rows for _, rows in (*earlier, *later)) > limits.halo_share * total:
            continue
        cuts = marks.positions[borders].tolist()
        starts, ends = [measure.lowest, *cuts], [*cuts, measure.highest]
        halos = [measure.lowest, *(start for start, _ in earlier)]
        halo_ends = [*(end for end, _ in later), measure.highest]
        for each in zip(starts, ends, halos, halo_ends, strict=True):
            yield Chunk(bucket, *each, reach.back.least_rows, reach.ahead.least_rows)
            bucket += 1
        return


def _earlier(marks: _Marks, border: int, distance: Distance, measure: Measure) -> tuple[Any, float]:
    """Return where the halo before a border starts, and about how many rows it has."""
    position = marks.positions[border].item()
    start = max(position - _longest(position, distance.length), measure.lowest)
    place = int(np.searchsorted(marks.positions, start, side="right")) - 1
    for before, count in ((marks.rows, distance.rows), (marks.groups, distance.groups)):
        if count:
            place = min(place, int(np.searchsorted(before, before[border] - count, side="right")) - 1)
    if place < 0:
        return measure.lowest, float(marks.rows[border])
    start = marks.positions[place].item() if distance.least_rows else start
    return start, float(marks.rows[border] - marks.rows[place])


def _later(marks: _Marks, border: int, distance: Distance, measure: Measure) -> tuple[Any, float]:
    """Return where the halo after a border ends, and about how many rows it has."""
    position = marks.positions[border].item()
    if distance == Distance():
        return position, 0.0
    end = min(position + _longest(position, distance.length), measure.highest)
    place = int(np.searchsorted(marks.positions, end))
    for before, count in ((marks.rows, distance.rows), (marks.groups, distance.groups)):
        if count:
            place = max(place, int(np.searchsorted(before, before[border] + count)))
    if place >= len(marks.positions):
        return measure.highest, float(marks.total - marks.rows[border])
    end = marks.positions[place].item() if distance.least_rows else end
    return end, float(marks.rows[place] - marks.rows[border])


def _longest(position: Any, length: Any) -> Any:
    """Return a length that is not too short: the edges of frames on floats are rounded, each by itself."""
    if not isinstance(position, float) or math.isinf(length):
        return length
    return length + 4 * float(np.spacing(max(abs(position), length)))
