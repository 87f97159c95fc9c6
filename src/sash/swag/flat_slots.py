"""The slots of FlatFAT's ring: which row is where, which slots are holes, and what a saved state must keep.

The letters and the K-lines are those of `flat_fat`.
"""

from typing import Any

import numpy as np

from sash.algebra.compiler import jitable
from sash.algebra.fields import Partial, length, load
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.flat_tree import repair

__all__ = [
    "COMMUTES",
    "HOLES",
    "SPAN",
    "STALE",
    "F",
    "R",
    "check",
    "fault",
    "mark_hole",
    "offset_of",
    "repair_stale_path",
    "skip_holes",
    "slot_at",
]

F, SPAN, R, HOLES, STALE, COMMUTES = range(6)  # places in `cursor`; the last is the aggregate's trait


@jitable
def slot_at(cursor: Any, offset: int) -> int:
    """Return the slot that is `offset` slots after the oldest one."""
    slot: int = cursor[F] + offset
    return slot - cursor[R] if slot >= cursor[R] else slot


@jitable
def mark_hole(holes: Any, slot: int, change: int) -> None:
    """Count one hole more or less in a slot."""
    node = len(holes) // 2 + slot
    while node > 0:
        holes[node] += change
        node >>= 1


@jitable
def offset_of(state: Any, index: int) -> int:
    """Return how many slots the row of an index is after the oldest; `span` for the index after the newest."""
    _tree, holes, cursor = state
    if cursor[HOLES] == 0:
        return index
    if index == cursor[SPAN] - cursor[HOLES]:
        return int(cursor[SPAN])
    room = len(holes) // 2
    rank = cursor[F] + index  # among all slots that are no holes, in the order of slots
    node = room + cursor[F]
    while node > 1:
        if node & 1:
            rank -= holes[node - 1]
        node >>= 1
    live = cursor[R] - holes[1]
    wrapped = rank >= live
    if wrapped:
        rank -= live
    node, width = 1, room
    while node < room:
        width >>= 1
        node *= 2
        if rank >= width - holes[node]:
            rank -= width - holes[node]
            node += 1
    slot = node - room
    return int(slot - cursor[F] + (cursor[R] if wrapped else 0))


@jitable
def repair_stale_path(aggregate: Monoid, state: Any) -> None:
    """Repair the stale path."""
    tree, _holes, cursor = state
    if cursor[STALE] == 1:
        cursor[STALE] = 0
        repair(aggregate, tree, slot_at(cursor, cursor[SPAN]))


@jitable
def skip_holes(state: Any) -> None:
    """Restore K4 after an evict, which can leave holes in front."""
    _tree, holes, cursor = state
    while cursor[HOLES] > 0 and holes[len(holes) // 2 + cursor[F]] == 1:
        mark_hole(holes, cursor[F], -1)
        cursor[HOLES] -= 1
        cursor[F] = slot_at(cursor, 1)
        cursor[SPAN] -= 1


def fault(aggregate: Monoid, state: Any) -> str | None:
    tree, holes, cursor = state
    room = len(holes) // 2
    if len(cursor) != 6 or length(tree) != len(holes) or cursor[COMMUTES] != int(aggregate.commutative):
        return "its cursors are not those of its aggregate and of this version, or its leaves are not half of its tree"
    if room < 1 or room & (room - 1) or len(holes) != 2 * room:
        return f"its tree has {room} leaves, which is no power of two"
    first, span, end = (int(cursor[k]) for k in (F, SPAN, R))
    if not 0 <= first < end <= room or not 0 <= span <= end or cursor[STALE] not in (0, 1):  # K1, K5
        return f"it claims {span} slots from slot {first} on, in a ring of {end} and a tree of {room} leaves"
    marks = np.asarray(holes)
    own = marks[room + (first + np.arange(span)) % end]
    if not ((marks[room:] == 0) | (marks[room:] == 1)).all() or not marks[room:].sum() == own.sum() == cursor[HOLES]:
        return "its holes are not those that it counts (K4)"
    if (marks[1:room] != marks[2::2] + marks[3::2]).any():
        return "its holes are not those that its tree counts (K4)"
    if cursor[STALE] and span == end:
        return "it has no next slot whose path could be stale (K5)"
    return "its oldest row is a hole (K4)" if span and own[0] else None


def check(aggregate: Monoid, state: Any, partials: list[Partial]) -> None:
    tree, holes, cursor = state
    first, span, end, lost, stale, _commutes = (int(each) for each in cursor)
    room = len(holes) // 2
    assert length(tree) == 2 * room and 0 <= first < end <= room and 0 <= span <= end, "K1"
    slots = [(first + offset) % end for offset in range(span)]
    live = [slot for slot in slots if not holes[room + slot]]
    assert [load(tree, room + slot) for slot in live] == partials, "K2"
    for slot in set(range(room)) - set(live):
        assert load(tree, room + slot) == identity(aggregate), "K2"
    assert not stale or span < end, "K5"
    path = {(room + (first + span) % end) >> level for level in range(room.bit_length())} if stale else set()
    for node in range(1, room):
        both = combine(aggregate, load(tree, 2 * node), load(tree, 2 * node + 1))
        assert load(tree, node) == both or node in path, "K3"
        assert holes[node] == holes[2 * node] + holes[2 * node + 1], "K4"
    assert sum(holes[room:]) == lost == span - len(live), "K4"
    assert not span or not holes[room + first], "K4"
