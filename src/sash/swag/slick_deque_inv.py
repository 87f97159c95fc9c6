"""SlickDeque for aggregates with an inverse: one running result per registered size.

Idea      Subtract-on-Evict, many times over one ring. Each registered size has its own answer: a
          new partial joins all of them, and leaves each on the left when it is that old.
Picture     oldest f          b - s1          b - s2     b newest         s0 ≥ b - f > s1 > s2
            ring  [ pf | … | pb-s1 | … | pb-s2 | … | pb-1 )
                    └──────────────── answer 0 ───────────┘   the window is shorter than s0
                             └─────── answer 1 ───────────┘
                                       └ answer 2 ────────┘
Keeps     K1  f ≤ b, b - f ≤ len(ring)                 (positions grow, slots wrap)
          K2  f ≤ i < b: ring[i] = pi
          K3  size[0] > size[1] > … > 0; one unbounded size if none was registered
          K4  answer[k] = the fold of the newest min(size[k], b - f), identity if there are none
Combines  of the whole window alone: insert 1, evict 1 (an inversion), query 0.
          Of each registered size: insert ≤ 2, evict ≤ 1, 2 per slide; query 0.
          Of a range that is not registered: a fold of the rows older than the next smaller size.
          Space n partials, and one per size.
Needs     invert(a ⊕ b, a) = b.  Order  first in, first out.
From      Shein, Chrysanthis, Labrinidis. SlickDeque: High Throughput and Low Latency Incremental
          Sliding-Window Aggregation. EDBT, 2018.
"""

from itertools import pairwise
from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity, invert
from sash.swag.contract import identities, integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Needs, Space, room_for
from sash.swag.queue import Layout, load_at, partials_at, room, store_at
from sash.swag.ring import fold_all, ring_fault

__all__ = [
    "FACTS",
    "capacity",
    "check",
    "count",
    "evict",
    "fault",
    "insert",
    "query",
    "query_each",
    "query_last",
    "resize",
    "start",
]

FACTS = Facts(
    title="SlickDeque (invertible)",
    insert=Cost(Bound(1), Bound(1)),
    evict=Cost(Bound(1), Bound(1)),
    query=Cost(Bound(0), Bound(0)),
    space=Space(Bound(1, linear=1), Bound(3)),
    needs=Needs.INVERT,
    all_ranges=AllRanges(Cost(Bound(linear=2), Bound(linear=2)), Space(Bound(linear=2), Bound(2, linear=1))),
    paper="Shein, Chrysanthis, Labrinidis. EDBT 2018",
)
F, B = range(2)  # the places of f and b in `cursor`
LAYOUT = Layout(newest=B)
count, capacity, resize, settle = LAYOUT.steps()
UNBOUNDED = 1 << 62  # no window is as long as this, so its answer is that of the whole window


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    registered = sorted({*sizes}, reverse=True) or [UNBOUNDED]
    size = integers(aggregate, len(registered))
    size[:] = registered
    ring, answer = aggregate.allocate(room_for(capacity)), identities(aggregate, len(registered))
    return ring, answer, size, integers(aggregate, 2)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    ring, answer, size, cursor = state
    newest, rows = cursor[B], cursor[B] - cursor[F]
    store_at(ring, newest, partial)
    for k in range(len(size)):
        longer = combine(aggregate, load(answer, k), partial)
        if rows < size[k]:
            store(answer, k, longer)
        else:
            store(answer, k, invert(aggregate, longer, load_at(ring, newest - size[k])))
    cursor[B] = newest + 1


def evict(aggregate: Monoid, state: Any) -> None:
    ring, answer, size, cursor = state
    oldest = load_at(ring, cursor[F])
    rows = cursor[B] - cursor[F]
    k = 0
    while k < len(size) and size[k] >= rows:  # the answers that reach back to the oldest row
        if rows == 1:  # whatever rounding had left behind goes with the last row
            store(answer, k, identity(aggregate))
        else:
            store(answer, k, invert(aggregate, load(answer, k), oldest))
        k += 1
    cursor[F] += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    _ring, _answer, _size, cursor = state
    return _suffix(aggregate, state, cursor[B] - cursor[F], 0)


def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    _ring, _answer, size, _cursor = state
    low, high = 0, len(size)
    while low < high:
        middle = (low + high) // 2
        if size[middle] > count:
            low = middle + 1
        else:
            high = middle
    return _suffix(aggregate, state, count, low)


def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    _ring, _answer, size, _cursor = state
    k = 0
    for place in range(len(counts)):
        while k < len(size) and size[k] > counts[place]:
            k += 1
        store(answers, place, _suffix(aggregate, state, counts[place], k))


@jitable
def _suffix(aggregate: Monoid, state: Any, count: int, k: int) -> Partial:
    """Return the fold of the newest `count`, or of all if there are fewer; size[k] is the first size ≤ count."""
    ring, answer, size, cursor = state
    rows = cursor[B] - cursor[F]
    if k < len(size) and size[k] == count:
        return load(answer, k)
    if count >= rows and size[0] >= rows:  # the longest answer is that of the whole window
        return load(answer, 0)
    folded = identity(aggregate)
    covered = min(size[k], rows) if k < len(size) else 0
    for position in range(cursor[B] - min(count, rows), cursor[B] - covered):
        folded = combine(aggregate, folded, load_at(ring, position))
    return combine(aggregate, folded, load(answer, k)) if covered > 0 else folded


def fault(aggregate: Monoid, state: Any) -> str | None:
    ring, answer, size, cursor = state
    if len(cursor) != 2 or len(size) != length(answer):
        return "its cursors are not f and b, or it has not an answer for each size"
    sizes = [int(each) for each in size]
    if not sizes or not 0 < sizes[-1] <= sizes[0] <= UNBOUNDED or any(a <= b for a, b in pairwise(sizes)):
        return "the sizes that it answers do not descend (K3)"
    return ring_fault(ring, *cursor)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    ring, answer, size, cursor = state
    f, b = cursor
    assert f <= b and b - f <= room(ring), "K1"
    assert partials_at(ring, f, b) == partials, "K2"
    assert len(size) == length(answer) > 0 and size[-1] > 0, "K3"
    assert all(longer > shorter for longer, shorter in pairwise(size)), "K3"
    for k, limit in enumerate(size):
        assert load(answer, k) == fold_all(aggregate, partials[max(0, b - f - limit) :]), "K4"
