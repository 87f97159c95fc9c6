"""What sash promises of Spark, held against what was measured."""

from collections.abc import Iterable, Iterator

from benchmarks.records import Bar, Record, Report
from benchmarks.spark_tables.measurement import TIME
from benchmarks.spark_tables.subjects import NATIVE, SASH, TREE

__all__ = ["bars_of", "over", "said", "time_of"]


def bars_of(report: Report) -> tuple[Bar, ...]:
    """Every promise whose experiment was part of the run."""
    ran = {record.experiment for record in report.records}
    parts = {"slide": _slide, "frames": _frames, "keys": _keys, "hot_key": _hot_key}
    return tuple(bar for name, part in parts.items() if name in ran for bar in part(report))


def time_of(report: Report, experiment: str, subject: str = SASH, **wanted: object) -> Record | None:
    """The time of a subject at one point."""
    found = report.select(experiment, subject=subject, metric=TIME, **wanted)
    return found[0] if found else None


def over(one: Record | None, other: Record | None) -> float | None:
    """How many times the other, where both were measured."""
    if one is None or other is None or one.value is None or not other.value:
        return None
    return one.value / other.value


def said(*records: Record | None) -> str:
    """The times that a bar is about; where one is stopped or scaled, its mark says so."""
    known = [each for each in records if each is not None and each.value is not None]
    return ", ".join(f"{each.subject} {each.mark}{each.value:.3g} s" for each in known)


def _growth(records: Iterable[Record | None]) -> tuple[float | None, str]:
    """The slowest over the fastest; of one record, nothing can be said."""
    known = [each for each in records if each is not None and each.value]
    times = [each.value or 0.0 for each in known]
    return (max(times) / min(times), f"{min(times):.3g} to {max(times):.3g} s") if len(times) > 1 else (None, "")


def _slide(report: Report) -> Iterator[Bar]:
    for slides, required, at_most in ((1, 1.3, True), (10, 2.0, False), (100, 30.0, False)):
        ours, native = time_of(report, "slide", slides=slides), time_of(report, "slide", NATIVE, slides=slides)
        if at_most:
            measured, name = over(ours, native), "size/slide 1: time over native's"
        else:
            measured, name = over(native, ours), f"size/slide {slides}: times as fast as native"
        yield Bar(name, required, measured, at_most=at_most, note=said(native, ours))
    few, many = (time_of(report, "slide", slides=slides) for slides in (100, 10_000))
    note = said(few, many)
    yield Bar("size/slide 10,000: time over that at 100", 1.5, over(many, few), at_most=True, note=note)


def _frames(report: Report) -> Iterator[Bar]:
    for keys in dict.fromkeys(each.get("keys") for each in report.select("frames")):
        of = "1 key" if keys == 1 else f"{keys} keys"
        for window, required in ((1000, 5.0), (10_000, 15.0)):
            ours, native, tree = (
                time_of(report, "frames", subject, keys=keys, window=window) for subject in (SASH, NATIVE, TREE)
            )
            name = f"rows={window}, {of}: times as fast as native"
            yield Bar(name, required, over(native, ours), note=said(native, ours))
            name += " with its segment tree"
            yield Bar(name, 1.5, over(tree, ours), note=said(tree, ours))
        spread, note = _growth(report.select("frames", subject=SASH, metric=TIME, keys=keys))
        yield Bar(f"frames, {of}: slowest over fastest, all windows", 1.5, spread, at_most=True, note=note)


def _keys(report: Report) -> Iterator[Bar]:
    ours, native = (time_of(report, "keys", subject, keys=1_000_000) for subject in (SASH, NATIVE))
    name = "1,000,000 keys of 10 rows, size/slide 10: times as fast as native"
    yield Bar(name, 1.5, over(native, ours), note=said(native, ours))


def _hot_key(report: Report) -> Iterator[Bar]:
    for case in dict.fromkeys(each.get("case") for each in report.select("hot_key")):
        one, two = (time_of(report, "hot_key", case=case, cores=cores) for cores in (1, 2))
        busy = report.select("hot_key", subject=SASH, metric="cores busy", case=case, cores=2)
        note = said(one, two) + (f", {busy[0].value:.2f} cores busy" if busy else "")
        yield Bar(f"{case}: two cores, times as fast as one", 1.6, over(one, two), note=note)
