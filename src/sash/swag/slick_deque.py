"""SlickDeque for selective aggregates: only rows that can still be an answer are kept.

Idea      Where a ⊕ b is always a or b, a row that a newer one wins against is never an answer
          again. Drop it: what stays is a deque in which every node wins against all newer ones, so
          the answer for any start is the first node that is not older.
Picture     window   oldest f                              b newest         7 3 1 5 2 4 under max
            node     [ 7 | 5 | 4 )        oldest h … t newest
            at       [ 0 | 3 | 5 )        the position that each node has in the window
Keeps     K1  t - h ≤ b - f, t - h ≤ len(node);  h = t only if f = b    (positions grow, slots wrap)
          K2  f ≤ at[h] < … < at[t-1] = b - 1
          K3  h ≤ j < t: node[j] = p at[j]
          K4  h ≤ j < t - 1: node[j] ⊕ node[j+1] = node[j], and is not equal to node[j+1]
          K5  f ≤ i < b: pi ⊕ … ⊕ pb-1 = node[j] for the first j with at[j] ≥ i
Combines  insert amortised < 2, worst n; evict 0; query of any range 0.  Space ≤ n partials, and as
          many positions: only nodes take room, so a window can have far more rows than its queue has slots.
Needs     a selective ⊕, which need not commute.  Order  first in, first out.
From      Shein, Chrysanthis, Labrinidis. SlickDeque: High Throughput and Low Latency Incremental
          Sliding-Window Aggregation. EDBT, 2018.

Why a newer row p drops the last node q exactly if q ⊕ p equals p, ties included:
drop      x ⊕ q ⊕ p = x ⊕ (q ⊕ p) = x ⊕ p for whatever came before, by associativity alone, and no
          range that begins at or before q ends before p. So an equal q may go even if ⊕ prefers the
          older, as `first` does: all of its fields equal those of p. Two rows that tie for argmax
          but have different second fields are not equal; the older one stays.
keep      else q ⊕ p = q, ⊕ being selective, and with it every older node wins against p (K4, K5).
"""

from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, length, same, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Needs, Space, room_for
from sash.swag.queue import Layout, load_at, partials_at, room, store_at
from sash.swag.ring import LAST, fold_all, ring_fault

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
    title="SlickDeque (selective)",
    insert=Cost(Bound(2), Bound(linear=1)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(0), Bound(0)),
    space=Space(Bound(linear=1), Bound(4, linear=1)),
    needs=Needs.SELECTIVE,
    all_ranges=AllRanges(Cost(Bound(2), Bound(linear=1)), Space(Bound(linear=1), Bound(4, linear=1))),
    paper="Shein, Chrysanthis, Labrinidis. EDBT 2018",
)
F, B, H, T = range(4)  # the places of f, b, h, t in `cursor`
LAYOUT = Layout(newest=B, rings=2, kept=(H, T))
count, capacity, resize, settle = LAYOUT.steps()


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    slots = room_for(capacity)
    return aggregate.allocate(slots), integers(aggregate, slots), integers(aggregate, 4)


def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    node, at, cursor = state
    head, tail = cursor[H], cursor[T]
    while tail > head and same(combine(aggregate, load_at(node, tail - 1), partial), partial):
        tail -= 1
    store_at(node, tail, partial)
    store_at(at, tail, cursor[B])
    cursor[T] = tail + 1
    cursor[B] += 1


def evict(aggregate: Monoid, state: Any) -> None:
    _node, at, cursor = state
    if load_at(at, cursor[H]) == cursor[F]:
        cursor[H] += 1
    cursor[F] += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    node, _at, cursor = state
    if cursor[H] == cursor[T]:
        return identity(aggregate)
    oldest: Partial = load_at(node, cursor[H])
    return oldest


def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    node, at, cursor = state
    found = _first_from(at, cursor[H], cursor[T], cursor[B] - count)
    if found == cursor[T]:
        return identity(aggregate)
    answer: Partial = load_at(node, found)
    return answer


def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    node, at, cursor = state
    newest, tail, asked = cursor[B], cursor[T], len(counts)
    found, place = cursor[H], 0
    while place < asked:
        first = newest - counts[place]
        if found < tail and load_at(at, found) < first:
            found = _first_from(at, found + 1, tail, first)
        if found == tail:  # only the empty range is left
            _fill(answers, place, asked, identity(aggregate))
            return
        here = load_at(node, found)
        reach = newest - load_at(at, found)
        found += 1
        if place + 1 == asked or counts[place + 1] < reach:
            store(answers, place, here)
            place += 1
            continue
        end = place + counts[place] - reach + 1  # if all counts are queried, this needs no search
        if end > asked or counts[end - 1] != reach or (end < asked and counts[end] >= reach):
            end = _first_below(counts, place + 2, asked, reach)
        _fill(answers, place, end, here)
        place = end


@jitable
def _first_from(at: Any, low: int, high: int, position: int) -> int:
    """Return the first index in [low, high) of a node that is not older than a position; else high."""
    probe, step = low, 1  # ever longer strides: what is near costs little, what is far costs a logarithm
    while probe < high and load_at(at, probe) < position:
        low = probe + 1
        probe += step
        step += step
    high = min(probe, high)
    while low < high:
        middle = (low + high) // 2
        if load_at(at, middle) < position:
            low = middle + 1
        else:
            high = middle
    return low


@jitable
def _first_below(counts: Any, low: int, high: int, limit: int) -> int:
    """Return the first place in [low, high) of a count below a limit; counts descend; else high."""
    probe, step = low, 1
    while probe < high and counts[probe] >= limit:
        low = probe + 1
        probe += step
        step += step
    high = min(probe, high)
    while low < high:
        middle = (low + high) // 2
        if counts[middle] >= limit:
            low = middle + 1
        else:
            high = middle
    return low


@jitable
def _fill(answers: Fields, begin: int, end: int, partial: Partial) -> None:
    for place in range(begin, end):  # one partial for a run of places: this is what makes all ranges cheap
        store(answers, place, partial)


def fault(aggregate: Monoid, state: Any) -> str | None:
    node, at, cursor = state
    if len(cursor) != 4 or len(at) != length(node):
        return "its cursors are not f, b, h and t, or its nodes have no positions"
    f, b, h, t = (int(each) for each in cursor)
    wrong = ring_fault(node, h, t)
    if wrong is not None:
        return wrong
    if not 0 <= f <= b <= LAST:
        return f"its window is from {f} to {b}"
    places = np.asarray(at)[np.arange(h, t) & (length(node) - 1)]
    if (h == t) != (f == b) or (h < t and not (places[0] >= f and places[-1] == b - 1)):
        return f"its nodes are not of the rows from {f} to {b} (K1, K2)"
    return None if (places[1:] > places[:-1]).all() else "the positions of its nodes do not ascend (K2)"


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    node, at, cursor = state
    f, b, h, t = cursor
    assert t - h <= min(b - f, room(node)) and room(node) == room(at) and (h < t or f == b), "K1"
    nodes = partials_at(node, h, t)
    positions = [int(load_at(at, j)) for j in range(h, t)]
    assert positions == sorted(set(positions)), "K2"
    assert f == b or (f <= positions[0] and positions[-1] == b - 1), "K2"
    assert all(same(kept, partials[position - f]) for kept, position in zip(nodes, positions, strict=True)), "K3"
    for older, newer in pairwise(nodes):
        chosen = combine(aggregate, older, newer)
        assert same(chosen, older) and not same(chosen, newer), "K4"
    for i in range(f, b):
        answer = next(kept for kept, position in zip(nodes, positions, strict=True) if position >= i)
        assert same(answer, fold_all(aggregate, partials[i - f :])), "K5"
