"""The nodes of a finger tree: their layout in arrays; take, free and mark a node, move its entries.

Picture     nodes    … | size parent place level link after below  times ×2μ  kids ×2μ+1 | …
            entries  … | partials ×2μ                                         fold       | …
A node is a record in `nodes`, identified by where it starts, and FAN partials in `entries`.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, load, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.contract import integers

# The names of the layout below are for the other modules of the finger tree, too.
__all__ = [
    "MU",
    "adopt",
    "children",
    "entry_of",
    "fold_of",
    "free",
    "index_of",
    "mark",
    "move",
    "move_run",
    "planted",
    "room",
    "shift",
    "take",
]

MU = 4  # the least number of children of a node that is not the root
LEAST, MOST = MU - 1, 2 * MU - 1  # entries
SLOTS, FAN = 2 * MU, 2 * MU + 1  # one more than allowed: a node overflows before it splits

# The places of a record.
SIZE, PARENT, PLACE, LEVEL, LINK, AFTER, BELOW, TIMES = range(8)
KIDS = TIMES + SLOTS
RECORD = KIDS + FAN
MIDDLE, LEFT, RIGHT, FREED = range(4)  # where a node stands
NONE, CLEAN = -1, -2
DESK, FRONTS, FIRST = range(0, 3 * RECORD, RECORD)
# The places of `cursor`: the root, the fingers, free and never used nodes, the next position of an empty
# window, new nodes without a parent yet, and dirty nodes, counted and listed by level.
ROOT, OLDEST, NEWEST, FREE, UNUSED, NEXT, WAITING, LAST_WAITING, DIRTY, LISTS = range(10)
LEVELS = 64  # more than a tree of 2^63 rows can have


def planted(aggregate: Monoid, count: int) -> Any:
    """Return a tree without entries, with room for `count` nodes."""
    cursor = integers(aggregate, LISTS + LEVELS)
    cursor[ROOT] = cursor[OLDEST] = cursor[NEWEST] = FIRST
    cursor[UNUSED] = FIRST + RECORD
    for place in (FREE, WAITING, LAST_WAITING, *range(LISTS, LISTS + LEVELS)):
        cursor[place] = NONE
    entries, nodes = room(aggregate, count)
    nodes[FIRST + PARENT] = NONE
    store(entries, fold_of(FIRST), identity(aggregate))
    return entries, nodes, cursor


def room(aggregate: Monoid, count: int) -> tuple[Fields, Any]:
    """Allocate entries and records of `count` nodes."""
    nodes = integers(aggregate, count * RECORD)
    for node in range(0, count * RECORD, RECORD):
        nodes[node + LINK] = CLEAN
    return aggregate.allocate(count * FAN), nodes


@jitable
def entry_of(node: int, i: int) -> int:
    """Return where entry i of a node is in `entries`."""
    return node // RECORD * FAN + i


@jitable
def fold_of(node: int) -> int:
    """Return where the fold of a node is in `entries`."""
    return node // RECORD * FAN + SLOTS


@jitable
def take(nodes: Any, cursor: Any, level: int) -> int:
    """Take a free node, without entries."""
    node: int = cursor[FREE]
    if node == NONE:
        node = cursor[UNUSED]
        cursor[UNUSED] += RECORD
    else:
        cursor[FREE] = nodes[node + PARENT]
        if nodes[node + LEVEL] > 0:  # freed whole: its children are freed only now, so that freeing costs O(1)
            for i in range(nodes[node + SIZE] + 1):
                free(nodes, cursor, nodes[node + KIDS + i])
    nodes[node + LEVEL] = level
    nodes[node + SIZE] = 0
    nodes[node + PLACE] = MIDDLE
    nodes[node + PARENT] = NONE
    return node


@jitable
def free(nodes: Any, cursor: Any, node: int) -> None:
    """Free a node with all below it; to keep its children, make it a leaf first."""
    nodes[node + PLACE] = FREED
    nodes[node + PARENT] = cursor[FREE]
    cursor[FREE] = node


@jitable
def move(state: Any, source: int, i: int, target: int, j: int) -> None:
    """Copy entry i of a node to place j of another."""
    entries, nodes, _cursor = state
    nodes[target + TIMES + j] = nodes[source + TIMES + i]
    store(entries, entry_of(target, j), load(entries, entry_of(source, i)))


@jitable
def adopt(nodes: Any, node: int, i: int, child: int) -> None:
    """Make a node the child i of another."""
    nodes[node + KIDS + i] = child
    nodes[child + PARENT] = node


@jitable
def move_run(state: Any, source: int, i: int, target: int, j: int, many: int) -> None:
    """Copy `many` entries from i on, with the children to their right, to place j of a node of the same level."""
    entries, nodes, _cursor = state
    # Within one node, in the order that overwrites no entry before it is copied.
    k, step = (0, 1) if i > j else (many - 1, -1)
    for _ in range(many):
        nodes[target + TIMES + j + k] = nodes[source + TIMES + i + k]
        store(entries, entry_of(target, j + k), load(entries, entry_of(source, i + k)))
        if nodes[source + LEVEL] > 0:
            adopt(nodes, target, j + k + 1, nodes[source + KIDS + i + k + 1])
        k += step


@jitable
def shift(state: Any, node: int, i: int, by: int) -> None:
    """Move the entries from i on, and the children to their right, to make room (1) or to close a gap (-1, -2 …)."""
    _entries, nodes, _cursor = state
    move_run(state, node, i, node, i + by, nodes[node + SIZE] - i)
    nodes[node + SIZE] += by


@jitable
def index_of(nodes: Any, node: int) -> int:
    """Return which child of its parent a node is."""
    i = 0
    while nodes[nodes[node + PARENT] + KIDS + i] != node:
        i += 1
    return i


@jitable
def mark(nodes: Any, cursor: Any, node: int) -> None:
    """Mark a node as dirty, so that the next `repair` folds it again."""
    if nodes[node + LINK] == CLEAN:
        nodes[node + LINK] = cursor[LISTS + nodes[node + LEVEL]]
        cursor[LISTS + nodes[node + LEVEL]] = node
        cursor[DIRTY] += 1


def children(nodes: Any, node: int) -> list[int]:
    """Return the children of a node in order; a leaf has none."""
    return [int(nodes[node + KIDS + i]) for i in range(nodes[node + SIZE] + 1)] if nodes[node + LEVEL] else []
