"""FOA, the Functional Okasaki Aggregator: worst-case O(1) from lists that are rotated lazily.

Idea      Okasaki's real-time queue with sums. Front and back are immutable linked lists. When the
          back gets longer than the front, the new front is a lazy list: the old front followed by
          the back in reverse. Evaluating this list, `rot`, yields one cell and a lazy rest. Every
          insert and evict evaluates one more cell, so all are there before they are needed.
Picture     oldest f             n                  m                   b newest
            front ( pf | … ) → ( pn | … ) → rot(left, right, after)     back ( pb-1 | … | pm )
                    sums to m    next: the same cells from n on          sums from m
            left ( →l | … )      reverse of right ( … | l→ )     after ( →m | … )
Keeps     K1  |next| = |front| - |back|, next is the end of front
          K2  front: a cell holds pi and pi ⊕ … ⊕ pm-1
          K3  back: a cell holds pi and pm ⊕ … ⊕ pi, newest first
          K4  at most one rot is suspended, right behind the first cell of next; |right| = |left| + 1,
              left sums to its own end, right from its own start, after sums to m
Combines  insert ≤ 4, evict ≤ 3, query ≤ 1; on average 2.5, 1.5 and 1.  Space 2n partials.
Needs     associativity.  Order  first in, first out.  Interpreted only: for study, and as a witness.
From      Tangwongsan, Hirzel, Schneider. Low-Latency Sliding-Window Aggregation in Worst-Case
          Constant Time. DEBS, 2017. doi:10.1145/3093742.3093925; after Okasaki. Simple and
          Efficient Purely Functional Queues and Deques. Journal of Functional Programming, 1995.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from sash.algebra.fields import Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers
from sash.swag.facts import Bound, Cost, Facts, Space
from sash.swag.ring import fold_all

__all__ = [
    "FACTS",
    "capacity",
    "check",
    "check_lists",
    "count",
    "evict",
    "fault",
    "insert",
    "lists_as_arrays",
    "query",
    "resize",
    "restore",
    "save",
    "start",
]

FACTS = Facts(
    title="FOA",
    insert=Cost(Bound(2.5), Bound(4)),
    evict=Cost(Bound(1.5), Bound(3)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(linear=2), rounded=False),  # of linked cells, whose links are not counted
    compiled=False,
    paper="Tangwongsan, Hirzel, Schneider. DEBS 2017",
)


class Cell(NamedTuple):
    """A list that is not empty: its first value, the sum of all its values, and its lazy rest."""

    value: Partial
    total: Partial
    rest: "Rest"


List: TypeAlias = Cell | None  # None is the empty list


class Rest:
    """A list that may be a suspended rot, which is evaluated once, at the first access."""

    __slots__ = ("known", "rot")

    def __init__(self, known: List, rot: tuple[List, Cell, List] | None = None) -> None:
        self.known = known
        self.rot = rot


class Queue(NamedTuple):
    """The window as an immutable value: steps return a new one."""

    front: List
    next: List
    back: List
    rows: int


def _total(aggregate: Monoid, cells: List) -> Partial:
    return identity(aggregate) if cells is None else cells.total


def _tail(aggregate: Monoid, cells: Cell) -> List:
    rest = cells.rest
    if rest.rot is not None:
        rest.known, rest.rot = _rot(aggregate, *rest.rot), None
    return rest.known


def _rot(aggregate: Monoid, left: List, right: Cell, after: List) -> Cell:
    """Return left, then right in reverse, then after; |right| = |left| + 1."""
    beyond = _total(aggregate, after)
    moved = Cell(right.value, combine(aggregate, right.value, beyond), Rest(after))
    if left is None:
        return moved
    # By K4 there is no other suspension: both tails and the three sums are evaluated.
    older, newer = _tail(aggregate, left), _tail(aggregate, right)
    assert newer is not None, "K4"
    total = combine(aggregate, combine(aggregate, left.total, right.total), beyond)
    return Cell(left.value, total, Rest(None, (older, newer, moved)))


def _stepped(aggregate: Monoid, queue: Queue) -> Queue:
    """Do one step of the current rotation, or the first one of a new rotation."""
    if queue.next is not None:
        return queue._replace(next=_tail(aggregate, queue.next))
    if queue.back is None:
        return queue
    front = _rot(aggregate, queue.front, queue.back, None)
    return Queue(front, front, None, queue.rows)


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return [Queue(None, None, None, 0)]  # the one place that is assigned to


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    queue: Queue = state[0]
    back = Cell(partial, combine(aggregate, _total(aggregate, queue.back), partial), Rest(queue.back))
    state[0] = _stepped(aggregate, queue._replace(back=back, rows=queue.rows + 1))


def evict(aggregate: Monoid, state: Any) -> None:
    queue: Queue = state[0]
    assert queue.front is not None, "K1"
    state[0] = _stepped(aggregate, queue._replace(front=_tail(aggregate, queue.front), rows=queue.rows - 1))


def query(aggregate: Monoid, state: Any) -> Partial:
    queue: Queue = state[0]
    return combine(aggregate, _total(aggregate, queue.front), _total(aggregate, queue.back))


def count(state: Any) -> int:
    queue: Queue = state[0]
    return queue.rows


def capacity(state: Any) -> int:
    return sys.maxsize  # lists grow by themselves


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    return state


def save(aggregate: Monoid, state: Any) -> Any:
    """Return the window as (values, sums, [how many are in front]), oldest first.

    This evaluates all suspensions, which changes no result, so the saved window can continue.
    """
    queue: Queue = state[0]
    front = []
    cells = queue.front
    while cells is not None:
        front.append(cells)
        cells = _tail(aggregate, cells)
    return lists_as_arrays(aggregate, front, list(_known(queue.back)))


def lists_as_arrays(aggregate: Monoid, front: list[Any], back: list[Any]) -> Any:
    """Return the cells of front and back as (values, sums, [how many are in front]), oldest first."""
    rows = len(front) + len(back)
    values, sums, split = aggregate.allocate(rows), aggregate.allocate(rows), integers(aggregate, 1)
    for place, cell in enumerate([*front, *reversed(back)]):
        store(values, place, cell.value)
        store(sums, place, cell.total)
    split[0] = len(front)
    return values, sums, split


def fault(aggregate: Monoid, saved: Any) -> str | None:
    """Return what is wrong with what `save` returned, or None."""
    values, sums, split = saved
    rows = length(values)
    if length(sums) != rows or len(split) != 1:
        return "it has more sums than values, or more than one front"
    # |next| = |front| - |back|: K1
    return None if rows - split[0] <= split[0] <= rows else f"{split[0]} of its {rows} rows are in front (K1)"


def restore(aggregate: Monoid, saved: Any) -> Any:
    """Return a window from what `save` returned."""
    values, sums, (split,) = saved
    rows = len(values[0])
    front: List = None
    later: List = None
    back: List = None
    for place in range(split - 1, -1, -1):
        front = Cell(load(values, place), load(sums, place), Rest(front))
        if place == rows - split:  # |front| - |back| cells from here on: K1
            later = front
    for place in range(split, rows):
        back = Cell(load(values, place), load(sums, place), Rest(back))
    return [Queue(front, later, back, int(rows))]


def _known(cells: List) -> Iterator[Cell]:
    """Return the cells up to the end, or up to a suspension, which is not evaluated."""
    while cells is not None:
        yield cells
        cells = cells.rest.known


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    queue: Queue = state[0]
    front, later, back = (list(_known(cells)) for cells in (queue.front, queue.next, queue.back))
    rot = front[-1].rest.rot if front else None
    pending = None if rot is None else [list(_known(cells)) for cells in rot]
    assert all(cells[-1].rest.rot is None for cells in (back, *(pending or ())) if cells), "K4"
    assert queue.rows == len(partials), "K1"
    check_lists(aggregate, partials, front, later, back, pending)


def check_lists(
    aggregate: Monoid,
    partials: list[Partial],
    front: list[Any],
    later: list[Any],
    back: list[Any],
    pending: list[list[Any]] | None,
) -> None:
    """Assert the K-lines of the evaluated cells; `pending` are left, right and after of the current rotation."""

    def holds(cells: Iterable[Any], first: int, begin: int | None, end: int) -> bool:
        """Return whether cells hold the values from `first` on, and sums from `begin` or to `end`."""
        return all(
            (cell.value, cell.total)
            == (partials[i], fold_all(aggregate, partials[i:end] if begin is None else partials[begin : i + 1]))
            for i, cell in enumerate(cells, first)
        )

    m = len(partials) - len(back)
    if pending is not None:
        assert later and later[0] is front[-1], "K4"
        left, right, after = pending
        assert len(right) == len(left) + 1, "K4"
        end = len(front) + len(left)
        assert holds(left, len(front), None, end), "K4"
        assert holds(reversed(right), end, end, m), "K4"
        assert holds(after, end + len(right), None, m), "K4"
        assert end + len(right) + len(after) == m, "K4"
    else:
        assert len(front) == m, "K2"
    # From next to m there are |front| - |back| rows, so as many rows lie before next as there are in back.
    assert [*map(id, front[len(back) :])] == [*map(id, later)], "K1"
    assert holds(front, 0, None, m), "K2"
    assert holds(reversed(back), m, m, len(partials)), "K3"
