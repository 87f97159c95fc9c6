"""PBA, the Parallel Boundary Aggregator: SBA with its backward sweeps on a second thread.

Idea      The suffix folds of a chunk are needed only after the chunk, and depend on nothing else.
          So while one thread extends prefixes and writes results in one chunk, another sweeps a
          chunk backward. Neither waits if sweeping is not slower than answering. Short chunks are
          handed over many at a time, as a batch.
Picture     batch     t-1            t              t+1
            main      answers t-1 →  answers t   →  answers t+1
            second    ← sweeps t-1   ← sweeps t     ← sweeps t+1        suffixes go over by a queue
            suffixes  [ last chunk of t-1 | e | chunk 1 of t | e | … ]   e: the empty suffix
Keeps     K1  when batch t is answered, the suffixes of t-1 and of t but for its last chunk are complete:
              their future has been awaited
          K2  at most two batches of suffixes exist: one being read, one being written
Combines  of an array 3 per row, 1 of them on the second thread; of a stream (`pba_stream`) 4, 2 of them there.
Space     of an array 2 batches: 2n + 2 partials, or a few times HANDOVER; of a stream (3n + 13)/2 partials.
Needs     associativity.  Order  first in, first out, one fixed size. The chunk of a stream is best_chunk
          (Theorem 1), or best_chunk_in_time (Theorem 2); of a whole array it is the window, for then windows have
          two pieces.
From      Zhang, Akbarinia, Toumani. Efficient Incremental Computation of Aggregations over Sliding
          Windows. KDD 2021.
"""

from concurrent.futures import Future, ThreadPoolExecutor

from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.contract import Answer
from sash.swag.facts import Bound, Cost, Facts, Sizes, Space
from sash.swag.sba import sweep_back, sweep_forward

__all__ = ["FACTS", "best_chunk", "best_chunk_in_time", "run"]

FACTS = Facts(
    title="PBA",
    # Of a stream whose helper is in time: csa, and on the helper a sweep and a total. An array takes one less.
    insert=Cost(Bound(3), Bound(3)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(1), Bound(1)),
    space=Space(Bound(6.5, linear=1.5), Bound(4), rounded=False),  # of a stream: (3n + 13)/2
    sizes=Sizes.FIXED,
    threads=2,
    paper="Zhang, Akbarinia, Toumani. KDD 2021",
)


HANDOVER = 1 << 16  # rows of a batch at least: a handover takes 0.2 ms (one per row: 0.005 million rows/s)


def best_chunk(size: int, every: int) -> int:
    """Return how many slices make a chunk, for a window of `size` rows that slides by `every` (Theorem 1).

    >>> best_chunk(10, 2), best_chunk(1024, 1)
    (4, 513)
    """
    slices, rest = divmod(size, every)
    if slices <= every + rest + 1:
        return max(1, slices)
    return (every * (slices + 1) + rest + 1) // (every + 1)


def best_chunk_in_time(size: int, every: int, combine_time: int) -> int:
    """Return the same for a window in time, where a combine takes `combine_time` (Theorem 2).

    All three are whole numbers of one unit, such as nanoseconds. C is `rest` and a combine: the paper's
    s (r mod s) is not a time.

    >>> best_chunk_in_time(3_600_000_000, 10_000, 1), best_chunk_in_time(3_600_000_000, 1_000, 10_000)
    (359965, 1885715)
    """
    slices, rest = divmod(size, every)
    extra = rest + combine_time if rest else 0
    if slices * combine_time <= every + 2 * combine_time + extra:
        return max(1, slices)
    period = every + 2 * combine_time
    return (slices * (every + combine_time) + period + extra) // period


@kernel
def _back(aggregate: Monoid, inputs: Fields, begin: int, end: int, size: int, suffixes: Fields) -> None:
    """Write suffixes of the chunks that end in (begin, end], each followed by the empty suffix."""
    first = 0
    for chunk in range(begin, end, size):
        sweep_back(aggregate, inputs, chunk, size, suffixes, first)
        store(suffixes, first + size, identity(aggregate))
        first += size + 1


@kernel
def _forward(aggregate: Monoid, inputs: Fields, begin: int, end: int, size: int, suffixes: Fields, out: Answer) -> None:
    first = 0
    for chunk in range(begin, end, size):
        sweep_forward(aggregate, inputs, chunk, min(size, end - chunk), suffixes, first, out)
        first += size + 1


def run(aggregate: Monoid, inputs: Fields, size: int, out: Answer) -> None:
    """Write the result of every row; while one batch is answered, the second thread sweeps the next one."""
    rows = length(inputs)
    chunks = max(1, HANDOVER // size)
    batch = chunks * size
    suffixes, spare = (aggregate.allocate(chunks * (size + 1)) for _ in range(2))
    _back(aggregate, inputs, -size, min(batch, rows) - size, size, suffixes)
    with ThreadPoolExecutor(1) as second:
        for begin in range(0, rows, batch):
            end = min(begin + batch, rows)
            swept: Future[None] | None = None
            if end < rows:
                swept = second.submit(_back, aggregate, inputs, end - size, min(end + batch, rows) - size, size, spare)
            _forward(aggregate, inputs, begin, end, size, suffixes, out)
            if swept is not None:
                swept.result()
            suffixes, spare = spare, suffixes
