"""Windows of the calendar: against Polars, and against zoneinfo for every zone and every change of clocks."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import polars as pl
import pytest

import sash
from sash.errors import SashError
from sash.kinds.calendar import CalendarKind
from sash.kinds.kind import Setting
from sash.windows.calendar import Calendar, calendar_window

SETTING = Setting(-(2**62), 2**62, np.dtype(np.int64))
# Polars takes windows from the one on that holds the first row; those before it that hold it, too, it leaves out.
LENGTHS = [
    ("1 day", "1 day", "1d", "1d"),
    ("3 days", "2 days", "3d", "2d"),
    ("1 week", "1 week", "1w", "1w"),
    ("2 weeks", "2 weeks", "2w", "2w"),
    ("1 month", "1 month", "1mo", "1mo"),
    ("3 months", "1 month", "3mo", "1mo"),
    ("5 months", "5 months", "5mo", "5mo"),
    ("1 quarter", "1 quarter", "1q", "1q"),
    ("1 year", "1 year", "1y", "1y"),
]
if tuple(map(int, pl.__version__.split(".")[:2])) >= (1, 30):  # 1.0 ends the month from December 1 at December 31
    LENGTHS.append(("1 month", "1 day", "1mo", "1d"))
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"]


def rows(zone: str, days: int = 500, count: int = 700) -> pl.DataFrame:
    dice = np.random.default_rng(7)
    begin = 1_700_000_000_000_000
    times = np.sort(dice.integers(begin, begin + days * 86_400_000_000, count))
    given = pl.DataFrame({"t": pl.Series(times).cast(pl.Datetime("us")), "x": np.arange(count)})
    return given.with_columns(pl.col("t").dt.replace_time_zone("UTC").dt.convert_time_zone(zone))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("size", "every", "period", "step"), LENGTHS, ids=lambda each: each.replace(" ", "_"))
def test_windows_are_those_of_polars(zone: str, size: str, every: str, period: str, step: str) -> None:
    given = rows(zone)
    grouped = given.group_by_dynamic("t", every=step, period=period, include_boundaries=True)
    wanted = grouped.agg(pl.len().alias("n"), pl.col("x").sum().alias("total"))
    query = sash.query("q", sash.sliding(size, every=every, zone=zone), n=sash.count(), total=sash.sum("x"))
    found = sash.aggregate(given, query, on="t").sort("window_start", "window_end")
    first = wanted["_lower_boundary"].min()
    found = found.filter(pl.col("window_start") >= first)
    assert found["window_start"].to_list() == wanted["_lower_boundary"].to_list()
    assert found["window_end"].to_list() == wanted["_upper_boundary"].to_list()
    assert found["n"].to_list() == wanted["n"].to_list() and found["total"].to_list() == wanted["total"].to_list()


def table(window: Calendar, begin: int, end: int) -> Any:
    return CalendarKind(window, SETTING).table(begin, end, lambda: np.arange(begin, end, 86_400_000_000))


def micros(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000


# "Factory" is what a machine has before someone sets its zone; Arrow does not know it.
NAMES = sorted(available_timezones() - {"Factory"})


# Half hours, midnights that do not exist or come twice, days that were left out, summer time that is negative.
ODD = [
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Havana",
    "America/New_York",
    "America/Sao_Paulo",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Kwajalein",
]


@pytest.mark.parametrize("names", [sorted({*ODD, *NAMES[::25]}), pytest.param(NAMES, marks=pytest.mark.long)])
def test_days_of_every_zone_follow_each_other_through_every_change_of_clocks(names: list[str]) -> None:
    checked = 0
    for name in names:
        zone = ZoneInfo(name)
        found = table(calendar_window("tumbling", "1 day", "1 day", 0, name), micros(1970), micros(2038))
        assert (found.starts[1:] == found.ends[:-1]).all(), f"{name} has a gap or an overlap"
        inside = (found.starts >= micros(1970)) & (found.starts < micros(2038))
        lengths = found.ends - found.starts
        odd = np.flatnonzero(inside & (lengths != 86_400_000_000))
        for place in np.concatenate([odd, np.flatnonzero(inside)[::1997]]):
            start, day = local(found.starts[place], zone), local(found.ends[place] - 1, zone).date()
            before = local(found.starts[place] - 1, zone)
            assert start.date() == day and before.date() < day, f"{name}: {start} is not where {day} starts"
            checked += 1
    assert checked


def local(position: Any, zone: ZoneInfo) -> datetime:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(position))).astimezone(zone)


def test_a_day_that_a_zone_left_out_has_no_window() -> None:
    days = table(calendar_window("tumbling", "1 day", "1 day", 0, "Pacific/Apia"), micros(2011), micros(2013))
    dates = [local(start, ZoneInfo("Pacific/Apia")).date().isoformat() for start in days.starts]
    assert "2011-12-29" in dates and "2011-12-30" not in dates and "2011-12-31" in dates


def test_a_day_of_hours_grows_by_23_24_or_25_steps() -> None:
    growing = calendar_window("cumulative", "1 day", "1 hour", 0, "Europe/Berlin", grows=True)
    found = table(growing, micros(2024), micros(2025))
    _, counts = np.unique(found.starts, return_counts=True)
    assert set(counts.tolist()) == {23, 24, 25} and counts.tolist().count(23) == counts.tolist().count(25)


def test_a_fiscal_year_starts_where_the_offset_says() -> None:
    day = datetime(2024, 5, 17, tzinfo=UTC)
    fiscal = sash.query("q", sash.tumbling("1 year", offset="3 months"), n=sash.count())
    (row,) = sash.aggregate({"t": [day]}, fiscal, on="t").to_pylist()
    assert (row["window_start"], row["window_end"]) == (
        datetime(2024, 4, 1, tzinfo=UTC),
        datetime(2025, 4, 1, tzinfo=UTC),
    )


def test_an_offset_of_hours_is_on_the_clock() -> None:
    shift = calendar_window("tumbling", "1 day", "1 day", "6 hours", "Europe/Berlin")
    found = table(shift, micros(2024), micros(2025))
    assert {local(start, ZoneInfo("Europe/Berlin")).hour for start in found.starts} == {6}


def test_rows_beyond_the_last_year_are_refused_in_a_table_and_late_in_a_stream() -> None:
    month = sash.query("q", sash.tumbling("1 month"), n=sash.count())
    far = {"t": np.array([0, 300_000_000_000_000_000], "datetime64[us]")}
    with pytest.raises(SashError, match="lie within 8,000 years of 1970"):
        sash.aggregate(far, month, on="t")
    stream = sash.Stream(month, on="t")
    assert stream.push(far).num_rows == 0 and stream.late_count == 1 and stream.finish().column("n").to_pylist() == [1]


def test_rows_outside_of_listed_edges_are_in_no_window() -> None:
    market = sash.query("q", sash.calendar([0, 10, 15, 40]), n=sash.count())
    found = sash.aggregate({"t": [-5, 0, 9, 10, 39, 40, 99]}, market, on="t")
    assert found.select(["window_start", "window_end", "n"]).to_pylist() == [
        {"window_start": 0, "window_end": 10, "n": 2},
        {"window_start": 10, "window_end": 15, "n": 1},
        {"window_start": 15, "window_end": 40, "n": 1},
    ]


STRAY = sash.tumbling("1 day", zone="Europe/Berlin"), sash.cumulative("1 day", every="1 minute", zone="Asia/Tokyo")


@pytest.mark.parametrize("window", STRAY, ids=str)
def test_a_row_of_the_year_1_among_rows_of_today_does_not_list_all_days_between(window: Any) -> None:
    times = [datetime(1, 1, 3, 12, tzinfo=UTC), datetime(2026, 5, 1, 12, tzinfo=UTC), datetime(9990, 1, 1, tzinfo=UTC)]
    query = sash.query("q", window, n=sash.count())
    stream = sash.Stream(query, on="t")
    found = [stream.push({"t": [each]}) for each in times]
    found.append(stream.push({"t": times[:0]}, watermark=datetime(9999, 12, 30, tzinfo=UTC)))
    sent = [row for each in found for row in each.to_pylist()]
    whole = sash.aggregate({"t": times}, query, on="t").to_pylist()
    assert [row["window_end"] for row in sent] == [row["window_end"] for row in whole]
    assert all(any(row["window_start"] <= each < row["window_end"] for row in whole) for each in times)
