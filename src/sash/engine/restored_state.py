"""The state of a stream from what was saved of it: nothing reaches a kernel before it was held against the plan.

A checksum tells that bytes are as they were written, not who wrote them. So types and lengths of all arrays, the range
of every number, and all that leads from place to place are checked; what may be wrong afterwards is an answer.
"""

from dataclasses import fields
from typing import Any

import numpy as np

from sash.algebra.fields import Field
from sash.algebra.monoid import Monoid
from sash.engine.keys import Keys
from sash.engine.revisions import Emitted
from sash.engine.row_batch import RowBatch
from sash.engine.saved_objects import refuse_foreign_partials
from sash.engine.state import State, kept
from sash.errors import InvalidInput, InvalidState
from sash.plan.plan import Cutting, Plan, Planned
from sash.plan.share import Part, keeps_runs
from sash.slicing.slices import Array, Slices

__all__ = ["restore_state"]

_MOST = 2**62  # of whatever is counted
_POSITIONS = ("watermark", "newest", "rows_since", "unordered_until")
_COUNTS = ("rejected", "rows", "swept")
_MEMORIES = ("own", "emitted", "added", "unseen")
_PARTS = {
    "keys",
    "slices",
    "partials",
    "layout",
    "waiting",
    "cutting",
    "punctuations",
    "lacking",
    *_POSITIONS,
    *_COUNTS,
    *_MEMORIES,
}


def restore_state(plan: Plan, saved: Any) -> State:
    """What `State.save` gave, under a plan of its queries or of some of them: then `adapt` makes it that plan's."""
    if not isinstance(saved, dict) or not saved.keys() >= _PARTS:
        raise InvalidState.damaged("a part of its state is missing")
    measure, (least, greatest) = plan.measure, plan.measure.extent
    positions = {name: _position(plan, name, saved[name]) for name in _POSITIONS}
    counts = {name: _count(name, saved[name]) for name in _COUNTS}
    if not {True} >= {isinstance(saved[name], dict) for name in _MEMORIES}:
        raise InvalidState.damaged("what its queries remember is not told by their names")
    keys = _keys(plan, saved["keys"])
    slices = Slices.from_saved(saved["slices"], measure.dtype, least, greatest, measure.highest)
    waiting = RowBatch.from_saved(saved["waiting"], measure.dtype, plan.columns)
    _refuse_strangers(keys, slices, waiting, least, greatest)
    return State(
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
        **_memories(plan, keys, slices, saved),
        punctuations=_punctuations(saved["punctuations"]),
        lacking=_lacking(plan, saved["lacking"]),
        is_restored=True,
    )


def _position(plan: Plan, name: str, given: Any) -> Any:
    """A position in the head of a state: before all rows, after them, or no further than rows can be."""
    measure = plan.measure
    if not measure.holds(given):
        raise InvalidState.damaged(f"its {name} is no position")
    if measure.dtype.kind == "i" or given in (measure.lowest, measure.highest):
        return given
    least, greatest = measure.extent
    return min(max(given, least), greatest)


def _count(name: str, given: Any) -> int:
    if type(given) is not int or not 0 <= given < _MOST:
        raise InvalidState.damaged(f"its {name} are no count of rows")
    return given


def _keys(plan: Plan, saved: Any) -> Keys:
    keys, by = Keys.from_saved(saved), plan.options.by
    try:
        fresh = Keys(plan.key_types, by)
    except InvalidInput as error:
        raise InvalidState.unreadable("its keys are of types that are none", error) from error
    # A column of nulls alone gets its type when the first key comes.
    pairs = list(zip(fresh.types, keys.types, strict=False))
    if len(keys.types) != len(by) or any(a != b and str(a) != "null" for a, b in pairs):
        raise InvalidState.damaged("its keys are of other types than those of its plan")
    return keys


def _live_slots(keys: Keys, room: int) -> Array:
    """Which of so many slots have a key."""
    live = np.zeros(max(room, keys.capacity), np.bool_)
    live[: keys.capacity] = True
    live[keys.unused] = False
    return live


def _refuse_strangers(keys: Keys, slices: Slices, waiting: RowBatch, least: Any, greatest: Any) -> None:
    """Refuse slices and rows of no key, and rows that are before what was placed already."""
    live = _live_slots(keys, slices.keys)
    slots, positions = waiting.slots, waiting.positions
    if len(slots) and not 0 <= slots.min() <= slots.max() < keys.capacity:
        raise InvalidState.damaged("a row that waits is of no key")
    if (slices.count[~live[: slices.keys]] > 0).any() or not live[slots].all():
        raise InvalidState.damaged("it has slices or rows of a key that it does not know")
    if not ((least <= positions) & (positions <= greatest)).all():
        raise InvalidState.damaged("a row that waits has no position")
    known = np.flatnonzero(slots < slices.keys)
    known = known[slices.count[slots[known]] > 0]
    newest = slices.order[(slices.begin + slices.count - 1)[slots[known]]]
    if (positions[known] < slices.lasts[newest]).any():
        raise InvalidState.damaged("a row waits that comes before rows that were placed")


def _partials(plan: Plan, slices: Slices, saved: dict[str, Any]) -> list[Any]:
    """Partials by what they mean: the layout of the plan that they were saved under stands beside them."""
    layout, saved_partials = saved["layout"], saved["partials"]
    if not isinstance(layout, list) or not isinstance(saved_partials, list) or len(layout) != len(saved_partials):
        raise InvalidState.damaged("its partials are not told by a layout")
    found: dict[Any, Any] = {}
    for group, given in zip(layout, saved_partials, strict=True):
        if not isinstance(group, list) or not isinstance(given, tuple | list) or len(group) != len(given):
            raise InvalidState.damaged("its partials are not those of their layout")
        try:
            found |= dict(zip(group, given, strict=True))
        except TypeError as error:
            raise InvalidState.damaged("its layout does not tell what its partials mean") from error
    partials = []
    for group, names in zip(plan.groups, plan.group_columns, strict=True):
        keys = State.layout(group, names)
        if not all(key in found for key in keys):
            raise InvalidState.damaged("partials that its queries read are missing")
        each = kept(group, plan)
        each.restore(tuple(found[key] for key in keys), slices.capacity)
        if not keeps_runs(group):
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


def _cutting(plan: Plan, given: Any) -> Cutting:
    """How rows were cut under the plan before."""
    names = {each.name for each in fields(Cutting)}
    if not isinstance(given, dict) or given.keys() != names or not isinstance(given["queries"], tuple):
        raise InvalidState.damaged("it does not tell how its rows were cut")
    found = Cutting(**given)
    flags = isinstance(found.is_ordered, bool) and isinstance(found.is_each_row, bool)
    if not flags or not all(isinstance(each, str) for each in found.queries) or not isinstance(found.gaps, tuple):
        raise InvalidState.damaged("it does not tell how its rows were cut")
    for each in found.gaps:
        if (
            not isinstance(each, tuple)
            or len(each) != 2
            or not isinstance(each[0], str)
            or not plan.measure.holds(each[1])
        ):
            raise InvalidState.damaged("it does not tell by which gaps its rows were cut")
    return found


def _lacking(plan: Plan, given: Any) -> dict[tuple[str, Part], Any]:
    """Of parts of partials that came later, the newest row that they may lack."""
    if not isinstance(given, list) or not all(isinstance(each, tuple) and len(each) == 4 for each in given):
        raise InvalidState.damaged("it does not tell what its partials lack")
    found: dict[tuple[str, Part], Any] = {}
    for group, name, columns, newest in given:
        if not isinstance(columns, tuple) or not all(isinstance(each, str) for each in (group, name, *columns)):
            raise InvalidState.damaged("it does not tell whose partials lack rows")
        found[group, (name, columns)] = _position(plan, "lacking", newest)
    return found


def _punctuations(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given) or len(set(given)) != len(given):
        raise InvalidState.damaged("its punctuations are not columns")
    if len(given) > 62:
        raise InvalidState.damaged(f"it has {len(given)} columns of punctuations")
    return tuple(given)


# --- what each query remembers ---------------------------------------------------------------------


def _memories(plan: Plan, keys: Keys, slices: Slices, saved: dict[str, Any]) -> dict[str, Any]:
    """What queries of the plan remember, in the order in which it was saved; of others, what a change asks for."""
    live = _live_slots(keys, slices.keys)
    queries = {each.name: each for each in plan.queries}
    # What a query that is gone had not seen of the rows tells `adapt` what another one has.
    found = {
        name: {each: _position(plan, name, at) for each, at in saved[name].items()} for name in ("added", "unseen")
    }
    found["kinds"] = {each.name: each.kind for each in plan.queries}
    found["own"] = {
        name: queries[name].kind.restore(given, slices, live) for name, given in saved["own"].items() if name in queries
    }
    found["emitted"] = {
        name: _emitted(plan, queries[name], live, given) for name, given in saved["emitted"].items() if name in queries
    }
    if len(found["own"]) < len(queries.keys() & set(saved["cutting"]["queries"])):
        raise InvalidState.damaged("what a query remembers is missing")
    return found


def _emitted(plan: Plan, query: Planned, live: Array, given: Any) -> Emitted:
    position = Field(plan.measure.dtype.str[1:]), None
    results: list[tuple[Field, Any]] = [position, position] if query.window.by_count else []
    for reading in query.readings:
        view = query.views[reading.group]
        assert view is not None
        results.append((view.monoid.outputs[reading.output].result, reading.arrow))
    sent = Emitted.from_saved(given, np.int64 if query.window.by_count else plan.measure.dtype, results)
    if len(sent) and not (0 <= sent.slots.min() <= sent.slots.max() < len(live) and live[sent.slots].all()):
        raise InvalidState.damaged("a window was sent of a key that it does not know")
    return sent
