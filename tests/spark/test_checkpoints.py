"""A checkpoint that was written with another `flush` is refused before the query starts."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import sash
from sash.errors import InvalidState, sentence_of
from tests.sample import sample
from tests.spark.streams import Feed, ran, table

TEN = sash.query("ten", sash.tumbling(10), n=sash.count())
WITHOUT: dict[str, Any] = {}
WITH: dict[str, Any] = {"flush": "at_end"}
FLUSHES = [(WITHOUT, WITH, "without", [[], [1, 1]]), (WITH, WITHOUT, "with", [[1], []])]
SAID = {
    "with": "written with flush='at_end', but this query is without it",
    "without": "written without flush='at_end', but this query is with it",
}


def stream_of(feed: Feed, position: int, options: dict[str, Any]) -> Any:
    feed.add(table([(position, 1)], ("t", "x"), (pa.int64(), pa.int64())))
    return sash.aggregate(feed.stream(), TEN, on="t", watermark=0, **options)


@pytest.mark.parametrize(
    ("before", "after", "said", "sent"), sample(FLUSHES, []), ids=["without, then with", "with, then without"]
)
def test_a_checkpoint_of_another_flush_is_refused_before_the_query_starts(
    spark: SparkSession, tmp_path: Path, before: dict[str, Any], after: dict[str, Any], said: str, sent: Any
) -> None:
    feed = Feed(spark, tmp_path, "t long, x long")
    first = [row["n"] for row in ran(feed, stream_of(feed, 1, before)).all()]
    changed = stream_of(feed, 200, after)
    starts: dict[str, Any] = {
        "an option": lambda: ran(feed, changed),
        "options": lambda: changed.writeStream.options(checkpointLocation=feed.checkpoint).format("noop").start(),
        "an option of start": lambda: changed.writeStream.start(format="noop", checkpointLocation=feed.checkpoint),
        "a URI": lambda: changed.writeStream.option("checkpointlocation", f"file://{feed.checkpoint}").start(
            format="noop"
        ),
        "a table": lambda: changed.writeStream.toTable("no_table", checkpointLocation=feed.checkpoint),
    }
    for start in starts.values():
        with pytest.raises(InvalidState, match=SAID[said]):
            start()
    with pytest.raises(StreamingQueryException) as raised:  # a DataFrame of Spark's own, made of the results
        ran(feed, changed.select("n"))
    assert "flush='at_end' adds one" in sentence_of(raised.value)
    # Nothing of it has changed the checkpoint; after a flush, every row is late.
    assert [first, [row["n"] for row in ran(feed, stream_of(feed, 400, before)).all()]] == sent


FRAMES = "SELECT t, SUM(x) OVER (ORDER BY t ROWS 2 PRECEDING) AS s FROM rows"
KINDS: dict[str, Any] = {
    "windows": lambda rows, **options: sash.aggregate(rows, TEN, on="t", **options),
    "frames": lambda rows, **options: sash.rolling(rows, on="t", rows=2, n=sash.count(), **options),
    "text": lambda rows, **options: sash.sql(FRAMES, rows=rows, **options),
}


@pytest.mark.parametrize("kind", sample(KINDS, ["frames"]))
def test_a_folder_for_all_checkpoints_is_looked_into(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    feed = Feed(spark, tmp_path, "t long, x long").add(table([(1, 1)], ("t", "x"), (pa.int64(), pa.int64())))

    def started(**options: Any) -> Any:
        results = KINDS[kind](feed.stream(), watermark=0, **options)
        return results.writeStream.format("noop").queryName(kind).trigger(availableNow=True).start()

    spark.conf.set("spark.sql.streaming.checkpointLocation", str(tmp_path / "all"))
    try:
        started().awaitTermination()
        with pytest.raises(InvalidState, match=SAID["without"]):
            started(**WITH)
    finally:
        spark.conf.unset("spark.sql.streaming.checkpointLocation")
