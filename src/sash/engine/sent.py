"""What was sent and may still change: so that exactly the windows that changed are sent again."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.slicing.slices import Array

__all__ = ["Sent"]

Columns = tuple[tuple[Any, Array], ...]  # of results: values, and whether there is one


@dataclass(frozen=True)
class Sent:
    """Windows of one query, with their last revision and values."""

    slots: Array
    starts: Array
    ends: Array
    revisions: Array
    columns: Columns

    def __len__(self) -> int:
        return len(self.slots)

    def taken(self, places: Array) -> "Sent":
        columns = tuple((_pick(values, places), valid[places]) for values, valid in self.columns)
        return Sent(self.slots[places], self.starts[places], self.ends[places], self.revisions[places], columns)

    def joined(self, other: "Sent") -> "Sent":
        """Both, one after the other."""
        if not len(self):
            return other
        slots, starts, ends, revisions = (
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("slots", "starts", "ends", "revisions")
        )
        columns = tuple(
            (_concatenated(mine, theirs), np.concatenate([valid, other_valid]))
            for (mine, valid), (theirs, other_valid) in zip(self.columns, other.columns, strict=True)
        )
        return Sent(slots, starts, ends, revisions, columns)


def _pick(values: Any, places: Array) -> Any:
    if isinstance(values, np.ndarray):
        return values[places]
    return [values[place] for place in places.tolist()]


def _concatenated(one: Any, other: Any) -> Any:
    return np.concatenate([one, other]) if isinstance(one, np.ndarray) else one + other


@kernel
def _match(
    slots: Any, starts: Any, ends: Any, old_slots: Any, old_starts: Any, old_ends: Any, by: int, found: Any, old: Any
) -> None:
    """For each window the range of sent ones that it is a revision of; both are sorted by slot, then by place.

    by 0: the same start and end; by 1: the same end; by 2: any that it overlaps, and a range of them.
    """
    at = 0
    for k in range(len(slots)):
        while at < len(old_slots) and (
            old_slots[at] < slots[k]
            or (
                old_slots[at] == slots[k]
                and (
                    (by == 0 and (old_ends[at] < ends[k] or (old_ends[at] == ends[k] and old_starts[at] < starts[k])))
                    or (by == 1 and old_ends[at] < ends[k])
                    or (by == 2 and old_ends[at] <= starts[k])
                )
            )
        ):
            at += 1
        last = at
        while last < len(old_slots) and old_slots[last] == slots[k]:
            if by == 2:
                if old_starts[last] >= ends[k]:
                    break
            elif old_ends[last] != ends[k] or (by == 0 and old_starts[last] != starts[k]):
                break
            last += 1
        found[k] = at
        old[k] = last


def revised(sent: Sent, now: Sent, by: int) -> tuple[Sent, Array, Sent]:
    """From what was sent and what is due now: what is to be sent, which rows of `now` that is, and what was sent then.

    A window is sent if nothing sent before is the same window, or if its extent or a value changed.
    """
    order = np.lexsort((now.starts, now.ends, now.slots))
    now = now.taken(order)
    old = sent.taken(np.lexsort((sent.starts, sent.ends, sent.slots)))
    begin, end = np.empty(len(now), np.int64), np.empty(len(now), np.int64)
    _match(now.slots, now.starts, now.ends, old.slots, old.starts, old.ends, by, begin, end)
    known = end > begin
    # Where a window is a revision of exactly one with the same extent, its values decide.
    one = np.flatnonzero(end - begin == 1)
    before = old.taken(begin[one])
    same = (before.starts == now.starts[one]) & (before.ends == now.ends[one])
    after = now.taken(one)
    for (values, valid), (old_values, old_valid) in zip(after.columns, before.columns, strict=True):
        same &= (valid == old_valid) & (_equal(values, old_values) | ~valid)
    changed = np.ones(len(now), np.bool_)
    changed[one[same]] = False
    revisions = np.zeros(len(now), np.int64)
    replaced = np.zeros(len(old), np.bool_)
    for k in np.flatnonzero(known & changed):
        revisions[k] = old.revisions[begin[k] : end[k]].max() + 1
        replaced[begin[k] : end[k]] = True
    places = np.flatnonzero(changed)
    fresh = now.taken(places)
    fresh = Sent(fresh.slots, fresh.starts, fresh.ends, revisions[places], fresh.columns)
    return fresh, order[places], old.taken(np.flatnonzero(~replaced)).joined(fresh)


def _equal(values: Any, others: Any) -> Array:
    """Which are the same; NaN is itself."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        same: Array = (values == others) | ((values != values) & (others != others))
        return same if same.ndim == 1 else np.asarray(same.all(axis=1))
    return np.array([_same(a, b) for a, b in zip(values, others, strict=True)], np.bool_)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=getattr(a, "dtype", None) is not None and a.dtype.kind == "f"))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b or (a != a and b != b))
