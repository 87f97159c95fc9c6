"""What type checkers say of the public API: `make check` lets mypy and pyright read this file."""

from typing import Any, assert_type

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame

import sash


def tables(frame: pd.DataFrame, polars: pl.DataFrame, arrow: pa.Table, spark: DataFrame) -> None:
    query = sash.query("n", sash.tumbling(10), n=sash.count())
    assert_type(query, sash.Query)
    assert_type(sash.aggregate(frame, query, on="t"), pd.DataFrame)
    assert_type(sash.aggregate(polars, query, on="t", by="k"), pl.DataFrame)
    assert_type(sash.aggregate(arrow, [query], on="t"), pa.Table)
    assert_type(sash.aggregate(spark, [query], on="t", emit="updates", late="keep"), DataFrame)
    assert_type(sash.aggregate({"t": [1]}, [query], on="t"), pa.Table)
    assert_type(sash.rolling(frame, on="t", rows=3, n=sash.count()), pd.DataFrame)
    assert_type(sash.rolling(polars, sash.frame(rows=2, n=sash.count()), on="t"), pl.DataFrame)
    assert_type(sash.rolling(spark, on="t", range="1 hour", closed="right", n=sash.count()), DataFrame)
    assert_type(sash.rolling({"t": [1]}, on="t", rows=3, n=sash.count()), pa.Table)
    assert_type(sash.sql("SELECT COUNT(*) FROM rows [RANGE 10]", rows=polars, on="t"), pl.DataFrame)
    assert_type(sash.sql("SELECT COUNT(*) FROM rows [RANGE 10]", rows=spark, on="t"), DataFrame)
    assert_type(sash.windowed(query, on="t")(polars), pl.DataFrame)
    assert_type(sash.windowed(query, on="t")(spark), DataFrame)


def lazy_tables(lazy: pl.LazyFrame, relation: duckdb.DuckDBPyRelation) -> None:
    query = sash.query("n", sash.tumbling(10), n=sash.count())
    assert_type(sash.aggregate(lazy, query, on="t"), pl.LazyFrame)
    assert_type(sash.rolling(lazy, on="t", rows=3, n=sash.count()), pl.LazyFrame)
    assert_type(sash.aggregate(relation, query, on="t"), duckdb.DuckDBPyRelation)
    assert_type(sash.join(relation, sash.lookback(relation, n=sash.count()), on="t"), duckdb.DuckDBPyRelation)
    assert_type(sash.sql("SELECT COUNT(*) FROM rows [RANGE 10]", rows=lazy, on="t"), pl.LazyFrame)


def parts() -> None:
    assert_type(sash.tumbling("1 hour"), sash.Window)
    assert_type(sash.sliding("1 hour", every="1 minute"), sash.Window)
    assert_type(sash.session(gap="5 minutes"), sash.Window)
    assert_type(sash.calendar([1, 2, 3]), sash.Window)
    assert_type(sash.max("x"), sash.Template)
    assert_type(sash.quantile("x", 0.95), sash.Template)
    assert_type(sash.frame(rows=3, n=sash.count()), sash.Frame)


def refused(rows: pl.DataFrame, query: sash.Query, options: dict[str, Any]) -> None:
    sash.aggregate(rows, query, on="t", emit="sometimes")  # type: ignore[call-overload]
    sash.aggregate(rows, query, on="t", late="drop")  # type: ignore[call-overload]
    sash.aggregate(rows, query, on=5)  # type: ignore[call-overload]
    sash.aggregate(rows, query, on="t", wattermark="5s")  # type: ignore[call-overload]
    sash.rolling(rows, on="t", rows=3, closed="middle")  # type: ignore[call-overload]
    sash.Stream(query, on="t", emit="sometimes")  # type: ignore[arg-type]
    sash.aggregate(rows, query, on="t", **options)
