"""Doubling: small windows over a whole array, every pass a plain loop over neighbours.

Idea      Folds of 2, 4, 8 … neighbouring rows come from two folds of half that length, all rows at
          once. A window is put together from those whose lengths are the bits of its size. More
          combines than any other algorithm, but no row waits for another, so that compilers turn
          each pass into vector instructions; a block of rows stays in the nearest cache throughout.
Picture     size = 5 = 1 + 4        fold[i] = pi … pi+step-1
            step 1   answer[i] = fold[i]                         covers i
            step 2   (bit not set)     fold[i] ← fold[i] ⊕ fold[i+1]
            step 4   answer[i] ← answer[i] ⊕ fold[i+1]           covers i … i+4
Keeps     K1  before a pass with step: fold[i] = pi ⊕ … ⊕ pi+step-1
          K2  answer[i] = pi ⊕ … ⊕ pi+have-1, have = the bits of size below step
Combines  at most 2 log₂ n per row.  Space: two blocks.
Needs     associativity.  Order  rows of an array, one fixed size.
From      The binary decomposition behind base intervals (Arasu, Widom. VLDB 2004), without the tree.
"""

from typing import Any

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, load, store
from sash.algebra.monoid import Monoid, combine, emit, identity, lift
from sash.swag.contract import Bound, Cost, Facts, Sizes

__all__ = ["FACTS", "scratch", "sweep"]

FACTS = Facts(
    title="Doubling",
    insert=Cost(Bound(log=2), Bound(log=2)),
    evict=Cost(Bound(0), Bound(0)),
    query=Cost(Bound(0), Bound(0)),
    space=Bound(4096),
    sizes=Sizes.FIXED,
    paper="after Arasu, Widom. VLDB 2004",
)
BLOCK = 1024  # rows; 8 KiB per field and buffer: four of them stay in a first-level cache of 32 KiB


def scratch(aggregate: Monoid, size: int) -> tuple[Fields, ...]:
    """Two buffers for folds and two for answers, so that a pass never writes what it reads."""
    return tuple(aggregate.allocate(BLOCK + size) for _ in range(4))


def sweep(
    aggregate: Monoid,
    inputs: Fields,
    size: int,
    begin: int,
    end: int,
    scratch: Any,
    results: Fields,
    presences: Fields,
) -> None:
    folds, next_folds, answers, next_answers = scratch
    row = begin
    if row < size:  # the first windows are shorter: prefixes
        prefix = identity(aggregate)
        for older in range(min(size - 1, end)):
            prefix = combine(aggregate, prefix, lift(aggregate, load(inputs, older)))
            if older >= begin:
                emit(aggregate, results, presences, older, prefix)
        row = max(begin, size - 1)
    while row < end:
        count = min(BLOCK, end - row)
        first = row - size + 1
        rows = count + size - 1
        _lift_block(aggregate, inputs, first, rows, folds)
        step, have = 1, 0
        while step <= size:
            if size & step:
                if have == 0:
                    _copy(folds, answers, rows - step + 1)
                else:
                    _join(aggregate, answers, folds, have, rows - have - step + 1, next_answers)
                    answers, next_answers = next_answers, answers
                have += step
            if 2 * step <= size:
                _join(aggregate, folds, folds, step, rows - 2 * step + 1, next_folds)
                folds, next_folds = next_folds, folds
            step *= 2
        _emit_block(aggregate, answers, count, row, results, presences)
        row += count


@jitable
def _lift_block(aggregate: Monoid, inputs: Fields, first: int, rows: int, folds: Fields) -> None:
    for i in range(rows):
        store(folds, i, lift(aggregate, load(inputs, first + i)))


@jitable
def _join(aggregate: Monoid, older: Fields, newer: Fields, apart: int, rows: int, joined: Fields) -> None:
    for i in range(rows):
        store(joined, i, combine(aggregate, load(older, i), load(newer, i + apart)))


@jitable
def _copy(source: Fields, target: Fields, rows: int) -> None:
    for i in range(rows):
        store(target, i, load(source, i))


@jitable
def _emit_block(aggregate: Monoid, answers: Fields, count: int, row: int, results: Fields, presences: Fields) -> None:
    for i in range(count):
        emit(aggregate, results, presences, row + i, load(answers, i))
