"""The interface of an algorithm: facts to choose it by, a state, and steps that change the state.

An algorithm is a module with `FACTS`, these functions, and a line in `catalog`. All but `start`,
`resize`, `capacity`, `check` and `fault` are steps: they only compute, so that they compile.

    start(aggregate, capacity, sizes) → state    an empty window; `sizes` are the ranges that queries will use
    insert(aggregate, state, partial)            at the newest end
    evict(aggregate, state)                      the oldest; never called on an empty window
    query(aggregate, state) → partial            of the whole window, identity if it is empty
    query_last(aggregate, state, count) → partial        of the newest `count`, if FACTS.ranges
    query_each(aggregate, state, counts, answers)        of many, counts descending; without it, one by one
    query_ranges(aggregate, state, ranges, counts, answers)      the same, for ranges that have numbers and whose
                                                 starts never go back; without it, query_each
    insert_many(aggregate, state, partials, count)       the first `count`, oldest first; without it, one by one
    evict_many(aggregate, state, count)          the oldest `count`; without it, one by one
    save(aggregate, state) → lists and numbers, restore(aggregate, saved) → state    if a state has other objects
    count(state) → how many partials are in the window
    capacity(state) → how many there is room for
    resize(aggregate, state, capacity) → state   the same window with another capacity
    check(aggregate, state, partials)            assert the K-lines; `partials` are those of the window
    fault(aggregate, state) → str or None        what is wrong with a saved state (or with what `save` returned).
                                                 It checks, cheaply, what the steps need to stay within their
                                                 arrays and to end

An algorithm can have these steps for rows anywhere in the window. Indexes count from the oldest row, which is 0.

    update_at(aggregate, state, index, partial)          replace a row
    update_many(aggregate, state, indexes, partials, count)     replace rows; indexes ascend, and the step overwrites
                                                 them; without it, one by one
    remove_at(aggregate, state, index)           the rows after it have lower indexes then
    query_between(aggregate, state, start, end) → partial of the rows in [start, end)

An algorithm for rows in any order (Sizes.UNORDERED) also has, for whole-number positions,

    insert_at(aggregate, state, position, partial)       rows at one position are combined
    insert_sorted(aggregate, state, positions, partials, count)     a batch in the order of positions
    evict_at(aggregate, state, position) → whether there was one
    evict_until(aggregate, state, position)      everything up to and at the position
    query_range(aggregate, state, start, end) → partial of the positions in [start, end)
    oldest(state), newest(state) → positions

An algorithm for whole arrays has, instead of or beside the steps,

    scratch(aggregate, size) → working memory of a sweep
    sweep(aggregate, inputs, size, begin, end, scratch, out)
                                                 write the results of rows [begin, end), each for its `size` newest
    unfinished(scratch) → ranges of rows that a sweep has left out; the algorithm INSTEAD sweeps them

    range_scratch(aggregate, longest) → working memory for ranges of at most so many rows
    sweep_ranges(aggregate, inputs, starts, ends, before, scratch, out)
                                                 write the result of each range; starts and ends never decrease;
                                                 `before` is the end of the range before them, or 0; without it, rows
                                                 are inserted and evicted one by one
    range_cuts(starts, ends, wanted) → places, near the wanted ones, where ranges can be divided: if each part is swept
                                                 by itself, the combines are the same

or, if it starts its own threads, `run(aggregate, inputs, size, out)`; `out` is results and presences.

A state is a tuple of `Fields` and arrays of integers, nested at any depth, so it can be saved.

A state made of rings has a constant `LAYOUT` (`queue.Layout`), which says where its positions are and returns
count, capacity, resize and

    settle(state, moves)                         move partials of a ring that is being replaced, at most so many

A window that grows by itself has queues in place of the rings. Then capacity is the room for partials that are kept,
of which there can be fewer than rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from sash.algebra.compiler import JIT_DISABLED, Static, compiled_reading, from_source, jitable, static_of
from sash.algebra.fields import Fields, load, store
from sash.algebra.monoid import Monoid, identity
from sash.swag.facts import Facts

__all__ = [
    "Algorithm",
    "Answer",
    "evict",
    "evict_at",
    "evict_many",
    "evict_until",
    "identities",
    "insert",
    "insert_at",
    "insert_many",
    "insert_sorted",
    "integers",
    "query",
    "query_between",
    "query_each",
    "query_last",
    "query_range",
    "query_ranges",
    "remove_at",
    "settle",
    "sweep",
    "sweep_ranges",
    "update_at",
    "update_many",
]


Answer: TypeAlias = tuple[Fields, Fields]  # results and presences


@dataclass(frozen=True)
class Algorithm(Static):
    """An entry of the catalog: a name, facts and steps; a type to the compiler."""

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

    def admits(self, has_inverse: bool, selective: bool, quantile: bool = False, variance: bool = False) -> bool:
        """Return whether it can slide an aggregate with these traits."""
        return self.facts.needs.met_by(has_inverse, selective, quantile, variance)

    def has_step(self, step: str) -> bool:
        """Return whether it has an optional step."""
        return hasattr(self.steps, step)


def integers(aggregate: Monoid, count: int) -> Any:
    """Allocate `count` integers, all zero."""
    return np.zeros(count, np.int64) if aggregate.is_compiled else [0] * count


def identities(aggregate: Monoid, count: int) -> Fields:
    """Allocate `count` partials, all the identity."""
    fields = aggregate.allocate(count)
    if aggregate.is_compiled:
        for array, value in zip(fields, aggregate.initial, strict=True):
            array[...] = value
    else:
        for place in range(count):
            store(fields, place, identity(aggregate))
    return fields


# --- the steps as kernels call them --------------------------------------------------------------


def _step(name: str, *parameters: str, default: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function that calls a step of its first argument, an algorithm; the compiler resolves it by type.

    `default` makes the step for an algorithm that lacks it.
    """
    rest = ", ".join(parameters)

    def found(algorithm: Algorithm) -> Callable[..., Any]:
        step: Callable[..., Any] = getattr(algorithm.steps, name, None) or default(algorithm.steps)  # type: ignore[misc]
        return step

    def typed(algorithm: Any) -> Callable[..., Any]:
        inner = jitable(found(static_of(algorithm)))
        return from_source(f"def generated(algorithm, {rest}):\n    return inner({rest})", ("inner", inner))

    namespace: dict[str, Any] = {"typed": typed, "found": found}
    interpreted = f"algorithm.steps.{name}" if default is None else "found(algorithm)"
    # An overload must have the same argument names as the function. All names come from this module.
    exec(  # noqa: S102
        f"def {name}(algorithm, {rest}):\n    return {interpreted}({rest})\n"
        f"def compiled(algorithm, {rest}):\n    return typed(algorithm)\n",
        namespace,
    )
    compiled_reading(namespace[name])(namespace["compiled"])
    step: Callable[..., Any] = namespace[name]
    return step


@cache
def _one_by_one(steps: Any) -> Callable[..., Any]:
    """Return a `query_each` that calls `query_last` for each count."""
    query_last = jitable(steps.query_last)

    def query_each(aggregate: Monoid, state: Any, counts: Any, answers: Fields) -> None:
        for place in range(len(counts)):
            store(answers, place, query_last(aggregate, state, counts[place]))

    return query_each


@cache
def _by_counts(steps: Any) -> Callable[..., Any]:
    """Return a `query_ranges` that ignores the numbers of the ranges."""
    query_each = jitable(getattr(steps, "query_each", None) or _one_by_one(steps))

    def query_ranges(aggregate: Monoid, state: Any, ranges: Any, counts: Any, answers: Fields) -> None:
        query_each(aggregate, state, counts, answers)

    return query_ranges


@cache
def _inserts(steps: Any) -> Callable[..., Any]:
    """Return an `insert_many` that calls `insert` for each partial."""
    insert = jitable(steps.insert)

    def insert_many(aggregate: Monoid, state: Any, partials: Fields, count: int) -> None:
        for place in range(count):
            insert(aggregate, state, load(partials, place))

    return insert_many


@cache
def _evicts(steps: Any) -> Callable[..., Any]:
    """Return an `evict_many` that calls `evict` so many times."""
    evict = jitable(steps.evict)

    def evict_many(aggregate: Monoid, state: Any, count: int) -> None:
        for _ in range(count):
            evict(aggregate, state)

    return evict_many


@cache
def _updates(steps: Any) -> Callable[..., Any]:
    """Return an `update_many` that calls `update_at` for each index."""
    update_at = jitable(steps.update_at)

    def update_many(aggregate: Monoid, state: Any, indexes: Any, partials: Fields, count: int) -> None:
        for place in range(count):
            update_at(aggregate, state, indexes[place], load(partials, place))

    return update_many


def _nothing_to_settle(_steps: Any) -> Callable[..., Any]:
    """Return a `settle` for states that are copied when they grow."""
    return _settle_nothing


def _settle_nothing(state: Any, moves: int) -> None:
    return None


insert = _step("insert", "aggregate", "state", "partial")
evict = _step("evict", "aggregate", "state")
query = _step("query", "aggregate", "state")
query_last = _step("query_last", "aggregate", "state", "count")
query_each = _step("query_each", "aggregate", "state", "counts", "answers", default=_one_by_one)
query_ranges = _step("query_ranges", "aggregate", "state", "ranges", "counts", "answers", default=_by_counts)
insert_many = _step("insert_many", "aggregate", "state", "partials", "count", default=_inserts)
evict_many = _step("evict_many", "aggregate", "state", "count", default=_evicts)
update_at = _step("update_at", "aggregate", "state", "index", "partial")
update_many = _step("update_many", "aggregate", "state", "indexes", "partials", "count", default=_updates)
remove_at = _step("remove_at", "aggregate", "state", "index")
query_between = _step("query_between", "aggregate", "state", "start", "end")
sweep = _step("sweep", "aggregate", "inputs", "size", "begin", "end", "scratch", "out")
sweep_ranges = _step("sweep_ranges", "aggregate", "inputs", "starts", "ends", "before", "scratch", "out")
insert_at = _step("insert_at", "aggregate", "state", "position", "partial")
insert_sorted = _step("insert_sorted", "aggregate", "state", "positions", "partials", "count")
evict_at = _step("evict_at", "aggregate", "state", "position")
evict_until = _step("evict_until", "aggregate", "state", "position")
query_range = _step("query_range", "aggregate", "state", "start", "end")
settle = _step("settle", "state", "moves", default=_nothing_to_settle)
