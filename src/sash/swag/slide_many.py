"""Slide many queries with different ranges and slides over one array: slices are made once, and shared by all."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregates
from sash.algebra.compiler import kernel
from sash.algebra.fields import Fields, length, load, store
from sash.algebra.monoid import Monoid, combine, emit, identity, lift
from sash.errors import InvalidInput, UnsupportedAggregate
from sash.keywords import checked
from sash.swag import running_answers
from sash.swag import values as border
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm, Answer, evict, insert, query_ranges
from sash.swag.loops import places_of
from sash.swag.shared_plan import Query, SharedPlan, share
from sash.swag.slide import Work, windows_of

__all__ = ["run_plan", "slide_many", "work_of"]

# Takes the place of slick_deque_inv, because a range has more slices at one end than at another.
_RUNNING_ANSWERS = Algorithm("running_answers", running_answers)


@checked
def slide_many(
    values: Any,
    queries: Iterable[Query],
    aggregate: Aggregates,
    *,
    slices: str = "pairs",
    algorithm: str = "auto",
    min_samples: int = 1,
) -> list[Any]:
    """Aggregate for many queries (range, slide): at every `slide`-th value, the newest `range` values.

    Return the results of each query, as `slide(values, range, aggregate, every=slide)` does. But the values are read
    once: they are folded into slices that all queries share, and one algorithm computes the windows of all queries
    from these slices. `slices` says where slices end: "panes", "pairs" or "cutty". With `algorithm="auto"`, the
    algorithm is SlickDeque for selective aggregates and for sums of integers, and FlatFIT for others.

    >>> import sash
    >>> sash.swag.slide_many([3, 1, 2, 5, 4, 0], [(3, 1), (4, 2)], sash.max())
    [[3, 3, 3, 5, 5, 5], [3, 5, 5]]
    """
    asked = _queries(queries)
    min_samples = border.at_least("min_samples", min_samples, 0)
    work = work_of(values, aggregate, algorithm, tuple(size for size, _ in asked))
    rows = len(work)
    asked = [(min(size, max(1, rows)), min(slide, rows + 1)) for size, slide in asked]
    plan = share(asked, slices, rows)
    given = [rows // slide for _, slide in asked]
    starts = places_of(given)
    flat = work.room(int(starts[-1]))
    if any(given):
        work.run(run_plan, work.algorithm, work.monoid, work.inputs(), plan, starts[:-1], flat)
    columns = []
    for (size, slide), begin, count in zip(asked, starts, given, strict=False):
        results, presences = (tuple(each[begin : begin + count] for each in group) for group in flat)
        enough = partial(work.has_samples, partial(windows_of, rows, size, slide), min_samples)
        columns.append(work.write_columns(results, presences, enough))
    return [next(iter(each.values())) if work.is_one else each for each in columns]


def _queries(queries: Any) -> list[Query]:
    given = list(queries) if isinstance(queries, Iterable) and not isinstance(queries, str | bytes) else []
    pairs = [each for each in given if isinstance(each, Sequence | np.ndarray) and len(each) == 2]
    if not given or len(pairs) < len(given):
        raise InvalidInput.option("queries", queries, "a list of pairs (range, slide)")
    return [(border.at_least("range", size, 1), border.at_least("slide", slide, 1)) for size, slide in pairs]


def work_of(values: Any, aggregate: Aggregates, algorithm: str, sizes: tuple[int, ...]) -> Work:
    """Return the work of a call, with the algorithm that computes windows from slices."""
    work = Work(values, aggregate, "flat_fit" if algorithm == "auto" else algorithm, sizes)
    if algorithm == "auto" and _suits_slick_deque(work):
        work.change_algorithm("slick_deque", sizes)
    if not work.algorithm.facts.ranges:
        able = [name for name, each in ALGORITHMS.items() if each.facts.ranges and each.admits(False, False)]
        raise UnsupportedAggregate.many_ranges(work.algorithm.name, ["slick_deque", *able])
    return work


def _suits_slick_deque(work: Work) -> bool:
    """Return whether SlickDeque is the fastest finisher (docs/decisions/0034)."""
    templates = list(work.templates.values())
    if len(templates) == 1 and templates[0].selective:
        return True
    # To subtract floats without an error that stays takes longer than the combines that it saves.
    has_floats = any(each.column.field.dtype.kind == "f" for each in work.columns)
    return all(each.invertible for each in templates) and not has_floats


def run_plan(
    algorithm: Algorithm, aggregate: Monoid, inputs: Fields, plan: SharedPlan, starts: Any, out: Answer
) -> None:
    """Write the results of all queries, those of each query from its start on."""
    finisher, sizes = algorithm, tuple(sorted({*plan.counts.tolist()} - {0}, reverse=True))
    if algorithm.name == "slick_deque_inv":
        finisher, sizes = _RUNNING_ANSWERS, plan.sizes
    state = finisher.steps.start(aggregate, plan.longest, sizes)
    most = int(np.diff(plan.begins).max(initial=1))
    work = starts.copy(), np.zeros(most, np.int64), aggregate.allocate(most)
    arrays = plan.at, plan.is_edge, plan.begins, plan.queries, plan.ranges, plan.counts
    _over_slices(finisher, aggregate, state, inputs, plan.length, plan.longest, arrays, work, out)


@kernel
def _over_slices(
    algorithm: Algorithm,
    aggregate: Monoid,
    state: Any,
    inputs: Fields,
    composite: int,
    longest: int,
    plan: Any,
    work: Any,
    out: Answer,
) -> None:
    results, presences = out
    at, is_edge, begins, queries, ranges, counts = plan
    places, wanted, answers = work
    rows, row, held = length(inputs), 0, 0
    opened = identity(aggregate)  # the slice that has not ended
    for base in range(0, rows, composite):
        for moment in range(len(at)):
            end = base + at[moment]
            if end > rows:
                return
            while row < end:
                opened = combine(aggregate, opened, lift(aggregate, load(inputs, row)))
                row += 1
            if is_edge[moment]:
                if held == longest:
                    evict(algorithm, aggregate, state)
                else:
                    held += 1
                insert(algorithm, aggregate, state, opened)
                opened = identity(aggregate)
            begin, stop = begins[moment], begins[moment + 1]
            asked = 0
            for place in range(stop - begin):  # a window that begins before the first row has fewer slices
                wanted[place] = min(counts[begin + place], held)
                if wanted[place] > 0:
                    asked = place + 1
                else:
                    store(answers, place, identity(aggregate))
            if asked > 0:
                query_ranges(algorithm, aggregate, state, ranges[begin : begin + asked], wanted[:asked], answers)
            for place in range(stop - begin):
                answer = load(answers, place)
                if not is_edge[moment]:
                    answer = combine(aggregate, answer, opened)
                query = queries[begin + place]
                emit(aggregate, results, presences, places[query], answer)
                places[query] += 1
