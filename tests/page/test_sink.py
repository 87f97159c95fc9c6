"""Results that a sink holds: only files that Spark has committed, each once, also from a compact log."""

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sash.page.sources.result_columns import late_rows
from sash.page.sources.sink import FileSink


def entry(path: Any) -> Any:
    return json.dumps({"path": f"file://{path}", "action": "add", "modificationTime": 1})


def commit(folder: Any, number: Any, names: Any, is_compact: Any = False) -> None:
    log = folder / "_spark_metadata"
    log.mkdir(exist_ok=True)
    (log / (f"{number}.compact" if is_compact else str(number))).write_text(
        "\n".join(["v1", *(entry(folder / name) for name in names)])
    )


def write(folder: Any, name: Any, value: Any) -> None:
    pq.write_table(pa.table({"x": [value]}), folder / name)


def values(tables: Any) -> Any:
    return [value for table in tables for value in table.column("x").to_pylist()]


def test_each_committed_file_is_read_once(tmp_path: Any) -> None:
    sink = FileSink(tmp_path, 100)
    assert sink.read() == []
    for number in range(3):
        write(tmp_path, f"{number}.parquet", number)
    write(tmp_path, "not committed.parquet", 99)
    commit(tmp_path, 0, ["0.parquet"])
    commit(tmp_path, 1, ["1.parquet"])
    assert values(sink.read()) == [0, 1]
    assert values(sink.read()) == []
    commit(tmp_path, 2, ["0.parquet", "1.parquet", "2.parquet"], is_compact=True)
    assert values(sink.read()) == [2]


def test_compact_log_alone_has_all_files(tmp_path: Any) -> None:
    for number in range(3):
        write(tmp_path, f"with space {number}.parquet", number)
    commit(tmp_path, 9, [f"with%20space%20{number}.parquet" for number in range(3)], is_compact=True)
    assert values(FileSink(tmp_path, 100).read()) == [0, 1, 2]


def test_first_reading_stops_at_the_limit_with_the_newest_files(tmp_path: Any) -> None:
    for number in range(5):
        write(tmp_path, f"{number}.parquet", number)
        commit(tmp_path, number, [f"{number}.parquet"])
    assert values(FileSink(tmp_path, 2).read()) == [3, 4]


def test_late_rows_are_those_that_results_keep() -> None:
    row = pa.array([None, {"t": 3, "x": "a"}])
    table = pa.table({"query": ["q", "_late"], "late_row": row, "late_reason": [None, "too late"]})
    (late,) = late_rows(table, "t")
    assert (late.row, late.position, late.reason) == ("t=3, x=a", 3.0, "Too late.")
