"""The window join of bounded DataFrames: labels and events travel packed to the same buckets."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from sash.engine.join import JoinOptions, JoinPlan, Lookback, check_lookbacks, own_keys, own_on, plan_join
from sash.engine.options import options_of
from sash.engine.tables import read_rows
from sash.limits import LIMITS, Limits
from sash.plan.plan import Options
from sash.spark.driver.added_columns import AddedColumns, with_added
from sash.spark.driver.hot_keys import Distance, Reach
from sash.spark.driver.packing import check_bounded, hot_keys_of, map_rows, pack, spread, task_count
from sash.spark.driver.schema import (
    arrow_schema,
    check_columns,
    check_no_twins,
    check_results,
    column,
    spark_schema,
    text_interval_schema,
    with_intervals,
    with_text_intervals,
)
from sash.spark.wire.hot_keys import HotKey
from sash.spark.wire.results import as_results
from sash.spark.worker.join import JoinTask

__all__ = ["explain", "join"]


def join(labels: DataFrame, lookbacks: Sequence[Lookback], given: JoinOptions, limits: Limits = LIMITS) -> DataFrame:
    """Return all labels of a bounded DataFrame with the aggregates of the rows of others before them."""
    labels, extra = _with_nested(labels, given)
    plan, options, own, tables, empty, added = _planned(labels, lookbacks, given, limits)
    check_results(labels, added.names, own.names)
    new = spark_schema(added, "sash.join").fields
    before, labels = labels.schema, with_text_intervals(labels)
    frames = list(tables.values())
    hot = _hot_keys(labels, tables, plan, limits)
    tasks = task_count([labels, *frames], limits)
    pieces = [pack(labels, options, plan.measure, _without_halos(hot), tasks)]
    for number, ((_, on, by), frame) in enumerate(tables.items(), start=1):
        own_options = Options(on, by, limits=limits)
        pieces.append(pack(frame, own_options, empty[id(frame)].measure(on), hot, tasks, side=number))
    task = JoinTask(
        plan,
        own,
        tuple(arrow_schema(frame.schema) for frame in frames),
        pa.schema([*own, *as_results(added)]),
        limits,
        hot,
    )
    spread_pieces = spread(reduce(DataFrame.unionAll, pieces), tasks)
    joined = map_rows(spread_pieces, task, StructType([*labels.schema.fields, *new]))
    return extra.drop(with_intervals(joined, StructType([*before.fields, *new])))


def explain(labels: DataFrame, lookbacks: Sequence[Lookback], given: JoinOptions) -> JoinPlan:
    """Return what `sash.join` does with these DataFrames."""
    plan: JoinPlan = _planned(_with_nested(labels, given)[0], lookbacks, given, LIMITS)[0]
    return plan


def _with_nested(labels: DataFrame, given: JoinOptions) -> tuple[DataFrame, AddedColumns]:
    """Return labels with a column for each nested field that the join reads."""
    check_bounded(labels, "sash.join")
    by = given.by if isinstance(given.by, list | tuple) else [given.by]
    rows, _, extra = with_added(labels, (), (given.on, *by))
    return rows, extra


def _planned(labels: DataFrame, lookbacks: Sequence[Lookback], given: JoinOptions, limits: Limits) -> Any:
    """Return the plan, the options and columns of the labels, the tables of events, their types, and the results."""
    check_lookbacks(lookbacks)
    for each in lookbacks:
        check_bounded(each.table, "sash.join")
    options = options_of(given.on, given.by, 0, None, False, "final", limits=limits)
    lookbacks = _without_conditions(lookbacks, options)
    check_columns(labels, [options.on, *options.by])
    check_no_twins(labels)
    own = arrow_schema(text_interval_schema(labels.schema))
    tables = _tables(lookbacks, options)
    sealed = [replace(each, table=tables[_place(each, options)], aggregates=_sealed(each)) for each in lookbacks]
    empty = {id(frame): read_rows(arrow_schema(frame.schema).empty_table()) for frame in tables.values()}
    events = [empty[id(each.table)] for each in sealed]
    plan = plan_join(read_rows(own.empty_table()), events, sealed, given)
    added = pa.schema([pa.field(name, kind or pa.null()) for name, kind in plan.results(events)])
    return plan, options, own, tables, empty, added


def _without_conditions(lookbacks: Sequence[Lookback], options: Options) -> list[Lookback]:
    """Return the lookbacks with added columns in their tables; those over one table still share it."""
    found = list(lookbacks)
    for table in {id(each.table): each.table for each in lookbacks}.values():
        places = [place for place, each in enumerate(lookbacks) if each.table is table]
        own = [lookbacks[place] for place in places]
        read = [name for each in own for name in (own_on(each.on, options.on), *own_keys(each.by, options.by))]
        rows, rewritten, _ = with_added(table, own, read, "join")
        for place, each in zip(places, rewritten, strict=True):
            found[place] = replace(each, table=rows)
    return found


Place = tuple[int, str, tuple[str, ...]]  # a DataFrame, its `on` and its `by`


def _place(one: Lookback, options: Options) -> Place:
    return id(one.table), own_on(one.on, options.on), own_keys(one.by, options.by)


def _tables(lookbacks: Sequence[Lookback], options: Options) -> dict[Place, DataFrame]:
    """Return the columns of each table that lookbacks read, in the order of their first lookback."""
    wanted: dict[Place, tuple[DataFrame, list[str]]] = {}
    for each in lookbacks:
        place = _place(each, options)
        frame, names = wanted.setdefault(place, (each.table, [place[1], *place[2]]))
        names += [name for _, template in each.aggregates for name in template.columns]
    found = {}
    for place, (frame, names) in wanted.items():
        distinct = list(dict.fromkeys(names))
        check_columns(frame, distinct)
        found[place] = frame.select(*map(column, distinct))
    return found


def _sealed(one: Lookback) -> tuple[tuple[str, Any], ...]:
    return tuple((name, each.seal()) for name, each in one.aggregates)


def _hot_keys(labels: DataFrame, tables: dict[Place, DataFrame], plan: JoinPlan, limits: Limits) -> tuple[HotKey, ...]:
    """Return the hot keys of labels and events, cut into chunks; none if a lookback has no limit in time."""
    if any(side.length is None for side in plan.sides) or plan.on in plan.by:
        return ()
    reach = Reach(Distance(max(side.length + side.delay for side in plan.sides)))
    names = [*plan.by, plan.on]
    narrow = [frame.select(*(column(name) for name in (*by, on))).toDF(*names) for (_, on, by), frame in tables.items()]
    rows = reduce(DataFrame.unionAll, [*narrow, labels.select(*map(column, names))])
    return hot_keys_of(rows, Options(plan.on, plan.by, limits=limits), plan.measure, reach)


def _without_halos(hot: tuple[HotKey, ...]) -> tuple[HotKey, ...]:
    """Return the same chunks without halos: a label belongs to one chunk."""
    return tuple(replace(each, chunks=tuple(chunk.own for chunk in each.chunks)) for each in hot)
