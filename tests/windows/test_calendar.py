"""How windows of the calendar are written, and what is refused."""

from typing import Any, cast

import numpy as np
import pytest

import sash
from sash.errors import InvalidWindow, SashError
from sash.windows.calendar import Calendar, Span, span_of


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("1 month", Span(1)),
        ("2mo", Span(2)),
        ("1 quarter", Span(3)),
        ("1 year 2 months", Span(14)),
        ("3 days", Span(0, 3)),
        ("2 weeks", Span(0, 14, of_weeks=True)),
        ("P1M", Span(1)),
        ("P1Y2M", Span(14)),
        ("INTERVAL '1' MONTH", Span(1)),
        ("-1 month", Span(-1)),
        ("1 day 6 hours", Span(0, 1, 21_600_000_000)),
        ("1 hour", None),
        ("1.5 days", None),
        (5, None),
    ],
)
def test_a_span_reads_as_it_is_written(text: Any, span: Span | None) -> None:
    assert span_of(text) == span


def test_days_and_weeks_without_a_zone_are_as_long_as_on_spark() -> None:
    assert not isinstance(sash.tumbling("1 day"), Calendar) and not isinstance(sash.tumbling("1 week"), Calendar)
    assert isinstance(sash.tumbling("1 day", zone="UTC"), Calendar) and isinstance(sash.tumbling("1 month"), Calendar)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: sash.tumbling("1 month", zone="Europe/Berln"), r"'Europe/Berln'\. Did you mean 'Europe/Berlin'\?"),
        (lambda: sash.tumbling("1 day", zone=cast("Any", 3)), "zone of a tumbling window must be a time zone"),
        (lambda: sash.tumbling("1 hour", zone="UTC"), "must be whole days, weeks, months, quarters or years"),
        (lambda: sash.sliding("1 month", zone="UTC"), "A sliding window needs every"),
        (lambda: sash.sliding("1 month", every="1 month 3 days"), "mixes them"),
        (lambda: sash.cumulative("1 month", every="0 hours"), "every of a cumulative window must be"),
        (lambda: sash.tumbling("-1 month"), "size of a tumbling window must be"),
        (lambda: sash.tumbling(rows=3, zone="UTC"), "zone"),
        (lambda: sash.calendar([1]), "at least two edges"),
        (lambda: sash.calendar("days"), "at least two edges"),
    ],
)
def test_what_no_calendar_knows_is_refused(given: Any, said: str) -> None:
    with pytest.raises(SashError, match=said):
        given()


def test_a_calendar_on_a_plain_number_is_refused() -> None:
    month = sash.query("q", sash.tumbling("1 month"), n=sash.count())
    with pytest.raises(InvalidWindow, match="is a window of the calendar, but `on` is a plain integer"):
        sash.aggregate({"t": [1, 2]}, month, on="t")


def test_edges_that_go_back_are_refused() -> None:
    with pytest.raises(InvalidWindow, match="must ascend, but 5 follows 10"):
        sash.aggregate({"t": [1]}, sash.query("q", sash.calendar([0, 10, 5]), n=sash.count()), on="t")


@pytest.mark.parametrize(
    "window",
    [
        sash.sliding("3 months", every="1 month", zone="Europe/Berlin", offset="2 days"),
        sash.cumulative("1 day", every="1 hour", zone="Asia/Tokyo"),
        sash.calendar([0, 10, 15]),
    ],
    ids=str,
)
def test_a_stream_of_the_calendar_is_saved_and_restored(window: Any) -> None:
    query = sash.query("q", window, n=sash.count())
    times: Any = [5, 12] if "edges" in str(window) else ["2024-05-01T00:00:00", "2024-05-02T12:00:00"]
    rows = {"t": times if "edges" in str(window) else np.array(times, "datetime64[us]")}
    stream = sash.Stream(query, on="t")
    stream.push(rows)
    again = sash.Stream.restore(stream.save(), query)
    assert again.finish().equals(stream.finish())


def test_steps_that_would_fill_the_memory_are_refused() -> None:
    query = sash.query("q", sash.cumulative("1 month", every="1 second"), n=sash.count())
    with pytest.raises(InvalidWindow, match="100,000"):
        sash.aggregate({"t": np.array([0], "datetime64[us]")}, query, on="t")
