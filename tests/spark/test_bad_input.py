"""What is known only where the rows are: functions and numbers that fail are named, without a trace of Java."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from sash.engine.options import CallOptions
from sash.spark.driver import batch
from tests.sample import sample

GROUP = "refused"
TEN = sash.query("ten", sash.tumbling("10s"), n=sash.count(), s=sash.sum("x"))


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    return spark.range(20, numPartitions=2).select(
        F.timestamp_seconds("id").alias("t"), (F.col("id") % 2).cast("string").alias("k"), F.col("id").alias("x")
    )


@pytest.fixture
def jobs(spark: Any) -> Iterator[Callable[[], list[int]]]:
    """The jobs that were started since."""
    context = spark.sparkContext
    tracker = context.statusTracker()
    context.setJobGroup(GROUP, "what a refusal must not start")
    before = set(tracker.getJobIdsForGroup(GROUP))
    yield lambda: sorted(set(tracker.getJobIdsForGroup(GROUP)) - before)
    context.setLocalProperty("spark.jobGroup.id", None)


def ten(**aggregates: Any) -> Any:
    return sash.query("ten", sash.tumbling("10s"), **aggregates)


def test_a_question_without_a_mistake_starts_jobs_when_it_is_asked_for(rows: Any, jobs: Any) -> None:
    """The refusals count jobs: this is what counting finds where there are some."""
    found = sash.aggregate(rows, TEN, on="t", by="k")
    assert len(found.collect()) == 4
    assert jobs()


def test_names_that_need_quoting_are_names_like_any_other(spark: Any) -> None:
    rows = spark.range(20).select(
        F.timestamp_seconds("id").alias("the time"), F.col("id").alias("a.b"), (F.col("id") % 2).alias("k`")
    )
    query = sash.query("q", sash.tumbling("10s"), s=sash.sum("a.b"))
    for path in ("packed", "jvm"):
        found = batch.aggregate(rows, query, CallOptions("the time", "k`"), path=path).collect()
        assert sorted((row["k`"], row["s"]) for row in found) == [(0, 20), (0, 70), (1, 25), (1, 75)]
    framed = sash.rolling(rows, on="the time", by="k`", rows=2, s=sash.sum("a.b"))
    assert sorted(row["s"] for row in framed.collect()) == sorted([0, 1, *range(2, 38, 2)])


# --- what is known only where the rows are ---------------------------------------------------------


def unlucky(x: Any) -> Any:
    if x == 13:
        raise ValueError("unlucky")
    return (x,)


def total(**functions: Any) -> Any:
    given: dict[str, Any] = {
        "state": ("O",),
        "identity": (0,),
        "lift": lambda x: (x,),
        "combine": lambda a, b: (a[0] + b[0],),
        "lower": lambda p: p[0],
        "result": "i8",
        **functions,
    }
    return sash.Aggregate("total", **given)("x")


def test_a_function_of_the_users_own_runs_where_the_rows_are(rows: Any) -> None:
    found = sash.aggregate(rows, ten(v=total()), on="t", by="k").collect()
    assert sorted(row["v"] for row in found) == [20, 25, 70, 75]
    framed = sash.rolling(rows, on="t", by="k", rows=2, v=total()).collect()
    assert sorted(row["v"] for row in framed) == sorted([0, 1, *range(2, 38, 2)])


def test_objects_of_a_function_are_what_it_says_that_they_are(rows: Any) -> None:
    """What the refusal of objects of unknown type advises."""
    spelled = total(identity=("",), lift=lambda x: (str(x),), result=pa.string())
    found = sash.aggregate(rows, ten(v=spelled), on="t", by="k")
    assert found.schema["v"].dataType.simpleString() == "string"
    assert sorted(row["v"] for row in found.collect()) == ["02468", "1012141618", "1113151719", "13579"]


@pytest.mark.parametrize("what", ["windows", "frames"])
def test_a_function_that_fails_where_the_rows_are_is_named_without_a_java_stack(rows: Any, what: str) -> None:
    failing = total(lift=unlucky)
    if what == "windows":
        found = sash.aggregate(rows, ten(v=failing), on="t", by="k")
    else:
        found = sash.rolling(rows, on="t", by="k", rows=2, v=failing)
    with pytest.raises(Exception, match=r"Aggregate 'total': .* raised ValueError: unlucky") as caught:
        found.collect()
    assert "\tat org.apache" not in str(caught.value)


def test_a_sum_that_overflows_where_the_rows_are_is_named(spark: Any) -> None:
    rows = spark.range(2).select(F.timestamp_seconds("id").alias("t"), F.lit(2**62).alias("x"))
    for path in ("packed", "jvm"):
        found = batch.aggregate(rows, TEN, CallOptions("t"), path=path)
        with pytest.raises(Exception, match=r"(?i)'ten\.s' overflows|ARITHMETIC_OVERFLOW") as caught:
            found.collect()
        assert "\tat org.apache" not in str(caught.value)


@pytest.mark.parametrize("path", sample(["spark", "jvm", "packed"], ["packed"]))
@pytest.mark.parametrize(
    ("column", "size", "limit"),
    [("bigint", 10, "within 2^61 of zero"), ("timestamp", "10 seconds", "within 73,000 years of 1970")],
)
def test_a_row_too_far_for_its_windows_is_refused_on_every_path(
    spark: Any, path: str, column: str, size: Any, limit: str
) -> None:
    numbers = spark.createDataFrame([(5, 1.0), (2**62, 2.0), (None, 4.0)], "n long, x double")
    on = F.col("n") if column == "bigint" else F.timestamp_micros("n")
    rows = numbers.select(on.alias("t"), "x")
    query = sash.query("q", sash.tumbling(size), s=sash.sum("x"))
    with pytest.raises(Exception, match=r"Column 't' holds 4611686018427387904, but positions") as refused:
        batch.aggregate(rows, query, CallOptions("t"), path=path).collect()
    assert limit in str(refused.value)
    near = batch.aggregate(rows.where("x <> 2"), query, CallOptions("t"), path=path).collect()
    assert [row["s"] for row in near] == [1.0]


def test_floats_on_spark_have_the_edges_that_a_table_has(spark: Any) -> None:
    around = [np.nextafter(k * 0.1, toward) for k in range(-20, 21) for toward in (-np.inf, k * 0.1, np.inf)]
    rows = pa.table({"t": np.array(around, np.float64), "x": np.ones(len(around))})
    queries = [
        sash.query("slides", sash.sliding(0.3, every=0.1), n=sash.count()),
        sash.query("grows", sash.cumulative(1.0, every=0.1, offset=0.2), n=sash.count()),
        sash.query("gaps", sash.session(gap=0.1), n=sash.count()),
    ]
    found = sash.aggregate(spark.createDataFrame(rows), queries, on="t").collect()
    wanted = sash.aggregate(rows, queries, on="t").to_pylist()
    assert sorted(str(row.asDict()) for row in found) == sorted(map(str, wanted))
    with pytest.raises(Exception, match=r"Column 't' holds 1e\+300, but positions .* must lie within 4\.5"):
        sash.aggregate(spark.createDataFrame([(1e300, 1.0)], "t double, x double"), queries, on="t").collect()
