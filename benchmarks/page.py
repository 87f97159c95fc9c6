"""What the live page costs: `python -m benchmarks.page` measures its bars and prints a table.

- The M4 of random ranges at 2,000 pixels, with 10 million results of one key. Each range is measured three times, and
  the shortest counts.
- The time that a stream takes with 1 and with 50 viewers, divided by its time without a page. Runs alternate, and each
  ratio is that of neighbours, so that a change of the machine's load falls on both. Viewers are another process. The
  processor time of the stream's process contains that of the page.
- The share of one core that the page takes from a stream of 50 pushes per second, in its own threads and in the pushes.
  It does not depend on other load of the machine. A stream that waits for the page at every moment would be slower by
  as much, and no more.
- What one M4 query for each viewer in the stream itself would cost, which the page does not do: the processor time with
  such queries, of 2,000 columns per hour, divided by the time without.
- The delay from the end of a push to the event that shows it.
"""

import json
import multiprocessing
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import click
import numpy as np
import pyarrow as pa

import sash
from sash.cli.table import Table
from sash.cli.terminal import show
from sash.page.kept_results import KeptResults
from sash.page.records import QueryFacts

__all__ = ["main"]

QUERIES = (
    sash.query("minute", sash.sliding("1 minute", every="10 seconds"), peak=sash.max("load"), mean=sash.mean("load")),
    sash.query("hour", sash.sliding("1 hour", every="1 minute"), peak=sash.max("load"), spread=sash.stddev("load")),
    sash.query("use", sash.session(gap="5 seconds"), n=sash.count()),
)
KEYS, PUSH_ROWS, ROWS_PER_SECOND = 100, 10_000, 2_000


# --- M4 ------------------------------------------------------------------------------------------------------


def m4_times(results: int, ranges: int, width: int = 2000) -> list[float]:
    """Return the seconds of the M4 of random ranges, the first with all results."""
    kept = KeptResults(results)
    kept.describe((), "number", [QueryFacts("q", "q", ("x",))])
    dice = np.random.default_rng(1)
    for begin in range(0, results, 50_000):
        ends = np.arange(begin, min(begin + 50_000, results))
        values = dice.normal(size=len(ends)).cumsum()
        columns = {"window_start": ends, "window_end": ends + 1, "x": values}
        kept.add([pa.table({"query": pa.array(["q"] * len(ends)), **columns})])
    kept.m4("q", "", "x", None, None, width)  # makes the line, and compiles
    took = []
    for number in range(ranges):
        start, end = (0, results) if number == 0 else sorted(dice.integers(0, results, 2).tolist())
        took.append(min(_seconds(kept, start, end, width) for _ in range(3)))
    return took


def _seconds(kept: KeptResults, start: float, end: float, width: int) -> float:
    begin = time.perf_counter()
    kept.m4("q", "", "x", start, end, width)
    return time.perf_counter() - begin


# --- a stream with viewers -------------------------------------------------------------------------------------


def pushes(count: int) -> list[dict[str, Any]]:
    """Return rows of a few keys, some of them late."""
    dice, found = np.random.default_rng(7), []
    for number in range(count):
        at = (number * PUSH_ROWS + np.arange(PUSH_ROWS)) / ROWS_PER_SECOND
        late = (dice.random(PUSH_ROWS) < 0.02) * dice.random(PUSH_ROWS) * 20
        times = ((1_767_225_600 + at - late) * 1e6).astype("int64").astype("datetime64[us]")
        found.append({"ts": times, "plug": dice.integers(0, KEYS, PUSH_ROWS), "load": dice.random(PUSH_ROWS) * 100})
    return found


def run(rows: list[dict[str, Any]], rounds: int, viewers: int) -> tuple[float, float]:
    """Return the seconds, and those of the processor, of all pushes with this many viewers; -1: without a page."""
    stream = sash.Stream(QUERIES, on="ts", by="plug", watermark="10 seconds")
    with ExitStack() as stack:
        if viewers >= 0:
            page = stack.enter_context(sash.page(stream))
            stack.enter_context(open_viewers(page.url, viewers))
        stream.push(rows[0])
        wall, processor = time.perf_counter(), time.process_time()
        later = np.timedelta64(len(rows) * PUSH_ROWS // ROWS_PER_SECOND, "s")
        for number in range(rounds):
            for each in rows:
                stream.push({**each, "ts": each["ts"] + number * later})
        return time.perf_counter() - wall, time.process_time() - processor


def with_m4_queries(rows: list[dict[str, Any]], rounds: int, viewers: int) -> float:
    """Return the processor seconds of all pushes with an M4 query for each viewer, whose columns differ in length."""
    columns = (sash.tumbling(f"{1800 + 7 * each} milliseconds") for each in range(viewers))
    queries = [sash.query(f"m4 {place}", each, m4=sash.m4("load")) for place, each in enumerate(columns)]
    stream = sash.Stream((*QUERIES, *queries), on="ts", by="plug", watermark="10 seconds")
    stream.push(rows[0])
    processor = time.process_time()
    later = np.timedelta64(len(rows) * PUSH_ROWS // ROWS_PER_SECOND, "s")
    for number in range(rounds):
        for each in rows:
            stream.push({**each, "ts": each["ts"] + number * later})
    return time.process_time() - processor


def shares(rows: list[dict[str, Any]], seconds: float, viewers: int) -> tuple[float, float]:
    """Return the processor time of other threads, and of the pushes, per second, at 50 pushes per second."""
    stream = sash.Stream(QUERIES, on="ts", by="plug", watermark="10 seconds")
    with ExitStack() as stack:
        if viewers >= 0:
            page = stack.enter_context(sash.page(stream))
            stack.enter_context(open_viewers(page.url, viewers))
        later = np.timedelta64(len(rows) * PUSH_ROWS // ROWS_PER_SECOND, "s")
        count = 50 * int(seconds)
        for number in range(-50, count):  # the first second compiles
            if number == 0:
                wall, own, all_threads = time.perf_counter(), time.thread_time(), time.process_time()
            each = rows[(number + 50) % len(rows)]
            stream.push({**each, "ts": each["ts"] + (number + 50) // len(rows) * later})
            time.sleep(0.02)
        took = time.perf_counter() - wall
        own, all_threads = time.thread_time() - own, time.process_time() - all_threads
        return (all_threads - own) / took, own / count * 50


@contextmanager
def open_viewers(url: str, viewers: int) -> Iterator[None]:
    """Hold connections to the events of a page, in another process, which reads and drops them."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    process = context.Process(target=_view, args=(url, viewers, ready, done), daemon=True)
    process.start()
    ready.wait(30)
    try:
        yield
    finally:
        done.set()
        process.join(10)


def _view(url: str, viewers: int, ready: Any, done: Any) -> None:
    import selectors

    parts, selector = urlsplit(url), selectors.DefaultSelector()
    for _ in range(viewers):
        viewer = socket.create_connection((parts.hostname, parts.port))
        viewer.sendall(f"GET /events?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        viewer.recv(1 << 16)
        selector.register(viewer, selectors.EVENT_READ)
    ready.set()
    while not done.is_set():
        for key, _ in selector.select(0.1):
            if not key.fileobj.recv(1 << 16):  # type: ignore[union-attr]
                selector.unregister(key.fileobj)


# --- delay -----------------------------------------------------------------------------------------------------


def delays(count: int) -> list[float]:
    """Return the seconds from the end of single pushes to the events that show them."""
    stream = sash.Stream(QUERIES, on="ts", by="plug", watermark="10 seconds")
    rows, found = pushes(count), []
    stream.push(rows[0])
    with sash.page(stream) as page:
        parts = urlsplit(page.url)
        viewer = socket.create_connection((parts.hostname, parts.port))
        viewer.sendall(f"GET /events?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        lines = viewer.makefile("rb")
        next(line for line in lines if line.startswith(b"data: "))  # its process has started
        for each in rows[1:]:
            time.sleep(0.7)
            stream.push(each)
            end, newest = time.perf_counter(), each["ts"].max().astype("int64") / 1e6
            for line in lines:
                if line.startswith(b'data: {"unit"') and abs(json.loads(line[6:])["newest"] - newest) < 1e-3:
                    break
            found.append(time.perf_counter() - end)
        viewer.close()
    return found


@click.command()
@click.option("--results", default=10_000_000, show_default=True, help="Results behind the page.")
@click.option("--rounds", default=5, show_default=True, help="Runs of each number of viewers.")
@click.option("--seconds", default=20, show_default=True, help="Seconds of the stream whose share is measured.")
@click.option("--pushes", "count", default=4000, show_default=True, help="Pushes of a run, of 10,000 rows each.")
def main(results: int, rounds: int, seconds: int, count: int) -> None:
    """Measure what the live page costs."""
    took = [each * 1e3 for each in m4_times(results, 200)]
    cells = [_cells(f"M4 of {results:,} results, 2,000 pixels, ms", took, "50")]
    rows = pushes(100)
    run(rows, 1, 1)  # compiles
    for viewers, bar in ((1, "1.02"), (50, "1.05")):
        pairs = [(run(rows, count // 100, -1), run(rows, count // 100, viewers)) for _ in range(rounds)]
        named = f"with {viewers} viewer{'s' * (viewers > 1)} / without a page"
        cells.append(_cells(f"time {named}", [after[0] / before[0] for before, after in pairs], bar))
        cells.append(_cells(f"processor time {named}", [after[1] / before[1] for before, after in pairs], bar))
    _, alone = shares(rows, seconds, -1)
    for viewers, bar in ((1, "2"), (50, "5")):
        threads, own = shares(rows, seconds, viewers)
        cells.append(_cells(f"share of a core, threads of the page, {viewers} viewers, %", [threads * 100], bar))
        cells.append(_cells(f"share of a core, in pushes, {viewers} viewers, %", [(own - alone) * 100], bar))
    without = with_m4_queries(rows, 1, 0)
    for viewers in (1, 5):
        with_m4_queries(rows[:5], 1, viewers)  # compiles
        ratio = with_m4_queries(rows, 1, viewers) / without
        cells.append(_cells(f"processor time with {viewers} M4 queries in the stream / without", [ratio], ""))
    cells.append(_cells("from a push to its event, ms", [each * 1e3 for each in delays(12)], "500"))
    show(Table("The live page", ("what", "median", "worst", "bar"), tuple(cells)))


def _cells(name: str, values: list[float], bar: str) -> tuple[str, str, str, str]:
    return name, f"{statistics.median(values):.3g}", f"{max(values):.3g}", bar


if __name__ == "__main__":
    main()
