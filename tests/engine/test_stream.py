"""The stream and its relatives from the outside: kinds of tables, saving, changing queries, and what is remembered."""

import datetime as dt
import math
import random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash.algebra.compiler import JIT_DISABLED
from sash.engine.input_rows import read_input
from sash.engine.state import State
from sash.engine.step import step
from sash.engine.tables import read_rows
from sash.swag.state_bytes import pack

# Few sets: a kernel is compiled for each.
VALUES: dict[str, Any] = {"n": sash.count(), "s": sash.sum("x"), "m": sash.max("x")}
ORDERED: dict[str, Any] = {"n": sash.count(), "s": sash.sum("x"), "l": sash.last("x")}
FLOATS: dict[str, Any] = {"n": sash.count(), "s": sash.sum("y"), "m": sash.max("y")}
TEN = sash.query("ten", sash.tumbling(10), **VALUES)
START = dt.datetime(2024, 1, 1)

COLUMNS: dict[str, Any] = {
    "ts": [START + dt.timedelta(seconds=k) for k in (1, 12, 4, 25)],
    "k": ["a", "b", "a", None],
    "x": [1, 2, 3, 4],
}
KINDS: dict[str, Any] = {
    "dict": (COLUMNS, pa.Table),
    "arrow": (pa.table(COLUMNS), pa.Table),
    "batch": (pa.table(COLUMNS).to_batches()[0], pa.Table),
    "pandas": (pd.DataFrame(COLUMNS), pd.DataFrame),
    "polars": (pl.DataFrame(COLUMNS), pl.DataFrame),
}
SECONDS = sash.query("ten", sash.tumbling("10s"), **VALUES)


def as_arrow(table: Any) -> pa.Table:
    if isinstance(table, pd.DataFrame):
        return pa.Table.from_pandas(table, preserve_index=False)
    return table.to_arrow() if isinstance(table, pl.DataFrame) else table


# --- the same kind out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_aggregate_gives_back_the_kind_of_table_it_was_given(kind: str) -> None:
    rows, expected = KINDS[kind]
    found = sash.aggregate(rows, SECONDS, on="ts", by="k")
    assert isinstance(found, expected)
    told = [(row["k"], row["window_start"], row["s"]) for row in as_arrow(found).to_pylist()]
    assert sorted(told, key=str) == sorted(
        [("a", START, 4), ("b", START + dt.timedelta(seconds=10), 2), (None, START + dt.timedelta(seconds=20), 4)],
        key=str,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_rolling_gives_back_the_kind_of_table_it_was_given(kind: str) -> None:
    rows, expected = KINDS[kind]
    found = sash.rolling(rows, on="ts", by="k", range="5s", **VALUES)
    assert isinstance(found, expected)
    table = as_arrow(found)
    assert table.column_names == ["ts", "k", "x", "n", "s", "m"]
    assert table.column("s").to_pylist() == [1, 2, 4, 4]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pd.Series(COLUMNS["ts"]).astype("datetime64[ns]"), pa.timestamp("us")),
        (
            pd.Series(COLUMNS["ts"]).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),
            pa.timestamp("us", "Europe/Berlin"),
        ),
        (pl.Series(COLUMNS["ts"]).cast(pl.Datetime("ms")), pa.timestamp("us")),
        (pl.Series(COLUMNS["ts"]).cast(pl.Datetime("ns", "UTC")), pa.timestamp("us", "UTC")),
        (np.array(COLUMNS["ts"], "M8[s]"), pa.timestamp("us")),
        (pa.array([each.date() for each in COLUMNS["ts"]]), pa.timestamp("us")),
    ],
    ids=["ns", "zone", "ms", "ns UTC", "NumPy", "dates"],
)
def test_edges_of_windows_are_times_as_on_is(column: Any, kind: Any) -> None:
    found = sash.aggregate({"ts": column, "x": [1, 2, 3, 4]}, SECONDS, on="ts")
    assert found.schema.field("window_start").type == found.schema.field("window_end").type == kind
    assert sum(found.column("n").to_pylist()) == 4
    assert found.column("window_start").cast(pa.int64()).to_pylist()[0] == 1_704_067_200_000_000


# --- keys ------------------------------------------------------------------------------------------------------


def test_keys_of_several_columns_of_different_types() -> None:
    rows = pa.table(
        {
            "t": [1, 2, 3, 4, 5, 6, 7],
            "who": pa.array(["a", None, "a", None, "a", "b", "a"]).dictionary_encode(),
            "f": [0.0, math.nan, -0.0, math.nan, None, 1.5, None],
            "b": [True, False, True, False, None, True, None],
            "x": [1, 2, 3, 4, 5, 6, 7],
        }
    )
    wanted = [("a", "0.0", True, 4), (None, "nan", False, 6), ("a", "None", None, 12), ("b", "1.5", True, 6)]
    # Short tables are looked up otherwise than long ones.
    found = sash.aggregate(pa.concat_tables([rows] * 20), TEN, on="t", by=["who", "f", "b"])
    long = [(row["who"], str(row["f"]), row["b"], row["s"] // 20) for row in found.to_pylist()]
    assert sorted(long, key=str) == sorted(wanted, key=str)
    found = sash.aggregate(rows, TEN, on="t", by=["who", "f", "b"])
    told = [(row["who"], str(row["f"]), row["b"], row["s"]) for row in found.to_pylist()]
    assert sorted(told, key=str) == sorted(wanted, key=str)
    assert found.schema.field("who").type == pa.dictionary(pa.int32(), pa.string())
    stream = sash.Stream(TEN, on="t", by=["who", "f", "b"])
    for k in range(7):
        stream.push(rows.slice(k, 1))
    told = [(row["who"], str(row["f"]), row["b"], row["s"]) for row in stream.finish().to_pylist()]
    assert sorted(told, key=str) == sorted(wanted, key=str)


@pytest.mark.compiled
def test_many_keys_that_end_together_keep_their_names() -> None:
    rows = {"t": list(range(2000)), "k": [f"k{k}" for k in range(2000)], "x": [1] * 2000}
    assert sash.aggregate(rows, TEN, on="t", by="k").column("k").to_pylist() == rows["k"]
    stream = sash.Stream(TEN, on="t", by="k")
    stream.push(rows)
    assert stream.push({}, watermark=3000).column("k").to_pylist() == rows["k"]


# --- late rows, watermark, schema ------------------------------------------------------------------------------


def test_late_rows_are_drained() -> None:
    stream = sash.Stream(TEN, on="t", late="keep")
    assert stream.late().num_rows == 0
    stream.push({"t": [25], "x": [1], "other": ["a"]}, watermark=20)
    stream.push({"t": [3, 26, 4], "x": [2, 3, 4], "other": ["b", "c", "d"]})
    stream.push({"t": [5], "x": [6]})
    stream = sash.Stream.restore(stream.save(), TEN)
    assert stream.late().to_pylist() == [
        {"t": 3, "x": 2, "other": "b"},
        {"t": 4, "x": 4, "other": "d"},
        {"t": 5, "x": 6, "other": None},
    ]
    assert stream.late().num_rows == 0
    assert stream.late_count == 3


def test_watermark_is_told_in_the_unit_of_on() -> None:
    stream = sash.Stream(TEN, on="t")
    marks = [stream.watermark]
    for rows, mark in (({"t": [1], "x": [1]}, None), ({}, 7), ({}, 3), ({}, math.inf)):
        stream.push(rows, watermark=mark)
        marks.append(stream.watermark)
    assert marks == [None, None, 7, 7, math.inf]
    delayed = sash.Stream(SECONDS, on="ts", watermark="2s")
    delayed.push(COLUMNS)
    assert delayed.watermark == START + dt.timedelta(seconds=23)
    ordered = sash.Stream(TEN, on="t", in_order=True)
    ordered.push({"t": [5, 3, 9], "x": [1, 2, 3]})
    assert (ordered.watermark, ordered.late_count) == (9, 1)


@pytest.mark.parametrize("options", [{}, {"allowed_lateness": 5}, {"emit": "updates"}], ids=str)
def test_results_have_one_schema_even_when_there_are_none(options: dict[str, Any]) -> None:
    stream = sash.Stream([TEN, sash.query("rows", sash.tumbling(rows=2), **VALUES)], on="t", by="k", **options)
    empty = stream.push({"t": [1], "k": ["a"], "x": [1]})
    full = stream.push({"t": [2, 30], "k": ["a", "b"], "x": [1, 5]}, watermark=20)
    after = stream.finish()
    assert full.num_rows > 0
    assert empty.schema == full.schema == after.schema
    assert empty.column_names[:4] == ["k", "query", "window_start", "window_end"]


# --- step is a function ----------------------------------------------------------------------------------------


def drawn(seed: int, count: int, keys: int = 3, stray: int = 8) -> dict[str, list[Any]]:
    dice = random.Random(seed)
    return {
        "t": [k // 3 - dice.randrange(stray + 1) for k in range(count)],
        "k": [f"k{dice.randrange(keys)}" for _ in range(count)],
        "x": [dice.choice([None, *range(9)]) for _ in range(count)],
        "new": [dice.random() < 0.1 for _ in range(count)],
    }


def part(rows: dict[str, list[Any]], begin: int, end: int) -> dict[str, Any]:
    return {
        "t": rows["t"][begin:end],
        "k": rows["k"][begin:end],
        "x": pa.array(rows["x"][begin:end], pa.int64()),
        "new": rows["new"][begin:end],
    }


COMMUTATIVE_SET = [
    TEN,
    sash.query("over", sash.sliding(12, every=5), **VALUES),
    sash.query("visits", sash.session(gap=2), **VALUES),
]
ORDERED_SET = [
    sash.query("ten", sash.tumbling(10), **ORDERED),
    sash.query("visits", sash.session(gap=2), **ORDERED),
    sash.query("rows", sash.sliding(rows=5, every=3), **ORDERED),
    sash.query("shifts", sash.punctuated("new"), **ORDERED),
    sash.query("recent", sash.sliding(rows=3, every=dt.timedelta(microseconds=7)), **ORDERED),
]
SETS = {"commutative": COMMUTATIVE_SET, "ordered": ORDERED_SET}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("lateness", [0, 6])
def test_step_leaves_the_state_it_was_given_as_it_was(name: str, lateness: int) -> None:
    rows = drawn(5, 90)
    plan = sash.explain(part(rows, 0, 5), SETS[name], on="t", by="k", allowed_lateness=lateness)
    state = State.empty(plan)
    for begin in range(0, 90, 15):
        before = pack(state.save())
        batch = read_input(plan, read_rows(part(rows, begin, begin + 15)))
        once, results, rejected = step(plan, state, batch, begin // 3 - 4)
        twice, again, rejected_again = step(plan, state, batch, begin // 3 - 4)
        assert pack(state.save()) == before
        assert results.equals(again) and rejected.tolist() == rejected_again.tolist()
        assert pack(once.save()) == pack(twice.save())
        state = once


# --- saving ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("lateness", [0, 6])
def test_a_stream_restored_anywhere_goes_on_as_if_it_had_never_stopped(name: str, lateness: int) -> None:
    rows, queries = drawn(9, 120), SETS[name]
    stream = sash.Stream(queries, on="t", by="k", allowed_lateness=lateness, late="keep")
    others: list[sash.Stream] = []
    for begin in range(0, 120, 12):
        others.append(sash.Stream.restore(stream.save(), queries))
        results = [each.push(part(rows, begin, begin + 12), watermark=begin // 3 - 6) for each in (stream, *others)]
        assert all(each.equals(results[0]) for each in results[1:])
        assert all(each.save() == stream.save() for each in others)


def test_a_saved_stream_is_the_same_bytes_when_saved_again() -> None:
    for queries in SETS.values():
        stream = sash.Stream(queries, on="t", by="k", allowed_lateness=4)
        stream.push(part(drawn(2, 60), 0, 60), watermark=9)
        blob = stream.save()
        assert stream.save() == blob
        assert sash.Stream.restore(blob, queries).save() == blob


# --- queries that come and go --------------------------------------------------------------------------------------


def told(table: pa.Table) -> list[tuple[Any, ...]]:
    return [(row["query"], row["window_start"], row["window_end"], row["n"], row["s"]) for row in table.to_pylist()]


def test_a_rejected_row_is_not_the_last_row_of_the_stream() -> None:
    window = sash.sliding(rows=9, every=dt.timedelta(microseconds=10), offset=dt.timedelta(microseconds=5))
    stream = sash.Stream(sash.query("q", window, n=sash.count()), on="t")
    assert stream.push({"t": [1]}, watermark=10).column("window_end").to_pylist() == [5]
    stream.push({"t": [8]})
    assert stream.late_count == 1
    assert stream.finish().num_rows == 0  # 15 is the first multiple after 8, and 10 was told


def test_a_row_that_is_too_far_out_does_not_move_the_watermark() -> None:
    stream = sash.Stream(sash.query("q", sash.tumbling(0.5), n=sash.count()), on="t", watermark=1.0)
    assert stream.push({"t": [1.0, 1e300]}).num_rows == 0
    assert (stream.watermark, stream.late_count) == (0.0, 1)
    assert stream.push({"t": [1.25, 3.0]}).column("n").to_pylist() == [2]


def test_an_added_query_sees_what_is_kept_and_reports_what_ends_later() -> None:
    stream = sash.Stream(TEN, on="t")
    stream.push({"t": [1, 11, 12], "x": [1, 2, 3]}, watermark=10)
    stream.add(sash.query("long", sash.tumbling(20), **VALUES))
    stream.push({"t": [14], "x": [4]})
    found = told(stream.push({}, watermark=20))
    assert ("ten", 10, 20, 3, 9) in found
    stream.push({"t": [21, 35], "x": [5, 6]})
    assert told(stream.push({}, watermark=40)) == [
        ("ten", 20, 30, 1, 5),
        ("ten", 30, 40, 1, 6),
        ("long", 20, 40, 2, 11),
    ]


def test_a_removed_query_sends_nothing_and_the_others_go_on() -> None:
    stream = sash.Stream([TEN, sash.query("five", sash.tumbling(5), **VALUES)], on="t")
    stream.push({"t": [1, 6], "x": [1, 2]})
    stream.remove("five")
    assert told(stream.push({"t": [7], "x": [3]}, watermark=10)) == [("ten", 0, 10, 3, 6)]
    stream.add(sash.query("five", sash.tumbling(5), **VALUES))
    assert told(stream.push({"t": [11, 16], "x": [4, 5]}, watermark=20)) == [
        ("ten", 10, 20, 2, 9),
        ("five", 10, 15, 1, 4),
        ("five", 15, 20, 1, 5),
    ]


def test_removing_a_query_frees_the_fields_that_only_it_needed() -> None:
    stream = sash.Stream([sash.query("n", sash.tumbling(10), n=sash.count()), TEN], on="t", by="k")
    stream.push({"t": list(range(3000)), "k": [f"k{k % 9}" for k in range(3000)], "x": [1] * 3000})
    before, fields = stream.state_bytes, stream.plan.bytes_per_slice() if stream.plan else 0
    stream.remove("ten")
    assert stream.plan is not None and stream.plan.bytes_per_slice() < fields
    assert stream.state_bytes < before
    assert len(stream.push({}, watermark=10)) == 9


# --- what is remembered ----------------------------------------------------------------------------------------------

SHARE = 10 if JIT_DISABLED else 1  # what is looped over in Python is a tenth


def state_of(stream: "sash.Stream") -> State:
    assert stream._state is not None
    return stream._state


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["grid", "session", "ordered"])
def test_state_stays_flat_while_keys_come_and_go(name: str) -> None:
    queries = {
        "grid": [TEN, sash.query("over", sash.sliding(12, every=5), **VALUES)],
        "session": [sash.query("visits", sash.session(gap=2), **VALUES)],
        "ordered": [sash.query("ten", sash.tumbling(10), **ORDERED)],
    }[name]
    stream = sash.Stream(queries, on="t", by="k")
    total, size = 300_000 // SHARE, 5_000 // SHARE
    sizes, slots = [], []
    for begin in range(0, total, size):
        at = np.arange(begin, begin + size)
        stream.push({"t": at // 10, "k": at // (400 // SHARE), "x": at % 7}, watermark=begin // 10)
        sizes.append(stream.state_bytes)
        slots.append(state_of(stream).keys.capacity)
    third = len(sizes) // 3
    assert sizes[-1] <= 1.5 * max(sizes[: third + 1])
    assert slots[-1] <= 1.5 * max(slots[: third + 1])
    assert len(state_of(stream).keys) <= 1.5 * max(slots[: third + 1])


@pytest.mark.compiled
def test_memory_of_a_time_window_does_not_depend_on_the_number_of_rows() -> None:
    sizes = []
    for count in (1_000, 100_000 // SHARE):
        stream = sash.Stream(TEN, on="t", by="k")
        at = np.arange(count)
        for _ in range(3):
            stream.push({"t": at % 100, "k": at % 5, "x": at % 7})
        sizes.append(stream.state_bytes)
    assert sizes[0] == sizes[1]


def test_a_session_that_lasts_very_long_keeps_few_slices() -> None:
    stream = sash.Stream(sash.query("visits", sash.session(gap=2), **VALUES), on="t")
    total = 200_000 // SHARE
    for begin in range(0, total, 10_000):
        stream.push({"t": np.arange(begin, begin + 10_000), "x": np.ones(10_000, np.int64)}, watermark=begin)
        assert state_of(stream).slices.used <= 300
    (row,) = stream.finish().to_pylist()
    assert (row["window_start"], row["window_end"], row["n"]) == (0, total + 1, total)


@pytest.mark.parametrize("name", ["commutative", "ordered", "in order"])
@pytest.mark.parametrize("lateness", [0, 6])
def test_slices_keep_their_lines_after_every_push(name: str, lateness: int) -> None:
    queries = SETS.get(name, ORDERED_SET)
    options: dict[str, Any] = {"in_order": True} if name == "in order" else {"allowed_lateness": lateness}
    for seed in range(8):
        rows = drawn(seed, 400, stray=[0, 3, 12][seed % 3])
        stream = sash.Stream(queries, on="t", by="k", **options)
        for begin in range(0, 400, 25):
            stream.push(part(rows, begin, begin + 25), watermark=None if name == "in order" else begin // 3 - 3)
            state_of(stream).slices.check()
        stream.finish()
        state_of(stream).slices.check()


# --- peers -------------------------------------------------------------------------------------------------------


def frame(seed: int, count: int) -> pd.DataFrame:
    dice = np.random.default_rng(seed)
    seconds = np.sort(dice.choice(4 * count, count, replace=False))
    values = dice.normal(100, 30, count)
    values[dice.random(count) < 0.1] = np.nan
    return pd.DataFrame({"ts": pd.to_datetime(1_700_000_000 + seconds, unit="s"), "y": values})


def close(found: Any, wanted: Any) -> bool:
    one, other = (np.asarray(each, np.float64) for each in (found, wanted))
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-9, atol=1e-9, equal_nan=True))


def test_rolling_is_what_pandas_says() -> None:
    rows = frame(1, 2000)
    indexed = rows.set_index("ts")["y"]
    found = sash.rolling(rows, on="ts", range="90s", closed="right", **FLOATS)
    assert close(found["s"], indexed.rolling("90s").sum())
    assert close(found["m"], indexed.rolling("90s").max())
    found = sash.rolling(rows, on="ts", rows=50, min_samples=20, **FLOATS)
    assert close(found["s"], rows["y"].rolling(50, min_periods=20).sum())
    assert close(found["m"], rows["y"].rolling(50, min_periods=20).max())


def test_rolling_and_windows_are_what_polars_says() -> None:
    rows = pl.from_pandas(frame(2, 2000))
    peer = rows.rolling("ts", period="90s", closed="right").agg(
        pl.len().alias("n"), pl.sum("y"), pl.max("y").alias("m")
    )
    found = sash.rolling(rows, on="ts", range="90s", closed="right", **FLOATS)
    assert isinstance(found, pl.DataFrame)
    assert found["n"].to_list() == peer["n"].to_list()
    # Polars' sum of nulls is 0, and null here.
    assert close(found["s"].fill_null(0.0), peer["y"]) and close(found["m"], peer["m"])
    grid = rows.group_by_dynamic("ts", every="30s", period="100s", offset="5s", start_by="window").agg(
        pl.len().alias("n"), pl.sum("y"), pl.max("y").alias("m")
    )
    query = sash.query("q", sash.sliding("100s", every="30s", offset="5s"), **FLOATS)
    windows = sash.aggregate(rows, query, on="ts").sort("window_start")
    joined = grid.join(windows, left_on="ts", right_on="window_start")
    assert joined.height == grid.height
    assert joined["n"].to_list() == joined["n_right"].to_list()
    assert close(joined["s"].fill_null(0.0), joined["y"]) and close(joined["m_right"], joined["m"])


def test_a_stream_of_times_may_end_before_its_first_row() -> None:
    stream = sash.Stream(sash.query("q", sash.tumbling("1 minute"), n=sash.count()), on="t")
    stream.push({}, watermark=dt.datetime(2026, 1, 1))
    assert stream.finish().num_rows == 0
    assert stream.watermark == math.inf
    assert stream.push({}, watermark=dt.datetime(2026, 1, 2)).num_rows == 0
    assert stream.watermark == math.inf


@pytest.mark.parametrize("aggregate", [sash.last("x"), sash.max("x"), sash.median("x"), sash.collect("x")])
def test_results_do_not_depend_on_the_store(aggregate: Any) -> None:
    """A tree, or none: also for medians and lists, which have neither, and after a restart."""
    queries = [
        sash.query("wide", sash.sliding(40, every=1), a=aggregate),
        sash.query("ten", sash.tumbling(10), a=aggregate),
    ]
    found = {}
    for store in ("auto", "lazy", "eager"):
        stream = sash.Stream(queries, on="t", by="k", allowed_lateness=5, store=store)  # type: ignore[arg-type]
        sent = []
        for at in range(0, 120, 7):
            rows = {"t": [at + 3, at, at + 5], "k": ["a", "b", "a"], "x": [at % 11, at % 5, at]}
            sent += stream.push(rows, watermark=at).to_pylist()
            stream = sash.Stream.restore(stream.save(), queries) if at % 2 else stream
        assert stream.options.store == store
        assert stream.plan is not None
        if store != "auto":
            assert bool(stream.plan.tree.choice) is (store == "eager")
            assert f"store   {store}, because store={store!r} was given" in str(stream.plan)
        found[store] = sorted(map(repr, sent + stream.finish().to_pylist()))
    assert found["auto"] == found["lazy"] == found["eager"]
    table = {"t": [*range(100)], "x": [k * 7 % 13 for k in range(100)]}
    lazy, eager = (sash.aggregate(table, queries, on="t", store=store) for store in ("lazy", "eager"))  # type: ignore[arg-type]
    assert lazy.equals(eager)
