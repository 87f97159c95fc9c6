"""Aggregates by the names that SQL and the papers give them, and those that users register."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sash.algebra import extremes, holistic, sketches, sums
from sash.algebra.aggregate import Aggregate, Template
from sash.errors import InvalidAggregate, InvalidInput, InvalidText, SashError
from sash.keywords import checked
from sash.syntax.expressions import SCALARS, Call, Expression, Literal

__all__ = ["AGGREGATES", "Functions", "functions_of", "register"]


@dataclass(frozen=True)
class Signature:
    """The arguments of an aggregate: the numbers of columns, then of constants."""

    make: Callable[..., Template]
    columns: int = 1
    parameters: int = 0
    is_reversed: bool = False  # MAX_BY(who, x) is ARGMAX(x, who)


AGGREGATES: dict[str, Signature] = {
    "count": Signature(sums.count),
    "sum": Signature(sums.sum),
    **dict.fromkeys(("avg", "mean", "average"), Signature(sums.mean)),
    "product": Signature(sums.product),
    **dict.fromkeys(("stddev", "stddev_samp", "std", "stdev"), Signature(sums.stddev)),
    "stddev_pop": Signature(partial(sums.stddev, population=True)),
    **dict.fromkeys(("variance", "var_samp", "var"), Signature(sums.variance)),
    "var_pop": Signature(partial(sums.variance, population=True)),
    **dict.fromkeys(("geomean", "geometric_mean"), Signature(sums.geometric_mean)),
    "min": Signature(extremes.min),
    "max": Signature(extremes.max),
    "range": Signature(extremes.range),
    **dict.fromkeys(("maxcount", "max_count"), Signature(extremes.max_count)),
    **dict.fromkeys(("mincount", "min_count"), Signature(extremes.min_count)),
    "argmax": Signature(extremes.argmax, columns=2),
    "argmin": Signature(extremes.argmin, columns=2),
    "max_by": Signature(extremes.argmax, columns=2, is_reversed=True),
    "min_by": Signature(extremes.argmin, columns=2, is_reversed=True),
    **dict.fromkeys(("first", "first_value", "any_value"), Signature(extremes.first)),
    **dict.fromkeys(("last", "last_value"), Signature(extremes.last)),
    "m4": Signature(extremes.m4),
    "median": Signature(holistic.median),
    "mode": Signature(holistic.mode),
    **dict.fromkeys(("quantile", "percentile", "quantile_cont"), Signature(holistic.quantile, parameters=1)),
    **dict.fromkeys(("collect", "collect_list", "array_agg"), Signature(holistic.collect)),
    **dict.fromkeys(("collect_distinct", "collect_set"), Signature(holistic.collect_distinct)),
    **dict.fromkeys(("count_distinct", "nunique", "n_unique"), Signature(holistic.count_distinct)),
    **dict.fromkeys(("string_agg", "listagg", "group_concat"), Signature(holistic.string_agg, parameters=1)),
    "approx_count_distinct": Signature(sketches.hyperloglog),
    "hyperloglog": Signature(sketches.hyperloglog, parameters=1),
    "bloom_filter": Signature(sketches.bloom_filter, parameters=2),
    "count_min": Signature(sketches.count_min, parameters=2),
    "moment_sketch": Signature(sketches.moment_sketch, parameters=2),
}
_OF_DISTINCT = {"count": "count_distinct", "collect": "collect_distinct", "array_agg": "collect_distinct"}
_NEEDED = frozenset(("quantile", "percentile", "quantile_cont"))  # their parameter has no default

_registered: dict[str, Template] = {}


@checked
def register(aggregate: Aggregate) -> Aggregate:
    """Register your own aggregate for `sash.sql` by its name in any case; it replaces an earlier one of that name.

    >>> import sash
    >>> halves = sash.Aggregate(
    ...     "halves",
    ...     state="f8",
    ...     identity=0.0,
    ...     lift=lambda x: x / 2,
    ...     combine=lambda a, b: a + b,
    ... )
    >>> _ = sash.register(halves)
    >>> sash.sql(
    ...     "SELECT HALVES(x) AS h FROM t [RANGE 10 SLIDE 10]",
    ...     t={"n": [1, 2], "x": [3.0, 4.0]},
    ...     on="n",
    ... )["h"][0]
    <pyarrow.DoubleScalar: 3.5>
    """
    if not isinstance(aggregate, Aggregate):
        raise InvalidAggregate.not_an_aggregate(aggregate)
    _registered[_free(aggregate.name)] = aggregate
    return aggregate


def _free(name: str) -> str:
    if name.lower() in AGGREGATES or name.lower() in SCALARS:
        raise InvalidText.registered(name)
    return name.lower()


@dataclass(frozen=True)
class Functions:
    """The aggregates that a query text may call."""

    own: Mapping[str, Template]

    def knows(self, name: str) -> bool:
        return name.lower() in AGGREGATES or name.lower() in self.own

    def template_of(self, call: Call, column: Callable[[Expression], str]) -> Template:
        """Return the aggregate of a call; `column` names a column for an expression."""
        name = call.name.lower()
        if name in self.own:
            self._check_plain(call)
            return self._own(call, self.own[name], column)
        if name not in AGGREGATES:
            raise InvalidText.unknown(call.place, "function", call.name, {*AGGREGATES, *SCALARS, *self.own})
        if name == "count" and (call.of_rows or _is_constant(call)):
            return sums.count()
        if call.is_distinct:
            if name not in _OF_DISTINCT:
                raise InvalidText.unsupported(
                    call.place, f"DISTINCT in {call.name}", "only COUNT and COLLECT accept it"
                )
            name = _OF_DISTINCT[name]
        elif call.of_rows:
            self._check_plain(call)
        return _builtin(call, AGGREGATES[name], name in _NEEDED, column)

    def _check_plain(self, call: Call) -> None:
        if call.of_rows or call.is_distinct:
            what = "*" if call.of_rows else "DISTINCT"
            raise InvalidText.unsupported(call.place, f"{what} in {call.name}", "name the column, without it")

    def _own(self, call: Call, template: Template, column: Callable[[Expression], str]) -> Template:
        if len(call.arguments) != template.arity:
            expected = f"{template.arity} argument{'s' if template.arity > 1 else ''}"
            raise InvalidText.arguments(call.place, call.name, expected, len(call.arguments))
        return replace(template, columns=tuple(column(each) for each in call.arguments))


def _is_constant(call: Call) -> bool:
    """Return whether a call is COUNT(1)."""
    constants = [each for each in call.arguments if isinstance(each, Literal) and each.value is not None]
    return not call.is_distinct and len(call.arguments) == 1 and len(constants) == 1


def _builtin(call: Call, signature: Signature, is_needed: bool, column: Callable[[Expression], str]) -> Template:
    least = signature.columns + is_needed
    most = signature.columns + signature.parameters
    if not least <= len(call.arguments) <= most:
        expected = f"{least}" if least == most else f"{least} to {most}"
        words = f"{expected} argument{'s' if most > 1 else ''}"
        raise InvalidText.arguments(call.place, call.name, words, len(call.arguments))
    columns = [column(each) for each in call.arguments[: signature.columns]]
    parameters: list[Any] = []
    for each in call.arguments[signature.columns :]:
        if not isinstance(each, Literal):
            raise InvalidText.meaning(each.place, f"{call.name} needs a constant here", "write a number or a string")
        parameters.append(each.value)
    try:
        return signature.make(*(reversed(columns) if signature.is_reversed else columns), *parameters)
    except SashError as error:
        raise InvalidText.because(call.arguments[-1].place, error) from None


def functions_of(given: Mapping[str, Template] | None) -> Functions:
    """Return the functions that a text may call: the registered ones, and those given with the call."""
    own = dict(_registered)
    if not isinstance(given, Mapping | None):
        raise InvalidInput.option("functions", given, "a dict of aggregates by the names that the text calls them")
    for name, template in (given or {}).items():
        if not isinstance(template, Template):
            raise InvalidAggregate.not_an_aggregate(template)
        own[_free(str(name))] = template
    return Functions(own)
