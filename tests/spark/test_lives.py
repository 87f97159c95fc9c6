"""Lives of a stream on real Spark: real checkpoints, restarts with other queries, and what the oracle sends."""

import itertools
from pathlib import Path
from typing import Any

import pytest

import sash
from tests.engine.descriptions import parse
from tests.engine.transcripts import key_columns, subjects, written
from tests.lives.bucket import schema_of_rows
from tests.lives.life import Add, Life, Push, Remove, Restore, drawn
from tests.lives.living import change, compare, length, oracle_of, read, rows_of, table
from tests.sample import sample
from tests.spark.streams import Feed, ran

SPARK_TYPES = (
    "k string, g long, new boolean, end boolean, x long, y double, "
    "s string, b binary, d decimal(10,2), w decimal(38,10)"
)
ON = {"whole": "long", "half": "double", "time": "timestamp_ntz", "hours": "timestamp_ntz"}


def lived(life: Life, spark: Any, folder: Path) -> None:
    """Pushes are files, and queries change between two runs; the end of the stream is not told here."""
    feed = Feed(spark, folder, f"t {ON[life.unit]}, {SPARK_TYPES}")
    oracle, queries, waiting = oracle_of(life), dict(life.queries), list[Push]()

    def caught_up() -> None:
        """Run what has come in since the last restart, one file a micro-batch."""
        if not waiting:
            return
        first = feed.count
        feed.add(*(table(life, rows_of(life, push)).cast(schema_of_rows(life)) for push in waiting))
        results = sash.aggregate(
            feed.stream(),
            subjects({name: parse(text) for name, text in queries.items()}),
            on="t",
            by=key_columns(life.by),
            watermark=written(length(life, life.delay)),
            allowed_lateness=written(length(life, life.lateness)),
            emit=life.emit,
        )
        run = ran(feed, results)
        for at, push in enumerate(waiting, first):
            wanted = oracle.push(rows_of(life, push), None)
            live = {name: each.query for name, each in oracle.live.items()}
            compare(oracle, read(life, run.batches[at], live), wanted)
        waiting.clear()

    for action in life.actions:
        if isinstance(action, Push):
            if action.rows:
                waiting.append(action)
            continue
        caught_up()
        change(oracle, action)
        if isinstance(action, Remove):
            del queries[action.name]
        elif isinstance(action, Add):
            queries[action.name] = action.query
        elif isinstance(action, Restore):
            queries = dict(action.queries)
    caught_up()


def busy(place: int) -> Life:
    """Return one of the lives that change their queries between rows, and do not call for every kernel there is."""
    return next(itertools.islice(filter(is_busy, map(bucket_life, itertools.count(2_000_000))), place, None))


def bucket_life(seed: int) -> Life:
    return drawn(seed, for_bucket=True)


def is_busy(life: Life) -> bool:
    kinds = ["push" if isinstance(each, Push) and each.rows else type(each).__name__ for each in life.actions]
    changes = [at for at, kind in enumerate(kinds) if kind not in ("Push", "push")]
    return 1 <= len(changes) <= 2 and "push" in kinds[: changes[0]] and "push" in kinds[changes[-1] :]


@pytest.mark.parametrize("place", sample(range(24), [0]))
def test_a_stream_on_spark_sends_what_the_oracle_sends(place: int, spark: Any, tmp_path: Path) -> None:
    lived(busy(place), spark, tmp_path)
