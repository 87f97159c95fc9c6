"""Rows pushed one by one: the same results, errors and bytes as when a step processes each of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.errors import InvalidInput, SashError, UnknownName

QUERIES = [
    sash.query("ten", sash.tumbling(10), n=sash.count(), mean=sash.mean("x"), top=sash.max("x")),
    sash.query("long", sash.sliding(30, every=10), total=sash.sum("y"), name=sash.max("k")),
]
OPTIONS: dict[str, dict[str, Any]] = {
    "in order": {"in_order": True},
    "in order, by key": {"in_order": True, "by": "k"},
    "delay": {"watermark": 7, "by": "k"},
    "lateness": {"watermark": 5, "allowed_lateness": 20, "by": ["k", "j"]},
    "watermarks of the user": {"allowed_lateness": 15},
}
STEPS = st.lists(
    st.tuples(
        st.integers(-12, 9),  # to the next position
        st.sampled_from("abc"),
        st.integers(0, 2),
        st.one_of(st.floats(-1e6, 1e6), st.integers(-5, 5), st.none()),
        st.sampled_from(["", "", "", "", "", "save", "watermark", "look", "many"]),
    ),
    max_size=80,
)


def as_arrays(row: dict[str, list[Any]]) -> dict[str, Any]:
    """Return a row as arrays, which are never buffered."""
    return {name: np.array(values, object if None in values else None) for name, values in row.items()}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=40, deadline=None)
@given(steps=STEPS, dip=st.booleans())
def test_a_buffered_stream_is_the_same_as_one_that_steps(options: dict[str, Any], steps: list[Any], dip: bool) -> None:
    buffered, stepping = (sash.Stream(QUERIES, on="t", **options) for _ in range(2))
    at = 100
    for move, k, j, x, what in steps:
        at += move if dip else abs(move)
        row = {"t": [at], "k": [k], "j": [j], "x": [x], "y": [at % 7]}
        if what == "many":
            row = {name: values * 3 for name, values in row.items()}
        mark = at - 3 if what == "watermark" else None
        outcomes: list[Any] = []
        for stream, rows in ((buffered, row), (stepping, as_arrays(row))):
            try:
                outcomes.append(stream.push(rows, watermark=mark))
            except SashError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        assert buffered.late_count == stepping.late_count
        if what == "look":
            assert (buffered.watermark, repr(buffered)) == (stepping.watermark, repr(stepping))
            assert buffered.combines == stepping.combines
        if what == "save":
            assert buffered.save() == stepping.save()
            buffered = sash.Stream.restore(buffered.save(), QUERIES)
            stepping = sash.Stream.restore(stepping.save(), QUERIES)
    assert buffered.save() == stepping.save()
    assert buffered.finish() == stepping.finish()


def test_bad_rows_are_refused_at_their_push_and_change_nothing() -> None:
    stream = sash.Stream(QUERIES, on="t", by="k", in_order=True)
    good = {"t": [1], "k": ["a"], "x": [1.0], "y": [1]}
    for _ in range(3):
        stream.push(good)
    before = stream.save()
    for _ in range(3):
        stream.push(good)
    bad: list[tuple[Any, type[Exception]]] = [
        ({**good, "x": ["high"]}, InvalidInput),
        ({**good, "y": [0.5]}, InvalidInput),
        ({**good, "y": [2**63]}, InvalidInput),
        ({**good, "y": [1, 2]}, InvalidInput),
        ({**good, "k": [1]}, InvalidInput),
        ({**good, "t": [0.5]}, InvalidInput),
        ({name: good[name] for name in ("t", "k", "x")}, UnknownName),
        ({**good, 7: [1]}, InvalidInput),
        ([good], InvalidInput),
    ]
    for rows, kind in bad:
        after = stream.save()
        stream.push(good)
        with pytest.raises(kind):
            stream.push(rows)
        assert stream.save() != after
    assert stream.save() != before
    assert stream.finish().column("n").to_pylist()[0] == 6 + len(bad)


def test_a_query_that_is_added_sees_buffered_rows() -> None:
    stream = sash.Stream(QUERIES[0], on="t", in_order=True)
    for at in range(5):
        stream.push({"t": [at], "x": [1.0], "y": [2]})
    stream.add(sash.query("five", sash.tumbling(5), n=sash.count()))
    for at in range(5, 8):
        stream.push({"t": [at], "x": [1.0], "y": [2]})
    assert [row["n"] for row in stream.finish().to_pylist()] == [8, 3]


def test_a_stream_whose_queries_were_removed_accepts_rows() -> None:
    stream = sash.Stream(QUERIES[0], on="t", in_order=True)
    stream.push({"t": [1], "x": [1.0], "y": [2]})
    stream.remove("ten")
    for at in range(2, 5):
        assert stream.push({"t": [at], "x": [1.0], "y": [2]}).num_rows == 0
    assert stream.watermark == 4


def test_more_rows_and_keys_than_a_buffer_holds() -> None:
    buffered, stepping = (sash.Stream(QUERIES, on="t", by="k", in_order=True) for _ in range(2))
    for at in range(3000):
        row: dict[str, list[Any]] = {"t": [at // 100], "k": [at * 7 % 97], "x": [at / 8], "y": [at]}
        assert buffered.push(row) == stepping.push(as_arrays(row))
    assert buffered.save() == stepping.save()
    assert buffered.state_bytes == stepping.state_bytes
