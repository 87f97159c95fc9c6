"""The decisions of the planner: functions from traits of a stream and its queries to a choice and its reason.

The first three are the decision trees of general stream slicing (Traub et al., EDBT 2019, Figures 4 to 6). Figure 4
decides what sash does: if rows must be kept, they wait until they are in order. Then no slice has to be split, and no
row has to leave a slice. So Figures 5 and 6 only explain, in `sash.explain`, what waiting avoids (docs/decisions/0006).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from sash.limits import LIMITS, Limits
from sash.windows.window import Context

__all__ = ["Decision", "Removal", "Traits", "choose_fold", "keeps_rows", "needs_splits", "removes_rows", "uses_tree"]


@dataclass(frozen=True)
class Decision:
    """A choice and the reason for it."""

    choice: bool | str
    because: str


@dataclass(frozen=True)
class Traits:
    """The traits of one query that decisions depend on."""

    context: Context
    is_session: bool = False
    by_count: bool = False
    commutative: bool = True
    invertible: bool = False


class Removal(Enum):
    """How a row leaves a slice when a late row shifts all rows after it."""

    NEVER = "never"
    SUBTRACT = "subtract"
    RECOMPUTE = "recompute"


def keeps_rows(in_order: bool, queries: Iterable[Traits]) -> Decision:
    """Decide whether rows must be kept, or partials are enough (Figure 4)."""
    queries = tuple(queries)
    if in_order:
        if any(each.context is Context.FORWARD_AWARE for each in queries):
            return Decision(True, "a window is forward-context-aware: it may start at any earlier row")
        return Decision(False, "rows come in order, so that the edges before a row are known when it arrives")
    if not all(each.commutative for each in queries):
        return Decision(True, "an aggregate does not commute: a row out of order changes the order of combining")
    if any(each.context is not Context.FREE and not each.is_session for each in queries):
        return Decision(True, "a row out of order may add an edge between earlier rows")
    if any(each.by_count for each in queries):
        return Decision(True, "a row out of order changes the rank of all rows after it")
    return Decision(False, "every aggregate commutes and no row can move an edge, so partials are enough")


def needs_splits(in_order: bool, queries: Iterable[Traits]) -> Decision:
    """Decide whether slices would have to be split if rows did not wait (Figure 5)."""
    queries = tuple(queries)
    if any(each.context is Context.FORWARD_AWARE for each in queries):
        return Decision(True, "a forward-context-aware window may start inside a slice")
    if in_order:
        return Decision(False, "rows come in order, so that edges are known before the rows that they separate")
    if any(each.context is not Context.FREE and not each.is_session for each in queries):
        return Decision(True, "a row out of order may add an edge")
    if any(each.is_session for each in queries):
        return Decision(False, "a session ends only where there are no rows, and other edges are known before rows")
    return Decision(False, "edges are known before rows")


def removes_rows(in_order: bool, query: Traits) -> Decision:
    """Decide how a row would leave a slice if rows did not wait (Figure 6)."""
    if in_order or not query.by_count:
        why = "rows come in order" if in_order else "positions of rows do not change"
        return Decision(Removal.NEVER.value, f"{why}, so a row stays in its slice")
    if query.invertible:
        return Decision(Removal.SUBTRACT.value, "a late row shifts the last row of each slice on; it can be subtracted")
    return Decision(Removal.RECOMPUTE.value, "a late row shifts the last row of each slice on; it cannot be subtracted")


def uses_tree(slices_per_window: float, is_compiled: bool, limits: Limits = LIMITS, store: str = "auto") -> Decision:
    """Decide whether there is a tree over the slices (eager) or not (lazy), unless the user decided."""
    if store != "auto":
        return Decision(store == "eager", f"store={store!r} was given")
    if not is_compiled:
        return Decision(False, "partials are Python objects: a tree would hold each value many times")
    if slices_per_window >= limits.tree_slices:
        return Decision(
            True, f"a window has about {slices_per_window:.0f} slices: a tree folds only a logarithm of that number"
        )
    return Decision(False, f"a window has about {slices_per_window:.0f} slices: folding them is as fast as a tree")


def choose_fold(windows: int, slices: int, covered: int, is_compiled: bool, limits: Limits = LIMITS) -> Decision:
    """Decide how to fold windows that end together without a tree: of `slices` in all, `covered` are distinct."""
    if is_compiled:
        return Decision("fold", "a window has few slices, and a compiled combine costs less than a queue of them")
    if windows > 1 and slices > limits.slide_overlaps * covered:
        return Decision(
            "two_stacks_lite", "the windows overlap many times: each slice is inserted once and evicted once"
        )
    return Decision("fold", "the windows hardly overlap: each is the fold of its slices")
