"""What Spark reports is told of any position, also of those that Python has no time for."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import Row

from sash.spark.monitoring.progress import of_report
from sash.spark.wire.results import FIGURES

DAY = 86_400 * 10**6
LAST = datetime.max.replace(tzinfo=UTC)


def report(kind: str, **figures: Any) -> dict[str, Any]:
    told = {**dict.fromkeys((*FIGURES, "watermark", "newest", "next_end")), "keys": 1, **figures}
    return {"batchId": 3, "observedMetrics": {f"sash {kind} 12345678": Row(**told)}}


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
