"""Slide and fold over arrays: read the values, choose an algorithm, run it, return results of the same kind."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate, Aggregates, Template, bind
from sash.algebra.fields import Field, Fields, allocate
from sash.algebra.monoid import Presence, identity, of_partials
from sash.errors import InvalidAggregate, InvalidInput, NumberOverflow, SashError
from sash.keywords import checked
from sash.swag import loops, range_statistics, ranked
from sash.swag import values as border
from sash.swag.array_plan import Explanation, choose_for, plan_of
from sash.swag.contract import Answer
from sash.swag.facts import Needs

__all__ = ["Work", "explain", "fold", "slide", "windows_of"]

_VALUE, _OVERFLOW = np.uint8(Presence.VALUE), np.uint8(Presence.OVERFLOW)  # an enum would be compared as 64 bits


@checked
def slide(
    values: Any,
    size: int | Sequence[int],
    aggregate: Aggregates,
    *,
    algorithm: str = "auto",
    every: int = 1,
    min_samples: int = 1,
    threads: int | None = None,
) -> Any:
    """Aggregate the newest `size` values at every value, or at every `every`-th.

    `values` is a NumPy array, an Arrow array or a list, or a tuple of them for an aggregate of
    several columns; the results are of the same kind (Arrow arrays for pandas and Polars columns).
    Windows at the start are shorter. If fewer than `min_samples` values are not null, the result is
    null (NaN, or masked, in NumPy). Several sizes return one row of results per size. A dict of
    aggregates returns a dict of results.

    >>> import numpy, sash
    >>> sash.swag.slide(numpy.array([3, 1, 2, 5, 4]), 3, sash.max())
    array([3, 3, 3, 5, 5])
    >>> sash.swag.slide([3, 1, 2, 5, 4], [1, 3], sash.sum())
    [[3, 1, 2, 5, 4], [3, 4, 6, 8, 11]]
    >>> sash.swag.slide(
    ...     [3, 1, 2, 5, 4], 3, {"low": sash.min(), "mean": sash.mean()}, every=2
    ... )
    {'low': [1, 1], 'mean': [2.0, 2.6666666666666665]}
    """
    several, sizes = _sizes(size)
    every, min_samples = border.at_least("every", every, 1), border.at_least("min_samples", min_samples, 0)
    threads = None if threads is None else border.at_least("threads", threads, 1)
    work = Work(values, aggregate, algorithm, sizes)
    sizes, every = tuple(min(each, max(1, len(work))) for each in sizes), min(every, len(work) + 1)
    answers = work.at_every_row(sizes, threads) if every == 1 else work.at_some_rows(sizes, every, threads)
    columns = [
        work.write_columns(*answer, partial(work.has_samples, partial(windows_of, len(work), each, every), min_samples))
        for each, answer in zip(sizes, answers, strict=True)
    ]
    results = {name: _stack([column[name] for column in columns], several) for name in work.templates}
    return next(iter(results.values())) if work.is_one else results


@checked
def fold(
    values: Any, starts: Any, ends: Any, aggregate: Aggregates, *, algorithm: str = "auto", min_samples: int = 1
) -> Any:
    """Aggregate the values in each range [start, end); starts and ends must never decrease.

    The result of an empty range is null; a count is 0, and a list is empty. If fewer than `min_samples` values are not
    null, the result is null, too.

    >>> import sash
    >>> sash.swag.fold([3, 1, 2, 5, 4], [0, 0, 2, 5], [2, 4, 5, 5], sash.max())
    [3, 5, 5, None]
    """
    work = Work(values, aggregate, algorithm, ())
    starts, ends = _ranges(starts, ends, len(work))
    least = border.at_least("min_samples", min_samples, 1)
    enough = partial(work.has_samples, lambda: (starts, ends), least)
    results = work.write_columns(*work.over(starts, ends), enough, starts == ends)
    return next(iter(results.values())) if work.is_one else results


@checked
def explain(
    aggregate: Aggregates, size: int | Sequence[int] | None = None, *, algorithm: str = "auto", dtype: Any = "float64"
) -> Explanation:
    """Return which algorithm `slide` uses, and why; it prints as text, and as HTML in a notebook.

    >>> import sash
    >>> print(sash.swag.explain(sash.max(), 1000))
    slide   max of float64, windows of 1000: sba
    because two sweeps per chunk: 3 combines per row and no bookkeeping, whatever the size
    partial max f8 (8 bytes); SBA needs associativity, 1 / 1 / 1 combines per insert /
      evict / query
    """
    sizes = () if size is None else _sizes(size)[1]
    templates = _by_name(aggregate)
    column = border.column_of(dtype)
    monoid = bind(templates, (column,) * max(1, *(each.arity for each in templates.values())))
    choice = choose_for(templates, monoid, algorithm, sizes, stepwise=size is None)
    facts = choice.algorithm.facts
    width = sum(each.dtype.itemsize * each.width for each in monoid.fields)
    fields = " ".join(each.code for each in monoid.fields)
    shape = f"windows of {', '.join(map(str, sizes))}" if sizes else "a window that varies"
    costs = " / ".join(str(cost.average) for cost in (facts.insert, facts.evict, facts.query))
    partial = f"{monoid.name} {fields} ({width} bytes)"
    needs = f"{facts.title} needs {facts.needs.value}, {costs} combines per insert / evict / query"
    slide = f"{'+'.join(templates)} of {column}, {shape}: {choice.algorithm.name}"
    return Explanation(slide, choice.because, f"{partial}; {needs}")


class Work:
    """One call of `slide`, `fold` or `slide_many`: its columns, its monoid, its algorithm."""

    def __init__(self, values: Any, aggregate: Aggregates, algorithm: str, sizes: tuple[int, ...]) -> None:
        self.templates = _by_name(aggregate)
        self.is_one = not isinstance(aggregate, Mapping)
        arity = max(1, *(each.arity for each in self.templates.values()))
        self.columns = border.read(values, arity, "+".join(self.templates))
        types = tuple(each.column for each in self.columns)
        if sizes and algorithm == "auto" and arity == 1:
            types = (border.narrow(self.columns[0], max(sizes), self.templates.values()),)
        self.monoid, self.algorithm, self.reads_ranks = plan_of(self.templates, types, algorithm, sizes)

    def change_algorithm(self, algorithm: str, sizes: tuple[int, ...]) -> None:
        """Use another algorithm than the one of the call."""
        types = tuple(each.column for each in self.columns)
        self.monoid, self.algorithm, self.reads_ranks = plan_of(self.templates, types, algorithm, sizes)

    def __len__(self) -> int:
        return len(self.columns[0])

    def inputs(self) -> Fields:
        """Return the arguments of lift: columns, then the validity of those that have nulls."""
        given = [each.data for each in self.columns]
        given += [each.valid for each in self.columns if each.valid is not None]
        return tuple(given) if self.monoid.is_compiled else _as_lists(tuple(given))

    def room(self, count: int) -> Answer:
        """Allocate results and presences."""
        outputs, compiled = self.monoid.outputs, self.monoid.is_compiled
        presences = tuple(Field("u1") for each in outputs if each.presence)
        # Results that every row writes, and floats, which are NaN where there is none, are not cleared first.
        # Clearing takes a quarter of a slide on two cores.
        results = tuple(
            each.result.empty(count, compiled, clear=each.presence is not None and each.result.dtype.kind != "f")
            for each in outputs
        )
        return results, allocate(presences, count, compiled=True)  # the interpreter writes to arrays as well

    def at_every_row(self, sizes: tuple[int, ...], threads: int | None) -> list[Answer]:
        """Return the results at every row, for each size."""
        rows = len(self)
        if not rows:
            return [self.room(0) for _ in sizes]
        if self.algorithm.facts.needs is Needs.QUANTILE:
            return [self._quantiles(size, threads) for size in sizes]
        if len(sizes) > 1 and self.algorithm.facts.ranges:
            descending = tuple(sorted(set(sizes), reverse=True))
            places = loops.places_of([rows] * len(descending))
            flat = self.room(int(places[-1]))
            self.run(loops.over_sizes, self.algorithm, self.monoid, self.inputs(), descending, places, *flat)
            starts = [places[descending.index(size)] for size in sizes]
            return [tuple(tuple(each[k : k + rows] for each in group) for group in flat) for k in starts]  # type: ignore[misc]
        answers = [self.room(rows) for _ in sizes]
        inputs = self.inputs()
        for size, answer in zip(sizes, answers, strict=True):
            self.run(loops.over_rows, self.algorithm, self.monoid, inputs, size, *answer, threads)
        return answers

    def at_some_rows(self, sizes: tuple[int, ...], every: int, threads: int | None) -> list[Answer]:
        """Fold rows into fragments, cut as Pairs cuts them, and slide over the fragments."""
        if self.algorithm.facts.needs.is_of_few:  # these read values, and cannot read fragments
            full = self.at_every_row(sizes, threads)
            return [_pick(answer, every - 1, every) for answer in full]
        answers, inputs = [], self.inputs()
        for size in sizes:
            edges, fragments, stride = _pairs(len(self), size, every)
            partials = self.run(loops.fold_fragments, self.monoid, inputs, edges)
            answer, monoid = self.room(len(edges) - 1), of_partials(self.monoid)
            if len(edges) > 1:
                self.run(loops.over_rows, self.algorithm, monoid, partials, fragments, *answer, threads)
            answers.append(_pick(answer, stride - 1, stride))
        return answers

    def over(self, starts: Any, ends: Any) -> Answer:
        """Return the results of ranges, without empty ones: not every algorithm can query an empty window."""
        if self.reads_ranks:
            named = [self.templates[output.name] for output in self.monoid.outputs]
            return self._answer_of(range_statistics.over_ranges(named, self.columns[0], starts, ends))
        filled = np.flatnonzero(starts < ends)
        answer, part = self.room(len(starts)), self.room(len(filled))
        if len(filled):
            ranges = starts[filled], ends[filled]
            self.run(loops.over_ranges, self.algorithm, self.monoid, self.inputs(), *ranges, *part)
        for whole, some in zip((*answer[0], *answer[1]), (*part[0], *part[1]), strict=True):
            _scatter(whole, filled, some)
        return answer

    def results_of_no_rows(self) -> dict[str, tuple[Any, int]]:
        """Return the result of each aggregate for no rows, and its presence; all-null rows have the same result."""
        nullable = tuple(replace(each.column, nullable=True) for each in self.columns)
        monoid = bind(self.templates, nullable)
        return {each.name: each.read(identity(monoid)) for each in monoid.outputs}

    def has_samples(
        self, windows: Callable[[], tuple[Any, Any]], least: int, arity: int
    ) -> np.ndarray[Any, Any] | None:
        """Return which windows have at least `least` rows without a null; None if the aggregates decide themselves."""
        if least <= 1:
            return None
        starts, ends = windows()
        known = [each.valid for each in self.columns[: max(1, arity)] if each.valid is not None]
        if not known or arity == 0:
            return np.asarray(ends - starts >= least)
        valid = np.concatenate([[0], np.cumsum(np.logical_and.reduce(known))])
        return np.asarray(valid[ends] - valid[starts] >= least)

    def write_columns(
        self,
        results: Fields,
        presences: Fields,
        has_samples: Callable[..., np.ndarray[Any, Any] | None],
        is_empty: np.ndarray[Any, Any] | None = None,
    ) -> dict[str, Any]:
        """Return a column per aggregate, with nulls for missing results; raise an error if an exact one does not fit.

        Windows with `is_empty` have no result yet; they get the result of no rows.
        """
        columns, flags = {}, iter(presences)
        empty = np.zeros(0, np.int64) if is_empty is None else np.flatnonzero(is_empty)
        nothing = self.results_of_no_rows() if len(empty) else {}
        for output, result in zip(self.monoid.outputs, results, strict=True):
            template = self.templates[output.name]
            enough = has_samples(arity=template.arity)
            missing = None if enough is None else ~enough
            if output.presence is not None:
                presence = np.asarray(next(flags), np.uint8)
                if presence.max(initial=0) == Presence.OVERFLOW:
                    overflowing = presence == _OVERFLOW
                    if enough is not None:
                        overflowing &= enough
                    if overflowing.any():
                        raise NumberOverflow.at(output.name, int(np.argmax(overflowing)))
                absent = presence != _VALUE
                missing = absent if missing is None else missing | absent
            if len(empty):
                value, what = nothing[output.name]
                is_value = what == Presence.VALUE
                missing = np.zeros(len(result), np.bool_) if missing is None else missing
                missing[empty] = not is_value or enough is not None
                if is_value:
                    _scatter(result, empty, [copy(value) for _ in empty])
            source = self.columns[max(template.arity, 1) - 1]
            if isinstance(result, list) and not output.result.is_object:
                result = border.as_array(result, output.result)
            columns[output.name] = border.write(source, result, missing, keeps_type=template.selective)
        return columns

    def _quantiles(self, size: int, threads: int | None) -> Answer:
        column = self.columns[0]
        found = [
            ranked.quantiles(
                column.data, column.valid, size, range_statistics.share_of(self.templates[output.name]), threads
            )
            for output in self.monoid.outputs
        ]
        return self._answer_of(found)

    def _answer_of(self, found: list[tuple[Any, Any]]) -> Answer:
        """Return results and presences from the values of each output, and where there is one."""
        pairs = zip(self.monoid.outputs, found, strict=True)
        presences = tuple(np.asarray(exists, np.uint8) for output, (_, exists) in pairs if output.presence)
        return tuple(values for values, _ in found), presences

    def run(self, loop: Callable[..., Any], *arguments: Any) -> Any:
        """Call a loop; raise errors of users' functions with the row that they are about."""
        try:
            return loop(*arguments)
        except SashError:
            raise
        except Exception as error:
            raise self._diagnose(error) from error

    def _diagnose(self, error: Exception) -> Exception:
        """Return the error to raise: it names the row for a user's function, or says that objects do not compare."""
        if not any(isinstance(each, Aggregate) for each in self.templates.values()):
            if self.monoid.has_objects and isinstance(error, TypeError | ArithmeticError):
                return InvalidInput.mixed(next(iter(self.columns[0].data), None), f"they cannot be combined ({error})")
            return error
        for row in zip(*_as_lists(self.inputs()), strict=True):
            try:
                self.monoid.lift(row)
            except Exception as cause:
                return InvalidAggregate.fails(self.monoid.name, "lift", row[: len(self.columns)], cause)
        return InvalidAggregate.fails(self.monoid.name, "combine or lower", "these values", error)


def _by_name(aggregate: Aggregates) -> dict[str, Template]:
    named = dict(aggregate) if isinstance(aggregate, Mapping) else {getattr(aggregate, "name", ""): aggregate}
    for template in named.values():
        if not isinstance(template, Template):
            raise InvalidAggregate.not_an_aggregate(template)
    if not all(isinstance(name, str) for name in named):
        raise InvalidInput.names(list(named))
    if not named:
        raise InvalidAggregate.not_an_aggregate(aggregate)
    return named


def _sizes(size: Any) -> tuple[bool, tuple[int, ...]]:
    """Return whether `size` is a list of sizes, and the sizes."""
    if isinstance(size, np.ndarray) and size.ndim == 0:
        size = size.item()
    several = isinstance(size, Sequence | np.ndarray) and not isinstance(size, str | bytes)
    if isinstance(size, str):
        raise InvalidInput.size(size)
    sizes = tuple(border.at_least("size", each, 1) for each in (size if several else [size]))
    if not sizes:
        raise InvalidInput.option("size", size, "at least one size")
    return several, sizes


def _scatter(whole: Any, places: Any, some: Any) -> None:
    if isinstance(whole, np.ndarray):
        whole[places] = some
    else:
        for place, value in zip(places.tolist(), some, strict=True):
            whole[place] = value


def _ranges(starts: Any, ends: Any, rows: int) -> tuple[Any, Any]:
    starts, ends = np.asarray(starts), np.asarray(ends)
    whole = all(each.ndim == 1 and (each.size == 0 or each.dtype.kind in "iu") for each in (starts, ends))
    if not whole or len(starts) != len(ends):
        raise InvalidInput.ranges("starts and ends must be whole numbers, as many of one as of the other")
    starts, ends = starts.astype(np.int64), ends.astype(np.int64)
    if len(starts) and (starts.min() < 0 or ends.max() > rows):
        raise InvalidInput.ranges(f"they must lie within the {rows} rows")
    if (starts > ends).any():
        raise InvalidInput.ranges("a start is after its end")
    if (np.diff(starts) < 0).any() or (np.diff(ends) < 0).any():
        raise InvalidInput.ranges("a start or an end goes back")
    return starts, ends


def windows_of(rows: int, size: int, every: int) -> tuple[Any, Any]:
    """Return the starts and the ends of the windows that end at every `every`-th row."""
    ends = np.arange(every, rows + 1, every)
    return np.maximum(ends - size, 0), ends


def _pairs(rows: int, size: int, every: int) -> tuple[Any, int, int]:
    """Return edges of fragments such that a window is whole fragments; the fragments per window and per slide."""
    slices, rest = divmod(size, every)
    ends = np.arange(0, rows + 1, every)
    if not rest:
        return ends, slices, 1
    starts = ends[:-1] + (every - rest)
    return np.sort(np.concatenate([ends, starts])), 2 * slices + 1, 2


def _pick(answer: Answer, first: int, stride: int) -> Answer:
    results, presences = (tuple(each[first::stride] for each in group) for group in answer)
    return results, presences


def _as_lists(fields: Fields) -> Fields:
    return tuple(each.tolist() if isinstance(each, np.ndarray) else each for each in fields)


def _stack(columns: list[Any], several: bool) -> Any:
    if not several:
        return columns[0]
    if any(isinstance(column, np.ma.MaskedArray) for column in columns):
        return np.ma.stack(columns)
    return np.stack(columns) if isinstance(columns[0], np.ndarray) else columns
