"""Joins over buckets that are too large to hold: the features are those of whole tables, and few events are held."""

import random
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash.engine.join import JoinOptions, JoinPlan, Lookback, plan_join
from sash.engine.tables import read_rows
from sash.limits import Limits
from sash.spark.wire.pieces import Piece, pack
from sash.spark.wire.results import as_results
from sash.spark.worker.join import HeldRows, JoinTask
from sash.spark.worker.packing import PackTask

FEW = Limits(task_rows=24, packed_rows=20, piece_rows=5)
BUCKETS = 2


def rows_of(rng: random.Random, count: int, is_event: bool, kind: Any) -> pa.Table:
    """Positions have many ties; some positions, keys and values are null."""

    def maybe(value: Any) -> Any:
        return value if rng.random() < 0.95 else None

    rows = {
        "t": pa.array([maybe(rng.randrange(60)) for _ in range(count)], kind),
        "k": pa.array([maybe(rng.choice("aab")) for _ in range(count)], pa.string()),
    }
    if is_event:
        rows["x"] = pa.array([maybe(place) for place in range(count)], pa.int64())
    else:
        rows["label"] = pa.array(range(count), pa.int64())
    return pa.table(rows)


def lookbacks_of(rng: random.Random, tables: list[pa.Table]) -> list[Lookback]:
    found = []
    for number, table in enumerate(tables):
        for place in range(rng.randint(1, 2)):
            extent: dict[str, Any] = rng.choice(
                [{"rows": rng.randint(1, 6)}, {"range": rng.randrange(20)}, {"rows": 2}, {}]
            )
            name = f"{number}{place}"
            aggregates: dict[str, Any] = {f"all{name}": sash.collect("x"), f"newest{name}": sash.last("x")}
            closed: Any = rng.choice(["left", "both", "right", "neither"])
            found.append(sash.lookback(table, **extent, closed=closed, delay=rng.choice([0, 0, 3, 30]), **aggregates))
    return found


def task_of(labels: pa.Table, lookbacks: list[Lookback], by: list[str]) -> tuple[JoinTask, list[pa.Table]]:
    """Return the task of a join, and its tables of events."""
    tables = list({id(each.table): each.table for each in lookbacks}.values())
    events = [read_rows(each.table) for each in lookbacks]
    plan: JoinPlan = plan_join(read_rows(labels), events, lookbacks, JoinOptions("t", by))
    added = pa.schema([pa.field(name, kind) for name, kind in plan.results(events)])
    results = pa.schema([*labels.schema, *as_results(added)])
    return JoinTask(plan, labels.schema, tuple(each.schema for each in tables), results, FEW), tables


def joined(rng: random.Random, task: JoinTask, labels: pa.Table, tables: list[pa.Table]) -> list[dict[str, Any]]:
    """Pack each table in parts, as source partitions do, and join what a shuffle would bring."""
    pieces: list[Piece] = []
    for side, table in enumerate([labels, *tables]):
        mapper = PackTask(task.plan.on, task.plan.by, task.plan.measure, table.schema, FEW, BUCKETS, (), side)
        cut = rng.randrange(table.num_rows)
        for number, part in enumerate([table.slice(0, cut), table.slice(cut)]):
            if part.num_rows:
                pieces += mapper.pieces(part, number, 0)
    pieces.sort(key=lambda each: (each.bucket, each.low, each.task, each.number))
    found = pa.Table.from_batches(list(task.run(iter([pack(pieces, task.plan.measure)]))), task.results)
    return sorted(found.to_pylist(), key=lambda row: row["label"])


@pytest.mark.parametrize("seed", range(25))
def test_features_of_stretches_are_those_of_whole_tables(seed: int) -> None:
    rng = random.Random(seed)
    kind, by = rng.choice([pa.int64(), pa.float64()]), rng.choice([["k"], ["k"], []])
    labels = rows_of(rng, 40, False, kind)
    lookbacks = lookbacks_of(rng, [rows_of(rng, 120, True, kind) for _ in range(rng.randint(1, 2))])
    task, tables = task_of(labels, lookbacks, by)
    wanted = sash.join(labels, *lookbacks, on="t", by=by).to_pylist()
    assert joined(rng, task, labels, tables) == wanted


@pytest.mark.parametrize(("delay", "most"), [(0, 2 * 3), (10, 2 * 3 + 10)])
def test_a_lookback_by_rows_holds_the_last_rows_of_each_key_and_those_that_the_delay_hides(
    delay: int, most: int
) -> None:
    count = 1000
    events = pa.table({"t": range(count), "k": ["a", "b"] * (count // 2), "x": range(count)})
    labels = pa.table({"t": range(count), "k": ["a", "b"] * (count // 2)})
    task, _ = task_of(labels, [sash.lookback(events, rows=3, delay=delay, total=sash.sum("x"))], ["k"])
    held = HeldRows(task)
    mapper = PackTask("t", ("k",), task.plan.measure, events.schema, FEW, 1, (), 1)
    for start in range(0, count, 100):
        for piece in mapper.pieces(events.slice(start, 100), 0, start):
            held.add(piece)
        held.answer(start + 100)
        assert held.rows == most
