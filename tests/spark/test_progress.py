"""What Spark reports is told of any position, also of those that Python has no time for."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import Row

from sash.spark.monitoring.clock import warn_once
from sash.spark.monitoring.progress import of_report
from sash.spark.wire.results import FIGURES

DAY = 86_400 * 10**6
LAST = datetime.max.replace(tzinfo=UTC)


def report(kind: str, **figures: Any) -> dict[str, Any]:
    told = {**dict.fromkeys((*FIGURES, "watermark", "newest", "next_end")), "keys": 1, **figures}
    word, _, zone = kind.partition(" ")
    name = f"sash {word} 12345678{f' {zone}' if zone else ''}"
    return {"batchId": 3, "timestamp": "2026-01-01T12:00:00.000Z", "observedMetrics": {name: Row(**told)}}


@pytest.mark.parametrize("position", [2_932_897 * DAY, 20_000_000 * DAY], ids=["the year 10000", "far beyond"])
def test_times_after_the_last_of_python_are_that_one(position: int) -> None:
    found = of_report(report("time", watermark=position, newest=position, next_end=position + DAY))
    assert found is not None and (found.watermark, found.newest, found.next_end) == (LAST, LAST, LAST)
    assert "9999-12-31" in str(found)


def test_times_before_the_first_of_python_are_that_one() -> None:
    found = of_report(report("time", newest=-800_000 * DAY))
    assert found is not None and found.newest == datetime.min.replace(tzinfo=UTC)
    assert found.watermark is None


def test_values_apart_from_their_schema_are_named_by_it() -> None:
    """As Spark Connect gives them."""
    plain = report("integer", watermark=7, rows=3)
    ((name, row),) = plain["observedMetrics"].items()
    fields = [{"name": each, "type": "long", "nullable": True, "metadata": {}} for each in row.asDict()]
    apart = Row(values=list(row), schema={"type": "struct", "fields": fields})
    assert of_report({**plain, "observedMetrics": {name: apart}}) == of_report(plain)


def test_reports_of_others_and_of_triggers_without_rows_say_nothing() -> None:
    assert of_report({"batchId": 3, "observedMetrics": {}}) is None
    assert of_report({"batchId": 3, "observedMetrics": {"other": Row(keys=1)}}) is None
    assert of_report(report("time", keys=None)) is None


CLOCK = datetime(2026, 1, 1, 12, tzinfo=UTC)


def microseconds(time: datetime) -> int:
    return int(time.timestamp()) * 10**6


@pytest.mark.parametrize(
    ("kind", "hours", "is_ahead"),
    [("time", 1, True), ("time", 0, False), ("time", -1, False), ("time local", 3, False), ("time local", 15, True)],
)
def test_watermark_ahead_of_the_clock_is_reported_with_max_future(kind: str, hours: int, is_ahead: bool) -> None:
    position = microseconds(CLOCK + timedelta(hours=hours))
    found = of_report(report(kind, watermark=position, newest=position))
    assert found is not None
    assert (found.ahead is not None) is is_ahead
    assert ("ahead of the clock, see max_future" in str(found)) is is_ahead


def test_numbers_and_the_end_of_a_stream_are_not_ahead_of_the_clock() -> None:
    assert of_report(report("integer", watermark=10**18)).ahead is None  # type: ignore[union-attr]
    assert of_report(report("time", watermark=2**63 - 1)).ahead is None  # type: ignore[union-attr]


def test_one_warning_is_logged_for_each_query(caplog: pytest.LogCaptureFixture) -> None:
    ahead = of_report(report("time", watermark=microseconds(CLOCK + timedelta(days=2))))
    behind = of_report(report("time", watermark=microseconds(CLOCK - timedelta(days=2))))
    assert ahead is not None and behind is not None
    warn = warn_once()
    for name, now in [("loads", behind), ("loads", ahead), ("loads", ahead), ("prices", ahead)]:
        warn(name, now)
    assert [each.levelname for each in caplog.records] == ["WARNING", "WARNING"]
    first, second = (each.getMessage() for each in caplog.records)
    assert first.startswith("Query loads: The watermark 2026-01-03 12:00:00") and "max_future='1 hour'" in first
    assert second.startswith("Query prices")
