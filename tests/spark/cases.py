"""Random rows that Spark and sash are both asked about, made from a seed: keys, values, times, disorder."""

import datetime as dt
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tests.spark.native import Frame, Grid, Session, Value
from tests.spark.older_spark import table_of

__all__ = ["Case", "case"]

DAY = dt.date(2024, 2, 29)
KEYS: list[tuple[tuple[str, ...], tuple[Sequence[Any], ...]]] = [
    (("string",), (["a", "b", "", "long enough to have a place of its own", None],)),
    (("int",), ([-1, 0, 7, None],)),
    (("double",), ([0.0, -0.0, math.nan, 1.5, -math.inf, None],)),
    (("boolean",), ([True, False, None],)),
    (("string", "int"), (["a", "b", None], [1, 2, None])),
    (("date",), ([DAY, dt.date(1969, 12, 31), None],)),
    ((), ()),
    (("long",), ([2**40, -(2**40), 0, None],)),
]
ARROW = {
    "string": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}
# A kernel is compiled for each set of aggregates and types, so sets are few; windows and keys cost nothing.
ANY_ORDER = (
    Value("count"),
    *(Value(each, "x") for each in ("count", "sum", "mean", "min", "max", "stddev", "variance")),
    *(Value(each, "y") for each in ("count", "sum", "mean", "min", "max", "stddev")),
)
IN_ORDER = (
    Value("count"),
    Value("sum", "x"),
    Value("first", "x"),
    Value("last", "y"),
    Value("argmax", "z", "x"),
    Value("argmin", "z", "y"),
)


@dataclass(frozen=True)
class Case:
    """Rows (arrival, k0, k1 …, t, x, y, z) and what is asked of them."""

    rows: list[tuple[Any, ...]]
    schema: str
    by: tuple[str, ...]
    on_kind: str
    values: tuple[Value, ...]
    grids: dict[str, Grid | Session]
    sessions: dict[str, Grid | Session]
    frames: tuple[Frame, ...]
    x_kind: str

    def table(self, spark: Any) -> DataFrame:
        """In as many partitions as there are cores, as they arrive; times are made of numbers, which no zone moves."""
        kinds = [each.split() for each in self.schema.split(", ")]
        columns = zip(*self.rows, strict=True)
        raw = table_of(
            spark,
            pa.table({name: pa.array(each, ARROW[kind]) for (name, kind), each in zip(kinds, columns, strict=True)}),
        )
        time: dict[str, Callable[[Any], Any]] = {
            "timestamp": F.timestamp_micros,
            "timestamp_ntz": lambda t: F.timestamp_micros(t).cast("timestamp_ntz"),
            "long": lambda t: t,
        }
        return raw.withColumn("t", time[self.on_kind](F.col("t"))).withColumn("x", F.col("x").cast(self.x_kind))

    def length(self) -> Callable[[int], Any]:
        return int if self.on_kind == "long" else lambda length: dt.timedelta(microseconds=length)


def case(seed: int, *, null_times: bool) -> Case:
    """Odd seeds have no two rows at one position, and ask what comes first and last as well."""
    dice = random.Random(seed)
    kinds, choices = KEYS[seed % len(KEYS)]
    unit = dice.choice([1, 1_000, 1_000_000, 3_600_000_000])
    about = dice.choice([-40, 20, 1_700_000_000_000_000 // unit])  # around 1970, or not
    count = dice.randrange(120, 180)
    offsets = dice.sample(range(240), count) if seed % 2 else [dice.randrange(120) for _ in range(count)]
    if dice.random() < 0.5:  # nearly in order
        offsets = [each for _, each in sorted((each + dice.randrange(15), each) for each in offsets)]
    rows = []
    for arrival, offset in enumerate(offsets):
        at = None if null_times and dice.random() < 0.03 else (about + offset) * unit
        keys = [dice.choice(each) for each in choices]
        x = None if dice.random() < 0.15 else dice.randrange(-100, 100)
        y = dice.choice([None, math.nan, dice.uniform(-50, 50), dice.uniform(-50, 50), dice.uniform(-50, 50)])
        if seed % 4 == 0 and dice.random() < 0.04:
            y = dice.choice([math.inf, -math.inf])
        z = None if dice.random() < 0.1 else float(arrival * 7919 % 1009)  # no two are equal
        rows.append((arrival, *keys, at, x, y, z))
    names = tuple(f"k{each}" for each in range(len(kinds)))
    sizes = [dice.randrange(1, 30) for _ in range(4)]
    grids: dict[str, Grid | Session] = {
        "ten_every_four": Grid(10 * unit, 4 * unit, dice.randrange(-9, 9) * unit),
        "five_every_three": Grid(5 * unit, 3 * unit),
        "tumbling": Grid(sizes[0] * unit, sizes[0] * unit, dice.randrange(-40, 40) * unit),
        "sliding": Grid((sizes[1] + 3 * sizes[2]) * unit, sizes[2] * unit, dice.randrange(-9, 9) * unit),
    }
    return Case(
        rows=rows,
        schema="arrival long, "
        + "".join(f"{name} {kind}, " for name, kind in zip(names, kinds, strict=True))
        + "t long, x int, y double, z double",
        by=names,
        on_kind=["timestamp", "timestamp", "long", "timestamp_ntz"][seed // 2 % 4],
        values=IN_ORDER if seed % 2 else ANY_ORDER,
        grids=grids,
        # Rows exactly a gap apart are among them: Spark joins these, as sash does.
        sessions={"visit": Session(dice.choice([1, 2, 3, 5]) * unit)},
        frames=(
            Frame("rows", rows=dice.choice([1, dice.randrange(2, 40), dice.randrange(2, 40)])),
            Frame("range", range=dice.choice([0, dice.randrange(1, 30), dice.randrange(1, 30)]) * unit),
            Frame("right", range=dice.randrange(1, 30) * unit, closed="right"),
            Frame("some", rows=10, min_samples=4),
        ),
        x_kind="int" if seed % 4 < 2 else "long",
    )
