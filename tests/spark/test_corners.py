"""Where paths could part: extreme positions, names that are ours, keys that are equal but not the same, borders."""

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from sash.engine.options import CallOptions
from sash.errors import InvalidInput, InvalidQuery, NumberOverflow
from sash.limits import LIMITS, Limits
from sash.plan.plan import Options
from sash.spark.driver import batch
from sash.spark.wire.recipe import Recipe
from sash.spark.worker.window_task import WindowTask
from tests.algebra.test_sums_and_extremes import EXTREME
from tests.engine.users_own import WINDOWS
from tests.sample import sample

PATHS = ("spark", "jvm", "packed")


def found(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, frame.collect()), key=str)


def test_a_punctuation_at_the_border_of_a_stretch_closes_its_window(spark: Any) -> None:
    rows = spark.createDataFrame([(1, False), (5, False), (5, True), (5, False), (9, True)], "t int, p boolean")
    query = sash.query("q", sash.punctuated("p"), n=sash.count())
    few = Limits(task_rows=2, packed_rows=1, piece_rows=1)
    ends = found(batch.aggregate(rows.coalesce(1), query, CallOptions("t", limits=few)).select("window_start", "n"))
    assert ends == found(batch.aggregate(rows.coalesce(1), query, CallOptions("t")).select("window_start", "n"))
    assert len(ends) == 3


@pytest.mark.parametrize("window", ["parities", "echoes", "marks"])
def test_windows_with_edges_of_rows_are_those_of_one_process(spark: Any, window: str) -> None:
    """Forward-free windows of users, and starts and ends that are marked; by stretches of a few rows, too."""
    places = range(120)
    rows = pa.table(
        {
            "t": [place * 7 % 60 for place in places],
            "k": [place % 3 for place in places],
            "x": [None if place % 9 == 4 else place * 5 % 7 for place in places],
            "new": [place % 11 == 0 for place in places],
            "end": [place % 7 == 3 for place in places],
        }
    )
    made = sash.punctuated("new", "end") if window == "marks" else WINDOWS[window]()
    query = sash.query("q", made, n=sash.count(), most=sash.max("x"), last=sash.last("t"))
    wanted = sorted((tuple(row.values()) for row in sash.aggregate(rows, query, on="t", by="k").to_pylist()), key=str)
    assert len(wanted) > 10
    given = spark.createDataFrame(rows)
    few = Limits(task_rows=20, packed_rows=10, piece_rows=5)
    for options in (CallOptions("t", "k"), CallOptions("t", "k", limits=few, store="eager")):
        assert found(batch.aggregate(given, query, options)) == wanted


def test_extreme_positions_are_refused_on_every_path(spark: Any) -> None:
    times = "timestamp_micros(if(id = 1, 3000000000000000000, id)) AS t"
    days = "date_from_unix_date(if(id = 1, 2000000000, id)) AS t"
    numbers = "if(id = 1, -9223372036854775807 - 1, id) AS t"
    for given, size in ((times, "1 second"), (days, "10 days"), (numbers, 10)):
        rows = spark.range(3).selectExpr(given)
        query = sash.query("q", sash.tumbling(size), n=sash.count())
        for path in ("packed", "auto", "jvm"):
            with pytest.raises(Exception, match=r"Column 't' holds .*, but positions of these windows must lie within"):
                batch.aggregate(rows, query, CallOptions("t"), path=path).collect()


def test_a_date_has_edges_without_a_zone_on_every_path(spark: Any, zone: Any) -> None:
    zone("America/New_York")
    rows = spark.sql("SELECT date'2024-01-05' AS d")
    query = sash.query("q", sash.tumbling("1 day"), n=sash.count())
    for path in ("auto", "jvm", "packed"):
        ((_, start, end, n),) = found(batch.aggregate(rows, query, CallOptions("d"), path=path))
        assert (str(start), str(end), n) == ("2024-01-05 00:00:00", "2024-01-06 00:00:00", 1)


def test_a_sum_that_fits_in_the_end_is_exact_and_one_that_does_not_is_refused(spark: Any) -> None:
    query = sash.query("q", sash.tumbling(10), s=sash.sum("x"))
    fits = spark.createDataFrame([(1, 2**63 - 1), (2, 1), (3, -1)], "t int, x long")
    assert [row[-1] for row in found(sash.aggregate(fits, query, on="t"))] == [2**63 - 1]
    with pytest.raises(Exception, match=NumberOverflow.__name__):
        sash.aggregate(fits.where("t < 3"), query, on="t").collect()


@pytest.mark.parametrize("name", sample(["_arrival", "_0", "key0", "start"], ["_arrival"]))
def test_any_name_is_a_name_for_a_key_and_a_value(spark: Any, name: str) -> None:
    rows = spark.range(30).select(F.col("id").alias("t"), (F.col("id") % 3).alias(name), F.col("id").alias("x"))
    sliding = sash.query("q", sash.sliding(10, every=5), n=sash.count(), a=sash.first("x"), b=sash.last(name))
    tumbling = sash.query("q", sash.tumbling(10), value0=sash.max("x"), value1=sash.min("x"))
    for query, paths in ((sliding, ("jvm", "packed")), (tumbling, PATHS)):
        answers = [found(batch.aggregate(rows, query, CallOptions("t", name), path=path)) for path in paths]
        assert len(answers[0]) > 8 and all(each == answers[0] for each in answers)


def test_variance_near_the_largest_float_is_the_same_on_every_path(spark: Any) -> None:
    """Spark's own is NaN or infinite, as its partitions have it; of values that are equal it is nothing."""
    table = pa.Table.from_pylist(
        [{"k": kind, "t": t, "x": x} for kind, (values, _) in EXTREME.items() for t, x in enumerate(values)]
    )
    wanted = {kind: (variance, math.sqrt(variance)) for kind, (_, variance) in EXTREME.items()}
    asked: Any = {"v": sash.variance("x"), "s": sash.stddev("x")}
    query = sash.query("q", sash.tumbling(1000), **asked)
    rows = spark.createDataFrame(table)
    spread = [rows.repartitionById(parts, (F.col("t") % parts).cast("int")) for parts in (1, 2)]
    tables = [batch.aggregate(each, query, CallOptions("t", "k"), path=path) for each in spread for path in PATHS]
    tables.append(sash.rolling(rows, on="t", by="k", rows=1000, **asked).orderBy("t"))
    for answer in [*(each.toArrow() for each in tables), sash.aggregate(table, query, on="t", by="k")]:
        last = {row["k"]: (row["v"], row["s"]) for row in answer.to_pylist()}
        assert {kind: pytest.approx(both, nan_ok=True) for kind, both in wanted.items()} == last


def test_results_that_differ_in_case_alone_are_refused_unless_spark_tells_them_apart(spark: Any) -> None:
    rows = spark.range(30).selectExpr("id AS t", "id % 3 AS k", "id AS x")
    twins = sash.query("q", sash.tumbling(10), n=sash.count(), N=sash.max("x"))
    key = sash.query("q", sash.tumbling(10), K=sash.count())
    edge = sash.query("q", sash.tumbling(10), Window_Start=sash.count())
    two = [sash.query(name, sash.tumbling(10), **{name: sash.count()}) for name in ("a", "A")]
    stream = spark.readStream.format("rate").load().selectExpr("value AS t", "value % 3 AS k", "value AS x")
    late = sash.query("q", sash.tumbling(10), LATE_ROW=sash.count())
    uses: dict[str, Any] = {
        "'n' and 'N'": lambda: sash.aggregate(rows, twins, on="t"),
        "'k' and 'K'": lambda: sash.aggregate(rows, key, on="t", by="k"),
        "'window_start' and 'Window_Start'": lambda: sash.aggregate(rows, edge, on="t"),
        "'a' and 'A'": lambda: sash.aggregate(stream, two, on="t", watermark=1),
        "'LATE_ROW' and 'late_row'": lambda: sash.aggregate(stream, late, on="t", watermark=1, late="keep"),
        "'x' and 'X'": lambda: sash.rolling(rows, on="t", rows=3, X=sash.count()),
        "'t' and 'T'": lambda: sash.rolling(stream, on="t", rows=3, T=sash.count(), watermark=1),
    }
    for said, use in uses.items():
        with pytest.raises(InvalidQuery, match=said):
            use()
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        for use in uses.values():
            use()
        windows = sash.aggregate(rows, twins, on="t", by="k").where("N > 26").select("n", "N")
        assert found(windows) == [(3, 27), (3, 28), (4, 29)]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


INTERVALS = {
    "months": "interval '-1-2' year to month",
    "years": "interval '7' year",
    "parts": "make_interval(-1, 2, 3, -4, 5, -6, 7.000001)",
    "a.dot": "interval '3' day",
    "list": "array(make_interval(0, 0, 0, 1), null)",
    "inside": "named_struct('a', interval '5' month, 'b', map('k', make_interval(1)))",
    "nothing": "cast(null AS interval)",
}


def test_an_interval_that_is_not_asked_for_comes_back_from_frames(spark: Any) -> None:
    rows = spark.range(3).selectExpr("id AS t", *(f"{each} AS `{name}`" for name, each in INTERVALS.items()))
    framed = sash.rolling(rows, on="t", rows=2, n=sash.count())
    assert [each.dataType.simpleString() for each in framed.schema[:-1]] == [
        each.dataType.simpleString() for each in rows.schema
    ]
    texts = [
        f"to_json(struct(`{name}`))" if name in ("list", "inside") else f"cast(`{name}` AS string)"
        for name in INTERVALS
    ]
    assert found(framed.selectExpr("t", *texts)) == found(rows.selectExpr("t", *texts))


def test_an_interval_that_is_asked_for_and_a_key_without_a_type_are_refused(spark: Any) -> None:
    rows = spark.range(3).selectExpr(
        "id AS t", "null AS v", *(f"{each} AS `{name}`" for name, each in INTERVALS.items())
    )
    ten = sash.query("q", sash.tumbling(10), n=sash.count())

    def uses(name: str) -> list[Callable[[], Any]]:
        counted = sash.query("q", sash.tumbling(10), n=sash.count(name))
        return [
            lambda: sash.aggregate(rows, ten, on="t", by=name),
            lambda: sash.rolling(rows, on="t", by=name, rows=3, n=sash.count()),
            lambda: sash.aggregate(rows, counted, on="t"),
            lambda: sash.rolling(rows, on="t", rows=3, n=sash.count(name)),
        ]

    for name in ("months", "parts", "list", "inside"):
        for use in uses(name):
            with pytest.raises(InvalidInput, match=f"Column {name!r} of type .* cannot be read in Python"):
                use()
    for use in uses("v")[:2]:
        with pytest.raises(InvalidInput, match="Column 'v' of type void cannot be in `by`"):
            use()


def test_columns_that_spark_cannot_tell_apart_and_other_collations_are_refused(spark: Any) -> None:
    twins = spark.sql("SELECT 1 AS t, 2 AS x, 3 AS X")
    with pytest.raises(InvalidInput, match="'x'"):
        sash.aggregate(twins, sash.query("q", sash.tumbling(10), n=sash.max("x")), on="t")
    collated = spark.sql("SELECT 1 AS t, 'a' COLLATE UTF8_LCASE AS k")
    with pytest.raises(InvalidInput, match="collation"):
        sash.aggregate(collated, sash.query("q", sash.tumbling(10), n=sash.count()), on="t", by="k")


def test_zeros_of_both_signs_are_one_hot_key_and_a_landmark_may_be_without_end(spark: Any) -> None:
    few = Limits(probed_rows=50, hot_rows=100, chunk_rows=40, small_bytes=0)
    rows = spark.range(400).select(F.col("id").alias("t"), F.when(F.col("id") % 2 == 0, 0.0).otherwise(-0.0).alias("k"))
    always = sash.query("all", sash.landmark(start=-(2**60), end=2**60), m=sash.median("t"))
    sliding = sash.query("q", sash.sliding(100, every=50), n=sash.count(), m=sash.median("t"))
    for query in (sliding, always):
        wanted = found(batch.aggregate(rows, query, CallOptions("t", "k")))
        assert found(batch.aggregate(rows, query, CallOptions("t", "k", limits=few))) == wanted


def test_windows_that_are_many_times_the_rows_come_in_steps() -> None:
    table = pa.table({"t": pa.array([3, None, 50], pa.int64())})
    query = sash.query("q", sash.sliding(1000, every=1), n=sash.count())

    def steps(limits: Limits) -> list[int]:
        recipe = Recipe((query,), Options("t", limits=limits), table.schema)
        task, plan = WindowTask(recipe, table.schema, table.schema), recipe.plan()
        return [each.num_rows for each in task._in_steps(task._stream(plan), plan, table)]

    assert sum(steps(LIMITS)) == sash.aggregate(table, query, on="t").num_rows == 1047
    assert sum(steps(Limits(task_results=300))) == 1047 and max(steps(Limits(task_results=300))) < 300
