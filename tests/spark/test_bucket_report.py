"""What a bucket reports of its rows equals what a loop over them finds, and stays short."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.spark.wire import bucket_report
from sash.spark.wire.bucket_report import BINS, BucketReport, report_of
from sash.windows.measure import Measure, MeasureKind

INTEGER = Measure(MeasureKind.INTEGER)
NO_REASONS = pa.array([], pa.string())


def report(times: Any, keys: Any, newest: Any, measure: Measure = INTEGER, kind: Any = None) -> BucketReport:
    table = pa.table({"t": pa.array(times, kind or pa.int64()), "k": keys})
    return report_of(3, table, 0, NO_REASONS, newest, "t", ["k"], measure)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.none() | st.integers(-(10**9), 10**9), st.sampled_from("abcd"))), st.integers(-100, 10**9))
def test_lateness_keys_and_positions_are_those_of_the_rows(rows: Any, newest: int) -> None:
    found = report([t for t, _ in rows], pa.array([k for _, k in rows], pa.string()), newest)
    known = sorted(t for t, _ in rows if t is not None)
    late = [newest - t for t in known if t < newest]
    assert found.rows == len(rows)
    assert found.on_time == len(known) - len(late) and found.sampled == len(known)
    bins: dict[int, int] = {}
    for each in late:
        place = next(i for i in range(-1, 200) if each < 2 ** ((i + 1) / BINS))
        bins[place] = bins.get(place, 0) + 1
    assert found.behind == tuple(sorted(bins.items()))
    counts = sorted((-sum(k == key for _, k in rows), key) for key in {k for _, k in rows})
    assert [rows for _, rows in found.keys] == [-count for count, _ in counts[:3]]
    assert (found.positions[:1], found.positions[-1:]) == (tuple(known[:1]), tuple(known[-1:]))
    assert BucketReport.from_text(found.to_text()) == found


def test_before_the_first_row_nothing_is_behind() -> None:
    assert report([5, 1], ["a", "a"], INTEGER.lowest).on_time == 2


def test_times_are_in_microseconds() -> None:
    times = [np.datetime64("2026-01-01T00:00:00", "us")]
    newest = int(times[0].astype(np.int64)) + 1_000_000
    found = report(times, ["a"], newest, Measure(MeasureKind.TIME), pa.timestamp("us"))
    assert found.behind == ((math.floor(BINS * math.log2(1e6)), 1),)


def test_a_large_micro_batch_is_sampled_and_its_report_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(1)
    times = 10**15 - (2 ** (dice.random(100_000) * 49)).astype(np.int64)
    keys = pa.array([f"{'x' * 500}{each}" for each in dice.integers(0, 9, 100_000)])
    found = report(times, keys, 10**15)
    assert sum(rows for _, rows in found.keys) == pytest.approx(33_333, rel=0.2)
    assert found.rows == 100_000 and 1024 < found.sampled <= bucket_report.SAMPLED
    assert all(len(text) <= bucket_report.MOST_TEXT for (text,), _ in found.keys)
    assert len(found.to_text()) < 4000


@pytest.mark.parametrize(
    ("keys", "texts"),
    [
        (pa.array([1.5, None, 1.5]), ["1.5", "null"]),
        (pa.array([True, True, False]), ["true", "false"]),
        (pa.array([b"\xff", b"\xff", b"a"]), ["b'\\xff'", "b'a'"]),
        (pa.array([{"a": 1}] * 3), []),  # Arrow does not group by nested values
    ],
)
def test_keys_of_any_type_are_texts(keys: Any, texts: list[str]) -> None:
    assert [text for (text,), _ in report([1, 2, 3], keys, 0).keys] == texts


def test_position_that_is_a_key_and_streams_without_keys() -> None:
    table = pa.table({"t": [1, 1, 2]})
    assert report_of(0, table, 2, NO_REASONS, 0, "t", ["t"], INTEGER).keys == ((("1",), 2), (("2",), 1))
    without = report_of(0, table, 2, NO_REASONS, 0, "t", [], INTEGER)
    assert without.keys == () and without.rows == 5


def test_reasons_are_counted() -> None:
    reasons = pa.array(["late", "none", "late"])
    found = report_of(0, pa.table({"t": [1]}), 0, reasons, 0, "t", [], INTEGER)
    assert dict(found.rejected) == {"late": 2, "none": 1}
