"""IOA, the Imperative Okasaki Aggregator: worst-case O(1) from cells that are filled in on time.

Idea      FOA without lazy evaluation: a cell is either filled or delayed, and a delayed cell holds
          the arguments of its rotation. It is filled in place, once, when next gets to it. The
          window is three pointers that move.
Picture     oldest f             n                  m                   b newest
            front ( pf | … ) → ( pn ) → ( delayed: left, right, after )   back ( pb-1 | … | pm )
                    sums to m    next                                     sums from m
            left ( →l | … )      reverse of right ( … | l→ )     after ( →m | … )
Keeps     K1  |next| = |front| - |back|, next is the end of front
          K2  front: a filled cell holds pi and pi ⊕ … ⊕ pm-1
          K3  back: a cell holds pi and pm ⊕ … ⊕ pi, newest first
          K4  at most one cell is delayed, right behind next; |right| = |left| + 1,
              left sums to its own end, right from its own start, after sums to m
Combines  insert ≤ 4, evict ≤ 3, query ≤ 1; on average 2.5, 1.5 and 1.  Space 2n partials.
Needs     associativity.  Order  first in, first out.  Interpreted only: for study, and as a witness.
From      Tangwongsan, Hirzel, Schneider. Low-Latency Sliding-Window Aggregation in Worst-Case
          Constant Time. DEBS, 2017. doi:10.1145/3093742.3093925
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from sash.algebra.fields import Partial, load
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.facts import Bound, Cost, Facts, Space
from sash.swag.foa import capacity, check_lists, fault, lists_as_arrays, resize

__all__ = [
    "FACTS",
    "capacity",
    "check",
    "count",
    "evict",
    "fault",
    "insert",
    "query",
    "resize",
    "restore",
    "save",
    "start",
]

FACTS = Facts(
    title="IOA",
    insert=Cost(Bound(2.5), Bound(4)),
    evict=Cost(Bound(1.5), Bound(3)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(2, linear=2), rounded=False),  # a cell more is delayed; links are not counted
    compiled=False,
    paper="Tangwongsan, Hirzel, Schneider. DEBS 2017",
)


class Cell:
    """A cell of a list: filled with a value, a sum and the next cell, or delayed."""

    __slots__ = ("after", "is_delayed", "left", "rest", "right", "total", "value")

    def __init__(self) -> None:
        self.value: Partial = ()
        self.total: Partial = ()
        self.rest: List = None
        self.is_delayed = False
        self.left: List = None
        self.right: List = None
        self.after: List = None


List: TypeAlias = Cell | None  # None is the empty list


class Window:
    """The window: the first cells of front, next and back."""

    __slots__ = ("back", "count", "front", "next")

    def __init__(self) -> None:
        self.front: List = None
        self.next: List = None
        self.back: List = None
        self.count = 0


def _total(aggregate: Monoid, cell: List) -> Partial:
    return identity(aggregate) if cell is None else cell.total


def _filled(value: Partial, total: Partial, rest: List) -> Cell:
    cell = Cell()
    cell.value, cell.total, cell.rest = value, total, rest
    return cell


def _delayed(left: List, right: List, after: List) -> Cell:
    cell = Cell()
    cell.is_delayed = True
    cell.left, cell.right, cell.after = left, right, after
    return cell


def _fill(aggregate: Monoid, cell: List) -> None:
    """Fill a delayed cell with its value and sum, and delay the one behind it; filled cells stay as they are."""
    if cell is None or not cell.is_delayed:
        return
    left, right, after = cell.left, cell.right, cell.after
    assert right is not None, "K4"
    beyond = _total(aggregate, after)
    turned = combine(aggregate, right.value, beyond)
    if left is None:
        cell.value, cell.total, cell.rest = right.value, turned, after
    else:
        cell.value = left.value
        cell.total = combine(aggregate, combine(aggregate, left.total, right.total), beyond)
        cell.rest = _delayed(left.rest, right.rest, _filled(right.value, turned, after))
    cell.is_delayed = False
    cell.left = cell.right = cell.after = None  # so that what is no longer needed can go


def _step(aggregate: Monoid, window: Window) -> None:
    if window.next is not None:
        window.next = window.next.rest
    elif window.back is not None:  # |back| = |front| + 1: a new rotation
        window.front = window.next = _delayed(window.front, window.back, None)
        window.back = None
    _fill(aggregate, window.next)


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return Window()


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    window: Window = state
    window.back = _filled(partial, combine(aggregate, _total(aggregate, window.back), partial), window.back)
    window.count += 1
    _step(aggregate, window)


def evict(aggregate: Monoid, state: Any) -> None:
    window: Window = state
    assert window.front is not None, "K1"
    window.front = window.front.rest
    window.count -= 1
    _step(aggregate, window)  # front is never ahead of next, so next fills its first cell


def query(aggregate: Monoid, state: Any) -> Partial:
    window: Window = state
    return combine(aggregate, _total(aggregate, window.front), _total(aggregate, window.back))


def count(state: Any) -> int:
    window: Window = state
    return window.count


def save(aggregate: Monoid, state: Any) -> Any:
    """Return the window as (values, sums, [how many are in front]), oldest first.

    This fills delayed cells, which changes no result, so the saved window can continue.
    """
    window: Window = state
    front = []
    cell = window.front
    while cell is not None:
        _fill(aggregate, cell)
        front.append(cell)
        cell = cell.rest
    return lists_as_arrays(aggregate, front, list(_known(window.back)))


def restore(aggregate: Monoid, saved: Any) -> Any:
    """Return a window from what `save` returned."""
    values, sums, (split,) = saved
    window = Window()
    window.count = len(values[0])
    for place in range(split - 1, -1, -1):
        window.front = _filled(load(values, place), load(sums, place), window.front)
        if place == window.count - split:  # |front| - |back| cells from here on: K1
            window.next = window.front
    for place in range(split, window.count):
        window.back = _filled(load(values, place), load(sums, place), window.back)
    return window


def _known(cell: List) -> Iterator[Cell]:
    """Return the filled cells up to the end, or up to a delayed one."""
    while cell is not None and not cell.is_delayed:
        yield cell
        cell = cell.rest


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    window: Window = state
    front, later, back = (list(_known(cell)) for cell in (window.front, window.next, window.back))
    delayed = front[-1].rest if front else None
    pending = delayed if delayed is None else [[*_known(each)] for each in (delayed.left, delayed.right, delayed.after)]
    assert all(cells[-1].rest is None for cells in (back, *(pending or ())) if cells), "K4"
    assert window.count == len(partials), "K1"
    check_lists(aggregate, partials, front, later, back, pending)
