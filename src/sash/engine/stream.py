"""A stream in this process: push rows, move the watermark, save and restore."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine import saving
from sash.engine.options import options_of, with_free_names
from sash.engine.state import State, no_rows
from sash.engine.step import Engine, adapt
from sash.engine.tables import Rows, read_rows
from sash.engine.waiting import Batch
from sash.errors import (
    BrokenStream,
    InvalidInput,
    InvalidQuery,
    InvalidState,
    UnknownName,
)
from sash.plan.plan import Plan, make_plan
from sash.plan.query import Query, named_queries
from sash.plan.share import ColumnType
from sash.swag.guard import Guard, guarded
from sash.swag.values import Values
from sash.windows.kinds import is_number

__all__ = ["Stream", "as_bound", "bound", "step"]


class Stream:
    """Windows over rows that are pushed as they come.

    Rows are tables of any kind, or a dict of lists. Windows are sent when the watermark has passed their end: the one
    given with a push; with `watermark="10 seconds"`, the largest position less that delay, after each push; with
    `in_order=True`, each row's own position. Rows that come after their window may still count for `allowed_lateness`:
    then exactly the windows that change are sent again, under the next revision. Later ones are counted, and with
    `late="keep"` kept.

    Threads may share a stream: each call waits until the one before it is done, so rows are taken in the order of the
    calls. Your own aggregates and windows, which `push` calls, cannot call the stream.

    >>> import sash
    >>> peaks = sash.query("peaks", sash.tumbling(10), peak=sash.max("load"))
    >>> stream = sash.Stream([peaks], on="t", by="plug")
    >>> stream.push({"t": [1, 7, 12], "plug": ["a", "a", "b"], "load": [3.0, 5.0, 4.0]}).num_rows
    0
    >>> stream.push({}, watermark=10).to_pylist()
    [{'plug': 'a', 'query': 'peaks', 'window_start': 0, 'window_end': 10, 'peak': 5.0}]
    """

    def __init__(
        self,
        queries: Query | Sequence[Query],
        *,
        on: str,
        by: str | Sequence[str] | None = None,
        allowed_lateness: Any = 0,
        watermark: Any = None,
        in_order: bool = False,
        emit: str = "final",
        late: str = "count",
    ) -> None:
        self.queries = named_queries(queries)
        if not self.queries:
            raise InvalidQuery.none()
        self.options = with_free_names(options_of(on, by, allowed_lateness, watermark, in_order, emit))
        if late not in ("count", "keep"):
            raise InvalidInput.option("late", late, "'count' or 'keep'")
        self._keeps_late = late == "keep"
        self._late_rows: list[pa.Table] = []
        self._pending: list[Any] = []  # watermarks that came before the first row
        self._engine: Engine | None = None
        self._state: State | None = None
        self._types: dict[str, ColumnType] = {}
        self._broken: BaseException | None = None
        self._guard = Guard()

    @classmethod
    def of(
        cls,
        plan: Plan,
        state: State | None = None,
        queries: Sequence[Query] = (),
        types: Mapping[str, ColumnType] | None = None,
        late: str = "count",
    ) -> "Stream":
        """A stream whose plan was made before its first rows came; `queries` and `types` are for saving it."""
        stream = cls.__new__(cls)
        stream.options, stream.queries = plan.options, tuple(queries)
        stream._keeps_late, stream._late_rows = late == "keep", []
        stream._pending, stream._types, stream._broken = [], dict(plan.columns if types is None else types), None
        stream._engine, stream._state = Engine(plan), State.empty(plan) if state is None else state
        stream._guard = Guard()
        return stream

    # --- rows in, results out ----------------------------------------------------------------------

    @guarded
    def push(self, rows: Any, watermark: Any = None) -> pa.Table:
        """Take rows, then move the watermark, then send the windows that are due; bad input changes nothing."""
        if self._broken is not None:
            raise BrokenStream.since(self._broken)
        given = read_rows(rows)
        if self._engine is not None:
            return self._pushed(self._engine, given, watermark)
        engine, state, types, pending = self._begin(given, watermark)
        if engine is None:
            self._pending = pending
            return pa.table({})
        before = self._state, self._types, self._pending
        self._engine, self._state, self._types, self._pending = engine, state, types, []
        try:
            return self._pushed(engine, given, watermark)
        except Exception:
            # The first rows were refused: the next ones may be of other types.
            self._engine, (self._state, self._types, self._pending) = None, before
            raise

    def _pushed(self, engine: Engine, given: Rows, watermark: Any) -> pa.Table:
        state = self._state
        assert state is not None
        plan = engine.plan
        mark = state.watermark if watermark is None else engine.within_reach(plan.measure.position(watermark))
        # Users' functions may fail at any row: then the push has not happened.
        before = (state.copy(), list(self._late_rows)) if plan.calls_users else None
        try:
            return self._advanced(engine, state, given, mark)
        except BaseException:
            if before is not None:
                (self._state, self._late_rows), self._broken = before, None
            raise

    def _advanced(self, engine: Engine, state: State, given: Rows, mark: Any) -> pa.Table:
        plan = engine.plan
        if given.count == 0 and not given.names:
            return self._advance(engine, state, no_rows(plan), mark)
        positions, valid = given.positions(plan.options.on, plan.measure)
        judged = engine.judge(state, positions, valid)
        batch = self._batch(plan, state, given, positions, judged.accepted)
        if judged.late:
            self._set_aside(given, judged.accepted)
            state.late += judged.late
        if len(batch):
            newest = batch.positions[-1] if plan.options.in_order else batch.positions.max()
            state.newest = max(state.newest, newest.item())
        if plan.options.in_order:
            mark = max(mark, state.newest)
        elif plan.delay is not None and state.newest > plan.measure.lowest:
            mark = max(mark, engine.within_reach(state.newest - plan.delay))
        return self._advance(engine, state, batch, mark)

    def _advance(self, engine: Engine, state: State, batch: Batch, mark: Any) -> pa.Table:
        try:
            return engine.advance(state, batch, mark)
        except BaseException as error:  # an interrupt, too, leaves a push half done
            self._broken = error
            raise

    def finish(self) -> pa.Table:
        """The end of the stream: everything that is complete is sent.

        >>> import sash
        >>> stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t")
        >>> stream.push({"t": [1, 2]}).num_rows, stream.finish().to_pylist()
        (0, [{'query': 'n', 'window_start': 0, 'window_end': 10, 'n': 2}])
        """
        return self.push({}, watermark=math.inf)

    def _begin(self, rows: Rows, watermark: Any) -> Any:
        """The first rows tell the types: only then can there be a plan. Until then watermarks are put aside."""
        if not rows.names:
            return None, None, {}, self._pending if watermark is None else [_awaited(watermark, self._pending)]
        types = bound(self.queries, rows)
        measure = rows.measure(_known(rows, self.options.on))
        keys = [_key_type(rows, name) for name in self.options.by]
        plan = make_plan(self.queries, self.options, types, measure, keys)
        state = State.empty(plan)
        engine = Engine(plan)
        pending, self._pending = self._pending, []  # if one does not fit, it is refused once
        state.watermark = max([state.watermark, *(engine.within_reach(measure.position(each)) for each in pending)])
        self._pending = pending
        return engine, state, types, []

    def _batch(self, plan: Plan, state: State, rows: Rows, positions: Any, accepted: Any) -> Batch:
        """The accepted rows, checked; keys are given their slots last, when nothing can be refused any more."""
        columns = {}
        for name, kind in plan.columns.items():
            columns[name] = _taken(*as_bound(name, rows.column(name), kind), accepted)
        bits = np.zeros(0, np.int64)
        for k, name in enumerate(plan.punctuations):
            given = rows.column(name)
            if given.column.field.code != "b1" and not (given.valid is not None and not given.valid.any()):
                raise InvalidInput.option(f"Column {name!r} of a punctuated window", given.column, "boolean")
            flags = np.asarray(given.data).astype(np.bool_)
            flags = flags if given.valid is None else flags & given.valid
            bits = (bits if k else np.zeros(rows.count, np.int64)) | flags.astype(np.int64) << k
        keys = [rows.key(name) for name in plan.options.by]
        if accepted is not None:
            positions = positions[accepted]
            bits = bits[accepted] if len(bits) else bits
            keys = [_keys_taken(each, accepted) for each in keys]
        slots = state.keys.slots(keys, len(positions)) if keys else _one_key(state, len(positions))
        return Batch(slots, positions, bits, columns)

    # --- rows that came too late -------------------------------------------------------------------

    def _set_aside(self, rows: Rows, accepted: Any) -> None:
        if self._keeps_late:
            table = rows.table()
            mask = np.ones(rows.count, np.bool_)
            if accepted is not None:
                mask[accepted] = False
            self._late_rows.append(table.filter(pa.array(mask)))

    @property
    def late_count(self) -> int:
        """How many rows came too late, or had no position: they are part of no window."""
        return 0 if self._state is None else self._state.late

    @guarded
    def late(self) -> pa.Table:
        """The late rows since this was last asked, as they came; kept with late="keep".

        >>> import sash
        >>> stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t", late="keep")
        >>> _ = stream.push({"t": [11]}, watermark=10), stream.push({"t": [3, 12]})
        >>> stream.late().to_pylist(), stream.late_count
        ([{'t': 3}], 1)
        """
        if not self._keeps_late:
            raise InvalidInput.option("late", "count", "'keep' for late rows to be kept: Stream(…, late='keep')")
        kept, self._late_rows = self._late_rows, []
        return pa.concat_tables(kept, promote_options="permissive") if kept else pa.table({})

    # --- queries that come and go --------------------------------------------------------------------

    @guarded
    def add(self, query: Query) -> None:
        """One more query: it sees the slices that are still kept, and reports windows that end after the watermark.

        >>> import sash
        >>> stream = sash.Stream(sash.query("ten", sash.tumbling(10), n=sash.count()), on="t")
        >>> stream.add(sash.query("five", sash.tumbling(5), n=sash.count()))
        >>> stream.push({"t": [1, 7]}, watermark=10).select(["query", "n"]).to_pylist()
        [{'query': 'ten', 'n': 2}, {'query': 'five', 'n': 1}, {'query': 'five', 'n': 1}]
        """
        (added,) = named_queries(query)
        self._change((*self.queries, added))

    @guarded
    def remove(self, name: str) -> None:
        """One query less; what only it needed is freed.

        >>> import sash
        >>> stream = sash.Stream([sash.query(name, sash.tumbling(10), n=sash.count()) for name in "ab"], on="t")
        >>> stream.remove("a")
        >>> [query.name for query in stream.queries]
        ['b']
        """
        if name not in {each.name for each in self.queries}:
            raise UnknownName.of("query", name, [each.name for each in self.queries])
        self._change(tuple(each for each in self.queries if each.name != name))

    @guarded
    def learn(self, types: Mapping[str, ColumnType]) -> None:
        """Know of columns that no query has asked for yet."""
        self._types = {**self._types, **types}

    def _change(self, queries: tuple[Query, ...]) -> None:
        queries = named_queries(queries)
        if self._engine is None or self._state is None:
            self.queries = queries
            return
        old = self._engine.plan
        plan = make_plan(queries, self.options, self._types, old.measure, old.key_types)
        engine = Engine(plan)
        # Users' functions may fail: then nothing has changed.
        state = self._state.copy() if plan.calls_users else self._state
        adapt(engine, state)
        self.queries, self._engine, self._state = queries, engine, state

    # --- to bytes and back ---------------------------------------------------------------------------

    @guarded
    def save(self) -> bytes:
        """Everything that the stream remembers, as bytes; nothing in them can run.

        >>> import sash
        >>> ten = sash.query("ten", sash.tumbling(10), n=sash.count())
        >>> stream = sash.Stream(ten, on="t")
        >>> _ = stream.push({"t": [1, 7]})
        >>> sash.Stream.restore(stream.save(), ten).finish().column("n").to_pylist()
        [2]
        """
        if self._broken is not None:
            raise BrokenStream.since(self._broken)
        return saving.save(
            self.queries,
            self.options,
            self._types,
            self._engine,
            self._state,
            self._late_rows,
            self._keeps_late,
            self._pending,
        )

    @classmethod
    def restore(cls, blob: bytes, queries: Query | Sequence[Query]) -> "Stream":
        """The stream that was saved, as if it had never stopped; queries added or removed since are taken up."""
        given = named_queries(queries)
        saved = saving.load(blob)
        if saved.queries and not given:
            raise InvalidQuery.none()
        stream = cls.__new__(cls)
        stream.options = saved.options
        stream._keeps_late, stream._late_rows = saved.keeps_late, saved.late_rows
        stream._pending, stream._types, stream._broken = saved.pending, saved.types, None
        stream._engine = stream._state = None
        stream._guard = Guard()
        old = dict(saved.queries)
        for each in given:
            if old.get(each.name, str(each)) != str(each):
                raise InvalidState.changed_query(each.name, old[each.name], str(each))
            saving.check_functions(saved, each)
        both = [each for each in given if each.name in old]
        missing = [name for name in old if name not in {each.name for each in given}]
        stream.queries = given
        if saved.state is None:
            return stream
        if missing and not both:
            raise InvalidState.other_queries(list(old), [each.name for each in given])
        stream._restore(saved, given, missing)
        return stream

    def _restore(self, saved: Any, given: tuple[Query, ...], missing: list[str]) -> None:
        plan_queries = saving.same_queries(saved, given)
        plan = saving.plan_of(plan_queries, saved)
        if not missing and plan.fingerprint != saved.fingerprint:
            raise InvalidState.other("a plan whose aggregates are", saved.fingerprint[:12], plan.fingerprint[:12])
        engine = Engine(plan)
        state = saving.state_of(plan, saved)
        if missing:
            adapt(engine, state)
        self._engine, self._state = engine, state
        if plan_queries != given:
            self.queries = plan_queries
            self._change(given)

    # --- looking at it -------------------------------------------------------------------------------

    @property
    def watermark(self) -> Any:
        """The watermark, in the unit of `on`; None before there is one. A time beyond year 9999 is microseconds."""
        if self._engine is None or self._state is None or self._state.watermark == self._engine.plan.measure.lowest:
            return max(self._pending, default=None)
        measure = self._engine.plan.measure
        if self._state.watermark == measure.highest:
            return math.inf
        found = measure.to_arrow(np.array([self._state.watermark], measure.dtype))[0]
        try:
            return found.as_py()
        except (ValueError, OverflowError):  # a time that Python has no date for
            return found.value

    @property
    def plan(self) -> Plan | None:
        """What was decided, once the first rows have told their types."""
        return None if self._engine is None else self._engine.plan

    @property
    def state(self) -> State | None:
        """What is remembered, once there is a plan."""
        return self._state

    @property
    def combines(self) -> int:
        """How often two partials were combined, about: once for each row, and as windows were finished."""
        return 0 if self._engine is None or self._state is None else self._engine.combines + self._state.rows

    @property
    def state_bytes(self) -> int:
        """How much memory the state takes."""
        with self._guard.lock:
            return 0 if self._state is None else self._state.nbytes

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.queries)
        rows = 0 if self._state is None else self._state.rows
        return f"<sash.Stream of {names}: {rows} rows, {self.late_count} late, watermark {self.watermark}>"


def step(plan: Plan, state: State, rows: Any, watermark: Any = None) -> tuple[State, pa.Table, pa.Table]:
    """One push as a function: the state that is given stays as it is; gives the next one, results, and late rows.

    >>> import sash
    >>> from sash.engine.state import State
    >>> queries = [sash.query("n", sash.tumbling(10), n=sash.count())]
    >>> plan = sash.explain({"t": [0]}, queries, on="t")
    >>> state, results, late = step(plan, State.empty(plan), {"t": [3, 11]}, watermark=10)
    >>> results.to_pylist(), late.num_rows
    ([{'query': 'n', 'window_start': 0, 'window_end': 10, 'n': 1}], 0)
    """
    stream = Stream.of(plan, state.copy(), late="keep")
    results = stream.push(rows, watermark)
    assert stream._state is not None
    return stream._state, results, stream.late()


def _awaited(watermark: Any, before: list[Any]) -> Any:
    """The larger of watermarks that come before the first row, when nobody knows yet what `on` is."""
    if isinstance(watermark, np.datetime64):
        watermark = watermark.astype("datetime64[us]").item()
    elif hasattr(watermark, "to_pydatetime"):  # pandas
        watermark = watermark.to_pydatetime(warn=False)
    elif isinstance(watermark, np.generic) and is_number(watermark):
        watermark = watermark.item()
    is_usable = isinstance(watermark, int | float | dt.date) and not isinstance(watermark, bool)
    if not is_usable or watermark != watermark:
        raise InvalidInput.option("watermark", watermark, "a number or a time, as `on` is")
    if math.inf in (watermark, *before):  # the end of the stream, whatever `on` is
        return math.inf
    try:
        return max([*before, watermark])
    except TypeError as error:
        expected = f"of one kind with the one before, {before[0]!r}"
        raise InvalidInput.option("watermark", watermark, expected) from error


def _known(rows: Rows, name: str) -> str:
    return rows.known(name)


def bound(queries: Sequence[Query], rows: Rows) -> dict[str, ColumnType]:
    """The types of all columns that could be asked for; a column may have nulls later even if it has none yet."""
    wanted = dict.fromkeys(name for each in queries for _, template in each.aggregates for name in template.columns)
    wanted |= dict.fromkeys(name for each in queries for name in each.window.columns)
    types = {}
    for name in rows.names:
        if name in wanted:
            types[name] = _type_of(rows, name)
        else:
            try:
                types[name] = _type_of(rows, name)
            except Exception:  # noqa: S112  # a column that nobody asks for may be anything
                continue
    for name in wanted:
        _known(rows, name)
    return types


def _type_of(rows: Rows, name: str) -> ColumnType:
    values = rows.column(name)
    arrow = rows.arrow(name).type
    if pa.types.is_dictionary(arrow):
        arrow = arrow.value_type
    if pa.types.is_null(arrow):
        arrow = pa.float64()
    return ColumnType(replace(values.column, nullable=True), arrow)


def _key_type(rows: Rows, name: str) -> Any:
    return rows.arrow(_known(rows, name)).type


def as_bound(name: str, values: Values, kind: ColumnType) -> tuple[Any, Any]:
    """Data and validity of a column in the type that the plan was made for."""
    data, valid = values.data, values.valid
    field = kind.column.field
    if valid is None:
        valid = np.ones(len(data), np.bool_)
    if field.is_object:
        known = values.column.field
        if (not known.is_object or known.decimal != field.decimal) and valid.any():
            raise InvalidInput.changed(name, values.column, kind.column)
        objects = np.empty(len(data), object)
        objects[:] = data if values.column.field.is_object else [None] * len(data)
        return objects, valid
    if values.column.field.is_object:
        raise InvalidInput.changed(name, values.column, kind.column)
    if values.column.is_time != kind.column.is_time and valid.any():
        raise InvalidInput.changed(name, values.column, kind.column)
    if data.dtype != field.dtype:
        if not np.can_cast(data.dtype, field.dtype, "safe") and valid.any():
            # Whole floats pass for integers, as pandas makes them of integers with nulls.
            fits = data.dtype.kind in "iuf" and field.dtype.kind in "iuf"
            if data.dtype.kind == "f":
                whole = np.isfinite(data) & (np.trunc(data) == data) & (np.abs(data) < 2**53)
                fits = fits and bool((whole | ~valid).all())
                data = np.where(whole, data, 0)
            cast = data.astype(field.dtype) if fits else None
            if cast is None or not (cast.astype(data.dtype) == data)[valid].all():
                raise InvalidInput.changed(name, values.column, kind.column)
        data = data.astype(field.dtype)
    return data, valid


def _one_key(state: State, rows: int) -> Any:
    """Without a key, all rows have the same slot."""
    if rows and not state.keys.capacity:
        state.keys.slots([], 1)
    return np.zeros(rows, np.int64)


def _taken(data: Any, valid: Any, places: Any) -> tuple[Any, Any]:
    return (data, valid) if places is None else (data[places], valid[places])


def _keys_taken(column: Any, places: Any) -> Any:
    if isinstance(column, list):
        return [column[place] for place in places.tolist()]
    return column.take(pa.array(places))
