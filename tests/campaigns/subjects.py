"""What can be saved: a state of each kind, how it is restored, and how it is used then."""

import datetime as dt
import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import sash
from sash.engine.options import options_of
from sash.engine.results import schema_of
from sash.engine.rolling import frames_of, plan_frames
from sash.engine.tables import read_rows
from sash.errors import SashError
from sash.plan.query import Query
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Sizes
from tests.engine.test_user_windows import Lapped, Rises

__all__ = ["Subject", "buckets", "streams", "windows"]


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
                each.query_range(0, 100)
                each.evict_until(7)
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
