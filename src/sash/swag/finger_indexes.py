"""Rows of a finger tree by index, 0 for the oldest: nodes count the rows in their folds, so a search is O(log n)."""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, load, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.finger_folds import fold_between, position_from_end, repair
from sash.swag.finger_tree import BELOW, LEVEL, NEWEST, OLDEST, ROOT, entry_of, find, mark

__all__ = ["count", "position_of", "query_between", "update_at", "update_many"]


@jitable
def count(state: Any) -> int:
    _entries, nodes, cursor = state
    if nodes[cursor[ROOT] + LEVEL] == 0:
        return int(nodes[cursor[ROOT] + BELOW])
    return int(nodes[cursor[OLDEST] + BELOW] + nodes[cursor[ROOT] + BELOW] + nodes[cursor[NEWEST] + BELOW])


@jitable
def position_of(state: Any, index: int) -> int:
    """Return the position of the row of an index."""
    _entries, nodes, cursor = state
    return position_from_end(nodes, cursor, count(state) - index)


@jitable
def _replace(state: Any, index: int, partial: Partial) -> None:
    """Replace a row, and mark the node that has it."""
    entries, nodes, cursor = state
    node, i = find(nodes, cursor, position_of(state, index))
    store(entries, entry_of(node, i), partial)
    mark(nodes, cursor, node)


@jitable
def update_at(aggregate: Monoid, state: Any, index: int, partial: Partial) -> None:
    _replace(state, index, partial)
    repair(aggregate, state)


@jitable
def update_many(aggregate: Monoid, state: Any, indexes: Any, partials: Fields, many: int) -> None:
    for place in range(many):
        _replace(state, indexes[place], load(partials, place))
    repair(aggregate, state)


@jitable
def query_between(aggregate: Monoid, state: Any, start: int, end: int) -> Partial:
    if end <= start:
        return identity(aggregate)
    is_open = end == count(state)
    return fold_between(aggregate, state, position_of(state, start), 0 if is_open else position_of(state, end), is_open)
