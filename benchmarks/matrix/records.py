"""A cell as records: time per row at each length, fixed cost, growth with the window, and other libraries."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from benchmarks.matrix.aggregates import group_of
from benchmarks.matrix.cells import TABLE, Cell, refusals
from benchmarks.matrix.columns import COLUMNS
from benchmarks.matrix.engines import call_of, most_rows
from benchmarks.matrix.measurement import Measured, measure
from benchmarks.matrix.peers import peers_of
from benchmarks.records import Parameters, Record, parameters
from benchmarks.settings import MatrixSettings
from sash.errors import SashError

__all__ = ["FAILED", "FIXED", "GROWTH", "REFUSED", "SASH", "TIME", "measure_cell", "refused_records", "time_record"]

SASH = "sash"
TIME, FIXED, GROWTH = "time per row", "fixed cost", "growth"
UNIT = "ns per row"
REFUSED, FAILED = "not supported: ", "failed: "
Found = dict[int, Measured]


def shape_of(cell: Cell, **more: Any) -> Parameters:
    """Return the parameters of a cell."""
    given = {"type": cell.column, "window": cell.window, "group": cell.group, **more}
    return parameters(**given, **({"path": cell.path} if cell.path else {}))


def time_record(experiment: str, subject: str, cell: Cell, length: int, found: Measured, ratio: float | None) -> Record:
    """Return the time per row of a subject."""
    place = shape_of(cell, length=length)
    return Record(
        experiment, subject, TIME, found.ns_per_row, UNIT, cell.aggregate, place, ratio, found.note, found.mark
    )


def not_measured(experiment: str, subject: str, cell: Cell, why: str, **more: Any) -> Record:
    """Return a record that says why a cell has no time."""
    return Record(experiment, subject, TIME, None, UNIT, cell.aggregate, shape_of(cell, **more), None, why)


def reason(error: Exception) -> str:
    """Return one line that says why there is no time: what sash refuses, or what failed."""
    text = " ".join(str(error).split())[:300]
    return f"{REFUSED}{text}" if isinstance(error, SashError) else f"{FAILED}{type(error).__name__}: {text}"


def measure_cell(
    cell: Cell, settings: MatrixSettings, experiment: str = "", lengths: tuple[int, ...] | None = None
) -> Iterator[Record]:
    """Measure a cell of a table or a stream at each length, and the same with other libraries."""
    experiment = experiment or cell.engine
    found: Found = {}
    for length in lengths or settings.lengths:
        try:
            found[length] = measure(
                call_of(cell, length, settings), length, settings, most_rows(cell, length, settings)
            )
        except Exception as error:  # any: one cell that fails must not end the run
            yield not_measured(experiment, SASH, cell, reason(error), length=length)
            break
        others = dict(_beside(cell, length, settings))
        fastest = min((each.ns_per_row for each in others.values()), default=None)
        ratio = fastest / found[length].ns_per_row if fastest else None
        yield time_record(experiment, SASH, cell, length, found[length], ratio)
        for name, each in others.items():
            yield time_record(experiment, name, cell, length, each, (fastest or 0.0) / each.ns_per_row)
    yield from totals(experiment, SASH, cell, found)


def totals(experiment: str, subject: str, cell: Cell, found: Found) -> Iterator[Record]:
    """Return the fixed cost with the shortest windows, and the growth from the shortest to the longest ones."""
    if not found:
        return
    least, most = min(found), max(found)
    place, note = shape_of(cell), f"windows of {least:,} rows"
    yield Record(experiment, subject, FIXED, found[least].fixed_us, "µs", cell.aggregate, place, None, note)
    if most > least:
        grown = found[most].ns_per_row / found[least].ns_per_row
        note = f"from {least:,} to {most:,} rows"
        yield Record(experiment, subject, GROWTH, grown, "×", cell.aggregate, place, None, note, found[most].mark)


def _beside(cell: Cell, length: int, settings: MatrixSettings) -> Iterator[tuple[str, Measured]]:
    """Yield what other libraries take; one that refuses the cell does not have it."""
    if cell.engine != TABLE or cell.kind.nulls:
        return
    limited = replace(settings, cell_seconds=settings.peer_seconds, levels=settings.levels[: settings.peer_levels])
    for name, make in peers_of(cell, length):
        with suppress(Exception):  # each library has its own errors for types that it does not have
            yield name, measure(make, length, limited, most_rows(cell, length, settings))


def refused_records(engine: str) -> Iterator[Record]:
    """Return a record for each aggregate and type that sash refuses."""
    for (aggregate, column), why in refusals().items():
        if not COLUMNS[column].nulls:
            place = parameters(type=column, group=group_of(aggregate))
            yield Record(engine, SASH, TIME, None, UNIT, aggregate, place, None, f"{REFUSED}{why}")
