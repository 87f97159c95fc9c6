"""The suite matrix: tables, streams and Spark as experiments, and every cell as a task."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from benchmarks import plots
from benchmarks.bars.matrix import MATRIX
from benchmarks.matrix import spark
from benchmarks.matrix.cells import SPARK, STREAM, TABLE, Cell, Selection, all_cells, layered
from benchmarks.matrix.peers import PEERS
from benchmarks.matrix.records import measure_cell, refused_records
from benchmarks.matrix.tables import tables
from benchmarks.matrix.windows import missing_kinds
from benchmarks.records import Record
from benchmarks.settings import QUICK_MATRIX, MatrixSettings
from benchmarks.suite import Experiment, Suite, Task, by_name

__all__ = ["EXPERIMENTS", "SUITE"]

FRAMES = "frames"
# Frames that are compared with other libraries at a length of their own, on all rows.
COMPARED = (
    *(Cell(TABLE, name, "float64", "rows_frame") for name in ("median", "quantile")),
    Cell(TABLE, "count_distinct", "string", "rows_frame"),
)


def _selection(settings: MatrixSettings) -> Selection:
    return Selection.of(settings.only, EXPERIMENTS)


def _tasks(engine: str, settings: MatrixSettings) -> Iterator[Task]:
    """Yield a task for each wanted cell of an engine; a part of the matrix has all its layers."""
    selection = _selection(settings)
    if not selection.is_part:
        yield Task(f"{engine}: what sash refuses", partial(refused_records, engine))
    run = spark.measure_cell if engine == SPARK else measure_cell
    cells = [each for each in all_cells([engine]) if selection.has(each) and _is_sampled(each, settings, selection)]
    for layer in islice(layered(cells), None if selection.is_part else settings.layers):
        for cell in layer:
            yield Task(str(cell), partial(run, cell, settings))


def _is_sampled(cell: Cell, settings: MatrixSettings, selection: Selection) -> bool:
    return settings.types is None or bool(selection.columns) or cell.kind.name in settings.types


def _frame_tasks(settings: MatrixSettings) -> Iterator[Task]:
    """Yield the frames that are compared with other libraries."""
    selection = _selection(settings)
    for cell in COMPARED:
        if selection.has(cell):
            yield Task(str(cell), partial(_compared, cell, settings))


def _compared(cell: Cell, settings: MatrixSettings) -> Iterator[Record]:
    whole = replace(settings, peer_levels=len(settings.levels), peer_seconds=10 * settings.cell_seconds)
    yield from measure_cell(cell, whole, FRAMES, (settings.frame_length,))


EXPERIMENTS = by_name(
    Experiment(FRAMES, "How fast are frames of ranks beside other libraries?", _frame_tasks),
    Experiment(TABLE, "How long does a row of a table take, in every cell?", partial(_tasks, TABLE)),
    Experiment(STREAM, "How long does a row of a stream take, in every cell?", partial(_tasks, STREAM)),
    Experiment(SPARK, "How long does a row take on Spark, on every path?", partial(_tasks, SPARK)),
)


@dataclass(frozen=True)
class MatrixSuite(Suite[MatrixSettings]):
    """A suite whose parts are also named by aggregate, type and window."""

    def plan(self, only: Iterable[str] = (), settings: MatrixSettings | None = None) -> list[tuple[str, Task]]:
        """Return the cells of these engines, aggregates, types and windows; engines take turns, Spark comes last."""
        chosen = replace(settings or self.full, only=tuple(only))
        engines = _selection(chosen).engines or set(self.experiments)
        planned = {name: list(each.tasks(chosen)) for name, each in self.experiments.items() if name in engines}
        frames, others = planned.pop(FRAMES, []), planned.pop(SPARK, [])
        turns = [(name, k, task) for name, tasks in planned.items() for k, task in enumerate(tasks)]
        found = [(name, task) for name, _, task in sorted(turns, key=lambda each: each[1])]
        return [*((FRAMES, task) for task in frames), *found, *((SPARK, task) for task in others)]


def _notes(names: set[str]) -> Iterator[str]:
    if names & {TABLE, STREAM, FRAMES}:
        yield "The time is processor time of all threads: what one core takes. A row has one of ten keys."
        yield (
            "≈: measured on fewer rows, because more take too long. >: so few that long windows are not full; the time "
            "of all rows is higher. Notes are in report.json."
        )
    if SPARK in names:
        yield "On Spark, the time is seconds on two cores, from the plan to the last row."
    if missing_kinds():
        yield f"Kinds of windows without an example in benchmarks/matrix/windows.py: {', '.join(missing_kinds())}."


SUITE = MatrixSuite(
    "matrix",
    "Measure every aggregate over every window, for every type, on tables, streams and Spark.",
    EXPERIMENTS,
    MatrixSettings(),
    QUICK_MATRIX,
    MATRIX,
    plots.MATRIX,
    _notes,
    ("sash", "numba", "numpy", "pyarrow", "pyspark", *PEERS),
    spark.LOCAL.close,
    tables,
    "Run a part: an engine, aggregate, type or window, such as sum, string or sliding; repeat it for several.",
)
