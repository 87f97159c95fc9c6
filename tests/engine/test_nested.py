"""Nested fields are columns: by their path, if no column has that name."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.engine.nested import key_names, steps_of
from sash.errors import InvalidInput, InvalidQuery, UnknownName

META = [{"device": device, "at": at} for device, at in [("a", {"load": 3.0}), ("a", {"load": 5.0}), ("b", None)]]
ROWS: dict[str, list[Any]] = {
    "event": [{"ts": 1}, {"ts": 2}, {"ts": 12}, {"ts": None}],
    "meta": [META[0], None, META[1], META[2]],
}
FLAT: dict[str, list[Any]] = {"t": [1, 2, 12, None], "device": ["a", None, "a", "b"], "load": [3.0, None, 5.0, None]}
NESTED: dict[str, Any] = {"on": "event.ts", "by": "meta.device"}
PLAIN: dict[str, Any] = {"on": "t", "by": "device"}
KINDS: dict[str, Any] = {
    "a dict": ROWS,
    "an Arrow table": pa.table(ROWS),
    "a Polars table": pl.DataFrame(ROWS),
    "a pandas table": pd.DataFrame(ROWS),
    "a pandas table of Arrow": pa.table(ROWS).to_pandas(types_mapper=pd.ArrowDtype),
}


def query(column: str) -> sash.Query:
    many = sash.count(where=f"`{column}` > 4")
    return sash.query("q", sash.tumbling(10), peak=sash.max(column), n=sash.count(), many=many)


def rows_of(table: Any) -> list[dict[str, Any]]:
    return sorted(pa.table(table).to_pylist(), key=str)


@pytest.mark.parametrize("kind", list(KINDS))
def test_tables_read_nested_fields_as_if_they_were_columns(kind: str) -> None:
    windows = sash.aggregate(FLAT, query("load"), **PLAIN)
    assert rows_of(sash.aggregate(KINDS[kind], query("meta.at.load"), **NESTED)) == rows_of(windows)
    frames = sash.rolling(FLAT, **PLAIN, rows=2, total=sash.sum("load"))["total"].to_pylist()
    framed = sash.rolling(KINDS[kind], **NESTED, rows=2, total=sash.sum("meta.at.load"))
    assert list(rows_of(framed)[0]) == ["event", "meta", "total"]
    assert pa.table(framed)["total"].to_pylist() == frames
    back = sash.join(KINDS[kind], sash.lookback(KINDS[kind], range=20, total=sash.sum("meta.at.load")), **NESTED)
    expected = sash.join(FLAT, sash.lookback(FLAT, range=20, total=sash.sum("load")), **PLAIN)
    assert pa.table(back)["total"].to_pylist() == expected["total"].to_pylist()


def test_stream_reads_nested_fields_also_after_a_restart_and_in_a_query_that_is_added() -> None:
    later = sash.query("later", sash.tumbling(10), low=sash.min("meta.at.load"))
    stream = sash.Stream(query("meta.at.load"), **NESTED)
    flat = sash.Stream(query("load"), **PLAIN)
    assert stream.push(ROWS).to_pylist() == flat.push(FLAT).to_pylist() == []
    stream.add(later)
    flat.add(sash.query("later", sash.tumbling(10), low=sash.min("load")))
    stream = sash.Stream.restore(stream.save(), [query("meta.at.load"), later])
    found, expected = stream.finish(), flat.finish()
    assert found.column_names[0] == "device"
    assert rows_of(found) == rows_of(expected)


def test_column_with_the_exact_name_wins_over_a_path() -> None:
    rows = {"t": [1], "a.b": [7], "a": [{"b": 1}]}
    found = sash.aggregate(rows, sash.query("q", sash.tumbling(10), x=sash.max("a.b")), on="t", by="a.b")
    assert found.select(["a.b", "x"]).to_pylist() == [{"a.b": 7, "x": 7}]
    stream = sash.Stream(sash.query("q", sash.tumbling(10), x=sash.max("a.b")), on="t", by="a.b")
    stream.push(rows)
    assert stream.finish().column_names[0] == "a.b"


def test_unknown_field_is_refused_with_the_fields_that_exist() -> None:
    with pytest.raises(UnknownName, match=r"no column 'meta\.devise'\. Did you mean 'meta\.device'\?.*meta\.at\.load"):
        sash.aggregate(ROWS, query("meta.at.load"), on="event.ts", by="meta.devise")
    with pytest.raises(UnknownName, match=r"'event\.ts\.x'"):
        sash.rolling(ROWS, on="event.ts.x", rows=2, n=sash.count())
    with pytest.raises(InvalidInput, match="cannot be in `by`"):
        sash.rolling(ROWS, on="event.ts", by="meta", rows=2, n=sash.count())


def test_two_columns_of_results_with_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"'meta\.device' would be the column 'device'.*Select the field first"):
        sash.aggregate(
            {**ROWS, "device": [1, 2, 3, 4]}, query("meta.at.load"), on="event.ts", by=["device", "meta.device"]
        )
    with pytest.raises(InvalidQuery, match="'device' cannot be the name of a result"):
        sash.aggregate(ROWS, sash.query("q", sash.tumbling(10), device=sash.count()), **NESTED)
    with pytest.raises(InvalidInput, match="'query'"):
        key_names(["meta.query"], ["meta"], ["query"])


@given(st.lists(st.sampled_from(["a", "b", "a.b", "b.a"]), min_size=1, max_size=3, unique=True), st.data())
def test_every_path_finds_its_field_whatever_dots_the_names_have(names: list[str], data: st.DataObject) -> None:
    fields = {name: data.draw(st.lists(st.sampled_from(["a", "b", "a.b"]), unique=True)) for name in names}
    for name, own in fields.items():
        for field in own:
            path = f"{name}.{field}"
            steps = steps_of(path, names, lambda steps: fields[steps[0]] if len(steps) == 1 else [])
            assert ".".join(steps) == path
            assert (len(steps) == 1) == (path in names)
            assert len(steps) == 1 or steps[1] in fields[steps[0]]
