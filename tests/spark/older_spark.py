"""Arrow tables as DataFrames on every version: Spark 3.5 does not take them."""

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

__all__ = ["table_of"]


def table_of(spark: Any, rows: pa.Table) -> DataFrame:
    """Return the rows as a DataFrame, by a file where Spark takes no Arrow table."""
    if hasattr(DataFrame, "toArrow"):
        return spark.createDataFrame(rows)
    path = Path(tempfile.mkdtemp()) / "rows.parquet"
    pq.write_table(rows, path, coerce_timestamps="us")
    return spark.read.parquet(str(path))
