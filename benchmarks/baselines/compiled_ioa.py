"""IOA, compiled: delayed cells are filled in place, and counted references free a cell at once.

See `sash.swag.ioa` for the idea and the K-lines. Every insert takes a cell from a list of free cells, and every evict
gives cells back, as in the paper's C++.
"""

from typing import Any

from benchmarks.baselines.okasaki_cells import (
    BACK,
    COUNT,
    FREE,
    FRONT,
    NEXT,
    NONE,
    Cells,
    new_cells,
    rotated,
    sum_of,
    turned,
)
from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, load, store
from sash.algebra.monoid import Monoid, combine
from sash.swag import ioa
from sash.swag.facts import Bound, Facts, Space

__all__ = ["FACTS", "count", "evict", "insert", "query", "start"]

FACTS = Facts(
    title="IOA, compiled",
    insert=ioa.FACTS.insert,
    evict=ioa.FACTS.evict,
    query=ioa.FACTS.query,
    space=Space(Bound(16, linear=6), Bound(40, linear=15), rounded=False),  # a value and a sum for each of 3n + 8 cells
    paper=ioa.FACTS.paper,
)


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    cells = new_cells(aggregate, 3 * capacity + 8)
    cells.rest[:-1] = range(1, len(cells.rest))  # all cells are free
    return cells


@jitable
def _take(cells: Cells, references: int) -> int:
    cell: int = cells.heads[FREE]
    cells.heads[FREE] = cells.rest[cell]
    cells.marks[cell] = references
    return cell


@jitable
def _hold(cells: Cells, cell: int) -> int:
    if cell >= 0:
        cells.marks[cell] += 1
    return cell


@jitable
def _release(cells: Cells, cell: int) -> None:
    while cell >= 0:
        cells.marks[cell] -= 1
        if cells.marks[cell] > 0:
            return
        following = cells.rest[cell]
        cells.rest[cell] = cells.heads[FREE]
        cells.heads[FREE] = cell
        cell = following


@jitable
def _fill(aggregate: Monoid, cells: Cells, cell: int) -> None:
    if cell < 0 or cells.right[cell] < 0:
        return
    left, right, after = cells.left[cell], cells.right[cell], cells.after[cell]
    moved_total = turned(aggregate, cells, right, after)
    if left < 0:
        store(cells.values, cell, load(cells.values, right))
        store(cells.totals, cell, moved_total)
        cells.rest[cell] = after
    else:
        store(cells.values, cell, load(cells.values, left))
        store(cells.totals, cell, rotated(aggregate, cells, left, right, after))
        moved, delayed = _take(cells, 1), _take(cells, 1)
        store(cells.values, moved, load(cells.values, right))
        store(cells.totals, moved, moved_total)
        cells.rest[moved] = after
        cells.left[delayed] = _hold(cells, cells.rest[left])
        cells.right[delayed] = _hold(cells, cells.rest[right])
        cells.after[delayed] = moved
        cells.rest[delayed] = NONE
        cells.rest[cell] = delayed
    cells.left[cell] = cells.right[cell] = cells.after[cell] = NONE
    _release(cells, left)
    _release(cells, right)


@jitable
def _advance(cells: Cells, head: int) -> None:
    """Move a head to the next cell."""
    old = cells.heads[head]
    cells.heads[head] = _hold(cells, cells.rest[old])
    _release(cells, old)


@jitable
def _step(aggregate: Monoid, cells: Cells) -> None:
    heads = cells.heads
    if heads[NEXT] >= 0:
        _advance(cells, NEXT)
    elif heads[BACK] >= 0:
        cell = _take(cells, 2)
        cells.left[cell], cells.right[cell], cells.after[cell] = heads[FRONT], heads[BACK], NONE
        cells.rest[cell] = NONE
        heads[FRONT] = heads[NEXT] = cell
        heads[BACK] = NONE
    _fill(aggregate, cells, heads[NEXT])


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    back = state.heads[BACK]
    cell = _take(state, 1)
    store(state.values, cell, partial)
    store(state.totals, cell, combine(aggregate, sum_of(aggregate, state, back), partial))
    state.rest[cell] = back
    state.heads[BACK] = cell
    state.heads[COUNT] += 1
    _step(aggregate, state)


def evict(aggregate: Monoid, state: Any) -> None:
    _advance(state, FRONT)
    state.heads[COUNT] -= 1
    _step(aggregate, state)


def query(aggregate: Monoid, state: Any) -> Partial:
    front = sum_of(aggregate, state, state.heads[FRONT])
    return combine(aggregate, front, sum_of(aggregate, state, state.heads[BACK]))


def count(state: Any) -> int:
    return int(state.heads[COUNT])
