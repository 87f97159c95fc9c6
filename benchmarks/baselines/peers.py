"""Other libraries with rolling aggregates: the same windows and the same answers, if they are installed."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PEERS", "Peer", "installed", "missing"]

Run = Callable[[Any, int], Any]


@dataclass(frozen=True)
class Peer:
    """A library: how it reads a column, and how it computes each aggregate that it has."""

    name: str
    take: Callable[[np.ndarray[Any, Any]], Any]
    rolls: Mapping[str, Run]

    def rolling(self, aggregate: str, column: np.ndarray[Any, Any], window: int) -> Callable[[], Any]:
        """Return a call that computes rolling answers of a column that the library has read already."""
        taken, run = self.take(column), self.rolls[aggregate]
        return lambda: run(taken, window)


def _polars_column(column: np.ndarray[Any, Any]) -> Any:
    import polars as pl

    return pl.Series(column)


def _pandas_column(column: np.ndarray[Any, Any]) -> Any:
    import pandas as pd

    return pd.Series(column)


def _methods(names: Mapping[str, str], call: Callable[[Any, str, int], Any]) -> dict[str, Run]:
    def method(name: str) -> Run:
        return lambda column, window: call(column, name, window)

    return {aggregate: method(name) for aggregate, name in names.items()}


def _polars(column: Any, name: str, window: int) -> Any:
    return getattr(column, f"rolling_{name}")(window, min_samples=1)


def _pandas(column: Any, name: str, window: int) -> Any:
    return getattr(column.rolling(window, min_periods=1), name)()


def _bottleneck(column: Any, name: str, window: int) -> Any:
    import bottleneck

    options = {"ddof": 1} if name == "std" else {}
    rolled = getattr(bottleneck, f"move_{name}")(column, window=window, min_count=1, **options)
    # It counts back from the newest row; the others give a position.
    return np.arange(len(column)) - rolled if name == "argmax" else rolled


def _numbagg(column: Any, name: str, window: int) -> Any:
    import numbagg

    return getattr(numbagg, f"move_{name}")(column, window=window, min_count=1)


def _duckdb_table(column: np.ndarray[Any, Any]) -> Any:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    rows = pa.table({"place": np.arange(len(column)), "x": column})
    connection.register("rows", rows)
    connection.execute("CREATE TABLE signal AS SELECT * FROM rows")
    connection.unregister("rows")
    return connection


def _duckdb(connection: Any, name: str, window: int) -> Any:
    call = "arg_max(place, x)" if name == "argmax" else f"{name}(x)"
    frame = f"ORDER BY place ROWS BETWEEN {int(window) - 1} PRECEDING AND CURRENT ROW"
    query = f"SELECT {call} OVER ({frame}) AS answer FROM signal"  # noqa: S608  # names and numbers of our own
    return connection.execute(query).fetchnumpy()["answer"]


_FIVE = {"sum": "sum", "mean": "mean", "max": "max", "stddev": "std", "median": "median"}

PEERS: Mapping[str, Peer] = {
    each.name: each
    for each in (
        Peer("polars", _polars_column, _methods(_FIVE, _polars)),
        Peer("bottleneck", lambda column: column, _methods({**_FIVE, "argmax": "argmax"}, _bottleneck)),
        Peer("pandas", _pandas_column, _methods(_FIVE, _pandas)),
        Peer("numbagg", lambda column: column, _methods({k: _FIVE[k] for k in ("sum", "mean", "stddev")}, _numbagg)),
        Peer("duckdb", _duckdb_table, _methods({**_FIVE, "stddev": "stddev_samp", "argmax": "argmax"}, _duckdb)),
    )
}


def installed() -> Iterator[Peer]:
    """Return the peers that can be imported."""
    for name, peer in PEERS.items():
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        yield peer


def missing() -> list[str]:
    """Return the names of the peers that cannot be imported."""
    return sorted(set(PEERS) - {peer.name for peer in installed()})
