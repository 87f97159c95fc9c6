"""The life of a stream as plain data, and how one is drawn: options, queries, and what happens one after the other.

Positions are whole numbers here. `unit` says what becomes of them: themselves, halves (floats), microseconds
(timestamps), or six hours each (timestamps around a night in which clocks change); windows and lateness go along.
Aggregates come in palettes: a kernel is compiled for each set of aggregates that share their slices, so the sets of one
life are of one palette.
"""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

__all__ = ["NIGHT", "PALETTES", "Action", "Add", "Life", "Push", "Remove", "Restore", "drawn"]

# Their last digits depend on the order of additions, so a late row elsewhere may seem to change them.
ROUNDED = ("variance(x), max_count(y)", "stddev(y), geometric_mean(x), min_count(x)")
PALETTES: tuple[tuple[str, ...], ...] = (
    ("count(), sum(x), max(x)", "mean(y), min(y), count(y)"),
    ("first(x), last(y), count()", "turns(x), count(), sum(x)"),
    ("median(x), count_distinct(x), max(y)", "quantile(y, 0.9), collect_distinct(x)", "collect(x), count()"),
    ("argmax(x, t), argmin(y, x), range(x)", "max_count(y), product(x)"),
    ROUNDED,
    ("min(s), last(s), count()", "string_agg(s, -), count_distinct(s), max(s)", "count(), sum(x), max(x)"),
    (
        "argmax(x, s), argmin(s, x), collect(s)",
        "collect_distinct(s), max_count(s), first(b)",
        "hyperloglog(b), argmax(s, b), min_count(b)",
        "count_distinct(b), max(b), count(s), path(x)",
    ),
    ("sum(d), min(d), count(d)", "mean(d), last(d), collect(d)", "count(), sum(x), max(x)"),
    (
        "sum(w), max(w), count_distinct(w)",
        "mean(w), range(d), collect_distinct(d)",
        "median(d), argmin(d, w), collect(w)",
        "last(w), sum(d), path(x)",
    ),
    ("path(x), count()", "bag(x), sum(x)", "count(), sum(x), max(x)", "turns(x), count(), sum(x)"),
    ("residues(x), count()", "hyperloglog(x), min_count(x)", "path(y), first(s)"),
)
KINDS = ("tumbling", "sliding", "session", "rows", "last_rows", "last_time", "cumulative", "landmark", "punctuated")
OWN_KINDS = ("weeks", "elevens", "parities", "switches", "echoes")
CALENDAR_KINDS = ("berlin_days", "berlin_weeks", "months", "growing_days", "listed")
STRINGS = ("", "a", "b", "ab", "ä", None)
BINARIES = (b"", b"\0", b"\0\0", b"\xff", b"a", None)
LONG = tuple(Decimal(f"{sign}{whole}.0000000001") for sign in ("", "-") for whole in (0, 7, 2**63, 2**64 - 1, 10**23))
NIGHT = datetime(2024, 3, 29)  # two days before clocks change in Europe
COLUMNS = ("t", "k", "g", "new", "end", "x", "y", "s", "b", "d", "w")

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Push:
    rows: tuple[Row, ...]
    watermark: int | float | None  # of this push; math.inf ends the stream


@dataclass(frozen=True)
class Add:
    name: str
    query: str


@dataclass(frozen=True)
class Remove:
    name: str


@dataclass(frozen=True)
class Restore:
    """Save, and restore with these queries."""

    queries: tuple[tuple[str, str], ...]


Action: TypeAlias = Push | Add | Remove | Restore


@dataclass(frozen=True)
class Life:
    queries: tuple[tuple[str, str], ...]
    actions: tuple[Action, ...]
    unit: str = "whole"  # whole, half, time, or hours
    by: tuple[str, ...] = ()
    lateness: int = 0
    delay: int | None = None
    in_order: bool = False
    emit: Any = "final"
    low_limits: bool = False  # what happens to large states happens to small ones
    store: str = "auto"


class _Draw:
    """One life, action by action."""

    def __init__(
        self, seed: int, for_bucket: bool, palettes: Sequence[tuple[str, ...]], kinds: Sequence[str] = ()
    ) -> None:
        self.dice = random.Random(seed)
        self.kinds = kinds
        pick = self.dice.choice
        self.palette = pick(palettes)
        self.unit = "hours" if set(kinds) & set(CALENDAR_KINDS) else pick(("whole", "whole", "half", "time", "hours"))
        self.in_order = not for_bucket and self.dice.random() < 0.2
        self.lateness = 0 if self.in_order else pick((0, 0, 2, 5, 11, 40))
        self.delay = pick((0, 3, 8)) if for_bucket else None if self.in_order else pick((None, None, 0, 4))
        self.emit = pick(("final", "final", "updates"))
        if self.palette is ROUNDED:
            self.lateness, self.emit = 0, "final"
        self.by: tuple[str, ...] = pick(((), ("k",), ("k",), ("k", "g")))
        self.stray = 0 if self.in_order else pick((0, 3, 10))
        self.now = pick((-20, 0, 3))
        self.mark: Any = None
        self.named = 0
        self.running: dict[str, str] = {}

    def life(self) -> Life:
        pick = self.dice.choice
        for _ in range(pick((1, 1, 2, 3, 5))):
            self.running.update([self.query()])
        first = tuple(self.running.items())
        actions: list[Action] = []
        for _ in range(pick((3, 5, 8, 12))):
            if self.dice.random() < 0.35:
                actions.append(self.change())
            actions.append(self.push())
        if self.dice.random() < 0.6:
            actions.append(Push((), math.inf))
        low = self.dice.random() < 0.6
        store = self.dice.choice(("auto", "auto", "lazy", "eager", "eager"))
        options = (self.unit, self.by, self.lateness, self.delay, self.in_order, self.emit)
        return Life(first, tuple(actions), *options, low, store)

    def query(self) -> tuple[str, str]:
        self.named += 1
        return f"q{self.named}", f"{self.dice.choice(self.palette)} over {self.window()}"

    def window(self) -> str:
        dice = self.dice
        kinds = [*KINDS, *OWN_KINDS]
        if self.unit == "half":
            kinds = [each for each in KINDS if each != "last_rows"]
        elif self.unit == "hours":
            kinds = [*KINDS, *CALENDAR_KINDS]
        kinds = [each for each in self.kinds or kinds if each in kinds] or ["tumbling"]
        kind, size, every, offset = dice.choice(kinds), dice.randint(1, 12), dice.randint(1, 9), dice.randint(-9, 9)
        length = self.length
        texts = {
            "tumbling": f"tumbling {length(size)} offset {length(offset)}",
            "sliding": f"sliding {length(size)} every {length(every)} offset {length(offset)}",
            "session": f"session gap {length(size)}",
            "rows": f"sliding rows {size} every {every}",
            "last_rows": f"sliding rows {size} every {length(every)} offset {length(offset)}"
            if self.unit == "hours"
            else f"sliding rows {size} every {every}us offset {offset}us",
            "last_time": f"sliding {length(size)} every_rows {every}",
            "cumulative": f"cumulative {length(every * dice.randint(1, 4))} every {length(every)}",
            "landmark": f"landmark start {self.position(offset)} end {self.position(offset + size)}",
            "punctuated": f"punctuated {dice.choice(('new', 'end', 'new end end', 'end end new'))}",
        }
        return texts.get(kind, kind)

    def length(self, number: int) -> str:
        if self.unit == "hours":
            return f"{6 * number}h"
        return f"{number}us" if self.unit == "time" else str(number / 2 if self.unit == "half" else number)

    def position(self, number: int) -> str:
        if self.unit == "hours":
            return (NIGHT + timedelta(hours=6 * number)).isoformat()
        if self.unit != "time":
            return self.length(number)
        sign = "1969-12-31T23:59:59.999" if number < 0 else "1970-01-01T00:00:00.000"
        return f"{sign}{number % 1000:03d}"

    def change(self) -> Action:
        dice = self.dice
        names = list(self.running)
        if dice.random() < 0.5:
            kept = {name: self.running[name] for name in names if dice.random() < 0.7}
            kept = kept or {names[0]: self.running[names[0]]}
            if dice.random() < 0.4:
                kept.update([self.query()])
            order = list(kept.items())
            if dice.random() < 0.5:
                dice.shuffle(order)
            if dice.random() < 0.4:  # no other queries: a plain restart
                order = list(self.running.items())
            self.running = dict(order)
            return Restore(tuple(order))
        if len(names) > 1 and dice.random() < 0.5:
            name = dice.choice(names)
            del self.running[name]
            return Remove(name)
        name, text = self.query()
        self.running[name] = text
        return Add(name, text)

    def push(self) -> Push:
        dice = self.dice
        rows = tuple(self.row() for _ in range(dice.choice((0, 1, 2, 4, 9))))
        ahead = dice.choice((None, None, 0, -3, -9, 2, -dice.randint(0, 20)))
        mark = None if ahead is None or self.in_order else self.now + ahead
        known = [each for each in (self.mark, mark) if each is not None]
        if self.delay is not None:
            known.append(self.now - self.delay)
        self.mark = max(known, default=None)
        return Push(rows, mark)

    def row(self) -> Row:
        dice = self.dice
        self.now += dice.choice((0, 0, 1, 1, 2, 3, 9))
        at: int | None = self.now - dice.randint(0, self.stray)
        if self.mark is not None and not self.in_order and dice.random() < 0.2:
            at = self.mark - dice.choice((0, self.lateness)) + dice.choice((-1, 0, 0, 1))
        if dice.random() < 0.02:
            at = None
        # Keys come and go with time, so that slots are freed and given to others.
        key = dice.choice((self.now // 40, self.now // 40, self.now // 40 + 1, None))
        return {
            "t": at,
            "k": None if key is None else f"k{key}",
            "g": dice.choice((1, 2)),
            "new": dice.choice((True, False, False, None)),
            "end": dice.choice((True, False, False, False)),
            "x": dice.choice((None, -4, -1, 0, 1, 2, 3, 7)),
            "y": dice.choice((None, -0.5, 0.0, 0.25, 1.5, math.nan)),
            "s": self.string(),
            "b": dice.choice(BINARIES),
            "d": dice.choice((None, Decimal("-1.50"), Decimal("0.25"), Decimal("3.00"), Decimal("7.75"))),
            "w": dice.choice((None, *LONG)),
        }

    def string(self) -> str | None:
        """One of a few, a new one between others, or one that comes and goes with time."""
        dice = self.dice
        mixed = "".join(dice.choice("ab") for _ in range(dice.randint(1, 4)))
        return dice.choice((dice.choice(STRINGS), mixed, f"v{self.now // 6}"))


def drawn(
    seed: int, for_bucket: bool = False, palettes: Sequence[tuple[str, ...]] = PALETTES, kinds: Sequence[str] = ()
) -> Life:
    """Return the life of a seed, with windows of some kinds or of all.

    A bucket of Spark takes its watermark from its rows, and its queries change at restarts.
    """
    return _Draw(seed, for_bucket, palettes, kinds).life()
