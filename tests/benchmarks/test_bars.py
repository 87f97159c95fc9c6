"""Bars: which records a target reads, and what it makes of them."""

from typing import Any

from benchmarks.bars.target import Target, bars_of, growth
from benchmarks.records import Bar, Machine, Record, Report, parameters


def _record(subject: str, value: float | None, **shape: Any) -> Record:
    return Record("e", subject, "rows", value, "rows/s", "max", parameters(**shape))


def _bars(target: Target, *records: Record) -> tuple[Bar, ...]:
    return bars_of([target], Report("r", Machine.here(), records))


def test_the_fastest_of_several_peers_counts_and_the_note_names_it() -> None:
    target = Target("e", "n", 1.5, {"subject": "sash"}, {"subject": ("a", "b")})
    (bar,) = _bars(target, _record("sash", 6.0), _record("a", 2.0), _record("b", 3.0))
    assert bar.measured == 2.0 and bar.note == "sash 6 rows/s, b 3 rows/s"


def test_there_is_a_bar_for_each_value_of_a_parameter() -> None:
    target = Target("e", "window {window}", 1.0, {"subject": "sash"}, {"subject": "a"}, each="window")
    records = [_record(subject, float(w), window=w) for subject in ("sash", "a") for w in (16, 1000)]
    assert [(bar.name, bar.measured) for bar in _bars(target, *records)] == [("window 16", 1.0), ("window 1000", 1.0)]


def test_a_series_pairs_records_with_the_peer_at_the_same_place() -> None:
    target = Target("e", "n", 1.0, {"subject": "sash"}, {"subject": "a"}, along="window", reduce=min)
    values = {("sash", 1): 8.0, ("a", 1): 2.0, ("sash", 2): 9.0, ("a", 2): 3.0, ("sash", 3): 1.0}
    (bar,) = _bars(target, *(_record(subject, value, window=w) for (subject, w), value in values.items()))
    assert bar.measured == 3.0 and bar.note == "4 at 1, 3 at 2"


def test_the_smallest_and_the_largest_value_need_two_values() -> None:
    target = Target("e", "{rows:,} rows", 1.0, {"rows": max}, {"rows": min})
    assert _bars(target, _record("sash", 4.0, rows=10)) == (Bar("– rows", 1.0, None),)
    (bar,) = _bars(target, _record("sash", 4.0, rows=10), _record("sash", 8.0, rows=1000))
    assert (bar.name, bar.measured) == ("1,000 rows", 2.0)


def test_growth_is_not_measured_from_one_value() -> None:
    target = Target("e", "n", 1.0, {}, along="rows", reduce=growth)
    assert [bar.verdict for bar in _bars(target, _record("sash", 4.0, rows=10))] == ["not measured"]
    (bar,) = _bars(target, *(_record("sash", 4.0 * n, rows=n) for n in (1, 2)))
    assert bar.measured == 2.0 and bar.note == "4 rows/s at 1, 8 rows/s at 2"


def test_what_was_not_measured_is_not_divided() -> None:
    target = Target("e", "n", 1.0, {"subject": "sash"}, {"subject": "a"})
    for ours, theirs in ((None, 1.0), (1.0, None), (1.0, 0.0)):
        (bar,) = _bars(target, _record("sash", ours), _record("a", theirs))
        assert bar.measured is None
