"""Modes of windows and frames: as frequent as DuckDB's, and equal to those of pandas."""

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

import sash

ROWS, LENGTH = 400, 20


def drawn() -> pa.Table:
    dice = np.random.default_rng(3)
    x = pa.array(dice.integers(0, 6, ROWS), mask=dice.random(ROWS) < 0.2)
    return pa.table({"t": np.arange(ROWS), "x": x, "s": x.cast(pa.string())})


def test_modes_of_frames_are_as_frequent_as_those_of_duckdb() -> None:
    table = drawn()
    found = sash.rolling(table, on="t", rows=LENGTH, often=sash.mode("x"), word=sash.mode("s"))
    over = f"OVER (ORDER BY t ROWS {LENGTH - 1} PRECEDING)"
    drawn_rows = table  # noqa: F841  # DuckDB finds it by its name
    theirs = duckdb.sql(f"SELECT mode(x) {over} AS m FROM drawn_rows ORDER BY t").fetchall()
    values, words = found["often"].to_pylist(), found["word"].to_pylist()
    column = table["x"].to_pylist()
    for row, (other,) in enumerate(theirs):
        inside = column[max(0, row - LENGTH + 1) : row + 1]
        assert inside.count(values[row]) == inside.count(other)
        assert words[row] == (None if values[row] is None else str(values[row]))


def test_modes_of_windows_are_those_of_pandas() -> None:
    table = drawn()
    # The first of the modes that pandas returns is the smallest.
    wanted = table.to_pandas().groupby(np.arange(ROWS) // LENGTH)["x"].agg(lambda x: pd.Series.mode(x).iloc[0])
    windows = sash.query("q", sash.tumbling(LENGTH), often=sash.mode("x"), word=sash.mode("s"))
    found = sash.aggregate(table, windows, on="t")
    assert found["often"].to_pylist() == [int(each) for each in wanted]
    assert found["word"].to_pylist() == [str(int(each)) for each in wanted]
    overlapping = sash.query("q", sash.sliding(10 * LENGTH, every=5), often=sash.mode("x"))  # slid over, by a tally
    results = sash.aggregate(table, overlapping, on="t")
    column = table["x"].to_pylist()
    for start, end, often in zip(
        *(results[name].to_pylist() for name in ("window_start", "window_end", "often")), strict=True
    ):
        inside = [each for each in column[max(0, int(start)) : int(end)] if each is not None]
        assert often == min(inside, key=lambda each: (-inside.count(each), each), default=None)
