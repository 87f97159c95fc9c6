"""Restore the state of a stream from saved values; check everything against the plan before a kernel reads it.

A checksum proves that bytes are unchanged, not who wrote them. So the types and lengths of all arrays, the range of
every number, and all indexes are checked. Forged bytes can still give wrong results, but no access out of bounds.
"""

from dataclasses import fields
from typing import Any

import numpy as np

from sash.algebra.fields import Field
from sash.algebra.monoid import Monoid
from sash.engine.dictionary import Dictionary
from sash.engine.keys import Keys
from sash.engine.labels import check_labels
from sash.engine.revisions import Emitted
from sash.engine.row_batch import RowBatch
from sash.engine.saved_objects import refuse_foreign_partials
from sash.engine.state import State, new_store
from sash.errors import InvalidInput, InvalidState
from sash.plan.plan import Cutting, Plan, PlannedQuery
from sash.plan.share import Part, keeps_lists, keeps_runs
from sash.slicing.partials import Partials
from sash.slicing.slices import Array, Slices

__all__ = ["restore_state"]

_MOST = 2**62  # the limit of any count
_POSITIONS = ("watermark", "newest", "rows_since", "unordered_until")
_COUNTS = ("rejected", "rows", "swept")
_PER_QUERY = ("own", "emitted", "added", "unseen")
_PARTS = {
    "keys",
    "slices",
    "partials",
    "layout",
    "waiting",
    "cutting",
    "punctuations",
    "lacking",
    "dictionaries",
    *_POSITIONS,
    *_COUNTS,
    *_PER_QUERY,
}


def restore_state(plan: Plan, saved: Any) -> State:
    """Restore what `State.save` returned, for a plan of its queries or of some of them; `adapt` must follow then."""
    if not isinstance(saved, dict) or not saved.keys() >= _PARTS:
        raise InvalidState.damaged("a part of its state is missing")
    measure, (least, greatest) = plan.measure, plan.measure.extent
    positions = {name: _position(plan, name, saved[name]) for name in _POSITIONS}
    counts = {name: _count(name, saved[name]) for name in _COUNTS}
    if not {True} >= {isinstance(saved[name], dict) for name in _PER_QUERY}:
        raise InvalidState.damaged("the states of its queries have no names")
    keys = _keys(plan, saved["keys"])
    slices = Slices.from_saved(saved["slices"], measure.dtype, least, greatest, measure.highest)
    waiting = RowBatch.from_saved(saved["waiting"], measure.dtype, plan.columns)
    _check_rows_and_slices(keys, slices, waiting, least, greatest)
    state = State(
        keys,
        slices,
        _partials(plan, slices, saved),
        plan.groups,
        plan.group_columns,
        waiting,
        positions["watermark"],
        measure.lowest,
        positions["newest"],
        positions["rows_since"],
        positions["unordered_until"],
        _cutting(plan, saved["cutting"]),
        counts["rejected"],
        counts["rows"],
        counts["swept"],
        **_restore_queries(plan, keys, slices, saved),
        bit_names=_bit_names(saved["punctuations"]),
        lacking=_lacking(plan, saved["lacking"]),
        dictionaries=_dictionaries(plan, saved["dictionaries"]),
        is_restored=True,
    )
    check_labels(plan, state)
    return state


def _position(plan: Plan, name: str, given: Any) -> Any:
    """Check a position in the head of a state: before all rows, after them, or within the reach of rows."""
    measure = plan.measure
    if not measure.holds(given):
        raise InvalidState.damaged(f"its {name} is not a position")
    if measure.dtype.kind == "i" or given in (measure.lowest, measure.highest):
        return given
    least, greatest = measure.extent
    return min(max(given, least), greatest)


def _count(name: str, given: Any) -> int:
    if type(given) is not int or not 0 <= given < _MOST:
        raise InvalidState.damaged(f"its {name} is not a count")
    return given


def _keys(plan: Plan, saved: Any) -> Keys:
    keys, by = Keys.from_saved(saved), plan.options.by
    try:
        fresh = Keys(plan.key_types, by)
    except InvalidInput as error:
        raise InvalidState.unreadable("the types of its keys are not valid", error) from error
    # A column with only nulls gets its type with the first other key.
    pairs = list(zip(fresh.types, keys.types, strict=False))
    if len(keys.types) != len(by) or any(a != b and str(a) != "null" for a, b in pairs):
        raise InvalidState.damaged("its keys are of other types than those of its plan")
    return keys


def _used_slots(keys: Keys, room: int) -> Array:
    """Return which slots have a key, for at least `room` slots."""
    used = np.zeros(max(room, keys.capacity), np.bool_)
    used[: keys.capacity] = True
    used[keys.unused] = False
    return used


def _check_rows_and_slices(keys: Keys, slices: Slices, waiting: RowBatch, least: Any, greatest: Any) -> None:
    """Refuse slices and rows without a key, and waiting rows that are before placed ones."""
    used = _used_slots(keys, slices.keys)
    slots, positions = waiting.slots, waiting.positions
    if len(slots) and not 0 <= slots.min() <= slots.max() < keys.capacity:
        raise InvalidState.damaged("a waiting row has no key")
    if (slices.count[~used[: slices.keys]] > 0).any() or not used[slots].all():
        raise InvalidState.damaged("it has slices or rows of an unknown key")
    if not ((least <= positions) & (positions <= greatest)).all():
        raise InvalidState.damaged("a waiting row has no position")
    known = np.flatnonzero(slots < slices.keys)
    known = known[slices.count[slots[known]] > 0]
    newest = slices.order[(slices.begin + slices.count - 1)[slots[known]]]
    if (positions[known] < slices.lasts[newest]).any():
        raise InvalidState.damaged("a waiting row is before rows that are in slices")


def _partials(plan: Plan, slices: Slices, saved: dict[str, Any]) -> list[Any]:
    """Restore partials by the saved layout, which tells the meaning of each field."""
    layout, saved_partials = saved["layout"], saved["partials"]
    if not isinstance(layout, list) or not isinstance(saved_partials, list) or len(layout) != len(saved_partials):
        raise InvalidState.damaged("its partials have no layout")
    found: dict[Any, Any] = {}
    for group, given in zip(layout, saved_partials, strict=True):
        if not isinstance(group, list) or not isinstance(given, tuple | list) or len(group) != len(given):
            raise InvalidState.damaged("its partials do not match their layout")
        try:
            found |= dict(zip(group, given, strict=True))
        except TypeError as error:
            raise InvalidState.damaged("the layout of its partials is not valid") from error
    partials = []
    for group, names in zip(plan.groups, plan.group_columns, strict=True):
        keys = State.layout(group, names)
        if not all(key in found for key in keys):
            raise InvalidState.damaged("partials that its queries read are missing")
        each = new_store(group, names, plan)
        each.restore(tuple(found[key] for key in keys), slices.capacity)
        if isinstance(each, Partials):
            _refuse_foreign_objects(plan, group, names, each.fields)
        partials.append(each)
    return partials


def _refuse_foreign_objects(plan: Plan, group: Monoid, names: tuple[str, ...], partials: tuple[Any, ...]) -> None:
    place = 0
    for component in group.components:
        for k, field in enumerate(component.fields):
            if field.is_object and component.inputs:
                column = names[component.inputs[min(k, len(component.inputs) - 1)]]
                refuse_foreign_partials(component, partials[place], plan.columns[column].arrow)
            place += 1


def _dictionaries(plan: Plan, given: Any) -> dict[str, Dictionary]:
    """Restore the strings of the plan's columns."""
    if not isinstance(given, dict):
        raise InvalidState.damaged("its dictionaries have no names")
    found = {}
    for each in plan.columns.values():
        if each.derived is not None and each.has_labels:
            name = each.derived.source
            found[name] = Dictionary.from_saved(given.get(name), plan.options.limits.label_gap, each.arrow)
    return found


def _cutting(plan: Plan, given: Any) -> Cutting:
    """Restore how rows were cut under the saved plan."""
    names = {each.name for each in fields(Cutting)}
    if not isinstance(given, dict) or given.keys() != names or not isinstance(given["queries"], tuple):
        raise InvalidState.damaged("its record of how rows were cut is not valid")
    found = Cutting(**given)
    flags = isinstance(found.is_ordered, bool) and isinstance(found.is_each_row, bool)
    if not flags or not all(isinstance(each, str) for each in found.queries) or not isinstance(found.gaps, tuple):
        raise InvalidState.damaged("its record of how rows were cut is not valid")
    for each in found.gaps:
        if (
            not isinstance(each, tuple)
            or len(each) != 2
            or not isinstance(each[0], str)
            or not plan.measure.holds(each[1])
        ):
            raise InvalidState.damaged("its record of session gaps is not valid")
    return found


def _lacking(plan: Plan, given: Any) -> dict[tuple[str, Part], Any]:
    """Restore the newest row that each part of partials may lack, for parts of queries that were added later."""
    if not isinstance(given, list) or not all(isinstance(each, tuple) and len(each) == 4 for each in given):
        raise InvalidState.damaged("its record of rows that partials lack is not valid")
    found: dict[tuple[str, Part], Any] = {}
    for group, name, columns, newest in given:
        if not isinstance(columns, tuple) or not all(isinstance(each, str) for each in (group, name, *columns)):
            raise InvalidState.damaged("its record of rows that partials lack has no names")
        found[group, (name, columns)] = _position(plan, "lacking", newest)
    return found


def _bit_names(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given) or len(set(given)) != len(given):
        raise InvalidState.damaged("its punctuations are not names of columns")
    if len(given) > 63:
        raise InvalidState.damaged(f"it has {len(given)} columns of punctuations")
    return tuple(given)


# --- the state of each query ---------------------------------------------------------------------


def _restore_queries(plan: Plan, keys: Keys, slices: Slices, saved: dict[str, Any]) -> dict[str, Any]:
    """Restore the states of the plan's queries; of other queries, only what `adapt` needs."""
    used = _used_slots(keys, slices.keys)
    queries = {each.name: each for each in plan.queries}
    # `adapt` also needs `unseen` of queries that were removed.
    found = {
        name: {each: _position(plan, name, at) for each, at in saved[name].items()} for name in ("added", "unseen")
    }
    found["kinds"] = {each.name: each.kind for each in plan.queries}
    found["own"] = {
        name: queries[name].kind.restore(given, slices, used) for name, given in saved["own"].items() if name in queries
    }
    found["emitted"] = {
        name: _emitted(plan, queries[name], used, given) for name, given in saved["emitted"].items() if name in queries
    }
    if len(found["own"]) < len(queries.keys() & set(saved["cutting"]["queries"])):
        raise InvalidState.damaged("the state of a query is missing")
    return found


def _emitted(plan: Plan, query: PlannedQuery, used: Array, given: Any) -> Emitted:
    position = Field(plan.measure.dtype.str[1:]), None, False
    results: list[tuple[Field, Any, bool]] = [position, position] if query.window.by_count else []
    for each in query.results:
        reading = query.readings[each.readings[0]]
        view, group = query.views[reading.group], plan.groups[reading.group]
        assert view is not None
        field = Field("i8[2]") if each.has_words else view.monoid.outputs[reading.output].result
        is_list = field.is_object and (keeps_runs(group) or keeps_lists(group))
        results.append((group.columns[0].field if is_list else field, each.arrow, is_list))
    emitted = Emitted.from_saved(given, np.int64 if query.window.by_count else plan.measure.dtype, results)
    if len(emitted) and not (0 <= emitted.slots.min() <= emitted.slots.max() < len(used) and used[emitted.slots].all()):
        raise InvalidState.damaged("an emitted window has an unknown key")
    return emitted
