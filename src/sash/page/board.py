"""What the page shows now: records in, panels out."""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Literal

from sash.page import contract
from sash.page.axis import ArrivalCounts, LatenessCounts
from sash.page.figures import History
from sash.page.kept_results import KeptResults
from sash.page.records import (
    Arrivals,
    Behind,
    BucketRows,
    Figures,
    LateRow,
    MicroBatch,
    OpenWindow,
    Record,
    SliceFacts,
    SlicesOfKeys,
    State,
    Stopped,
    StreamFacts,
)
from sash.page.texts import length_text, position_text

__all__ = ["Board"]

MOST_BATCHES = 60
MOST_LATE = 100
MOST_KEYS = 20
MOST_EXPECTED = 100  # open windows of one query
MOST_COUNTED = 10_000  # keys whose rows are counted
DETAILS = frozenset({"sharing", "keys", "late"})
DETAILS_S = 1.0  # between two events of such a panel
NO_FACTS = StreamFacts("sash", "number", (), None, 0.0, ())


class Board:
    """The state of all panels; used by one thread at a time."""

    def __init__(self, results: KeptResults, clock: Callable[[], float]) -> None:
        self.facts = NO_FACTS
        self.stopped: Stopped | None = None
        self.history = History(clock)
        self._results = results
        self._arrivals, self._lateness = ArrivalCounts(), LatenessCounts()
        self._windows: tuple[OpenWindow, ...] = ()
        self._tells_windows = False  # whether the source tells open windows
        self._slices = SliceFacts("", ())
        self._costs: tuple[float | None, float | None] = None, None  # of the last rows that were combined
        self._batches: deque[MicroBatch] = deque(maxlen=MOST_BATCHES)
        self._late: deque[LateRow] = deque(maxlen=MOST_LATE)
        self._keys: Counter[str] = Counter()
        self._counted: Literal["rows", "slices"] = "rows"  # of keys
        self._buckets: Counter[int] = Counter()
        self._bucket_of: dict[str, int] = {}  # key → its bucket
        self._clock, self._details_at = clock, 0.0
        self._make: dict[str, Callable[[], Any]] = {
            "now": self.now,
            "time": self.time,
            "sharing": self.sharing,
            "batches": lambda: [_batch(each) for each in self._batches],
            "keys": self._busy_keys,
            "late": lambda: [_late_row(each) for each in self._late],
        }
        self._changed = set(self._make)

    @property
    def figures(self) -> Figures:
        """The last figures."""
        return self.history.last

    @property
    def state(self) -> State:
        """Whether the stream runs."""
        return "running" if self.stopped is None else self.stopped.state

    def add(self, record: Record) -> None:
        """Take a record into the panels."""
        if isinstance(record, Figures):
            self.history.add(record)
            if record.combines_per_row:
                self._costs = record.combines_per_row, record.without_sharing
            self._change("now", "time", "sharing")
        elif isinstance(record, Arrivals):
            self._arrivals.add(record)
            self._lateness.add(record)
            self._count_keys(record.keys, record.weight)
            self._change("time", "keys")
        elif isinstance(record, Behind):
            self._lateness.count(record.on_time, record.distances, record.rows)
            self._change("time")
        elif isinstance(record, BucketRows):
            self._buckets[record.bucket] += record.rows
            self._bucket_of |= dict.fromkeys((key for key, _ in record.keys), record.bucket)
            self._count_keys(record.keys, 1)
            self._change("keys")
        elif isinstance(record, tuple):
            self._windows, self._tells_windows = record, True
            longest = max((each.end - each.start for each in record), default=0.0)
            self._arrivals.reach(2 * longest)
            self._change("time")
        elif isinstance(record, SliceFacts):
            self._slices = record
            self._change("sharing")
        elif isinstance(record, SlicesOfKeys):
            self._keys, self._counted = Counter(dict(record.keys)), "slices"
            self._change("keys")
        elif isinstance(record, MicroBatch):
            self._batches.append(record)
            self._change("batches")
        elif isinstance(record, LateRow):
            self._late.append(record)
            self._change("late")
        elif isinstance(record, Stopped):
            self.stopped = record
            self._change(*self._make)
        else:
            self.facts = record
            self._results.describe(record.by, record.unit, record.queries)
            self._change(*self._make)

    def _change(self, *panels: str) -> None:
        self._changed.update(panels)

    def _count_keys(self, keys: Iterable[tuple[str, int]], weight: float) -> None:
        for key, rows in keys:
            self._keys[key] += round(rows * weight)
        if len(self._keys) > MOST_COUNTED:
            self._keys = Counter(dict(self._keys.most_common(MOST_COUNTED // 2)))
            self._bucket_of = {key: bucket for key, bucket in self._bucket_of.items() if key in self._keys}

    # --- panels ------------------------------------------------------------------------------------------

    def panels(self) -> dict[str, Any]:
        """Return the panels that have changed since the last call, by name; those of details once per second."""
        now = self._clock()
        is_due = self.stopped is not None or now - self._details_at >= DETAILS_S
        names = [name for name in self._make if name in self._changed and (is_due or name not in DETAILS)]
        if is_due:
            self._details_at = now
        self._changed.difference_update(names)
        return {name: self._make[name]() for name in names}

    def now(self) -> contract.Now:
        why = self.figures.why if self.stopped is None else self.stopped.why
        figures = self.history.figures(self.facts)
        return contract.Now(
            title=self.facts.title, state=self.state, why=why, figures=figures, notes=dict(self.facts.notes)
        )

    def time(self) -> contract.Time:
        facts, now = self.facts, self.figures
        arrivals, bucket = self._arrivals.counts(now.newest)
        covering = self._lateness.covering(0.999)
        return contract.Time(
            unit=facts.unit,
            newest=now.newest,
            watermark=now.watermark,
            delay=facts.delay,
            allowed_lateness=facts.lateness,
            arrivals=arrivals,
            bucket=bucket,
            queries=[self._query_windows(each.name, each.text) for each in facts.queries],
            lateness=self._lateness.octaves(),
            covering_delay=covering,
            covering_text=self._covering_text(covering),
        )

    def _covering_text(self, covering: float | None) -> str:
        if covering is None:
            return "No row has come yet." if self.figures.newest is None else "How late rows came is not known."
        unit, delay = self.facts.unit, self.facts.delay
        text = f"A delay of {length_text(covering, unit)} would have covered 99.9 % of the rows."
        if covering == 0:
            text = "Rows come in order: a delay of 0 would have covered 99.9 % of them."
        return text if delay is None else f"{text} The delay is {length_text(delay, unit)}."

    def _query_windows(self, name: str, text: str) -> contract.QueryWindows:
        bars = {}
        for start, end, keys, is_revised in self._results.recent_windows(name):
            state: Literal["revised", "closed", "open"] = "revised" if is_revised else "closed"
            waits = self._closed_text(end, is_revised)
            if self._is_before_end(end):  # updates are emitted while a window is open
                state, waits = "open", self._open_text(end)
            bars[start, end] = contract.WindowBar(start=start, end=end, keys=keys, state=state, waits=waits)
        own = [each for each in self._windows if each.query == name] or self._expected(name, bars)
        for each in own:
            if (each.start, each.end) not in bars or each.keys is not None:
                bars[each.start, each.end] = contract.WindowBar(
                    start=each.start, end=each.end, keys=each.keys, state="open", waits=self._open_text(each.end)
                )
        return contract.QueryWindows(name=name, text=text, windows=[bars[edges] for edges in sorted(bars)])

    def _is_before_end(self, end: float) -> bool:
        watermark = self.figures.watermark
        return watermark is not None and watermark < end and not self.figures.is_ended

    def _expected(self, name: str, closed: Iterable[tuple[float, float]]) -> list[OpenWindow]:
        """Return the windows that follow closed ones, for a source that does not tell open ones.

        This is possible if the last closed windows have one length and follow each other at one distance.
        """
        newest, last = self.figures.newest, sorted(closed)[-3:]
        lengths = {round(end - start, 6) for start, end in last}
        steps = {round(b[0] - a[0], 6) for a, b in pairwise(last)}
        if newest is None or self._tells_windows or self.stopped is not None or len(lengths) != 1 or len(steps) != 1:
            return []
        (step,), (start, end) = steps, last[-1]
        count = min(MOST_EXPECTED, max(0, math.floor((newest - start) / step))) if step > 0 else 0
        return [OpenWindow(name, start + k * step, end + k * step, None) for k in range(1, count + 1)]

    def _open_text(self, end: float) -> str:
        unit, delay = self.facts.unit, self.facts.delay
        if self.figures.is_ended:
            return "The stream has ended before it was complete."
        if delay is None:
            return f"It closes when the watermark reaches {position_text(end, unit)}."
        return f"It closes when a row at {position_text(end + delay, unit)} or later comes."

    def _closed_text(self, end: float, is_revised: bool) -> str:
        facts, watermark = self.facts, self.figures.watermark
        text = "A late row changed it, and it was emitted again." if is_revised else "It is closed."
        until = end + facts.lateness
        if facts.lateness and watermark is not None and watermark < until and not self.figures.is_ended:
            passes = f"until the watermark passes {position_text(until, facts.unit)}"
            return f"{text} A late row can {'still change it' if not is_revised else 'change it again'} {passes}."
        return text

    def sharing(self, slices: SliceFacts | None = None) -> contract.Sharing:
        """Return the panel; of other slices, if they are given."""
        found = slices or self._slices
        shown = [
            contract.Slice(start=start, end=end, rows=rows, cut_by=list(cut_by))
            for start, end, rows, cut_by in found.slices
            if math.isfinite(start) and math.isfinite(end)
        ]
        return contract.Sharing(
            key=found.key,
            note=found.note,
            slices=shown,
            fields=list(self.facts.fields),
            combines_per_row=self._costs[0],
            without_sharing=self._costs[1],
        )

    def _busy_keys(self) -> contract.Keys:
        keys = [
            contract.BusyKey(key=key, rows=rows, bucket=self._bucket_of.get(key))
            for key, rows in self._keys.most_common(MOST_KEYS)
        ]
        buckets = [contract.BusyBucket(bucket=each, rows=rows) for each, rows in self._buckets.most_common(MOST_KEYS)]
        return contract.Keys(counted=self._counted, keys=keys, buckets=buckets)


def _late_row(each: LateRow) -> contract.LateRow:
    return contract.LateRow(row=each.row, position=each.position, watermark=each.watermark, reason=each.reason)


def _batch(each: MicroBatch) -> contract.Batch:
    return contract.Batch(
        number=each.number,
        rows=each.rows,
        phases={name: round(took, 1) for name, took in each.phases},
        written_bytes=each.written_bytes,
        restarted=each.restarted,
    )
