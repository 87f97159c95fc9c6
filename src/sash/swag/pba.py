"""PBA, the Parallel Boundary Aggregator: SBA with its backward sweeps on a second thread.

Idea      The suffix folds of a chunk are needed only after the chunk, and depend on nothing else.
          So while one thread grows prefixes and gives answers in one chunk, another sweeps a chunk
          backward. Neither waits if sweeping is not slower than answering.
Picture     chunk     c-1            c              c+1
            main      answers c-1 →  answers c   →  answers c+1
            second    ← sweeps c-1   ← sweeps c     ← sweeps c+1        suffixes go over by a queue
Keeps     K1  when chunk c is answered, suffixes[c-1] is complete: its future has been awaited
          K2  at most two chunks of suffixes exist: one being read, one being written
Combines  3 per row, 1 of them on the second thread.  Space 2n partials.
Needs     associativity.  Order  rows of an array, one fixed size. The chunk of a stream is best_chunk
          (Theorem 1, in `sba`); of a whole array it is the window, for then windows have two pieces.
From      Zhang, Akbarinia, Toumani. Efficient Incremental Computation of Aggregations over Sliding
          Windows. KDD 2021.
"""

from concurrent.futures import Future, ThreadPoolExecutor

from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length
from sash.algebra.monoid import Monoid
from sash.swag.contract import Bound, Cost, Facts, Sizes
from sash.swag.sba import scratch, sweep_back, sweep_forward

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


@kernel
def _back(aggregate: Monoid, inputs: Fields, chunk: int, size: int, suffixes: Fields) -> None:
    sweep_back(aggregate, inputs, chunk, size, suffixes)


@kernel
def _forward(
    aggregate: Monoid, inputs: Fields, chunk: int, rows: int, suffixes: Fields, results: Fields, presences: Fields
) -> None:
    sweep_forward(aggregate, inputs, chunk, rows, suffixes, results, presences)


def run(aggregate: Monoid, inputs: Fields, size: int, results: Fields, presences: Fields) -> None:
    """Answer every row; the sweep of a chunk runs beside the answers of the same chunk."""
    rows = length(inputs)
    suffixes, spare = scratch(aggregate, size)
    _back(aggregate, inputs, -size, size, suffixes)  # before the first chunk there is nothing
    with ThreadPoolExecutor(1) as second:
        for chunk in range(0, rows, size):
            swept: Future[None] | None = None
            if chunk + size < rows:
                swept = second.submit(_back, aggregate, inputs, chunk, size, spare)
            _forward(aggregate, inputs, chunk, min(size, rows - chunk), suffixes, results, presences)
            if swept is not None:
                swept.result()
            suffixes, spare = spare, suffixes
