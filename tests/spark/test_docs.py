"""What the guides to Spark show is what Spark says."""

import doctest
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.spark.streams import Feed, table

DOCS = Path(__file__).parents[2] / "docs"


def check(guide: str, names: dict[str, Any], least: int, capsys: pytest.CaptureFixture[str]) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(DOCS / guide), module_relative=False, globs=names, optionflags=options)
    assert tried > least and not failed, capsys.readouterr().out


def test_the_examples_of_the_guide_to_spark_are_true(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    check("spark.md", {"spark": spark}, 8, capsys)


def test_the_examples_of_the_guide_to_streams_are_true(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three files of an hour in all: two plugs, a reading of each every 20 seconds."""
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    names, types = ("ts", "plug", "load"), (pa.timestamp("us", "UTC"), pa.int64(), pa.float64())
    rows = [(noon + timedelta(seconds=10 * each), each % 2, float(each)) for each in range(360)]
    feed = Feed(spark, tmp_path, "").add(*(table(rows[at : at + 120], names, types) for at in (0, 120, 240)))

    def add_rows() -> None:
        feed.add(table(rows[:2], names, types))

    found = {"spark": spark, "folder": str(tmp_path / "rows"), "checkpoint": feed.checkpoint, "add_rows": add_rows}
    check("streaming.md", found, 10, capsys)
