"""Emitted windows that may still change; exactly those that change are emitted again with the next revision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.compiler import kernel
from sash.algebra.fields import Field
from sash.errors import InvalidState
from sash.kinds.kind import Same
from sash.slicing.lists import Lists
from sash.slicing.slices import Array, check_array

__all__ = ["Columns", "Emitted", "plain_values", "revise"]

Columns = tuple[tuple[Any, Array], ...]  # columns of results: values and validity


@dataclass(frozen=True)
class Emitted:
    """Windows of one query, with their last revision and values."""

    slots: Array
    starts: Array
    ends: Array
    revisions: Array
    columns: Columns

    def __len__(self) -> int:
        return len(self.slots)

    @classmethod
    def from_saved(cls, saved: Any, dtype: Any, results: Sequence[tuple[Field, Any, bool]]) -> "Emitted":
        """Restore windows with edges of this type and results of these fields and Arrow types, or of lists of them.

        With no `results`, read only the edges.
        """
        if not isinstance(saved, tuple) or len(saved) != 5 or not isinstance(saved[4], tuple):
            raise InvalidState.damaged("its emitted windows are incomplete")
        slots = check_array(saved[0], np.int64, "slots of windows")
        starts, ends = (check_array(each, dtype, "edges of windows", len(slots)) for each in saved[1:3])
        revisions = check_array(saved[3], np.int64, "revisions of windows", len(slots))
        if not (starts < ends).all() or not ((revisions >= 0) & (revisions < 2**62)).all():
            raise InvalidState.damaged("an emitted window ends before it starts, or has no revision")
        if results and len(saved[4]) != len(results):
            raise InvalidState.damaged("its emitted windows have other results")
        columns = tuple(
            _restore_column(each, *result, len(slots)) for each, result in zip(saved[4], results, strict=False)
        )
        return cls(slots, starts, ends, revisions, columns)

    def plain(self) -> tuple[Any, ...]:
        """Return arrays and lists, to be saved."""
        columns = tuple((plain_values(values), valid) for values, valid in self.columns)
        return self.slots, self.starts, self.ends, self.revisions, columns

    def take(self, places: Array) -> "Emitted":
        columns = tuple((_pick(values, places), valid[places]) for values, valid in self.columns)
        return Emitted(self.slots[places], self.starts[places], self.ends[places], self.revisions[places], columns)

    def concat(self, other: "Emitted") -> "Emitted":
        """Return the windows of both."""
        if not len(self):
            return other
        slots, starts, ends, revisions = (
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("slots", "starts", "ends", "revisions")
        )
        columns = tuple(
            (_concat(mine, theirs), np.concatenate([valid, other_valid]))
            for (mine, valid), (theirs, other_valid) in zip(self.columns, other.columns, strict=True)
        )
        return Emitted(slots, starts, ends, revisions, columns)


def plain_values(values: Any) -> Any:
    """Return values as they are saved: an array of objects as a list, lists as offsets and values."""
    if isinstance(values, Lists):
        return values.offsets, values.flat()
    return values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind == "O" else values


def _restore_column(given: Any, field: Field, arrow: Any, is_list: bool, windows: int) -> tuple[Any, Array]:
    """Restore a column of results: values and validity."""
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidState.damaged("a result of an emitted window is missing")
    valid = check_array(given[1], np.bool_, "results of windows", windows)
    if is_list:
        return _restore_lists(given[0], field, windows), valid
    try:
        values = field.restored(given[0], compiled=True)
        if field.is_object:
            pa.array([value if known else None for value, known in zip(values, valid.tolist(), strict=True)], arrow)
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        raise InvalidState.unreadable("a result of an emitted window is not valid", error) from error
    if len(values) != windows:
        raise InvalidState.damaged("results of emitted windows are missing")
    return values, valid


def _restore_lists(given: Any, field: Field, windows: int) -> Lists:
    if not isinstance(given, tuple) or len(given) != 2:
        raise InvalidState.damaged("lists of an emitted window are missing")
    values = check_array(given[1], field.dtype, "values of lists")
    offsets = check_array(given[0], np.int64, "offsets of lists", windows + 1)
    if offsets[0] != 0 or offsets[-1] != len(values) or (offsets[1:] < offsets[:-1]).any():
        raise InvalidState.damaged("the lists of emitted windows do not match their values")
    return Lists(offsets, values)


def _pick(values: Any, places: Array) -> Any:
    if isinstance(values, np.ndarray):
        return values[places]
    if isinstance(values, Lists):
        return values.take(places)
    return [values[place] for place in places.tolist()]


def _concat(one: Any, other: Any) -> Any:
    if isinstance(one, Lists):
        return one.concat(other)
    return np.concatenate([one, other]) if isinstance(one, np.ndarray) else one + other


@kernel
def _find_twins(
    slots: Any, starts: Any, ends: Any, old_slots: Any, old_starts: Any, old_ends: Any, twins: Any, owners: Any
) -> None:
    """Find for each window the emitted one with the same extent, or -1, and vice versa; sorted by slot, end, start."""
    at = 0
    for k in range(len(slots)):
        while at < len(old_slots) and (
            old_slots[at] < slots[k]
            or (old_slots[at] == slots[k] and old_ends[at] < ends[k])
            or (old_slots[at] == slots[k] and old_ends[at] == ends[k] and old_starts[at] < starts[k])
        ):
            at += 1
        if (
            at < len(old_slots)
            and old_slots[at] == slots[k]
            and old_ends[at] == ends[k]
            and old_starts[at] == starts[k]
        ):
            twins[k] = at
            owners[at] = k


@kernel
def _replace(
    slots: Any,
    starts: Any,
    ends: Any,
    old_slots: Any,
    old_starts: Any,
    old_ends: Any,
    old_revisions: Any,
    owners: Any,
    changed: Any,
    by: int,
    revisions: Any,
    replaced: Any,
) -> None:
    """Find for each changed window the emitted ones that it replaces, and their last revision.

    by 0: the same start and end; by 1: the same end; by 2: any that it overlaps. An emitted window whose extent still
    exists is replaced only by the window of that extent. Both are sorted by slot, then end.
    """
    begin = 0
    for k in range(len(slots)):
        while begin < len(old_slots) and (
            old_slots[begin] < slots[k] or (by < 2 and old_slots[begin] == slots[k] and old_ends[begin] < ends[k])
        ):
            begin += 1
        at = begin
        while changed[k] and at < len(old_slots) and old_slots[at] == slots[k] and (by == 2 or old_ends[at] == ends[k]):
            is_replaced = owners[at] == k
            if owners[at] < 0:
                is_replaced = by == 1 or (by == 2 and old_starts[at] < ends[k] and starts[k] < old_ends[at])
            if is_replaced:
                revisions[k] = max(revisions[k], old_revisions[at])
                replaced[at] = True
            at += 1


def revise(emitted: Emitted, now: Emitted, by: Same) -> tuple[Emitted, Emitted]:
    """Return the windows to emit now, and all emitted windows afterwards.

    A window is emitted if it was not emitted before, or if its extent or a value changed.
    """
    now = now.take(np.lexsort((now.starts, now.ends, now.slots)))
    old = emitted.take(np.lexsort((emitted.starts, emitted.ends, emitted.slots)))
    twins, owners = np.full(len(now), -1), np.full(len(old), -1)
    _find_twins(now.slots, now.starts, now.ends, old.slots, old.starts, old.ends, twins, owners)
    known = np.flatnonzero(twins >= 0)
    before, after = old.take(twins[known]), now.take(known)
    same = np.ones(len(known), np.bool_)
    for (values, valid), (old_values, old_valid) in zip(after.columns, before.columns, strict=True):
        same &= (valid == old_valid) & (_equal(values, old_values) | ~valid)
    changed = np.ones(len(now), np.bool_)
    changed[known[same]] = False
    revisions, replaced = np.full(len(now), -1), np.zeros(len(old), np.bool_)
    _replace(
        now.slots,
        now.starts,
        now.ends,
        old.slots,
        old.starts,
        old.ends,
        old.revisions,
        owners,
        changed,
        int(by),
        revisions,
        replaced,
    )
    fresh = now.take(np.flatnonzero(changed))
    fresh = Emitted(fresh.slots, fresh.starts, fresh.ends, revisions[changed] + 1, fresh.columns)
    return fresh, old.take(np.flatnonzero(~replaced)).concat(fresh)


def _equal(values: Any, others: Any) -> Array:
    """Return which values are equal; NaN equals NaN."""
    if isinstance(values, Lists):
        return values.equal(others)
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
