"""Choose the algorithm that slides an aggregate, and give the reason."""

from collections.abc import Iterator
from dataclasses import dataclass

from sash.algebra.aggregate import Builtin, Template
from sash.errors import InvalidInput, UnsupportedAggregate
from sash.swag.catalog import ALGORITHMS, find
from sash.swag.contract import Algorithm
from sash.swag.facts import Sizes

__all__ = ["Choice", "Task", "choose", "task_of"]


@dataclass(frozen=True)
class Task:
    """What to slide: the traits that all aggregates share, and the shape of the work."""

    name: str
    invertible: bool
    selective: bool
    quantile: bool  # exact order statistics of numbers, nothing else
    variance: bool  # variances of numbers, and of floats what its partial has anyway
    objects: bool  # partials are Python objects
    sizes: tuple[int, ...] = ()  # empty: ranges of any length
    stepwise: bool = False  # rows come one at a time, the window may vary


@dataclass(frozen=True)
class Choice:
    """An algorithm and the reason for it."""

    algorithm: Algorithm
    because: str


def choose(task: Task, named: str = "auto") -> Choice:
    """Return the algorithm that the user names, if it can do the task, else the fastest one that can."""
    if named != "auto":
        return Choice(_find_named(task, named), "you named it")
    return Choice(*_fastest(task))


def _fastest(task: Task) -> tuple[Algorithm, str]:
    if task.quantile and task.sizes:
        return find("ranked"), "an exact quantile of numbers needs no combines: one bit per row, in the order of values"
    if task.variance and task.sizes:
        return find("shifted"), "sums of differences from a value near the mean: no combines, unless digits are lost"
    if task.objects:
        return find("two_stacks_lite"), "partials are Python objects, so few combines matter most: 3 per row"
    if task.stepwise:
        return find("daba_lite"), "no single operation is slow: each needs at most 3 combines"
    if not task.sizes:
        return find("sba"), "chunks are swept when a range leaves them: at most 3 combines per row, and no queue"
    return find("sba"), "two sweeps per chunk: 3 combines per row and no bookkeeping, whatever the size"


def _find_named(task: Task, name: str) -> Algorithm:
    algorithm = find(_variant(task, name))
    if not algorithm.admits(task.invertible, task.selective, task.quantile, task.variance):
        trait = algorithm.facts.needs.value
        raise UnsupportedAggregate.lacks(trait, algorithm.name, task.name, instead=list(_able(task)))
    if not task.sizes and algorithm.facts.sizes is Sizes.FIXED:
        raise InvalidInput.whole_array(algorithm.name)
    return algorithm


def _variant(task: Task, name: str) -> str:
    """Return the name of the variant for the aggregate: SlickDeque and SlideSide have two variants each."""
    inverse = f"{name}_inv"
    if not isinstance(name, str) or inverse not in ALGORITHMS or not task.invertible:
        return name
    return inverse if not ALGORITHMS[name].admits(task.invertible, task.selective) else name


def _able(task: Task) -> Iterator[str]:
    for name in ("two_stacks_lite", "daba_lite", "slick_deque", "subtract_on_evict", "ranked"):
        if task.stepwise and ALGORITHMS[name].facts.sizes is Sizes.FIXED:
            continue
        if ALGORITHMS[name].admits(task.invertible, task.selective, task.quantile, task.variance):
            yield name


_VARIANCES = {"variance", "stddev"}
_IN_PARTIAL = _VARIANCES | {"count", "sum", "mean"}  # read the count, the sum or the squares


def task_of(templates: dict[str, Template], floats: bool = False, **shape: object) -> Task:
    """Return the task of several aggregates: the traits that all of them have."""
    each = list(templates.values())
    names = {template.name if isinstance(template, Builtin) else "" for template in each}
    quantile = all(isinstance(template, Builtin) and template.name in ("median", "quantile") for template in each)
    return Task(
        name="+".join(templates),
        invertible=all(template.invertible for template in each),
        selective=len(each) == 1 and each[0].selective,
        quantile=quantile,
        variance=_VARIANCES.issuperset(names) or (floats and not names.isdisjoint(_VARIANCES) and names <= _IN_PARTIAL),
        **shape,  # type: ignore[arg-type]
    )
