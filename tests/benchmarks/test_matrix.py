"""The matrix: cells from the catalogs, times from tables that grow, and what the report makes of them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from matplotlib.image import imread

import sash
from benchmarks.bars.matrix import MATRIX
from benchmarks.bars.target import bars_of
from benchmarks.command_line import main
from benchmarks.matrix import experiments, spark
from benchmarks.matrix.aggregates import AGGREGATES, catalog, group_of
from benchmarks.matrix.cells import JVM, PACKED, SPARK, STREAM, TABLE, Cell, Selection, all_cells, layered, refusals
from benchmarks.matrix.columns import COLUMNS, column_of
from benchmarks.matrix.engines import call_of, most_rows
from benchmarks.matrix.measurement import measure
from benchmarks.matrix.peers import peers_of
from benchmarks.matrix.records import GROWTH, TIME, measure_cell, refused_records
from benchmarks.matrix.tables import tables
from benchmarks.matrix.windows import missing_kinds, shapes
from benchmarks.records import Machine, Record, Report, parameters
from benchmarks.run_log import RunLog
from benchmarks.settings import QUICK_MATRIX, MatrixSettings, Size
from benchmarks.suite import Task
from sash.algebra.aggregate import Template
from sash.errors import UnknownName
from sash.kinds.catalog import KINDS
from tests.algebra.templates import CASES, SKETCHES

TINY = MatrixSettings(
    name="quick",
    lengths=(3, 9),
    levels=((Size(40, 2), Size(80, 2)), (Size(100, 2), Size(200, 2))),
    cell_seconds=5.0,
    peer_seconds=5.0,
    runs=1,
    push_rows=25,
)
ON_SPARK = replace(TINY, lengths=(10, 20), spark_levels=((Size(100, 2), Size(200, 2)),), spark_runs=1, spark_warm_ups=1)


# --- from the catalogs -------------------------------------------------------------------------------


def test_every_aggregate_of_sash_is_in_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {each.template.name for each in CASES.values()} | {template.name for template, _ in SKETCHES.values()}
    assert known <= set(AGGREGATES) and "own" in AGGREGATES

    def newest(column: str | None = None) -> Template:
        return sash.last(column)

    monkeypatch.setattr(sash, "newest", newest, raising=False)
    monkeypatch.setattr(sash, "__all__", [*sash.__all__, "newest"])
    assert dict(catalog())["newest"] == sash.last("x")


def test_every_kind_of_window_has_an_example_and_a_new_one_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_kinds() == []

    class Other:
        describes = type("Shifts", (), {})

    monkeypatch.setattr("sash.kinds.catalog.KINDS", (*KINDS, Other))
    assert missing_kinds() == ["Shifts"]
    assert any("Shifts" in note for note in experiments.SUITE.notes({TABLE}))


PLACES = [(shape, engine) for shape in shapes() for engine in (TABLE, STREAM) if engine == TABLE or not shape.is_frame]


@pytest.mark.parametrize(("shape", "engine"), PLACES, ids=lambda each: getattr(each, "name", each))
def test_a_window_is_as_long_as_it_is_said_to_be(shape: Any, engine: str) -> None:
    length = 20
    cell = Cell(engine, "count", "int64", shape.name)
    found = call_of(cell, length, TINY)(Size(600, 2))()
    counts = (pa.concat_tables(found) if isinstance(found, list) else found)["answer"].to_numpy()
    assert counts.max() == length and (shape.name == "landmark" or len(counts) > 2)


@pytest.mark.parametrize("label", COLUMNS)
def test_a_column_has_its_type_and_many_values(label: str) -> None:
    kind, column = COLUMNS[label], column_of(COLUMNS[label], 2000)
    assert column.type == kind.type and (column.null_count > 100) == kind.nulls
    assert len(column.unique()) > (1 if kind.name == "bool" else 90)


def test_numbers_of_a_product_do_not_overflow() -> None:
    for label in ("int64", "float64"):
        values = column_of(COLUMNS[label], 5000, near_one=True).to_numpy()
        assert 0.1 < abs(np.prod(values)) < 10


# --- order and selection -----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [TABLE, STREAM])
def test_the_first_layers_have_every_value_and_every_pair(engine: str) -> None:
    cells = list(all_cells([engine]))
    layers = list(islice(layered(cells), 2))

    def parts(some: list[Cell], many: int) -> set[tuple[str, ...]]:
        names = [(each.aggregate, each.kind.name, each.window) for each in some]
        return {pair for each in names for pair in combinations(each, many)}

    assert parts(layers[0], 1) == parts(cells, 1) and len(layers[0]) < 40
    assert parts([*layers[0], *layers[1]], 2) == parts(cells, 2) and len(layers[1]) < 500
    assert list(islice(layered(cells), 2)) == layers


def test_every_cell_is_in_one_layer() -> None:
    cells = [each for each in all_cells([TABLE, SPARK]) if each.aggregate in ("sum", "first")]
    assert sorted(map(repr, cells)) == sorted(repr(each) for layer in layered(cells) for each in layer)


def test_what_sash_refuses_is_no_cell_and_has_a_reason() -> None:
    assert "does not accept" in refusals()["sum", "string"]
    assert not any((each.aggregate, each.column) == ("sum", "string") for each in all_cells([TABLE]))
    records = list(refused_records(TABLE))
    assert all(each.value is None and each.note.startswith("not supported: ") for each in records)
    assert {(each.aggregate, each.get("type")) for each in records} >= {("sum", "string"), ("string_agg", "int8")}


def test_a_part_is_chosen_by_any_of_its_names() -> None:
    plan = experiments.SUITE.plan(["max", "min", "string", "sliding", TABLE, STREAM])
    labels = [(name, task.label) for name, task in plan]
    wanted = {f"{name} of string{nulls}, sliding" for name in ("max", "min") for nulls in ("", " with nulls")}
    assert sorted(labels) == sorted((engine, each) for engine in (TABLE, STREAM) for each in wanted)
    spark_labels = [task.label for _, task in experiments.SUITE.plan(["max", "int64", "sliding", "packed"])]
    assert sorted(spark_labels) == ["max of int64 with nulls, sliding, packed", "max of int64, sliding, packed"]
    with pytest.raises(UnknownName, match="sliding"):
        Selection.of(["slidng"], [TABLE])


# --- times -------------------------------------------------------------------------------------------


class Machinery:
    """Calls that take as long as they are told to, by a clock of their own."""

    def __init__(self, cost: Callable[[Size], float]) -> None:
        self.now, self.sizes, self.cost = 0.0, list[Size](), cost

    def clock(self) -> float:
        return self.now

    def make(self, size: Size) -> Callable[[], Any]:
        def call() -> None:
            self.sizes.append(size)
            self.now += self.cost(size)

        return call


FULL = MatrixSettings()


def test_the_time_per_row_is_a_slope_and_the_rest_is_the_cost_of_a_call() -> None:
    machine = Machinery(lambda size: 0.003 + size.rows * 250e-9)
    found = measure(machine.make, 100, FULL, clock=machine.clock)
    assert found.ns_per_row == pytest.approx(250) and found.fixed_us == pytest.approx(3000)
    assert found.size == Size(200_000, 10) and found.mark == "" and found.note == "200,000 rows of 10 keys"


def test_a_slow_cell_is_measured_on_fewer_rows_and_says_so() -> None:
    machine = Machinery(lambda size: size.rows * 20e-6)
    found = measure(machine.make, 10_000, FULL, clock=machine.clock)
    assert found.ns_per_row == pytest.approx(20_000) and found.mark == "≈"
    assert found.note == "more rows take too long: from 20,000 rows of 1 key"
    assert max(machine.sizes, key=lambda size: size.rows) == Size(20_000, 1)


def test_a_hopeless_cell_is_measured_on_few_rows_where_long_windows_are_not_full() -> None:
    machine = Machinery(lambda size: size.rows * 2e-3)
    found = measure(machine.make, 10_000, FULL, clock=machine.clock)
    assert found.mark == ">" and "not full" in found.note and found.size == Size(2000, 1)
    assert measure(machine.make, 100, FULL, clock=machine.clock).mark == "≈"
    assert machine.now < 60


def test_a_call_that_compiles_is_repeated() -> None:
    seen = set[Size]()

    def cost(size: Size) -> float:
        compiling = 5.0 if size.rows == 10_000 and size not in seen else 0.0
        seen.add(size)
        return compiling + 0.001 + size.rows * 100e-9

    machine = Machinery(cost)
    found = measure(machine.make, 100, FULL, clock=machine.clock)
    assert found.ns_per_row == pytest.approx(100) and found.mark == ""


def test_rows_of_aggregates_that_collect_are_limited() -> None:
    machine = Machinery(lambda size: size.rows * 1e-9)
    cell = Cell(TABLE, "collect", "int64", "rows_frame")
    limit = most_rows(cell, 10_000, FULL)
    assert limit == 2000 and most_rows(replace(cell, aggregate="sum"), 10_000, FULL) == float("inf")
    assert measure(machine.make, 10_000, FULL, limit, machine.clock).size == Size(2000, 1)


# --- records -----------------------------------------------------------------------------------------


def test_a_cell_gives_its_times_its_growth_and_those_of_others() -> None:
    records = list(measure_cell(Cell(TABLE, "sum", "int64", "rows_frame"), TINY))
    times = {(each.subject, each.get("length")): each for each in records if each.metric == TIME}
    assert set(times) == {(name, length) for name in ("sash", "polars", "pandas", "duckdb") for length in (3, 9)}
    assert all(each.value is not None and each.value > 0 and each.ratio for each in times.values())
    (growth,) = [each for each in records if each.metric == GROWTH]
    assert growth.value == pytest.approx((times["sash", 9].value or 0) / (times["sash", 3].value or 1))
    assert {each.metric for each in records} == {TIME, GROWTH, "fixed cost"}


def test_a_cell_that_sash_refuses_or_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    (refused,) = measure_cell(Cell(TABLE, "sum", "string", "tumbling"), TINY)
    assert refused.value is None and refused.note.startswith("not supported: ") and "sum" in refused.note

    def broken(*_: Any, **__: Any) -> Any:
        raise ArithmeticError("too\nlarge")

    monkeypatch.setattr(sash, "aggregate", broken)
    (failed,) = measure_cell(Cell(TABLE, "sum", "int64", "tumbling"), TINY)
    assert failed.value is None and failed.note == "failed: ArithmeticError: too large"
    assert any("ArithmeticError" in row[1] for table in tables(_report(failed)) for row in table.rows)


@pytest.mark.parametrize("window", ["rows_frame", "range_frame", "tumbling"])
@pytest.mark.parametrize("aggregate", ["sum", "max", "stddev", "median", "quantile", "count_distinct"])
def test_other_libraries_give_the_same_answers(aggregate: str, window: str) -> None:
    cell, length, size = Cell(TABLE, aggregate, "int64", window), 7, Size(120, 3)
    ours = _answers(call_of(cell, length, TINY)(size)())
    peers = dict(peers_of(cell, length))
    assert "duckdb" in peers
    for name, make in peers.items():
        assert _answers(make(size)()) == pytest.approx(ours, rel=1e-9), name


def _answers(table: Any) -> list[float]:
    """Return the answers in their own order; pandas gives them as a column, and the others as a table."""
    column = table["answer"] if hasattr(table, "column_names") or hasattr(table, "with_columns") else table
    values = column.to_pylist() if isinstance(table, pa.Table) else list(column)
    return sorted(-1.0 if each is None or each != each else float(each) for each in values)


def _time(value: float | None, aggregate: str = "sum", subject: str = "sash", **shape: Any) -> Record:
    given = {"type": "int64", "window": "sliding", "length": 100, "group": group_of(aggregate), **shape}
    engine = shape.pop("engine", TABLE)
    given.pop("engine", None)
    return Record(engine, subject, TIME, value, "ns per row", aggregate, parameters(**given))


def _report(*records: Record) -> Report:
    return Report("matrix (full)", Machine.here(), records)


def test_the_worst_cells_come_first_beside_others() -> None:
    growth = Record(TABLE, "sash", GROWTH, 3.0, "×", "max", parameters(type="int64", window="sliding", group="plain"))
    report = _report(_time(50.0), _time(4000.0, "max"), _time(20.0, "max", "polars"), _time(2000.0, "collect"), growth)
    summary, slowest, grows, *_ = tables(report)
    assert [row[0] for row in slowest.rows] == [f"{name} of int64, sliding 100" for name in ("max", "collect", "sum")]
    assert slowest.rows[0] == ("max of int64, sliding 100", "4,000", "1,000", "3", "–", "polars 20")
    assert grows.rows == (("max of int64, sliding", "3 ×"),)
    assert summary.rows[0][:4] == ("table", "3", "1", "1")


def test_bars_are_about_the_slowest_cell_of_each_group() -> None:
    growth = parameters(type="int64", window="sliding", group="plain")
    records = [
        _time(900.0),
        _time(1200.0, "max"),
        _time(2900.0, "collect"),
        Record(TABLE, "sash", GROWTH, 1.5, "×", "max", growth),
        Record(TABLE, "sash", GROWTH, 90.0, "×", "collect", parameters(type="int64", group="collecting")),
    ]
    plain, collecting, grows = bars_of(MATRIX, _report(*records))
    assert (plain.measured, plain.verdict) == (1200.0, "miss")
    assert "1 of 2 are above it; the worst: max of int64, sliding 100" in plain.note
    assert (collecting.measured, collecting.verdict) == (2900.0, "pass")
    assert (grows.measured, grows.verdict) == (1.5, "pass")


def test_frames_are_compared_with_each_library() -> None:
    cells = (("median", "float64", "polars", 40.0), ("median", "float64", "sash", 50.0))
    records = [_time(value, name, subject, type=kind, engine="frames") for name, kind, subject, value in cells]
    bars = {bar.name: bar for bar in bars_of(MATRIX, _report(*records))}
    bar = bars["frame of rows by key, median of float64: times as fast as polars"]
    assert bar.measured == 0.8 and bar.verdict == "pass"


# --- runs --------------------------------------------------------------------------------------------


def _run(folder: Path) -> Any:
    only = [word for name in ("sum", "int64", "tumbling", TABLE, STREAM) for word in ("--only", name)]
    return CliRunner().invoke(main, ["matrix", "--quick", *only, "--out", str(folder)], catch_exceptions=False)


def test_a_run_writes_tables_json_and_heat_maps(tmp_path: Path) -> None:
    done = _run(tmp_path)
    assert done.exit_code == 0 and "the slowest of" in done.stdout
    report = Report.from_json((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {each.get("type") for each in report.records} == {"int64", "int64 with nulls"}
    assert "| sum of int64, tumbling" in (tmp_path / "report.md").read_text(encoding="utf-8")
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    assert pictures == {f"{engine}_by_{across}" for engine in (TABLE, STREAM) for across in ("window", "type")}
    assert all(imread(tmp_path / f"{name}.png")[..., :3].std() > 0.01 for name in pictures)


def test_an_interrupted_run_keeps_its_records_and_is_continued(tmp_path: Path) -> None:
    measured = list[str]()

    def run(resume: bool, most: int = 9) -> Report:
        def one(label: str) -> list[Record]:
            if len(measured) == most:
                raise KeyboardInterrupt
            measured.append(label)
            return [_time(float(len(measured)), type=label)]

        tasks = [(TABLE, Task(label, partial(one, label))) for label in ("int8", "int16", "int32", "int64")]
        with RunLog.open(tmp_path, "matrix (quick)", resume) as log:
            return experiments.SUITE.run(tasks, QUICK_MATRIX, None, log)

    report = run(False, most=2)
    assert len(report.records) == 2 and any("2 of 4 tasks were not finished" in note for note in report.notes)
    log = tmp_path / "records.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    log.write_text("\n".join([*lines, lines[-1][:30]]), encoding="utf-8")  # killed while it wrote
    report = run(True)
    assert [(each.get("type"), each.value) for each in report.records] == [
        (label, float(k + 1)) for k, label in enumerate(("int8", "int16", "int32", "int64"))
    ]
    assert not any("not finished" in note for note in report.notes)
    with RunLog.open(tmp_path, "matrix (full)", True) as other:
        assert other.find(TABLE, "int8") is None, "a log of another run is not continued"
    assert len(run(False, most=8).records) == 4 and len(measured) == 8


@pytest.fixture(scope="module")
def session() -> Iterator[None]:
    """Stop the session of the matrix after the last test, if the matrix started it."""
    yield
    spark.LOCAL.close()


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.usefixtures("session")
class TestOnSpark:
    @pytest.mark.parametrize(
        ("aggregate", "window", "path"),
        [("max", "sliding", JVM), ("median", "tumbling", PACKED), ("max", "rows_frame", "frames")],
    )
    def test_a_cell_is_measured_beside_native(self, aggregate: str, window: str, path: str) -> None:
        records = list(spark.measure_cell(Cell(SPARK, aggregate, "int64", window, path), ON_SPARK))
        assert {(each.subject, each.get("length")) for each in records if each.metric == TIME and each.value} == {
            (subject, length) for subject in ("sash", "native") for length in (10, 20)
        }

    def test_a_path_that_spark_does_not_have_is_not_supported(self) -> None:
        (record,) = spark.measure_cell(Cell(SPARK, "median", "int64", "sliding", JVM), ON_SPARK)
        assert record.value is None and record.note.startswith("not supported: ")
