"""Results of types that Spark has not."""

from typing import Any

import pyarrow as pa

import sash
from sash.spark.wire.results import as_spark, cast_results


def test_lists_of_one_length_and_unsigned_numbers_become_what_spark_has() -> None:
    table = pa.table({"bits": pa.array([[1, 2], None, [3, 2**64 - 1]], pa.list_(pa.uint64(), 2))})
    schema = pa.schema([pa.field("bits", as_spark(table.schema.field("bits").type))])
    assert schema.field("bits").type == pa.list_(pa.int64())
    assert cast_results(table, schema).column("bits").to_pylist() == [[1, 2], None, [3, -1]]
    assert cast_results(table.slice(1, 2), schema).column("bits").to_pylist() == [None, [3, -1]]
    assert cast_results(table.slice(0, 0), schema).num_rows == 0


def test_a_sketch_is_the_same_numbers_on_spark(spark: Any) -> None:
    table = pa.table({"t": list(range(20)), "x": [k % 7 for k in range(20)]})
    query = sash.query("q", sash.tumbling(10), seen=sash.bloom_filter("x"), m=sash.m4("x"))
    found = sash.aggregate(spark.createDataFrame(table), query, on="t").orderBy("window_start").toArrow()
    wanted = sash.aggregate(table, query, on="t")
    assert found.column("m").to_pylist() == wanted.column("m").to_pylist()
    for own, other in zip(found.column("seen").to_pylist(), wanted.column("seen").to_pylist(), strict=True):
        assert [bits % 2**64 for bits in own] == other
