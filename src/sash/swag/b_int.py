"""B-Int: folds of aligned blocks, written once when a block is complete.

Idea      Cut the stream into blocks of 1, 2, 4, … positions. A block is folded from its two halves
          when its last position is inserted, and never changed again. Any range is a few whole
          blocks: they grow from its start and shrink towards its end.
Picture     level 2   [        8 … 11         ][        12 … 15        ][
            level 1   [  8 … 9   ][  10 … 11  ][  12 … 13  ][  14 … 15 ][ 16 … 17 ][
            level 0   [ 8 ][  9  ][ 10 ][ 11  ][ 12 ][  13 ][ 14 ][ 15 ][ 16 ][ 17 ][ 18 ]
                            oldest f = 9                                        newest b = 19
            [9, 19) = [9] ⊕ [10, 11] ⊕ [12 … 15] ⊕ [16, 17] ⊕ [18]
            level l is a ring of N / 2^l blocks; all levels lie flat in one tree of 2 N
Keeps     K1  f ≤ b, b - f ≤ N                         (positions grow, slots wrap)
          K2  each block [j 2^l, (j+1) 2^l) inside [f, b) holds the fold of its positions
Combines  insert amortised 1, worst log n; evict 0; query about log n, ≤ 2 log n.  A changed row log n,
          m of them at once ≤ m + m log N/m.  Space 2 N partials.
Needs     associativity.  Order  first in, first out.  Any range of the window can be queried, and any
          row of it can be changed.
From      Arasu, Widom. Resource Sharing in Continuous Sliding-Window Aggregates. VLDB 2004.
"""

from typing import Any

from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import integers
from sash.swag.facts import AllRanges, Bound, Cost, Facts, Space, room_for
from sash.swag.flat_tree import fold, leaf, leaves, refresh
from sash.swag.ring import fold_all, ring_fault, ring_steps

__all__ = [
    "FACTS",
    "capacity",
    "check",
    "count",
    "evict",
    "fault",
    "insert",
    "query",
    "query_between",
    "query_each",
    "query_last",
    "resize",
    "start",
    "update_at",
    "update_many",
]

FACTS = Facts(
    title="B-Int",
    insert=Cost(Bound(1), Bound(log=1)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(log=1), Bound(log=2)),
    space=Space(Bound(linear=2), Bound(2)),
    all_ranges=AllRanges(Cost(Bound(linear=1), Bound(log=1, linear=1)), Space(Bound(linear=2), Bound(2))),
    paper="Arasu, Widom. VLDB 2004",
)
F, B = range(2)  # the places of f and b in `cursor`
count = ring_steps(newest=B)[0]


def start(aggregate: Monoid, capacity: int, sizes: tuple[int, ...] = ()) -> Any:
    return aggregate.allocate(2 * room_for(capacity)), integers(aggregate, 2)


@jitable
def insert(aggregate: Monoid, state: Any, partial: Partial) -> None:
    tree, cursor = state
    node = leaf(tree, cursor[B])
    store(tree, node, partial)
    cursor[B] += 1
    size = 2
    # A right child completes its parent's block. A block that begins before f is never read.
    while node & 1 and node > 1 and cursor[B] - size >= cursor[F]:
        node >>= 1
        refresh(aggregate, tree, node)
        size *= 2


def evict(aggregate: Monoid, state: Any) -> None:
    _tree, cursor = state
    cursor[F] += 1


@jitable
def _refold(aggregate: Monoid, state: Any, block: int, level: int) -> bool:
    """Fold a block again from its two halves; return False if it is not inside the window, so that nothing reads it."""
    tree, cursor = state
    if block << level < cursor[F] or (block + 1) << level > cursor[B] or 1 << level > leaves(tree):
        return False
    width = leaves(tree) >> level
    refresh(aggregate, tree, width + (block & (width - 1)))
    return True


@jitable
def update_at(aggregate: Monoid, state: Any, index: int, partial: Partial) -> None:
    tree, cursor = state
    position = cursor[F] + index
    store(tree, leaf(tree, position), partial)
    level = 1
    while _refold(aggregate, state, position >> level, level):
        level += 1


@jitable
def update_many(aggregate: Monoid, state: Any, indexes: Any, partials: Fields, count: int) -> None:
    tree, cursor = state
    for place in range(count):
        indexes[place] += cursor[F]
        store(tree, leaf(tree, indexes[place]), load(partials, place))
    level = 1
    while count > 0:  # each block once: the list becomes that of the blocks of a level
        kept = 0
        for place in range(count):
            block = indexes[place] >> 1
            if (kept == 0 or block != indexes[kept - 1]) and _refold(aggregate, state, block, level):
                indexes[kept] = block
                kept += 1
        count = kept
        level += 1


def query(aggregate: Monoid, state: Any) -> Partial:
    tree, cursor = state
    return fold(aggregate, tree, cursor[F], cursor[B])


@jitable
def query_between(aggregate: Monoid, state: Any, start: int, end: int) -> Partial:
    tree, cursor = state
    return fold(aggregate, tree, cursor[F] + start, cursor[F] + end)


@jitable
def query_last(aggregate: Monoid, state: Any, count: int) -> Partial:
    tree, cursor = state
    return fold(aggregate, tree, cursor[B] - count, cursor[B])


@jitable
def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    tree, cursor = state
    suffix = identity(aggregate)
    end = cursor[B]
    for place in range(len(counts) - 1, -1, -1):  # shortest first: each extends the one before
        start = cursor[B] - counts[place]
        suffix = combine(aggregate, fold(aggregate, tree, start, end), suffix)
        store(answers, place, suffix)
        end = start


def capacity(state: Any) -> int:
    tree, _cursor = state
    return leaves(tree)


def resize(aggregate: Monoid, state: Any, capacity: int) -> Any:
    tree, cursor = state
    wider, moved = start(aggregate, capacity)
    moved[F], moved[B] = cursor[F], cursor[F]
    _replant(aggregate, tree, cursor, (wider, moved))
    return wider, moved


@kernel
def _replant(aggregate: Monoid, tree: Fields, cursor: Any, wider: Any) -> None:
    """Insert the window again at the same positions."""
    for position in range(cursor[F], cursor[B]):
        insert(aggregate, wider, load(tree, leaf(tree, position)))


def fault(aggregate: Monoid, state: Any) -> str | None:
    tree, cursor = state
    if len(cursor) != 2 or length(tree) % 2:
        return "its cursors are not f and b, or its leaves are not half of its tree"
    return ring_fault(tuple(each[: leaves(tree)] for each in tree), *cursor)  # K1


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    tree, cursor = state
    f, b = (int(each) for each in cursor)
    assert f <= b and b - f <= leaves(tree), "K1"
    size, width = 1, leaves(tree)
    while width:
        for block in range(-(-f // size), b // size):
            own = partials[block * size - f : (block + 1) * size - f]
            assert load(tree, width + block % width) == fold_all(aggregate, own), "K2"
        size, width = 2 * size, width // 2
