"""Aggregate tree: FlatFAT over the rows; a window is a range of its leaves.

Idea      The rows, lifted, are the leaves of a binary tree of folds kept in one array. A row in order
          changes the path above its leaf. A row that comes late moves all newer leaves one further,
          and every node above them is computed again.
Picture     tree   [ – | 1 | 2 | 3 | … | leaf 0 | leaf 1 | … ]      tree[k] = tree[2k] ⊕ tree[2k+1]
                                            f …           b
Keeps     K1  f ≤ i < b: leaves in order of position, then arrival
          K2  a node with all its leaves in [f, b) is their fold
              (leaves before f and from b on hold anything: no range reads them)
Combines  in order log N, late ≥ 2 · newer rows, window ≤ 2 log N.
          Space  rows · row + (rows - 1) · partial.
From      Tangwongsan et al. General Incremental Sliding-Window Aggregation. PVLDB 8(7), 2015.
          doi:10.14778/2752939.2752940, as compared in Traub et al. EDBT 2019.
"""

from typing import Any

from benchmarks.baselines.operator import Facts, place_of, shift_up
from benchmarks.baselines.tuple_buffer import ROOM, WATERMARK, B, F, SortedRows
from benchmarks.baselines.windows import Layout
from sash.algebra.compiler import jitable, kernel
from sash.algebra.fields import Fields, load, store
from sash.algebra.monoid import Monoid, emit, identity, lift
from sash.swag.flat_tree import fold, leaves, refresh

__all__ = ["FACTS", "AggregateTree"]

FACTS = Facts(
    "aggregate tree", "rows · row + (rows - 1) · partial", ordered=True, late=True, counts=True, sessions=True
)


class AggregateTree(SortedRows):
    """A technique that folds a window from the largest nodes inside it."""

    def __init__(self, aggregate: Monoid, layout: Layout) -> None:
        super().__init__(aggregate, layout)
        self.tree = _bare(aggregate, ROOM)

    def size_bytes(self) -> int:
        begin, end, room = int(self.cursor[F]), int(self.cursor[B]), len(self.positions)
        kept = self._partial_bytes(self.tree, range(room + begin, room + end))
        return 8 * len(self) + 2 * kept - (kept // len(self) if len(self) else 0)

    def _take(self, positions: Any, inputs: Fields, marks: Any, begin: int) -> int:
        return _take(self.aggregate, self.positions, self.tree, self.cursor, positions, inputs, begin)

    def _relay(self, begin: int, end: int, room: int) -> None:
        old = len(self.positions)
        super()._relay(begin, end, room)
        tree = _bare(self.aggregate, room)
        for source, target in zip(self.tree, tree, strict=True):
            target[room : room + end - begin] = source[old + begin : old + end]
        self.tree = tree
        _replant(self.aggregate, tree)

    def _fold(self, count: int, results: Fields, presences: Fields) -> None:
        _fold(self.aggregate, self.tree, self.due, count, results, presences)


def _bare(aggregate: Monoid, room: int) -> Fields:
    """Return a tree of identities, so that combine can read every node."""
    tree = aggregate.allocate(2 * room)
    for field, value in zip(tree, identity(aggregate), strict=True):
        field[:] = [value] * (2 * room) if isinstance(field, list) else value
    return tree


@kernel
def _replant(aggregate: Monoid, tree: Fields) -> None:
    for node in range(leaves(tree) - 1, 0, -1):
        refresh(aggregate, tree, node)


@jitable
def _repair(aggregate: Monoid, tree: Fields, start: int, end: int) -> None:
    """Restore K2 above the leaves [start, end), level by level, each node once."""
    low, high = leaves(tree) + start, leaves(tree) + end - 1
    while low > 1:
        low >>= 1
        high >>= 1
        for node in range(low, high + 1):
            refresh(aggregate, tree, node)


@kernel
def _take(aggregate: Monoid, positions: Any, tree: Fields, cursor: Any, given: Any, inputs: Fields, begin: int) -> int:
    for place in range(begin, len(given)):
        position = given[place]
        if position < cursor[WATERMARK]:
            continue
        end = cursor[B]
        if end == len(positions):
            return place
        slot = end
        if end > cursor[F] and positions[end - 1] > position:
            slot = place_of(positions, cursor[F], end, position + 1)
            shift_up((positions,), slot, end)
            shift_up(tree, leaves(tree) + slot, leaves(tree) + end)
        positions[slot] = position
        store(tree, leaves(tree) + slot, lift(aggregate, load(inputs, place)))
        _repair(aggregate, tree, slot, end + 1)
        cursor[B] = end + 1
    return len(given)


@kernel
def _fold(aggregate: Monoid, tree: Fields, due: Any, count: int, results: Fields, presences: Fields) -> None:
    _windows, _starts, _ends, lows, highs, _filled = due
    for place in range(count):
        emit(aggregate, results, presences, place, fold(aggregate, tree, lows[place], highs[place]))
