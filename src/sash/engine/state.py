"""The state of a stream, as arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sash.algebra.monoid import Monoid, identity
from sash.engine.dictionary import NO_LABEL, Dictionary
from sash.engine.keys import Keys
from sash.engine.revisions import Emitted, plain_values
from sash.engine.row_batch import RowBatch
from sash.kinds.kind import Kind, StreamView
from sash.plan.plan import Cutting, Plan, PlannedQuery
from sash.plan.share import Part, keeps_lists, keeps_runs, part_of
from sash.slicing.lists import Lists
from sash.slicing.partials import Partials
from sash.slicing.row_lists import RowLists
from sash.slicing.runs import Runs
from sash.slicing.single_rows import SingleRows
from sash.slicing.slices import Array, Slices

__all__ = ["State", "new_store"]


@dataclass
class State:
    """The state of one stream between two pushes."""

    keys: Keys
    slices: Slices
    partials: list[Partials | SingleRows | Runs | RowLists]
    groups: tuple[Monoid, ...]  # what each of them keeps
    names: tuple[tuple[str, ...], ...]  # the columns that each group of partials reads
    waiting: RowBatch
    watermark: Any  # a position; the lowest if there is none yet
    lowest: Any  # before every position
    newest: Any  # the largest position of an accepted row
    rows_since: Any  # after it, each row is a slice of its own, if the plan needs that
    unordered_until: Any  # up to it, rows were cut in order of arrival
    cutting: Cutting  # of the plan of this state
    rejected: int = 0  # rows that were too late, or had no position
    rows: int = 0  # accepted rows
    swept: int = 0  # slices that were left after the last sweep
    merged: int = 0  # slices that were left when those of an ordered stream were last merged; not saved
    kinds: dict[str, Kind] = field(default_factory=dict)  # of the queries
    own: dict[str, Any] = field(default_factory=dict)  # the state of each kind besides slices
    emitted: dict[str, Emitted] = field(default_factory=dict)  # windows that may be emitted again
    added: dict[str, Any] = field(default_factory=dict)  # for queries added later: the watermark at that time
    unseen: dict[str, Any] = field(default_factory=dict)  # … and the last row whose edges they do not know
    bit_names: tuple[str, ...] = ()  # the meaning of the bits of slices and waiting rows, as in the plan
    # For parts of partials that were added later, by group and part: the newest row that they may lack.
    lacking: dict[tuple[str, Part], Any] = field(default_factory=dict)
    dictionaries: dict[str, Dictionary] = field(default_factory=dict)  # of columns of strings, by name
    is_restored: bool = False  # from bytes, which may be the reason of an error
    broken: BaseException | None = None  # the error of a push that failed half way: the state is invalid
    shares_slices: bool = False  # with the state before the push, until rows are placed: see `fork`

    @classmethod
    def empty(cls, plan: Plan) -> "State":
        """Return the state before the first row."""
        dtype = plan.measure.dtype
        state = cls(
            Keys(plan.key_types, plan.options.by),
            Slices.empty(dtype),
            [new_store(group, names, plan) for group, names in zip(plan.groups, plan.group_columns, strict=True)],
            plan.groups,
            plan.group_columns,
            RowBatch.empty(plan.columns, plan.measure.dtype),
            *(plan.measure.lowest,) * 5,
            plan.cutting,
        )
        state.fit(plan)
        return state

    def fit(self, plan: Plan) -> None:
        """Create the state of each new query of the plan, and drop that of removed queries."""
        if self.bit_names != plan.bit_names:
            self.slices.opens = _move_bits(self.slices.opens, self.bit_names, plan.bit_names)
            bits = self.waiting.bits if len(self.waiting.bits) else np.zeros(len(self.waiting), np.int64)
            bits = _move_bits(bits, self.bit_names, plan.bit_names) if plan.punctuations else bits[:0]
            self.waiting = RowBatch(self.waiting.slots, self.waiting.positions, bits, self.waiting.columns)
            self.bit_names = plan.bit_names
        sources = {each.derived.source for each in plan.columns.values() if each.derived and each.has_labels}
        for name in self.dictionaries.keys() - sources:
            del self.dictionaries[name]
        for name in sources - self.dictionaries.keys():
            self.dictionaries[name] = Dictionary(plan.options.limits.label_gap)
        self.kinds = {each.name: each.kind for each in plan.queries}
        for memory in (self.own, self.emitted, self.added, self.unseen):
            for name in set(memory) - set(self.kinds):
                del memory[name]
        for name, kind in self.kinds.items():
            if name not in self.own:
                self.own[name] = kind.start(self.slices.keys, self.watermark)

    def ensure_keys(self, keys: int) -> None:
        """Make room for this many keys."""
        self.slices.ensure_keys(keys)
        for name, own in self.own.items():
            if own is not None:
                since = self.added.get(name, self.lowest)
                self.own[name] = self.kinds[name].with_room(own, self.slices.keys, since)

    def view(self) -> StreamView:
        """Return what kinds of windows may read of this state."""
        return StreamView(self.slices, self.watermark, self.newest, self.rows > 0, self.rows_since)

    def copy(self) -> "State":
        """Return an independent copy."""
        twin = self.fork()
        twin.unshare()
        return twin

    def fork(self) -> "State":
        """Return a copy that shares the slices and their partials.

        Only one of both states may change them. `unshare` makes the copy independent.
        """
        return State(
            Keys.from_saved(self.keys.save()),
            replace(self.slices),  # room for more keys makes new arrays
            list(self.partials),
            self.groups,
            self.names,
            self.waiting,
            self.watermark,
            self.lowest,
            self.newest,
            self.rows_since,
            self.unordered_until,
            self.cutting,
            self.rejected,
            self.rows,
            self.swept,
            self.merged,
            dict(self.kinds),
            {name: self.kinds[name].copy(own) for name, own in self.own.items()},
            dict(self.emitted),
            dict(self.added),
            dict(self.unseen),
            self.bit_names,
            dict(self.lacking),
            {name: each.copy() for name, each in self.dictionaries.items()},
            self.is_restored,
            shares_slices=True,
        )

    def unshare(self) -> None:
        """Copy the slices and their partials if they are shared, before they change."""
        if self.shares_slices:
            self.slices = self.slices.copy()
            self.slices.dirty[:] = 0  # trees are not copied
            self.partials = [each.copy() for each in self.partials]
            self.shares_slices = False

    @property
    def nbytes(self) -> int:
        """The memory of the arrays in bytes, without Python objects in keys, contexts and lists of values."""
        arrays = [*vars(self.slices).values(), self.waiting.slots, self.waiting.positions, self.waiting.bits]
        arrays += [column for pair in self.waiting.columns.values() for column in pair]
        for emitted in self.emitted.values():
            arrays += [emitted.slots, emitted.starts, emitted.ends, emitted.revisions]
            arrays += [each for pair in emitted.columns for each in pair if isinstance(each, np.ndarray | Lists)]
        own = sum(kind.size(self.own[name]) for name, kind in self.kinds.items())
        return own + int(sum(each.nbytes for each in [*arrays, *self.partials, *self.dictionaries.values()]))

    def weight(self, plan: Plan) -> int:
        """Return the approximate size of the saved state in bytes, with a few bytes for each Python object."""
        rows = 16 + 12 * len(self.waiting.columns)
        emitted = sum(len(each) * (32 + 12 * len(each.columns)) for each in self.emitted.values())
        keys = len(self.keys) * 16 + self.slices.keys * 48
        strings = sum(each.nbytes for each in self.dictionaries.values())
        return self.slices.used * plan.bytes_per_slice() + keys + len(self.waiting) * rows + emitted + strings

    def mixed_until(self, query: PlannedQuery) -> Any:
        """Return the last row that only some parts of an aggregate contain; the lowest position if there is none."""
        last = self.lowest
        for reading in query.readings:
            group = self.groups[reading.group].name
            lacking = {self.lacking.get((group, part), self.lowest) for part in reading.parts}
            if len(lacking) > 1:
                last = max(last, *lacking)
        return last

    # --- saving and restoring -----------------------------------------------------------------------

    @staticmethod
    def layout(group: Monoid, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """Return the meaning of each field of a group of partials: its component, columns and number."""
        if keeps_runs(group) or keeps_lists(group):
            kind, parts = ("runs", 3) if keeps_runs(group) else ("lists", 2)
            return [(kind, names, group.columns[0].field.code, k) for k in range(parts)]
        return [
            (group.name, component.name, tuple(names[i] for i in component.inputs), component.fields[k].code, k)
            for component in group.components
            for k in range(len(component.fields))
        ]

    def save(self) -> dict[str, Any]:
        """Return the state as numbers, arrays, lists and dicts."""
        slices, numbers = self.slices.save()
        return {
            "keys": self.keys.save(),
            "slices": slices,
            "partials": [each.save(numbers) for each in self.partials],
            "layout": [self.layout(group, names) for group, names in zip(self.groups, self.names, strict=True)],
            "waiting": {
                "slots": self.waiting.slots,
                "positions": self.waiting.positions,
                "bits": self.waiting.bits,
                "columns": {name: (plain_values(data), valid) for name, (data, valid) in self.waiting.columns.items()},
            },
            "watermark": self.watermark,
            "newest": self.newest,
            "rows_since": self.rows_since,
            "unordered_until": self.unordered_until,
            "cutting": vars(self.cutting),
            "punctuations": list(self.bit_names),
            "rejected": self.rejected,
            "rows": self.rows,
            "swept": self.swept,
            "own": {name: self.kinds[name].save(own) for name, own in self.own.items()},
            "emitted": {name: each.plain() for name, each in self.emitted.items()},
            "added": self.added,
            "unseen": self.unseen,
            "dictionaries": {name: each.save() for name, each in self.dictionaries.items()},
            "lacking": [(group, *part, newest) for (group, part), newest in self.lacking.items()],
        }

    def move_to(self, new: Plan) -> None:
        """Change to another plan: keep partials that both plans have; others start without rows."""
        found: dict[tuple[Any, ...], Any] = {}
        known: dict[tuple[Any, ...], Any] = {}
        stores = [new_store(group, names, new) for group, names in zip(new.groups, new.group_columns, strict=True)]
        numbers, _ = self.slices.list_all()
        singles = {
            (each.monoid, names)
            for names, each in zip(new.group_columns, stores, strict=True)
            if isinstance(each, SingleRows)
        }
        for group, names, each in zip(self.groups, self.names, self.partials, strict=True):
            if isinstance(each, SingleRows) and (group, names) in singles:
                found[group, names] = each
            elif isinstance(each, Partials | SingleRows):
                whole = each.fields if isinstance(each, Partials) else each.sketches(numbers, self.slices.capacity)
                known |= dict(zip(self.layout(group, names), whole, strict=True))
            else:
                found[type(each), names] = each
                each.forget_windows()
        partials = []
        for group, names, each in zip(new.groups, new.group_columns, stores, strict=True):
            each.ensure(self.slices.capacity)
            if not isinstance(each, Partials | SingleRows):
                partials.append(found.get((type(each), names), each))
                continue
            if isinstance(each, SingleRows) and (group, names) in found:
                each.take_over(found[group, names])
                partials.append(each)
                continue
            fields = list(group.allocate(self.slices.capacity))
            blank = tuple(identity(group))
            for place, key in enumerate(self.layout(group, names)):
                if key in known:
                    fields[place] = known[key]
                elif isinstance(fields[place], np.ndarray):
                    fields[place][:] = group.initial[place]
                else:
                    fields[place] = [blank[place]] * self.slices.capacity
            if isinstance(each, Partials):
                each.fields = tuple(fields)
            else:
                each.hold(tuple(fields), numbers)
            partials.append(each)
        old = set(_parts(self.groups, self.names))
        self.lacking = {
            part: self.lacking.get(part, self.lowest) if part in old else self.newest
            for part in _parts(new.groups, new.group_columns)
        }
        self.partials, self.groups, self.names = partials, new.groups, new.group_columns
        self.cutting = new.cutting
        self.slices.dirty[:] = 0
        columns = {}
        for name, (data, valid) in RowBatch.empty(new.columns, new.measure.dtype).columns.items():
            count = len(self.waiting)
            waits = self.waiting.columns.get(name)
            unknown = np.full(count, NO_LABEL) if new.columns[name].has_labels else np.zeros(count, data.dtype)
            columns[name] = waits if waits is not None else (unknown, np.zeros(count, valid.dtype))
        self.waiting = RowBatch(self.waiting.slots, self.waiting.positions, self.waiting.bits, columns)
        self.fit(new)


def _parts(groups: Sequence[Monoid], columns: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, Part]]:
    """Yield the parts of partials, each with the name of its group."""
    for group, names in zip(groups, columns, strict=True):
        yield from ((group.name, part_of(component, names)) for component in group.components)


def new_store(group: Monoid, names: tuple[str, ...], plan: Plan) -> Any:
    """Return the store for a group of partials of these columns, without slices."""
    if keeps_lists(group):
        return RowLists(group.columns[0].field.dtype)
    if keeps_runs(group):
        return Runs(group.columns[0].field.dtype)
    store = SingleRows if _keeps_single_rows(group, names, plan) else Partials
    return store(group, bool(plan.tree.choice))


def _keeps_single_rows(group: Monoid, names: tuple[str, ...], plan: Plan) -> bool:
    """Return whether slices keep their only row; labels in rows would have to change when strings are forgotten."""
    has_labels = any(plan.columns[name].has_labels for name in names)
    return plan.cuts.is_each_row and group.absorb is not None and not group.has_objects and not has_labels


def _move_bits(bits: Array, old: tuple[str, ...], new: tuple[str, ...]) -> Array:
    """Return bits of the old columns as bits of the new columns; drop those of removed columns."""
    moved = np.zeros_like(bits)
    for k, name in enumerate(old):
        if name in new:
            moved |= (bits >> k & 1) << new.index(name)
    return moved
