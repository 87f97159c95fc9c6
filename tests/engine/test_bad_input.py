"""Whatever is pushed: a result or one sentence, and a refused push changes nothing."""

import datetime as dt
import math
import subprocess
import sys
import time
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.errors import InvalidInput, InvalidQuery, InvalidState, SashError
from tests.accepting import accepting, mostly
from tests.refusals.case import check
from tests.refusals.pushes import FIRST, LATER

# One set for all: a kernel is compiled for each.
VALUES: dict[str, Any] = {"n": sash.count(), "s": sash.sum("x"), "m": sash.max("x")}
TEN = sash.query("ten", sash.tumbling(10), **VALUES)


def begun(**options: Any) -> "sash.Stream":
    stream = sash.Stream([TEN], on="t", by="k", **{"late": "keep", **options})
    stream.push({"t": [1, 12], "k": ["a", "b"], "x": [1, 2]}, watermark=5)
    return stream


def goes_on(stream: "sash.Stream") -> None:
    found = stream.push({"t": [15], "k": ["b"], "x": [5]}, watermark=20).to_pylist()
    assert [(row["k"], row["window_start"], row["n"], row["s"]) for row in found] == [("a", 0, 1, 1), ("b", 10, 2, 7)]


def one_sentence_or_two(error: BaseException) -> None:
    text = str(error)
    assert text and "\n" not in text and text.rstrip().endswith("."), text
    assert not isinstance(error, AssertionError)


# --- a refused push changes nothing ------------------------------------------------------------------------


@pytest.mark.parametrize("case", LATER)
def test_a_refused_push_changes_nothing(case: str) -> None:
    rows, watermark, error, message = LATER[case]
    stream = begun()
    before = stream.save()
    check((lambda: stream.push(rows, watermark=watermark), error, message))
    assert stream.save() == before
    assert stream.late().num_rows == 0
    goes_on(stream)


@pytest.mark.parametrize("case", FIRST)
def test_a_stream_whose_first_push_is_refused_has_not_begun(case: str) -> None:
    rows, watermark, error, message = FIRST[case]
    stream = sash.Stream([TEN], on="t", by="k")
    before = stream.save()
    check((lambda: stream.push(rows, watermark=watermark), error, message))
    assert stream.save() == before and stream.plan is None
    stream.push({"t": [1, 12], "k": ["a", "b"], "x": [1, 2]}, watermark=5)
    goes_on(stream)


@pytest.mark.parametrize("case", FIRST)
def test_tables_are_refused_in_the_same_words(case: str) -> None:
    rows, watermark, error, message = FIRST[case]
    if case == "a sum of decimals":  # a table knows the digits of all of them, a stream those of the first rows only
        assert sash.aggregate(rows, TEN, on="t", by="k")["s"].to_pylist() == [Decimal("1.5")]
    elif watermark is None:
        check((lambda: sash.aggregate(rows, TEN, on="t", by="k"), error, message))


def test_nothing_at_all_is_fine() -> None:
    stream = begun()
    before = stream.save()
    nothing: list[Any] = [{}, {"t": [], "k": [], "x": []}, pa.table({"t": pa.array([], pa.int64()), "k": [], "x": []})]
    for rows in nothing:
        assert stream.push(rows).num_rows == 0
    assert stream.save() == before
    assert sash.Stream(TEN, on="t").push({}).num_rows == 0
    assert sash.Stream(TEN, on="t").finish().num_rows == 0


def test_rows_after_the_end_are_late_not_lost() -> None:
    stream = sash.Stream(TEN, on="t", late="keep")
    stream.push({"t": [1, 2], "x": [1, 2]})
    assert stream.finish().num_rows == 1
    assert stream.push({"t": [100], "x": [1]}).num_rows == 0
    assert (stream.late_count, stream.late().column("t").to_pylist()) == (1, [100])


# --- positions that are none, or extreme -------------------------------------------------------------------


@pytest.mark.parametrize("late", ["count", "keep"])
def test_rows_without_a_position_are_counted_and_kept_with_the_late_ones(late: Any) -> None:
    stream = sash.Stream(TEN, on="t", late=late)
    stream.push({"t": [1, None, 2], "x": [1, 2, 3]})
    stream.push({"t": [None], "x": [4]})
    stream.push(pa.table({"t": pa.array([3.0, math.nan, math.inf, -math.inf]), "x": [5, 6, 7, 8]}))
    assert stream.late_count == 5
    if late == "keep":
        assert stream.late().column("x").to_pylist() == [2, 4, 6, 7, 8]
    (row,) = stream.finish().to_pylist()
    assert (row["n"], row["s"]) == (3, 9)


def test_a_table_of_rows_without_a_position_has_no_windows() -> None:
    assert sash.aggregate({"t": [None, None], "x": [1, 2]}, TEN, on="t").num_rows == 0
    found = sash.rolling({"t": [None, 2, 1], "x": [1, 2, 3]}, on="t", rows=2, **VALUES)
    assert found.column("s").to_pylist() == [None, 5, 3]


FAR = 2**61 - 1000
WINDOWS = [
    sash.tumbling(10),
    sash.sliding(10, every=3),
    sash.session(gap=5),
    sash.cumulative(10, every=5),
    sash.sliding(3, every=7),
]


def by_hand(window: Any, position: int) -> int:
    """How many windows hold a row that is alone."""
    size, every = getattr(window, "size", 1), getattr(window, "every", 1)
    if hasattr(window, "gap"):
        return 1
    if str(window).startswith("cumulative"):
        return (size - position % size - 1) // every + 1
    return sum(1 for start in range(position - size + 1, position + 1) if start % every == 0)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("edge", [FAR, 2**61], ids=["near", "at"])
def test_extreme_positions_are_fast_and_right(window: Any, edge: int) -> None:
    began = time.perf_counter()
    places = [-edge, -1, 0, edge]
    found = sash.aggregate({"t": places, "x": [1, 2, 3, 4]}, sash.query("q", window, **VALUES), on="t")
    stream = sash.Stream(sash.query("q", window, **VALUES), on="t")
    for place, x in zip(places, [1, 2, 3, 4], strict=True):
        stream.push({"t": [place], "x": [x]}, watermark=place)
    stream.finish()
    rows = found.to_pylist()
    for place, x in ((-edge, 1), (edge, 4)):
        held = [row for row in rows if row["s"] == x and row["n"] == 1]
        assert len(held) == by_hand(window, place), (place, held)
        assert all(row["window_end"] is not None and row["window_start"] <= place < row["window_end"] for row in held)
    assert time.perf_counter() - began < 30


def test_integers_beyond_what_can_be_computed_with_have_no_position() -> None:
    stream = sash.Stream(TEN, on="t")
    stream.push({"t": [-(2**63), 5, 2**63 - 1, 2**61 + 1], "x": [1, 2, 3, 4]})
    assert stream.late_count == 3
    assert stream.finish().column("s").to_pylist() == [2]


@pytest.mark.parametrize(
    "window", [sash.tumbling("1s"), sash.session(gap="1s"), sash.sliding("1 day", every="7h")], ids=str
)
def test_years_1_and_9999_are_fast_and_right(window: Any) -> None:
    first, last = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
    found = sash.aggregate({"t": [first, last], "x": [1, 2]}, sash.query("q", window, **VALUES), on="t")
    starts, ends = (found.column(name).cast(pa.int64()).to_pylist() for name in ("window_start", "window_end"))
    epoch = dt.datetime(1970, 1, 1)
    places = {1: (first - epoch) // dt.timedelta(microseconds=1), 2: (last - epoch) // dt.timedelta(microseconds=1)}
    assert set(found.column("s").to_pylist()) == {1, 2}
    for start, end, s in zip(starts, ends, found.column("s").to_pylist(), strict=True):
        assert start <= places[s] < end


HUGE = """
import sash
rows = {"t": [-1e300, -1e17, 0.0, 1e17, 1e300], "x": [1, 2, 3, 4, 5]}
windows = sash.session(gap=0.5), sash.tumbling(1.0), sash.sliding(1.0, every=0.25), sash.cumulative(1.0, every=0.5)
for window in windows:
    stream = sash.Stream(sash.query("q", window, n=sash.count(), s=sash.sum("x"), m=sash.max("x")), on="t")
    found = stream.push(rows, watermark=float("inf"))
    assert stream.late_count == 4
    assert set(found.column("s").to_pylist()) == {3}, (str(window), found.column("s").to_pylist())
"""


def test_floats_too_large_for_their_windows_have_no_position() -> None:
    # In a process of its own: a kernel that never ends cannot be interrupted.
    done = subprocess.run([sys.executable, "-c", HUGE], capture_output=True, text=True, timeout=45, check=False)
    assert done.returncode == 0, done.stderr[-500:]


# --- options, queries ---------------------------------------------------------------------------------------


def test_queries_that_cannot_be_added_or_removed_change_nothing() -> None:
    stream = begun()
    before = stream.save()
    changes: list[tuple[Any, str]] = [
        (lambda: stream.remove("eleven"), "no query 'eleven'.* known ones: ten"),
        (lambda: stream.add(TEN), "Two queries are named 'ten'"),
        (lambda: stream.add(sash.query("z", sash.tumbling(5), s=sash.sum("zz"))), "no column 'zz'"),
        (lambda: stream.add(sash.query("z", sash.tumbling(2.5), s=sash.sum("x"))), r"2\.5, but `on` is an integer"),
        (lambda: stream.add(5), "Expected a query"),  # type: ignore[arg-type]
    ]
    for change, message in changes:
        with pytest.raises(SashError, match=message):
            change()
        assert stream.save() == before
    goes_on(stream)


def test_a_stream_without_queries_takes_rows_and_another_query() -> None:
    stream = begun()
    stream.remove("ten")
    assert stream.push({"t": [13], "k": ["a"], "x": [1]}, watermark=30).num_rows == 0
    stream.add(TEN)
    (row,) = stream.push({"t": [33], "k": ["a"], "x": [4]}, watermark=40).to_pylist()
    assert (row["window_start"], row["n"], row["s"]) == (30, 1, 4)


# --- watermarks before the first row ------------------------------------------------------------------------


def test_watermarks_before_the_first_row_hold_for_it() -> None:
    stream = sash.Stream(TEN, on="t")
    for mark in (3, 10, 7):
        stream.push({}, watermark=mark)
    assert stream.watermark == 10
    stream = sash.Stream.restore(stream.save(), TEN)
    stream.push({"t": [9, 10], "x": [1, 2]})
    assert (stream.late_count, stream.watermark) == (1, 10)


@pytest.mark.parametrize("mark", ["soon", math.nan, True, [1], np.timedelta64(1, "s")], ids=repr)
def test_a_watermark_that_can_never_be_one_is_refused_before_the_first_row(mark: Any) -> None:
    stream = sash.Stream(TEN, on="t")
    before = stream.save()
    with pytest.raises(InvalidInput, match="watermark must be a number or a time"):
        stream.push({}, watermark=mark)
    assert stream.save() == before and stream.watermark is None


@pytest.mark.parametrize("mark", [np.datetime64("2024-01-01T00:00:10"), dt.datetime(2024, 1, 1, 0, 0, 10)], ids=repr)
def test_watermarks_of_time_before_the_first_row_are_saved(mark: Any) -> None:
    query = sash.query("ten", sash.tumbling("10s"), **VALUES)
    stream = sash.Stream(query, on="t")
    stream.push({}, watermark=mark)
    with pytest.raises(InvalidInput, match="of the same kind as the watermark before it"):
        stream.push({}, watermark=5)
    stream = sash.Stream.restore(stream.save(), query)
    stream.push({"t": [dt.datetime(2024, 1, 1, 0, 0, 9)], "x": [1]})
    assert stream.late_count == 1


def test_a_watermark_beyond_the_years_of_python_is_told_in_microseconds() -> None:
    stream = sash.Stream(sash.query("ten", sash.tumbling("10s"), n=sash.count()), on="t")
    stream.push({"t": [dt.datetime(2024, 1, 1)]}, watermark=2**60)
    assert stream.watermark == 2**60 and str(2**60) in repr(stream)


# --- bytes that are no stream --------------------------------------------------------------------------------


def test_bytes_that_are_no_stream_are_refused() -> None:
    blob = begun().save()
    window = sash.swag.open("daba_lite", sash.max())
    window.insert(3)
    foreign: list[Any] = [b"", b"SASH", b"x" * 200, None, "text", 5, [1], window.save()]
    for each in foreign:
        with pytest.raises(InvalidState, match="not a saved stream"):
            sash.Stream.restore(each, TEN)
    with pytest.raises(InvalidState, match="not a saved window"):
        sash.swag.open("daba_lite", sash.max()).restore(blob)


@settings(max_examples=60)
@given(data=st.data())
def test_bytes_that_were_cut_or_flipped_are_refused(data: st.DataObject) -> None:
    blob = begun().save()
    if data.draw(st.booleans()):
        bad = blob[: data.draw(st.integers(0, len(blob) - 1))]
    else:
        at = data.draw(st.integers(0, len(blob) - 1))
        bad = blob[:at] + bytes([blob[at] ^ 1 << data.draw(st.integers(0, 7))]) + blob[at + 1 :]
    with pytest.raises(InvalidState) as caught:
        sash.Stream.restore(bad, TEN)
    one_sentence_or_two(caught.value)


def test_a_changed_set_of_queries_is_migrated_or_refused() -> None:
    blob = begun().save()
    other = sash.query("other", sash.tumbling(5), **VALUES)
    with pytest.raises(InvalidState, match=r"Saved: ten: tumbling 10: .* Given: ten: tumbling 20: "):
        sash.Stream.restore(blob, sash.query("ten", sash.tumbling(20), **VALUES))
    with pytest.raises(InvalidState, match="saved with the queries ten, but none of them is among other"):
        sash.Stream.restore(blob, other)
    with pytest.raises(InvalidQuery, match="no query"):
        sash.Stream.restore(blob, [])
    added = sash.Stream.restore(blob, [TEN, other])
    found = added.push({"t": [13], "k": ["b"], "x": [9]}, watermark=20).to_pylist()
    assert [(row["query"], row["k"], row["window_start"], row["s"]) for row in found] == [
        ("ten", "a", 0, 1),
        ("ten", "b", 10, 11),
        ("other", "b", 10, 11),
    ]
    removed = sash.Stream.restore(added.save(), TEN)
    assert [each.name for each in removed.queries] == ["ten"]
    assert removed.push({"t": [23], "k": ["b"], "x": [9]}, watermark=30).column("s").to_pylist() == [9]


# --- anything at all -----------------------------------------------------------------------------------------

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-20, 40),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.datetimes(),
    st.dates(),
    st.timedeltas(),
    st.decimals(allow_nan=True),
    st.lists(st.integers(), max_size=2),
    st.just(object),
)
COLUMNS = st.one_of(
    st.lists(CELLS, max_size=3),
    st.none(),
    st.integers(),
    st.text(max_size=2),
    st.just(np.zeros((2, 2))),
    st.just(np.array([1, 2])),
    st.just(np.array(["2024", "NaT"], "M8[s]")),
    st.just(pa.array([1, None])),
    st.just(pa.array([{"a": 1}, None])),
)
NUMBERS = st.lists(st.integers(0, 40), min_size=2, max_size=2)
TEXTS = st.lists(st.sampled_from(["a", "b", None]), min_size=2, max_size=2)
TABLES = mostly(
    st.fixed_dictionaries({"t": mostly(NUMBERS, COLUMNS), "k": mostly(TEXTS, COLUMNS), "x": mostly(NUMBERS, COLUMNS)}),
    st.dictionaries(st.sampled_from(["t", "k", "x", "y", 1, None]), COLUMNS, max_size=3) | CELLS,
)
MARKS = mostly(st.none(), CELLS)


@accepting(0.1, examples=250, rows=TABLES, mark=MARKS)
def test_whatever_is_pushed_is_taken_or_refused_whole(rows: Any, mark: Any) -> bool:
    stream = begun()
    before = stream.save()
    try:
        stream.push(rows, watermark=mark)
    except SashError:
        assert stream.save() == before
        goes_on(stream)
        return False
    assert sash.Stream.restore(stream.save(), TEN).save() == stream.save()
    return True


TIMES = mostly(st.lists(st.datetimes(), min_size=2, max_size=2), COLUMNS)


@accepting(
    0.05,
    examples=150,
    rows=st.fixed_dictionaries({"t": TIMES, "k": mostly(TEXTS, COLUMNS), "x": st.just([1, 2])}),
    mark=MARKS,
)
def test_whatever_comes_first_is_taken_or_refused_whole(rows: Any, mark: Any) -> bool:
    stream = sash.Stream(sash.query("q", sash.tumbling("1s"), **VALUES), on="t", by="k")
    before = stream.save()
    try:
        stream.push(rows, watermark=mark)
    except SashError:
        assert stream.save() == before
        return False
    return True
