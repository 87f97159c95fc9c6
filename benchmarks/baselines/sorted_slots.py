"""Find the windows that are due from slots in the order of their positions.

A slot is a row, or a slice that no window edge divides. Only the positions of its first and its last row matter, so
the same search works for techniques on rows and techniques on slices.
"""

from typing import Any

import numpy as np

from benchmarks.baselines.operator import announce, place_of
from benchmarks.baselines.windows import FOREVER, NEVER, Layout, first_open
from sash.algebra.compiler import kernel

__all__ = ["SESSION", "due_counts", "due_sessions", "due_times", "needed_from", "session_state"]

FIRST, LAST = range(2)  # of the open session: where it begins, and up to where it is known
SESSION = 2  # how many numbers that is


def session_state() -> Any:
    """Return the state without a session."""
    return np.full(SESSION, NEVER, np.int64)


def needed_from(layout: Layout, nexts: Any, session: Any) -> int:
    """Return the first position that a time window or a session may still need."""
    _which, _sizes, everys, offsets = layout.times
    needed = int((offsets + nexts * everys).min(initial=FOREVER))
    if layout.session >= 0:
        needed = min(needed, int(session[FIRST] if session[FIRST] > NEVER else session[LAST] + 1))
    return needed


@kernel
def due_times(times: Any, nexts: Any, firsts: Any, begin: int, end: int, watermark: int, due: Any) -> bool:
    """List the time windows that end by the watermark and hold a slot of [begin, end)."""
    which, sizes, everys, offsets = times
    for k in range(len(sizes)):
        number = nexts[k]
        low = begin
        while True:
            start = offsets[k] + number * everys[k]
            if start + sizes[k] > watermark:
                break
            low = place_of(firsts, low, end, start)
            if low == end:
                break
            if firsts[low] >= start + sizes[k]:  # windows without a row are not looked at one by one
                number = first_open(firsts[low], sizes[k], everys[k], offsets[k])
                continue
            high = place_of(firsts, low, end, start + sizes[k])
            if not announce(due, which[k], start, start + sizes[k], low, high):
                nexts[k] = number
                return False
            number += 1
        nexts[k] = max(nexts[k], first_open(watermark, sizes[k], everys[k], offsets[k]))
    return True


@kernel
def due_counts(counts: Any, nexts: Any, firsts: Any, base: int, begin: int, end: int, watermark: int, due: Any) -> bool:
    """List the count windows whose rows all lie before the watermark; slot j is the row of rank base + j."""
    which, sizes, everys, _offsets = counts
    final = base + place_of(firsts, begin, end, watermark)
    for k in range(len(sizes)):
        while nexts[k] * everys[k] + sizes[k] <= final:
            start = nexts[k] * everys[k]
            if not announce(due, which[k], start, start + sizes[k], start - base, start - base + sizes[k]):
                return False
            nexts[k] += 1
    return True


@kernel
def due_sessions(
    which: int, gap: int, session: Any, firsts: Any, lasts: Any, begin: int, end: int, watermark: int, due: Any
) -> bool:
    """List the sessions that no row from the watermark on can reach; inside a slot, rows are at most `gap` apart."""
    slot = place_of(lasts, begin, end, session[LAST] + 1)
    while True:
        ended = slot == end or firsts[slot] >= watermark
        if session[FIRST] > NEVER:
            over = session[LAST] + gap < (watermark if ended else firsts[slot])
            if over:
                low = place_of(firsts, begin, slot, session[FIRST])
                if not announce(due, which, session[FIRST], session[LAST] + gap, low, slot):
                    return False
                session[FIRST] = NEVER
        if ended:
            return True
        if session[FIRST] == NEVER:
            session[FIRST] = firsts[slot]
        session[LAST] = max(session[LAST], lasts[slot])
        slot += 1
