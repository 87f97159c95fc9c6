"""What an algorithm provides: facts to choose it by, a state, and steps that move it.

An algorithm is a module with `FACTS`, these functions, and a line in `catalog`. All but `start`,
`resized`, `capacity` and `check` are steps: they compute and nothing else, so that they compile.

    start(aggregate, capacity, sizes) → state    an empty window; `sizes` are the ranges to be asked for
    insert(aggregate, state, partial)            at the newest end
    evict(aggregate, state)                      the oldest; never called on an empty window
    query(aggregate, state) → partial            of the whole window, identity if it is empty
    query_last(aggregate, state, count) → partial        of the newest `count`, if FACTS.ranges
    query_each(aggregate, state, counts, answers)        of many, counts descending, if FACTS.ranges
    count(state) → how many partials are in the window
    capacity(state) → how many there is room for
    resized(aggregate, state, capacity) → state  the same window with other room
    check(aggregate, state, partials)            asserts the K-lines; `partials` is what the window holds

An algorithm for whole arrays gives, instead of or beside the steps,

    scratch(aggregate, size) → what a sweep needs besides its input
    sweep(aggregate, inputs, size, begin, end, scratch, results, presences)
                                                 answers rows [begin, end), each for its `size` newest

or, if it is to see to its own threads, `run(aggregate, inputs, size, results, presences)`.

A state is a tuple of `Fields` and arrays of integers, nested at will: so it can be saved.
"""

import math
from dataclasses import dataclass, field
from enum import Enum
from types import ModuleType
from typing import Any

import numpy as np
from numba.core.extending import overload

from sash.algebra.compiler import JIT_DISABLED, Static, jitable, static_of
from sash.algebra.fields import Fields, Partial
from sash.algebra.monoid import Monoid

__all__ = [
    "Algorithm",
    "Bound",
    "Cost",
    "Facts",
    "Needs",
    "Sizes",
    "evict",
    "insert",
    "integers",
    "query",
    "query_each",
    "query_last",
    "sweep",
]


class Needs(Enum):
    """What an algorithm asks of an aggregate beyond associativity."""

    NOTHING = "associativity"
    INVERT = "invert"
    SELECTIVE = "selective"
    QUANTILE = "quantile"

    def met_by(self, has_inverse: bool, selective: bool, quantile: bool = False) -> bool:
        """Whether an aggregate with these traits has it."""
        traits = {Needs.INVERT: has_inverse, Needs.SELECTIVE: selective, Needs.QUANTILE: quantile}
        return traits.get(self, True)


class Sizes(Enum):
    """Which windows an algorithm can hold."""

    ANY = "any, first in first out"
    FIXED = "one size, known at the start"
    UNORDERED = "any, rows in any order"


@dataclass(frozen=True)
class Bound:
    """constant + log · ⌈log₂ n⌉ + linear · n combine calls, for a window of n rows."""

    constant: float = 0
    log: float = 0
    linear: float = 0

    def at(self, n: int) -> float:
        return self.constant + self.log * math.ceil(math.log2(n if n > 1 else 1)) + self.linear * n

    def __str__(self) -> str:
        parts = [
            f"{'' if factor == 1 and symbol else format(factor, 'g')}{symbol}"
            for factor, symbol in ((self.linear, "n"), (self.log, " log n"), (self.constant, ""))
            if factor
        ]
        return " + ".join(part.strip() for part in parts) or "0"


@dataclass(frozen=True)
class Cost:
    """Combine calls of one operation: on average over a long run, and at worst."""

    average: Bound
    worst: Bound


@dataclass(frozen=True)
class Facts:
    """What is true of an algorithm; the tests hold it to account, the planner and the docs read it."""

    title: str
    insert: Cost
    evict: Cost
    query: Cost
    space: Bound  # partials kept for a window of n rows
    needs: Needs = Needs.NOTHING
    sizes: Sizes = Sizes.ANY
    ranges: bool = False  # answers many ranges in one pass
    compiled: bool = True  # False: for study, plain Python only
    threads: int = 1
    paper: str = ""


@dataclass(frozen=True)
class Algorithm(Static):
    """A line of the catalog: a name, facts and steps; to the compiler, a type."""

    name: str
    steps: ModuleType = field(repr=False)

    @property
    def key(self) -> str:  # type: ignore[override]  # derived: the package's digest guards the steps
        return f"algorithm {self.name}"

    @property
    def is_compiled(self) -> bool:  # type: ignore[override]
        return self.facts.compiled and not JIT_DISABLED

    @property
    def facts(self) -> Facts:
        facts: Facts = self.steps.FACTS
        return facts

    def admits(self, has_inverse: bool, selective: bool, quantile: bool = False) -> bool:
        """Whether it can slide an aggregate with these traits."""
        return self.facts.needs.met_by(has_inverse, selective, quantile)

    def gives(self, step: str) -> bool:
        """Whether it has an optional step."""
        return hasattr(self.steps, step)


def integers(aggregate: Monoid, count: int) -> Any:
    """Room for `count` whole numbers, all zero."""
    return np.zeros(count, np.int64) if aggregate.is_compiled else [0] * count


# --- the steps as kernels call them --------------------------------------------------------------


def insert(algorithm: Algorithm, aggregate: Monoid, state: Any, partial: Partial) -> None:
    """Insert a partial at the newest end."""
    algorithm.steps.insert(aggregate, state, partial)


def evict(algorithm: Algorithm, aggregate: Monoid, state: Any) -> None:
    """Evict the oldest."""
    algorithm.steps.evict(aggregate, state)


def query(algorithm: Algorithm, aggregate: Monoid, state: Any) -> Partial:
    """The fold of the window."""
    result: Partial = algorithm.steps.query(aggregate, state)
    return result


def query_last(algorithm: Algorithm, aggregate: Monoid, state: Any, count: int) -> Partial:
    """The fold of the newest `count`."""
    result: Partial = algorithm.steps.query_last(aggregate, state, count)
    return result


def query_each(algorithm: Algorithm, aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
    """The folds of many suffixes, longest first, into `answers`."""
    algorithm.steps.query_each(aggregate, state, counts, answers)


def sweep(
    algorithm: Algorithm,
    aggregate: Monoid,
    inputs: Fields,
    size: int,
    begin: int,
    end: int,
    scratch: Any,
    results: Fields,
    presences: Fields,
) -> None:
    """Answer the rows [begin, end) of a whole array."""
    algorithm.steps.sweep(aggregate, inputs, size, begin, end, scratch, results, presences)


@overload(sweep)
def _sweep(
    algorithm: Any,
    aggregate: Any,
    inputs: Any,
    size: Any,
    begin: Any,
    end: Any,
    scratch: Any,
    results: Any,
    presences: Any,
) -> Any:
    step = jitable(static_of(algorithm).steps.sweep)

    def impl(
        algorithm: Any,
        aggregate: Any,
        inputs: Any,
        size: Any,
        begin: Any,
        end: Any,
        scratch: Any,
        results: Any,
        presences: Any,
    ) -> Any:
        step(aggregate, inputs, size, begin, end, scratch, results, presences)

    return impl


@overload(insert)
def _insert(algorithm: Any, aggregate: Any, state: Any, partial: Any) -> Any:
    step = jitable(static_of(algorithm).steps.insert)

    def impl(algorithm: Any, aggregate: Any, state: Any, partial: Any) -> Any:
        step(aggregate, state, partial)

    return impl


@overload(evict)
def _evict(algorithm: Any, aggregate: Any, state: Any) -> Any:
    step = jitable(static_of(algorithm).steps.evict)

    def impl(algorithm: Any, aggregate: Any, state: Any) -> Any:
        step(aggregate, state)

    return impl


@overload(query)
def _query(algorithm: Any, aggregate: Any, state: Any) -> Any:
    step = jitable(static_of(algorithm).steps.query)

    def impl(algorithm: Any, aggregate: Any, state: Any) -> Any:
        return step(aggregate, state)

    return impl


@overload(query_last)
def _query_last(algorithm: Any, aggregate: Any, state: Any, count: Any) -> Any:
    step = jitable(static_of(algorithm).steps.query_last)

    def impl(algorithm: Any, aggregate: Any, state: Any, count: Any) -> Any:
        return step(aggregate, state, count)

    return impl


@overload(query_each)
def _query_each(algorithm: Any, aggregate: Any, state: Any, counts: Any, answers: Any) -> Any:
    step = jitable(static_of(algorithm).steps.query_each)

    def impl(algorithm: Any, aggregate: Any, state: Any, counts: Any, answers: Any) -> Any:
        step(aggregate, state, counts, answers)

    return impl
