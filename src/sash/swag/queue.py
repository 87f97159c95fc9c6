"""A queue of partials that grows and shrinks without a pause: two rings, and a border between them.

Idea      A ring that is full is not copied. A longer ring takes the positions that follow, and each
          later step moves a few partials of the old ring, newest first. The border says in which of
          the two a position is. A ring that is nearly empty is replaced by a shorter one alike.
Picture     first                 border                        end
            old   [ p | p | p | p ) ┆
            ring                    ┆ [ p | p | p | p | p | p )         new positions
                            ← the border moves down by MOVES with each step
Keeps     Q1  position i is in the ring if border ≤ i, else in the old ring
          Q2  end - first ≤ length(ring);  border - first ≤ length(old), if anything is in the old ring
          Q3  nothing is in the old ring if border ≤ first
Moves     MOVES partials per step, at any length. A ring is replaced if it is full, by one of twice its length, or
          if at most a quarter of it is in use, by one of which a quarter to a half is. Until the next
          replacement there are more steps than partials to move, so one old ring is enough.
From      The queue of section 4.1 of DABA (Tangwongsan, Hirzel, Schneider. DEBS, 2017) is a list of
          chunks instead; docs/decisions/0029 compares the two.

Loops of a known capacity use a plain ring. `load_at` and `store_at` work with both, so an algorithm is
written once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types

from sash.algebra.compiler import compiled_reading, from_source, jitable
from sash.algebra.fields import Fields, Partial, load, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.contract import integers
from sash.swag.facts import room_for
from sash.swag.ring import copy_positions, copy_ring

__all__ = ["MOVES", "Layout", "Queue", "load_at", "partials_at", "room", "store_at", "sum_of"]

MOVES = 2  # partials that a step moves; with one, a window that only grows would be done just in time


class Queue(NamedTuple):
    """Two rings of partials, or of integers, and the border between them: an array of one number."""

    ring: Any
    old: Any
    border: Any


def _is_queue(kind: Any) -> bool:
    return getattr(kind, "instance_class", None) is Queue


def load_at(ring: Any, position: int) -> Any:
    """Return what a ring or a queue holds at a position."""
    if isinstance(ring, Queue):
        ring = ring.ring if position >= ring.border[0] else ring.old
    if isinstance(ring, tuple):
        return load(ring, position & (len(ring[0]) - 1))
    return ring[position & (len(ring) - 1)]


def store_at(ring: Any, position: int, value: Any) -> None:
    """Store a partial or an integer at a position of a ring or a queue."""
    if isinstance(ring, Queue):
        ring = ring.ring if position >= ring.border[0] else ring.old
    if isinstance(ring, tuple):
        store(ring, position & (len(ring[0]) - 1), value)
    else:
        ring[position & (len(ring) - 1)] = value


@compiled_reading(load_at)
def _load_at(ring: Any, position: Any) -> Any:
    if _is_queue(ring):

        def from_queue(ring: Any, position: Any) -> Any:
            if position >= ring.border[0]:
                return load_at(ring.ring, position)
            return load_at(ring.old, position)

        return from_queue
    if isinstance(ring, types.BaseTuple):
        return lambda ring, position: load(ring, position & (len(ring[0]) - 1))
    return lambda ring, position: ring[position & (len(ring) - 1)]


@compiled_reading(store_at)
def _store_at(ring: Any, position: Any, value: Any) -> Any:
    if _is_queue(ring):

        def to_queue(ring: Any, position: Any, value: Any) -> None:
            if position >= ring.border[0]:
                store_at(ring.ring, position, value)
            else:
                store_at(ring.old, position, value)

        return to_queue
    if isinstance(ring, types.BaseTuple):
        return lambda ring, position, value: store(ring, position & (len(ring[0]) - 1), value)

    def to_array(ring: Any, position: Any, value: Any) -> None:
        ring[position & (len(ring) - 1)] = value

    return to_array


@jitable
def sum_of(aggregate: Monoid, sums: Any, begin: int, end: int, place: int) -> Partial:
    """Return the sum of the positions [begin, end), which is stored at `place`; the identity if there are none."""
    if begin == end:
        return identity(aggregate)
    partial: Partial = load_at(sums, place)
    return partial


@jitable
def _settle(queue: Any, first: int, end: int, moves: int) -> None:
    """Move the newest partials of the old ring to the ring, at most `moves`; the queue holds [first, end)."""
    border = min(queue.border[0], end)  # a deque can have lost its newest positions
    target = max(first, border - moves)
    while border > target:
        border -= 1
        store_at(queue.ring, border, load_at(queue.old, border))
    queue.border[0] = border


def room(ring: Any) -> int:
    """Return how many positions a ring or a queue can hold."""
    inner = ring.ring if isinstance(ring, Queue) else ring
    return len(inner[0] if isinstance(inner, tuple) else inner)


def partials_at(ring: Any, start: int, end: int) -> list[Partial]:
    """Return the partials at the positions [start, end), for the checks of K-lines."""
    return [load_at(ring, position) for position in range(start, end)]


# --- states made of rings ------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where a state made of rings has its positions.

    The first `rings` parts of the state are rings, or queues, of partials or of integers. The last part is the cursor,
    which begins with the oldest position of the window and has its end at `newest`. The rings hold the positions
    between the two cursors `kept` (default: the window).
    """

    newest: int
    rings: int = 1
    kept: tuple[int, int] | None = None

    def steps(self) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
        """Return `count`, `capacity`, `resize` and `settle` for the module of an algorithm."""
        first, last = self.kept or (0, self.newest)
        calls = "".join(f"    settle(state[{k}], cursor[{first}], cursor[{last}], moves)\n" for k in range(self.rings))
        source = f"def generated(state, moves):\n    cursor = state[-1]\n{calls}"
        return self.count, self.capacity, self.resize, from_source(source, ("settle", _settle))

    def count(self, state: Any) -> int:
        """Return how many rows are in the window."""
        return int(state[-1][self.newest] - state[-1][0])

    def capacity(self, state: Any) -> int:
        """Return how many positions the rings can hold."""
        return room(state[0])

    def bounds(self, state: Any) -> tuple[int, int]:
        """Return the positions that the rings hold, as [first, end)."""
        first, last = self.kept or (0, self.newest)
        return int(state[-1][first]), int(state[-1][last])

    def resize(self, aggregate: Monoid, state: Any, capacity: int) -> Any:
        """Return the same window with another capacity: a copy of rings; queues only get a new ring."""
        first, end = self.bounds(state)
        slots = room_for(max(capacity, end - first))
        if not isinstance(state[0], Queue):
            return self._changed(state, lambda ring: copy_ring(aggregate, ring, first, end, slots))
        if not self.has_empty_old_rings(state):  # many rows come at once, more than there are partials left to move
            for queue in state[: self.rings]:
                copy_positions(queue.old, queue.ring, first, min(int(queue.border[0]), end))

        def replaced(queue: Queue) -> Queue:
            border = integers(aggregate, 1)
            border[0] = end
            return Queue(_unset(aggregate, queue.ring, slots), queue.ring, border)

        return self._changed(state, replaced)

    def _changed(self, state: Any, change: Callable[[Any], Any]) -> Any:
        """Return the state with each ring changed."""
        return *(change(part) for part in state[: self.rings]), *state[self.rings :]

    def growing(self, aggregate: Monoid, state: Any) -> Any:
        """Return a state of rings with queues in their place, for a window that grows."""
        return self._changed(state, lambda ring: Queue(ring, _unset(aggregate, ring, 1), integers(aggregate, 1)))

    def has_empty_old_rings(self, state: Any) -> bool:
        """Return whether no partial is left in an old ring."""
        return bool(state[0].border[0] <= self.bounds(state)[0])

    def steps_left(self, state: Any) -> int:
        """Return after how many steps nothing is left in an old ring; 0 if there is no such ring."""
        return 0 if room(state[0].old) == 1 else max(1, -(-(int(state[0].border[0]) - self.bounds(state)[0]) // MOVES))

    def without_empty_rings(self, aggregate: Monoid, state: Any) -> Any:
        """Return a state without its old rings once they are empty, which frees their memory."""
        if room(state[0].old) == 1 or not self.has_empty_old_rings(state):
            return state
        return self._changed(state, lambda queue: queue._replace(old=_unset(aggregate, queue.old, 1)))

    def saved(self, aggregate: Monoid, state: Any) -> Any:
        """Return a state of plain rings, which is the same whatever the queues still have to move."""
        if not isinstance(state[0], Queue):
            return state
        first, end = self.bounds(state)

        def one_ring(queue: Queue) -> Any:
            ring, border = _unset(aggregate, queue.ring, room_for(end - first), clear=True), int(queue.border[0])
            copy_positions(queue.old, ring, first, min(border, end))
            copy_positions(queue.ring, ring, max(first, border), end)
            return ring

        return self._changed(state, one_ring)


def _unset(aggregate: Monoid, like: Any, slots: int, clear: bool = False) -> Any:
    """Allocate a ring of partials, or of integers if `like` is one of integers.

    It is not cleared, since clearing a long ring is a pause, and each slot is written before it is read.
    """
    if isinstance(like, tuple):
        fields: Fields = tuple(each.empty(slots, aggregate.is_compiled, clear) for each in aggregate.fields)
        return fields
    return np.empty(slots, np.int64) if aggregate.is_compiled and not clear else integers(aggregate, slots)
