"""A window of one fixed size that slides by itself while rows arrive: PBA, and SBA on one thread."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate, Template, bind
from sash.algebra.fields import Field, allocate
from sash.algebra.monoid import Column, Monoid, Output, Presence, of_partials
from sash.errors import (
    BrokenWindow,
    EmptyWindow,
    InvalidAggregate,
    InvalidInput,
    NumberOverflow,
    SashError,
    UnsupportedAggregate,
)
from sash.keywords import checked
from sash.swag import values as border
from sash.swag import window_rows
from sash.swag.contract import Answer
from sash.swag.guard import Guard, guarded
from sash.swag.loops import cores
from sash.swag.pba import best_chunk, best_chunk_in_time
from sash.swag.pba_stream import HANDOVER, BoundaryStream, time_of_combine

__all__ = ["FixedWindow", "open_fixed"]


@checked
def open_fixed(
    aggregate: Template,
    size: int,
    *,
    every: int = 1,
    chunk: int | None = None,
    row_ns: int | None = None,
    threads: int | None = None,
    dtype: Any = None,
    handover: int = HANDOVER,
) -> "FixedWindow":
    """Open a window over the newest `size` rows, with a result after every `every` rows.

    The algorithm is PBA: a helper thread folds rows that have arrived while the next ones arrive. If a chunk has fewer
    than `handover` slices, or with `threads=1`, there is no helper. The results are the same.

    A chunk has `chunk` slices of `every` rows. By default it has the length that the PBA paper recommends: by Theorem
    1, or, if a row arrives every `row_ns` nanoseconds, by Theorem 2 and the time that a combine takes.

    The type of the values is `dtype`, or that of the first values inserted.

    >>> import sash
    >>> with sash.swag.open_fixed(sash.max(), size=3) as window:
    ...     window.insert_many([3, 1, 2, 1, 0])
    [3, 3, 3, 2, 2]
    """
    return FixedWindow(
        aggregate, size, every=every, chunk=chunk, row_ns=row_ns, threads=threads, dtype=dtype, handover=handover
    )


class FixedWindow:
    """A window over the newest `size` rows; `open_fixed` makes one.

    The window itself evicts the oldest rows. `close` ends the helper thread; a `with` statement calls it. Threads can
    share the window: each call waits until the previous one is done.

    >>> import sash
    >>> window = sash.swag.open_fixed(sash.sum(), size=4, every=2)
    >>> window.insert_many([1, 2, 3, 4, 5, 6])
    [3, 10, 18]
    >>> window.insert(7); window.insert(8); window.query(), len(window)
    (26, 4)
    >>> window.close()
    """

    def __init__(
        self,
        aggregate: Template,
        size: int,
        *,
        every: int = 1,
        chunk: int | None = None,
        row_ns: int | None = None,
        threads: int | None = None,
        dtype: Any = None,
        handover: int = HANDOVER,
    ) -> None:
        if not isinstance(aggregate, Template):
            raise InvalidAggregate.not_an_aggregate(aggregate)
        self.aggregate = aggregate
        self.size, self.every = border.at_least("size", size, 1), border.at_least("every", every, 1)
        if self.every > self.size:
            raise InvalidInput.option("every", every, f"a whole number from 1 to {self.size}, the size")
        self._row_ns = None if row_ns is None else border.at_least("row_ns", row_ns, 1)
        self._chunk = None if chunk is None else border.at_least("chunk", chunk, 1)
        if self._chunk is not None and self._chunk > self.size // self.every:
            raise InvalidInput.option("chunk", chunk, f"a whole number from 1 to {self.size // self.every}")
        self._threads = min(2, cores()) if threads is None else border.at_least("threads", threads, 1)
        self._handover = border.at_least("handover", handover, 1)
        self._rows = 0
        self._newest: tuple[Any, int] | None = None  # the newest result and its presence
        self._columns: tuple[Column, ...] = ()
        self._monoid: Monoid | None = None
        self._stream: BoundaryStream | None = None
        self._unusable: Callable[[], SashError] | None = None
        self._guard = Guard()
        if dtype is not None:
            self._bind(window_rows.columns_of(dtype, max(1, aggregate.arity)))

    def __len__(self) -> int:
        return min(self._rows, self.size)

    def __repr__(self) -> str:
        return f"<sash window: {self.aggregate.name} of {self.size} rows, every {self.every}>"

    def __enter__(self) -> "FixedWindow":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def chunk(self) -> int | None:
        """How many slices a chunk has; None until the first rows have told how long a combine takes."""
        if self._stream is not None:
            return self._stream.chunk
        return self._chunk if self._row_ns is not None else self._chunk or best_chunk(self.size, self.every)

    @property
    def has_helper(self) -> bool:
        """Whether a helper thread takes part."""
        return self._stream is not None and self._stream.has_helper

    @guarded
    def insert(self, *values: Any) -> None:
        """Insert one row; for an aggregate of several columns, one value each."""
        arity = max(1, self.aggregate.arity)
        if len(values) != arity:
            raise InvalidInput.columns(self.aggregate.name, arity, len(values))
        self._insert(tuple(border.read_one([value]) for value in values))

    @guarded
    def insert_many(self, values: Any) -> Any:
        """Insert a column of rows; return the result of each window that ends, as the same kind of values."""
        columns = border.read(values, max(1, self.aggregate.arity), self.aggregate.name)
        (result,), presences = self._insert(columns)
        if isinstance(result, list) and not self._output.result.is_object:
            result = border.as_array(result, self._output.result)
        missing = None
        if presences:
            presence = np.asarray(presences[0], np.uint8)
            if presence.max(initial=0) == Presence.OVERFLOW:
                raise NumberOverflow.at(self.aggregate.name, int(np.argmax(presence == Presence.OVERFLOW)))
            missing = presence != Presence.VALUE
        source = columns[max(self.aggregate.arity, 1) - 1]
        return border.write(source, result, missing, keeps_type=self.aggregate.selective)

    @guarded
    def query(self) -> Any:
        """Return the newest result: that of the newest `size` rows when the last window ended."""
        self._refuse_if_unusable()
        if self._newest is None:
            raise EmptyWindow.cannot("query")
        value, presence = self._newest
        if presence == Presence.OVERFLOW:
            raise NumberOverflow.at(self.aggregate.name, 0)
        return border.plain(value) if presence == Presence.VALUE else None

    @guarded
    def close(self) -> None:
        """End the helper thread, and free the rows; a second call does nothing."""
        self._end(BrokenWindow.closed)

    # --- steps -----------------------------------------------------------------------------------

    def _insert(self, columns: tuple[border.Values, ...]) -> Answer:
        self._refuse_if_unusable()
        if self._monoid is None:
            self._bind(tuple(replace(each.column, nullable=True) for each in columns))
        monoid, inputs = self._inputs(columns)
        rows = len(columns[0])
        answers = (self._rows + rows) // self.every - self._rows // self.every
        out = self._room(monoid, answers)
        try:
            if self._stream is None and rows:
                self._stream = self._started(monoid, inputs)
            if self._stream is not None:
                self._stream.insert(inputs, out)
        except BaseException as error:  # also if the user interrupts: some of the rows are inserted
            self._end(partial(BrokenWindow.for_good, self.aggregate.name, error))
            if isinstance(error, SashError) or not isinstance(error, Exception):
                raise
            raise InvalidAggregate.breaks_for_good(self.aggregate.name, error) from error
        self._rows += rows
        if answers:
            self._newest = out[0][0][answers - 1], out[1][0][answers - 1] if out[1] else Presence.VALUE
        return out

    def _bind(self, columns: tuple[Column, ...]) -> None:
        for column in columns:
            if column.is_time:
                raise UnsupportedAggregate.of_type("a window moved by hand", column, "numbers, booleans or strings")
        monoid = bind(self.aggregate, columns)
        self._columns, self._monoid = columns, monoid

    def _inputs(self, columns: tuple[border.Values, ...]) -> tuple[Monoid, Any]:
        """Return the arguments of lift; of a user's aggregate the partials, since lift may fail for some row."""
        assert self._monoid is not None
        typed = tuple(border.as_type(each, bound) for each, bound in zip(columns, self._columns, strict=True))
        if isinstance(self.aggregate, Aggregate):
            return self._of_partials(), window_rows.lifted(self.aggregate, self._monoid, typed)
        given = [each.data for each in typed]
        given += [np.ones(len(each), np.bool_) if each.valid is None else each.valid for each in typed]
        if not self._monoid.is_compiled:
            given = [each.tolist() if isinstance(each, np.ndarray) else each for each in given]
        return self._monoid, tuple(given)

    @property
    def _output(self) -> Output:
        assert self._monoid is not None
        return self._monoid.outputs[0]

    def _of_partials(self) -> Monoid:
        assert self._monoid is not None
        return self._stream.aggregate if self._stream is not None else of_partials(self._monoid)

    def _room(self, monoid: Monoid, answers: int) -> Answer:
        results = tuple(each.result.empty(answers, monoid.is_compiled) for each in monoid.outputs)
        presences = tuple(Field("u1") for each in monoid.outputs if each.presence)
        return results, allocate(presences, answers, compiled=True)

    def _started(self, monoid: Monoid, inputs: Any) -> BoundaryStream:
        chunk = self._chunk
        if chunk is None and self._row_ns is not None:
            row = 1000 * self._row_ns  # in picoseconds, as the time of a combine
            taken = time_of_combine(monoid, inputs)
            chunk = min(self.size // self.every, best_chunk_in_time(self.size * row, self.every * row, taken))
        return BoundaryStream(
            monoid, self.size, self.every, chunk=chunk, threads=self._threads, handover=self._handover
        )

    def _refuse_if_unusable(self) -> None:
        if self._unusable is not None:
            raise self._unusable()

    def _end(self, reason: Callable[[], SashError]) -> None:
        """Join the helper; all later calls raise the reason."""
        stream, self._stream = self._stream, None
        self._unusable = self._unusable or reason
        if stream is not None:
            stream.close()
