"""Versions of PySpark: refused in one sentence, or the same by other means."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import functions as F

import sash
from sash.errors import MissingPackage, UnsupportedVersion
from sash.spark import register_functions, versions
from sash.spark.wire.buckets import bucket_ids
from tests.sample import sample
from tests.spark.streams import Feed, ran

REFUSED = {
    "3.4.1": (versions.check_tables, "sash needs PySpark 3.5 to 4.x, but 3.4.1 is installed"),
    "5.0.0.dev0": (versions.check_tables, "sash needs PySpark 3.5 to 4.x, but 5.0.0.dev0 is installed"),
    "3.5.9": (versions.check_streams, "Streams need PySpark 4.0 or newer, but 3.5.9 is installed. Bounded"),
    "4.0.5": (lambda: versions.check_connect_streams(object()), "Spark Connect need PySpark 4.1 or newer, but 4.0.5"),
    "3.5.0": (versions.check_table_functions, "The table function needs PySpark 4.0 or newer, but 3.5.0 is installed"),
}


# No Java is needed: a version is refused before anything of a DataFrame is read but the names of its columns.
FIRST_CALLS = """
import sys, tempfile
import pyspark
pyspark.__version__ = {version!r}
for lacking in {lacking}:
    sys.modules[lacking] = None
from pathlib import Path
from click.testing import CliRunner
import sash
from sash.cli.main import main

ten = sash.query("ten", sash.tumbling("10 seconds"), n=sash.count())
windows = "SELECT COUNT(*) AS n FROM t [RANGE 1 HOUR SLIDE 1 HOUR]"
frames = "SELECT ts, COUNT(*) OVER (ORDER BY ts ROWS 3 PRECEDING) AS n FROM t"
joined = "SELECT ts, COUNT(*) AS n FROM t WINDOW JOIN e [RANGE 1 MINUTE] ON k = k AND ts > ts"
for room in ("dataframe", "classic.dataframe", "connect.dataframe"):
    for is_streaming in (False, True):
        rows = type("DataFrame", (), {{"isStreaming": is_streaming, "columns": ["ts", "k"]}})
        rows.__module__ = "pyspark.sql." + room
        t = rows()
        for call in (
            lambda: sash.aggregate(t, ten, on="ts", watermark="1 second"),
            lambda: sash.rolling(t, on="ts", rows=3, watermark="1 second", n=sash.count()),
            lambda: sash.join(t, sash.lookback(t, range="1 hour", n=sash.count()), on="ts", by="k"),
            lambda: sash.explain(t, ten, on="ts"),
            lambda: sash.sql(windows, t=t, on="ts", watermark="1 second"),
            lambda: sash.sql(frames, t=t, watermark="1 second"),
            lambda: sash.sql(joined, t=t, e=t),
        ):
            try:
                call()
                print("accepted", call.__code__.co_firstlineno)
            except Exception as error:
                print(type(error).__name__, error)
job = Path(tempfile.mkdtemp(), "job.toml")
job.write_text({job!r})
for command in (["run", str(job)], ["explain", str(job)]):
    print(CliRunner().invoke(main, command).output)
for use in ("sash.state('/nowhere')", "__import__('sash.spark')"):
    try:
        eval(use)
    except Exception as error:
        print(type(error).__name__, error)
"""
JOB = """
[job]
on = "ts"
[source]
format = "parquet"
path = "/nowhere"
[queries.ten]
window = { tumbling = "10 seconds" }
n = "count()"
[sink]
format = "console"
"""


UNTESTED_NUMBA = """
import importlib.machinery, sys, warnings
import numba
numba.__version__ = "0.99.1"
sys.modules["__main__"].__spec__ = {spec}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import sash.spark
    from sash.algebra.numba_parts import compile_kernel
    for _ in range(2):
        compile_kernel(lambda x: x, False)
print(sum("tested with Numba" in str(each.message) for each in said))
"""


class Older:
    """A DataFrame, or groups of one, without some of its methods."""

    def __init__(self, wrapped: Any, *lacking: str) -> None:
        self._wrapped, self._lacking = wrapped, lacking

    def __getattr__(self, name: str) -> Any:
        if name in self._lacking:
            raise AttributeError(name)
        return getattr(self._wrapped, name)


@pytest.mark.parametrize("version", REFUSED)
def test_an_unsupported_version_is_refused_in_a_sentence(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check, says = REFUSED[version]
    monkeypatch.setattr(pyspark, "__version__", version)
    with pytest.raises(UnsupportedVersion, match=says):
        check()


@pytest.mark.parametrize("version", ["3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0", "4.4.0.dev1", "4.1+vendor"])
def test_tables_are_not_refused_from_3_5_on(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    versions.check_tables()


@pytest.mark.parametrize("version", sample(["3.4.4", "5.0.0"], ["3.4.4"]))
def test_the_first_call_refuses_a_version_before_it_needs_what_that_lacks(version: str) -> None:
    lacking = ("pyspark.errors", "pyspark.sql.streaming.stateful_processor", "pyspark.sql.pandas.types")
    refused = f"sash needs PySpark 3.5 to 4.x, but {version} is installed. Install it: pip install 'sash[spark]'"
    assert said_at_first_calls(version, lacking) == {f"UnsupportedVersion {refused}", f"Error: {refused}"}


@pytest.mark.compat
def test_the_first_call_says_that_pandas_is_missing() -> None:
    (one, other) = sorted(said_at_first_calls(pyspark.__version__, ("pandas",)))
    needs = f"PySpark {pyspark.__version__} cannot exchange tables with Python: Pandas >= "
    assert one.startswith(f"Error: {needs}") and other.startswith(f"MissingPackage {needs}")
    assert one.endswith(" must be installed; however, it was not found. Install it: pip install 'sash[spark]'")


@pytest.mark.parametrize(
    ("spec", "said"),
    [("None", 1), ("importlib.machinery.ModuleSpec('pyspark.daemon', None)", 0)],
    ids=["driver", "worker"],
)
def test_the_driver_warns_of_an_untested_numba_once_and_workers_do_not(spec: str, said: int) -> None:
    program, variables = UNTESTED_NUMBA.format(spec=spec), {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=variables)
    assert done.stdout.split() == [str(said)], done.stderr


def said_at_first_calls(version: str, lacking: tuple[str, ...]) -> set[str]:
    """Return the messages of all first calls with a version of PySpark, without some modules."""
    program = FIRST_CALLS.format(version=version, lacking=lacking, job=JOB)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if line]
    assert len(said) == 3 * 2 * 7 + 2 + 2
    return set(said)


@pytest.mark.compat
def test_streams_and_table_functions_of_3_5_are_refused_at_the_call(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = spark.readStream.format("rate").load()
    monkeypatch.setattr(pyspark, "__version__", "3.5.9")
    query = sash.query("ten", sash.tumbling("10 seconds"), n=sash.count())
    frames = "SELECT value, MAX(value) OVER (ORDER BY timestamp ROWS 3 PRECEDING) AS most FROM s"
    for call in (
        lambda: sash.aggregate(stream, query, on="timestamp", watermark="1 second"),
        lambda: sash.rolling(stream, on="timestamp", rows=3, watermark="1 second", n=sash.count()),
        lambda: sash.explain(stream, query, on="timestamp", watermark="1 second"),
        lambda: sash.sql("SELECT COUNT(*) FROM s [ROWS 9 SLIDE 9]", s=stream, on="timestamp", watermark="1 second"),
        lambda: sash.sql(frames, s=stream, watermark="1 second"),
        lambda: sash.state("/nowhere"),
        lambda: register_functions(spark),
    ):
        with pytest.raises(UnsupportedVersion, match=r"but 3\.5\.9 is installed"):
            call()


@pytest.mark.compat_streams
@pytest.mark.parametrize(
    ("module", "found", "says"),
    [
        ("google.protobuf", None, "google.protobuf"),
        ("google.protobuf.runtime_version", SimpleNamespace(), "no attribute 'ValidateProtobufRuntimeVersion'"),
    ],
    ids=["missing", "of another version"],
)
def test_a_stream_without_its_protobuf_is_refused_at_the_call(
    spark: Any, monkeypatch: pytest.MonkeyPatch, module: str, found: Any, says: str
) -> None:
    stream = spark.readStream.format("rate").load()
    google = __import__("google.protobuf").protobuf
    for name in [each for each in sys.modules if each.startswith("pyspark.sql.streaming.proto")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, found)
    monkeypatch.setattr(google, "runtime_version", found, raising=False)
    query = sash.query("ten", sash.tumbling("10 seconds"), n=sash.count())
    calls: tuple[Callable[[], Any], ...] = (
        lambda: sash.aggregate(stream, query, on="timestamp", watermark="1 second"),
        lambda: sash.rolling(stream, on="timestamp", rows=3, watermark="1 second", n=sash.count()),
    )
    for call in calls:
        with pytest.raises(MissingPackage, match=f"a protobuf that PySpark .* can use: .*{says}.*pip install"):
            call()


@pytest.mark.compat
def test_a_type_that_python_lacks_is_refused_and_works_where_python_has_it(spark: Any) -> None:
    rows = spark.range(3).selectExpr("id AS t", "array(make_interval(1)) AS parts")
    ten = sash.query("ten", sash.tumbling(10), n=sash.count())
    calls: tuple[Callable[[], Any], ...] = (
        lambda: sash.aggregate(rows, ten, on="t"),
        lambda: sash.rolling(rows, on="t", rows=2, n=sash.count()),
        lambda: sash.explain(rows, ten, on="t"),
        lambda: sash.join(rows, sash.lookback(rows, range=5, n=sash.count()), on="t"),
        lambda: sash.join(spark.range(3).toDF("t"), sash.lookback(rows, range=5, n=sash.count()), on="t"),
        lambda: sash.sql("SELECT COUNT(*) AS n FROM r [RANGE 10 SLIDE 10]", r=rows, on="t"),
    )
    for call in calls:
        if not pyspark.__version__.startswith("3."):
            call()
            continue
        with pytest.raises(UnsupportedVersion, match=r"PySpark 3\.5\.9 cannot read columns of type interval in Python"):
            call()


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("[CANNOT_PARSE_DATATYPE] Unable to parse datatype. interval..", "interval"),
        ("Unsupported data type calendar_interval {\n}\n", "calendar_interval"),  # on Spark Connect
    ],
)
def test_the_type_that_python_lacks_is_named_and_other_errors_stay_as_they_are(said: str, kind: str) -> None:
    class Rows:
        def __init__(self, message: str) -> None:
            self.message = message

        @property
        def schema(self) -> Any:
            raise ValueError(self.message)

    with pytest.raises(UnsupportedVersion, match=f"columns of type {kind} in Python"):
        versions.check_types(Rows(said))
    with pytest.raises(ValueError, match="no such table"):
        versions.check_types(Rows("no such table"))


@pytest.mark.compat
@pytest.mark.parametrize("count", [1, 3, 16])
def test_rows_land_in_the_partition_of_their_number(spark: Any, count: int) -> None:
    rows = spark.range(200).withColumn("number", F.pmod(F.col("id") * 7, F.lit(count)).cast("int"))
    for given in (rows, Older(rows, "repartitionById")):
        spread = versions.repartition_by_number(given, count, F.col("number"), bucket_ids)
        found = {tuple(row) for row in spread.select("number", F.spark_partition_id()).distinct().collect()}
        assert found == {(number, number) for number in range(count)}


@pytest.mark.compat
def test_tables_of_arrow_are_collected_and_created_on_every_version(spark: Any) -> None:
    table = pa.table({"cell": [0, 1, 2], "last": [5, -7, 2**62]})
    assert versions.collect(versions.create_table(spark, table).orderBy("cell")).to_pydict() == table.to_pydict()
    empty = versions.collect(spark.range(0).withColumn("t", F.timestamp_seconds("id")))
    assert (empty.num_rows, empty.schema.names) == (0, ["id", "t"])


@pytest.mark.compat
def test_the_remainder_of_a_division_by_zero_is_null(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = spark.range(3).select(F.lit(7).alias("a"), F.col("id").alias("b")).orderBy("b")
    own = [row[0] for row in rows.select(versions.try_mod(F.col("a"), F.col("b"))).collect()]
    monkeypatch.delattr(F, "try_mod", raising=False)
    without = [row[0] for row in rows.select(versions.try_mod(F.col("a"), F.col("b"))).collect()]
    assert own == without == [None, 0, 1]


@pytest.mark.compat_streams
@pytest.mark.parametrize("flush", sample(["at_end", None], ["at_end"]))
def test_a_stream_with_a_restart_is_the_same_with_state_in_pandas(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flush: Any
) -> None:
    """Positions above 2⁵³ would lose their last digits as floats."""
    from sash.spark.driver import streaming

    base = 2**53
    parts = [
        pa.table({"t": pa.array([base + 3 * at + part for at in range(9 * part, 9 * part + 9)], pa.int64())})
        for part in range(3)
    ]
    query = sash.query("seven", sash.tumbling(7), n=sash.count(), all=sash.collect("t"))
    monkeypatch.setattr(streaming, "has_row_state", lambda grouped: False)
    feed = Feed(spark, tmp_path, "t long").add(*parts[:2])

    def results() -> Any:
        return sash.aggregate(feed.stream(), query, on="t", watermark=2, flush=flush)

    found = [*ran(feed, results()).all()] if flush is None else []
    feed.add(parts[2])
    found += ran(feed, results()).all()
    wanted = sash.aggregate(pa.concat_tables(parts), query, on="t").to_pylist()
    if flush is None:
        wanted = [row for row in wanted if row["window_end"] <= base + 3 * 26 + 2 - 2]
    assert [(row["window_start"], row["all"]) for row in found] == [(row["window_start"], row["all"]) for row in wanted]


def test_buckets_of_state_in_pandas_have_integers_of_python() -> None:
    from sash.spark.state.pandas_processor import PandasProcessor

    seen: list[Any] = []

    class Recorder:
        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803
            seen.append((key, list(rows)))
            return iter([(1, "2")])

    frames = [pd.DataFrame({"bucket": [3], "newest": ["5"]})]
    processor = PandasProcessor(cast("Any", Recorder()), ["newest"], int, ["bucket", "text"])
    (results,) = processor.handleInputRows((np.int32(3),), iter(frames), cast("Any", None))
    assert seen == [((3,), [{"bucket": 3, "newest": 5}])]
    assert type(seen[0][0][0]) is int
    assert results.to_dict("records") == [{"bucket": 1, "text": "2"}]
