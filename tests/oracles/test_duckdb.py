"""Frames and windows as DuckDB has them; of frames, ten million are compared by tests/campaigns/frames.py."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sash
from tests.oracles.drawn import NUMBERS, OBJECTS, Drawn, Extent, draw
from tests.oracles.in_duckdb import answers, check, difference

pytestmark = pytest.mark.only_compiled


@pytest.mark.parametrize("seed", range(18))
def test_frames_are_those_of_duckdb(seed: int) -> None:
    assert check(draw(seed, 400)) >= 4 * 200


@pytest.mark.parametrize("seed", range(6))
def test_frames_of_few_rows_are_those_of_duckdb(seed: int) -> None:
    for more in range(3):
        check(draw(1000 + seed + 6 * more, 4))


def frame_of(positions: list[Any], extent: Extent, kind: str = "tenths") -> tuple[list[Any], list[Any]]:
    count = len(positions)
    values = {name: np.arange(count, dtype=np.float64) for name in ("f", "g")}
    table = pa.table({"place": np.arange(count), "t": positions, "i": np.arange(count), **values})
    found = sash.rolling(table, extent.of_sash(), on="t")
    wanted = answers(Drawn(0, kind, table, None, (extent,)), extent)
    return found.column("n").to_pylist(), wanted.column("n").to_pylist()


def test_both_see_the_row_at_the_very_start_of_a_frame_of_floats() -> None:
    both = Extent(NUMBERS, range=0.3, offset="0.3::DOUBLE")
    assert frame_of([-8.4, -8.1], both) == ([1, 2], [1, 2])
    right = Extent(NUMBERS, range=0.3, offset="0.3::DOUBLE", closed="right")
    assert frame_of([-8.4, -8.1], right) == ([1, 1], [1, 1])


def test_a_result_that_differs_would_be_seen() -> None:
    """The comparison itself: other values, other nulls, the last digits of floats."""
    whole, floats = pa.array([1, None, 3]), pa.array([1.0, None, np.nan])
    assert not difference(whole, pa.array([1, None, 3], pa.decimal128(38, 0)), 1.0)
    assert "first in row 2: 3 should be 4" in difference(whole, pa.array([1, None, 4]), 1.0)
    assert "first in row 1" in difference(whole, pa.array([1, 2, 3]), 1.0)
    assert not difference(floats, pa.array([1.0 + 1e-12, None, np.nan]), 1.0)
    assert "first in row 0" in difference(floats, pa.array([1.0 + 1e-8, None, np.nan]), 1.0)
    assert "first in row 2" in difference(floats, pa.array([1.0, None, 2.0]), 1.0)
    drawn = draw(3, 100)
    other = Extent(OBJECTS, rows=3)
    wanted, found = (
        answers(drawn, other),
        sash.rolling(drawn.table, Extent(OBJECTS, rows=4).of_sash(), on="t", by=drawn.by),
    )
    assert difference(found.column("n"), wanted.column("n"), 1.0)


# --- windows ---------------------------------------------------------------------------------------------------------

GRIDS = {  # size, every, offset; floats are sums of powers of two, so that no edge is rounded
    "tumbling": (4, 4, 0),
    "sliding": (10, 4, 3),
    "with gaps": (3, 5, 1),
    "tumbling on floats": (0.75, 0.75, 0.0),
    "sliding on floats": (2.5, 0.75, 0.125),
    "with gaps on floats": (0.5, 1.25, 0.25),
}


@pytest.mark.parametrize(("size", "every", "offset"), GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize("seed", range(2))
def test_grid_windows_are_those_of_duckdb(size: float, every: float, offset: float, seed: int) -> None:
    dice = np.random.default_rng(seed)
    count = 500
    at: Any = dice.integers(-200, 200, count)
    at = at if isinstance(size, int) else at / 8
    f = np.round(dice.normal(size=count), 2)
    f[dice.random(count) < 0.05] = np.nan
    rows = pa.table({"t": at, "k": dice.integers(0, 4, count), "f": pa.array(f, mask=dice.random(count) < 0.1)})
    query = sash.query(
        "q", sash.sliding(size, every=every, offset=offset), n=sash.count(), m=sash.max("f"), s=sash.sum("f")
    )
    found = sash.aggregate(rows, query, on="t", by="k").drop_columns("query")
    # Windows k with start <= t < start + size, where start = offset + k · every.
    text = f"""
        SELECT k, start AS window_start, start + {size} AS window_end, count(*) AS n, max(f) AS m, sum(f) AS s
        FROM (SELECT *, {offset} + unnest(range(
            (floor((t - {offset} - {size})::DOUBLE / {every}) + 1)::BIGINT,
            floor((t - {offset})::DOUBLE / {every})::BIGINT + 1)) * {every} AS start FROM rows)
        GROUP BY k, start"""
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        wanted = connection.sql(text).to_arrow_table()
    keys = [("k", "ascending"), ("window_start", "ascending")]
    found, wanted = found.sort_by(keys), wanted.sort_by(keys)
    assert found.num_rows == wanted.num_rows, f"seed {seed}"
    for name in found.column_names:
        kind = found.schema.field(name).type
        wrong = difference(found.column(name), wanted.column(name).cast(kind), 100.0)
        assert not wrong, f"seed {seed}: {name}: {wrong}"
