"""Calls on few rows, which a process without kernels interprets: `python -m tests.algebra.small_calls FILE`."""

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sash
from sash.algebra.compiler import Kernel, Small, on_compile

AGGREGATES: dict[str, Any] = {
    **{name: getattr(sash, name) for name in ("sum", "mean", "min", "max", "stddev", "first", "last", "median")},
    "quantile": lambda column=None: sash.quantile(column, q=0.9),
    "count_distinct": sash.count_distinct,
    "argmax": sash.argmax,
}
EDGES: dict[str, list[Any]] = {
    "float64": [0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, 1e16, 1.0],
    "int64": [2**63 - 1, -(2**63), 0, -1, 2**32, -(2**32) - 1, 2**53 + 1],
    "int32": [2**31 - 1, -(2**31), 7],
    "float32": [3.4e38, -3.4e38, 1e-45, 0.1],
    "uint64": [2**64 - 1, 0, 2**63],
    "bool": [True, False],
}


def table(kind: str, rows: int = 300) -> pa.Table:
    """Return rows of three keys, in any order of time, with nulls and numbers at the limits of their type."""
    dice = np.random.default_rng(5)
    numbers = dice.integers(0, 9, rows).astype(kind)
    numbers[dice.integers(0, rows, 12)] = dice.choice(np.array(EDGES[kind], kind), 12)
    return pa.table(
        {
            "t": dice.integers(0, 400, rows),
            "k": dice.integers(0, 3, rows),
            "x": pa.array(numbers, mask=dice.random(rows) < 0.1),
            "y": numbers,
        }
    )


def results(name: str, kind: str) -> dict[str, Any]:
    """Return the results of an aggregate, or the error, over windows, frames, arrays and a stream."""
    rows = table(kind)

    def of(column: str) -> Any:
        return AGGREGATES[name](*(column, "t")[: 2 if name == "argmax" else 1])

    def stream() -> Any:
        running = sash.Stream([sash.query("q", sash.session(gap=5), v=of("x"))], on="t", by="k", watermark="30")
        given = [running.push(rows.slice(at, 60)) for at in range(0, rows.num_rows, 60)]
        return pa.concat_tables([*given, running.push({}, watermark=np.inf)]).to_pydict()

    windows = [
        sash.query("tumbling", sash.tumbling(10), v=of("x"), w=of("y")),
        sash.query("sliding", sash.sliding(50, every=10), v=of("x")),
        sash.query("counts", sash.sliding(rows=7, every=3), v=of("y")),
    ]
    calls = {
        "windows": lambda: sash.aggregate(rows, windows, on="t", by="k").to_pydict(),
        "rows": lambda: sash.rolling(rows, on="t", by="k", rows=(-4, 1), v=of("x"), w=of("y")).to_pydict(),
        "range": lambda: sash.rolling(rows, on="t", by="k", range=20, v=of("y")).to_pydict(),
        "stream": stream,
        "slide": lambda: sash.swag.slide(rows["y"].to_numpy(), 9, AGGREGATES[name]()),
    }
    if name == "argmax":
        del calls["slide"]  # of one column
    return {call: _outcome(run) for call, run in calls.items()}


def _outcome(run: Any) -> Any:
    try:
        return run()
    except sash.SashError as error:
        return str(error)


if __name__ == "__main__":
    Kernel.small = Small(length=10**6, seconds=10**6)
    compiled: list[str] = []
    on_compile.append(lambda kernel, seconds: compiled.append(kernel))
    found = {}
    for case in sys.argv[2:]:
        compiled.clear()
        found[tuple(case.split(","))] = results(*case.split(",")), list(compiled)
    Path(sys.argv[1]).write_bytes(pickle.dumps(found))
