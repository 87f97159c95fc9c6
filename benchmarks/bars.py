"""What sash promises of its speed, held against what was measured."""

from collections.abc import Iterator

from benchmarks.records import Bar, Record, Report

__all__ = ["bars_of"]


def bars_of(report: Report) -> tuple[Bar, ...]:
    """Every promise whose experiment was part of the run."""
    ran = {record.experiment for record in report.records}
    parts = {
        "peers": _against_peers,
        "throughput": _flat,
        "latency": _steady,
        "parallel": _parallel,
        "ranges": _ranges,
        "warm_start": _warm_start,
    }
    return tuple(bar for name, part in parts.items() if name in ran for bar in part(report))


def _value(records: list[Record]) -> float | None:
    return next((record.value for record in records if record.value is not None), None)


def _over(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other


def _against_peers(report: Report) -> Iterator[Bar]:
    opponents = {"max": ("polars", "bottleneck"), "sum": ("polars",), "mean": ("polars",), "median": ("polars",)}
    for aggregate, names in opponents.items():
        mine = report.select("peers", subject="sash", aggregate=aggregate)
        for record in mine:
            window = record.get("window")
            rates = {
                name: _value(report.select("peers", subject=name, aggregate=aggregate, window=window)) for name in names
            }
            fastest = max((name for name in names if rates[name]), key=lambda name: rates[name] or 0.0, default="")
            title = f"{aggregate}, window {window}, over {' and '.join(names)}"
            note = f"the faster: {fastest}" if fastest and len(names) > 1 else ""
            yield Bar(title, 1.5, _over(record.value, rates.get(fastest)), note=note)
            if aggregate == "max":
                yield Bar(f"max, window {window}, of the copy", 0.35, record.ratio)


def _flat(report: Report) -> Iterator[Bar]:
    records = [each for each in report.select("throughput", subject="daba_lite", aggregate="max") if each.value]
    slowest = min(records, key=lambda each: each.value or 0.0, default=None)
    note = "" if slowest is None else f"slowest at window {slowest.get('window')}"
    yield Bar(
        "daba_lite max, one thread, of the copy, at every window",
        0.1,
        None if slowest is None else slowest.ratio,
        note=note,
    )
    rates = [each.value for each in records if each.value and int(each.get("window") or 0) >= 16]
    spread = max(rates) / min(rates) if rates else None
    yield Bar("daba_lite max is flat from window 16 on: fastest over slowest", 2, spread, at_most=True)


def _steady(report: Report) -> Iterator[Bar]:
    windows = sorted({int(each.get("window") or 0) for each in report.select("latency", subject="daba_lite")})

    def over_median(subject: str, metric: str, window: int) -> float | None:
        found = {
            m: _value(report.select("latency", subject=subject, metric=m, window=window)) for m in (metric, "median")
        }
        return _over(found[metric], found["median"])

    for metric, note in (
        ("steady max", "each answer at its best of several runs: without the machine's interrupts"),
        ("99.99 %", "of one run"),
        ("max", "of one run, interrupts of the machine included"),
    ):
        ratios = [r for window in windows if (r := over_median("daba_lite", metric, window)) is not None]
        yield Bar(
            f"daba_lite: {metric} over median, all windows", 50, max(ratios, default=None), at_most=True, note=note
        )
    if windows:
        spike = over_median("two_stacks_lite", "steady max", windows[-1])
        smaller = over_median("two_stacks_lite", "steady max", windows[0])
        growth = _over(spike, smaller)
        note = "" if growth is None else f"{growth:.0f} × the spike of a window {windows[-1] // windows[0]} × smaller"
        yield Bar(f"two_stacks_lite spikes: steady max over median, window {windows[-1]}", 50, spike, note=note)


def _parallel(report: Report) -> Iterator[Bar]:
    rates = {name: _value(report.select("parallel", subject=name, metric="rows")) for name in ("pba", "sba")}
    busy = _value(report.select("parallel", subject="pba", metric="cores busy"))
    note = "" if busy is None else f"{busy:.2f} cores busy"
    if busy is not None and busy < 1.2:
        note += ": the second thread found no core, so this says nothing about it"
    yield Bar("pba over sba, moment_sketch", 1.3, _over(rates["pba"], rates["sba"]), note=note)


def _ranges(report: Report) -> Iterator[Bar]:
    ratios = {}
    for record in report.select("ranges", subject="slick_deque"):
        ranges = record.get("ranges")
        ratio = _over(record.value, _value(report.select("ranges", subject="flat_fit", ranges=ranges)))
        if ratio is not None:
            ratios[ranges] = ratio
    note = ", ".join(f"{ratio:.1f} at {ranges}" for ranges, ratio in ratios.items())
    yield Bar("slick_deque over flat_fit, all ranges, worst", 2, min(ratios.values(), default=None), note=note)


def _warm_start(report: Report) -> Iterator[Bar]:
    yield Bar("first answer of a fresh process", 2, _value(report.select("warm_start")), unit="s", at_most=True)
