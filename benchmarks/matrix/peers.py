"""Polars, pandas and DuckDB, where they have the cell: frames by rows and by range, and tumbling windows, by key."""

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.matrix.cells import Cell
from benchmarks.matrix.engines import rows_of
from benchmarks.matrix.windows import EVERY
from benchmarks.settings import Size

__all__ = ["PEERS", "peers_of"]

Make = Callable[[Size], Callable[[], Any]]

# --- Polars ------------------------------------------------------------------------------------------

_ROLLING = {
    "sum": ("sum", {}),
    "mean": ("mean", {}),
    "variance": ("var", {}),
    "stddev": ("std", {}),
    "min": ("min", {}),
    "max": ("max", {}),
    "median": ("median", {}),
    "quantile": ("quantile", {"quantile": 0.95, "interpolation": "linear"}),
}
_GROUPED = {
    "count": lambda x, w: x.count(),
    "sum": lambda x, w: x.sum(),
    "product": lambda x, w: x.product(),
    "mean": lambda x, w: x.mean(),
    "variance": lambda x, w: x.var(),
    "stddev": lambda x, w: x.std(),
    "min": lambda x, w: x.min(),
    "max": lambda x, w: x.max(),
    "range": lambda x, w: x.max() - x.min(),
    "argmin": lambda x, w: w.get(x.arg_min()),
    "argmax": lambda x, w: w.get(x.arg_max()),
    "first": lambda x, w: x.drop_nulls().first(),
    "last": lambda x, w: x.drop_nulls().last(),
    "median": lambda x, w: x.median(),
    "quantile": lambda x, w: x.quantile(0.95, "linear"),
    "collect": lambda x, w: x.drop_nulls(),
    "collect_distinct": lambda x, w: x.drop_nulls().unique(),
    "count_distinct": lambda x, w: x.drop_nulls().n_unique(),
    "mode": lambda x, w: x.drop_nulls().mode().min(),
    "string_agg": lambda x, w: x.str.join(","),
    "hyperloglog": lambda x, w: x.approx_n_unique(),
}


def _polars(cell: Cell, length: int) -> Make | None:
    import polars as pl

    name = cell.window
    if name.endswith("_frame"):
        if cell.aggregate not in _ROLLING:
            return None
        method, options = _ROLLING[cell.aggregate]
        if name == "rows_frame":
            rolled = getattr(pl.col("x"), f"rolling_{method}")(window_size=length, min_samples=1, **options)
        else:
            rolled = getattr(pl.col("x"), f"rolling_{method}_by")("t", f"{length - 1}s", closed="both", **options)
        answer = rolled.over("k").alias("answer")
        return lambda size: _select(pl.from_arrow(rows_of(cell, size, length)), answer)
    if name not in ("tumbling", "sliding") or cell.aggregate not in _GROUPED:
        return None
    every = f"{length if name == 'tumbling' else EVERY}s"
    found = _GROUPED[cell.aggregate](pl.col("x"), pl.col("w")).alias("answer")

    def make(size: Size) -> Callable[[], Any]:
        table: Any = pl.from_arrow(rows_of(cell, size, length))
        return lambda: table.group_by_dynamic("t", every=every, period=f"{length}s", group_by="k").agg(found)

    return make


def _select(table: Any, answer: Any) -> Callable[[], Any]:
    return lambda: table.select("t", "k", answer)


# --- pandas ------------------------------------------------------------------------------------------


def _pandas(cell: Cell, length: int) -> Make | None:
    numbers = cell.kind.name.startswith(("int", "float"))
    name = cell.window
    if cell.aggregate not in (*_ROLLING, "count", "first", "last") or not (numbers or name == "tumbling"):
        return None
    method, options = _ROLLING.get(cell.aggregate, (cell.aggregate, {}))
    options = {"q": 0.95} if method == "quantile" else {}

    def make(size: Size) -> Callable[[], Any]:
        table = rows_of(cell, size, length).to_pandas()
        if name == "rows_frame":
            return lambda: getattr(table.groupby("k")["x"].rolling(length, min_periods=1), method)(**options)
        if name == "range_frame":
            placed = table.set_index("t")
            return lambda: getattr(placed.groupby("k")["x"].rolling(f"{length}s"), method)(**options)
        return lambda: getattr(table.groupby(["k", table["t"].dt.floor(f"{length}s")])["x"], method)(**options)

    return make if name in ("rows_frame", "range_frame", "tumbling") else None


# --- DuckDB ------------------------------------------------------------------------------------------

_SQL: Mapping[str, str] = {
    **{name: f"{name}(x)" for name in ("count", "sum", "product", "min", "max", "median", "mode", "string_agg")},
    "mean": "avg(x)",
    "geometric_mean": "geomean(x)",
    "variance": "var_samp(x)",
    "stddev": "stddev_samp(x)",
    "argmin": "arg_min(w, x)",
    "argmax": "arg_max(w, x)",
    "first": "first(x)",
    "last": "last(x)",
    "quantile": "quantile_cont(x, 0.95)",
    "collect": "list(x)",
    "collect_distinct": "list(DISTINCT x)",
    "count_distinct": "count(DISTINCT x)",
    "hyperloglog": "approx_count_distinct(x)",
    "range": "max(x) - min(x)",
}
_BEFORE = {"rows_frame": "ROWS BETWEEN {} PRECEDING", "range_frame": "RANGE BETWEEN INTERVAL {} SECONDS PRECEDING"}


def _duckdb(cell: Cell, length: int) -> Make | None:
    call = _SQL.get(cell.aggregate)
    if call is None or cell.window not in (*_BEFORE, "tumbling") or (cell.aggregate == "range" and cell.shape.is_frame):
        return None
    if cell.window == "tumbling":
        place = f"epoch_us(t) // {length * 1_000_000}"
        query = f"SELECT k, {place} AS place, {call} AS answer FROM cells GROUP BY k, place"  # noqa: S608  # our own
    else:
        frame = f"PARTITION BY k ORDER BY t {_BEFORE[cell.window].format(length - 1)} AND CURRENT ROW"
        query = f"SELECT t, k, {call} OVER ({frame}) AS answer FROM cells"  # noqa: S608  # names and numbers of our own

    def make(size: Size) -> Callable[[], Any]:
        import duckdb

        connection = duckdb.connect()
        connection.execute("SET threads = 1; SET TimeZone = 'UTC'")
        connection.register("given", rows_of(cell, size, length))
        connection.execute("CREATE TABLE cells AS SELECT * FROM given")
        connection.unregister("given")
        return lambda: connection.sql(query).to_arrow_table()

    return make


PEERS: Mapping[str, Callable[[Cell, int], Make | None]] = {"polars": _polars, "pandas": _pandas, "duckdb": _duckdb}


def peers_of(cell: Cell, length: int) -> Iterator[tuple[str, Make]]:
    """Yield the libraries that are installed and have the cell; on one thread, where they can be told."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # it is read when Polars is imported
    for name, find in PEERS.items():
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        make = find(cell, length)
        if make is not None:
            yield name, make
