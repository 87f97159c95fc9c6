"""A stream in this process: push rows, move the watermark, save and restore."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Never

import numpy as np
import pyarrow as pa

from sash.engine import stream_bytes
from sash.engine.conditions import conditions_of
from sash.engine.input_rows import read_input, types_of
from sash.engine.observation import Observation, Observer, Observers, Rejected
from sash.engine.options import Emit, Late, Store, options_of, with_free_names, with_key_names
from sash.engine.query_changes import adapt
from sash.engine.row_buffer import RowBuffer
from sash.engine.state import State
from sash.engine.step import Engine
from sash.engine.tables import Rows, read_rows
from sash.engine.watermark import pending_watermark
from sash.errors import BrokenStream, InvalidInput, InvalidQuery, InvalidState, UnknownAttribute, UnknownName
from sash.keywords import checked
from sash.plan.plan import Options, Plan
from sash.plan.planner import make_plan
from sash.plan.query import Query, named_queries, some_queries
from sash.plan.share import ColumnType
from sash.swag.guard import Guard, guarded

__all__ = ["Stream"]


@checked
class Stream:
    """Windows over a stream of rows, pushed table by table.

    A table is of any kind, or a dict of lists. Windows are emitted when the watermark has reached their end. You pass
    the watermark to `push`. With `watermark="10 seconds"`, the watermark is the largest position minus 10 seconds,
    after each push. With `in_order=True`, each row moves the watermark to its own position. Rows that are late by at
    most `allowed_lateness` are accepted. If they change windows that were already emitted, exactly these windows are
    emitted again, with the next revision. Rows that are later than this are rejected: the stream counts them, and keeps
    them with `late="keep"`. `store` has the same meaning as in `sash.aggregate`.

    Threads may share a stream: each call waits for the one before it, so rows are processed in the order of the calls.
    `push` calls the functions of your own aggregates and windows. They must not call the stream.

    >>> import sash
    >>> peaks = sash.query("peaks", sash.tumbling(10), peak=sash.max("load"))
    >>> stream = sash.Stream([peaks], on="t", by="plug")
    >>> stream.push({"t": [1, 7, 12], "plug": ["a", "a", "b"], "load": [3, 5, 4]}).num_rows
    0
    >>> stream.push({}, watermark=10).to_pylist()
    [{'plug': 'a', 'query': 'peaks', 'window_start': 0, 'window_end': 10, 'peak': 5}]
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
        emit: Emit = "final",
        late: Late = "count",
        store: Store = "auto",
    ) -> None:
        wanted = some_queries(queries)
        options = with_free_names(options_of(on, by, allowed_lateness, watermark, in_order, emit, store=store))
        if late not in ("count", "keep"):
            raise InvalidInput.option("late", late, "'count' or 'keep'")
        self._start(wanted, options, late)

    def _start(self, queries: tuple[Query, ...], options: Options, late: str) -> None:
        self.queries, self.options, self._keeps_late = queries, options, late == "keep"
        self._rejected_rows: list[pa.Table] = []
        self._pending: list[Any] = []  # watermarks that came before the first row
        self._engine: Engine | None = None
        self._state: State | None = None
        self._types: dict[str, ColumnType] = {}
        self._buffer: RowBuffer | None = None
        self._conditions, self._guard, self._observers = conditions_of(queries), Guard(), Observers()

    @classmethod
    def with_options(cls, queries: Query | Sequence[Query], options: Options, late: str = "count") -> "Stream":
        """Create a stream with checked options: those of a table, or some with other limits."""
        wanted = some_queries(queries)
        stream = cls.__new__(cls)
        stream._start(wanted, options, late)
        return stream

    @classmethod
    def of(
        cls,
        plan: Plan,
        state: State | None = None,
        queries: Sequence[Query] = (),
        types: Mapping[str, ColumnType] | None = None,
        late: str = "count",
    ) -> "Stream":
        """Create a stream with an existing plan; `queries` and `types` are needed to save it."""
        stream = cls.__new__(cls)
        stream.options, stream.queries = plan.options, tuple(queries)
        stream._keeps_late, stream._rejected_rows = late == "keep", []
        stream._pending, stream._types = [], dict(plan.columns if types is None else types)
        stream._conditions = conditions_of(stream.queries)
        stream._use(Engine(plan), State.empty(plan) if state is None else state)
        stream._guard, stream._observers = Guard(), Observers()
        return stream

    def __getattr__(self, name: str) -> Never:
        if name in ("flush", "close", "end", "finish", "stop", "drain"):
            raise UnknownAttribute.of_stream(name)
        if name in ("append", "insert", "send", "update", "write", "feed", "process", "ingest", "add_rows"):
            raise UnknownAttribute.of_kind("sash.Stream", name, "stream.push(rows)")
        raise AttributeError(f"'Stream' object has no attribute {name!r}")

    # --- rows in, results out ----------------------------------------------------------------------

    @guarded
    def push(self, rows: Any, watermark: Any = None) -> pa.Table:
        """Add rows, move the watermark, and return the windows that are due; bad input has no effect."""
        observers = self._observers.all
        began = time.monotonic() if observers else 0.0
        if watermark is None and self._buffer is not None and self._buffer.add(self._state, rows):
            results = self._buffer.no_results
        else:
            results = self._advance(rows, watermark, None)
        return self._observers.show(self, rows, results, began) if observers else results

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Call `observer` with an `Observation` at the end of each push; return a function that ends this.

        An observer that raises an error is removed, and the push succeeds. An observer must not push.
        """
        return self._observers.add(observer)

    @guarded
    def inspect(self, observer: Observer) -> None:
        """Call `observer` once with an `Observation` of no rows, between two pushes."""
        observer(Observation(self, {}, pa.table({})))

    @guarded
    def advance(self, rows: Any, watermark: Any = None, *, newest: Any = None) -> pa.Table:
        """Push rows to one of several streams with one watermark, which follows `newest`, the newest row of all."""
        return self._advance(rows, watermark, newest)

    @guarded
    def replay(self, rows: Any, watermark: Any = None, *, newest: Any = None) -> None:
        """Change the state as `advance` does, without results, for rows whose results were emitted before."""
        self._advance(rows, watermark, newest, wants_results=False)

    def _advance(self, rows: Any, watermark: Any, newest: Any, wants_results: bool = True) -> pa.Table:
        self._place_buffered()
        given = read_rows(rows)
        if self._engine is not None and self._state is not None:
            self._state, results = self._push(self._engine, self._state, given, watermark, newest, wants_results)
            return results
        if not given.names:
            if watermark is not None:
                self._pending = [pending_watermark(watermark, self._pending)]
            return pa.table({})
        engine, state, types = self._begin(given)
        state, results = self._push(engine, state, given, watermark, newest, wants_results)
        # Not before: if the first rows are refused, the next ones may have other types.
        self._use(engine, state)
        self.options, self._types, self._pending = engine.plan.options, types, []
        return results

    def _use(self, engine: Engine, state: State) -> None:
        self._engine, self._state = engine, state
        self._buffer = None if self._conditions else RowBuffer.of(engine)

    def _place_buffered(self) -> None:
        """Place buffered rows, before anything reads the state."""
        if self._buffer is not None and self._state is not None:
            self._buffer.place(self._state)

    def _push(
        self, engine: Engine, state: State, given: Rows, watermark: Any, newest: Any, wants_results: bool
    ) -> tuple[State, pa.Table]:
        if state.broken is not None:
            raise BrokenStream.since(state.broken)
        mark = None if watermark is None else engine.plan.measure.position(watermark)
        read = read_input(engine.plan, self._conditions.rows(given))
        before = state.watermark
        state, results, rejected = engine.step(state, read, mark, newest, wants_results)
        if len(rejected):
            self._observers.rejected = Rejected(given, rejected, before) if self._observers.all else None
            if self._keeps_late:
                self._rejected_rows.append(given.table().take(pa.array(rejected)))
        return state, results

    def finish(self) -> pa.Table:
        """End the stream, and return all windows that are complete.

        >>> import sash
        >>> stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t")
        >>> stream.push({"t": [1, 2]}).num_rows, stream.finish().to_pylist()
        (0, [{'query': 'n', 'window_start': 0, 'window_end': 10, 'n': 2}])
        """
        return self.push({}, watermark=math.inf)

    def _begin(self, rows: Rows) -> tuple[Engine, State, dict[str, ColumnType]]:
        """Make a plan, for which the types of the first rows are needed; apply watermarks that came before them."""
        wanted, rows = self._conditions.rewrite(self.queries), self._conditions.rows(rows)
        types = types_of(wanted, rows, may_change=not self.options.is_table)
        measure = rows.measure(rows.known(self.options.on))
        keys = [rows.arrow(rows.known(name)).type for name in self.options.by]
        plan = make_plan(wanted, with_key_names(self.options, rows.names), types, measure, keys)
        state, engine = State.empty(plan), Engine(plan)
        pending, self._pending = self._pending, []  # a wrong one raises an error once
        for each in pending:
            state.watermark = engine.watermarks.after(state.watermark, measure.lowest, measure.position(each))
        self._pending = pending
        return engine, state, types

    # --- rejected rows -------------------------------------------------------------------------------

    @property
    def late_count(self) -> int:
        """The number of rejected rows, which came too late or had no position; they are in no window."""
        return 0 if self._state is None else self._state.rejected

    @guarded
    def late(self) -> pa.Table:
        """Return the rejected rows since the last call, with `late="keep"`.

        >>> import sash
        >>> tens = sash.query("n", sash.tumbling(10), n=sash.count())
        >>> stream = sash.Stream(tens, on="t", late="keep")
        >>> _ = stream.push({"t": [11]}, watermark=10), stream.push({"t": [3, 12]})
        >>> stream.late().to_pylist(), stream.late_count
        ([{'t': 3}], 1)
        """
        if not self._keeps_late:
            raise InvalidInput.option("late", "count", "'keep' to get late rows: Stream(…, late='keep')")
        kept, self._rejected_rows = self._rejected_rows, []
        return pa.concat_tables(kept, promote_options="permissive") if kept else pa.table({})

    # --- adding and removing queries --------------------------------------------------------------------

    @guarded
    def add(self, query: Query) -> None:
        """Add a query; it uses the slices that still exist, and emits windows that end after the watermark.

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
        """Remove a query, and free what only this query needed.

        >>> import sash
        >>> a, b = (sash.query(name, sash.tumbling(10), n=sash.count()) for name in "ab")
        >>> stream = sash.Stream([a, b], on="t"); stream.remove("a")
        >>> [query.name for query in stream.queries]
        ['b']
        """
        if name not in {each.name for each in self.queries}:
            raise UnknownName.of("query", name, [each.name for each in self.queries])
        self._change(tuple(each for each in self.queries if each.name != name))

    @guarded
    def learn(self, types: Mapping[str, ColumnType]) -> None:
        """Add the types of columns that no query has read yet."""
        self._types = {**self._types, **types}

    def _change(self, queries: tuple[Query, ...]) -> None:
        queries = named_queries(queries)
        self._place_buffered()
        conditions = conditions_of(queries)
        if self._engine is None or self._state is None:
            self.queries, self._conditions = queries, conditions
            return
        old = self._engine.plan
        types = conditions.types(self._types)
        plan = make_plan(conditions.rewrite(queries), self.options, types, old.measure, old.key_types)
        engine = Engine(plan)
        # Users' functions may fail: then the state must be unchanged.
        state = self._state.copy() if plan.calls_user_functions else self._state
        adapt(engine, state)
        self.queries, self._conditions, self._types = queries, conditions, types
        self._use(engine, state)

    # --- saving and restoring ---------------------------------------------------------------------------

    @guarded
    def save(self) -> bytes:
        """Return the whole state of the stream as bytes, which contain no code.

        >>> import sash
        >>> ten = sash.query("ten", sash.tumbling(10), n=sash.count())
        >>> stream = sash.Stream(ten, on="t")
        >>> _ = stream.push({"t": [1, 7]})
        >>> sash.Stream.restore(stream.save(), ten).finish().column("n").to_pylist()
        [2]
        """
        self._place_buffered()
        if self._state is not None and self._state.broken is not None:
            raise BrokenStream.since(self._state.broken)
        return stream_bytes.save(
            self.queries,
            self.options,
            self._types,
            self._engine,
            self._state,
            self._rejected_rows,
            self._keeps_late,
            self._pending,
        )

    @classmethod
    def restore(cls, blob: bytes, queries: Query | Sequence[Query]) -> "Stream":
        """Restore a saved stream; `queries` may contain new ones, and lack some of the saved ones."""
        given = named_queries(queries)
        return cls.of_saved(stream_bytes.load(blob), given)

    @classmethod
    def of_saved(cls, saved: stream_bytes.Saved, given: tuple[Query, ...]) -> "Stream":
        """Restore a stream from loaded bytes; `load` sets its limits."""
        if saved.queries and not given:
            raise InvalidQuery.none()
        stream = cls.__new__(cls)
        stream.options = saved.options
        stream._keeps_late, stream._rejected_rows = saved.keeps_late, saved.late_rows
        stream._pending, stream._types = saved.pending, saved.types
        stream._engine = stream._state = stream._buffer = None
        stream._guard, stream._observers = Guard(), Observers()
        old = dict(saved.queries)
        for query in given:
            if old.get(query.name, str(query)) != str(query):
                raise InvalidState.changed_query(query.name, old[query.name], str(query))
            stream_bytes.check_functions(saved, query)
        both = [each for each in given if each.name in old]
        missing = [name for name in old if name not in {each.name for each in given}]
        stream.queries, stream._conditions = given, conditions_of(given)
        if saved.state is None:
            return stream
        if missing and not both:
            raise InvalidState.other_queries(list(old), [each.name for each in given])
        stream._restore(saved, given, missing)
        return stream

    def _restore(self, saved: stream_bytes.Saved, given: tuple[Query, ...], missing: list[str]) -> None:
        plan_queries = stream_bytes.same_queries(saved, given)
        plan = stream_bytes.plan_of(plan_queries, saved)
        if not missing and plan.fingerprint != saved.fingerprint:
            raise InvalidState.other("aggregates of fingerprint", saved.fingerprint[:12], plan.fingerprint[:12])
        engine = Engine(plan)
        state = stream_bytes.state_of(plan, saved)
        if missing:
            adapt(engine, state)
        self._use(engine, state)
        if plan_queries != given:
            self.queries = plan_queries
            self._change(given)

    # --- inspection -------------------------------------------------------------------------------

    @property
    def watermark(self) -> Any:
        """The watermark in the unit of `on`; None before there is one. After the year 9999, it is in microseconds."""
        if self._engine is None or self.state is None or self.state.watermark == self._engine.plan.measure.lowest:
            return max(self._pending, default=None)
        measure = self._engine.plan.measure
        if self.state.watermark == measure.highest:
            return math.inf
        found = measure.to_arrow(np.array([self.state.watermark], measure.dtype))[0]
        try:
            return found.as_py()
        except (ValueError, OverflowError):  # a time that Python has no date for
            return found.value

    @property
    def plan(self) -> Plan | None:
        """The plan; None before the first rows."""
        return None if self._engine is None else self._engine.plan

    @property
    def state(self) -> State | None:
        """The state; None before the first rows."""
        with self._guard.lock:
            self._place_buffered()
            return self._state

    @property
    def combines(self) -> int:
        """The approximate number of combines of two partials: one for each row, and those of finished windows."""
        return 0 if self._engine is None or self.state is None else self._engine.trigger.combines + self.state.rows

    @property
    def state_bytes(self) -> int:
        """The memory of the state in bytes."""
        with self._guard.lock:
            return 0 if self.state is None else self.state.nbytes

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.queries)
        rows = 0 if self.state is None else self.state.rows
        return f"<sash.Stream of {names}: {rows} rows, {self.late_count} late, watermark {self.watermark}>"
