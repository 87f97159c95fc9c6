"""Which windows of a query are due, by what kind of window it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sash.engine.state import State
from sash.engine.users import asked, is_position
from sash.errors import InvalidWindow
from sash.plan.plan import Plan, Planned
from sash.slicing import window_manager as manager
from sash.slicing.slicer import end_of, first_open, last_begun, start_of
from sash.slicing.slices import NO_CUT, Array
from sash.slicing.sweeper import (
    are_in_open_sessions,
    needed_by_last_rows,
    needed_by_punctuations,
    needed_by_ranks,
    needed_by_sessions,
)
from sash.slicing.window_manager import Ended, Grids

__all__ = [
    "Moment",
    "Push",
    "due",
    "identity_of",
    "is_final",
    "kept_from",
    "moments",
    "needed",
    "next_end",
    "open_until",
    "remember",
    "without_unseen",
]

# How a window is told to be one that was sent before: by its start and end, by its end, or by overlap.
SAME, SAME_END, OVERLAP = range(3)


@dataclass(frozen=True)
class Moment:
    """Between which watermarks windows are asked for, and whether the stream ends here."""

    slots: Array
    after: Any
    until: Any
    is_end: bool = False
    again: bool = False  # windows that were due before are asked for once more


def due(plan: Plan, state: State, query: Planned, moment: Moment) -> Ended:
    """The windows of a query that the second watermark closes and the first did not."""
    ended = _KINDS[query.window.kind](plan, state, query.window, query.name, moment)
    return without_unseen(state, (query,), ended)


def without_unseen(state: State, family: Sequence[Planned], ended: Ended) -> Ended:
    """Leave out windows that may hold rows from before their query came, where it does not know all of these."""
    for place, query in enumerate(family):
        if query.name in state.unseen and len(ended):
            slices = state.slices
            starts = slices.firsts[slices.order[ended.lows]] if query.window.by_count else ended.starts
            is_seen = starts > state.unseen[query.name]
            if ended.which is not None:
                is_seen |= ended.which != place
            ended = ended.taken(np.flatnonzero(is_seen))
    return ended


@dataclass(frozen=True)
class Push:
    """What happened since windows were last asked for."""

    before: Any  # the watermark
    after: Any
    final_before: Any  # what no row could change any more
    is_end: bool
    slots: Array  # all keys
    touched: Array  # keys with new rows, where anyone asks
    late: Array  # keys with rows before the watermark

    @property
    def is_moved(self) -> bool:
        return bool(self.after > self.before)


# Windows that are shown before the watermark has closed them; of others it is not known yet which they are.
_SHOWN = ("grid", "cumulative", "landmark", "session", "punctuated", "user_free")


def moments(plan: Plan, state: State, query: Planned, push: Push) -> list[Moment]:
    """What is to be asked of a query after a push: for windows that are newly due, for those that late rows may have
    changed, and, where updates are wanted, for those that are still open.
    """
    kind = query.window.kind
    updates = plan.options.emit == "updates"
    since = max(push.final_before, state.added.get(query.name, plan.measure.lowest))
    if kind == "rows":
        return [Moment(push.slots, push.before, plan.measure.highest if updates else push.after, push.is_end)]
    if kind == "user_aware":
        asks = push.is_moved or len(push.touched)
        until = plan.measure.highest if updates else push.after
        return [Moment(push.slots, push.before, until, push.is_end)] if asks else []
    found = []
    if kind == "punctuated":
        # A punctuation at the watermark closes a window without moving it.
        slots = np.setdiff1d(push.slots if push.is_moved else push.touched, push.late)
        found.append(Moment(slots, push.before, push.after, push.is_end))
        if len(push.late):
            # One at the oldest position that is still accepted closes a window that ends there.
            since = max(_before(push.final_before, plan), state.added.get(query.name, plan.measure.lowest))
            found.append(Moment(push.late, since, push.after, push.is_end, again=True))
    else:
        if push.is_moved:
            found.append(Moment(push.slots, push.before, push.after, push.is_end))
        if len(push.late):
            found.append(Moment(push.late, since, push.before, again=True))
    if updates and len(push.touched) and not push.is_end and kind in _SHOWN:
        found.append(Moment(push.touched, push.after, open_until(plan, state, query, push.touched), again=True))
    return found


def _before(position: Any, plan: Plan) -> Any:
    """The last position before another one."""
    if position == plan.measure.lowest:
        return position
    return position - 1 if plan.measure.dtype.kind == "i" else np.nextafter(position, -np.inf).item()


def open_until(plan: Plan, state: State, query: Planned, slots: Array) -> Any:
    """No window that holds a row of these keys ends after it; what never ends is not shown as ended."""
    highest = plan.measure.highest
    until = highest - 1 if plan.measure.dtype.kind == "i" else np.finfo(np.float64).max
    window: Any = query.window
    held = slots[state.slices.count[slots] > 0]
    if query.window.kind in ("grid", "cumulative") and len(held):
        newest = state.slices.order[(state.slices.begin + state.slices.count - 1)[held]]
        until = min(until, _end_of_last(window, state.slices.lasts[newest].max()))
    elif query.window.kind == "user_free" and len(held):
        newest = state.slices.order[(state.slices.begin + state.slices.count - 1)[held]]
        until = min(until, _last_end(window, state.slices.lasts[newest].max().item()))
    return until


def _end_of_last(window: Any, position: Any) -> Any:
    """The end of the last window on a grid that holds a position."""
    last = last_begun(window.grid, position)
    if window.kind == "cumulative":
        last = last // window.grid.whole * window.grid.whole
    return end_of(window.grid, last)


def remember(plan: Plan, state: State, query: Planned, ended: Ended, push: Push) -> None:
    """What was sent of a query, where the watermark alone does not tell."""
    window: Any = query.window
    if window.kind == "rows" and not plan.has_revisions:
        np.maximum.at(state.fired[query.name], ended.slots, ended.starts // window.every + 1)
    elif window.kind == "punctuated":
        closed = ended.ends <= push.after
        np.maximum.at(state.closed[query.name], ended.slots[closed], ended.ends[closed])


def identity_of(query: Planned) -> int:
    """What makes a window the same as one that was sent."""
    kind = query.window.kind
    return SAME_END if kind == "last_rows" else OVERLAP if kind in ("session", "punctuated", "user_aware") else SAME


def _grid(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    if next_end(window, moment.after) > moment.until:
        return Ended.none(plan.measure.dtype)
    grid = Grids.of([window], plan.measure.dtype)
    return manager.grids(state.slices, moment.slots, grid, moment.after, moment.until)


def next_end(window: Any, after: Any) -> Any:
    """The first end of a window on a grid after a position; before and after all floats there is none."""
    if abs(after) == np.inf:
        return after
    if window.kind != "grid":
        return start_of(window.grid, last_begun(window.grid, after) + 1)
    return end_of(window.grid, first_open(window.grid, after))


def _cumulative(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    if next_end(window, moment.after) > moment.until:
        return Ended.none(plan.measure.dtype)
    return manager.cumulatives(state.slices, moment.slots, window.grid, moment.after, moment.until)


def _landmark(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    if not moment.after < window.end <= moment.until:
        return Ended.none(plan.measure.dtype)
    return manager.landmarks(state.slices, moment.slots, window.start, window.end)


def _session(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    if moment.until <= state.due[name] and len(moment.slots) == state.slices.keys:
        return Ended.none(plan.measure.dtype)
    ended, next_due = manager.sessions(
        state.slices, moment.slots, window.gap, moment.after, moment.until, plan.measure.highest
    )
    if len(moment.slots) == state.slices.keys:
        state.due[name] = next_due
    return ended


def _punctuated(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    bit = 1 << plan.punctuations.index(window.column)
    # A punctuation at the watermark closes a window without moving it: what was sent tells, not the watermark.
    closed = state.closed[name][moment.slots]
    afters = np.full(len(moment.slots), moment.after, closed.dtype) if moment.again else closed
    return manager.punctuations(state.slices, moment.slots, bit, afters, moment.until, plan.measure.highest)


def _rows(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    until = plan.measure.highest if plan.options.in_order else moment.until
    partial = plan.options.partial and moment.is_end
    return manager.ranks(state.slices, moment.slots, window.size, window.every, state.fired[name], until, partial)


def _last_rows(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    # At the end of the stream there is one more, just after the last row.
    if moment.is_end and not state.rows:
        return Ended.none(plan.measure.dtype)
    last = next_end(window, state.newest) if moment.is_end else moment.until
    return manager.last_rows(
        state.slices,
        moment.slots,
        window.rows,
        window.grid,
        state.rows_since,
        moment.after,
        min(last, moment.until),
    )


def _user_free(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    dtype = plan.measure.dtype
    held = np.flatnonzero(state.slices.count[moment.slots])
    if not len(held) or not state.rows:
        return Ended.none(dtype)
    slots = moment.slots[held]
    oldest = state.slices.firsts[state.slices.order[state.slices.begin[slots]]].min().item()
    until = moment.until
    if moment.is_end:
        newest = state.newest.item() if isinstance(state.newest, np.generic) else state.newest
        until = _last_end(window, newest)
    after = max(moment.after, _before(oldest, plan))
    if after >= until:
        return Ended.none(dtype)
    given = asked(window, f"ended({after}, {until})", lambda: window.ended(after, until))
    bands = sorted(_checked(window, given, after, until, dtype))
    if not bands:
        return Ended.none(dtype)
    starts, ends = (np.array(column, dtype) for column in zip(*bands, strict=True))
    count = len(bands)
    return manager.bands(state.slices, np.repeat(slots, count), np.tile(starts, len(slots)), np.tile(ends, len(slots)))


# Edges after the last row that are looked at for windows that hold it.
_MOST_EDGES = 1000


def _last_end(window: Any, newest: Any) -> Any:
    """No window that holds the last row ends after it."""
    if window.reach is not None:
        return newest + window.reach
    until = newest
    for _ in range(_MOST_EDGES):
        edge = asked(window, f"next_edge({until})", partial(window.next_edge, until))
        if edge == np.inf or not edge > until:
            break
        ended = asked(window, f"ended({until}, {edge})", partial(window.ended, until, edge))
        until = edge
        if ended and not any(start <= newest for start, _ in ended):
            break
    return until


def _checked(window: Any, given: Any, after: Any, until: Any, dtype: Any) -> list[tuple[Any, Any]]:
    call = f"ended({after}, {until})"
    try:
        bands = [(start, end) for start, end in given]
    except (TypeError, ValueError) as error:
        raise InvalidWindow.edges(window, f"{call} must give pairs (start, end), but gave {given!r}") from error
    for start, end in bands:
        if not is_position(start, dtype) or not is_position(end, dtype) or not start < end or not after < end <= until:
            raise InvalidWindow.edges(
                window, f"{call} gave ({start!r}, {end!r}), which is empty or does not end in between"
            )
    return bands


def _user_aware(plan: Plan, state: State, window: Any, name: str, moment: Moment) -> Ended:
    dtype = plan.measure.dtype
    bands = [
        (slot, start, end)
        for slot in moment.slots.tolist()
        if slot in state.contexts[name]
        for start, end in sorted(state.contexts[name][slot].windows)
        if end <= moment.until
    ]
    if not bands:
        return Ended.none(dtype)
    slots, starts, ends = zip(*bands, strict=True)
    return manager.bands(state.slices, np.array(slots), np.array(starts, dtype), np.array(ends, dtype))


_KINDS: dict[str, Callable[..., Ended]] = {
    "grid": _grid,
    "cumulative": _cumulative,
    "landmark": _landmark,
    "session": _session,
    "punctuated": _punctuated,
    "rows": _rows,
    "last_rows": _last_rows,
    "user_free": _user_free,
    "user_aware": _user_aware,
}


# --- what is needed for windows that are not final -------------------------------------------------


def kept_from(plan: Plan, grids: Grids | None, final: Any) -> tuple[Any, Any]:
    """From where on slices are needed, and from where on with all their edges, if nothing before `final` can change."""
    fine = coarse = plan.measure.highest
    if final == plan.measure.lowest:
        return final, final
    if final < plan.measure.highest:
        if grids is not None:
            fine = min(fine, grids.oldest_start(final))
        for query in plan.by_themselves:
            window: Any = query.window
            if window.kind == "cumulative":
                steps = window.grid.whole
                fine = min(fine, start_of(window.grid, last_begun(window.grid, final) // steps * steps))
            elif window.kind == "landmark" and window.end > final:
                coarse = min(coarse, window.start)
            elif window.kind == "user_free":
                fine = min(fine, plan.measure.lowest if window.reach is None else final - window.reach)
            elif window.kind == "user_aware" and window.reach is None:
                fine = plan.measure.lowest
    return min(fine, coarse), fine


def needed(plan: Plan, state: State, final: Any) -> Array:
    """The first place of each key's order that some window needs, whatever its position."""
    first = np.full(state.slices.keys, NO_CUT)
    for query in plan.by_themselves:
        window: Any = query.window
        if window.kind == "session":
            needed_by_sessions(state.slices, window.gap, final, first)
        elif window.kind == "punctuated":
            needed_by_punctuations(state.slices, 1 << plan.punctuations.index(window.column), final, first)
        elif window.kind == "rows":
            needed_by_ranks(state.slices, state.fired[query.name] * window.every, first)
        elif window.kind == "last_rows":
            needed_by_last_rows(state.slices, window.rows, final, first)
        elif window.kind == "user_aware":
            _needed_by_contexts(state, query, first)
    return first


def _needed_by_contexts(state: State, query: Planned, first: Array) -> None:
    window: Any = query.window
    for slot in np.flatnonzero(state.slices.count).tolist():
        own = state.slices.firsts[state.slices.of_key(slot)]
        context = state.contexts[query.name].get(slot)
        starts = [start for start, _ in context.windows] if context else []
        if window.reach is not None:
            starts.append(own[-1].item() - window.reach)
            first[slot] = min(first[slot], int(np.searchsorted(own, min(starts))))


def is_final(state: State, query: Planned, final: Any, sent: Any) -> Array:
    """Which of the windows that were sent cannot change any more, nor become part of another."""
    window: Any = query.window
    gone: Array = sent.ends <= final
    if window.kind == "rows":
        gone = sent.starts < (state.fired[query.name] * window.every)[sent.slots]
    elif window.kind == "punctuated":  # a punctuation may still come for the position of its end
        gone = sent.ends < final
    elif window.kind == "session":
        # No row can join it. If rows have joined it before, it waits for the session that it became part of; rows that
        # wait are not before `final`, so the slices tell whether that one can still grow.
        gone = sent.ends < final
        old = np.flatnonzero(gone)
        gone[old] = ~are_in_open_sessions(state.slices, sent.slots[old], sent.starts[old], window.gap, final)
    elif window.kind == "user_aware":
        gone = sent.ends < final
        for k in np.flatnonzero(gone).tolist():
            context = state.contexts[query.name].get(int(sent.slots[k]))
            told = [] if context is None else context.windows
            gone[k] = _is_settled(told, window.reach, final, sent.starts[k], sent.ends[k])
    return gone


def _is_settled(told: list[Any], reach: Any, final: Any, start: Any, end: Any) -> bool:
    """Whether a user's window that was sent is told of by rows that are final, or can neither be told of again nor
    have others in its place.
    """
    if any(start == each[0] and end == each[1] for each in told):
        return True
    overlaps = any(start < each[1] and each[0] < end for each in told)
    return reach is not None and end <= final - reach and not overlaps
