"""What the pages with Spark show is what Spark says."""

import doctest
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import sash
from tests.pages import DOCS, PAGES, needs_spark
from tests.spark.streams import Feed, ran, table

GUIDE_TO_STREAMS = DOCS / "streaming.md"


def check(page: Path, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(page), module_relative=False, globs=names, optionflags=options)
    assert tried and not failed, capsys.readouterr().out


@pytest.mark.parametrize(
    "page", [page for page in PAGES if needs_spark(page) and page != GUIDE_TO_STREAMS], ids=lambda page: page.stem
)
def test_the_examples_of_a_page_are_true(
    spark: SparkSession,
    page: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    check(page, {"spark": spark}, capsys)


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
    check(GUIDE_TO_STREAMS, found, capsys)


@pytest.mark.long
def test_what_operations_says_of_a_restart_is_true(spark: SparkSession, tmp_path: Path) -> None:
    """`late` and `max_future` may change, queries come and go; `emit` and `flush` are refused."""
    feed = Feed(spark, tmp_path, "t timestamp, x long")
    kept = sash.query("kept", sash.tumbling("10 seconds"), n=sash.count())
    gone, new = (sash.query(name, sash.tumbling("20 seconds"), s=sash.sum("x")) for name in ("gone", "new"))

    def run(second: int, *queries: sash.Query, **options: Any) -> list[str]:
        rows = table([(datetime.fromtimestamp(second, UTC), 1)], ("t", "x"), (pa.timestamp("us", "UTC"), pa.int64()))
        feed.add(rows)
        stream = sash.aggregate(feed.stream(), list(queries), on="t", watermark="0 seconds", **options)
        return sorted(row["query"] for row in ran(feed, stream).all())

    assert run(1, kept, gone) == []
    assert run(30, kept, new, late="keep", max_future="1 day") == ["kept", "new"]
    for options in ({"emit": "updates"}, {"flush": "at_end"}):
        with pytest.raises(StreamingQueryException, match=r"emit was final|Cannot change timeMode"):
            run(40, kept, new, **options)
    assert run(60, kept, new) == ["kept", "kept", "new", "new"]
