"""The labels of strings in a state: where they are, and what becomes of them.

Labels are in fields of partials, runs and lists of slices, waiting rows, and results that may be emitted again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sash.engine.decimal_words import decimals_of, words_of
from sash.engine.derived_columns import derive
from sash.engine.dictionary import NO_LABEL, Dictionary, Relabelling
from sash.engine.revisions import Emitted
from sash.engine.row_batch import RowBatch
from sash.engine.state import State
from sash.errors import InvalidState
from sash.limits import Limits
from sash.plan.coding import Decoding, derived_name, is_short
from sash.plan.plan import Plan
from sash.plan.share import ColumnType, Encoding
from sash.slicing.lists import Lists
from sash.slicing.partials import Partials
from sash.slicing.slices import Array

__all__ = ["check_labels", "derive_waiting", "encode_labels", "sweep_strings"]


def encode_labels(plan: Plan, state: State, batch: RowBatch) -> RowBatch:
    """Return accepted rows with labels in place of values; labels in the state may change."""
    columns = dict(batch.columns)
    for name, kind in plan.columns.items():
        if kind.has_labels and kind.derived is not None:
            values, valid = columns[name]
            if not len(batch):
                columns[name] = np.zeros(0, np.int64), valid
                continue
            labels, moved = state.dictionaries[kind.derived.source].encode(values)
            columns[name] = labels, valid
            if moved is not None:
                _relabel(plan, state, kind.derived.source, moved)
    return replace(batch, columns=columns)


def derive_waiting(plan: Plan, state: State) -> None:
    """Add columns that only a new plan derives to waiting rows, if other columns tell the values."""
    columns = dict(state.waiting.columns)
    for name, kind in plan.columns.items():
        if kind.derived is None or name in columns:
            continue
        values = _values_of_waiting(state, kind.derived.source, kind.arrow)
        if values is not None:
            data, valid = derive(values, kind)
            if kind.has_labels:
                dictionary = state.dictionaries[kind.derived.source] = Dictionary(plan.options.limits.label_gap)
                data, _ = dictionary.encode(data)
            columns[name] = data, valid
    state.waiting = replace(state.waiting, columns=columns)


def _values_of_waiting(state: State, source: str, kind: Any) -> Any:
    """Return the values of a column of waiting rows; None if the columns that are derived from it do not tell them."""
    found = {
        how: state.waiting.columns.get(derived_name(source, how))
        for how in (Encoding.LABELS, Encoding.UNITS, Encoding.HIGH)
    }
    if (labels := found[Encoding.LABELS]) is not None:
        return state.dictionaries[source].decode(*labels, kind)
    units, high = found[Encoding.UNITS], found[Encoding.HIGH]
    if units is None or (high is None and not is_short(kind)):
        return None
    data, valid = units
    words = data if high is None else words_of(data, high[0] - (data < 0))
    return decimals_of(words, valid, kind)


def sweep_strings(plan: Plan, state: State, at_once: bool = False) -> None:
    """Drop strings that the state does not need: where many are new, or at once."""
    for name, dictionary in state.dictionaries.items():
        if at_once or len(dictionary) > 2 * dictionary.swept + _spare(plan.options.limits, state):
            dictionary.sweep(_used(plan, state, name))


def check_labels(plan: Plan, state: State) -> None:
    """Refuse a state with labels of unknown strings."""
    for name, dictionary in state.dictionaries.items():
        if not dictionary.knows(_used(plan, state, name)):
            raise InvalidState.damaged(f"it has labels of unknown values of column {name!r}")


def _spare(limits: Limits, state: State) -> int:
    """Return how many strings may be new at least: a sweep reads all labels, and must be cheap for each of them."""
    return limits.sweep_strings + (state.slices.used + len(state.waiting)) // 8


# --- where labels are ----------------------------------------------------------------------------


def _fields(plan: Plan, state: State, source: str) -> Iterator[tuple[Any, int]]:
    """Yield partials, and the place of a field with labels; -1 if all their values are labels."""
    for partials, group, names in zip(state.partials, plan.groups, plan.group_columns, strict=True):
        if not isinstance(partials, Partials):
            if _is_of(plan.columns[names[0]], source):
                yield partials, -1
            continue
        place = 0
        for component in group.components:
            for k in range(component.keeps):
                if _is_of(plan.columns[names[component.inputs[k]]], source):
                    yield partials, place + k
            place += len(component.fields)


def _is_of(kind: ColumnType, source: str) -> bool:
    return kind.has_labels and kind.derived is not None and kind.derived.source == source


def _emitted(plan: Plan, state: State, source: str) -> Iterator[tuple[str, Emitted, int]]:
    """Yield queries, their emitted windows, and the place of a result with labels."""
    for query in plan.queries:
        emitted = state.emitted.get(query.name)
        if emitted is not None and len(emitted):
            ahead = len(emitted.columns) - len(query.results)  # positions of rows, which count windows have
            for place, result in enumerate(query.results):
                if result.made is Decoding.LABELS and result.source == source:
                    yield query.name, emitted, place + ahead


def _used(plan: Plan, state: State, source: str) -> Array:
    """Return all labels of a column that are in use."""
    numbers, _ = state.slices.list_all()
    found = [np.zeros(0, np.int64)]
    for partials, place in _fields(plan, state, source):
        if place < 0:
            found.append(partials.values_of_slices(numbers))
        elif isinstance(partials.fields[place], np.ndarray):
            found.append(partials.fields[place][numbers])
        else:
            found.append(np.array([partials.fields[place][number] for number in numbers.tolist()], np.int64))
    for name, (data, _) in state.waiting.columns.items():
        if _is_of(plan.columns[name], source):
            found.append(data)
    for _, emitted, place in _emitted(plan, state, source):
        values, valid = emitted.columns[place]
        found.append(values.flat() if isinstance(values, Lists) else values[valid])
    return np.unique(np.concatenate(found))


def _relabel(plan: Plan, state: State, source: str, moved: Relabelling) -> None:
    """Replace the labels of a column, wherever they are."""
    state.unshare()
    for partials, place in _fields(plan, state, source):
        if place < 0:
            partials.replace_values(moved.apply)
        elif isinstance(partials.fields[place], np.ndarray):
            partials.fields[place][:] = moved.apply(partials.fields[place])
        else:  # interpreted; None where a slice was never used
            given = np.array([NO_LABEL if each is None else each for each in partials.fields[place]], np.int64)
            partials.fields[place][:] = moved.apply(given).tolist()
    state.slices.dirty[:] = 0  # trees are updated from their leaves
    columns: Mapping[str, Any] = {
        name: (moved.apply(data), valid) if _is_of(plan.columns[name], source) else (data, valid)
        for name, (data, valid) in state.waiting.columns.items()
    }
    state.waiting = replace(state.waiting, columns=dict(columns))
    for name, _, place in list(_emitted(plan, state, source)):
        emitted = state.emitted[name]
        results = list(emitted.columns)
        values, valid = results[place]
        is_list = isinstance(values, Lists)
        results[place] = Lists(values.offsets, moved.apply(values.flat())) if is_list else moved.apply(values), valid
        state.emitted[name] = replace(emitted, columns=tuple(results))
