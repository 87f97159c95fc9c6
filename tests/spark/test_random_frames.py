"""Random frames on Spark tables that are cut in every way: the results are those of one process.

Those of one process are compared with their definition and with DuckDB in tests/oracles/test_sql_frames.py.
"""

import random
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash.engine.frame import Frame, frame, order_of
from sash.engine.options import CallOptions
from sash.limits import Limits
from sash.spark.driver import batch
from tests.oracles.test_sql_frames import drawn_frame, drawn_order

COUNT = 400
HOT = Limits(probed_rows=50, hot_rows=60, chunk_rows=20, small_bytes=0, halo_share=2.0)
CUTS = {
    "chunks": HOT,
    "stretches": Limits(task_rows=60, packed_rows=50, piece_rows=10),
    "both": Limits(
        probed_rows=50, hot_rows=60, chunk_rows=60, small_bytes=0, halo_share=2.0, task_rows=60, piece_rows=10
    ),
}
KINDS = {"whole numbers": pa.int64(), "times": pa.timestamp("us", "UTC"), "floats": pa.float64()}


def rows_of(rng: random.Random, kind: Any) -> pa.Table:
    """Three rows in four have one key; positions have ties; some positions, keys and values are null."""

    def maybe(value: Any) -> Any:
        return value if rng.random() < 0.95 else None

    positions = [maybe(rng.randrange(150)) for _ in range(COUNT)]
    return pa.table(
        {
            "t": pa.array(positions, pa.int64()).cast(kind),
            "k": pa.array([maybe("hot" if rng.random() < 0.75 else rng.choice("ab")) for _ in positions], pa.string()),
            "u": pa.array([rng.randrange(3) for _ in positions], pa.int64()),
            "x": pa.array([maybe(rng.randrange(99)) for _ in positions], pa.int64()),
            "place": pa.array(range(COUNT), pa.int64()),
        }
    )


def frames_of(rng: random.Random, count: int, is_time: bool) -> tuple[Frame, ...]:
    """Frames on positions in microseconds if positions are times; one of them is centered."""
    found = []
    for number in range(count):
        given = drawn_frame(rng)
        if number == 1:
            given = {rng.choice(["rows", "range", "groups"]): 5, "center": True, "exclude": given["exclude"]}
        if "range" in given and is_time:
            ends = given["range"]
            given["range"] = f"{ends}us" if isinstance(ends, int) else tuple(e if e is None else f"{e}us" for e in ends)
        names: dict[str, Any] = {
            "total": sash.sum("x"),
            "all": sash.collect("x"),
            "newest": sash.last("place"),
            "middle": sash.median("x"),
        }
        found.append(frame(**given, **{f"{name}{number}": each for name, each in names.items()}))
    return tuple(found)


def check(spark: Any, seed: int, cuts: str, kind: str, frames: int = 3) -> None:
    rng = random.Random(f"{seed} {cuts} {kind}")
    table = rows_of(rng, KINDS[kind])
    own = frames_of(rng, frames, kind == "times")
    order, by = drawn_order(rng), rng.choice([["k"], ["k"], []])
    wanted = sash.rolling(table, *own, on="t", by=by, **order).to_pylist()
    rows = spark.createDataFrame(table)
    # Arrival decides between rows that are equal in the order, and a shuffle of the source must not change it.
    given = CallOptions("t", by, order=order_of(order["order"], order["descending"]), limits=CUTS[cuts])
    found = batch.rolling(rows, own, given).toArrow().to_pylist()
    assert sorted(found, key=lambda row: row["place"]) == wanted, (seed, own, order, by)


@pytest.mark.parametrize(("cuts", "kind"), [("chunks", "times"), ("both", "floats")])
def test_random_frames_are_those_of_one_process(spark: Any, cuts: str, kind: str) -> None:
    check(spark, 1, cuts, kind, frames=6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", CUTS)
def test_many_random_frames_are_those_of_one_process(spark: Any, seed: int, cuts: str, kind: str) -> None:
    check(spark, seed, cuts, kind)
