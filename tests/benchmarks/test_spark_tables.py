"""The experiments on Spark, run for real, small; and what they are made of."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from matplotlib.image import imread

from benchmarks.bars.spark import SPARK_TABLES
from benchmarks.bars.target import bars_of
from benchmarks.command_line import main
from benchmarks.records import Machine, Record, Report, parameters
from benchmarks.settings import QUICK_TABLES as QUICK
from benchmarks.settings import TableSettings
from benchmarks.spark_tables.experiments import EXPERIMENTS, SUITE
from benchmarks.spark_tables.frames import fewer
from benchmarks.spark_tables.measurement import Run, measure, records_of
from benchmarks.spark_tables.process_usage import descendants
from benchmarks.spark_tables.rows import Rows
from benchmarks.spark_tables.separate_process import main as separate_main
from benchmarks.spark_tables.session import LocalSpark
from benchmarks.spark_tables.subjects import (
    DASHBOARD,
    FRAMES,
    JOINS,
    JVM,
    NATIVE,
    PACKED,
    POSITIONS,
    RANGE_JOIN,
    ROLLING,
    SASH,
    TREE,
    UNION,
    WINDOWS,
    Point,
)
from sash.errors import UnknownName

on_spark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The session of the process, if there is one; else one for this module."""
    made = LocalSpark(folder=tmp_path_factory.mktemp("rows"))
    made.spark()
    yield made
    made.close()


class TestOnSpark:
    pytestmark = on_spark

    def test_a_quick_run_measures_both_sides_and_draws_what_it_found(self, local: LocalSpark, tmp_path: Path) -> None:
        spark = local.spark()
        command = ["spark_tables", "--quick", "--only", "slide", "--only", "frames", "--out", str(tmp_path)]
        done = CliRunner().invoke(main, command, catch_exceptions=False)
        assert done.exit_code == 0
        assert spark.range(3).count() == 3, "a session that was there before is left running"
        report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
        assert {record.experiment for record in report.records} == {"slide", "frames"}
        assert {record.subject for record in report.select("slide")} == {NATIVE, SASH}
        assert {record.subject for record in report.select("frames")} == {NATIVE, TREE, SASH}
        assert {record.metric for record in report.records} >= {"time", "shuffled"}
        for record in report.records:
            assert record.unit and record.metric and record.subject
            assert record.note if record.value is None else record.value > 0
        scaled = report.select("frames", subject=NATIVE, metric="time", window=1000)[0]
        assert scaled.mark == "≈" and "20000 rows of 4 keys" in scaled.note
        assert f"≈ {scaled.value:.3g}" in done.stdout
        assert len(report.bars) == 9
        measured = [bar for bar in report.bars if bar.verdict in ("pass", "miss")]
        assert len(measured) == 5 and all(" s" in bar.note for bar in measured)
        assert {bar.verdict for bar in report.bars} - {"pass", "miss"} == {"not measured"}
        pictures = {path.stem for path in tmp_path.glob("*.png")}
        assert pictures == {"slide", "frames_4"}
        for name in pictures:
            image = imread(tmp_path / f"{name}.png")
            assert image.shape[0] > 100 and image[..., :3].std() > 0.01, name
        assert "bars" in done.stdout and "\x1b" not in done.stdout

    @pytest.mark.parametrize("is_keyed", [True, False])
    @pytest.mark.parametrize(("question", "width"), [(WINDOWS, 4), (FRAMES, 9)])
    def test_all_subjects_give_the_same_rows(
        self, local: LocalSpark, question: str, width: int, is_keyed: bool
    ) -> None:
        rows = Rows(1500, 3, 30, hot_percent=50)
        found = {}
        for subject in (NATIVE, TREE, SASH) if question == FRAMES else (NATIVE, SASH, JVM, PACKED):
            point = Point(subject, question, width, rows, is_keyed)
            with point.options(local.spark()):
                answer = point.answer(rows.read(local.spark(), local.folder))
                if subject == NATIVE and question == WINDOWS:
                    answer = answer.select("*", "window.*").withColumnsRenamed(
                        {"start": "window_start", "end": "window_end"}
                    )
                names = ["k"] * is_keyed + ["t"] * (question == FRAMES)
                names += ["window_start", "window_end", "n"] * (question == WINDOWS)
                found[subject] = sorted(map(tuple, answer.select(*names, "peak").collect()))
        assert len(found[NATIVE]) > 30
        assert all(each == found[NATIVE] for each in found.values())

    def test_both_sides_draw_the_same_charts(self, local: LocalSpark) -> None:
        rows = Rows(1500, 3, 30)
        table = rows.read(local.spark(), local.folder)
        native = Point(NATIVE, DASHBOARD, 8, rows).answer(table)
        ours = Point(SASH, DASHBOARD, 8, rows).answer(table)
        parts = ("first", "last", "low", "high")
        expected = native.select("k", "window.start", "window.end", *parts).collect()
        chart = [ours.chart[place] for place in range(4)]  # first, last, min, max
        found = ours.select("k", "window_start", "window_end", *chart).collect()
        assert sorted(map(tuple, found)) == sorted(map(tuple, expected)) and len(found) > 100

    def test_all_subjects_give_the_same_features(self, local: LocalSpark) -> None:
        rows = Rows(2200, 4, 86_400, hot_percent=50, label_each=11)
        table, found = rows.read(local.spark(), local.folder), {}
        for subject in (RANGE_JOIN, UNION, SASH):
            answer = Point(subject, JOINS, 7200, rows).answer(table)
            features = answer.selectExpr("k", "t", "round(total, 6)", "n", "peak", "sites").collect()
            found[subject] = sorted(map(tuple, features))
        assert len(found[SASH]) == 200
        assert all(each == found[SASH] for each in found.values())
        assert Point(ROLLING, JOINS, 7200, rows).answer(table).count() == 2200

    def test_a_quick_run_joins_and_frames_in_every_position(self, local: LocalSpark, tmp_path: Path) -> None:
        command = ["spark_tables", "--quick", "--only", "joins", "--only", "positions", "--out", str(tmp_path)]
        done = CliRunner().invoke(main, command, catch_exceptions=False)
        assert done.exit_code == 0
        report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
        assert {record.subject for record in report.select("joins")} == {SASH, ROLLING, RANGE_JOIN, UNION}
        assert {record.get("frame") for record in report.select("positions")} == set(POSITIONS)
        assert all(record.value for record in report.records)
        assert all(record.mark == "≈" for record in report.select("joins", subject=UNION, metric="time"))
        assert all(bar.measured is not None for bar in report.bars)
        assert {path.stem for path in tmp_path.glob("*.png")} == {"joins", "positions"}

    def test_rows_are_as_many_as_they_are_said_to_be(self, local: LocalSpark) -> None:
        table = Rows(2000, 5, 40).read(local.spark(), local.folder)
        slices = table.groupBy("k", table.t.cast("long")).count().collect()
        assert len(slices) == 5 * 40 and {row["count"] for row in slices} == {10}
        hot = Rows(2000, 5, 40, hot_percent=90).read(local.spark(), local.folder)
        assert 1750 < hot.where("k = 0").count() < 1900

    def test_a_run_that_takes_too_long_is_stopped_and_says_so(self, local: LocalSpark) -> None:
        point = Point(NATIVE, FRAMES, 50_000, Rows(400_000))
        run = measure(local, [point], replace(QUICK, limit_seconds=1.0))[point]
        assert run.is_stopped and run.seconds >= 1.0
        time, *_ = records_of("frames", "max", [(point, run)], NATIVE, {"window": 50_000})
        assert time.mark == ">" and time.note.startswith("stopped after")

    def test_what_runs_alone_travels_as_text_and_comes_back(self, local: LocalSpark, tmp_path: Path) -> None:
        wanted = {
            "master": "local[1]",
            "folder": str(tmp_path),
            "points": [asdict(Point(SASH, WINDOWS, 4, Rows(300, 3, 30)))],
            "settings": asdict(replace(QUICK, warm_rows=100)),
        }
        (run,) = [Run(**each) for each in json.loads(separate_main(json.dumps(wanted)))]
        assert run.seconds > 0 and run.runs == 1 and not run.is_stopped
        assert run.shuffled_bytes > 0 and run.worker_bytes > 10_000_000 <= run.together_bytes


def test_nothing_imports_spark_before_the_suite_runs() -> None:
    script = "import sys, benchmarks.spark_tables.experiments, benchmarks.command_line; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_without_pyspark_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyspark" else find(name))
    done = CliRunner().invoke(main, ["spark_tables", "--quick", "--only", "slide", "--out", str(tmp_path)])
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "pip install 'sash[spark]'" in done.stderr


def test_the_command_names_every_experiment() -> None:
    text = CliRunner().invoke(main, ["spark_tables", "--help"]).output
    assert all(name in text for name in EXPERIMENTS)


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="hot_key"):
        SUITE.plan(["hotkey"])


def test_a_full_run_measures_what_every_bar_is_about() -> None:
    full = TableSettings()
    assert {1, 10, 100, 10_000} <= set(full.slides) and full.native_slides == 100
    assert {1000, 10_000} <= set(full.frame_windows) and full.native_window == 10_000
    assert 1_000_000 in full.keys and {1, 100} == set(full.frame_keys)


def test_fewer_rows_are_as_dense_and_keep_frames_full() -> None:
    rows = Rows(10_000_000, 100, 1000)
    few = fewer(rows, 10_000, 10**9)
    assert few.rows // few.keys >= 5 * 10_000
    assert few.rows / few.keys / few.seconds == pytest.approx(rows.rows / rows.keys / rows.seconds)
    assert fewer(rows, 10, 10**9) == rows


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="memory of other processes is read from /proc")
def test_a_process_sees_those_that_it_started() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        found = {each.number: each for each in descendants()}
        assert {os.getpid(), child.pid} <= set(found) and os.getppid() not in found
        assert found[os.getpid()].resident_bytes > 10_000_000 and not found[child.pid].is_worker
    finally:
        child.communicate(b"\n")


# --- bars --------------------------------------------------------------------------------------------


def _time(experiment: str, subject: str, value: float, mark: str = "", **shape: Any) -> Record:
    return Record(experiment, subject, "time", value, "s", "max", parameters(**shape), None, "", mark)


def _bars(*records: Record) -> list[tuple[float | None, str]]:
    return [(bar.measured, bar.verdict) for bar in bars_of(SPARK_TABLES, Report("r", Machine.here(), records))]


def test_bars_of_windows_read_the_records_they_are_about() -> None:
    ours = [_time("slide", SASH, value, slides=slides) for slides, value in ((1, 6.0), (10, 4.0), (100, 2.0))]
    native = [_time("slide", NATIVE, value, slides=slides) for slides, value in ((1, 5.0), (10, 6.0), (100, 80.0))]
    longest = _time("slide", SASH, 4.0, slides=10_000)
    expected = [(1.2, "pass"), (1.5, "miss"), (40.0, "pass"), (2.0, "miss")]
    assert _bars(*ours, *native, longest) == expected


def test_bars_of_frames_are_of_each_number_of_keys_and_show_what_is_scaled() -> None:
    records = []
    for window, native in ((1000, 60.0), (10_000, 100.0)):
        for subject, value, mark in ((SASH, 8.0, ""), (NATIVE, native, "≈"), (TREE, 16.0, "")):
            records.append(_time("frames", subject, value, mark, window=window, keys=1))
    expected = [(7.5, "pass"), (2.0, "pass"), (12.5, "miss"), (2.0, "pass"), (1.0, "pass")]
    assert _bars(*records) == expected
    assert "native ≈60 s" in bars_of(SPARK_TABLES, Report("r", Machine.here(), tuple(records)))[0].note


def test_bars_of_keys_and_cores() -> None:
    keys = [_time("keys", subject, value, keys=1_000_000) for subject, value in ((SASH, 10.0), (NATIVE, 30.0))]
    assert _bars(*keys) == [(3.0, "pass")]
    cores = [_time("hot_key", SASH, value, cores=n, case="no key") for n, value in ((1, 9.0), (2, 6.0))]
    assert _bars(*cores) == [(1.5, "miss")]


def test_an_experiment_that_did_not_run_leaves_its_bars_out() -> None:
    assert _bars() == []


def test_a_mark_survives_the_way_through_json_and_stands_in_the_table() -> None:
    report = Report("r", Machine.here(), (_time("keys", NATIVE, 300.0, ">", keys=10),))
    assert Report.from_json(report.to_json()) == report
    assert "> 300" in report.text()
