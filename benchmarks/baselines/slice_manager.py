"""Slices with their rows, and the operations on them: update, split, merge, shift.

Picture     slots    f                              b
            [ … | [0, 5) 1…4  a | [5, 8) 5…7  b | free … ]        start, end, first, last, count, rows, partial
Keeps     K1  slices [f, b) are in order and do not overlap;  each has a row, outside of a split
          K2  first and last are the positions of its first and last row
          K3  partial = the fold of its rows, in order of position, then arrival
Combines  update: 1; for a late row all of the slice, unless the aggregate commutes.  merge: 1.
          split: all of both slices, unless all rows are on one side.
          shift: 2 (one of them an inverse) if the aggregate commutes and has an inverse, else all of the slice and 1;
          for an aggregate that selects a row (max), all only if the moved row was selected.
From      Traub et al. Efficient Window Aggregation with General Stream Slicing. EDBT 2019, section 5.2.
          doi:10.5441/002/edbt.2019.10
"""

from typing import Any

import numpy as np

from benchmarks.baselines.chains import (
    CHUNK,
    NONE,
    append_row,
    cut,
    drop_last,
    enlarge,
    fold_chain,
    insert_row,
    join,
    last_row,
    new_pool,
    prepend,
    release,
    spare,
)
from benchmarks.baselines.operator import shift_down, shift_up, widen_column
from benchmarks.baselines.windows import NEVER
from sash.algebra.compiler import compiled_reading, jitable, static_of
from sash.algebra.fields import Partial, load, same, store
from sash.algebra.monoid import Monoid, combine, invert, lift

__all__ = [
    "FIRSTS",
    "LASTS",
    "MARKED",
    "OPENED",
    "TOTAL",
    "WATERMARK",
    "B",
    "F",
    "append",
    "drop_until",
    "merge",
    "new_line",
    "open_slice",
    "shift",
    "split",
    "update",
    "with_room",
]

FIRSTS, LASTS = 2, 3  # of the metadata: start, end, first, last, count, head, tail
# Of `cursor`: slices [f, b), the watermark, rows with a rank, marks, where the punctuated window opened, and traits.
F, B, WATERMARK, TOTAL, MARKED, OPENED, COMMUTES, INVERTS, SELECTS = range(9)
ROOM = 64


def new_line(aggregate: Monoid) -> Any:
    """Return the state without slices: metadata, partials, rows, cursor."""
    cursor = np.zeros(9, np.int64)
    cursor[WATERMARK] = cursor[OPENED] = NEVER
    cursor[COMMUTES] = aggregate.commutative
    cursor[INVERTS] = aggregate.commutative and aggregate.invert is not None
    cursor[SELECTS] = aggregate.commutative and aggregate.selective
    meta = tuple(np.zeros(ROOM, np.int64) for _ in range(7))
    return meta, aggregate.allocate(ROOM), new_pool(aggregate), cursor


def with_room(line: Any, chunks: int) -> Any:
    """Return the slices with room for at least two more, and for so many more chunks of rows."""
    meta, partials, pool, cursor = line
    begin, end, room = int(cursor[F]), int(cursor[B]), len(meta[0])
    if end + 2 > room:
        wider = room if 2 * (end - begin) <= room else 2 * room
        meta = tuple(widen_column(each[begin:end], wider) for each in meta)
        partials = tuple(widen_column(each[begin:end], wider) for each in partials)
        cursor[F], cursor[B] = 0, end - begin
    if spare(pool) < chunks:
        pool = enlarge(pool, chunks)
    return meta, partials, pool, cursor


def _without(aggregate: Monoid, whole: Partial, part: Partial) -> Partial:
    """Remove a part by the inverse of an aggregate that commutes; return the whole if there is no inverse."""
    return whole if aggregate.invert is None else invert(aggregate, whole, part)


@compiled_reading(_without)
def _compiled_without(aggregate: Any, whole: Any, part: Any) -> Any:
    if static_of(aggregate).invert is None:
        return lambda aggregate, whole, part: whole
    return lambda aggregate, whole, part: invert(aggregate, whole, part)


@jitable
def open_slice(line: Any, slot: int, start: int, end: int) -> None:
    """Insert an empty slice [start, end) at a slot; the slices from there on move up."""
    meta, partials, _pool, cursor = line
    starts, ends, firsts, lasts, counts, heads, tails = meta
    shift_up(meta, slot, cursor[B])
    shift_up(partials, slot, cursor[B])
    starts[slot] = start
    ends[slot] = end
    firsts[slot] = NEVER
    lasts[slot] = NEVER
    counts[slot] = 0
    heads[slot] = NONE
    tails[slot] = NONE
    cursor[B] += 1


@jitable
def _recompute(aggregate: Monoid, line: Any, slot: int) -> None:
    """Recompute the partial of a slice from its rows (K3)."""
    meta, partials, pool, _cursor = line
    _starts, _ends, _firsts, _lasts, _counts, heads, _tails = meta
    store(partials, slot, fold_chain(aggregate, pool, heads, slot))


@jitable
def append(aggregate: Monoid, line: Any, slot: int, position: int, row: Any) -> None:
    """Add a row that is not before the last one of its slice, which has rows."""
    meta, partials, pool, _cursor = line
    _starts, _ends, _firsts, lasts, counts, heads, tails = meta
    append_row(pool, heads, tails, slot, position, row)
    store(partials, slot, combine(aggregate, load(partials, slot), lift(aggregate, row)))
    counts[slot] += 1
    lasts[slot] = position


@jitable
def update(aggregate: Monoid, line: Any, slot: int, position: int, row: Any) -> None:
    """Add a row to its slice."""
    meta, partials, pool, cursor = line
    _starts, _ends, firsts, lasts, counts, heads, tails = meta
    insert_row(pool, heads, tails, slot, position, row)
    if counts[slot] == 0:
        firsts[slot] = position
        lasts[slot] = position
        store(partials, slot, lift(aggregate, row))
    elif position >= lasts[slot] or cursor[COMMUTES] == 1:
        store(partials, slot, combine(aggregate, load(partials, slot), lift(aggregate, row)))
    else:
        _recompute(aggregate, line, slot)
    counts[slot] += 1
    firsts[slot] = min(firsts[slot], position)
    lasts[slot] = max(lasts[slot], position)


@jitable
def split(aggregate: Monoid, line: Any, slot: int, at: int) -> None:
    """Make a slice [start, end) two: [start, at) stays, [at, end) comes behind it. One of them may be without rows."""
    meta, partials, pool, _cursor = line
    _starts, ends, firsts, lasts, counts, heads, tails = meta
    newer = slot + 1
    open_slice(line, newer, at, ends[slot])
    ends[slot] = at
    if lasts[slot] < at:
        return
    cut(pool, heads, tails, slot, newer, at)
    positions, _rows, _before, after, held, _pool_cursor = pool
    moved = 0
    chunk = heads[newer]
    while chunk != NONE:
        moved += held[chunk]
        chunk = after[chunk]
    counts[newer] = moved
    counts[slot] -= moved
    lasts[newer] = lasts[slot]
    if counts[slot] == 0:
        firsts[newer] = firsts[slot]
        store(partials, newer, load(partials, slot))
    else:
        firsts[newer] = positions[heads[newer] * CHUNK]
        lasts[slot] = positions[last_row(pool, tails, slot)]
        _recompute(aggregate, line, slot)
        _recompute(aggregate, line, newer)


@jitable
def merge(aggregate: Monoid, line: Any, slot: int) -> None:
    """Make a slice and the one behind it one; both have rows."""
    meta, partials, pool, cursor = line
    _starts, ends, _firsts, lasts, counts, heads, tails = meta
    newer = slot + 1
    ends[slot] = ends[newer]
    lasts[slot] = lasts[newer]
    counts[slot] += counts[newer]
    store(partials, slot, combine(aggregate, load(partials, slot), load(partials, newer)))
    join(pool, heads, tails, slot, newer)
    shift_down(meta, newer + 1, cursor[B])
    shift_down(partials, newer + 1, cursor[B])
    cursor[B] -= 1


@jitable
def shift(aggregate: Monoid, line: Any, slot: int) -> None:
    """Move the last row of a slice of two or more to the front of the one behind it, which may be without rows."""
    meta, partials, pool, cursor = line
    _starts, _ends, firsts, lasts, counts, heads, tails = meta
    positions, rows, _before, _after, _held, _pool_cursor = pool
    newer = slot + 1
    last = last_row(pool, tails, slot)
    position = positions[last]
    row = load(rows, last)
    lifted = lift(aggregate, row)
    drop_last(pool, heads, tails, slot)
    counts[slot] -= 1
    lasts[slot] = positions[last_row(pool, tails, slot)]
    if cursor[INVERTS] == 1:
        store(partials, slot, _without(aggregate, load(partials, slot), lifted))
    elif cursor[SELECTS] == 0 or same(lifted, load(partials, slot)):
        _recompute(aggregate, line, slot)
    prepend(pool, heads, tails, newer, position, row)
    if counts[newer] == 0:
        lasts[newer] = position
        store(partials, newer, lifted)
    else:
        store(partials, newer, combine(aggregate, lifted, load(partials, newer)))
    firsts[newer] = position
    counts[newer] += 1


@jitable
def drop_until(line: Any, slot: int) -> None:
    """Drop the slices before a slot, and their rows."""
    meta, _partials, pool, cursor = line
    _starts, _ends, _firsts, _lasts, _counts, heads, tails = meta
    while cursor[F] < slot:
        release(pool, heads, tails, cursor[F])
        cursor[F] += 1
