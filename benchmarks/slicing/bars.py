"""What sash promises of streams, held against what was measured."""

from collections.abc import Iterator

from benchmarks.records import Bar, Record, Report

__all__ = ["bars_of"]


def bars_of(report: Report) -> tuple[Bar, ...]:
    """Every promise whose experiment was part of the run."""
    ran = {record.experiment for record in report.records}
    parts = {
        "concurrent": _concurrent,
        "constrained": _constrained,
        "one_row": _one_row,
        "keys": _keys,
        "memory_by_rows": _memory,
        "flat": _flat,
    }
    return tuple(bar for name, part in parts.items() if name in ran for bar in part(report))


def _one(report: Report, experiment: str, subject: str = "sash", **wanted: object) -> Record | None:
    found = report.select(experiment, subject=subject, **wanted)
    return found[0] if found else None


def _over(one: Record | None, other: Record | None) -> float | None:
    if one is None or other is None or one.value is None or not other.value:
        return None
    return one.value / other.value


def _ratio(record: Record | None) -> float | None:
    return None if record is None else record.ratio


def _rate(record: Record | None) -> str:
    return "" if record is None or record.value is None else f"{record.value:.3g} {record.unit}"


def _concurrent(report: Report) -> Iterator[Bar]:
    one, some, many, most = (_one(report, "concurrent", windows=windows) for windows in (1, 20, 100, 1000))
    yield Bar("20 windows in order, of the copy", 1 / 15, _ratio(some), note=_rate(some))
    yield Bar("1,000 windows in order, of the copy", 1 / 40, _ratio(most), note=_rate(most))
    yield Bar("1,000 windows over one window", 1 / 3, _over(most, one), note=f"one window: {_rate(one)}")
    buckets = _one(report, "concurrent", "aggregate_buckets", windows=100)
    yield Bar("100 windows over aggregate_buckets", 10, _over(many, buckets), note=f"buckets: {_rate(buckets)}")


def _constrained(report: Report) -> Iterator[Bar]:
    some = _one(report, "constrained", windows=20)
    yield Bar("20 windows, a session, 20 % late, of the copy", 1 / 40, _ratio(some), note=_rate(some))


def _one_row(report: Report) -> Iterator[Bar]:
    plain, keyed = (_one(report, "one_row", keys=keys) for keys in (0, 10))
    value = None if plain is None else plain.value
    yield Bar("pushes of one row", 10_000, value, unit="pushes/s", note=f"10 keys: {_rate(keyed)}")


def _keys(report: Report) -> Iterator[Bar]:
    again = _one(report, "keys", metric="rows", rows_per_slice=10)
    first = _one(report, "keys", metric="rows, first push", rows_per_slice=10)
    thin = _one(report, "keys", metric="rows", rows_per_slice=1)
    note = f"first push: {_rate(first)}; a slice per row: {_rate(thin)}"
    value = None if again is None else again.value
    yield Bar("many keys, ten rows each, known keys", 5, value, unit="million rows/s", note=note)


def _memory(report: Report) -> Iterator[Bar]:
    records = report.select("memory_by_rows", subject="sash", measure="time")
    taken = [each.value for each in sorted(records, key=lambda each: int(each.get("rows") or 0)) if each.value]
    spread = taken[-1] / taken[0] if taken else None
    note = f"{taken[0]:,.0f} bytes" if taken else ""
    yield Bar("memory of a time window, most rows over fewest", 1, spread, at_most=True, note=note)


def _flat(report: Report) -> Iterator[Bar]:
    for metric in ("largest state", "keys"):
        found = report.select("flat", metric=metric)
        few, many = (found[0], found[-1]) if found else (None, None)
        note = "" if few is None else f"after {few.get('rows'):,} rows: {few.value:,.0f} {few.unit}"
        name = "memory" if metric == "largest state" else metric
        yield Bar(f"{name} after ten times the rows, keys come and go", 1, _over(many, few), at_most=True, note=note)
