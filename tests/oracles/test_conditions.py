"""Aggregates with a condition: against DuckDB's FILTER in windows, frames and joins, and on streams."""

import inspect
import random
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash.errors import InvalidAggregate, InvalidInput, InvalidQuery, InvalidState, SashError

# The condition of sash, and the same in DuckDB where NaN and division differ.
CONDITIONS = [
    "kind = 'card'",
    "is_paid",
    "x > 2 AND kind <> 'cash'",
    "kind IS NULL OR x BETWEEN 0 AND 4",
    "NOT is_paid",
    "x % 2 = 0",
    "length(kind) = 4",
    "x IN (1, 2, 3)",
    "true",
    "null",
]
# What sash aggregates, and what DuckDB does.
AGGREGATES: dict[str, tuple[Any, str]] = {
    "n": (lambda w: sash.count(where=w), "count(*)"),
    "known": (lambda w: sash.count("x", where=w), "count(x)"),
    "total": (lambda w: sash.sum("x", where=w), "sum(x)"),
    "most": (lambda w: sash.max("x", where=w), "max(x)"),
    "kinds": (lambda w: sash.count_distinct("kind", where=w), "count(DISTINCT kind)"),
    "middle": (lambda w: sash.median("x", where=w), "median(x)"),
    "name": (lambda w: sash.min("kind", where=w), "min(kind)"),
}


def drawn(rng: random.Random, count: int = 30) -> pa.Table:
    return pa.table(
        {
            "t": pa.array(sorted(rng.randrange(40) for _ in range(count)), pa.int64()),
            "k": pa.array([rng.choice("ab") for _ in range(count)], pa.string()),
            "x": pa.array([rng.randrange(9) if rng.random() < 0.8 else None for _ in range(count)], pa.int64()),
            "kind": pa.array([rng.choice(["card", "cash", "bank", None]) for _ in range(count)], pa.string()),
            "is_paid": pa.array([rng.choice([True, False, None]) for _ in range(count)], pa.bool_()),
            "place": pa.array(range(count), pa.int64()),
        }
    )


def drawn_aggregates(rng: random.Random) -> tuple[dict[str, Any], dict[str, str]]:
    """Some aggregates, each with a condition, and what DuckDB calls them."""
    names = rng.sample(sorted(AGGREGATES), 4)
    conditions = {name: rng.choice(CONDITIONS) for name in names}
    ours = {name: AGGREGATES[name][0](conditions[name]) for name in names}
    theirs = {name: f"{AGGREGATES[name][1]} FILTER (WHERE {conditions[name]})" for name in names}
    return ours, theirs


def asked(text: str, **tables: pa.Table) -> list[dict[str, Any]]:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for name, table in tables.items():
            connection.register(name, table)
        rows: list[dict[str, Any]] = connection.sql(text).to_arrow_table().to_pylist()
    return [{name: int(v) if name == "total" and v is not None else v for name, v in row.items()} for row in rows]


@pytest.mark.parametrize("seed", range(25))
def test_windows_are_duckdbs(seed: int) -> None:
    rng = random.Random(seed)
    rows, (ours, theirs) = drawn(rng), drawn_aggregates(rng)
    found = sash.aggregate(rows, sash.query("ten", sash.tumbling(10), **ours), on="t", by="k")
    columns = ", ".join(f"{sql} AS {name}" for name, sql in theirs.items())
    wanted = asked(f"SELECT k, t // 10 * 10 AS window_start, {columns} FROM rows GROUP BY ALL ORDER BY ALL", rows=rows)
    by_window = sorted(found.to_pylist(), key=lambda row: (row["k"], row["window_start"]))
    assert [{name: row[name] for name in ("k", "window_start", *ours)} for row in by_window] == wanted
    said = sash.sql(f"SELECT k, {columns} FROM rows [RANGE 10 SLIDE 10] GROUP BY k", rows=rows, on="t")
    assert said.select(list(ours)).to_pylist() == found.select(list(ours)).to_pylist()


@pytest.mark.parametrize("seed", range(25))
def test_frames_are_duckdbs(seed: int) -> None:
    rng = random.Random(100 + seed)
    rows, (ours, theirs) = drawn(rng), drawn_aggregates(rng)
    low, high = sorted(rng.randrange(-4, 5) for _ in range(2))
    found = sash.rolling(rows, on="t", by="k", range=(low, high), **ours)
    ends = [f"{abs(end)} {'PRECEDING' if end < 0 else 'FOLLOWING'}" for end in (low, high)]
    over = f"OVER (PARTITION BY k ORDER BY t RANGE BETWEEN {ends[0]} AND {ends[1]})"
    columns = ", ".join(f"{sql} {over} AS {name}" for name, sql in theirs.items())
    assert found.column_names == [*rows.column_names, *ours]
    assert found.select(list(ours)).to_pylist() == asked(f"SELECT {columns} FROM rows ORDER BY place", rows=rows)
    assert sash.sql(f"SELECT {columns} FROM rows", rows=rows).to_pylist() == found.select(list(ours)).to_pylist()


@pytest.mark.parametrize("seed", range(25))
def test_joins_are_duckdbs(seed: int) -> None:
    rng = random.Random(200 + seed)
    labels, events = drawn(rng, 12).select(["t", "k", "place"]), drawn(rng)
    ours, theirs = drawn_aggregates(rng)
    found = sash.join(labels, sash.lookback(events, range=5, **ours), on="t", by="k")
    columns = ", ".join(f"{sql} AS {name}" for name, sql in theirs.items())
    # A label without events has a row of nulls, which no condition may count.
    joined = (
        "(SELECT l.place, e.x, e.kind, e.is_paid, e.t AS seen FROM labels l LEFT JOIN events e "
        "ON l.k = e.k AND e.t >= l.t - 5 AND e.t < l.t)"
    )
    columns = columns.replace("FILTER (WHERE ", "FILTER (WHERE seen IS NOT NULL AND ")
    text = f"SELECT {columns} FROM {joined} GROUP BY place ORDER BY place"
    text = text.replace("kind IS NULL OR x BETWEEN 0 AND 4", "(kind IS NULL OR x BETWEEN 0 AND 4)")
    assert found.select(list(ours)).to_pylist() == asked(text, labels=labels, events=events)


@pytest.mark.parametrize("seed", range(10))
def test_a_stream_sends_what_the_table_has(seed: int) -> None:
    rng = random.Random(300 + seed)
    rows, (ours, _) = drawn(rng), drawn_aggregates(rng)
    query = sash.query("sliding", sash.sliding(10, every=5), **ours)
    added = sash.query("added", sash.tumbling(10), late=sash.sum("x", where="kind = 'bank'"))
    stream, found, at = sash.Stream(query, on="t", by="k"), [], 0
    while at < rows.num_rows:
        size = rng.choice([1, 3, 9])
        part = rows.slice(at, size)
        found += stream.push(part, watermark=part["t"][0].as_py()).to_pylist()
        if rng.random() < 0.5:
            stream = sash.Stream.restore(stream.save(), stream.queries)
        at += size
    stream.add(added)
    stream = sash.Stream.restore(stream.save(), [query, added])
    found += stream.finish().to_pylist()
    names = ("k", "window_start", *ours)
    wanted = sash.aggregate(rows, query, on="t", by="k").to_pylist()
    ordered = [
        sorted(((*(row[name] for name in names),) for row in given if row["query"] == "sliding"), key=repr)
        for given in (found, wanted)
    ]
    assert ordered[0] == ordered[1]


def test_a_stream_keeps_rejected_rows_as_they_came() -> None:
    card = sash.query("card", sash.tumbling(10), n=sash.count(where="kind = 'card'"))
    stream = sash.Stream(card, on="t", late="keep")
    assert stream.push({"t": [11], "kind": ["card"]}, watermark=10).num_rows == 0
    stream.push({"t": [3], "kind": ["card"]})
    assert stream.late().to_pylist() == [{"t": 3, "kind": "card"}]
    cash = sash.query("card", sash.tumbling(10), n=sash.count(where="kind = 'cash'"))
    with pytest.raises(InvalidState, match="cash"):
        sash.Stream.restore(stream.save(), cash)


def test_ordered_and_own_aggregates_take_part_in_the_order_of_rows() -> None:
    rows = {"t": [1, 2, 3, 4], "x": [5, 7, 2, 9], "who": ["ann", "bob", "cy", "dan"], "good": [True, False, True, None]}
    digits = sash.Aggregate(
        "digits",
        state=("i8", "i8"),
        identity=(0, 1),
        lift=lambda x: (x, 10),
        combine=lambda a, b: (a[0] * b[1] + b[0], a[1] * b[1]),
        lower=lambda p: p[0],
    )
    query = sash.query(
        "q",
        sash.tumbling(10),
        first=sash.first("x", where="NOT good"),
        last=sash.last("x", where="good"),
        best=sash.argmax("x", "who", where="good"),
        all=sash.collect("who", where="good"),
        digits=digits("x", where="good"),
        joined=sash.string_agg("who", where="x > 4"),
        none=sash.collect("x", where="x > 10"),
    )
    wanted = {"first": 7, "last": 2, "best": "ann", "all": ["ann", "cy"], "digits": 52, "joined": "ann,bob,dan"}
    for kind in (pa.table, pd.DataFrame, pl.DataFrame, dict):
        found = sash.aggregate(kind(rows), query, on="t")
        row = found.to_dict("records")[0] if isinstance(found, pd.DataFrame) else pl.DataFrame(found).to_dicts()[0]
        assert {name: list(row[name]) if name == "all" else row[name] for name in wanted} == wanted
        assert list(row["none"]) == []


def test_every_aggregate_takes_a_condition() -> None:
    made = [getattr(sash, name) for name in sash.__all__]
    makers = [each for each in made if inspect.isfunction(each) and "Template" in str(inspect.signature(each))]
    makers = [each for each in makers if inspect.signature(each).return_annotation in ("Template", sash.Template)]
    assert len(makers) > 20
    for maker in makers:
        assert "where" in inspect.signature(maker).parameters, maker


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("knd = 'card'", "Query 'q', n=count(where=\"knd = 'card'\"): There is no column 'knd'. Did you mean 'kind'?"),
        ("kind = 3", "= does not accept string and int32"),
        ("x + 1", "this is int64: compare it with something"),
        ("kind = ", "Query 'q', n=count(where='kind = '): Expected an expression, but found the end."),
        ("sum(x) > 3", "There is no function of one row 'sum'."),
        ("x > 3 GROUP BY x", "but found GROUP"),
    ],
)
def test_a_wrong_condition_is_refused_with_the_names_of_query_and_result(where: str, said: str) -> None:
    rows = drawn(random.Random(1))
    with pytest.raises(InvalidQuery) as one:
        sash.aggregate(rows, sash.query("q", sash.tumbling(10), n=sash.count(where=where)), on="t")
    assert said in str(one.value)
    assert "\n" not in str(one.value)
    calls: list[Callable[[], Any]] = [
        lambda: sash.rolling(rows, on="t", rows=3, n=sash.count(where=where)),
        lambda: sash.join(rows, sash.lookback(rows, rows=3, n=sash.count(where=where)), on="t"),
        lambda: sash.Stream(sash.query("q", sash.tumbling(10), n=sash.count(where=where)), on="t").push(rows),
    ]
    for call in calls:
        with pytest.raises(InvalidQuery):
            call()


def test_what_is_no_condition_is_refused() -> None:
    for value in (3, "", " ", True):
        with pytest.raises(InvalidAggregate, match="where must be a boolean column, or a condition"):
            sash.sum("x", where=value)  # type: ignore[arg-type]
    with pytest.raises(InvalidAggregate, match=r"where=.* is not possible here.*Leave it out"):
        sash.swag.slide([1, 2], 2, sash.sum(where="x > 1"))


def test_a_column_with_the_name_of_a_copy_is_read_or_refused() -> None:
    name = "x where x > 1"
    rows = {"t": [1, 2], "x": [1, 2], name: [10, 20]}
    query = sash.query("q", sash.tumbling(10), one=sash.sum("x", where="x > 1"), other=sash.sum(name))
    (row,) = sash.aggregate(rows, query, on="t").to_pylist()
    assert (row["one"], row["other"]) == (2, 30)
    with pytest.raises((InvalidInput, SashError)):
        sash.Stream(query, on="t").push(rows)
