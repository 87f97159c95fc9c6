"""What cannot be answered on Spark is refused on the driver, in one sentence with the fix, before a job starts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

import sash
from sash.engine.options import CallOptions
from sash.errors import InvalidAggregate, InvalidInput, InvalidText, InvalidWindow, SashError, UnknownName
from sash.spark.driver import batch
from tests.refusals import rows
from tests.refusals.case import Case, check, plain
from tests.refusals.engines import TEN, Engine, Explained
from tests.refusals.joins import JOINS

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
GROUP = "refused"


def with_columns(source: Any) -> Any:
    """The columns that the engines in this process have, and some that only Spark has."""
    x = F.col("x")
    return source.select(
        "t",
        x.cast("string").alias("k"),
        "x",
        (x * 0.5).alias("y"),
        F.struct(x.alias("a")).alias("pair"),
        F.encode(F.lit("a"), "utf-8").alias("blob"),
        F.array(x).alias("many"),
        F.lit(True).alias("flag"),
        F.create_map(F.lit("a"), x).alias("map"),
    )


@pytest.fixture(scope="module")
def table(spark: Any) -> Engine:
    source = spark.range(20, numPartitions=2).select(F.timestamp_seconds("id").alias("t"), F.col("id").alias("x"))
    return Engine("a table of Spark", with_columns(source))


@pytest.fixture(scope="module")
def stream(spark: Any) -> Engine:
    source = spark.readStream.format("rate").load().select(F.col("timestamp").alias("t"), F.col("value").alias("x"))
    return Engine("a stream of Spark", with_columns(source), {"watermark": "10 seconds"})


@pytest.fixture(scope="module")
def jobs(spark: Any) -> Iterator[Callable[[], list[int]]]:
    """The jobs that these tests have started."""
    context = spark.sparkContext
    context.setJobGroup(GROUP, "what a refusal must not start")
    before = set(context.statusTracker().getJobIdsForGroup(GROUP))
    yield lambda: sorted(set(context.statusTracker().getJobIdsForGroup(GROUP)) - before)
    context.setLocalProperty("spark.jobGroup.id", None)


def ten(**results: Any) -> Any:
    return sash.query("q", sash.tumbling("10s"), **results)


def path(name: str, query: Any = TEN) -> Callable[[Engine], Any]:
    return lambda engine: batch.aggregate(engine.rows, query, CallOptions("t"), path=name)


SESSION = sash.query("q", sash.session(gap="5s"), n=sash.count())
BAG = sash.Aggregate("bag", state="O", identity=None, lift=lambda x: x, combine=lambda a, b: a)

# --- what only Spark has -------------------------------------------------------------------------------------

BOTH: dict[str, Case] = {
    "an aggregate of an expression": (
        lambda _: ten(m=S.max(F.col("x") + 1)),
        InvalidInput,
        "select it first under a name",
    ),
    "an aggregate of Spark's": (lambda _: ten(m=F.max("x")), InvalidAggregate, "made by a call such as sash.max"),
    "a window of Spark's": (
        lambda _: S.query("q", F.window("t", "10 seconds"), n=sash.count()),
        InvalidWindow,
        "made by a call such as sash.tumbling('10 minutes')",
    ),
    "on as an expression": (
        lambda engine: engine.aggregate(on=F.date_trunc("hour", "t")),
        InvalidInput,
        "select it first under a name",
    ),
    "by as an expression": (
        lambda engine: engine.aggregate(by=[F.upper("k")]),
        InvalidInput,
        "select it first under a name",
    ),
    "by is a map": (rows.windows(by="map"), InvalidInput, "Column 'map' of type map … cannot be in `by`"),
    "a maximum of maps": (rows.results(m=sash.max("map")), SashError, "map"),
    "rows that are grouped": (
        lambda engine: sash.aggregate(engine.rows.groupBy("k"), TEN, on="t"),
        InvalidInput,
        "on the DataFrame",
    ),
    "two columns of one name": (
        lambda engine: sash.aggregate(engine.rows.select("*", "x"), TEN, on="t", watermark="1s"),
        InvalidInput,
        "several columns 'x'",
    ),
    "objects of unknown type": (rows.results(v=BAG("x")), SashError, "must know the type of 'v'"),
    "a step of an option misspelt": (
        lambda engine: engine.rows.transform(sash.windowed(TEN, on="t", bye="k")),
        UnknownName,
        "Did you mean 'by'?",
    ),
    "progress of a DataFrame": (
        lambda engine: sash.progress(engine.rows),
        InvalidInput,
        "the StreamingQuery that start() returned",
    ),
    "what a query waits for, of its source": (
        lambda engine: sash.why(engine.rows),
        InvalidInput,
        "the StreamingQuery that start() returned",
    ),
}
TABLE: dict[str, Case] = {
    "a path that is none": (path("teleport"), InvalidInput, "path must be … but is 'teleport'"),
    "JVM slices of sessions": (path("jvm", SESSION), InvalidInput, "path must be … 'q' depend on rows"),
    "a state of no checkpoint": (
        lambda _: sash.state("no/where"),
        InvalidInput,
        "the checkpoint of a query of sash that has stopped",
    ),
}
STREAM: dict[str, Case] = {
    "a join of labels that are a stream": (lambda engine: engine.join(engine.lookback()), SashError, "bounded"),
    "no watermark": (rows.windows(watermark=None), InvalidInput, "pass watermark='10 seconds'"),
    "no watermark to explain": (
        lambda engine: sash.explain(engine.rows, TEN, on="t"),
        InvalidInput,
        "pass watermark='10 seconds'",
    ),
    "no watermark for frames": (rows.frames(rows=3, watermark=None), InvalidInput, "pass watermark='10 seconds'"),
    "a future without a unit": (rows.windows(max_future=10), InvalidWindow, "add the unit, as in '10 seconds'"),
    "a flush that is true": (rows.windows(flush=True), InvalidInput, "'at_end', or left out"),
    "a frame without an end in text": (
        rows.text("SELECT MAX(x) OVER (ORDER BY t) AS m FROM rows", on=None),
        InvalidText,
        "limit its length",
    ),
}

OF_TABLES = {
    **rows.EVERY,
    **rows.TABLES,
    **{f"frames: {name}": case for name, case in rows.FRAMES.items()},
    **{f"text: {name}": case for name, case in rows.TEXTS.items()},
    **{f"join: {name}": case for name, case in JOINS.items()},
    **BOTH,
    **TABLE,
}
OF_STREAMS = {
    **rows.EVERY,
    **rows.STREAMS,
    **{f"frames: {name}": case for name, case in rows.FRAMES.items()},
    **{f"text: {name}": case for name, case in rows.TEXTS.items()},
    **BOTH,
    **STREAM,
}


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_table_refuses_a_wrong_question_before_a_job_starts(table: Engine, jobs: Any, name: str) -> None:
    check(OF_TABLES[name], table)
    assert jobs() == []


@pytest.mark.parametrize("name", OF_STREAMS)
def test_a_stream_refuses_a_wrong_question_before_a_job_starts(stream: Engine, jobs: Any, name: str) -> None:
    check(OF_STREAMS[name], stream)
    assert jobs() == []


@pytest.mark.parametrize("name", [name for name in rows.EVERY if not name.startswith("late=")])
def test_a_plan_is_refused_as_its_results_are(table: Engine, name: str) -> None:
    check(rows.EVERY[name], Explained("a plan", table.rows))


# --- jobs that only Spark can refuse -----------------------------------------------------------------------

JOB = """
[job]
on = "ts"

[source]
format = "csv"
path = "{folder}"
schema = "ts timestamp, load double"

[queries.ten]
window = {{ tumbling = "10 seconds" }}
peak = "max(load)"

[sink]
format = "noop"
mode = "overwrite"
"""
LIVE = (("[queries", "stream = true\n[queries"), ('"ts"\n', '"ts"\nwatermark = "5s"\n'), ('mode = "overwrite"', ""))

# What is changed in the job, the exit code, and the fix.
JOBS: dict[str, tuple[tuple[tuple[str, str], ...], int, str]] = {
    "a format misspelt": ((('"csv"', '"cvs"'),), 2, "cannot read the source: [DATA_SOURCE_NOT_FOUND]"),
    "a folder that is not there": ((('path = "', 'path = "/no/where'),), 2, "Path does not exist"),
    "a type misspelt": ((("ts timestamp", "ts timestmp"),), 2, 'Unsupported data type "TIMESTMP"'),
    "a column that is not there": ((("max(load)", "max(lod)"),), 2, "Did you mean 'load'?"),
    "a master misspelt": ((('"ts"\n', '"ts"\nmaster = "locall[2]"\n'),), 2, "cannot start with master 'locall[2]'"),
    "a setting of words": (
        (("[sink]", '[spark]\n"spark.sql.shuffle.partitions" = "many"\n[sink]'),),
        2,
        "It should be a/an 'int' value",
    ),
    "a sink misspelt": ((('"noop"', '"nope"'),), 1, "Failed to find the data source: nope"),
    "a mode misspelt": ((('"overwrite"', '"overwritten"'),), 1, "Valid save modes include"),
    "no watermark": ((*LIVE, ('watermark = "5s"\n', "")), 2, "pass watermark='10 seconds'"),
    "a stream's mode misspelt": ((*LIVE, ('"noop"', '"noop"\nmode = "apend"')), 2, "Accepted output modes are"),
    "a stream's mode that has no meaning": ((*LIVE, ('"noop"', '"noop"\nmode = "complete"')), 2, "complete"),
    "a stream into nowhere": ((*LIVE, ('"noop"', '"parquet"\ncheckpoint = "/tmp"')), 2, "'path' is not specified"),
}
ALL_OF_THEM = """
import json, sys
from click.testing import CliRunner
from sash.cli.main import main
done = [CliRunner().invoke(main, ["run", path]) for path in sys.argv[1:]]
print(json.dumps([(each.exit_code, each.stderr) for each in done]))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `sash run` says of each job; all in one process beside this one, for a job stops its session."""
    folder: Path = tmp_path_factory.mktemp("jobs")
    (folder / "rows").mkdir()
    (folder / "rows" / "0.csv").write_text("2026-01-01 12:00:00,1.5\n")
    paths = []
    for number, (changes, _, _) in enumerate(JOBS.values()):
        text = JOB.format(folder=folder / "rows")
        for there, instead in changes:
            assert there in text
            text = text.replace(there, instead, 1)
        paths.append(folder / f"{number}.toml")
        paths[-1].write_text(text)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", ALL_OF_THEM, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(JOBS, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("what", JOBS)
def test_a_job_that_spark_refuses_is_one_sentence(answers: dict[str, Any], what: str) -> None:
    _, expected, fix = JOBS[what]
    code, said = answers[what]
    assert code == expected, said
    (sentence,) = said.splitlines()
    assert sentence.startswith("Error: ") and fix in sentence, said
    plain(sentence)
