"""Save a stream as bytes, and load them; the bytes contain what is needed to check them against a plan."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.fields import Field
from sash.algebra.function_digests import PYTHON, Meanings, are_meanings, check_meanings, meanings_of
from sash.algebra.monoid import Column
from sash.engine.arrow_bytes import schema_of_bytes, table_bytes, table_of_bytes
from sash.engine.conditions import conditions_of
from sash.engine.labels import sweep_strings
from sash.engine.options import options_of
from sash.engine.restored_state import restore_state
from sash.engine.state import State
from sash.engine.step import Engine
from sash.engine.tables import read_rows
from sash.errors import InvalidState, SashError
from sash.kinds.catalog import savable_windows
from sash.limits import LIMITS, Limits
from sash.plan.plan import Options, Plan
from sash.plan.planner import make_plan
from sash.plan.query import Query
from sash.plan.share import ColumnType
from sash.swag import state_bytes as bytes_of
from sash.windows.calendar import Span
from sash.windows.duration import Duration
from sash.windows.measure import Measure, MeasureKind
from sash.windows.window import Window

__all__ = ["Saved", "check_functions", "load", "plan_of", "same_queries", "save", "state_of", "windows_only"]

_SAVED_OPTIONS = ("on", "by", "in_order", "emit", "partial", "store", "key_names")
MAGIC = b"SASHSTR\0"


@dataclass(frozen=True)
class Saved:
    """The content of the bytes of a stream."""

    queries: list[tuple[str, str]]  # names and texts
    windows: list[Window | None]  # of the queries; None for a user's own
    options: Options
    types: dict[str, ColumnType]
    measure: Measure | None
    key_types: tuple[Any, ...]
    fingerprint: str
    keeps_late: bool
    late_rows: list[pa.Table]
    pending: Any
    state: dict[str, Any] | None
    meanings: dict[str, Meanings]  # digests of users' aggregates, by query and result
    python: str


def save(
    queries: Sequence[Query],
    options: Options,
    types: dict[str, ColumnType],
    engine: Engine | None,
    state: State | None,
    late_rows: list[pa.Table],
    keeps_late: bool,
    pending: Any,
) -> bytes:
    """Return a stream as bytes with magic, version, length and checksum."""
    schema = pa.schema([pa.field(name, each.arrow) for name, each in types.items()])
    keys = pa.schema([]) if engine is None else pa.schema(list(zip(options.by, engine.plan.key_types, strict=True)))
    measure = None if engine is None else engine.plan.measure
    logical = pa.schema([] if measure is None or measure.logical is None else [pa.field("on", measure.logical)])
    if engine is not None and state is not None:
        sweep_strings(engine.plan, state, at_once=True)
    content = {
        "queries": [(each.name, str(each)) for each in queries],
        "windows": [_describe(each.window) for each in queries],
        "options": {
            **{
                name: getattr(options, name)
                for name in ("on", "by", "in_order", "emit", "partial", "store", "key_names")
            },
            "lateness": _plain_length(options.lateness),
            "delay": _plain_length(options.delay),
        },
        "types": schema.serialize().to_pybytes(),
        "fields": {
            name: (each.column.field.code, each.column.is_time, each.column.field.decimal)
            for name, each in types.items()
        },
        "keys": keys.serialize().to_pybytes(),
        "measure": None if measure is None else (measure.kind.value, logical.serialize().to_pybytes()),
        "fingerprint": "" if engine is None else engine.plan.fingerprint,
        "keeps_late": keeps_late,
        "late_rows": [table_bytes(each) for each in late_rows],
        "pending": pending,
        "state": None if state is None else state.save(),
        "meanings": {each.name: meanings_of(each.aggregates) for each in queries},
        "python": PYTHON,
    }
    return bytes_of.pack(content, MAGIC)


def load(blob: Any, limits: Limits = LIMITS) -> Saved:
    """Read saved bytes, with these limits for the stream; refuse anything else with the reason."""
    content = bytes_of.unpack(blob, MAGIC, "stream")
    if not isinstance(content, dict):
        raise InvalidState.damaged("it is not the state of a stream")
    try:
        queries = _pairs_of_texts(content["queries"])
        measure = _measure(content["measure"])
        saved = Saved(
            queries,
            [_window(each) for each in content["windows"]],
            _options(content["options"], limits),
            _types(content["types"], content["fields"]),
            measure,
            tuple(schema_of_bytes(content["keys"]).types),
            _typed(content["fingerprint"], str),
            _typed(content["keeps_late"], bool),
            [table_of_bytes(each) for each in _typed(content["late_rows"], list)],
            _pending(content["pending"]),
            content["state"],
            _meanings(content.get("meanings", {})),
            _typed(content.get("python", PYTHON), str),
        )
    except InvalidState:
        raise
    except (SashError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, pa.ArrowException) as error:
        raise InvalidState.unreadable("its parts do not fit together", error) from error
    if len(saved.windows) != len(queries) or (saved.state is not None and measure is None):
        raise InvalidState.damaged("its windows do not match its queries, or it has no measure")
    if len(saved.key_types) != (0 if saved.state is None else len(saved.options.by)):
        raise InvalidState.damaged("its keys do not match its key columns")
    return saved


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected a {kind.__name__}, but found a {type(value).__name__}")
    return value


def _pairs_of_texts(given: Any) -> list[tuple[str, str]]:
    found = [(_typed(name, str), _typed(text, str)) for name, text in _typed(given, list)]
    if len({name for name, _ in found}) < len(found):
        raise ValueError("two queries have the same name")
    return found


def _meanings(given: Any) -> dict[str, Meanings]:
    if not all(map(are_meanings, _typed(given, dict).values())):
        raise TypeError("the digests of functions are not digests")
    return dict(given)


def _options(given: Any, limits: Limits) -> Options:
    lateness, delay = (_restore_length(given[name]) for name in ("lateness", "delay"))
    by, partial = _typed(given["by"], tuple), _typed(given["partial"], bool)
    order, emit, store = given["in_order"], given["emit"], given.get("store", "auto")
    names = _typed(given.get("key_names", ()), tuple)
    if names and (len(names) != len(by) or not all(isinstance(each, str) for each in names)):
        raise TypeError("the names of keys do not match the key columns")
    found = options_of(given["on"], list(by), lateness, delay, order, emit, partial, limits=limits, store=store)
    return replace(found, key_names=names)


def _types(schema: Any, described: Any) -> dict[str, ColumnType]:
    """Return the types of columns for Arrow and for kernels; check that they match."""
    found = schema_of_bytes(schema)
    rows = read_rows(found.empty_table())
    types = {}
    for each in found:
        code, is_time, decimal = described[each.name]
        column = Column(Field(code, decimal), nullable=True, is_time=_typed(is_time, bool))
        known = rows.column(each.name).column
        described_as = code, is_time, decimal
        # Dates and decimals may also be plain objects, if they came in lists.
        is_plain = described_as == ("O", False, None) and (known.is_time or known.field.decimal is not None)
        if not is_plain and described_as != (known.field.code, known.is_time, known.field.decimal):
            raise ValueError(f"column {each.name!r} is not of type {each.type}")
        types[each.name] = ColumnType(column, each.type)
    if len(types) != len(found):
        raise ValueError("two columns have the same name")
    return types


def _measure(given: Any) -> Measure | None:
    if given is None:
        return None
    kind, logical = given
    schema = schema_of_bytes(logical)
    measure = Measure(MeasureKind(kind), schema.field(0).type if len(schema) else None)
    known = None if measure.logical is None else Measure.of(measure.logical)
    if (measure.kind is MeasureKind.TIME) != (known is not None) or (known is not None and known != measure):
        raise ValueError(f"positions are not of kind {kind}")
    measure.to_arrow(np.zeros(1, measure.dtype))[0].as_py()  # raises an error if the time zone is unknown
    return measure


def _pending(given: Any) -> list[Any]:
    """Return the watermark that came before the first row, if there is one."""
    for each in _typed(given, list):
        if isinstance(each, bool) or not isinstance(each, int | float | dt.date) or each != each:
            raise ValueError("a watermark is neither a number nor a time")
    if len(given) > 1:
        raise ValueError("there is more than one watermark")
    return list(given)


def check_functions(saved: Saved, given: Query) -> None:
    """Refuse a query whose functions differ from those that computed the saved partials."""
    check_meanings(f"Query {given.name!r}", saved.meanings.get(given.name, {}), given.aggregates, saved.python)


def same_queries(saved: Saved, given: Sequence[Query]) -> tuple[Query, ...]:
    """Return the given queries that were saved, in the order of the saved ones."""
    by_name = {each.name: each for each in given}
    return tuple(by_name[name] for name, _ in saved.queries if name in by_name)


def plan_of(queries: Sequence[Query], saved: Saved) -> Plan:
    """Return the plan of saved queries; it was valid once, so an error means damaged bytes."""
    assert saved.measure is not None
    try:
        wanted = conditions_of(queries).rewrite(queries)
        return make_plan(wanted, saved.options, saved.types, saved.measure, saved.key_types)
    except (SashError, TypeError, ValueError, pa.ArrowException) as error:
        raise InvalidState.unreadable("its queries cannot be computed of its columns", error) from error


def state_of(plan: Plan, saved: Saved) -> State:
    """Return the state for a plan of the saved queries, or of some of them; `adapt` must follow then."""
    state = restore_state(plan, saved.state)
    if len(plan.queries) == len(saved.queries):
        state.fit(plan)
    return state


def windows_only(saved: Saved, given: Sequence[Query] = ()) -> tuple[Plan, State]:
    """Return plan and state without aggregates, to inspect slices and windows."""
    known = {each.name: each.window for each in given}
    queries = []
    for (name, text), window in zip(saved.queries, saved.windows, strict=True):
        window = known.get(name, window)
        if window is None:
            raise InvalidState.own_window(name, text)
        queries.append(Query(name, window, ()))
    if saved.state is None:
        raise InvalidState.damaged("it has no state")
    plan = plan_of(queries, saved)
    return plan, state_of(plan, saved)


def _describe(window: Window) -> Any:
    """Return a built-in window as plain values; None for a user's own."""
    if type(window).__name__ not in savable_windows() or not is_dataclass(window):
        return None
    return type(window).__name__, {each.name: _plain_length(getattr(window, each.name)) for each in fields(window)}


def _window(described: Any) -> Window | None:
    if described is None:
        return None
    name, values = described
    window = savable_windows()[name](**{field: _restore_length(value) for field, value in values.items()})
    if type(window).__name__ != name:
        raise ValueError(f"a window is not a {name}")
    return window


def _plain_length(value: Any) -> Any:
    """Return a length as plain values, and the edges of a calendar as a list."""
    if isinstance(value, Duration):
        return "duration", value.microseconds
    if isinstance(value, Span):
        return "span", value.months, value.days, value.microseconds, value.of_weeks
    return list(value) if isinstance(value, tuple) else value


def _restore_length(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    name, *numbers = value
    if name == "span":
        months, days, microseconds, of_weeks = numbers
        return Span(_typed(months, int), _typed(days, int), _typed(microseconds, int), _typed(of_weeks, bool))
    return Duration(_typed(numbers[0], int))
