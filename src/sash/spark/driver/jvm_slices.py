"""JVM slices: Spark itself aggregates rows into slices, and Python reads only slices.

If no row decides where windows start and end, the slice of a row is arithmetic. If Spark has an aggregate for every
field of a partial, a slice is a group. Then Spark generates code for `groupBy(by, slice).agg(partials)`, and combines
before it shuffles.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from sash.algebra.monoid import Component
from sash.errors import InvalidInput
from sash.plan.decide import Decision
from sash.plan.plan import Plan
from sash.plan.planner import of_slices
from sash.plan.share import keeps_runs
from sash.spark.driver.edge_table import can_list, with_listed_starts
from sash.spark.driver.schema import column
from sash.spark.versions import is_time_of_day
from sash.windows.measure import MeasureKind
from sash.windows.window import Context

__all__ = ["aggregate_in_spark", "aggregate_slices", "can_aggregate_in_spark", "can_slice", "position_of"]

Fields = list[Column | None]
# Each adds an expression per row; with more, a kernel that cuts by a sorted array is cheaper.
_MOST_PROGRESSIONS = 64
_ARRIVAL = "_arrival"
# A field that says whether there was a value. It does not travel: the first field of its component is null if not.
SEEN = None
_DAY = 86_400_000_000
_FARTHEST = 2**61  # larger positions are refused
_HERE = "the value"  # stands in a message where Spark puts the value of a row


def can_slice(plan: Plan, schema: spark.StructType) -> Decision:
    """Return whether Spark can cut these windows and has every field of their partials."""
    for query in plan.queries:
        if not query.kind.spark_slices:
            is_known = query.window.context is Context.FREE and not query.window.by_count
            why = "are not those of a grid" if is_known else "depend on rows"
            return Decision(False, f"the edges of {query.name!r} {why}")
        if query.kind.has_own_edges and not can_list(query.kind):
            return Decision(False, f"the edges of {query.name!r} are too many for a table")
    if plan.measure.kind is MeasureKind.FLOAT:
        return Decision(False, f"{plan.options.on!r} is a float, and Spark would round edges in its own way")
    if isinstance(schema[plan.options.on].dataType, spark.TimestampNTZType):
        return Decision(False, f"Spark cannot convert {plan.options.on!r}, which has no time zone, to microseconds")
    for name in (*plan.options.by, *plan.columns):
        if is_time_of_day(schema[name].dataType):
            return Decision(False, f"Spark does not aggregate the times of day of {name!r}")
    if plan.options.on in plan.options.by:
        return Decision(False, f"{plan.options.on!r} is a key too")
    if {plan.options.on, *plan.options.by} & {name for own in of_slices(plan).group_columns for name in own}:
        return Decision(False, "a column has the name of a partial")
    if len(plan.edges.step) + len(plan.edges.points) > _MOST_PROGRESSIONS:
        return Decision(False, f"there are more than {_MOST_PROGRESSIONS} grids of edges")
    for group in plan.groups:
        for component in group.components:
            if keeps_runs(group) or component.name not in _PARTIALS:
                return Decision(False, f"Spark cannot compute the partial of {component.name.partition('@')[0]!r}")
    return Decision(True, "edges do not depend on rows, and Spark can compute every partial")


def position_of(rows: DataFrame, on: str, given: Column) -> Column:
    """Return the position of a row, in microseconds or as an integer; refuse one that is too large to compute with."""
    kind = rows.schema[on].dataType
    unit = _DAY if isinstance(kind, spark.DateType) else 1
    if isinstance(kind, spark.TimestampType):
        given = F.unix_micros(given)
    elif isinstance(kind, spark.DateType):
        given = F.unix_date(given)
    whole = given.cast("long")
    near = F.when(whole.isNull() | whole.between(-(_FARTHEST // unit), _FARTHEST // unit), whole * unit)
    what = MeasureKind.INTEGER if isinstance(kind, spark.IntegralType) else MeasureKind.TIME
    message = str(InvalidInput.too_far(on, _HERE, what.value, float(_FARTHEST)))
    before, after = message.split(repr(_HERE))
    return near.otherwise(F.raise_error(F.concat(F.lit(before), whole.cast("string"), F.lit(after))))


def _plain(rows: DataFrame, plan: Plan) -> tuple[DataFrame, dict[str, Column]]:
    """Return the columns that a plan reads under plain names, and the new column of each name."""
    names = list(dict.fromkeys([plan.options.on, *plan.options.by, *plan.columns]))
    plain = [f"_{place}" for place, _ in enumerate(names)]
    return rows.select(*map(column, names)).toDF(*plain), dict(zip(names, map(F.col, plain), strict=True))


def _slice_of(plan: Plan, rows: DataFrame, position: Column) -> tuple[DataFrame, Column]:
    """Return rows with columns for their slices, and the last edge at or before a position."""
    listed = {str(query.window): query.kind for query in plan.queries if query.kind.has_own_edges}
    rows, starts = with_listed_starts(rows.where(position.isNotNull()), position, list(listed.values()))
    starts += [
        position - F.pmod(position - F.lit(phase), F.lit(step))
        for step, phase in zip(plan.edges.step.tolist(), plan.edges.phase.tolist(), strict=True)
    ]
    starts += [F.when(position >= point, F.lit(point)) for point in plan.edges.points.tolist()]
    if len(starts) == len(plan.edges.points):  # before the first of fixed edges no window begins
        starts.append(F.lit(-_FARTHEST))
    return rows, F.greatest(*starts) if len(starts) > 1 else starts[0]


def can_aggregate_in_spark(plan: Plan, schema: spark.StructType) -> Decision:
    """Return whether each window is one slice and Spark has all aggregates: then Python has nothing to do."""
    query = plan.queries[0]
    if isinstance(schema[plan.options.on].dataType, spark.DateType):
        return Decision(False, "the edges of a date have no time zone")
    if len(plan.queries) > 1 or not query.kind.is_one_slice:
        return Decision(False, "a window has more than one slice")
    for reading in query.readings:
        kinds = [schema[name].dataType for name in reading.template.columns]
        if reading.template.name not in _RESULTS or not all(isinstance(kind, _PLAIN) for kind in kinds):
            return Decision(False, f"Spark and sash compute {reading.template.name!r} of this type differently")
        if reading.template.name == "sum" and isinstance(kinds[0], spark.LongType):
            return Decision(False, "a sum of bigints can overflow in Spark although the result fits into 64 bits")
    return Decision(True, "each window is one slice, and Spark can compute the aggregates")


def aggregate_in_spark(rows: DataFrame, plan: Plan, schema: spark.StructType) -> DataFrame:
    """Return the windows, each of which is one slice."""
    (query,) = plan.queries
    window: Any = query.window
    given, names = _plain(rows, plan)
    position = position_of(rows, plan.options.on, names[plan.options.on])
    keys = [names[name].alias(f"key{place}") for place, name in enumerate(plan.options.by)]
    results = [
        _RESULTS[each.template.name](each.template, [names[name] for name in each.template.columns]).alias(
            f"value{place}"
        )
        for place, each in enumerate(query.readings)
    ]
    given, begin = _slice_of(plan, given, position)
    windows = given.groupBy(*keys, begin.alias("start")).agg(*results)
    start = F.col("start")
    edges = [start, start + window.size]
    if plan.measure.kind is MeasureKind.TIME:
        edges = [F.timestamp_micros(edge) for edge in edges]
    found = [F.col(name) for name in windows.columns]
    found = [*found[: len(keys)], F.lit(query.name), *edges, *found[len(keys) + 1 :]]
    return windows.select(*(each.cast(field.dataType) for each, field in zip(found, schema.fields, strict=True))).toDF(
        *schema.names
    )


def aggregate_slices(rows: DataFrame, plan: Plan) -> DataFrame:
    """Return one row for each key and slice; its columns are the fields of its partials."""
    given, called = _plain(rows, plan)
    position = position_of(rows, plan.options.on, called[plan.options.on])
    components = [
        (component, names)
        for group, names in zip(plan.groups, plan.group_columns, strict=True)
        for component in group.components
    ]
    if not all(component.commutative for component, _ in components):
        given = given.withColumn(_ARRIVAL, F.monotonically_increasing_id())
    fields: Fields = []
    for component, names in components:
        inputs = _Inputs([called[names[i]] for i in component.inputs], position, component)
        fields += _PARTIALS[component.name](inputs)
    named = [name for own in of_slices(plan).group_columns for name in own]
    travelling = [(field, name) for field, name in zip(fields, named, strict=True) if field is not SEEN]
    keys = [called[name].alias(f"key{place}") for place, name in enumerate(plan.options.by)]
    given, begin = _slice_of(plan, given, position)
    slices = given.groupBy(*keys, begin.alias("start")).agg(
        *(field.alias(f"field{place}") for place, (field, _) in enumerate(travelling))
    )
    return slices.toDF(*plan.options.by, plan.options.on, *(name for _, name in travelling))


@dataclass(frozen=True)
class _Inputs:
    """The columns that the expressions of a component read."""

    columns: list[Column]
    position: Column
    component: Component

    @property
    def x(self) -> Column:
        return self.columns[0]

    @property
    def has_all(self) -> Column:
        return reduce(lambda a, b: a & b, [each.isNotNull() for each in self.columns])

    def in_order(self, first: bool, *before: Column) -> Column:
        """Return what decides which row is first or last: values, position, arrival; null if x is null."""
        sign = 1 if first else -1
        return F.when(self.x.isNotNull(), F.struct(*before, self.position * sign, F.col(_ARRIVAL) * sign))


def _count(inputs: _Inputs) -> Fields:
    return [F.count(F.when(inputs.has_all, 1)) if inputs.columns else F.count(F.lit(1))]


def _sum(inputs: _Inputs) -> Fields:
    x = inputs.x
    if len(inputs.component.fields) == 1:
        return [F.coalesce(F.sum(x.cast("double")), F.lit(0.0))]
    whole = x.cast("long")  # exact in two halves, whatever the number of rows
    halves = F.sum(F.shiftright(whole, 32)), F.sum(whole.bitwiseAND(F.lit(0xFFFFFFFF)))
    return [F.coalesce(half, F.lit(0).cast("long")) for half in halves]


def _m2(inputs: _Inputs) -> Fields:
    x = inputs.x.cast("double")
    squares = F.var_pop(x) * F.count(x)
    return [F.coalesce(F.when(F.isnan(squares) & _all_finite(x), F.lit(math.inf)).otherwise(squares), F.lit(0.0))]


def _all_finite(x: Column) -> Column:
    return F.max(F.abs(x)) < math.inf  # NaN is the largest


def _logs(inputs: _Inputs) -> Fields:
    x = inputs.x.cast("double")
    log = F.when(x > 0, F.log(x)).when(x == 0, F.lit(float("-inf"))).when(x < 0, F.lit(float("nan")))
    return [F.coalesce(F.sum(log), F.lit(0.0))]


def _max(inputs: _Inputs) -> Fields:
    return [F.max(inputs.x), SEEN]


def _min(inputs: _Inputs) -> Fields:
    return [F.min(inputs.x), SEEN]


def _first(inputs: _Inputs) -> Fields:
    return [F.min_by(inputs.x, inputs.in_order(True)), SEEN]


def _last(inputs: _Inputs) -> Fields:
    return [F.min_by(inputs.x, inputs.in_order(False)), SEEN]


def _argmax(inputs: _Inputs) -> Fields:
    who = inputs.columns[1]
    # Of equal values the first in time wins: position and arrival are negated.
    order = inputs.in_order(False, inputs.x)
    return [F.max(inputs.x), F.max_by(who, order), F.max_by(who.isNotNull(), order), SEEN]


def _argmin(inputs: _Inputs) -> Fields:
    who = inputs.columns[1]
    order = inputs.in_order(True, inputs.x)
    return [F.min(inputs.x), F.min_by(who, order), F.min_by(who.isNotNull(), order), SEEN]


Result = Callable[[Any, list[Column]], Column]


def _of(function: Callable[[Column], Column]) -> Result:
    return lambda template, columns: function(columns[0])


def _spread(sample: Callable[[Column], Column], population: Callable[[Column], Column]) -> Result:
    def spread(template: Any, columns: list[Column]) -> Column:
        x = columns[0].cast("double")
        found = (population if dict(template.parameters)["population"] else sample)(x)
        # Where differences of values overflow a double, Spark returns NaN or infinity, depending on its partitions.
        is_beyond = F.isnan(found) | (F.abs(F.sum(x)) == math.inf)
        return F.when(found.isNotNull() & is_beyond & _all_finite(x), F.lit(math.inf)).otherwise(found)

    return spread


# Aggregates that mean the same to Spark, and the types for which they do.
_PLAIN = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType, spark.FloatType, spark.DoubleType)
_RESULTS: dict[str, Result] = {
    "count": lambda template, columns: F.count(columns[0] if columns else F.lit(1)),
    "sum": _of(F.sum),
    "mean": _of(F.avg),
    "min": _of(F.min),
    "max": _of(F.max),
    "variance": _spread(F.var_samp, F.var_pop),
    "stddev": _spread(F.stddev_samp, F.stddev_pop),
}

_PARTIALS: dict[str, Callable[[_Inputs], Fields]] = {
    "count": _count,
    "sum": _sum,
    "m2": _m2,
    "logs": _logs,
    "optional max": _max,
    "optional min": _min,
    "optional first": _first,
    "optional last": _last,
    "optional argmax": _argmax,
    "optional argmin": _argmin,
}
