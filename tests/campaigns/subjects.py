"""What can be saved: a state of each kind, how it is restored, and how it is used then."""

import datetime as dt
import decimal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import sash
from sash.errors import SashError
from sash.plan.query import Query
from sash.swag.catalog import ALGORITHMS
from sash.swag.facts import Sizes

__all__ = ["Subject", "rows_at", "streams", "windows"]


@dataclass(frozen=True)
class Subject:
    """A saved state, and what is done with it."""

    name: str
    blob: bytes
    restore: Callable[[bytes], Any]
    use: Callable[[Any], None]


# --- one window that slides by hand ----------------------------------------------------------------


def _slid(algorithm: str, aggregate: Any, values: Sequence[Any], evictions: int) -> sash.swag.Window:
    window = sash.swag.open(algorithm, aggregate)
    window.insert_many(list(values))
    if evictions:
        window.evict(evictions)
    window.query()
    return window


def _scattered() -> sash.swag.Window:
    """Rows by position, with nodes that were freed."""
    window = sash.swag.open("fiba", sash.sum())
    window.insert_at([(37 * k) % 211 for k in range(150)], list(range(150)))
    window.evict_until(60)
    for position in (100, 150, 151):
        window.evict_at(position)
    return window


def _slide_on(value: Any) -> Callable[[sash.swag.Window], None]:
    def use(window: sash.swag.Window) -> None:
        again = sash.swag.open(window.algorithm, window.aggregate).restore(window.save())
        for each in (window, again):
            if len(each):
                each.query()
                each.query(last=max(1, len(each) // 2)) if ALGORITHMS[each.algorithm].facts.ranges else None
            for k in range(20):
                each.insert(value(k))
                if k % 2 and len(each):
                    each.evict()
                each.query()
            if ALGORITHMS[each.algorithm].facts.sizes is Sizes.UNORDERED:
                each.insert_at([5, 95, 2**40, -3], [value(k) for k in range(4)])
                each.evict_at(95)
                each.query_positions(0, 100)
                each.evict_until(7)
            if ALGORITHMS[each.algorithm].has_step("query_between"):
                each.query_range(1, len(each))
                each.update_at([len(each) - 1, 0], [value(3), value(4)])
            if ALGORITHMS[each.algorithm].has_step("remove_at"):
                each.remove_at(len(each) // 2)
                each.insert(value(2))
            while len(each):
                each.evict(min(len(each), 7))
            each.insert(value(1))
            each.query()

    return use


def windows() -> list[Subject]:
    """Each algorithm over numbers and over objects, empty and with rows that have wrapped round its ring."""
    found = []
    for name, algorithm in ALGORITHMS.items():
        for label, aggregate, value in (
            ("sum", sash.sum(), int),
            ("max", sash.max(), float),
            ("words", sash.string_agg(), str),
        ):
            try:
                sash.swag.open(name, aggregate)
            except SashError:
                continue
            for rows, evictions in ((0, 0), (45, 20)):
                if not rows and label != "sum":
                    continue
                start = _slid(name, aggregate, [value(k) for k in range(rows)], evictions) if rows else None
                window = sash.swag.open(name, aggregate) if start is None else start
                found.append(_by_hand(f"{name} {label} {rows}", window, value))
        if algorithm.facts.sizes is Sizes.UNORDERED:
            found.append(_by_hand(f"{name} scattered", _scattered(), int))
    return found


def _by_hand(name: str, window: sash.swag.Window, value: Any) -> Subject:
    def restore(blob: bytes) -> Any:
        return sash.swag.open(window.algorithm, window.aggregate).restore(blob)

    return Subject(name, window.save(), restore, _slide_on(value))


# --- streams ---------------------------------------------------------------------------------------

NUMBERS = {"n": sash.count(), "s": sash.sum("x"), "m": sash.max("x"), "last": sash.last("x")}


class Rises(sash.ContextAwareWindow):
    """From a row above 5 to the next that is not."""

    reads = ("z",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position, z in zip(positions, columns["z"], strict=True):
            since = context.memory.get("since")
            if z > 5 and since is None:
                context.memory["since"] = position
            elif z <= 5 and since is not None:
                if position > since:
                    context.add(since, position)
                context.memory["since"] = None


class Decades(sash.ContextFreeWindow):
    """[10k, 10k + 10), as far as a few thousand of them go."""

    reach = 10

    def next_edge(self, position: Any) -> Any:
        return position // 10 * 10 + 10

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        if until - after > 100_000:
            raise ValueError("that is too long ago")
        return [(k * 10, k * 10 + 10) for k in range(after // 10, until // 10) if after < k * 10 + 10 <= until]


def rows_at(times: Sequence[Any]) -> dict[str, Any]:
    count = range(len(times))
    return {
        "t": list(times),
        "k": [None if k % 11 == 10 else "abcd"[k % 4] for k in count],
        "x": [None if k % 7 == 6 else k * 5 % 17 for k in count],
        "y": [k * 0.37 for k in count],
        "z": [k * 3 % 10 for k in count],
        "word": [("ab", "c", "dé", None)[k % 4] for k in count],
        "price": pa.array([decimal.Decimal(k * 7 % 13).scaleb(-2) for k in count], pa.decimal128(9, 2)),
        "wide": pa.array([decimal.Decimal(k * 7 % 13 - 6) * 10**20 for k in count], pa.decimal128(30, 2)),
        "flag": [k % 5 == 2 for k in count],
        "day": pa.array([dt.date(2024, 1, 1 + k % 20) for k in count]),
        "born": [dt.date(2024, 1, 1 + k % 20) for k in count],
    }


def _streamed(name: str, queries: list[Query], times: Callable[[int], Any], **options: Any) -> Subject:
    """A stream that has had some rows, of which some wait, some are late, and some windows were sent."""
    stream = sash.Stream(queries, on="t", **options)
    steps = [[times(20 * push + (k * 7) % 26) for k in range(20)] for push in range(4)]
    if options.get("in_order"):
        steps = [sorted(each) for each in steps]
    watermark = "watermark" not in options and not options.get("in_order")
    for place, each in enumerate(steps):
        stream.push(rows_at(each), watermark=times(20 * place) if watermark else None)

    def use(restored: sash.Stream) -> None:
        again = sash.Stream.restore(restored.save(), queries)
        for each in (restored, again):
            repr(each)
            each.push(rows_at([times(80 + k) for k in range(30)]), watermark=times(70) if watermark else None)
            each.push(rows_at([times(60)]))
            each.save()
            each.finish()
            each.save()
            if options.get("late") == "keep":
                each.late()

    return Subject(name, stream.save(), lambda blob: sash.Stream.restore(blob, queries), use)


def _begin(stream: sash.Stream) -> None:
    stream.push(rows_at(range(30)))
    stream.finish()


def streams() -> list[Subject]:
    """Streams of every kind of window and measure, with every kind of partial."""
    q = sash.query
    grids = [
        q("ten", sash.tumbling(10), **NUMBERS),
        q("slide", sash.sliding(20, every=6, offset=1), **NUMBERS),
        q("grow", sash.cumulative(30, every=10), **NUMBERS),
        q("mark", sash.landmark(start=5, end=70), **NUMBERS),
    ]
    by_rows = [
        q("visit", sash.session(gap=3), **NUMBERS),
        q("turn", sash.punctuated("flag"), **NUMBERS),
        q("rank", sash.sliding(rows=7, every=3), **NUMBERS),
    ]
    holistic = [
        q("values", sash.sliding(20, every=10), mid=sash.median("x"), some=sash.collect_distinct("x")),
        q(
            "words",
            sash.tumbling(10),
            least=sash.min("word"),
            all=sash.collect("word"),
            kinds=sash.count_distinct("word"),
        ),
        q("money", sash.tumbling(20), sum=sash.sum("price"), mean=sash.mean("price"), most=sash.max("price")),
        q(
            "days",
            sash.tumbling(20),
            first=sash.min("day"),
            born=sash.max("born"),
            hll=sash.hyperloglog("x"),
            sd=sash.stddev("y"),
        ),
    ]
    texts = [
        q(
            "texts",
            sash.sliding(20, every=10),
            most=sash.max("word"),
            who=sash.argmax("x", "word"),
            kinds=sash.collect_distinct("word"),
            joined=sash.string_agg("word"),
            hll=sash.hyperloglog("word"),
        ),
        q("sums", sash.session(gap=3), sum=sash.sum("wide"), least=sash.min("wide"), range=sash.range("wide")),
    ]
    start = dt.datetime(2024, 3, 30, 22)
    timed = [
        q("ten", sash.tumbling("10s"), **NUMBERS),
        q("visit", sash.session(gap="3s"), **NUMBERS),
        q("recent", sash.sliding(rows=5, every="4s"), **NUMBERS),
    ]
    market = [start + dt.timedelta(hours=hours) for hours in (0, 9, 17, 30, 200)]
    calendars = [
        q("day", sash.tumbling("1 day", zone="Europe/Berlin", offset="6 hours"), **NUMBERS),
        q("month", sash.sliding("2 months", every="1 month"), **NUMBERS),
        q("grow", sash.cumulative("1 day", every="8 hours", zone="Asia/Tokyo"), **NUMBERS),
        q("market", sash.calendar(market), **NUMBERS),
    ]
    floats = [q("ten", sash.tumbling(1.1), **NUMBERS), q("visit", sash.session(gap=0.3), **NUMBERS)]
    floats += [
        q("recent", sash.sliding(rows=5, every=0.7), **NUMBERS),
        q("grow", sash.cumulative(3.0, every=0.5), **NUMBERS),
    ]
    own = [q("rises", Rises(), **NUMBERS), q("decades", Decades(), **NUMBERS)]
    waiting = sash.Stream(grids, on="t", by="k")
    waiting.push({}, watermark=17)
    return [
        _streamed("stream of grids", grids, int, by="k"),
        _streamed("stream of rows", by_rows, int, by="k", late="keep"),
        _streamed("stream with lateness", [*grids, *by_rows], int, by="k", allowed_lateness=9),
        _streamed("stream of updates", [*grids[:2], *by_rows[:1]], int, by=["k", "flag"], emit="updates"),
        _streamed("stream in order", [*grids[:1], *by_rows], int, in_order=True),
        _streamed("stream of values", holistic, int, by="word"),
        _streamed("stream of values with lateness", holistic, int, by="k", allowed_lateness=9),
        _streamed("stream of texts with lateness", texts, int, by="k", allowed_lateness=9),
        _streamed("stream of time", timed, lambda k: start + dt.timedelta(seconds=k), by="day", watermark="5s"),
        _streamed("stream of calendars", calendars, lambda k: start + dt.timedelta(hours=k), by="k", watermark="5h"),
        _streamed("stream of floats", floats, lambda k: k * 0.1, by="k", watermark=0.5),
        _streamed("stream of your own", own, int, by="k", late="keep"),
        Subject("stream before its first row", waiting.save(), lambda blob: sash.Stream.restore(blob, grids), _begin),
    ]
