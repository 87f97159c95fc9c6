"""Strings, binaries and decimals of a table are aggregated by codes, with the results that a stream of values has."""

import random
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash.engine.coded_columns import code_columns
from sash.engine.input_rows import types_of
from sash.engine.tables import read_rows, to_arrow
from sash.errors import NumberOverflow

WORDS = ["pear", "fig", None, "Äpfel", "", "fig", "zebra", None, "apple", "fig\0", "é", "fig"]
COLUMNS: dict[str, Any] = {
    "string": pa.array(WORDS),
    "large string": pa.array(WORDS, pa.large_string()),
    "chunks": pa.chunked_array([pa.array(WORDS[:5]), pa.array(WORDS[5:])]),
    "dictionary": pa.array(WORDS).dictionary_encode(),
    "binary": pa.array([None if each is None else each.encode() for each in WORDS], pa.binary()),
    "fixed binary": pa.array(
        [None if each is None else each[:1].encode()[:1].ljust(2) for each in WORDS], pa.binary(2)
    ),
    "decimal(10, 2)": pa.array(
        [None if each is None else Decimal(len(each)) / 4 for each in WORDS], pa.decimal128(10, 2)
    ),
    "decimal(38, 10)": pa.array(
        [None if each is None else Decimal(10) ** 25 - len(each) for each in WORDS], pa.decimal128(38, 10)
    ),
    "only nulls": pa.nulls(len(WORDS), pa.string()),
}
AGGREGATES: dict[str, Any] = {
    "n": sash.count("x"),
    "distinct": sash.count_distinct("x"),
    "low": sash.min("x"),
    "high": sash.max("x"),
    "often": sash.max_count("x"),
    "start": sash.first("x"),
    "end": sash.last("x"),
    "who": sash.argmax("y", "x"),
    "when": sash.argmin("x", "y"),
    "all": sash.collect("x"),
    "set": sash.collect_distinct("x"),
    "about": sash.hyperloglog("x"),
    "bits": sash.bloom_filter("x", bits=64),
    "counts": sash.count_min("x", width=8, depth=2),
}
WINDOWS = {
    "tumbling": sash.tumbling(5),
    "sliding": sash.sliding(6, every=2),
    "session": sash.session(gap=1),
    "rows": sash.sliding(rows=3, every=2),
}


def table(column: Any) -> pa.Table:
    rows = len(column)
    return pa.table({"t": [*range(0, 2 * rows, 2)], "k": ["a", "b"] * (rows // 2), "x": column, "y": range(rows)})


def of_stream(rows: pa.Table, *queries: sash.Query) -> list[Any]:
    """What a stream says, which computes with the values themselves."""
    stream = sash.Stream(list(queries), on="t", by="k")
    return [*stream.push(rows).to_pylist(), *stream.finish().to_pylist()]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", COLUMNS)
def test_codes_give_the_results_of_values(kind: str, window: str) -> None:
    rows = table(COLUMNS[kind])
    query = sash.query("q", WINDOWS[window], **AGGREGATES)
    found = sash.aggregate(rows, query, on="t", by="k")
    wanted = of_stream(rows, query)
    order = ("k", "window_start")
    assert sorted(found.to_pylist(), key=lambda row: tuple(row[each] for each in order)) == sorted(
        wanted, key=lambda row: tuple(row[each] for each in order)
    )
    value = rows.schema.field("x").type
    assert found.schema.field("high").type == found.schema.field("who").type == value
    value = value.value_type if pa.types.is_dictionary(value) else value
    assert found.schema.field("set").type == pa.list_(value)


OF_DECIMALS: dict[str, Any] = {
    "total": sash.sum("x"),
    "mean": sash.mean("x"),
    "spread": sash.stddev("x"),
    "variance": sash.variance("x"),
    "middle": sash.median("x"),
    "p90": sash.quantile("x", 0.9),
    "range": sash.range("x"),
    "top": sash.max("x"),
}


def decimals(precision: int, scale: int, digits: int) -> Any:
    """Decimals of both signs, of so many digits at most, with nulls among them."""
    dice = random.Random(digits)
    units = [dice.randrange(-(10**digits) + 1, 10**digits) for _ in range(60)]
    with localcontext(prec=60):
        values = [None if k % 7 == 0 else Decimal(each).scaleb(-scale) for k, each in enumerate(units)]
    return pa.array(values, pa.decimal128(precision, scale))


@pytest.mark.parametrize(
    ("precision", "scale", "digits"), [(10, 2, 10), (18, 4, 18), (20, 0, 12), (38, 10, 30), (5, 5, 3)]
)
def test_decimals_are_added_up_exactly(precision: int, scale: int, digits: int) -> None:
    rows = table(decimals(precision, scale, digits))
    for window in (sash.tumbling(9), sash.sliding(20, every=3), sash.landmark(start=1000, end=2000)):
        query = sash.query("q", window, **OF_DECIMALS)
        found = sash.aggregate(rows, query, on="t", by="k").sort_by([("k", "ascending"), ("window_start", "ascending")])
        wanted = sorted(of_stream(rows, query), key=lambda row: (row["k"], row["window_start"]))
        assert found.num_rows == len(wanted)
        for row, other in zip(found.to_pylist(), wanted, strict=True):
            for name, value in row.items():
                is_float = isinstance(value, float)
                assert value == (pytest.approx(other[name], rel=1e-9) if is_float else other[name]), (name, row, other)
        assert found.schema.field("total").type == pa.decimal128(min(38, precision + 10), scale)
        assert found.schema.field("mean").type == pa.decimal128(min(38, precision + 4), min(38, scale + 4))


def test_a_sum_of_decimals_that_does_not_fit_is_refused() -> None:
    high = Decimal(9) * 10**37
    rows = {"t": [1, 2], "x": pa.array([high, high], pa.decimal128(38, 0))}
    for aggregate in (sash.sum("x"), sash.mean("x")):
        with pytest.raises(NumberOverflow, match=r"overflows decimal\(38, \d\)"):
            sash.aggregate(rows, sash.query("q", sash.tumbling(10), v=aggregate), on="t")


PLAIN: dict[str, Any] = {
    "n": len,
    "distinct": lambda values: len(set(values)),
    "low": lambda values: min(values, default=None),
    "high": lambda values: max(values, default=None),
    "often": lambda values: values.count(max(values)) if values else None,
    "start": lambda values: values[0] if values else None,
    "end": lambda values: values[-1] if values else None,
    "all": list,
    "set": lambda values: sorted(set(values)),
    "total": lambda values: sum(values) if values else None,
    "mean": lambda values: Decimal(sum(values)) / len(values) if values else None,
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_codes_give_the_frames_of_values(kind: str) -> None:
    rows = table(COLUMNS[kind])
    aggregates = {name: each for name, each in AGGREGATES.items() if name in PLAIN}
    if kind.startswith("decimal"):
        aggregates["total"] = sash.sum("x")
    if kind == "decimal(10, 2)":  # the means of the others have more digits than fit
        aggregates["mean"] = sash.mean("x")
    found = sash.rolling(rows, on="t", by="k", rows=3, **aggregates)
    values, keys = rows["x"].to_pylist(), rows["k"].to_pylist()
    for at, row in enumerate(found.to_pylist()):
        own = [value for value, key in zip(values[: at + 1], keys[: at + 1], strict=True) if key == keys[at]][-3:]
        held = [each for each in own if each is not None]
        for name in aggregates:
            with localcontext(prec=60):
                wanted = PLAIN[name](held)
                if name == "mean" and wanted is not None:
                    wanted = wanted.quantize(Decimal(10) ** -found.schema.field("mean").type.scale, ROUND_HALF_UP)
            assert row[name] == wanted, (name, own)


def test_results_of_one_name_and_different_columns_are_kept_apart() -> None:
    rows = {"t": [1, 2, 3], "a": ["x", "y", "z"], "b": ["p", "q", "o"], "i": [3, 1, 2]}
    first = sash.query("first", sash.tumbling(10), top=sash.max("a"))
    second = sash.query("second", sash.tumbling(10), top=sash.max("b"))
    found = sash.aggregate(rows, [first, second], on="t").to_pylist()
    assert {row["query"]: row["top"] for row in found} == {"first": "z", "second": "q"}


def test_a_column_may_be_a_key_and_a_value() -> None:
    rows = {"t": [1, 2, 3], "k": ["b", "a", "b"]}
    query = sash.query("q", sash.tumbling(10), top=sash.max("k"), n=sash.count_distinct("k"))
    found = sash.aggregate(rows, query, on="t", by="k").to_pylist()
    assert sorted((row["k"], row["top"], row["n"]) for row in found) == [("a", "a", 1), ("b", "b", 1)]


def test_every_kind_of_table_has_codes() -> None:
    rows = pa.table({"t": [1, 2, 3], "x": ["b", None, "a"]})
    query = sash.query("q", sash.tumbling(10), low=sash.min("x"), all=sash.collect("x"))
    for given in (rows, rows.to_pydict(), rows.to_pandas(), pl.from_arrow(rows)):
        found = sash.aggregate(given, query, on="t")
        assert to_arrow(found)["low"].to_pylist() == ["a"]
    categories = rows.to_pandas().astype({"x": "category"})
    assert sash.aggregate(categories, query, on="t")["low"].tolist() == ["a"]


def test_no_rows_give_no_results_of_the_same_types() -> None:
    rows = table(COLUMNS["string"]).slice(0, 0)
    found = sash.aggregate(rows, sash.query("q", sash.tumbling(5), low=sash.min("x")), on="t", by="k")
    assert found.num_rows == 0 and found.schema.field("low").type == pa.string()


def test_numbers_and_functions_of_users_are_not_coded() -> None:
    own = sash.Aggregate("own", state="O", identity="", lift=lambda x: x, combine=lambda a, b: a + b)
    rows = read_rows({"x": ["a", "b"], "i": [1, 2]})
    query = sash.query("q", sash.tumbling(1), own=own("x"), top=sash.max("i"), text=sash.string_agg("x"))
    assert code_columns(rows, [query], types_of([query], rows)) is None


def test_many_random_words_agree_with_python() -> None:
    dice = np.random.default_rng(3)
    words = [None if each < 20 else f"w{each}" for each in dice.integers(0, 400, 3_000).tolist()]
    found = sash.aggregate(
        {"t": list(range(3_000)), "x": words},
        sash.query("q", sash.tumbling(100), low=sash.min("x"), n=sash.count_distinct("x")),
        on="t",
    )
    for row in found.to_pylist():
        held = {each for each in words[row["window_start"] : row["window_end"]] if each is not None}
        assert (row["low"], row["n"]) == (min(held), len(held))
