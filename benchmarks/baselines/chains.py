"""Lists of rows that grow, split and join: chunks of one pool, linked, with the rows in order of position.

Picture     head → [ 1 | 2 | 2 | · ] ⇄ [ 5 | 7 | · | · ] ⇄ [ 9 | 9 | 9 | 12 ] ← tail       chunks of CHUNK rows
Keeps     K1  in a chain, rows are in order of position, then arrival;  no chunk of a chain is empty
          K2  every chunk is in one chain or in the list of free ones, which counts its chunks

A chain is a place in two arrays, `heads` and `tails`. Kernels cannot allocate: a caller that may need
chunks checks `spare` first. An insert needs at most one, a cut one, a prepend one; the others need none.
"""

from typing import Any

import numpy as np

from benchmarks.baselines.operator import place_of, shift_up, widen_column
from sash.algebra.compiler import jitable
from sash.algebra.fields import allocate, load, store
from sash.algebra.monoid import Monoid, combine, lift

__all__ = [
    "CHUNK",
    "NONE",
    "append_row",
    "bytes_in_use",
    "chain_positions",
    "cut",
    "drop_last",
    "enlarge",
    "fold_chain",
    "insert_row",
    "join",
    "last_row",
    "new_pool",
    "prepend",
    "release",
    "row_at",
    "spare",
]

CHUNK = 32
NONE = -1
FREE, SPARE, ROWS = range(3)  # of `cursor`: the first free chunk, how many are free, rows in all chains


def new_pool(aggregate: Monoid, chunks: int = 32) -> Any:
    """Return a pool of free chunks: positions, rows, links, counts, cursor."""
    rows = allocate(tuple(each.field for each in aggregate.columns), chunks * CHUNK, aggregate.is_compiled)
    links = tuple(np.zeros(chunks, np.int64) for _ in range(3))
    pool = np.zeros(chunks * CHUNK, np.int64), rows, *links, np.array([NONE, 0, 0])
    _free_from(pool, 0, chunks)
    return pool


def _free_from(pool: Any, start: int, end: int) -> None:
    _positions, _rows, _before, after, _counts, cursor = pool
    after[start:end] = np.arange(start + 1, end + 1)
    after[end - 1] = cursor[FREE]
    cursor[FREE] = start
    cursor[SPARE] += end - start


def enlarge(pool: Any, least: int = 0) -> Any:
    """Return the chains in a pool of at least twice the chunks, with at least so many of them free."""
    positions, rows, before, after, counts, cursor = pool
    had = len(counts)
    has = 2 * had + least
    pool = (
        widen_column(positions, has * CHUNK),
        tuple(widen_column(each, has * CHUNK) for each in rows),
        *(widen_column(each, has) for each in (before, after, counts)),
        cursor,
    )
    _free_from(pool, had, has)
    return pool


def bytes_in_use(pool: Any, row: int) -> int:
    """Return the bytes of rows of so many bytes each, and of the links of their chunks."""
    _positions, _rows, _before, _after, counts, cursor = pool
    return int(cursor[ROWS]) * row + 24 * (len(counts) - int(cursor[SPARE]))


@jitable
def spare(pool: Any) -> int:
    """Return how many chunks are free."""
    _positions, _rows, _before, _after, _counts, cursor = pool
    free: int = cursor[SPARE]
    return free


@jitable
def _new_chunk(pool: Any) -> int:
    _positions, _rows, _before, after, counts, cursor = pool
    chunk: int = cursor[FREE]
    cursor[FREE] = after[chunk]
    cursor[SPARE] -= 1
    counts[chunk] = 0
    return chunk


@jitable
def _free_chunk(pool: Any, chunk: int) -> None:
    _positions, _rows, _before, after, _counts, cursor = pool
    after[chunk] = cursor[FREE]
    cursor[FREE] = chunk
    cursor[SPARE] += 1


@jitable
def _chunk_after(pool: Any, tails: Any, chain: int, chunk: int) -> int:
    """Add a chunk after one of a chain."""
    _positions, _rows, before, after, _counts, _cursor = pool
    made = _new_chunk(pool)
    following = after[chunk]
    before[made] = chunk
    after[made] = following
    after[chunk] = made
    if following == NONE:
        tails[chain] = made
    else:
        before[following] = made
    return made


@jitable
def _move_rows(pool: Any, source: int, start: int, target: int) -> None:
    """Move the rows of a chunk from `start` on to an empty chunk."""
    positions, rows, _before, _after, counts, _cursor = pool
    for place in range(start, counts[source]):
        positions[target * CHUNK + place - start] = positions[source * CHUNK + place]
        store(rows, target * CHUNK + place - start, load(rows, source * CHUNK + place))
    counts[target] = counts[source] - start
    counts[source] = start


@jitable
def _tail_with_room(pool: Any, heads: Any, tails: Any, chain: int) -> int:
    """Return the last chunk of a chain; add one if it is full."""
    _positions, _rows, before, after, _counts, _cursor = pool
    if tails[chain] != NONE:
        return _chunk_after(pool, tails, chain, tails[chain])
    chunk = _new_chunk(pool)
    before[chunk] = NONE
    after[chunk] = NONE
    heads[chain] = chunk
    tails[chain] = chunk
    return chunk


@jitable
def append_row(pool: Any, heads: Any, tails: Any, chain: int, position: int, row: Any) -> None:
    """Append a row after all others: its position is the largest, or the order does not matter.

    Small enough to be compiled into its caller: a call that hands on all arrays takes ten times as long.
    """
    positions, rows, _before, _after, counts, cursor = pool
    chunk = tails[chain]
    if chunk == NONE or counts[chunk] == CHUNK:
        chunk = _tail_with_room(pool, heads, tails, chain)
    slot = chunk * CHUNK + counts[chunk]
    positions[slot] = position
    store(rows, slot, row)
    counts[chunk] += 1
    cursor[ROWS] += 1


@jitable
def insert_row(pool: Any, heads: Any, tails: Any, chain: int, position: int, row: Any) -> None:
    """Insert a row after all rows that are not after it."""
    positions, rows, before, _after, counts, cursor = pool
    chunk = tails[chain]
    if chunk == NONE or positions[chunk * CHUNK + counts[chunk] - 1] <= position:
        append_row(pool, heads, tails, chain, position, row)
        return
    while positions[chunk * CHUNK] > position and before[chunk] != NONE:
        chunk = before[chunk]
    if counts[chunk] == CHUNK:
        made = _chunk_after(pool, tails, chain, chunk)
        _move_rows(pool, chunk, CHUNK // 2, made)
        if positions[made * CHUNK] <= position:
            chunk = made
    first, end = chunk * CHUNK, chunk * CHUNK + counts[chunk]
    slot = end
    if end > first and positions[end - 1] > position:
        slot = place_of(positions, first, end, position + 1)
        shift_up((positions,), slot, end)
        shift_up(rows, slot, end)
    positions[slot] = position
    store(rows, slot, row)
    counts[chunk] += 1
    cursor[ROWS] += 1


@jitable
def prepend(pool: Any, heads: Any, tails: Any, chain: int, position: int, row: Any) -> None:
    """Insert a row before all others, none of which is before it."""
    positions, rows, before, after, counts, cursor = pool
    chunk = heads[chain]
    if chunk == NONE or counts[chunk] == CHUNK:
        made = _new_chunk(pool)
        before[made] = NONE
        after[made] = chunk
        if chunk == NONE:
            tails[chain] = made
        else:
            before[chunk] = made
        heads[chain] = made
        chunk = made
    first = chunk * CHUNK
    shift_up((positions,), first, first + counts[chunk])
    shift_up(rows, first, first + counts[chunk])
    positions[first] = position
    store(rows, first, row)
    counts[chunk] += 1
    cursor[ROWS] += 1


@jitable
def last_row(pool: Any, tails: Any, chain: int) -> int:
    """Return the slot of the last row of a chain that is not empty."""
    _positions, _rows, _before, _after, counts, _cursor = pool
    chunk = tails[chain]
    slot: int = chunk * CHUNK + counts[chunk] - 1
    return slot


@jitable
def row_at(pool: Any, heads: Any, tails: Any, chain: int, index: int, count: int) -> int:
    """Return the slot of the row with this rank, of `count` rows; search from the nearer end."""
    _positions, _rows, before, after, counts, _cursor = pool
    if 2 * index < count:
        chunk = heads[chain]
        start = 0
        while index - start >= counts[chunk]:
            start += counts[chunk]
            chunk = after[chunk]
    else:
        chunk = tails[chain]
        start = count - counts[chunk]
        while index < start:
            chunk = before[chunk]
            start -= counts[chunk]
    slot: int = chunk * CHUNK + index - start
    return slot


@jitable
def drop_last(pool: Any, heads: Any, tails: Any, chain: int) -> None:
    """Remove the last row."""
    _positions, _rows, before, after, counts, cursor = pool
    chunk = tails[chain]
    counts[chunk] -= 1
    cursor[ROWS] -= 1
    if counts[chunk] == 0:
        tails[chain] = before[chunk]
        if before[chunk] == NONE:
            heads[chain] = NONE
        else:
            after[before[chunk]] = NONE
        _free_chunk(pool, chunk)


@jitable
def join(pool: Any, heads: Any, tails: Any, older: int, newer: int) -> None:
    """Append a chain to another one, and leave it empty."""
    _positions, _rows, before, after, _counts, _cursor = pool
    if heads[newer] == NONE:
        return
    if heads[older] == NONE:
        heads[older] = heads[newer]
    else:
        after[tails[older]] = heads[newer]
        before[heads[newer]] = tails[older]
    tails[older] = tails[newer]
    heads[newer] = NONE
    tails[newer] = NONE


@jitable
def cut(pool: Any, heads: Any, tails: Any, older: int, newer: int, at: int) -> None:
    """Move the rows from position `at` on to a chain that is empty."""
    positions, _rows, before, after, counts, _cursor = pool
    chunk = tails[older]
    while chunk != NONE and positions[chunk * CHUNK] >= at:
        chunk = before[chunk]
    if chunk == NONE:  # all of them
        heads[newer] = heads[older]
        tails[newer] = tails[older]
        heads[older] = NONE
        tails[older] = NONE
        return
    first, end = chunk * CHUNK, chunk * CHUNK + counts[chunk]
    slot = place_of(positions, first, end, at)
    if slot < end:
        _move_rows(pool, chunk, slot - first, _chunk_after(pool, tails, older, chunk))
    if after[chunk] != NONE:
        heads[newer] = after[chunk]
        tails[newer] = tails[older]
        before[heads[newer]] = NONE
        after[chunk] = NONE
        tails[older] = chunk


@jitable
def release(pool: Any, heads: Any, tails: Any, chain: int) -> None:
    """Free the rows of a chain."""
    _positions, _rows, _before, after, counts, cursor = pool
    chunk = heads[chain]
    while chunk != NONE:
        following = after[chunk]
        cursor[ROWS] -= counts[chunk]
        _free_chunk(pool, chunk)
        chunk = following
    heads[chain] = NONE
    tails[chain] = NONE


@jitable
def fold_chain(aggregate: Monoid, pool: Any, heads: Any, chain: int) -> Any:
    """Return the fold of the rows of a chain that is not empty."""
    _positions, rows, _before, after, counts, _cursor = pool
    chunk = heads[chain]
    folded = lift(aggregate, load(rows, chunk * CHUNK))
    start = 1
    while chunk != NONE:
        for slot in range(chunk * CHUNK + start, chunk * CHUNK + counts[chunk]):
            folded = combine(aggregate, folded, lift(aggregate, load(rows, slot)))
        start = 0
        chunk = after[chunk]
    return folded


def chain_positions(pool: Any, heads: Any, chain: int) -> list[int]:
    """Return the positions of the rows of a chain; for tests."""
    positions, _rows, _before, after, counts, _cursor = pool
    found: list[int] = []
    chunk = heads[chain]
    while chunk != NONE:
        found += positions[chunk * CHUNK : chunk * CHUNK + counts[chunk]].tolist()
        chunk = after[chunk]
    return found
