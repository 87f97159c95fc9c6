"""A stream as bytes, with what it takes to tell whether a plan may read them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import pyarrow as pa

from sash.algebra.fields import Field
from sash.algebra.kept import PYTHON, Meanings, check_meanings, meanings_of
from sash.algebra.monoid import Column
from sash.engine.state import State
from sash.engine.step import Engine
from sash.errors import InvalidState
from sash.plan.plan import Options, Plan, make_plan
from sash.plan.query import Query
from sash.plan.share import ColumnType
from sash.swag import saved as bytes_of
from sash.windows.duration import Duration
from sash.windows.kinds import Cumulative, Landmark, LastRows, Punctuated, Rows, Session, Sliding, Window
from sash.windows.measure import Measure, MeasureKind

__all__ = [
    "Saved",
    "check_functions",
    "load",
    "same_queries",
    "save",
    "state_of",
    "table_bytes",
    "table_of_bytes",
    "windows_only",
]

MAGIC = b"SASHSTR\0"


@dataclass(frozen=True)
class Saved:
    """What the bytes of a stream hold."""

    queries: list[tuple[str, str]]  # names and texts
    windows: list[Window | None]  # of the queries; a user's own is not known
    options: Options
    types: dict[str, ColumnType]
    measure: Measure | None
    key_types: tuple[Any, ...]
    fingerprint: str
    keeps_late: bool
    late_rows: list[pa.Table]
    pending: Any
    state: dict[str, Any] | None
    meanings: dict[str, Meanings]  # of the users' aggregates, by query and result
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
    """Everything under one magic, version, length and checksum."""
    schema = pa.schema([pa.field(name, each.arrow) for name, each in types.items()])
    keys = pa.schema([]) if engine is None else pa.schema(list(zip(options.by, engine.plan.key_types, strict=True)))
    measure = None if engine is None else engine.plan.measure
    logical = pa.schema([] if measure is None or measure.logical is None else [pa.field("on", measure.logical)])
    content = {
        "queries": [(each.name, str(each)) for each in queries],
        "windows": [_described(each.window) for each in queries],
        "options": {
            **{name: getattr(options, name) for name in ("on", "by", "in_order", "emit", "partial")},
            "lateness": _length(options.lateness),
            "delay": _length(options.delay),
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
        "state": None if state is None else state.frozen(),
        "meanings": {each.name: meanings_of(each.aggregates) for each in queries},
        "python": PYTHON,
    }
    return bytes_of.pack(content, MAGIC)


def load(blob: Any) -> Saved:
    """What was saved; bytes that are anything else are refused with the reason."""
    content = bytes_of.unpack(blob, MAGIC, "stream")
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(content["types"]))
        fields = content["fields"]
        types = {each.name: ColumnType(_column(*fields[each.name]), each.type) for each in schema}
        measure = None
        if content["measure"] is not None:
            kind, logical = content["measure"]
            found = pa.ipc.read_schema(pa.py_buffer(logical))
            measure = Measure(MeasureKind(kind), found.field(0).type if len(found) else None)
        given = dict(content["options"])
        options = Options(**{**given, "lateness": _unlength(given["lateness"]), "delay": _unlength(given["delay"])})
        return Saved(
            content["queries"],
            [_window(each) for each in content["windows"]],
            options,
            types,
            measure,
            tuple(pa.ipc.read_schema(pa.py_buffer(content["keys"])).types),
            content["fingerprint"],
            content["keeps_late"],
            [table_of_bytes(each) for each in content["late_rows"]],
            content["pending"],
            content["state"],
            content.get("meanings", {}),
            content.get("python", PYTHON),
        )
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise InvalidState.damaged(f"its parts do not fit together ({error})") from error


def _column(code: str, is_time: bool, decimal: tuple[int, int] | None = None) -> Column:
    return Column(Field(code, decimal), nullable=True, is_time=is_time)


def check_functions(saved: Saved, given: Query) -> None:
    """Refuse a query whose functions would make other partials than those that were saved."""
    check_meanings(f"Query {given.name!r}", saved.meanings.get(given.name, {}), given.aggregates, saved.python)


def same_queries(saved: Saved, given: Sequence[Query]) -> tuple[Query, ...]:
    """The queries that were saved and are still wanted, in the order in which they were saved."""
    by_name = {each.name: each for each in given}
    return tuple(by_name[name] for name, _ in saved.queries if name in by_name)


def state_of(plan: Plan, saved: Saved) -> State:
    """The state under a plan of the saved queries, or of some of them: then `adapt` must follow."""
    try:
        return State.thawed(plan, saved.state or {})
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidState.damaged(f"its arrays do not fit together ({error})") from error


def windows_only(saved: Saved, given: Sequence[Query] = ()) -> tuple[Plan, State]:
    """A stream that computes nothing: where its slices and windows are can be told without any aggregate."""
    known = {each.name: each.window for each in given}
    queries = []
    for (name, text), window in zip(saved.queries, saved.windows, strict=True):
        window = known.get(name, window)
        if window is None:
            raise InvalidState.own_window(name, text)
        queries.append(Query(name, window, ()))
    assert saved.measure is not None
    plan = make_plan(queries, saved.options, saved.types, saved.measure, saved.key_types)
    return plan, state_of(plan, saved)


_WINDOWS = {each.__name__: each for each in (Cumulative, Landmark, LastRows, Punctuated, Rows, Session, Sliding)}


def _described(window: Window) -> Any:
    """A window of sash in plain values."""
    if type(window).__name__ not in _WINDOWS or not is_dataclass(window):
        return None
    return type(window).__name__, {each.name: _length(getattr(window, each.name)) for each in fields(window)}


def _window(described: Any) -> Window | None:
    if described is None:
        return None
    name, values = described
    return _WINDOWS[name](**{field: _unlength(value) for field, value in values.items()})


def _length(value: Any) -> Any:
    return ("duration", value.microseconds) if isinstance(value, Duration) else value


def _unlength(value: Any) -> Any:
    return Duration(value[1]) if isinstance(value, tuple) else value


def table_bytes(table: pa.Table) -> bytes:
    """A table with its schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def table_of_bytes(content: bytes) -> pa.Table:
    """What `table_bytes` wrote."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()
