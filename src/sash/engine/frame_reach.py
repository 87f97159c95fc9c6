"""How far frames look back and forward in time, and which frames are complete while rows still arrive."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.engine.frame import Extent, Order
from sash.engine.rolling import FramePlan, line_of
from sash.engine.tables import Rows
from sash.slicing.slices import Array

__all__ = ["Reach", "complete_rows", "reach_of"]


@dataclass(frozen=True)
class Reach:
    """How far a frame looks back and forward in time, in its unit; None: without a limit."""

    back: Any
    forward: Any


def reach_of(extent: Extent, order: Order) -> Reach:
    """Return how far a frame looks; in a descending order, what precedes a row is later.

    >>> reach_of(Extent("rows", -10, 5), Order()), reach_of(Extent("rows", -10, 0), Order((), (True,)))
    (Reach(back=10, forward=5), Reach(back=0, forward=10))
    """
    low, high = (
        None if extent.low is None else max(0, -extent.low),
        None if extent.high is None else max(0, extent.high),
    )
    return Reach(high, low) if order.descending[0] else Reach(low, high)


def complete_rows(plan: FramePlan, rows: Rows, until: Any) -> Array:
    """Return which rows have complete frames, if later rows are not before `until`; None: there are no later rows."""
    found = np.ones(rows.count, np.bool_)
    if until is None or until >= plan.measure.highest:
        return found
    reaches = [reach_of(extent, plan.order) for extent in plan.extents]
    if all(reach.forward == 0 for reach in reaches):
        return found
    order, line = line_of(plan, rows)
    is_down = plan.order.descending[0]
    begins, ends = line.key_starts, line.key_ends
    numbers = np.arange(len(line))
    for extent, reach in zip(plan.extents, reaches, strict=True):
        forward = reach.forward
        if forward == 0:
            continue
        if forward is None:  # rows with a position wait for the end
            is_complete = np.zeros(len(line), np.bool_)
        elif extent.unit == "range":
            positions = -line.positions if is_down else line.positions
            is_open = extent.is_low_open if is_down else extent.is_high_open
            is_complete = positions + forward <= until if is_open else positions + forward < until
        elif extent.unit == "rows":
            is_complete = (numbers - begins >= forward) if is_down else (ends - 1 - numbers >= forward)
        else:
            last = line.groups[begins] if is_down else line.groups[ends - 1]
            is_complete = np.abs(last - line.groups) >= forward
        found[order[~is_complete]] = False
    return found
