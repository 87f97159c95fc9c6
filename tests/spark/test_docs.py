"""What the pages with Spark show is what Spark says."""

import doctest
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import sash
from sash.cli import run as jobs
from sash.cli.job import read_job
from sash.errors import InvalidState
from tests.pages import DOCS, PAGES, blocks, needs_spark
from tests.spark.streams import Feed, ran, table

GUIDE_TO_STREAMS = DOCS / "streaming.md"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NAMES, TYPES = ("ts", "plug", "load"), (pa.timestamp("us", "UTC"), pa.int64(), pa.float64())
# A reading every 10 seconds for an hour, of two plugs in turns.
ROWS = [(NOON + timedelta(seconds=10 * each), each % 2, float(each)) for each in range(360)]


def check(page: Path, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(page), module_relative=False, globs=names, optionflags=options)
    assert tried and not failed, capsys.readouterr().out


def params(pages: list[Path]) -> list[Any]:
    """Mark the page on users' own functions: only the compiler knows the types of their results before Spark runs."""
    only_compiled = {"your_own_aggregate": [pytest.mark.only_compiled]}
    return [pytest.param(page, id=page.stem, marks=only_compiled.get(page.stem, [])) for page in pages]


@pytest.mark.parametrize("page", params([each for each in PAGES if needs_spark(each) and each != GUIDE_TO_STREAMS]))
def test_the_examples_of_a_page_are_true(
    spark: SparkSession, page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    check(page, {"spark": spark}, capsys)


def test_the_examples_of_the_guide_to_streams_are_true(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three files of an hour in all: two plugs, a reading of each every 20 seconds."""
    feed = Feed(spark, tmp_path, "").add(*(table(ROWS[at : at + 120], NAMES, TYPES) for at in (0, 120, 240)))

    def add_rows() -> None:
        feed.add(table(ROWS[:2], NAMES, TYPES))

    found = {"spark": spark, "folder": str(tmp_path / "rows"), "checkpoint": feed.checkpoint, "add_rows": add_rows}
    check(GUIDE_TO_STREAMS, found, capsys)


def test_code_without_output_runs(spark: SparkSession, tmp_path: Path) -> None:
    """With the names that the pages leave to the reader."""
    feed = Feed(spark, tmp_path, "ts timestamp, plug long, load double").add(table(ROWS, NAMES, TYPES))
    events, stream = spark.read.parquet(str(tmp_path / "rows")), feed.stream()
    peaks = sash.query("peaks", sash.sliding("1 minute", every="30 seconds"), peak=sash.max("load"))
    visits = sash.query("visits", sash.session(gap="20 seconds"), readings=sash.count())
    short, long = sash.frame(rows=3, mean=sash.mean("load")), sash.frame(range="10 minutes", peak=sash.max("load"))
    given = {"sash": sash, "events": events, "history": events, "stream": stream, "peaks": peaks, "visits": visits}
    given |= {"short": short, "long": long, "spark": spark, "listener": None}
    given["results"] = sash.aggregate(stream, peaks, on="ts", by="plug", watermark="10 seconds")
    texts = [content for page in PAGES for language, content in blocks(page) if language == "python"]
    assert len(texts) > 3
    for k, text in enumerate(texts):
        names = given | {"path": str(tmp_path / f"out{k}"), "checkpoint": str(tmp_path / f"checkpoint{k}")}
        exec(text, names)
        if names["listener"] is not None:
            spark.streams.removeListener(names["listener"])
        for name in names.keys() - given.keys() - {"__builtins__"}:
            found = names[name]
            if name == "query":
                found.processAllAvailable()
                found.stop()
            elif isinstance(found, DataFrame) and not found.isStreaming:
                assert found.count(), name


@pytest.mark.parametrize(
    "text", [content for page in PAGES for language, content in blocks(page) if language == "toml"]
)
def test_the_jobs_of_the_pages_run(
    spark: SparkSession, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Feed(spark, tmp_path / "made", "").add(table(ROWS, NAMES, TYPES))
    path = tmp_path / "job.toml"
    path.write_text(text)
    job = read_job(path, {"DATA": str(tmp_path)})
    rows = spark.read.parquet(str(tmp_path / "made" / "rows"))
    rows.write.format(job.source.format).save(str(tmp_path / "readings"))
    results = jobs._results(job, jobs._rows(job, spark))
    if not job.source.stream:
        assert jobs._run_batch(job, results, "quiet") == 0
        assert "peak" in capsys.readouterr().out
        return
    job = replace(job, sink=replace(job.sink, trigger="available now"))  # to the end, and no further
    assert jobs._run_stream(job, results, "quiet", jobs.LivePage(job.name)) == 0
    assert spark.read.parquet(job.sink.path).count() > 100


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
    with pytest.raises(StreamingQueryException, match="emit was final"):
        run(40, kept, new, emit="updates")
    with pytest.raises(InvalidState, match="written without flush='at_end', but this query is with it"):
        run(40, kept, new, flush="at_end")
    assert run(60, kept, new) == ["kept", "kept", "new", "new"]
