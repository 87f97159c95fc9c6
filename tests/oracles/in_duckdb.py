"""What DuckDB says of frames: OVER where it has the words, and a join of the table with itself where it has not."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sash
from tests.oracles.drawn import Drawn, Extent

__all__ = ["answers", "check", "difference"]


def answers(drawn: Drawn, extent: Extent) -> pa.Table:
    """The results of a frame for every row, in the order of the table; null where a row has no position."""
    # NaN and infinity are no positions to sash, and rows without one are in no frame and have none.
    has_place = "t IS NOT NULL" + (" AND isfinite(t)" if drawn.kind in ("floats", "tenths") else "")
    wanted = [(each.name, each.sql) for each in extent.values]
    if extent.min_samples > 1:
        wanted += [(f"known_{each.name}", f"count(*) FILTER (WHERE {each.is_known})") for each in extent.values]
    key = drawn.by or ""
    if extent.closed == "both":
        over = f"PARTITION BY {key} " if key else ""
        over += (
            f"ORDER BY place ROWS BETWEEN {extent.rows - 1} PRECEDING AND CURRENT ROW"
            if extent.rows is not None
            else f"ORDER BY t RANGE BETWEEN {extent.offset} PRECEDING AND CURRENT ROW"
        )
        columns = ", ".join(f"{sql} OVER w AS {name}" for name, sql in wanted)
        query = f"SELECT place AS own, {columns} FROM placed WINDOW w AS ({over})"
    else:
        # (p - D, p] has no words in OVER. A row of nulls stands for a frame without rows.
        same = f"p.{key} IS NOT DISTINCT FROM mine.{key} AND " if key else ""
        mine = f"SELECT place AS own, t AS now{f', {key}' if key else ''} FROM placed"
        columns = ", ".join(f"{sql} AS {name}" for name, sql in wanted)
        query = (
            f"SELECT own, {columns} FROM ({mine}) mine LEFT JOIN placed p "
            f"ON {same}p.t > mine.now - {extent.offset} AND p.t <= mine.now GROUP BY own"
        )
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("rows", drawn.table)
        text = f"WITH placed AS (SELECT * FROM rows WHERE {has_place}) "
        text += f"SELECT found.* FROM rows LEFT JOIN ({query}) found ON own = place ORDER BY place"
        in_order = connection.sql(text).to_arrow_table()
    found = in_order.take(drawn.table.column("place"))
    for each in extent.values if extent.min_samples > 1 else ():
        enough = pc.greater_equal(found.column(f"known_{each.name}"), extent.min_samples)
        column = found.column(each.name)
        found = found.set_column(
            found.column_names.index(each.name), each.name, pc.if_else(enough, column, pa.scalar(None, column.type))
        )
    return found.select([each.name for each in extent.values])


def difference(found: Any, wanted: Any, scale: float) -> str:
    """Where two columns differ first, or nothing; floats may differ in their last digits, and NaN is NaN."""
    one, other = (each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in (found, wanted))
    known = one.is_valid().to_numpy(zero_copy_only=False)
    wrong = known != other.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(one.type):
        a, b = (each.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64) for each in (one, other))
        wrong |= ~np.isclose(a, b, rtol=1e-9, atol=1e-9 * scale, equal_nan=True)
    else:
        wrong |= ~pc.fill_null(pc.equal(one, other.cast(one.type)), True).to_numpy(zero_copy_only=False)
    if not wrong.any():
        return ""
    row = int(np.argmax(wrong))
    return f"{int(wrong.sum())} of {len(wrong)} differ, first in row {row}: {one[row]} should be {other[row]}"


def check(drawn: Drawn) -> int:
    """How many frames were compared; the first that differs is an error that names the seed."""
    found = sash.rolling(
        drawn.table, *(each.of_sash(f"_{k}") for k, each in enumerate(drawn.extents)), on="t", by=drawn.by
    )
    for k, extent in enumerate(drawn.extents):
        wanted = answers(drawn, extent)
        for each in extent.values:
            # A variance is in squares; it is the one result whose error goes by them.
            scale = 1e6 if each.name.startswith("variance") else 1e3
            wrong = difference(found.column(f"{each.name}_{k}"), wanted.column(each.name), scale)
            extents = f"rows={extent.rows}, range={extent.range!r}, {extent.closed}, {extent.min_samples} at least"
            assert not wrong, f"{drawn}: {each.name} of {extents}: {wrong}"
    return int(drawn.table.num_rows) * len(drawn.extents)
