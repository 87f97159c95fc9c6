"""Calls that a new user would try: each works, or the message names the fix."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
TIMES = [dt.datetime(2026, 1, 1, 12, 0, second) for second in (1, 2, 30)]
EVENTS: dict[str, list[Any]] = {"ts": TIMES, "user": ["a", "b", "a"], "price": [3.0, None, 5.0], "n": [1, 2, 3]}
NESTED: dict[str, list[Any]] = {
    "event": [{"ts": time} for time in TIMES],
    "meta": [{"device": "x", "load": load} for load in (3.0, 4.0, 5.0)],
}
DF = pd.DataFrame(EVENTS)
HOURLY = sash.query("hourly", sash.tumbling("1 hour"), peak=sash.max("price"))


def agg(rows: Any = DF, query: Any = HOURLY, **options: Any) -> Any:
    return S.aggregate(rows, query, **{"on": "ts", **options})


WORKS: dict[str, tuple[Callable[[], Any], Any]] = {
    "a DataFrame and a window": (lambda: agg()["peak"].tolist(), [5.0]),
    "a key": (lambda: agg(by="user")["user"].tolist(), ["a", "b"]),
    "a list of keys": (lambda: agg(by=["user", "n"]).shape[0], 3),
    "a list of queries": (lambda: agg(query=[HOURLY])["query"].tolist(), ["hourly"]),
    "a feature assigned to the DataFrame": (
        lambda: DF[DF.n > 1].assign(f=sash.rolling(DF[DF.n > 1], on="ts", rows=2, f=sash.sum("n"))["f"])["f"].tolist(),
        [2, 5],
    ),
    "counts beside nulls are whole numbers": (
        lambda: str(sash.rolling(DF, on="ts", rows=(-1, -1), before=sash.first("n"))["before"].dtype),
        "Int64",
    ),
    "a lazy frame of Polars": (lambda: agg(pl.LazyFrame(EVENTS)).collect()["peak"].to_list(), [5.0]),
    "a relation of DuckDB": (lambda: agg(duckdb.from_arrow(pa.table(EVENTS))).project("peak").fetchall(), [(5.0,)]),
    "a nested key": (
        lambda: agg(NESTED, sash.query("q", sash.tumbling("1 hour"), top=sash.max("meta.load")), on="event.ts",
                    by="meta.device").select(["device", "top"]).to_pylist(),
        [{"device": "x", "top": 5.0}],
    ),
    "a nested field of a condition": (
        lambda: sash.rolling(NESTED, on="event.ts", rows=3, n=sash.count(where="`meta.load` > 3"))["n"].to_pylist(),
        [0, 1, 2],
    ),
    "an expression of Polars that is a column": (
        lambda: agg(pl.DataFrame(EVENTS), on=pl.col("ts"), by=pl.col("user"))["user"].to_list(),
        ["a", "b"],
    ),
    "fields of structs of Polars": (
        lambda: S.rolling(pl.DataFrame(NESTED), on=pl.col("event").struct.field("ts"), rows=2,
                          m=S.max(pl.col("meta").struct.field("load")))["m"].to_list(),
        [3.0, 4.0, 5.0],
    ),
    "the star of SQL": (lambda: [repr(S.count("*")), repr(S.count(1))], ["sash.count()", "sash.count()"]),
    "a timedelta for a size": (lambda: repr(S.tumbling(dt.timedelta(hours=1))), "sash.tumbling('1h')"),
    "a categorical key": (
        lambda: str(agg(DF.astype({"user": "category"}), by="user")["user"].dtype),
        "category",
    ),
    "a step of a pipeline": (lambda: DF.pipe(sash.windowed(HOURLY, on="ts"))["peak"].tolist(), [5.0]),
    "the repr of a query": (lambda: repr(HOURLY), "sash.query('hourly', sash.tumbling('1h'), peak=sash.max('price'))"),
}  # fmt: skip

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "key= for by=": (lambda: agg(key="user"), "Write by='name of a column'"),
    "groupby= for by=": (lambda: agg(groupby="user"), "Write by='name of a column'"),
    "no on": (lambda: S.aggregate(DF, HOURLY), "write on='name of a column'"),
    "time= for on=": (lambda: S.aggregate(DF, HOURLY, time="ts"), "Write on='name of a column'"),
    "window= of aggregate": (lambda: agg(window="1 hour"), "in the window of a query, such as sash.query("),
    "window= of rolling": (lambda: S.rolling(DF, on="ts", window="1h", m=S.max("n")), "range='1 hour'"),
    "min_periods": (lambda: S.rolling(DF, on="ts", rows=2, min_periods=1, m=S.max("n")), "Write min_samples=1"),
    "a window by position": (lambda: S.rolling(DF, 3, on="ts", m=S.max("n")), "made by sash.frame(rows=…"),
    "no frame": (lambda: S.rolling(DF, on="ts", m=S.max("n")), "Write one of them, such as rows=100"),
    "period= of a window": (lambda: S.sliding(period="1 hour", every="1 minute"), "size='1 hour'"),
    "the slide by position": (lambda: S.sliding("1 hour", "1 minute"), "Pass the others by name: every=…"),
    "a gap by position": (lambda: S.session("30 minutes"), "Pass them by name: gap=…"),
    "every= of a tumbling window": (lambda: S.tumbling("1 hour", every="1 minute"), "sash.sliding('1 hour', every="),
    "size= of a stream": (lambda: S.Stream(HOURLY, on="ts", size=5), "in the window of a query"),
    "a lookback as a keyword": (lambda: S.join(DF, on="ts", lookback="1 hour"), "sash.lookback(events, range='1 hour'"),
    "a join of tables": (lambda: S.join(DF, DF, on="ts"), "made by sash.lookback(events, range=…"),
    "sash.avg": (lambda: S.avg("price"), "Write sash.mean('x')"),
    "sash.lag": (lambda: S.lag("price"), "rows=(-1, -1)"),
    "sash.groupby": (lambda: S.groupby("user"), "sash.aggregate(table, queries, on='ts', by='key')"),
    "a percentile in percent": (lambda: S.quantile("price", 95), "a number from 0 to 1"),
    "p= of a quantile": (lambda: S.quantile("price", p=0.9), "Write q=0.95"),
    "ddof= of a deviation": (lambda: S.stddev("price", ddof=0), "Write population=True"),
    "a text for an aggregate": (lambda: S.query("q", S.tumbling(10), m="max"), "made by a call such as sash.max('x')"),
    "the text of an aggregate": (lambda: S.rolling(DF, on="ts", rows=3, m="mean"), "such as sash.mean('x'), but is"),
    "an aggregate that is not called": (lambda: S.rolling(DF, on="ts", rows=3, m=S.sum), "such as sash.sum('x'), but"),
    "a function of NumPy": (lambda: S.rolling(DF, on="ts", rows=3, m=max), "such as sash.max('x'), but is"),
    "a Series for a column": (lambda: S.rolling(DF, on="ts", rows=3, m=S.mean(DF["n"])), "as in sash.mean('x')"),
    "a list of columns": (lambda: S.rolling(DF, on="ts", rows=3, m=S.mean(["n"])), "as in sash.mean('x')"),
    "a frame by position": (lambda: S.rolling(DF, "10min", on="ts", m=S.mean("n")), "on='ts', range='1 hour'"),
    "aggregates without a query": (lambda: agg(query=S.tumbling("1h"), m=S.mean("n")), "sash.query('q', sash.tumbling"),
    "a window before the name": (lambda: S.query(S.tumbling(10), m=S.mean("n")), "sash.query(name, window, …)"),
    "a duration over an array": (lambda: S.swag.slide(DF["n"], "1 hour", S.mean()), "range='1 hour'"),
    "an aggregate without its algorithm": (lambda: S.swag.open(S.max()), "open(algorithm, aggregate, …)"),
    "a sum of aggregates": (lambda: S.mean("n") - S.min("n"), "Compute with columns of the result"),
    "one more than an aggregate": (lambda: 1 + S.mean("n"), "Compute with columns of the result"),
    "no queries": (lambda: S.aggregate(DF, on="ts"), "sash.aggregate(rows, queries, …)"),
    "the end of a stream": (lambda: S.Stream([HOURLY], on="ts").flush(), "stream.push({}, watermark=math.inf)"),
    "a text to compile ahead": (lambda: S.warm("mean"), "such as sash.mean('x'), but got"),
    "rank": (lambda: S.rank("n"), "RANK() OVER"),
    "any": (lambda: S.any("n"), "sash.max('is_true')"),
    "pct_change": (lambda: S.pct_change("n"), "previous=sash.first('x')"),
    "an aggregate without a name": (lambda: S.query("q", S.tumbling(10), S.max("x")), "as in peak=sash.max('x')"),
    "a query without a name": (lambda: S.query(S.tumbling(10), n=S.count()), "needs window"),
    "a number of seconds for times": (lambda: agg(query=S.query("q", S.tumbling(60), n=S.count())), "'60 seconds'"),
    "a column misspelt": (lambda: agg(query=S.query("q", S.tumbling("1h"), m=S.max("prize"))), "Did you mean 'price'?"),
    "a nested field misspelt": (
        lambda: S.rolling(NESTED, on="event.ts", rows=2, m=S.max("meta.lod")),
        "Did you mean 'meta.load'?",
    ),
    "a computed expression": (lambda: agg(pl.DataFrame(EVENTS), on=pl.col("ts") + 1), "select it first under a name"),
    "a Series for a key": (lambda: agg(by=DF["user"]), "the name of a column"),
    "an empty DataFrame": (lambda: agg(pd.DataFrame()), "There is no column 'ts'"),
    "the time in the index": (lambda: agg(DF.set_index("ts")), "df.reset_index('ts')"),
    "a list of dicts": (lambda: agg([{"ts": 1}]), "pyarrow.Table.from_pylist"),
    "a watermark of a table": (lambda: agg(flush="at_end"), "is an option of streams"),
    "one row for columns": (
        lambda: S.Stream(HOURLY, on="ts").push({"ts": pd.Timestamp("2026-01-01"), "price": 1.0}),
        "Pass one list or one-dimensional array per column",
    ),
    "append of a stream": (lambda: S.Stream(HOURLY, on="ts").append(DF), "Write stream.push(rows)"),
    "push of a window": (lambda: S.swag.open("daba_lite", S.max()).push(1), "Write window.insert(value)"),
    "pop of a window": (lambda: S.swag.open("daba_lite", S.max()).pop(), "Write window.evict()"),
    "value of a window": (lambda: S.swag.open("daba_lite", S.max()).value, "Write window.query()"),
    "a table of a text by position": (lambda: S.sql("SELECT MAX(n) FROM t", DF), "sash.sql(text, events=table)"),
    "a query in pipe": (lambda: DF.pipe(S.windowed, HOURLY, on="ts"), "df.pipe(sash.windowed(queries, on='ts'))"),
    "by of argmax": (lambda: S.argmax("n", by="user"), "who=…"),
    "how of a join": (lambda: S.join(DF, on="ts", how="left"), "Write no how=…: each label has one row"),
    "left_on of a join": (lambda: S.join(DF, left_on="ts"), "Write on='name of a column'"),
    "merge of an own aggregate": (lambda: S.Aggregate("a", state="f8", merge=max), "Write combine=…"),
    "init of an own aggregate": (lambda: S.Aggregate("a", state="f8", init=0.0), "Write identity=…"),
    "& in a condition": (lambda: S.rolling(DF, on="ts", rows=2, m=S.sum("n", where="n > 1 & n < 3")), "write AND"),
    "a text between double quotes": (
        lambda: S.rolling(DF, on="ts", rows=2, m=S.sum("n", where='user = "z"')),
        "a text goes between single quotes",
    ),
    "a column of a condition misspelt": (
        lambda: S.rolling(DF, on="ts", rows=2, m=S.sum("n", where="prize > 1")),
        "'price'? The known ones: n, price, ts, user",
    ),
    "a stddev of strings": (lambda: agg(query=S.query("q", S.tumbling("1h"), m=S.stddev("user"))), "Cast the values"),
    "progress of a stream in one process": (lambda: S.progress(5), "the StreamingQuery that start() returned"),
    "two keys of one name": (
        lambda: agg({**NESTED, "device": [1, 2, 3]}, S.query("q", S.tumbling("1h"), n=S.count()), on="event.ts",
                    by=["device", "meta.device"]),
        "Select the field first under a name of its own",
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", list(WORKS))
def test_call_works(call: str) -> None:
    run, expected = WORKS[call]
    assert run() == expected


@pytest.mark.parametrize("call", list(REFUSED))
def test_message_names_the_fix(call: str) -> None:
    run, fix = REFUSED[call]
    with pytest.raises(sash.SashError) as error:
        run()
    assert fix in str(error.value)
    assert str(error.value).endswith(".")
