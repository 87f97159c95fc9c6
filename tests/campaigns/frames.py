"""Ten million rolling frames against DuckDB.

    python -m tests.campaigns.frames [--frames N] [--seed N]

Each table is drawn from a seed of its own: positions (integers, floats, tenths, times, dates; with ties, gaps, nulls),
keys, values with nulls, NaN and infinities, decimals and strings, and four frames, of rows and of lengths. DuckDB
answers the same with OVER, or with a join of the table with itself. The first result that differs ends the campaign
with the line that repeats it.
"""

import argparse
import os
import sys
import time

from tests.campaigns.figures import record
from tests.oracles.drawn import draw
from tests.oracles.in_duckdb import check

ROWS = (16_000, 8_000, 2_000, 40)  # at most, of one table


def rows_of(seed: int) -> int:
    """Tables of several lengths, on every kind of position."""
    return ROWS[seed // 6 % len(ROWS)]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--frames", type=int, default=10_000_000, help="how many to compare, at least")
    options.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"), help="of the first table")
    given = options.parse_args()
    began, shown = time.perf_counter(), 0.0
    frames, tables = 0, 0
    while frames < given.frames:
        seed = given.seed + tables
        try:
            frames += check(draw(seed, rows_of(seed)))
        except AssertionError as wrong:
            print(f"DIFFERS: python -m tests.campaigns.frames --frames 1 --seed {seed}\n{wrong}")
            return 1
        tables += 1
        seconds = time.perf_counter() - began
        if seconds - shown >= 10:
            shown = seconds
            print(f"{frames:>12,} frames in {tables:,} tables agree   {frames / seconds:,.0f} a second", flush=True)
    figures = f"{frames:,} frames in {tables:,} tables, 0 differ; first seed {given.seed}"
    print(f"frames: {figures}")
    record("frames", "make fuzz", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
