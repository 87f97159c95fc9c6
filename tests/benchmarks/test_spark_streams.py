"""The experiments on streams, run for real, small; and what they are made of."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from matplotlib.image import imread

from benchmarks.bars import SPARK_STREAMS, bars_of
from benchmarks.command_line import main
from benchmarks.records import Bar, Machine, Record, Report, parameters
from benchmarks.settings import QUICK_STREAMS as QUICK
from benchmarks.settings import StreamSettings
from benchmarks.spark_streams.experiments import EXPERIMENTS, SUITE
from benchmarks.spark_streams.files import Files
from benchmarks.spark_streams.measurement import DIFFERENT, WRITTEN, Run, records_of
from benchmarks.spark_streams.progress import Batch, Progress
from benchmarks.spark_streams.session import LOCAL, OPTIONS
from benchmarks.spark_streams.subjects import SESSIONS, WINDOWS, both
from benchmarks.spark_tables.measurement import run_in_turns
from benchmarks.spark_tables.session import LocalSpark
from benchmarks.spark_tables.subjects import NATIVE, SASH
from sash.errors import UnknownName


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The session of the process, if there is one; else one for this module."""
    made = LocalSpark(folder=tmp_path_factory.mktemp("streams"))
    made.spark()
    yield made
    made.close()


@pytest.mark.spark
@pytest.mark.long
def test_a_quick_run_measures_both_sides_which_send_the_same(local: LocalSpark, tmp_path: Path) -> None:
    spark = local.spark()
    before = {name: spark.conf.get(name, None) for name in OPTIONS}
    command = ["spark_streams", "--quick", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    assert done.exit_code == 0
    assert spark.range(3).count() == 3, "a session that was there before is left running"
    assert {name: spark.conf.get(name, None) for name in OPTIONS} == before
    assert LOCAL._made is None, "the files are put away"
    report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {record.experiment for record in report.records} == set(EXPERIMENTS)
    for name in ("slide", "keys", "sessions"):
        assert {record.subject for record in report.select(name)} == {NATIVE, SASH}
    assert {record.subject for record in report.select("growth")} == {SASH}
    compared = [record for record in report.records if record.metric == DIFFERENT]
    assert len(compared) == len(QUICK.slides) + 1 + len(QUICK.keys) * len(QUICK.key_slides) + 1
    assert all(record.value == 0 for record in compared)
    for metric in ("time", "micro-batch", "speed", "state rows", "state", WRITTEN, "results"):
        found = [record for record in report.records if record.metric == metric and not record.note.startswith("left")]
        assert {record.subject for record in found} == {NATIVE, SASH}, metric
        assert all(record.value for record in found), metric
    for metric in ("slices", "state in memory", "log per micro-batch"):
        found = [record for record in report.records if record.metric == metric]
        assert {record.subject for record in found} == {SASH} and all(record.value for record in found), metric
    assert len(report.bars) == 4 + 2 + 1 + 1 + 1
    assert {bar.verdict for bar in report.bars} <= {"pass", "miss"}
    assert report.bars[-1].verdict == "pass" and "differ" in report.bars[-1].name
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    assert pictures == {"slide", "slide_written", "keys", "growth"}
    for name in pictures:
        image = imread(tmp_path / f"{name}.png")
        assert image.shape[0] > 100 and image[..., :3].std() > 0.01, name
    assert "bars" in done.stdout and "\x1b" not in done.stdout


def test_nothing_imports_spark_before_the_suite_runs() -> None:
    script = (
        "import sys, benchmarks.spark_streams.experiments, benchmarks.command_line; print('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_without_pyspark_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyspark" else find(name))
    done = CliRunner().invoke(main, ["spark_streams", "--quick", "--only", "sessions", "--out", str(tmp_path)])
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "spark_streams" in done.stderr
    assert "pip install 'sash[spark]'" in done.stderr


def test_the_command_names_every_experiment_and_shows_examples() -> None:
    text = CliRunner().invoke(main, ["spark_streams", "--help"]).output
    assert all(name in text for name in EXPERIMENTS) and "python -m benchmarks spark_streams --quick" in text


def test_an_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="sessions"):
        SUITE.plan(["session"])


@pytest.mark.parametrize("settings", [StreamSettings(), QUICK], ids=lambda each: each.name)
def test_every_run_measures_what_the_bars_are_about(settings: Any) -> None:
    assert 60 in settings.slides and dict(settings.far)[600] < settings.rows
    assert len(settings.keys) > 1 and settings.growth_keys >= 1000


def test_files_are_read_in_the_order_of_time_and_hold_all_rows(tmp_path: Path) -> None:
    files = Files(1000, 7, files=3, minutes=10)
    paths = sorted(files.write(tmp_path).iterdir(), key=lambda path: path.stat().st_mtime)
    assert [path.name for path in paths] == ["0000.parquet", "0001.parquet", "0002.parquet"]
    tables = [pq.read_table(path) for path in paths]
    times = [time for table in tables for time in table.column("ts").to_pylist()]
    assert len(times) == 1000 and times == sorted(times)
    assert (times[-1] - times[0]).total_seconds() == pytest.approx(600, abs=1)
    assert {key for table in tables for key in table.column("k").to_pylist()} == set(range(7))
    assert files.write(tmp_path) == files.write(tmp_path)


# --- figures -----------------------------------------------------------------------------------------


class Observed(dict[str, Any]):
    """As Spark gives it: a Row."""

    def asDict(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        return dict(self)


def _report(rows: int, millis: int, written: int, **seen: Any) -> dict[str, Any]:
    store = {"numRowsTotal": rows, "memoryUsedBytes": 10 * rows, "customMetrics": {"rocksdbTotalBytesWritten": written}}
    return {
        "numInputRows": rows,
        "durationMs": {"triggerExecution": millis},
        "stateOperators": [store],
        "observedMetrics": {"sash time 1234": Observed(seen)} if seen else {},
    }


def test_a_micro_batch_is_what_spark_and_sash_say_of_it() -> None:
    native = Batch.of(_report(7, 1500, 30))
    assert native == Batch(7, 1.5, 7, 70, 30)
    ours = Batch.of(_report(7, 1500, 30, slices=4, state_bytes=5, written_bytes=6))
    assert ours == Batch(7, 1.5, 7, 70, 30, 4, 5, 6)
    assert Batch.of(_report(0, 10, 0, slices=None, state_bytes=None, written_bytes=None)).slices == 0


def test_the_first_micro_batch_and_those_without_rows_are_not_timed() -> None:
    """Seconds 9 | 1 3 | 5, and the last has no rows: the median is of 1 and 3."""
    batches = [Batch(4, 9.0, 4, 40, 10), Batch(4, 1.0, 8, 80, 10), Batch(4, 3.0, 6, 60, 10), Batch(0, 5.0, 0, 0, 6)]
    progress = Progress.of(batches)
    assert progress.batches == 3 and progress.batch_seconds == 2.0
    assert (progress.state_rows, progress.state_bytes, progress.written_bytes) == (8, 80, 12.0)
    assert Progress.of(batches[:1]).batch_seconds == 9.0
    assert Progress.of([]).batches == 0


def test_points_run_in_turns_until_their_seconds_are_used_up() -> None:
    order = []

    def run(point: float) -> Run:
        order.append(point)
        return Run(point, Progress.of([]), 1, 0, 0.0)

    class Rounds:
        runs, point_seconds = 3, 4.0

    found = run_in_turns([5.0, 2.0, 1.0], run, Rounds())
    assert order == [5.0, 2.0, 1.0, 2.0, 1.0, 1.0] and {point: len(each) for point, each in found.items()} == {
        5.0: 1,
        2.0: 2,
        1.0: 3,
    }


def test_records_of_a_stopped_run_are_marked_and_claim_no_results() -> None:
    native, ours = both(SESSIONS, 30, Files(100, 2))
    progress = Progress.of([Batch(100, 1.0, 5, 50, 10)])
    runs = {native: Run(8.0, progress, 0, 0, 1.0, is_stopped=True), ours: Run(2.0, progress, 9, 0, 1.0)}
    records = {(each.subject, each.metric): each for each in records_of("sessions", runs, {"gap": 30})}
    assert records[NATIVE, "time"].mark == ">" and "stopped" in records[NATIVE, "time"].note
    assert (NATIVE, "results") not in records and (SASH, DIFFERENT) not in records
    assert records[SASH, "time"].ratio == 4.0 and records[SASH, "speed"].value == 50.0
    assert {each.aggregate for each in records.values()} == {"max and count"}


def test_both_sides_of_a_comparison_read_the_same_files() -> None:
    points = both(WINDOWS, 60, Files(100, 2))
    assert [each.subject for each in points] == [NATIVE, SASH] and len({each.files for each in points}) == 1
    assert len({each.name for each in points}) == 2


# --- bars --------------------------------------------------------------------------------------------


def _record(experiment: str, subject: str, value: float, metric: str = "time", **shape: Any) -> Record:
    return Record(experiment, subject, metric, value, "", "max", parameters(**shape))


def _bars(*records: Record) -> list[Bar]:
    return list(bars_of(SPARK_STREAMS, Report("r", Machine.here(), records)))


def test_bars_of_slides_read_the_records_they_are_about() -> None:
    records = [
        _record("slide", SASH, 10.0, slides=60, rows=800),
        _record("slide", NATIVE, 40.0, slides=60, rows=800),
        _record("slide", SASH, 4.0, slides=600, rows=80),
        _record("slide", NATIVE, 40.0, slides=600, rows=80),
        _record("slide", SASH, 12.0, slides=600, rows=800),
        _record("slide", SASH, 2.0, WRITTEN, slides=60, rows=800),
        _record("slide", SASH, 1.0, WRITTEN, slides=600, rows=800),
    ]
    expected = [(4.0, "pass"), (10.0, "miss"), (1.2, "pass"), (2.0, "miss")]
    assert [(bar.measured, bar.verdict) for bar in _bars(*records)] == expected


def test_bars_of_keys_are_of_the_fewest_and_the_most() -> None:
    records = [
        _record("keys", subject, value, keys=keys, slides=10)
        for subject, value in ((SASH, 4.0), (NATIVE, 6.0))
        for keys in (10, 1000, 100_000)
    ]
    bars = _bars(*records)
    assert [bar.name.split(" keys")[0] for bar in bars] == ["10", "100,000"]
    assert [bar.measured for bar in bars] == [1.5, 1.5]


def test_bars_of_sessions_and_of_results_that_differ() -> None:
    times = [_record("sessions", SASH, 8.0, gap=30), _record("sessions", NATIVE, 4.0, gap=30)]
    slower, same = _bars(*times, _record("sessions", SASH, 0, DIFFERENT, gap=30))
    assert (slower.measured, slower.verdict) == (0.5, "miss") and same.verdict == "pass"
    *_, different = _bars(*times, _record("sessions", SASH, 3, DIFFERENT, gap=30))
    assert different.measured == 3 and different.verdict == "miss"


def test_an_experiment_that_did_not_run_leaves_its_bars_out() -> None:
    assert _bars() == []
    assert {bar.verdict for bar in _bars(_record("slide", SASH, 1.0, slides=1, rows=8))} == {"not measured"}
