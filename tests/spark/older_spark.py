"""What tests use and Spark 3.5 lacks: DataFrames from Arrow tables, and back."""

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from sash.spark.versions import collect

__all__ = ["add_arrow"]


def add_arrow() -> None:
    """Let a Spark without them take Arrow tables and return them, as newer ones do."""
    if hasattr(DataFrame, "toArrow"):
        return
    plain: Any = SparkSession.createDataFrame

    def create(session: Any, rows: Any, *given: Any, **named: Any) -> Any:
        if not isinstance(rows, pa.Table):
            return plain(session, rows, *given, **named)
        path = Path(tempfile.mkdtemp()) / "rows.parquet"
        pq.write_table(rows, path, coerce_timestamps="us")
        return session.read.parquet(str(path))

    SparkSession.createDataFrame = create  # type: ignore[method-assign]
    DataFrame.toArrow = collect
