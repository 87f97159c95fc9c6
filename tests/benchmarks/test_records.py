"""Reports: what is written is what is read, and tables show it."""

import platform

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.records import Bar, Machine, Record, Report, parameters

MACHINE = Machine("a processor", 2, "Linux x86_64", "3.11.0", (("numba", "1"), ("numpy", "2")), "2026-01-02")
numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(max_size=8)
records = st.builds(
    Record,
    experiment=words,
    subject=words,
    metric=words,
    value=st.none() | numbers,
    unit=words,
    aggregate=words,
    parameters=st.builds(parameters, window=st.integers(1, 1 << 20), kind=words),
    ratio=st.none() | numbers,
    note=words,
)
bars = st.builds(Bar, words, numbers, st.none() | numbers, at_most=st.booleans(), note=words)
reports = st.builds(
    Report, words, st.just(MACHINE), st.lists(records, max_size=4).map(tuple), st.lists(bars, max_size=3).map(tuple)
)


@given(report=reports)
def test_a_report_comes_back_from_json_as_it_was(report: Report) -> None:
    assert Report.from_json(report.to_json()) == report


@given(report=reports)
def test_every_table_has_a_cell_for_every_heading(report: Report) -> None:
    for table in report.tables():
        assert all(len(row) == len(table.headings) for row in table.rows)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', "not json"])
def test_what_is_not_a_report_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="report"):
        Report.from_json(text)


def test_not_a_number_is_written_as_not_measured() -> None:
    record = Record("e", "s", "m", float("nan"), "u", ratio=float("inf"))
    (again,) = Report.from_json(Report("r", MACHINE, (record,)).to_json()).records
    assert (again.value, again.ratio) == (None, None)


def test_machine_facts_name_no_host() -> None:
    machine = str(Machine.here(("numpy", "no-such-package")))
    assert "numpy" in machine and "no-such-package" not in machine
    assert not platform.node() or platform.node() not in machine


@pytest.mark.parametrize(
    ("bar", "verdict"),
    [
        (Bar("b", 1.5, 1.5), "pass"),
        (Bar("b", 1.5, 1.4), "miss"),
        (Bar("b", 2, 1.9, at_most=True), "pass"),
        (Bar("b", 2, 2.1, at_most=True), "miss"),
        (Bar("b", 2, None), "not measured"),
    ],
)
def test_a_bar_is_kept_or_missed(bar: Bar, verdict: str) -> None:
    assert bar.verdict == verdict


def test_records_are_crossed_by_the_parameter_that_varies_most() -> None:
    rows = [("sba", 1, 5.0), ("sba", 16, 4.0), ("daba", 1, 3.0), ("daba", 16, None)]
    records = tuple(
        Record("throughput", subject, "rows", value, "M/s", "max", parameters(window=window, rows=100), note="")
        for subject, window, value in rows
    )
    (table,) = Report("r", MACHINE, records).tables()
    assert table.title == "throughput of max: rows [M/s], rows 100"
    assert table.headings == ("subject", "window 1", "window 16")
    assert table.rows == (("sba", "5", "4"), ("daba", "3", "–"))


def test_many_metrics_of_one_unit_stand_side_by_side() -> None:
    records = tuple(Record("latency", "sba", metric, 1.0, "ns", "max", parameters(window=4)) for metric in "abc")
    (table,) = Report("r", MACHINE, records).tables()
    assert table.headings == ("subject", "a", "b", "c")


def test_records_are_selected_by_field_and_by_parameter() -> None:
    records = tuple(Record("e", "s", "m", float(w), "u", parameters=parameters(window=w)) for w in (1, 2))
    assert Report("r", MACHINE, records).select("e", subject="s", window=2) == [records[1]]
