"""FOA, compiled: immutable cells, a lazy rest, and a garbage collector that copies.

See `sash.swag.foa` for the idea and the K-lines. No cell is ever freed by itself. When the space for cells is full, all
cells that can still be reached are copied to another space, as MLton's collector does for the paper's FOA.
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
from sash.swag import foa
from sash.swag.facts import Bound, Facts, Space

__all__ = ["FACTS", "count", "evict", "insert", "query", "start"]

ROOM = 8  # cells of a space for each row: as in MLton, eight times as much as a full window needs at least
MOST = 6  # cells that an insert takes, at most
FACTS = Facts(
    title="FOA, compiled",
    insert=foa.FACTS.insert,
    evict=foa.FACTS.evict,
    query=foa.FACTS.query,
    space=Space(Bound(256, linear=4 * ROOM), Bound(640, linear=10 * ROOM), rounded=False),  # two spaces
    paper=foa.FACTS.paper,
)


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return new_cells(aggregate, 2 * (ROOM * capacity + 64))


@jitable
def _moved(cells: Cells, cell: int) -> int:
    """Return where the collector has put a cell; copy it if it has not."""
    if cell < 0:
        return cell
    if cells.marks[cell] < 0:
        new = cells.heads[FREE]
        cells.heads[FREE] = new + 1
        store(cells.values, new, load(cells.values, cell))
        store(cells.totals, new, load(cells.totals, cell))
        cells.rest[new], cells.marks[new] = cells.rest[cell], NONE
        cells.left[new], cells.right[new], cells.after[new] = cells.left[cell], cells.right[cell], cells.after[cell]
        cells.marks[cell] = new
    where: int = cells.marks[cell]
    return where


@jitable
def _collect(cells: Cells) -> None:
    """Copy what can be reached from the heads to the other space, breadth first."""
    half = len(cells.rest) // 2
    heads = cells.heads
    scanned = 0 if heads[FREE] > half else half
    heads[FREE] = scanned
    for head in (FRONT, NEXT, BACK):
        heads[head] = _moved(cells, heads[head])
    while scanned < heads[FREE]:
        cells.rest[scanned] = _moved(cells, cells.rest[scanned])
        cells.left[scanned] = _moved(cells, cells.left[scanned])
        cells.right[scanned] = _moved(cells, cells.right[scanned])
        cells.after[scanned] = _moved(cells, cells.after[scanned])
        scanned += 1


@jitable
def _ensure_room(cells: Cells) -> None:
    half = len(cells.rest) // 2
    end = half if cells.heads[FREE] <= half else 2 * half
    if cells.heads[FREE] + MOST > end:
        _collect(cells)


@jitable
def _cell(cells: Cells, value: Partial, total: Partial, rest: int) -> int:
    new: int = cells.heads[FREE]
    cells.heads[FREE] = new + 1
    store(cells.values, new, value)
    store(cells.totals, new, total)
    cells.rest[new] = rest
    cells.left[new] = cells.right[new] = cells.after[new] = cells.marks[new] = NONE
    return new


@jitable
def _rot(aggregate: Monoid, cells: Cells, left: int, right: int, after: int) -> int:
    """Return left, then right in reverse, then after; the rest of the first cell is delayed."""
    moved = _cell(cells, load(cells.values, right), turned(aggregate, cells, right, after), after)
    if left < 0:
        return moved
    total = rotated(aggregate, cells, left, right, after)
    new = _cell(cells, load(cells.values, left), total, NONE)
    cells.left[new], cells.right[new], cells.after[new] = cells.rest[left], cells.rest[right], moved
    return new


@jitable
def _tail(aggregate: Monoid, cells: Cells, cell: int) -> int:
    """Return the rest of a list, and evaluate it at the first access."""
    right = cells.right[cell]
    if right >= 0:
        left, after = cells.left[cell], cells.after[cell]
        cells.left[cell] = cells.right[cell] = cells.after[cell] = NONE
        cells.rest[cell] = _rot(aggregate, cells, left, right, after)
    rest: int = cells.rest[cell]
    return rest


@jitable
def _step(aggregate: Monoid, cells: Cells) -> None:
    heads = cells.heads
    if heads[NEXT] >= 0:
        heads[NEXT] = _tail(aggregate, cells, heads[NEXT])
    elif heads[BACK] >= 0:
        heads[FRONT] = _rot(aggregate, cells, heads[FRONT], heads[BACK], NONE)
        heads[NEXT] = heads[FRONT]
        heads[BACK] = NONE


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    _ensure_room(state)
    back = state.heads[BACK]
    total = combine(aggregate, sum_of(aggregate, state, back), partial)
    state.heads[BACK] = _cell(state, partial, total, back)
    state.heads[COUNT] += 1
    _step(aggregate, state)


def evict(aggregate: Monoid, state: Any) -> None:
    _ensure_room(state)
    state.heads[FRONT] = _tail(aggregate, state, state.heads[FRONT])
    state.heads[COUNT] -= 1
    _step(aggregate, state)


def query(aggregate: Monoid, state: Any) -> Partial:
    front = sum_of(aggregate, state, state.heads[FRONT])
    return combine(aggregate, front, sum_of(aggregate, state, state.heads[BACK]))


def count(state: Any) -> int:
    return int(state.heads[COUNT])
