"""What a stream remembers, as arrays; and as bytes, with the plan that it belongs to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sash.algebra.monoid import Monoid, identity
from sash.engine.keys import Keys
from sash.engine.revisions import Emitted, plain_values
from sash.engine.row_batch import RowBatch
from sash.kinds.kind import Kind, StreamView
from sash.plan.plan import Cutting, Plan, Planned
from sash.plan.share import Part, keeps_runs, part_of
from sash.slicing.partials import Partials
from sash.slicing.runs import Runs
from sash.slicing.slices import Array, Slices

__all__ = ["State", "kept"]


@dataclass
class State:
    """One stream between two pushes."""

    keys: Keys
    slices: Slices
    partials: list[Partials | Runs]
    groups: tuple[Monoid, ...]  # what each of them keeps
    names: tuple[tuple[str, ...], ...]  # of the columns that each group of partials reads
    waiting: RowBatch
    watermark: Any  # a position; the lowest: none was given yet
    lowest: Any  # before every position
    newest: Any  # the largest position of a row that was accepted
    rows_since: Any  # after it, each row is a slice of its own, where that is asked for
    unordered_until: Any  # up to here rows were cut as they came, by queries that do not need their order
    cutting: Cutting  # of the plan that it was made under
    rejected: int = 0  # rows that came too late, or had no position
    rows: int = 0  # rows that were accepted
    swept: int = 0  # slices that were left when they were last swept
    kinds: dict[str, Kind] = field(default_factory=dict)  # of the queries
    own: dict[str, Any] = field(default_factory=dict)  # what each kind remembers besides slices
    emitted: dict[str, Emitted] = field(default_factory=dict)  # windows that may be sent again
    added: dict[str, Any] = field(default_factory=dict)  # of queries that came later: the watermark that they found
    unseen: dict[str, Any] = field(default_factory=dict)  # … and the last row of which they do not know the edges
    punctuations: tuple[str, ...] = ()  # columns that the bits of slices and waiting rows stand for
    # Of parts of partials that came later, by group and part: the newest row that they may lack.
    lacking: dict[tuple[str, Part], Any] = field(default_factory=dict)
    is_restored: bool = False  # from bytes: what cannot be computed with may be their fault
    broken: BaseException | None = None  # a push failed half way: nothing in it can be relied on

    @classmethod
    def empty(cls, plan: Plan) -> "State":
        """Before the first row."""
        dtype = plan.measure.dtype
        state = cls(
            Keys(plan.key_types, plan.options.by),
            Slices.empty(dtype),
            [kept(group, plan) for group in plan.groups],
            plan.groups,
            plan.group_columns,
            RowBatch.empty(plan.columns, plan.measure.dtype),
            *(plan.measure.lowest,) * 5,
            plan.cutting,
        )
        state.fit(plan)
        return state

    def fit(self, plan: Plan) -> None:
        """Have what each query of the plan remembers, and nothing of queries that are gone."""
        if self.punctuations != plan.punctuations:
            self.slices.opens = _moved_bits(self.slices.opens, self.punctuations, plan.punctuations)
            bits = self.waiting.bits if len(self.waiting.bits) else np.zeros(len(self.waiting), np.int64)
            bits = _moved_bits(bits, self.punctuations, plan.punctuations) if plan.punctuations else bits[:0]
            self.waiting = RowBatch(self.waiting.slots, self.waiting.positions, bits, self.waiting.columns)
            self.punctuations = plan.punctuations
        self.kinds = {each.name: each.kind for each in plan.queries}
        for memory in (self.own, self.emitted, self.added, self.unseen):
            for name in set(memory) - set(self.kinds):
                del memory[name]
        for name, kind in self.kinds.items():
            if name not in self.own:
                self.own[name] = kind.start(self.slices.keys, self.watermark)

    def ensure_keys(self, keys: int) -> None:
        """Room for this many keys."""
        self.slices.ensure_keys(keys)
        for name, own in self.own.items():
            if own is not None:
                since = self.added.get(name, self.lowest)
                self.own[name] = self.kinds[name].with_room(own, self.slices.keys, since)

    def held(self) -> StreamView:
        """What kinds of windows are told of it."""
        return StreamView(self.slices, self.watermark, self.newest, self.rows > 0, self.rows_since)

    def copy(self) -> "State":
        """The same state, apart: what changes one does not change the other."""
        slices = self.slices.copy()
        slices.dirty[:] = 0  # trees are not copied
        return State(
            Keys.from_saved(self.keys.save()),
            slices,
            [each.copy() for each in self.partials],
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
            dict(self.kinds),
            {name: self.kinds[name].copy(own) for name, own in self.own.items()},
            dict(self.emitted),
            dict(self.added),
            dict(self.unseen),
            self.punctuations,
            dict(self.lacking),
            self.is_restored,
        )

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take; Python objects, in keys, contexts and lists of values, are not in it."""
        arrays = [*vars(self.slices).values(), self.waiting.slots, self.waiting.positions, self.waiting.bits]
        arrays += [column for pair in self.waiting.columns.values() for column in pair]
        for emitted in self.emitted.values():
            arrays += [emitted.slots, emitted.starts, emitted.ends, emitted.revisions]
            arrays += [each for pair in emitted.columns for each in pair if isinstance(each, np.ndarray)]
        own = sum(kind.size(self.own[name]) for name, kind in self.kinds.items())
        return own + int(sum(each.nbytes for each in [*arrays, *self.partials]))

    def weight(self, plan: Plan) -> int:
        """How many bytes it takes to save it, about; of Python objects, a few for each."""
        rows = 16 + 12 * len(self.waiting.columns)
        emitted = sum(len(each) * (32 + 12 * len(each.columns)) for each in self.emitted.values())
        keys = len(self.keys) * 16 + self.slices.keys * 48
        return self.slices.used * plan.bytes_per_slice() + keys + len(self.waiting) * rows + emitted

    def mixed_until(self, query: Planned) -> Any:
        """The last row that some parts of an aggregate hold and others lack; none if all parts came together."""
        last = self.lowest
        for reading in query.readings:
            group = self.groups[reading.group].name
            lacking = {self.lacking.get((group, part), self.lowest) for part in reading.parts}
            if len(lacking) > 1:
                last = max(last, *lacking)
        return last

    # --- to bytes and back -----------------------------------------------------------------------

    @staticmethod
    def layout(group: Monoid, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """What each field of a group of partials means: its component, the columns that it reads, and its number."""
        if keeps_runs(group):
            return [("runs", names, group.columns[0].field.code, k) for k in range(3)]
        return [
            (group.name, component.name, tuple(names[i] for i in component.inputs), component.fields[k].code, k)
            for component in group.components
            for k in range(len(component.fields))
        ]

    def save(self) -> dict[str, Any]:
        """Numbers, arrays, lists and dicts of them."""
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
            "punctuations": list(self.punctuations),
            "rejected": self.rejected,
            "rows": self.rows,
            "swept": self.swept,
            "own": {name: self.kinds[name].save(own) for name, own in self.own.items()},
            "emitted": {name: each.plain() for name, each in self.emitted.items()},
            "added": self.added,
            "unseen": self.unseen,
            "lacking": [(group, *part, newest) for (group, part), newest in self.lacking.items()],
        }

    def move_to(self, new: Plan) -> None:
        """Go on under another plan: partials that both keep stay, others start with no rows."""
        found_runs: dict[tuple[str, ...], Any] = {}
        known: dict[tuple[Any, ...], Any] = {}
        for group, names, each in zip(self.groups, self.names, self.partials, strict=True):
            if isinstance(each, Runs):
                found_runs[names] = each
            else:
                known |= dict(zip(self.layout(group, names), each.fields, strict=True))
        partials = []
        for group, names in zip(new.groups, new.group_columns, strict=True):
            each = kept(group, new)
            each.ensure(self.slices.capacity)
            if keeps_runs(group):
                partials.append(found_runs.get(names, each))
                continue
            fields = list(each.fields)
            blank = tuple(identity(group))
            for place, key in enumerate(self.layout(group, names)):
                if key in known:
                    fields[place] = known[key]
                elif isinstance(fields[place], np.ndarray):
                    fields[place][:] = group.initial[place]
                else:
                    fields[place] = [blank[place]] * self.slices.capacity
            each.fields = tuple(fields)
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
            columns[name] = waits if waits is not None else (_blank(data, count), np.zeros(count, valid.dtype))
        self.waiting = RowBatch(self.waiting.slots, self.waiting.positions, self.waiting.bits, columns)
        self.fit(new)


def _parts(groups: Sequence[Monoid], columns: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, Part]]:
    """The parts of partials, each under the name of its group."""
    for group, names in zip(groups, columns, strict=True):
        yield from ((group.name, part_of(component, names)) for component in group.components)


def kept(group: Monoid, plan: Plan) -> Any:
    """What keeps a group of a plan, with no slices yet."""
    return Runs(group.columns[0].field.dtype) if keeps_runs(group) else Partials(group, bool(plan.tree.choice))


def _moved_bits(bits: Array, old: tuple[str, ...], new: tuple[str, ...]) -> Array:
    """Bits that stood for the old columns, standing for the new ones; of columns that are gone they are left out."""
    moved = np.zeros_like(bits)
    for k, name in enumerate(old):
        if name in new:
            moved |= (bits >> k & 1) << new.index(name)
    return moved


def _blank(data: Any, count: int) -> Any:
    return np.zeros(count, data.dtype)
