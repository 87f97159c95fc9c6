"""A life on Spark without Spark: a bucket's snapshot and log, and workers that come, go and fail.

Each push is a micro-batch. Some attempts fail after they have run, and leave their worker's memory behind. Queries
change at restarts, where no worker remembers anything.
"""

import math
import random
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sash.engine.options import options_of
from sash.engine.results import schema_of
from sash.limits import LIMITS, Limits
from sash.spark.state.bucket import MicroBatch
from sash.spark.state.snapshot_log import SnapshotLog, WorkerMemory
from sash.spark.state.window_bucket import WindowWork
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import as_results
from tests.engine.descriptions import number, parse
from tests.engine.transcripts import key_columns, subjects, written
from tests.lives.life import COLUMNS, Add, Life, Push, Remove, Restore
from tests.lives.living import (
    ON,
    TYPES,
    Difference,
    change,
    compare,
    length,
    limits_of,
    oracle_of,
    position,
    read,
    rows_of,
)

__all__ = ["run", "schema_of_rows", "work_of"]

BUCKET = 0


class _Store:
    """A map of Spark's state store, as a task sees it."""

    def __init__(self, entries: dict[Any, Any]) -> None:
        self.entries = entries

    def getMapState(self, *_: Any) -> "_Store":  # noqa: N802
        return self

    def containsKey(self, key: Any) -> bool:  # noqa: N802
        return key in self.entries

    def getValue(self, key: Any) -> Any:  # noqa: N802
        return self.entries.get(key)

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self.entries[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self.entries[key]


def schema_of_rows(life: Life) -> pa.Schema:
    types = {"t": ON[life.unit], **TYPES}
    return pa.schema([(name, types[name]) for name in COLUMNS])


def work_of(life: Life, queries: dict[str, str], limits: Limits = LIMITS) -> WindowWork:
    lateness, delay = written(length(life, life.lateness)), written(length(life, life.delay))
    options = options_of("t", key_columns(life.by), lateness, delay, False, life.emit, limits=limits, store=life.store)
    schema = schema_of_rows(life)
    recipe = Recipe(tuple(subjects({name: parse(text) for name, text in queries.items()})), options, schema)
    return WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), keeps_late=False)


def _attempt(
    work: WindowWork, worker: WorkerMemory, entries: dict[Any, Any], step: MicroBatch
) -> tuple[dict[Any, Any], pa.Table, int]:
    """What the store has if the attempt is committed, the results, and all late rows so far."""
    store = _Store(dict(entries))
    log = SnapshotLog(store, work, "stream", 1, work.recipe.options.limits, worker)  # type: ignore[arg-type]
    live, head, is_changed = log.read(BUCKET)
    results = live.push(step)
    log.write(BUCKET, live, head, [step.with_columns(work.logged_columns)], is_changed)
    return store.entries, work.output(results, live.rejected), live.rejected_count


def run(life: Life) -> None:
    """Live it; a difference is raised where it shows."""
    dice = random.Random(len(life.actions))
    oracle, queries = oracle_of(life), dict(life.queries)
    limits = replace(
        limits_of(life),
        log_ratio=dice.choice((0, 1, 2)),
        small_log_bytes=dice.choice((0, 4_000, 1 << 16)),
        part_bytes=700,
    )
    work, entries = work_of(life, queries, limits), dict[Any, Any]()
    workers = [WorkerMemory() for _ in range(2)]
    plan = work.recipe.plan()
    schema = schema_of_rows(life)
    for action in life.actions:
        change(oracle, action)
        if isinstance(action, Remove):
            queries = {name: text for name, text in queries.items() if name != action.name}
        elif isinstance(action, Add):
            queries = {**queries, action.name: action.query}
        elif isinstance(action, Restore):
            queries = dict(action.queries)
        if not isinstance(action, Push):
            work, workers = work_of(life, queries, limits), [WorkerMemory() for _ in workers]
            continue
        rows, mark = rows_of(life, action), position(life, action.watermark)
        given = pa.table({each.name: pa.array([row[each.name] for row in rows], each.type) for each in schema})
        is_end = action.watermark == math.inf
        known = [number(row["t"]) for row in rows if row["t"] is not None]
        if mark is not None and not is_end:
            known.append(number(mark) + plan.delay)  # rows of other buckets
            oracle.heard = max(oracle.heard, known[-1])
            oracle.has_begun = True
        step = MicroBatch(given, max(known, default=None), is_end=is_end)
        wanted = oracle.push(rows, None if mark is None else number(mark))
        if dice.random() < 0.3:
            _attempt(work, dice.choice(workers), entries, step)
        entries, results, late = _attempt(work, dice.choice(workers), entries, step)
        compare(oracle, read(life, results, {name: each.query for name, each in oracle.live.items()}), wanted)
        if late != len(oracle.late):
            raise Difference(f"{late} rows are late, and should be {len(oracle.late)}")
