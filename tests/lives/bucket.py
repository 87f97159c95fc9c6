"""A life on Spark without Spark: a bucket's snapshot and log, and workers that come, go and fail.

Each push is a micro-batch. Some attempts fail after they have run, and leave their worker's memory behind. Queries
change at restarts, where no worker remembers anything.
"""

import math
import random
from collections import OrderedDict
from typing import Any

import pyarrow as pa
import pytest

from sash.engine.options import options_of
from sash.engine.results import schema_of
from sash.spark.state import snapshot_log
from sash.spark.state.bucket import MicroBatch
from sash.spark.state.snapshot_log import SnapshotLog
from sash.spark.state.window_bucket import WindowWork
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import as_results
from tests.engine.oracle import number, parse
from tests.engine.transcripts import key_columns, subjects, written
from tests.lives.life import COLUMNS, Add, Life, Push, Remove, Restore
from tests.lives.living import (
    ON,
    TYPES,
    Difference,
    change,
    compare,
    length,
    low_limits,
    oracle_of,
    position,
    read,
    rows_of,
)

__all__ = ["run", "schema_of_rows", "work_of"]

BUCKET, HELD_BYTES = 0, 1 << 30


class _Store:
    """A map of Spark's state store, as a task sees it."""

    def __init__(self, entries: dict[Any, Any]) -> None:
        self.entries = entries

    def getMapState(self, *_: Any) -> "_Store":  # noqa: N802
        return self

    def getValue(self, key: Any) -> Any:  # noqa: N802
        return self.entries.get(key)

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self.entries[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self.entries[key]


def schema_of_rows(life: Life) -> pa.Schema:
    types = {"t": ON[life.unit], **TYPES}
    return pa.schema([(name, types[name]) for name in COLUMNS])


def work_of(life: Life, queries: dict[str, str]) -> WindowWork:
    lateness, delay = written(length(life, life.lateness)), written(length(life, life.delay))
    options = options_of("t", key_columns(life.by), lateness, delay, False, life.emit)
    schema = schema_of_rows(life)
    recipe = Recipe(tuple(subjects({name: parse(text) for name, text in queries.items()})), options, schema)
    return WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), keeps_late=False)


def _attempt(work: WindowWork, entries: dict[Any, Any], step: MicroBatch) -> tuple[dict[Any, Any], pa.Table, int]:
    """What the store has if the attempt is committed, the results, and all late rows so far."""
    store = _Store(dict(entries))
    log = SnapshotLog(store, work, "stream", 1, HELD_BYTES)  # type: ignore[arg-type]
    live, head, is_changed = log.read(BUCKET)
    results = live.push(step)
    log.write(BUCKET, live, head, [step.with_columns(work.logged_columns)], is_changed)
    return store.entries, work.output(results, live.rejected), live.rejected_count


def run(life: Life) -> None:
    """Live it; a difference is raised where it shows."""
    dice = random.Random(len(life.actions))
    oracle, queries = oracle_of(life), dict(life.queries)
    work, entries = work_of(life, queries), dict[Any, Any]()
    workers = [OrderedDict[Any, Any]() for _ in range(2)]
    plan = work.recipe.plan()
    schema = schema_of_rows(life)
    with low_limits(life.low_limits), pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshot_log, "_LOG_RATIO", dice.choice((0, 1, 2)))
        patch.setattr(snapshot_log, "_SMALL_LOG_BYTES", dice.choice((0, 4_000, 1 << 16)))
        patch.setattr(snapshot_log, "_PART_BYTES", 700)
        for action in life.actions:
            change(oracle, action)
            if isinstance(action, Remove):
                queries = {name: text for name, text in queries.items() if name != action.name}
            elif isinstance(action, Add):
                queries = {**queries, action.name: action.query}
            elif isinstance(action, Restore):
                queries = dict(action.queries)
            if not isinstance(action, Push):
                work, workers = work_of(life, queries), [OrderedDict() for _ in workers]
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
                patch.setattr(snapshot_log, "_HELD", dice.choice(workers))
                _attempt(work, entries, step)
            patch.setattr(snapshot_log, "_HELD", dice.choice(workers))
            entries, results, late = _attempt(work, entries, step)
            compare(oracle, read(life, results, {name: each.query for name, each in oracle.live.items()}), wanted)
            if late != len(oracle.late):
                raise Difference(f"{late} rows are late, and should be {len(oracle.late)}")
