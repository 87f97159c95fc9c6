"""PBA as a stream: rows arrive on one thread, complete chunks are folded on a helper thread.

Idea      Cut the slices of the stream into chunks. A window that ends in a chunk is a suffix of an
          earlier chunk, whole chunks, and a prefix of its own chunk. While rows arrive in a chunk, the
          helper sweeps the chunk before it backward. It also combines the suffixes that the windows
          of this chunk begin with and the totals of the chunks between, so that the thread with the
          rows does 2 combines per slice and the helper 2. What the helper has not begun when it is
          needed, the thread with the rows does itself.
Picture     slices    … | chunk i-2          | chunk i-1          | chunk i
            main                                                    saa → csa, answers
            helper        lcs ⊕ ca(i-1) →      ← lcs                              on the slices' own slots
            window          [p                                          t]   answer = front[p] ⊕ csa
Letters   b slices in a chunk, q = ⌊size / every⌋ whole slices in a window, k = ⌊q / b⌋; ca(j) is the total
          of chunk j, csa the fold of what has arrived in chunk i, bi = i·b the boundary before it
Keeps     K1  bi ≤ t: slot of t = pt, csa = pbi ⊕ … ⊕ pt-1
          K2  p in [bi + 1 - q, bi + b - q], before bi, once its piece is finished: slot = pp ⊕ … ⊕ pbi-1
          K3  later p before bi, once the sweep of its chunk is finished: slot = fold of p to the end of its chunk
          K4  no chunk is extended before its sweep is finished; a chunk has no unfinished work when it is reused
Combines  per slide: main 2, helper 2; one more on main if `every` does not divide `size`.
Space     ⌈(q - 1)/b⌉ + 1 chunks, their totals and csa: for slides of one row 3·⌊(n + 2)/2⌋ + 2 ≤ (3n + 13)/2 partials.
Needs     associativity.  Order  first in, first out, one fixed size.
From      Zhang, Akbarinia, Toumani. Efficient Incremental Computation of Aggregations over Sliding
          Windows. KDD 2021, section 4. There, the thread with the rows also combines the totals.

Slices are cut at the starts of windows. If `every` does not divide `size`, a window ends with the first `rest` rows
of the open slice.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from sash.algebra.compiler import bound_kernel, kernel
from sash.algebra.fields import Fields, Partial, length, load, store
from sash.algebra.monoid import Monoid, combine, emit, identity, lift
from sash.swag.contract import Answer, identities, integers
from sash.swag.pba import best_chunk
from sash.swag.ring import fold_all

__all__ = ["HANDOVER", "PIECE", "BoundaryStream", "time_of_combine"]

# A chunk of fewer slices is folded by the thread with the rows: a handover takes as long as some thousand combines.
HANDOVER = 1 << 13
PIECE = 1 << 14  # slices that the helper extends at a time, so that the first ones are soon available

TOTAL, OPEN, WAITING = range(3)  # slots of `folds`: csa, the open slice, the window that still gets `rest` rows
FILLED, FRONT, BACK, PLACE = range(4)  # in `cursor`: rows of the open slice; slots of p and t; answers written


# --- kernels -------------------------------------------------------------------------------------


@kernel
def _answer_rows(
    aggregate: Monoid, inputs: Fields, begin: int, end: int, cursor: Any, buffers: tuple[Fields, ...], out: Answer
) -> None:
    """Write an answer for each row: every slice is a row."""
    folds, front, chunk = buffers
    results, presences = out
    first, last, place = cursor[FRONT] - begin, cursor[BACK] - begin, cursor[PLACE] - begin
    total = load(folds, TOTAL)
    for row in range(begin, end):
        one = lift(aggregate, load(inputs, row))
        store(chunk, last + row, one)
        total = combine(aggregate, total, one)
        emit(aggregate, results, presences, place + row, combine(aggregate, load(front, first + row), total))
    store(folds, TOTAL, total)
    cursor[FRONT] += end - begin
    cursor[BACK] += end - begin
    cursor[PLACE] += end - begin


@kernel
def _answer_slices(
    aggregate: Monoid,
    inputs: Fields,
    begin: int,
    end: int,
    every: int,
    rest: int,
    cursor: Any,
    buffers: tuple[Fields, ...],
    out: Answer,
) -> None:
    """Write an answer for each `every` rows."""
    folds, front, chunk = buffers
    results, presences = out
    for row in range(begin, end):
        opened = combine(aggregate, load(folds, OPEN), lift(aggregate, load(inputs, row)))
        cursor[FILLED] += 1
        if cursor[FILLED] == every:
            store(chunk, cursor[BACK], opened)
            total = combine(aggregate, load(folds, TOTAL), opened)
            store(folds, TOTAL, total)
            answer = combine(aggregate, load(front, cursor[FRONT]), total)
            cursor[FRONT] += 1
            cursor[BACK] += 1
            cursor[FILLED] = 0
            if rest == 0:
                emit(aggregate, results, presences, cursor[PLACE], answer)
                cursor[PLACE] += 1
            else:
                store(folds, WAITING, answer)
            opened = identity(aggregate)
        elif cursor[FILLED] == rest:
            emit(aggregate, results, presences, cursor[PLACE], combine(aggregate, load(folds, WAITING), opened))
            cursor[PLACE] += 1
        store(folds, OPEN, opened)


@kernel
def _sweep_chunk(aggregate: Monoid, chunk: Fields) -> None:
    """Replace each slice of a chunk by the fold from there to the end of the chunk."""
    suffix = identity(aggregate)
    for place in range(length(chunk) - 1, -1, -1):
        suffix = combine(aggregate, load(chunk, place), suffix)
        store(chunk, place, suffix)


@kernel
def _extend(aggregate: Monoid, suffixes: Fields, begin: int, end: int, totals: Fields, oldest: int, count: int) -> None:
    """Append the totals of the `count` chunks that follow to the suffixes in the slots [begin, end)."""
    between = identity(aggregate)
    for chunk in range(oldest, oldest + count):
        between = combine(aggregate, between, load(totals, chunk % length(totals)))
    for place in range(begin, end):
        store(suffixes, place, combine(aggregate, load(suffixes, place), between))


@kernel
def _lift_all(aggregate: Monoid, inputs: Fields, partials: Fields) -> None:
    for row in range(length(partials)):
        store(partials, row, lift(aggregate, load(inputs, row)))


def time_of_combine(aggregate: Monoid, inputs: Fields, rows: int = 4096) -> int:
    """Measure how many picoseconds a combine of these rows takes: the shortest of three sweeps."""
    partials = aggregate.allocate(min(rows, length(inputs)))
    taken = []
    for _ in range(4):  # the first one compiles
        _lift_all(aggregate, inputs, partials)
        begin = time.perf_counter_ns()
        bound_kernel(_sweep_chunk, aggregate)(partials)
        taken.append(time.perf_counter_ns() - begin)
    return max(1, 1000 * min(taken[1:]) // length(partials))


# --- the helper ----------------------------------------------------------------------------------


class _Handed(NamedTuple):
    """Work that the helper has been given. It is finished exactly once."""

    work: Callable[[], None]
    future: Future[None]

    def finish(self) -> None:
        """Wait for the helper, or do the work here if it has not begun; raise what the work raised."""
        if self.future.cancel():
            self.work()
        else:
            self.future.result()


class _Piece(NamedTuple):
    """Slots of one chunk, from which the next windows begin."""

    chunk: Fields
    first: int
    end: int
    swept: int  # the chunk whose sweep must be finished
    extended: _Handed | None = None


# --- the stream ----------------------------------------------------------------------------------


class BoundaryStream:
    """Windows of `size` rows that slide by `every` over rows that arrive in batches.

    The caller checks arguments, calls from one thread at a time, and does not call again after an error.
    """

    def __init__(
        self,
        aggregate: Monoid,
        size: int,
        every: int = 1,
        *,
        chunk: int | None = None,
        threads: int = 2,
        handover: int = HANDOVER,
        piece: int = PIECE,
    ) -> None:
        self.aggregate, self.size, self.every = aggregate, size, every
        self.slices, self._rest = divmod(size, every)
        self.chunk = best_chunk(size, every) if chunk is None else chunk
        earlier = -(-(self.slices - 1) // self.chunk)
        self._chunks = [identities(aggregate, self.chunk) for _ in range(earlier + 1)]
        self._totals = identities(aggregate, max(0, earlier - 1))
        self._folds = identities(aggregate, 1 + (every > 1) + (self._rest > 0))
        # The front of a window that begins at the boundary itself: only where a chunk is as long as a window.
        self._nothing = identities(aggregate, int(self.chunk == self.slices))
        self._cursor = integers(aggregate, 4)
        self._cursor[FILLED] = self._rest  # rows before the first one, so that windows end at multiples of `every`
        self._index = 0  # of the chunk that grows
        self._sweeps: dict[int, _Handed] = {}
        self._piece = piece
        self._pool = ThreadPoolExecutor(1, "sash-pba") if threads > 1 and self.chunk >= handover else None
        self._pieces: deque[_Piece] = deque(self._plan())
        self._front, self._stop = self._nothing, 0

    @property
    def has_helper(self) -> bool:
        """Whether chunks are long enough to be handed over."""
        return self._pool is not None

    @property
    def partials(self) -> int:
        """How many partials it has room for."""
        parts = (*self._chunks, self._totals, self._folds, self._nothing)
        return sum(length(each) for each in parts)

    def insert(self, inputs: Fields, out: Answer) -> int:
        """Insert rows, write an answer for each window that ends, and return how many there are."""
        cursor, rows, row = self._cursor, length(inputs), 0
        cursor[PLACE] = 0
        while row < rows:
            if cursor[BACK] == self._stop:
                self._next_piece()
            end = min(rows, row + (self._stop - int(cursor[BACK])) * self.every - int(cursor[FILLED]))
            buffers = self._folds, self._front, self._chunks[self._index % len(self._chunks)]
            if self.every == 1:
                bound_kernel(_answer_rows, self.aggregate)(inputs, row, end, cursor, buffers, out)
            else:
                slide = self.every, self._rest
                bound_kernel(_answer_slices, self.aggregate)(inputs, row, end, *slide, cursor, buffers, out)
            row = end
            if cursor[BACK] == self.chunk:
                self._close_chunk()
        return int(cursor[PLACE])

    def finish(self) -> None:
        """Finish all work that the helper has been given."""
        for index in sorted(self._sweeps):
            self._finish_sweep(index)
        for _ in range(len(self._pieces)):
            piece = self._pieces.popleft()
            if piece.extended is not None:
                piece.extended.finish()
            self._pieces.append(piece._replace(extended=None))

    def close(self) -> None:
        """Drop work that has not begun, and end the helper."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    # --- boundaries ------------------------------------------------------------------------------

    def _next_piece(self) -> None:
        piece = self._pieces.popleft()
        self._finish_sweep(piece.swept)
        if piece.extended is not None:
            piece.extended.finish()
        self._front, self._cursor[FRONT] = piece.chunk, piece.first
        self._stop += piece.end - piece.first

    def _close_chunk(self) -> None:
        """Keep the total of the chunk, hand it over to be swept, and begin the next one."""
        if length(self._totals):
            store(self._totals, self._index % length(self._totals), load(self._folds, TOTAL))
        store(self._folds, TOTAL, identity(self.aggregate))
        self._index += 1
        self._cursor[BACK] = self._stop = 0
        self._pieces.extend(self._plan())
        if self.slices > 1:
            complete = self._chunks[(self._index - 1) % len(self._chunks)]
            handed = self._hand_over(partial(bound_kernel(_sweep_chunk, self.aggregate), complete))
            if handed is not None:
                self._sweeps[self._index - 1] = handed

    def _plan(self) -> list[_Piece]:
        """Return where the windows that end in this chunk begin; hand over the slots that need totals."""
        pieces, length_ = [], self.chunk
        start = self._index * length_ + 1 - self.slices
        for index in range(start // length_, (start + length_ - 1) // length_ + 1):
            chunk = self._chunks[index % len(self._chunks)]
            first, end = max(0, start - index * length_), min(length_, start + length_ - index * length_)
            between = self._index - 1 - index
            if between < 0:
                pieces.append(_Piece(self._nothing, 0, end - first, index))
            elif between == 0:
                pieces.append(_Piece(chunk, first, end, index))
            else:
                self._finish_sweep(index)  # K4
                for low in range(first, end, self._piece):
                    high = min(end, low + self._piece)
                    oldest = (index + 1) % length(self._totals)
                    extend = bound_kernel(_extend, self.aggregate)
                    work = partial(extend, chunk, low, high, self._totals, oldest, between)
                    pieces.append(_Piece(chunk, low, high, index, self._hand_over(work)))
        return pieces

    def _hand_over(self, work: Callable[[], None]) -> _Handed | None:
        """Give work to the helper; without one, do it now."""
        if self._pool is None:
            work()
            return None
        return _Handed(work, self._pool.submit(work))

    def _finish_sweep(self, index: int) -> None:
        handed = self._sweeps.pop(index, None)
        if handed is not None:
            handed.finish()

    # --- tests -----------------------------------------------------------------------------------

    def check(self, slices: list[Partial]) -> None:
        """Assert the K-lines; `slices` are the partials of all slices since the start."""
        self.finish()
        boundary, arrived = self._index * self.chunk, int(self._cursor[BACK])
        assert len(slices) == boundary + arrived

        def fold(start: int, end: int) -> Partial:
            return fold_all(self.aggregate, slices[max(0, start) : max(0, end)])

        def slot(position: int) -> Partial:
            index, place = divmod(position, self.chunk)
            return load(self._chunks[index % len(self._chunks)], place)

        assert load(self._folds, TOTAL) == fold(boundary, boundary + arrived), "K1"
        for position in range(boundary, boundary + arrived):
            assert slot(position) == fold(position, position + 1), "K1"
        for position in range(boundary + arrived + 1 - self.slices, boundary):
            if position <= boundary + self.chunk - self.slices:
                assert slot(position) == fold(position, boundary), "K2"
            else:
                assert slot(position) == fold(position, (position // self.chunk + 1) * self.chunk), "K3"
