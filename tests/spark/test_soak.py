"""Ten million rows whose keys come and go: what is remembered follows the keys that are alive, not those that were."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sash
from tests.campaigns.figures import record

BATCHES, ROWS = 64, 160_000  # a new snapshot is written after about ten: there is one in each quarter of the stream
_SECONDS_A_BATCH = 30
_KEY_LIVES_S, _ALIVE = 50, 20_000  # new keys all the time: all of them are others after so many seconds


def write_churn(folder: Path) -> int:
    """A file for each micro-batch, with rows up to five seconds out of order; how many keys there are in all."""
    folder.mkdir()
    seen = 0
    for number in range(BATCHES):
        rng = np.random.default_rng(number)
        seconds = np.sort(rng.uniform(number, number + 1, ROWS)) * _SECONDS_A_BATCH
        keys = (seconds / _KEY_LIVES_S * _ALIVE).astype(np.int64) + rng.integers(0, _ALIVE, ROWS)
        late = np.argsort(seconds + rng.uniform(0, 4.9, ROWS))
        columns = {
            "ts": pa.array((seconds[late] * 1e6).astype(np.int64)).cast(pa.timestamp("us", "UTC")),
            "k": pa.array(keys[late]),
            "x": pa.array(rng.integers(0, 1000, ROWS).astype(np.float64)),
        }
        pq.write_table(pa.table(columns), folder / f"{number:03}.parquet")
        seen = int(keys.max()) + 1
    return seen


def worst(values: Sequence[int], quarter: int) -> int:
    """The largest of a quarter of all micro-batches."""
    length = len(values) // 4
    return max(values[quarter * length : (quarter + 1) * length])


@pytest.mark.long
def test_state_does_not_grow_when_keys_come_and_go(spark: Any, tmp_path: Path) -> None:
    seen = write_churn(tmp_path / "rows")
    rows = spark.readStream.schema("ts timestamp, k long, x double").option("maxFilesPerTrigger", 1)
    window = sash.sliding("10 seconds", every="5 seconds")
    results = sash.aggregate(
        rows.parquet(str(tmp_path / "rows")),
        sash.query("sliding", window, n=sash.count(), total=sash.sum("x"), most=sash.max("x")),
        on="ts",
        by="k",
        watermark="5 seconds",
    )
    query = (
        results.writeStream.format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    figures: dict[str, list[int]] = {name: [] for name in ("rows", "slices", "keys", "state_bytes")}
    figures["store_rows"] = []
    for report in query.recentProgress:
        for name, observed in report["observedMetrics"].items():
            if name.startswith("sash") and observed["rows"]:
                for each in ("rows", "slices", "keys", "state_bytes"):
                    figures[each].append(observed[each])
                figures["store_rows"].append(report["stateOperators"][0]["numRowsTotal"])
    for name, values in figures.items():
        sys.stdout.write(f"{name}: {values}\n")  # shown by `pytest -s`
    assert sum(figures["rows"]) == BATCHES * ROWS
    now = sash.progress(query)
    assert now is not None and now.late_rows == 0 and now.keys == figures["keys"][-1]
    assert worst(figures["keys"], 3) < seen / 10
    for name in ("slices", "keys", "state_bytes", "store_rows"):
        assert worst(figures[name], 3) <= 1.2 * worst(figures[name], 1), name
    rows, most = sum(figures["rows"]), max(figures["state_bytes"])
    record(
        "soak", "make chaos", f"{rows:,} rows, {seen:,} keys that come and go, state at most {most / 1e6:.0f} MB, flat"
    )
