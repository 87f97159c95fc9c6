"""Random tables and frames over them, drawn by NumPy from a seed."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

import sash

__all__ = ["NUMBERS", "OBJECTS", "Drawn", "Extent", "Value", "draw"]

US = np.datetime64(0, "us")
DAY = 86_400_000_000
MOST_OBJECTS = 2_000  # rows of a table that is asked for OBJECTS: these are computed in Python
WORDS = ["", "a", "b", "ab", "straße", "Ω", "zz", "z"]


@dataclass(frozen=True)
class Value:
    """An aggregate, and the same in the SQL of DuckDB; `place` is the order of rows, which has no ties."""

    name: str
    template: Any
    sql: str

    @property
    def is_known(self) -> str:
        """Whether a row has a value in every column that counts for min_samples."""
        return " AND ".join(f"{each} IS NOT NULL" for each in self.template.columns) or "place IS NOT NULL"


# Kernels are compiled for each set: the sets are few. f holds NaN and infinities, g only plain numbers.
NUMBERS = (
    Value("n", sash.count(), "count(place)"),
    Value("n_f", sash.count("f"), "count(f)"),
    Value("sum_i", sash.sum("i"), "sum(i)"),
    Value("max_i", sash.max("i"), "max(i)"),
    Value("min_f", sash.min("f"), "min(f)"),
    Value("max_f", sash.max("f"), "max(f)"),
    Value("sum_f", sash.sum("f"), "sum(f)"),
    Value("mean_g", sash.mean("g"), "avg(g)"),
    Value("variance_g", sash.variance("g"), "var_samp(g)"),
    Value("first_i", sash.first("i"), "arg_min(i, place) FILTER (WHERE i IS NOT NULL)"),
    Value("last_f", sash.last("f"), "arg_max(f, place) FILTER (WHERE f IS NOT NULL)"),
    Value("where_g", sash.argmax("g", "place"), "arg_max(place, g)"),
)
OBJECTS = (
    Value("n", sash.count(), "count(place)"),
    Value("min_s", sash.min("s"), "min(s)"),
    Value("max_s", sash.max("s"), "max(s)"),
    Value("distinct_s", sash.count_distinct("s"), "count(DISTINCT s)"),
    Value("distinct_f", sash.count_distinct("f"), "count(DISTINCT f)"),
    Value("first_s", sash.first("s"), "arg_min(s, place) FILTER (WHERE s IS NOT NULL)"),
    Value("last_s", sash.last("s"), "arg_max(s, place) FILTER (WHERE s IS NOT NULL)"),
    Value("sum_d", sash.sum("d"), "sum(d)"),
    Value("max_d", sash.max("d"), "max(d)"),
    Value("median_g", sash.median("g"), "quantile_cont(g, 0.5)"),
)


@dataclass(frozen=True)
class Extent:
    """A frame of the last rows, or of a length; `offset` is the length in the words of DuckDB."""

    values: tuple[Value, ...]
    rows: int | None = None
    range: Any = None
    offset: str = ""
    closed: Any = "both"
    min_samples: int = 1

    def of_sash(self, suffix: str = "") -> Any:
        aggregates = {each.name + suffix: each.template for each in self.values}
        return sash.frame(
            rows=self.rows, range=self.range, closed=self.closed, min_samples=self.min_samples, **aggregates
        )


@dataclass(frozen=True)
class Drawn:
    """A table of `place` (the order by position, then as rows stand), t, k, and values; and the frames asked of it."""

    seed: int
    kind: str  # of positions
    table: pa.Table
    by: str | None
    extents: tuple[Extent, ...]

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.table.num_rows} rows on {self.kind}, {'no key' if self.by is None else 'keys'}"


def draw(seed: int, count: int) -> Drawn:
    """A table of about so many rows, and four frames: two of rows, two of a length."""
    dice = np.random.default_rng(seed)
    count = int(dice.integers(count // 2, count + 1))
    kind = ("integers", "tenths", "times", "floats", "far integers", "dates")[seed % 6]
    t = _positions(kind, dice, count)
    known = dice.random(count) >= (0.03 if dice.random() < 0.3 else 0.0)
    order = dice.choice(["shuffled", "sorted", "nearly"])
    if order != "shuffled":
        t = np.sort(t)
    if order == "nearly":
        t = t[np.argsort(np.arange(count) + dice.integers(0, 9, count), kind="stable")]
    place = np.empty(count, np.int64)
    place[np.lexsort((np.arange(count), t))] = np.arange(count)
    columns = {"place": place, "t": pa.array(t, mask=~known), **_values(dice, count)}
    has_keys = dice.random() < 0.8
    if has_keys:
        columns["k"] = _keys(dice, count)
    return Drawn(seed, kind, pa.table(columns), "k" if has_keys else None, _extents(kind, dice, t))


def _positions(kind: str, dice: Any, count: int) -> Any:
    crowd = int(dice.choice([1, 2, 20]))  # rows at one position, about
    ticks = dice.integers(0, max(1, count // crowd), count) - count // 5
    if kind == "integers":
        return ticks
    if kind == "far integers":
        return ticks * 7 + int(dice.choice([-1, 1])) * 2**59
    if kind == "tenths":
        return ticks / 10
    if kind == "times":
        return US + (ticks * int(dice.choice([1, 1_000, 90_000_000]))).astype("m8[us]")
    if kind == "dates":
        return np.datetime64("1970-01-01") + ticks
    return dice.choice(dice.normal(0, 10.0 ** int(dice.integers(-3, 9)), max(1, count // crowd)), count)


def _values(dice: Any, count: int) -> dict[str, Any]:
    def some(values: Any, kind: Any = None) -> Any:
        return pa.array(values, kind, mask=dice.random(count) < 0.15)

    rough = np.round(dice.normal(0, 3, count), 1)
    for odd in (np.nan, np.inf, -np.inf, -0.0):
        rough[dice.random(count) < 0.04] = odd
    words = np.array(WORDS, object)[dice.integers(0, len(WORDS), count)]
    cents = [Decimal(int(each)).scaleb(-2) for each in dice.integers(-(10**9), 10**9, count)]
    return {
        "i": some(dice.integers(-(2**40), 2**40, count)),
        "f": some(rough),
        "g": some(dice.normal(100, 30, count)),
        "s": some(words, pa.string()),
        "d": some(cents, pa.decimal128(12, 2)),
    }


def _keys(dice: Any, count: int) -> Any:
    many = int(dice.choice([2, 5, max(2, count // 20), count]))
    codes = (many * dice.random(count) ** 2).astype(np.int64)  # the first have more rows
    keys = codes if dice.random() < 0.5 else np.array([f"k{each}" for each in codes], object)
    return pa.array(keys, mask=codes == 1)


def _extents(kind: str, dice: Any, t: Any) -> tuple[Extent, ...]:
    objects = OBJECTS if len(t) <= MOST_OBJECTS else NUMBERS
    return (
        Extent(NUMBERS, rows=int(dice.choice([1, 2, 3, 17, 300])), min_samples=int(dice.choice([0, 1, 4]))),
        Extent(objects, rows=int(dice.choice([1, 2, 5, 25]))),
        Extent(NUMBERS, min_samples=int(dice.choice([1, 1, 3])), **_length(kind, dice, t, [0, 0.5, 2, 20, 200])),
        Extent((NUMBERS, objects)[dice.integers(2)], closed="right", **_length(kind, dice, t, [0, 0.5, 2, 20])),
    )


def _length(kind: str, dice: Any, t: Any, counts: list[float]) -> dict[str, Any]:
    """A length that holds about so many rows."""
    span = t.max() - t.min()
    share = float(dice.choice(counts)) / len(t)
    if kind in ("tenths", "floats"):
        length = round(float(span) * share, 1) if kind == "tenths" else float(span) * share
        return {"range": length, "offset": f"{length!r}::DOUBLE"}
    if kind in ("times", "dates"):
        micros = int(span.astype("m8[us]").astype(np.int64) * share)
        micros = micros // DAY * DAY if kind == "dates" else micros
        return {"range": np.timedelta64(micros, "us").item(), "offset": f"to_microseconds({micros})"}
    return {"range": int(int(span) * share), "offset": str(int(int(span) * share))}
