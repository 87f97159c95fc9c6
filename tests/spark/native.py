"""The same question in two languages: sash's, and Spark's own window(), session_window() and OVER.

Positions are microseconds or plain integers. Where `on` is a column of integers, Spark is asked about the instants
with as many microseconds. Answers are read as {what identifies a row: its values}: each row once, NaN equal to NaN.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

import sash

__all__ = [
    "Frame",
    "Grid",
    "Session",
    "Value",
    "answers",
    "difference",
    "instant",
    "micros",
    "native_frames",
    "native_windows",
    "of_sash",
    "types",
]

# --- what is computed ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """An aggregate of a column, `who` where it names another one."""

    function: str
    column: str | None = None
    who: str | None = None

    @property
    def name(self) -> str:
        return "_".join(each for each in (self.function, self.column, self.who) if each)

    def of_sash(self) -> Any:
        return getattr(sash, self.function)(*self._columns)

    def samples(self) -> Column:
        """How many rows have all that it takes."""
        return F.count(
            F.when(reduce(Column.__and__, [F.col(each).isNotNull() for each in self._columns], F.lit(True)), 1)
        )

    @property
    def _columns(self) -> list[str]:
        return [each for each in (self.column, self.who) if each]

    def of_spark(self, on: Column) -> Column:
        """As Spark says it; `on` decides what is first and last, and neither takes a null."""
        if self.column is None:
            return F.count("*")
        column = F.col(self.column)
        if self.function in ("first", "last"):
            choose = F.min_by if self.function == "first" else F.max_by
            return choose(column, F.when(column.isNotNull(), on))
        if self.function in ("argmax", "argmin"):
            choose = F.max_by if self.function == "argmax" else F.min_by
            return choose(F.col(self.who or ""), column)
        plain: dict[str, Callable[[Column], Column]] = {
            "count": F.count,
            "sum": F.sum,
            "mean": F.avg,
            "min": F.min,
            "max": F.max,
            "stddev": F.stddev,
            "variance": F.variance,
        }
        return plain[self.function](column)


# --- over what -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    size: int
    every: int
    offset: int = 0

    def of_sash(self, length: Callable[[int], Any]) -> Any:
        size, every, offset = map(length, (self.size, self.every, self.offset))
        return sash.sliding(size, every=every, offset=offset)

    def of_spark(self, time: Column) -> Column:
        """Spark takes a start time of less than a slide, on either side of zero."""
        start = self.offset % self.every - (self.every if self.offset < 0 and self.offset % self.every else 0)
        return F.window(time, *(f"{each} microseconds" for each in (self.size, self.every, start)))


@dataclass(frozen=True)
class Session:
    gap: int

    def of_sash(self, length: Callable[[int], Any]) -> Any:
        return sash.session(gap=length(self.gap))

    def of_spark(self, time: Column) -> Column:
        return F.session_window(time, f"{self.gap} microseconds")


@dataclass(frozen=True)
class Frame:
    """The last `rows`, or those within `range`; results are named after it."""

    name: str
    rows: int | None = None
    range: int | None = None
    closed: Any = "both"
    min_samples: int = 1

    def of_sash(self, values: Iterable[Value], length: Callable[[int], Any]) -> Any:
        extent = {"rows": self.rows} if self.range is None else {"range": length(self.range)}
        return sash.frame(
            **extent,
            closed=self.closed,
            min_samples=self.min_samples,
            **{f"{self.name}_{each.name}": each.of_sash() for each in values},
        )

    def of_spark(self, values: Iterable[Value], by: Sequence[str], position: Column, arrival: Column) -> list[Column]:
        if self.rows is not None:
            over = Over.partitionBy(*by).orderBy(position, arrival).rowsBetween(1 - self.rows, 0)
        else:
            assert self.range is not None
            first = self.range if self.closed == "both" else self.range - 1  # positions are whole
            over = Over.partitionBy(*by).orderBy(position).rangeBetween(-first, 0)
        found = []
        for each in values:
            value = each.of_spark(F.struct(position, arrival)).over(over)
            if self.min_samples > 1:
                value = F.when(each.samples().over(over) >= self.min_samples, value)
            found.append(value.alias(f"{self.name}_{each.name}"))
        return found


# --- asking ----------------------------------------------------------------------------------------


def micros(length: int) -> timedelta:
    return timedelta(microseconds=length)


def of_sash(
    windows: Mapping[str, Grid | Session], values: Sequence[Value], length: Callable[[int], Any] = micros
) -> list[Any]:
    """The queries for `sash.aggregate`."""
    aggregates = {each.name: each.of_sash() for each in values}
    return [sash.query(name, window.of_sash(length), **aggregates) for name, window in windows.items()]


def instant(rows: DataFrame, on: str) -> Column:
    """The column as an instant; integers are microseconds since 1970."""
    kind = rows.schema[on].dataType.typeName()
    return F.timestamp_micros(F.col(on)) if kind in ("integer", "long") else F.col(on).cast("timestamp")


def native_windows(
    rows: DataFrame, windows: Mapping[str, Grid | Session], values: Sequence[Value], on: str, by: Sequence[str]
) -> DataFrame:
    """All windows, each by Spark's own function, as sash gives them; their edges in microseconds."""
    found = []
    for name, window in windows.items():
        edges = rows.withColumn("_time", instant(rows, on)).groupBy(*by, window.of_spark(F.col("_time")).alias("_w"))
        found.append(
            edges.agg(*(each.of_spark(F.col("_time")).alias(each.name) for each in values)).select(
                *by,
                F.lit(name).alias("query"),
                F.unix_micros("_w.start").alias("window_start"),
                F.unix_micros("_w.end").alias("window_end"),
                *(each.name for each in values),
            )
        )
    return reduce(DataFrame.unionByName, found)


def native_frames(
    rows: DataFrame, frames: Iterable[Frame], values: Sequence[Value], on: str, by: Sequence[str], arrival: str
) -> DataFrame:
    position = F.unix_micros(instant(rows, on))
    wanted = [each for frame in frames for each in frame.of_spark(values, by, position, F.col(arrival))]
    return rows.select("*", *wanted)


# --- comparing -------------------------------------------------------------------------------------


def answers(rows: DataFrame, identity: Sequence[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows by what identifies them, edges and times as numbers; two rows of one identity are a mistake."""
    edges = [
        F.unix_micros(F.col(f.name).cast("timestamp")).alias(f.name)
        if f.dataType.typeName() in ("timestamp", "timestamp_ntz")
        else F.col(f.name)
        for f in rows.schema.fields
    ]
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows.select(*edges).collect():
        own = row.asDict()
        key = tuple(_named(own.pop(name)) for name in identity)
        assert key not in found, f"{key} is there twice"
        found[key] = own
    return found


def _named(value: Any) -> Any:
    """NaN is one key, and zero has no sign as a key."""
    return "NaN" if isinstance(value, float) and value != value else value


def types(rows: DataFrame, names: Iterable[str]) -> dict[str, str]:
    return {name: rows.schema[name].dataType.simpleString() for name in names}


def difference(
    found: Mapping[tuple[Any, ...], Mapping[str, Any]], wanted: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> str:
    """What is missing, too much or another value; empty if nothing is."""
    lines = [f"missing   {key}: {dict(wanted[key])}" for key in wanted if key not in found]
    lines += [f"too much  {key}: {dict(found[key])}" for key in found if key not in wanted]
    for key in wanted.keys() & found.keys():
        ours, theirs = found[key], wanted[key]
        wrong = [name for name in ours.keys() | theirs.keys() if not _alike(ours.get(name), theirs.get(name))]
        lines += [f"differs   {key}: {name} is {ours.get(name)}, native {theirs.get(name)}" for name in sorted(wrong)]
    more = [f"… {len(lines) - 12} more"] if len(lines) > 12 else []
    return "\n".join([*lines[:12], *more])


def _alike(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a != a and b != b) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return bool(a == b)
