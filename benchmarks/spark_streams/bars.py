"""What sash promises of streams, held against what was measured."""

from collections.abc import Iterator

from benchmarks.records import Bar, Record, Report
from benchmarks.spark_streams.measurement import BATCH, DIFFERENT, WRITTEN
from benchmarks.spark_tables.bars import over, said, time_of
from benchmarks.spark_tables.subjects import NATIVE, SASH

__all__ = ["bars_of"]

FEW, FAR = 60, 600  # size / slide
PER_KEY = 0.0003  # seconds that a group of Spark's state operator for Python costs in a micro-batch


def bars_of(report: Report) -> tuple[Bar, ...]:
    """Every promise whose experiment was part of the run."""
    ran = {record.experiment for record in report.records}
    parts = {"slide": _slide, "keys": _keys, "sessions": _sessions, "growth": _growth}
    bars = [bar for name, part in parts.items() if name in ran for bar in part(report)]
    return (*bars, *_same(report))


def _as_fast(report: Report, name: str, required: float, experiment: str, **shape: object) -> Bar:
    ours, native = (time_of(report, experiment, subject, **shape) for subject in (SASH, NATIVE))
    return Bar(f"{name}: times as fast as native", required, over(native, ours), note=said(native, ours))


def _slide(report: Report) -> Iterator[Bar]:
    yield _as_fast(report, f"size/slide {FEW}", 3.0, "slide", slides=FEW)
    sizes = sorted({int(each.get("rows") or 0) for each in report.select("slide", slides=FAR)})
    few, every = (sizes[0], sizes[-1]) if len(sizes) > 1 else (None, None)
    yield _as_fast(report, f"size/slide {FAR}, fewer rows", 15.0, "slide", slides=FAR, rows=few)
    near, far = time_of(report, "slide", slides=FEW), time_of(report, "slide", slides=FAR, rows=every)
    name = f"size/slide {FAR}: time over that at {FEW}"
    yield Bar(name, 1.5, over(far, near), at_most=True, note=said(near, far))
    near, far = _written(report, slides=FEW), _written(report, slides=FAR, rows=every)
    note = "" if near is None or far is None else f"{near.value:.3g} and {far.value:.3g} MB"
    name = f"size/slide {FEW} and {FAR}: state written per micro-batch, larger over smaller"
    ratios = [each for each in (over(far, near), over(near, far)) if each is not None]
    yield Bar(name, 1.2, max(ratios, default=None), at_most=True, note=note)


def _written(report: Report, **shape: object) -> Record | None:
    found = report.select("slide", subject=SASH, metric=WRITTEN, **shape)
    return found[0] if found else None


def _keys(report: Report) -> Iterator[Bar]:
    """Of the fewest keys and of the most."""
    records = report.select("keys")
    keys = sorted({int(each.get("keys") or 0) for each in records})
    for some in dict.fromkeys((keys[0], keys[-1])):
        for slides in dict.fromkeys(each.get("slides") for each in records):
            name = f"{some:,} keys, size/slide {slides}"
            yield _as_fast(report, name, 1.0, "keys", keys=some, slides=slides)


def _sessions(report: Report) -> Iterator[Bar]:
    yield _as_fast(report, "sessions", 1.0, "sessions")


def _growth(report: Report) -> Iterator[Bar]:
    """A micro-batch of few rows of many keys, beside what a group of Spark's state for each key would cost."""
    found = report.select("growth", subject=SASH, metric=BATCH)
    if found:
        fewest = min(found, key=lambda each: int(each.get("batch_rows") or 0))
        keys, seconds = int(fewest.get("keys") or 0), fewest.value
        name = f"{keys:,} keys, micro-batch of {fewest.get('batch_rows'):,} rows: of {1000 * PER_KEY} ms per key"
        measured = None if seconds is None else seconds / (PER_KEY * keys)
        yield Bar(name, 0.1, measured, at_most=True, note="" if seconds is None else f"{seconds:.3g} s")


def _same(report: Report) -> Iterator[Bar]:
    found = [each.value for each in report.records if each.metric == DIFFERENT and each.value is not None]
    if found:
        note = f"{len(found)} comparisons"
        yield Bar("results that differ from native's", 0.0, sum(found), unit="rows", at_most=True, note=note)
