"""How a call over arrays is answered: the monoid of its aggregates, and the algorithm that slides it."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from sash.algebra.aggregate import Builtin, Template, bind
from sash.algebra.monoid import Column, Monoid
from sash.report import Report
from sash.swag import range_statistics
from sash.swag.choose import Choice, choose, task_of
from sash.swag.contract import Algorithm
from sash.swag.facts import Needs

__all__ = ["ArrayPlan", "Explanation", "choose_for", "plan_of"]

ArrayPlan: TypeAlias = tuple[Monoid, Algorithm, bool]  # the last: whether ranges are answered from ranks


@dataclass(frozen=True, repr=False)
class Explanation(Report):
    """Which algorithm answers a call over arrays, and why."""

    slide: str
    because: str
    partial: str

    def lines(self) -> list[tuple[str, str]]:
        return [("slide", self.slide), ("because", self.because), ("partial", self.partial)]


def plan_of(
    templates: dict[str, Template], types: tuple[Column, ...], algorithm: str, sizes: tuple[int, ...]
) -> ArrayPlan:
    """Return how to slide; for built-in aggregates, it is the same in every call."""
    if isinstance(algorithm, str) and all(type(each) is Builtin for each in templates.values()):
        digits = tuple(each.field.decimal for each in types)  # fields are equal without them
        return _plan_of_builtins(tuple(templates.items()), types, digits, algorithm, sizes)
    return _plan(templates, types, algorithm, sizes)


@lru_cache(maxsize=256)
def _plan_of_builtins(
    templates: tuple[tuple[str, Template], ...],
    types: tuple[Column, ...],
    _digits: Any,
    algorithm: str,
    sizes: tuple[int, ...],
) -> ArrayPlan:
    return _plan(dict(templates), types, algorithm, sizes)


def _plan(
    templates: dict[str, Template], types: tuple[Column, ...], algorithm: str, sizes: tuple[int, ...]
) -> ArrayPlan:
    monoid = bind(templates, types)
    chosen = choose_for(templates, monoid, algorithm, sizes).algorithm
    reads_ranks = algorithm == "auto" and not sizes and range_statistics.can_rank(templates.values(), types[0])
    if chosen.facts.needs is Needs.INVERT:
        monoid = bind(templates, types, invertible=True)
    if not chosen.is_compiled:
        monoid = replace(monoid, is_compiled=False)
    return monoid, chosen, reads_ranks


def choose_for(
    templates: dict[str, Template], monoid: Monoid, algorithm: str, sizes: tuple[int, ...], stepwise: bool = False
) -> Choice:
    """Return the algorithm for arrays with these columns, and why; `stepwise`: for a window that is moved by hand."""
    numbers = not any(column.field.is_object or column.is_time for column in monoid.columns)
    floats = all(column.field.dtype.kind == "f" for column in monoid.columns)
    task = task_of(templates, floats, objects=monoid.has_objects, sizes=sizes, stepwise=stepwise)
    one = numbers and len(monoid.columns) == 1
    return choose(replace(task, quantile=task.quantile and numbers, variance=task.variance and one), algorithm)
