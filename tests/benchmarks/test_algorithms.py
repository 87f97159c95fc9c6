"""The experiments, run for real, small."""

import itertools
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from matplotlib.image import imread

from benchmarks.algorithms.bulk_updates import SLIDES
from benchmarks.algorithms.experiments import EXPERIMENTS, plan, run
from benchmarks.algorithms.throughput import _by_window
from benchmarks.algorithms.workloads import AGGREGATES, suited
from benchmarks.bars.algorithms import ALGORITHMS as TARGETS
from benchmarks.bars.target import bars_of
from benchmarks.command_line import main
from benchmarks.drawing import _apart
from benchmarks.records import Machine, Record, Report, parameters
from benchmarks.settings import QUICK_ALGORITHMS as QUICK
from benchmarks.suite import Task
from benchmarks.timer import counts_cycles
from sash.errors import UnknownName
from sash.swag import ALGORITHMS
from sash.swag.facts import Needs


@pytest.mark.long
def test_a_quick_run_measures_every_algorithm_and_draws_what_it_found(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["algorithms", "--quick", "--out", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {record.experiment for record in report.records} == set(EXPERIMENTS) - ({"latency"} - _able())
    # The quick run has no variance, and one algorithm is for variances only.
    others = {name for name, each in ALGORITHMS.items() if each.facts.needs is not Needs.VARIANCE}
    for experiment in ("throughput", "memory"):
        assert {record.subject for record in report.select(experiment)} >= others
    for record in report.records:
        assert record.unit and record.metric and record.subject
        assert record.note if record.value is None else record.value >= 0
    assert all(bar.verdict in ("pass", "miss") for bar in report.bars), "a bar without its experiment"
    pictures = sorted(tmp_path.glob("*.png"))
    assert {"throughput_max.png", "peers.png", "memory.png", "ranges.png"} <= {path.name for path in pictures}
    for path in pictures:
        image = imread(path)
        assert image.shape[0] > 200 and image[..., :3].std() > 0.01, path.name
    assert "bars" in done.stdout and "\x1b" not in done.stdout


def _able() -> set[str]:
    return {"latency"} if counts_cycles() else set()


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="throughput"):
        plan(["thruput"])


def test_a_run_whose_time_is_used_up_says_what_is_left() -> None:
    from dataclasses import replace

    tasks = [("memory", Task(name, lambda: [Record("memory", "s", "m", 1.0, "u")])) for name in "ab"]
    report = run(tasks, replace(QUICK, seconds=-1.0))
    assert not report.records
    assert any(note.startswith("2 of 2 tasks") for note in report.notes)


def test_a_busy_machine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.suite.busy_cores", lambda: 1.5)
    assert any("busy" in note for note in run([], QUICK).notes)


@pytest.mark.parametrize("experiment", ["parallel", "parallel_stream"])
def test_a_second_thread_without_a_core_is_named(experiment: str) -> None:
    shape = parameters(window=4)
    records = [
        Record(experiment, name, "rows", rate, "M/s", parameters=shape) for name, rate in (("sba", 1.0), ("pba", 1.4))
    ]
    records.append(Record(experiment, "pba", "cores busy", 0.99, "cores", parameters=shape))
    (bar,) = bars_of(TARGETS, Report("r", Machine.here(), tuple(records)))
    assert bar.measured == 1.4 and "found no core" in bar.note


def test_streams_are_measured_row_by_row_and_with_a_helper() -> None:
    from dataclasses import replace

    small = {"row_windows": (4,), "slide_range": 8, "slides": (1, 2), "time_ranges": (1,), "parallel_window": 8}
    tiny = replace(QUICK, rows=64, **small)  # type: ignore[arg-type]
    names = ("parallel_stream", "row_by_row", "row_slides", "time_windows")
    records = [each for name in names for task in EXPERIMENTS[name].tasks(tiny) for each in task.measure()]
    rows = {(record.experiment, record.subject) for record in records if record.metric == "rows" and record.value}
    assert rows >= {(name, subject) for name in names for subject in ("sba", "pba")}
    assert rows >= {(name, "slick_deque") for name in names[1:]}
    bars = bars_of(TARGETS, Report("r", Machine.here(), tuple(records)))
    assert [bar.measured is not None for bar in bars] == [True, True]


@pytest.mark.only_compiled
def test_answers_are_timed_by_operator_and_in_the_order_of_time() -> None:
    from dataclasses import replace

    tiny = replace(QUICK, latency_rows=256, operators=("sum",), operator_window=16)
    records = [each for task in EXPERIMENTS["operators"].tasks(tiny) for each in task.measure()]
    assert {record.subject for record in records} == {"two_stacks", "foa", "ioa", "daba"}
    series = [record.get("answer") for record in records if record.metric == "slowest of a part"]
    assert series == 4 * [2 * place for place in range(1, 129)]
    assert all((record.value or 0) > 0 for record in records if record.metric == "mean")


def test_rows_enter_and_leave_in_bulk_up_to_a_tumbling_window() -> None:
    from dataclasses import replace

    tiny = replace(QUICK, bulk_windows=(16,), bulk_steps=64)
    records = [each for task in EXPERIMENTS["bulk_updates"].tasks(tiny) for each in task.measure()]
    slides = {(each.subject, each.aggregate, each.get("of")) for each in records if each.metric == "rows"}
    assert slides == {
        (*names, of) for names in product(("flat_fat", "recalculate"), ("max", "stddev")) for of in SLIDES
    }
    assert {each.metric for each in records} == {"rows", "fixed", "resizing"}


def test_windows_beyond_the_budget_are_left_out_with_a_reason() -> None:
    from dataclasses import replace

    tiny = replace(QUICK, rows=4096, windows=(1, 1024), point_seconds=1e-9)
    records = list(_by_window(tiny, AGGREGATES["max"], ALGORITHMS["recalculate"]))
    assert [record.get("window") for record in records] == [1, 1024]
    assert records[1].value is None and "left out" in records[1].note


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_an_aggregate_that_suits_it(name: str) -> None:
    assert suited(ALGORITHMS[name]).admitted_by(ALGORITHMS[name])


def test_labels_keep_their_distance_and_their_order() -> None:
    heights = _apart([0.5, 0.5, 0.51, 0.9], 0.1)
    assert all(later - earlier > 0.0999 for earlier, later in itertools.pairwise(heights))
    assert abs(sum(heights[:3]) / 3 - (0.5 + 0.5 + 0.51) / 3) < 1e-9


def test_parameters_compare_in_any_order() -> None:
    assert parameters(window=1, slide=2) == parameters(slide=2, window=1)
