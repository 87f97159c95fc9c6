"""What a person would really do wrong with Spark: each gets one sentence that tells the fix, before anything runs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

import sash
from sash.errors import (
    InvalidAggregate,
    InvalidInput,
    InvalidQuery,
    InvalidText,
    InvalidWindow,
    SashError,
    UnknownName,
    UnsupportedAggregate,
)
from tests.test_wrong_uses import plain, refused

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
TEN = sash.query("ten", sash.tumbling("10s"), n=sash.count(), s=sash.sum("x"))
EACH = "[RANGE 10 SECONDS SLIDE 10 SECONDS]"


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    return spark.range(20).select(
        F.timestamp_seconds("id").alias("t"), (F.col("id") % 2).cast("string").alias("k"), F.col("id").alias("x")
    )


@pytest.fixture(scope="module")
def stream(spark: Any) -> Any:
    source = spark.readStream.format("rate").load()
    return source.select(F.col("timestamp").alias("t"), F.lit("a").alias("k"), F.col("value").alias("x"))


def windows(**changes: Any) -> Callable[[Any], Any]:
    """`sash.aggregate` with one thing wrong."""
    given: dict[str, Any] = {"queries": TEN, "on": "t", **changes}
    return lambda rows: sash.aggregate(rows, **given)


def delayed(**changes: Any) -> Callable[[Any], Any]:
    return windows(**{"watermark": "10 seconds", **changes})


def ten(**results: Any) -> Any:
    return sash.query("q", sash.tumbling("10s"), **results)


Case = tuple[Callable[[Any], Any], type[SashError], str]

TABLES: dict[str, Case] = {
    "an aggregate of a Column": (lambda rows: ten(m=S.max(F.col("x"))), InvalidAggregate, "columns must be names"),
    "an aggregate of Spark's": (lambda rows: ten(m=F.max("x")), InvalidAggregate, "made by a call such as sash.max"),
    "a window of Spark's": (
        lambda rows: S.query("q", F.window("t", "10 seconds"), n=sash.count()),
        InvalidWindow,
        "made by a call such as sash.tumbling('10 minutes')",
    ),
    "on as a Column": (lambda rows: windows(on=rows["t"])(rows), InvalidInput, "the name of a column that advances"),
    "by as a Column": (lambda rows: windows(by=rows["k"])(rows), InvalidInput, "the name of a column, or a list"),
    "by as a list of Columns": (lambda rows: windows(by=[rows["k"]])(rows), InvalidInput, "the name of a column"),
    "on in another case": (windows(on="T"), UnknownName, "Did you mean 't'?"),
    "rows that are grouped": (lambda rows: windows(by="k")(rows.groupBy("k")), InvalidInput, "on the DataFrame"),
    "the name of a table": (
        lambda rows: windows()("rows"),
        InvalidInput,
        "Rows must be an Arrow, pandas or Polars table",
    ),
    "a step of an option misspelt": (
        lambda rows: rows.transform(sash.windowed(TEN, on="t", bye="k")),
        UnknownName,
        "Did you mean 'by'?",
    ),
    "a step on no column": (lambda rows: rows.transform(sash.windowed(TEN, on="tt")), UnknownName, "Did you mean 't'?"),
    "history for a table": (lambda rows: windows(initial=rows)(rows), InvalidInput, "leave it out"),
    "an unknown way to emit": (windows(emit="update"), InvalidInput, "'final' or 'updates'"),
    "partial in words": (windows(partial="yes"), InvalidInput, "True or False"),
    "numbers joined as texts": (
        windows(queries=ten(all=sash.string_agg("x"))),
        UnsupportedAggregate,
        "it accepts strings. Cast the values first.",
    ),
    "punctuation by a number": (
        windows(queries=sash.query("q", sash.punctuated("x"), n=sash.count())),
        InvalidInput,
        "must be boolean",
    ),
    "a result named as its key": (
        windows(queries=ten(k=sash.count()), by="k"),
        InvalidQuery,
        "'k' cannot be the name of a result",
    ),
    "a frame's option misspelt": (
        lambda rows: S.rolling(rows, on="t", row=3, n=sash.count()),
        UnknownName,
        "Did you mean 'rows'?",
    ),
    "a frame closed on the left": (
        lambda rows: S.rolling(rows, on="t", range="10s", closed="left", n=sash.count()),
        InvalidInput,
        "'both' or 'right'",
    ),
    "a column misspelt in text": (
        lambda rows: sash.sql(f"SELECT MAX(xx) AS m FROM rows {EACH}", rows=rows, on="t"),
        InvalidText,
        "Did you mean 'x'?",
    ),
    "unlike types in text": (
        lambda rows: sash.sql(f"SELECT MAX(x) AS m FROM rows {EACH} WHERE k > 5", rows=rows, on="t"),
        InvalidText,
        "compare values of one type",
    ),
    "an option of text misspelt": (
        lambda rows: sash.sql(f"SELECT MAX(x) AS m FROM rows {EACH}", rows=rows, on="t", watermrk="10s"),
        UnknownName,
        "Did you mean 'watermark'?",
    ),
    "progress of a DataFrame": (sash.progress, InvalidInput, "the StreamingQuery that start() returned"),
    "a state of no checkpoint": (
        lambda rows: sash.state("no/where"),
        InvalidInput,
        "the checkpoint of a query of sash that has stopped",
    ),
}

STREAMS: dict[str, Case] = {
    "no watermark to explain": (
        lambda rows: sash.explain(rows, TEN, on="t"),
        InvalidInput,
        "pass watermark='10 seconds'",
    ),
    "a watermark without a unit": (delayed(watermark=10), InvalidWindow, "add the unit, as in '10 seconds'"),
    "a watermark misspelt": (delayed(watermark="10 secnds"), InvalidInput, "'seconds' is. Write for example"),
    "a watermark before now": (delayed(watermark="-10 seconds"), InvalidWindow, "not negative"),
    "lateness without a unit": (delayed(allowed_lateness=5), InvalidWindow, "add the unit, as in '5 seconds'"),
    "a future without a unit": (delayed(max_future=10), InvalidWindow, "add the unit, as in '10 seconds'"),
    "a flush that is true": (delayed(flush=True), InvalidInput, "'at_end', or left out"),
    "a column that is not there": (delayed(queries=ten(m=sash.max("y"))), UnknownName, "The known ones: k, t, x."),
    "a frame without a unit": (
        lambda rows: sash.rolling(rows, on="t", range=10, watermark="10s", n=sash.count()),
        InvalidWindow,
        "add the unit, as in '10 seconds'",
    ),
    "a frame without an end in text": (
        lambda rows: sash.sql("SELECT MAX(x) OVER (ORDER BY t) AS m FROM rows", rows=rows, watermark="10s"),
        InvalidText,
        "limit its length",
    ),
    "what a query waits for, of its source": (sash.why, InvalidInput, "the StreamingQuery that start() returned"),
}


@pytest.mark.parametrize("what", TABLES)
def test_a_wrong_use_of_a_table_is_one_sentence_with_the_fix(rows: Any, what: str) -> None:
    use, kind, fix = TABLES[what]
    refused(lambda: use(rows), kind, fix)


@pytest.mark.parametrize("what", STREAMS)
def test_a_wrong_use_of_a_stream_is_one_sentence_with_the_fix(stream: Any, what: str) -> None:
    use, kind, fix = STREAMS[what]
    refused(lambda: use(stream), kind, fix)


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
