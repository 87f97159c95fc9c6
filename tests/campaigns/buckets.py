"""What Spark's state store holds of a stream: the snapshot of a bucket, its log, and rows from before the stream."""

from collections.abc import Sequence

import pyarrow as pa

import sash
from sash.engine.frame import frame
from sash.engine.options import options_of
from sash.engine.results import schema_of
from sash.engine.rolling import plan_frames
from sash.engine.tables import read_rows
from sash.limits import LIMITS
from sash.spark.state.bucket import Bucket, MicroBatch
from sash.spark.state.frame_bucket import FrameWork
from sash.spark.state.processor import BucketProcessor
from sash.spark.state.snapshot_log import Head, initial_entry, initial_piece
from sash.spark.state.window_bucket import WindowWork
from sash.spark.wire.pieces import Piece
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import as_results
from tests.campaigns.subjects import Subject, rows_at

__all__ = ["buckets"]

SCHEMA = pa.schema([("t", pa.int64()), ("k", pa.string()), ("x", pa.float64()), ("word", pa.string())])


def _table(times: Sequence[int]) -> pa.Table:
    rows = rows_at(times)
    return pa.table([pa.array(rows[each.name], each.type) for each in SCHEMA], schema=SCHEMA)


def _work_of_windows() -> WindowWork:
    queries = (
        sash.query("slide", sash.sliding(20, every=5), n=sash.count(), most=sash.max("x")),
        sash.query("visit", sash.session(gap=4), sum=sash.sum("x"), words=sash.collect_distinct("word")),
        sash.query("rank", sash.sliding(rows=7, every=3), last=sash.last("x")),
    )
    recipe = Recipe(queries, options_of("t", "k", 3, 5, False, "final"), SCHEMA)
    return WindowWork(recipe, SCHEMA, as_results(schema_of(recipe.plan())), False)


def _work_of_frames() -> FrameWork:
    frames = (frame(range=12, sum=sash.sum("x"), least=sash.min("word")),)
    plan = plan_frames(read_rows(SCHEMA.empty_table()), frames, "t", ["k"])
    added = [pa.field(name, kind) for name, kind in plan.results()]
    return FrameWork(plan, 5, SCHEMA, pa.schema([*SCHEMA, *added]), False)


def _bucket(name: str, work: WindowWork | FrameWork) -> list[Subject]:
    """The snapshot of a bucket, a micro-batch in its log, and rows from before the stream."""
    live = work.new_bucket()
    for push in range(4):
        live.push(MicroBatch(_table([20 * push + (k * 7) % 26 for k in range(20)]), 20 * push + 25))
    step = MicroBatch(_table([75 + k for k in range(20)]), 95).with_columns(work.logged_columns)
    processor = BucketProcessor(work, "stream", 1, LIMITS)
    (batch,) = _table(range(30)).to_batches()

    def go_on(restored: Bucket) -> None:
        work.update_queries(restored)
        for each in (step, MicroBatch(_table([60]), None), MicroBatch(SCHEMA.empty_table(), None, is_end=True)):
            work.output(restored.push(each), restored.rejected)
            restored.figures()
            work.restore(restored.snapshot())

    def again(restored: MicroBatch) -> None:
        fresh = work.new_bucket()
        fresh.push(restored)
        go_on(fresh)

    piece = Piece(0, 3, 0, 30, None, 29, batch.serialize())
    return [
        Subject(f"bucket of {name}", live.snapshot(), work.restore, go_on),
        Subject(
            f"micro-batch of {name}", step.to_bytes(), lambda blob: MicroBatch.from_bytes(blob, work.measure), again
        ),
        Subject(
            f"initial rows of {name}",
            initial_entry(piece),
            lambda blob: initial_piece(blob, work.measure, SCHEMA),
            lambda restored: again(processor._batch([restored])[0]),
        ),
    ]


def buckets() -> list[Subject]:
    """What Spark's state store holds."""
    head = Head(7, b"nonce", 4, 1, 1234, 8)
    return [
        *_bucket("windows", _work_of_windows()),
        *_bucket("frames", _work_of_frames()),
        Subject("head of a bucket", head.to_bytes(), lambda blob: Head.from_bytes(b"nonce", blob), lambda head: None),
    ]
