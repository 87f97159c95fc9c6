"""The experiments on streams, run for real, small; and what they are made of."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.image import imread

import sash
from benchmarks.algorithms.workloads import noise
from benchmarks.bars import SLICING, bars_of
from benchmarks.baselines.contract import TECHNIQUES, Window
from benchmarks.command_line import main
from benchmarks.records import Machine, Record, Report, parameters
from benchmarks.settings import QUICK_SLICING as QUICK
from benchmarks.settings import SlicingSettings
from benchmarks.slicing.experiments import EXPERIMENTS, SUITE
from benchmarks.slicing.stores import REPEATABLE, Store, _outputs, _window_call
from benchmarks.slicing.subjects import Question, batches_of, monoid_of, queries_of, speed, subjects
from benchmarks.slicing.workloads import FUNCTIONS, SECOND, Sensor, lengths, rows_of
from sash.errors import UnknownName

# What compiles a dozen aggregates, or measures what another experiment measures too, is left to `make bench`.
LEFT_OUT = {"aggregates", "median", "measures", "disorder_delay", "output_latency", "memory_by_slices", "splits"}


@pytest.mark.long
def test_a_quick_run_measures_what_bars_are_about_and_draws_what_it_found(tmp_path: Path) -> None:
    only = [name for name in EXPERIMENTS if name not in LEFT_OUT]
    chosen = [word for name in only for word in ("--only", name)]
    command = ["slicing", "--quick", *chosen, "--out", str(tmp_path)]
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    assert done.exit_code == 0
    report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {record.experiment for record in report.records} == set(only)
    for experiment in ("concurrent", "constrained", "memory_by_rows", "disorder_fraction"):
        assert {record.subject for record in report.select(experiment)} >= {"sash", *(QUICK.techniques or ())}
    for record in report.records:
        assert record.unit and record.metric and record.subject
        assert record.note if record.value is None else record.value > 0
    assert len(report.bars) == 30
    assert all(bar.verdict in ("pass", "miss") for bar in report.bars), "a bar without its experiment"
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    assert pictures >= {"concurrent", "constrained", "memory_by_rows_time", "finish_sum", "keys"}
    for name in pictures:
        image = imread(tmp_path / f"{name}.png")
        assert image.shape[0] > 100 and image[..., :3].std() > 0.01, name
    assert "bars" in done.stdout and "\x1b" not in done.stdout


def test_the_command_names_every_experiment() -> None:
    text = CliRunner().invoke(main, ["slicing", "--help"]).output
    assert all(name in text for name in EXPERIMENTS)


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="concurrent"):
        SUITE.plan(["concurent"])


def test_a_full_run_asks_all_techniques_and_all_aggregates() -> None:
    question = Question((Window.time(SECOND),))
    assert set(subjects(question, SlicingSettings())) == {"sash", *TECHNIQUES}
    labels = [task.label for name, task in SUITE.plan(["aggregates"])]
    assert len(labels) == 2 * len(FUNCTIONS)


# --- rows and windows --------------------------------------------------------------------------------


def test_there_are_five_gaps_per_minute_and_each_ends_a_session() -> None:
    positions, _ = rows_of(Sensor(200_000))
    minutes = (positions[-1] - positions[0]) / (60 * SECOND)
    gaps = int((np.diff(positions) > SECOND).sum())
    assert abs(gaps / minutes - 5) < 0.5


@pytest.mark.parametrize("late", [0.2, 1.0])
def test_late_rows_are_never_behind_the_watermark(late: float) -> None:
    delay = 2 * SECOND
    sensor, question = (
        Sensor(20_000, late=late, delay=delay),
        Question((Window.time(SECOND),), in_order=False, delay=delay),
    )
    positions, _ = rows_of(sensor)
    assert (np.sort(positions) == rows_of(Sensor(20_000))[0]).all()
    assert 0.7 * late < (np.maximum.accumulate(positions) > positions).mean() <= late
    before = -(2**62)
    for batch in batches_of(sensor, question, 20_000, 1000):
        assert batch.positions.min() >= before
        before = batch.watermark


def test_values_are_as_distinct_as_they_are_said_to_be() -> None:
    assert len(np.unique(rows_of(Sensor(10_000, distinct=37))[1])) == 37


@pytest.mark.parametrize("windows", [1, 10, 20, 100, 1000])
def test_lengths_are_spread_from_one_to_twenty_seconds(windows: int) -> None:
    given = lengths(windows)
    assert len(set(given)) == windows and given[0] == 1000 and given[-1] == (20_000 if windows > 1 else 1000)


# --- the contest is one: sash and the techniques give the same windows -----------------------------------


@pytest.mark.parametrize("name", ["aggregate_buckets", "tuple_buffer", "slices_on_rows"])
@pytest.mark.parametrize("late", [False, True], ids=["in order", "late"])
@pytest.mark.parametrize(
    "rows", [6_000, pytest.param(60_000, marks=[pytest.mark.only_compiled, pytest.mark.long])], ids=["few", "many"]
)
def test_sash_and_a_technique_send_the_same_windows(name: str, late: bool, rows: int) -> None:
    delay = 2 * SECOND if late else 0
    windows = (*(Window.time(1000 * length) for length in lengths(20)), Window.session(SECOND))
    question = Question(windows, in_order=not late, delay=delay)
    pushes = batches_of(Sensor(rows, late=0.2 if late else 0.0, delay=delay), question, rows, 7 * rows // 60)
    if late:
        stream = sash.Stream(queries_of(question), on="t", watermark=delay)
    else:
        stream = sash.Stream(queries_of(question), on="t", in_order=True)
    operator = TECHNIQUES[name].start(monoid_of(question.function), windows)
    for batch in pushes:
        ours = stream.push(batch.table).to_pylist()
        theirs = operator.push(batch.positions, batch.columns["x"], batch.watermark)
        found = {(row["query"], row["window_start"], row["window_end"]): row["answer"] for row in ours}
        places = zip(*(np.asarray(each).tolist() for each in (theirs.windows, theirs.starts, theirs.ends)), strict=True)
        expected = {
            (f"w{window}", start, end): value
            for (window, start, end), value in zip(places, np.asarray(theirs.outputs[0]).tolist(), strict=True)
        }
        assert found.keys() == expected.keys()
        for window, value in expected.items():
            assert found[window] == pytest.approx(value, rel=1e-9)


def test_only_those_take_part_that_can_answer() -> None:
    assert "aggregate_buckets" not in set(subjects(Question((Window.count(5),)), SlicingSettings()))
    assert "aggregate_buckets" not in set(subjects(Question((Window.time(5),), FUNCTIONS["first"]), SlicingSettings()))
    assert list(subjects(Question((Window.time(5),), as_float=True), SlicingSettings())) == ["sash"]


def test_a_slow_subject_gets_fewer_rows_and_says_how_many() -> None:
    question, sensor = Question((Window.time(SECOND),)), Sensor(5000)
    assert speed("tuple_buffer", question, sensor, replace(QUICK, point_seconds=0.0)).rows == 1000
    found = speed("tuple_buffer", question, sensor, replace(QUICK, point_seconds=60.0, push_rows=2000))
    assert (found.rows, str(found)) == (5000, "5000 rows in pushes of 2000")


# --- stores ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "median"])
@pytest.mark.parametrize("slices", [1, 5, 64])
def test_lazy_and_eager_stores_and_sliding_give_the_same_windows(name: str, slices: int) -> None:
    monoid = monoid_of(FUNCTIONS[name])
    lows = np.arange(slices)
    highs = np.minimum(lows + 7, slices)
    lazy, eager = (Store(monoid, slices, kind) for kind in (False, True))
    expected = list(lazy.finish(lows, highs)[0][0])
    assert list(eager.finish(lows, highs)[0][0]) == pytest.approx(expected)
    assert list(lazy.finish(lows, highs, "two_stacks_lite")[0][0]) == pytest.approx(expected)
    eager.update_tree(1)
    assert list(eager.finish(lows, highs)[0][0]) == pytest.approx(expected)


@pytest.mark.parametrize("subject", ["sash lazy", "sash eager", *REPEATABLE])
@pytest.mark.parametrize(("name", "fold"), [("sum", np.sum), ("median", np.median)])
def test_every_store_reads_the_same_window_again_and_again(subject: str, name: str, fold: Any) -> None:
    answer = _window_call(subject, monoid_of(FUNCTIONS[name]), 50, 3)
    for _ in range(2):
        found = answer()
        values = found[0][0] if subject.startswith("sash") else found.outputs[0]
        assert list(values) == pytest.approx([fold(noise(50))] * 3)


def test_a_store_that_would_take_too_long_is_left_out_with_a_reason() -> None:
    slow = replace(QUICK, entries=(100, 10**9))
    records = list(_outputs(slow, "tuple_buffer", "median"))
    assert records[0].value is not None
    assert records[1].value is None and "left out" in records[1].note


# --- bars --------------------------------------------------------------------------------------------


def _report(*records: Record) -> Report:
    return Report("r", Machine.here(), records)


def test_bars_read_the_records_they_are_about() -> None:
    def rows(subject: str, windows: int, value: float, ratio: float) -> Record:
        return Record("concurrent", subject, "rows", value, "M", "sum", parameters(windows=windows), ratio)

    bars = bars_of(
        SLICING,
        _report(
            rows("sash", 1, 60.0, 0.1),
            rows("sash", 20, 50.0, 0.08),
            rows("sash", 100, 40.0, 0.06),
            rows("sash", 1000, 15.0, 0.02),
            rows("aggregate_buckets", 100, 2.0, 0.003),
        ),
    )
    assert [(bar.measured, bar.verdict) for bar in bars] == [
        (0.08, "pass"),
        (0.02, "miss"),
        (0.25, "miss"),
        (20.0, "pass"),
    ]


def test_memory_that_grows_is_a_miss() -> None:
    def state(metric: str, rows: int, value: float) -> Record:
        return Record("flat", "sash", metric, value, "bytes", parameters=parameters(rows=rows))

    flat = [state(metric, rows, 1000.0) for metric in ("largest state", "keys") for rows in (10, 100)]
    assert [bar.verdict for bar in bars_of(SLICING, _report(*flat))] == ["pass", "pass"]
    flat[1] = state("largest state", 100, 2000.0)
    assert [bar.verdict for bar in bars_of(SLICING, _report(*flat))] == ["miss", "pass"]


def test_an_experiment_that_did_not_run_leaves_its_bars_out() -> None:
    assert bars_of(SLICING, _report()) == ()
