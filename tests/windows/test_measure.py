import datetime as dt
import math
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import InvalidInput
from sash.windows.measure import Measure, MeasureKind

TIME = Measure.of(pa.timestamp("us"))
INTEGER = Measure.of(pa.int64())
FLOAT = Measure.of(pa.float64())
NEW_YEAR = dt.datetime(2024, 1, 1)
NEW_YEAR_US = 1_704_067_200_000_000


@pytest.mark.parametrize(
    ("kind", "measure"),
    [
        (pa.timestamp("ns"), TIME),
        (pa.timestamp("s"), TIME),
        (pa.timestamp("ms", "Asia/Tokyo"), Measure(MeasureKind.TIME, pa.timestamp("us", "Asia/Tokyo"))),
        (pa.date32(), TIME),
        (pa.date64(), TIME),
        (pa.uint8(), INTEGER),
        (pa.uint64(), INTEGER),
        (pa.float16(), FLOAT),
        (pa.float32(), FLOAT),
        (pa.null(), FLOAT),
        (pa.dictionary(pa.int8(), pa.int64()), INTEGER),
    ],
    ids=str,
)
def test_a_type_has_a_measure(kind: Any, measure: Measure) -> None:
    assert Measure.of(kind) == measure


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.bool_(), pa.time64("us"), pa.duration("s"), pa.decimal128(5, 2), pa.list_(pa.int8())],
    ids=str,
)
def test_other_types_are_refused_under_their_name(kind: Any) -> None:
    with pytest.raises(InvalidInput, match=r"'when'.*timestamps, dates, integers or floats"):
        Measure.of(kind, "when")


@pytest.mark.parametrize(
    ("value", "position"),
    [
        (NEW_YEAR, NEW_YEAR_US),
        (NEW_YEAR.replace(tzinfo=dt.UTC), NEW_YEAR_US),
        (NEW_YEAR.replace(tzinfo=ZoneInfo("Europe/Berlin")), NEW_YEAR_US - 3_600_000_000),
        (pd.Timestamp("2024-01-01 00:00:00.000000999"), NEW_YEAR_US),
        (pd.Timestamp("2024-01-01 01:00", tz="Europe/Berlin"), NEW_YEAR_US),
        (np.datetime64("2024-01-01"), NEW_YEAR_US),
        (np.datetime64("2024"), NEW_YEAR_US),
        (np.datetime64("2024-01-01T00", "h"), NEW_YEAR_US),
        (np.datetime64(-1, "ns"), -1),
        (np.datetime64(10**18, "s"), TIME.highest),
        (dt.date(2024, 1, 1), NEW_YEAR_US),
        (dt.date(1969, 12, 31), -86_400_000_000),
        (pa.scalar(NEW_YEAR), NEW_YEAR_US),
        (pa.scalar(-1, pa.timestamp("ns")), -1),
        (5, 5),
        (np.int32(5), 5),
        (math.inf, TIME.highest),
        (-math.inf, TIME.lowest),
        (2**80, TIME.highest),
    ],
    ids=str,
)
def test_a_time_is_microseconds_since_1970(value: Any, position: int) -> None:
    found = TIME.position(value)
    assert found == position
    assert type(found) is int


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (TIME, each)
        for each in ("noon", True, 5.0, math.nan, None, pd.NaT, np.datetime64("NaT"), dt.timedelta(1), pa.scalar(None))
    ]
    + [(INTEGER, each) for each in ("5", False, 5.5, NEW_YEAR, None, np.bool_(True), np.timedelta64(1, "s"))]
    + [(FLOAT, each) for each in ("5", True, math.nan, NEW_YEAR, dt.date(2024, 1, 1), None, 1j)],
    ids=str,
)
def test_a_value_of_another_type_is_refused(measure: Measure, value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"landmark start must be .* as `on` is an? "):
        measure.position(value, "landmark start")


def test_numbers_become_positions() -> None:
    assert INTEGER.position(np.uint8(7)) == INTEGER.position(7.0) == 7
    assert INTEGER.position(math.inf) == INTEGER.position(2**63 - 1) == INTEGER.highest
    assert math.copysign(1, FLOAT.position(-0.0)) == 1
    assert FLOAT.position(10**400) == FLOAT.position(math.inf) == math.inf == FLOAT.highest
    assert type(FLOAT.position(3)) is float


@pytest.mark.parametrize(
    ("kind", "ticks", "expected"),
    [
        (pa.timestamp("ns"), [-1, 1999], [-1, 1]),
        (pa.timestamp("us", "Asia/Tokyo"), [-1, 7], [-1, 7]),
        (pa.timestamp("ms"), [-1, 7], [-1000, 7000]),
        (pa.timestamp("s"), [-1, 7], [-1_000_000, 7_000_000]),
        (pa.date32(), [-1, 1], [-86_400_000_000, 86_400_000_000]),
        (pa.date64(), [-86_400_000, 0], [-86_400_000_000, 0]),
        (pa.int8(), [-1, 7], [-1, 7]),
        (pa.uint64(), [0, 7], [0, 7]),
        (pa.float16(), [-1, 7], [-1.0, 7.0]),
        (pa.float32(), [-1, 7], [-1.0, 7.0]),
    ],
    ids=str,
)
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("with_null", [False, True])
def test_a_column_gives_positions(kind: Any, ticks: Any, expected: Any, chunked: bool, with_null: bool) -> None:
    storage = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    column = pa.array(ticks + [None] * with_null, storage).cast(kind)
    if chunked:
        column = pa.chunked_array([column[:1], column[1:]])
    positions, valid = Measure.of(kind).positions(column)
    assert positions.dtype == Measure.of(kind).dtype
    assert positions[:2].tolist() == expected
    assert (valid is None) if not with_null else (valid is not None and valid.tolist() == [True, True, False])


def test_what_has_no_position_is_marked_and_blank() -> None:
    column = pa.array([1.5, None, math.nan, math.inf, -math.inf, -0.0])
    positions, valid = FLOAT.positions(column)
    assert valid is not None
    assert valid.tolist() == [True, False, False, False, False, True]
    assert [math.copysign(1, each) for each in positions] == [1.0] * 6
    assert positions.tolist() == [1.5, 0, 0, 0, 0, 0]


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**61), 2**61, 2**61 + 1])))
def test_integers_too_large_to_compute_with_have_no_position(values: list[int]) -> None:
    positions, valid = INTEGER.positions(pa.array(values, pa.int64()))
    for k, value in enumerate(values):
        usable = abs(value) <= 2**61
        assert usable == (valid is None or bool(valid[k]))
        assert positions[k] == (value if usable else 0)
    assert not len(positions) or INTEGER.lowest < positions.min() <= positions.max() < INTEGER.highest


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**13), 10**13)),
    st.sampled_from(["s", "ms", "us", "ns"]),
)
def test_times_of_any_unit_are_exact_or_have_no_position(ticks: list[int], unit: str) -> None:
    factor = {"s": 10**6, "ms": 10**3, "us": 1, "ns": 0}[unit]
    positions, valid = TIME.positions(pa.array(ticks, pa.int64()).cast(pa.timestamp(unit)))
    for k, tick in enumerate(ticks):
        exact = tick * factor if factor else tick // 1000
        if valid is None or valid[k]:
            assert positions[k] == exact
        else:
            assert abs(exact) > 2**61 - 10**6


def test_dates_beyond_all_time_have_no_position() -> None:
    _, valid = TIME.positions(pa.array([0, 2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32()))
    assert valid is not None and valid.tolist() == [True, False, False]


def test_unsigned_integers_beyond_int64_are_refused_but_not_under_a_null() -> None:
    with pytest.raises(InvalidInput, match=f"'n' must be of integers that fit int64, but is {2**63}"):
        INTEGER.positions(pa.array([2**63], pa.uint64()), "n")
    positions, _ = INTEGER.positions(pa.array([3, None], pa.uint64()), "n")
    assert positions.tolist() == [3, 0]


def test_a_column_may_change_its_type_where_nothing_is_lost() -> None:
    assert TIME.positions(pa.array([5, 6]))[0].tolist() == [5, 6]
    assert TIME.positions(pa.array([1], pa.timestamp("s", "Asia/Tokyo")))[0].tolist() == [1_000_000]
    assert FLOAT.positions(pa.array([5]))[0].tolist() == [5.0]
    assert INTEGER.positions(pa.array([5.0, None, math.nan]))[0].tolist() == [5, 0, 0]
    for measure in (TIME, INTEGER, FLOAT):
        positions, valid = measure.positions(pa.nulls(2))
        assert positions.dtype == measure.dtype
        assert valid is not None and valid.tolist() == [False, False]
        assert measure.positions(pa.nulls(0))[0].dtype == measure.dtype


@pytest.mark.parametrize(
    ("measure", "column"),
    [
        (TIME, pa.array([5.0])),
        (INTEGER, pa.array([5.5])),
        (INTEGER, pa.array([2.0**60])),
        (INTEGER, pa.array([NEW_YEAR])),
        (FLOAT, pa.array([NEW_YEAR])),
    ],
    ids=str,
)
def test_a_column_of_another_kind_is_refused(measure: Measure, column: Any) -> None:
    with pytest.raises(InvalidInput, match="'t' was of kind"):
        measure.positions(column, "t")


@given(st.lists(st.datetimes()), st.sampled_from([None, "Europe/Berlin"]))
def test_times_come_back_as_they_were(times: list[dt.datetime], zone: str | None) -> None:
    column = pa.array(times, pa.timestamp("us", zone))
    measure = Measure.of(column.type)
    positions, valid = measure.positions(column)
    assert measure.to_arrow(positions, valid).equals(column)
    assert [measure.position(each) for each in times] == positions.tolist()


def test_bounds_of_a_column_are_positions() -> None:
    column = pa.array([NEW_YEAR, NEW_YEAR + dt.timedelta(days=1)])
    assert TIME.position(pc.max(column)) == NEW_YEAR_US + 86_400_000_000
