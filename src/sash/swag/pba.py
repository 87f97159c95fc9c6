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
Combines  3 per row, 1 of them on the second thread.  Space 2 batches: 2n, or a few times HANDOVER.
Needs     associativity.  Order  rows of an array, one fixed size. The chunk of a stream is best_chunk
          (Theorem 1, in `sba`); of a whole array it is the window, for then windows have two pieces.
From      Zhang, Akbarinia, Toumani. Efficient Incremental Computation of Aggregations over Sliding
          Windows. KDD 2021.
"""

from concurrent.futures import Future, ThreadPoolExecutor

from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.contract import Answer, Bound, Cost, Facts, Sizes
from sash.swag.sba import sweep_back, sweep_forward

__all__ = ["FACTS", "run"]

FACTS = Facts(
    title="PBA",
    insert=Cost(Bound(2), Bound(2)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(1), Bound(1)),
    space=Bound(2, linear=2),
    sizes=Sizes.FIXED,
    threads=2,
    paper="Zhang, Akbarinia, Toumani. KDD 2021",
)


HANDOVER = 1 << 16  # rows of a batch at least: a handover takes 0.2 ms (one per row: 0.005 million rows/s)


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
