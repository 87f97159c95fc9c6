"""The matrix as tables: what was measured, the worst cells first, what grows, and the worst by aggregate."""

import statistics
from collections.abc import Iterable, Iterator

from benchmarks.matrix.records import FAILED, FIXED, GROWTH, REFUSED, SASH, TIME
from benchmarks.records import Record, Report
from sash.cli.table import Table

__all__ = ["GROWS", "LIMITS", "above", "cell_name", "crossed", "tables", "worst"]

LIMITS = {"plain": 1000.0, "sketch": 3000.0, "collecting": 3000.0}  # ns per row, by group
GROWS = 2.0  # from the shortest to the longest window
MOST_CELLS, MOST_GROWING = 30, 15


def worst(records: Iterable[Record], metric: str = TIME) -> list[Record]:
    """Return the measured records of sash, the worst first."""
    found = [
        each for each in records if each.subject.startswith(SASH) and each.metric == metric and each.value is not None
    ]
    return sorted(found, key=lambda each: -(each.value or 0.0))


def above(record: Record) -> bool:
    """Return whether a record is above its limit."""
    if record.metric == GROWTH:
        return (record.value or 0.0) > GROWS and record.get("group") != "collecting"
    limit = limit_of(record)
    return limit is not None and (record.value or 0.0) > limit


def limit_of(record: Record) -> float | None:
    """Return the most that a row of a cell should take; None on Spark, which is compared with native Spark."""
    return None if record.get("path") else LIMITS[str(record.get("group"))]


def cell_name(record: Record) -> str:
    """Return a cell as text."""
    length = f" {record.get('length'):,}" if record.get("length") else ""
    path = f" ({record.get('path')})" if record.get("path") else ""
    return f"{record.aggregate} of {record.get('type')}, {record.get('window')}{length}{path}"


def tables(report: Report) -> Iterator[Table]:
    """Return the tables of a report."""
    engines = list(dict.fromkeys(record.experiment for record in report.records))
    if engines:
        yield _summary(report, engines)
    for engine in engines:
        records = report.select(engine)
        yield from _engine(engine, records)
    if report.bars:
        yield report.bar_table()


def _engine(engine: str, records: list[Record]) -> Iterator[Table]:
    found, growing = worst(records), worst(records, GROWTH)
    others: dict[str, list[Record]] = {}
    for each in records:
        others.setdefault(_place(each), []).append(each)
    if found:
        headings = ("cell", "sash [ns per row]", "limit", "growth", "fixed cost [µs]", "others [ns per row]")
        rows = tuple(_row(each, others) for each in found[:MOST_CELLS])
        yield Table(f"{engine}: the slowest of {len(found)} times", headings, rows)
    grown = [each for each in growing if above(each)][:MOST_GROWING]
    if grown:
        rows = tuple((cell_name(each), f"{each.mark} {each.value:.3g} ×".strip()) for each in grown)
        yield Table(f"{engine}: cells that grow more than {GROWS:g} ×", ("cell", "growth"), rows)
    for across in ("window", "type"):
        if found:
            yield _crossed(engine, across, found)
    failed = list(dict.fromkeys((cell_name(each), each.note) for each in records if each.note.startswith(FAILED)))
    if failed:
        yield Table(f"{engine}: cells that failed", ("cell", "error"), tuple(failed[:MOST_CELLS]))


def _place(record: Record) -> str:
    return f"{record.aggregate} {record.get('type')} {record.get('window')} {record.get('path')}"


def _row(record: Record, others: dict[str, list[Record]]) -> tuple[str, ...]:
    alike = others[_place(record)]

    def value(metric: str) -> str:
        return next((f"{each.value:.3g}" for each in alike if each.metric == metric and each.value is not None), "–")

    beside = [
        f"{each.subject} {each.mark}{each.value:.0f}"
        for each in alike
        if each.metric == TIME and not each.subject.startswith(SASH) and each.get("length") == record.get("length")
        if each.value is not None
    ]
    time = f"{record.mark} {record.value:,.0f}".strip()
    limit = limit_of(record)
    return (
        cell_name(record),
        time,
        "–" if limit is None else f"{limit:,.0f}",
        value(GROWTH),
        value(FIXED),
        ", ".join(beside),
    )


def _summary(report: Report, engines: list[str]) -> Table:
    def row(engine: str) -> tuple[str, ...]:
        records = report.select(engine)
        found = worst(records)
        refused = len({_place(each) for each in records if each.note.startswith(REFUSED)})
        failed = len({_place(each) for each in records if each.note.startswith(FAILED)})
        counts = len({_place(each) for each in found}), sum(map(above, found)), sum(map(above, worst(records, GROWTH)))
        middle = f"{statistics.median(each.value or 0.0 for each in found):,.0f}" if found else "–"
        most = f"{found[0].value:,.0f}" if found else "–"
        return (engine, *(f"{each:,}" for each in counts), middle, most, str(refused), str(failed))

    headings = (
        "engine",
        "cells",
        "too slow",
        "grow",
        "median [ns per row]",
        "worst [ns per row]",
        "not supported",
        "failed",
    )
    return Table("matrix", headings, tuple(map(row, engines)))


def crossed(found: Iterable[Record], across: str) -> dict[tuple[str, str], float]:
    """Return the worst time by aggregate and by window or type; a type with nulls counts as the type."""
    most: dict[tuple[str, str], float] = {}
    for each in found:
        place = each.aggregate, str(each.get(across)).removesuffix(" with nulls")
        most[place] = max(most.get(place, 0.0), each.value or 0.0)
    return most


def _crossed(engine: str, across: str, found: list[Record]) -> Table:
    most = crossed(found, across)
    heads = sorted({head for _, head in most})
    rows = tuple(
        (name, *(f"{most[name, head]:,.0f}" if (name, head) in most else "–" for head in heads))
        for name in sorted({name for name, _ in most})
    )
    return Table(f"{engine}: the worst by {across} [ns per row]", ("aggregate", *heads), rows)
