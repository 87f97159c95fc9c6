"""Aggregates by the names that SQL and the papers give them, and those that users register."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sash.algebra import extremes, holistic, sketches, sums
from sash.algebra.aggregate import Aggregate, Template
from sash.errors import InvalidAggregate, InvalidInput, InvalidText, SashError
from sash.keywords import checked
from sash.syntax.expressions import SCALARS, SYNONYMS, Apply, Call, Expression, Literal

__all__ = ["AGGREGATES", "OVER_ONLY", "Functions", "filter_of", "functions_of", "register"]


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
    **dict.fromkeys(
        ("quantile", "percentile", "quantile_cont", "percentile_cont"), Signature(holistic.quantile, parameters=1)
    ),
    **dict.fromkeys(("collect", "collect_list", "array_agg", "list"), Signature(holistic.collect)),
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
_NEEDED = frozenset(("quantile", "percentile", "quantile_cont", "percentile_cont"))  # their parameter has no default
_OF_CONDITION = ("count_if", "countif")
_RARE = {
    "list",
    "average",
    "maxcount",
    "mincount",
    "geomean",
    "nunique",
    "n_unique",
    "group_concat",
    "stdev",
    "collect_set",
}
# Functions that have a meaning only with OVER; `sash.text.over` translates them.
OVER_ONLY = ("lag", "lead", "row_number", "rank")
# Functions that people know from elsewhere, and what to write instead.
_INSTEAD = {
    **dict.fromkeys(("tumble_start", "hop_start", "session_start"), "write window_start"),
    **dict.fromkeys(("tumble_end", "hop_end", "session_end"), "write window_end"),
    **dict.fromkeys(("tumble_rowtime", "hop_rowtime", "session_rowtime"), "write window_end"),
    **dict.fromkeys(("dense_rank", "ntile", "percent_rank", "cume_dist"), "use RANK or ROW_NUMBER"),
    "nth_value": "write LAG or LEAD with a number of rows",
    **dict.fromkeys(("percentile_disc", "quantile_disc"), "write PERCENTILE_CONT"),
    **dict.fromkeys(
        ("approx_percentile", "percentile_approx", "approx_quantile"), "write PERCENTILE(x, 0.95), which is exact"
    ),
    **dict.fromkeys(("date_trunc", "date_bin", "time_bucket"), "write GROUP BY window(ts, '1 hour')"),
    **dict.fromkeys(
        (
            *("extract", "year", "month", "day", "hour", "minute", "second", "dayofweek", "weekday", "date_part"),
            *("date_format", "to_date", "unix_timestamp", "epoch", "datediff", "timestampdiff", "window_time"),
        ),
        "compute it as a column of the table or of the result",
    ),
    **dict.fromkeys(("bool_or", "any", "some", "logical_or"), "write MAX(condition), because true is more than false"),
    **dict.fromkeys(
        ("bool_and", "every", "all", "logical_and"), "write MIN(condition), because false is less than true"
    ),
    "arg_max": "write MAX_BY(who, x)",
    "arg_min": "write MIN_BY(who, x)",
    **dict.fromkeys(("sum_if", "sumif"), "write SUM(x) FILTER (WHERE condition)"),
    **dict.fromkeys(("now", "current_timestamp", "current_date"), "write a constant such as TIMESTAMP '2026-01-31'"),
    **dict.fromkeys(
        ("corr", "covar_samp", "covar_pop", "skewness", "kurtosis", "histogram", "entropy"),
        "write your own with sash.Aggregate",
    ),
}

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
    if any(name.lower() in each for each in (AGGREGATES, SCALARS, SYNONYMS, OVER_ONLY, _OF_CONDITION)):
        raise InvalidText.registered(name)
    return name.lower()


@dataclass(frozen=True)
class Functions:
    """The aggregates that a query text may call."""

    own: Mapping[str, Template]

    def knows(self, name: str) -> bool:
        return any(name.lower() in each for each in (AGGREGATES, OVER_ONLY, _OF_CONDITION, self.own))

    def template_of(self, call: Call, column: Callable[[Expression], str]) -> Template:
        """Return the aggregate of a call, without its FILTER; `column` names a column for an expression."""
        call = _in_group(_counted(call))
        name = call.name.lower()
        if name in self.own:
            self._check_plain(call)
            return self._own(call, self.own[name], column)
        if name in OVER_ONLY:
            what = f"{call.name} needs OVER"
            raise InvalidText.meaning(call.place, what, f"write for example {call.name}(…) OVER (ORDER BY ts)")
        if name in _INSTEAD:
            raise InvalidText.unsupported(call.place, call.name, _INSTEAD[name])
        if name not in AGGREGATES:
            known = {*AGGREGATES, *SCALARS, *OVER_ONLY, "count_if", *self.own} - _RARE
            raise InvalidText.unknown(call.place, "function", call.name, known)
        if name == "count" and (call.of_rows or _is_constant(call) or not call.arguments):
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


def _counted(call: Call) -> Call:
    """Return COUNT_IF(condition) as COUNT(*) FILTER (WHERE condition)."""
    if call.name.lower() not in _OF_CONDITION:
        return call
    if len(call.arguments) != 1 or call.of_rows or call.is_distinct:
        raise InvalidText.arguments(call.place, call.name, "1 argument", len(call.arguments))
    return replace(call, name="count", of_rows=True, arguments=(), filter=filter_of(call))


def filter_of(call: Call) -> Expression | None:
    """Return the condition on the rows of a call: that of FILTER, and that of COUNT_IF."""
    given = [] if call.filter is None else [call.filter]
    if call.name.lower() in _OF_CONDITION:
        given += call.arguments
    return Apply("and", tuple(given), given[0].place) if len(given) > 1 else given[0] if given else None


def _in_group(call: Call) -> Call:
    """Return PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x) as QUANTILE(x, q), and MODE() likewise."""
    name = call.name.lower()
    if not call.within:
        if name == "percentile_cont" and len(call.arguments) == 1:
            what = f"{call.name} lacks its column"
            fix = "write PERCENTILE_CONT(0.95) WITHIN GROUP (ORDER BY x)"
            raise InvalidText.meaning(call.place, what, fix)
        return call
    if name not in ("percentile_cont", "quantile_cont", "mode") or len(call.within) > 1:
        what = f"WITHIN GROUP of {call.name}"
        if name in _INSTEAD:
            raise InvalidText.unsupported(call.place, call.name, _INSTEAD[name])
        raise InvalidText.unsupported(call.place, what, "leave it out: rows are in the order of `on`")
    (key,) = call.within
    parameters = call.arguments
    if name != "mode":
        number = parameters[0].value if len(parameters) == 1 and isinstance(parameters[0], Literal) else None
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise InvalidText.meaning(call.place, f"{call.name} needs one constant", "write a number from 0 to 1")
        parameters = (Literal(1 - number if key.is_descending else number, parameters[0].place),)
    return replace(call, arguments=(key.expression, *parameters), within=())


def _is_constant(call: Call) -> bool:
    """Return whether a call is COUNT(1)."""
    constants = [
        each for each in call.arguments if isinstance(each, Literal) and not isinstance(each.value, str | None)
    ]
    return not call.is_distinct and len(call.arguments) == 1 and len(constants) == 1


def _builtin(call: Call, signature: Signature, is_needed: bool, column: Callable[[Expression], str]) -> Template:
    least = signature.columns + is_needed
    most = signature.columns + signature.parameters
    if not least <= len(call.arguments) <= most:
        expected = f"{least}" if least == most else f"{least} to {most}"
        words = f"{expected} argument{'s' if most > 1 else ''}"
        raise InvalidText.arguments(call.place, call.name, words, len(call.arguments))
    for each in call.arguments[: signature.columns]:
        if isinstance(each, Literal) and isinstance(each.value, str):
            raise InvalidText.text_for_column(each.place, call.name, each.value)
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
