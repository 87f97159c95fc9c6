"""Medians, quantiles and distinct counts of frames, against the rows of each frame one by one."""

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.algebra.holistic import interpolate
from sash.errors import InvalidInput, SashError

SHARES = (0.0, 0.25, 0.5, 0.9, 1.0)


def quantile(values: list[Any], q: float) -> float | None:
    if not values:
        return None
    ordered = sorted((float(each) for each in values), key=lambda x: (math.isnan(x), x))
    place = q * (len(ordered) - 1)
    below = int(place)
    return interpolate(ordered[below], ordered[min(below + 1, len(ordered) - 1)], place - below)


def distinct(values: list[Any]) -> int:
    return len({"NaN" if each != each else each for each in values})


def ascending(values: list[Any]) -> list[Any]:
    """Return the distinct values in their order; NaN is the largest, and -0.0 is 0.0."""
    known = {each + 0 if isinstance(each, float) else each for each in values if each == each}
    in_bytes = sorted(known, key=lambda each: each.encode() if isinstance(each, str) else each)
    return [*in_bytes, *([math.nan] if any(each != each for each in values) else [])]


def most_frequent(values: list[Any]) -> Any:
    if not values:
        return None
    keys = [(value != value, 0 if value != value else value) for value in values]
    is_nan, value = min(keys, key=lambda key: (-keys.count(key), key))
    return math.nan if is_nan else value


def frames(table: pa.Table, rows: int | None, width: int | None, closed: str = "both") -> list[list[int]]:
    """Return the places of the rows in the frame of each row."""
    keys, at = table["k"].to_pylist(), table["t"].to_pylist()
    found = []
    for row in range(len(at)):
        own = [other for other in range(len(at)) if keys[other] == keys[row]]
        if rows is not None:
            own = [other for other in own if (at[other], other) <= (at[row], row)]
            found.append(sorted(own, key=lambda other: (at[other], other))[-rows:])
        else:
            assert width is not None
            low = at[row] - width
            inside = [other for other in own if low <= at[other] <= at[row] and (closed == "both" or at[other] > low)]
            found.append(inside)
    return found


DAY = date(2024, 1, 1)
COLUMNS: dict[str, tuple[Any, list[Any]]] = {  # a type, and values to draw from
    "f8": (pa.float64(), [0.0, -0.0, 1.5, -2.5, math.nan, math.inf, -math.inf, 1e300, None]),
    "f4": (pa.float32(), [0.0, -0.0, 1.5, -2.5, math.nan, math.inf, None]),
    "i8": (pa.int64(), [0, -1, 2**62, -(2**62), 2**53 + 1, 7, None]),
    "i1": (pa.int8(), [0, -128, 127, 5, None]),
    "u8": (pa.uint64(), [0, 2**64 - 1, 2**63, 9, None]),
    "u4": (pa.uint32(), [0, 2**32 - 1, 4, None]),
    "bool": (pa.bool_(), [True, False, None]),
    "decimal": (pa.decimal128(30, 4), [Decimal("0.1"), Decimal("-3.0001"), Decimal(10) ** 20, Decimal(7), None]),
    "wide": (pa.decimal256(50, 3), [Decimal("0.1"), Decimal(10) ** 40, Decimal(-2), None]),
    "string": (pa.string(), ["", "a", "B", "é", "zz", "𝄞", None]),
    "large": (pa.large_string(), ["", "a", None]),
    "binary": (pa.binary(), [b"", b"a", b"\xff", None]),
    "fixed": (pa.binary(2), [b"aa", b"\xff\x00", None]),
    "category": (pa.dictionary(pa.int8(), pa.string()), ["u", "v", "w", None]),
    "date": (pa.date32(), [DAY, DAY + timedelta(400), None]),
    "time": (pa.timestamp("us", "UTC"), [datetime(2024, 1, 1), datetime(1900, 5, 5), None]),
    "nulls": (pa.int64(), [None]),
}
NUMBERS = ("f8", "f4", "i8", "i1", "u8", "u4", "bool", "decimal", "wide", "nulls")


def drawn(name: str, count: int, seed: int) -> pa.Table:
    dice = np.random.default_rng(seed)
    kind, values = COLUMNS[name]
    places = dice.integers(0, len(values), count)
    times = dice.integers(0, count, count)
    keys = dice.integers(0, 4, count)
    return pa.table({"t": times, "k": keys, "x": pa.array([values[place] for place in places], kind)})


def same(found: Any, wanted: Any) -> bool:
    if isinstance(found, float) and isinstance(wanted, float) and math.isnan(wanted):
        return math.isnan(found)
    return type(found) is type(wanted) and bool(found == wanted)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    "extent", [{"rows": 1}, {"rows": 7}, {"rows": 1000}, {"range": 9}, {"range": 3, "closed": "right"}], ids=str
)
def test_statistics_of_every_type_agree_with_the_rows_of_each_frame(name: str, extent: dict[str, Any]) -> None:
    table = drawn(name, 90, 1)
    wanted: dict[str, Any] = {"n": sash.count_distinct("x"), "often": sash.mode("x"), "max": sash.max("x")}
    if name in NUMBERS:
        wanted |= {f"q{q}": sash.quantile("x", q) for q in SHARES} | {"m": sash.median("x")}
    found = sash.rolling(table, on="t", by="k", **extent, **wanted)
    values = table["x"].to_pylist()
    assert found.column_names == [*table.column_names, *wanted]
    for row, inside in enumerate(frames(table, extent.get("rows"), extent.get("range"), extent.get("closed", "both"))):
        own = [values[place] for place in inside if values[place] is not None]
        assert found["n"][row].as_py() == distinct(own)
        assert same(found["often"][row].as_py(), most_frequent(own))
        if name in NUMBERS:
            assert same(found["m"][row].as_py(), quantile(own, 0.5))
            for q in SHARES:
                assert same(found[f"q{q}"][row].as_py(), quantile(own, q)), (row, q)
    assert found["often"].type == found["max"].type
    assert found["n"].type == pa.int64() and (name not in NUMBERS or found["m"].type == pa.float64())


@pytest.mark.parametrize("name", ["f8", "string", "decimal"])
@pytest.mark.parametrize("least", [0, 1, 2, 3])
def test_min_samples_counts_the_values_that_are_not_null(name: str, least: int) -> None:
    table = drawn(name, 60, 3)
    wanted: dict[str, Any] = {"n": sash.count_distinct("x"), "c": sash.count("x"), "often": sash.mode("x")}
    if name in NUMBERS:
        wanted["m"] = sash.median("x")
    found = sash.rolling(table, on="t", by="k", rows=4, min_samples=least, **wanted)
    values = table["x"].to_pylist()
    for row, inside in enumerate(frames(table, 4, None)):
        own = [values[place] for place in inside if values[place] is not None]
        enough = len(own) >= least
        assert found["n"][row].as_py() == (distinct(own) if enough or least < 2 else None)
        assert same(found["often"][row].as_py(), most_frequent(own) if enough or least < 2 else None)
        assert found["c"][row].as_py() == (len(own) if enough or least < 2 else None)
        if name in NUMBERS:
            assert same(found["m"][row].as_py(), quantile(own, 0.5) if enough or least < 2 else None)


def test_statistics_of_several_columns_and_frames_stand_in_the_order_of_the_call() -> None:
    table = drawn("i8", 50, 5).append_column("s", drawn("string", 50, 6)["x"])
    found = sash.rolling(
        table,
        sash.frame(rows=3, a=sash.median("x"), top=sash.max("x"), b=sash.count_distinct("s")),
        sash.frame(range=5, c=sash.quantile("x", 0.9), text=sash.min("s"), d=sash.count_distinct("x")),
        on="t",
        by="k",
    )
    assert found.column_names == ["t", "k", "x", "s", "a", "top", "b", "c", "text", "d"]
    extents: list[tuple[dict[str, Any], tuple[str, ...]]] = [({"rows": 3}, ("a", "top", "b"))]
    extents.append(({"range": 5}, ("c", "text", "d")))
    templates: dict[str, Any] = {
        "a": sash.median("x"),
        "top": sash.max("x"),
        "b": sash.count_distinct("s"),
        "c": sash.quantile("x", 0.9),
        "text": sash.min("s"),
        "d": sash.count_distinct("x"),
    }
    for extent, names in extents:
        for name in names:
            alone = sash.rolling(table, on="t", by="k", **extent, **{name: templates[name]})
            assert alone[name].equals(found[name]), name


@pytest.mark.parametrize("name", [each for each in COLUMNS if each not in ("date", "time")])
@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("extent", [{"rows": 5}, {"range": 3, "closed": "right"}], ids=str)
def test_lists_of_every_type_have_the_values_of_each_frame(name: str, least: int, extent: dict[str, Any]) -> None:
    table = drawn(name, 70, 7)
    wanted: dict[str, Any] = {"all": sash.collect("x"), "set": sash.collect_distinct("x"), "peak": sash.count("x")}
    is_text = name in ("string", "large", "category")
    if is_text:
        wanted["text"] = sash.string_agg("x", "; ")
    found = sash.rolling(table, on="t", by="k", min_samples=least, **extent, **wanted)
    values, at = table["x"].to_pylist(), table["t"].to_pylist()
    kind = table["x"].type
    assert found["all"].type == found["set"].type == pa.list_(kind.value_type if name == "category" else kind)
    for row, inside in enumerate(frames(table, extent.get("rows"), extent.get("range"), extent.get("closed", "both"))):
        inside = sorted(inside, key=lambda place: (at[place], place))
        own = [values[place] for place in inside if values[place] is not None]
        expected = own if least < 2 or len(own) >= least else None
        assert repr(found["all"][row].as_py()) == repr(expected)
        assert repr(found["set"][row].as_py()) == repr(None if expected is None else ascending(expected))
        if is_text:
            assert found["text"][row].as_py() == ("; ".join(expected) if expected else None)
    if is_text:
        assert found["text"].type == pa.string()


@pytest.mark.parametrize("exclude", ["row", "group", "ties"])
def test_distinct_values_of_frames_with_several_parts(exclude: Any) -> None:
    table = drawn("string", 80, 11)
    found = sash.rolling(
        table, on="t", by="k", range=(-9, 9), exclude=exclude, set=sash.collect_distinct("x"), all=sash.collect("x")
    )
    for row in found.to_pylist():
        assert row["set"] == ascending(row["all"])


def test_lists_of_rows_without_a_position_are_null() -> None:
    rows = {"t": [3, None, 1], "x": [1.0, 9.0, 5.0], "s": ["a", "b", "c"]}
    found = sash.rolling(pa.table(rows), on="t", rows=2, all=sash.collect("x"), text=sash.string_agg("s"))
    assert found["all"].to_pylist() == [[5.0, 1.0], None, [5.0]]
    assert found["text"].to_pylist() == ["c,a", None, "c"]


def test_lists_that_no_column_has_room_for_are_refused() -> None:
    count = 70_000
    with pytest.raises(InvalidInput, match=r"'x' in all frames together have 2,450,035,000 values"):
        sash.rolling({"t": np.arange(count), "x": np.arange(count)}, on="t", rows=count, all=sash.collect("x"))


def test_many_keys_of_few_rows() -> None:
    dice = np.random.default_rng(8)
    keys = dice.integers(0, 400, 1500)
    table = pa.table({"t": np.arange(1500), "k": keys, "x": dice.normal(size=1500)})
    found = sash.rolling(table, on="t", by="k", rows=3, m=sash.median("x"), n=sash.count_distinct("x"))
    last: dict[int, list[float]] = {}
    for key, x, m, n in zip(*(found[name].to_pylist() for name in ("k", "x", "m", "n")), strict=True):
        own = last.setdefault(key, [])
        own.append(x)
        assert (m, n) == (quantile(own[-3:], 0.5), len(set(own[-3:])))


def test_rows_without_a_position_have_no_statistics() -> None:
    rows = {"t": [3, None, 1], "x": [1.0, 9.0, 5.0], "s": ["a", "b", "c"]}
    found = sash.rolling(pa.table(rows), on="t", rows=2, m=sash.median("x"), n=sash.count_distinct("s"))
    assert found["m"].to_pylist() == [3.0, None, 5.0]
    assert found["n"].to_pylist() == [2, None, 1]


def test_an_empty_table_and_an_aggregate_of_the_user_with_a_known_name() -> None:
    empty = pa.table({"t": pa.array([], pa.int64()), "x": pa.array([], pa.decimal128(5, 2))})
    found = sash.rolling(empty, on="t", rows=2, m=sash.median("x"), n=sash.count_distinct("x"))
    assert found.num_rows == 0 and found["m"].type == pa.float64() and found["n"].type == pa.int64()
    own = sash.Aggregate(
        "median", state="f8", identity=0.0, lift=lambda x: x, combine=lambda a, b: a + b, columns=("x",)
    )
    assert sash.rolling({"t": [1, 2], "x": [1.0, 5.0]}, on="t", rows=2, m=own)["m"].to_pylist() == [1.0, 6.0]


@pytest.mark.parametrize("wrong", [sash.median("s"), sash.quantile("s", 0.2)])
def test_quantiles_of_strings_are_refused(wrong: Any) -> None:
    with pytest.raises(SashError, match="numbers"):
        sash.rolling({"t": [1], "s": ["a"]}, on="t", rows=2, m=wrong)
