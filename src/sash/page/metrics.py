"""Figures for Prometheus, under the names of `sash.progress`."""

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from sash.page.records import Figures, State, StreamFacts

__all__ = ["HELP", "PREFIX", "exposition"]

PREFIX = "sash_"

# Positions are seconds since 1970 if the column `on` is a time (label unit="time"), and otherwise in its own unit.
HELP = {
    "batch": "Number of the last micro-batch, or of the last reading of a sash.Stream",
    "rows": "Rows of the last micro-batch",
    "rows_per_second": "Rows per second that the stream processed in the last micro-batch",
    "input_rows_per_second": "Rows per second that came from the source in the last micro-batch",
    "results_per_second": "Results per second that the stream emitted in the last micro-batch",
    "watermark": "The watermark, a position: rows before it are late",
    "newest": "The largest position so far",
    "watermark_lag": "Distance of the watermark behind the newest row",
    "results": "Results of the last micro-batch",
    "open_windows": "Windows with rows that are not closed, an upper bound for keys with gaps",
    "late": "Rejected rows of the last micro-batch",
    "late_rows": "Rejected rows since the stream first started",
    "slices": "Slices in the state",
    "keys": "Keys in the state",
    "state_bytes": "Size of the state in bytes",
    "written_bytes": "Bytes that the last micro-batch wrote to the state store",
    "combines_per_row": "Combines of two partials per row, about",
    "next_end": "The first end of a window after the watermark, a position",
    "ahead": "Seconds that the watermark is ahead of the clock, if it is",
    "running": "1 while the stream runs, 0 after it has stopped or failed",
    "viewers": "Browsers that show the page",
    "missed_results": "Results that the page could not keep because it was too slow",
}


def exposition(facts: StreamFacts, figures: Figures, state: State, viewers: int, missed: int) -> bytes:
    """Return all figures in the text format of Prometheus; one without a value is left out.

    >>> facts = StreamFacts("plugs", "number", (), None, 0.0, ())
    >>> text = exposition(facts, Figures(keys=3), "running", 1, 0).decode()
    >>> [line for line in text.splitlines() if line.startswith("sash_keys")]
    ['sash_keys{stream="plugs",unit="number"} 3.0']
    """
    own = {"running": float(state == "running"), "viewers": viewers, "missed_results": missed}
    registry = CollectorRegistry()
    for name, text in HELP.items():
        gauge = Gauge(PREFIX + name, text, ["stream", "unit"], registry=registry)
        value = own[name] if name in own else getattr(figures, name)
        if value is not None:
            gauge.labels(facts.title, facts.unit).set(value)
    return generate_latest(registry)
