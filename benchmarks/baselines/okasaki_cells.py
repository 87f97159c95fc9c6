"""Cells of linked lists in arrays, so that FOA and IOA can be compiled, as in their paper.

A cell has a value, the fold of its list, and the number of the next cell. A *delayed* cell holds the arguments of a
rotation instead (left, right, after). -1 is the empty list. `sash.swag.foa` and `sash.swag.ioa` describe the
algorithms. The modules here add how memory is freed: IOA counts references, FOA collects garbage.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sash.algebra.compiler import jitable
from sash.algebra.fields import Fields, Partial, load
from sash.algebra.monoid import Monoid, combine, identity
from sash.swag.contract import Algorithm

__all__ = [
    "BACK",
    "COUNT",
    "FREE",
    "FRONT",
    "NEXT",
    "NONE",
    "BenchmarkAlgorithm",
    "Cells",
    "new_cells",
    "rotated",
    "sum_of",
    "turned",
]

NONE = -1
FRONT, NEXT, BACK, COUNT, FREE = range(5)  # in `heads`; FREE is the next cell to take


class Cells(NamedTuple):
    """Arrays with one place per cell."""

    values: Fields
    totals: Fields
    rest: Any
    left: Any
    right: Any  # NONE: not delayed, because a rotation always has a right list
    after: Any
    marks: Any  # IOA: references to a cell. FOA: where the cell was moved
    heads: Any


def new_cells(aggregate: Monoid, slots: int) -> Cells:
    """Return empty lists with room for so many cells."""
    rest, left, right, after, marks = (np.full(slots, NONE, np.int64) for _ in range(5))
    heads = np.full(5, NONE, np.int64)
    heads[COUNT] = heads[FREE] = 0
    return Cells(aggregate.allocate(slots), aggregate.allocate(slots), rest, left, right, after, marks, heads)


@jitable
def sum_of(aggregate: Monoid, cells: Cells, cell: int) -> Partial:
    """Return the fold of a list."""
    return load(cells.totals, cell) if cell >= 0 else identity(aggregate)


@jitable
def turned(aggregate: Monoid, cells: Cells, right: int, after: int) -> Partial:
    """Return the fold of the first cell of right, and of after."""
    return combine(aggregate, load(cells.values, right), sum_of(aggregate, cells, after))


@jitable
def rotated(aggregate: Monoid, cells: Cells, left: int, right: int, after: int) -> Partial:
    """Return the fold of left, then right in reverse, then after; left is not empty."""
    both = combine(aggregate, load(cells.totals, left), load(cells.totals, right))
    return combine(aggregate, both, sum_of(aggregate, cells, after))


@dataclass(frozen=True)
class BenchmarkAlgorithm(Algorithm):
    """An algorithm outside of the catalog; its key has a digest of its sources, so that no kernel of them is stale."""

    @property
    def key(self) -> str:  # type: ignore[override]
        sources = (Path(__file__), Path(str(self.steps.__file__)))
        digest = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()
        return f"benchmark algorithm {self.name} {digest[:16]}"
