"""Who can be asked: the same rows as a table of each kind, and as a stream."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pyarrow as pa

import sash

__all__ = ["COLUMNS", "IN_PROCESS", "TABLE", "TEN", "Engine", "Explained", "InStream"]

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
TEN = sash.query("ten", sash.tumbling("10s"), n=sash.count(), s=sash.sum("x"))
TABLE = pa.table(
    {
        "t": pa.array([dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2)], pa.timestamp("us")),
        "k": ["a", "b"],
        "x": pa.array([1, 2], pa.int64()),
        "y": [0.5, 1.5],
        "pair": [{"a": 1}, {"a": 2}],
        "many": [[1], [2]],
        "blob": [b"a", b"b"],
        "flag": [True, False],
    }
)
COLUMNS = tuple(TABLE.column_names)


@dataclass(frozen=True)
class Engine:
    """Rows of one kind, and the options that every call on them needs."""

    name: str
    rows: Any
    options: dict[str, Any] = field(default_factory=dict)

    def aggregate(self, **changes: Any) -> Any:
        """`sash.aggregate` with one thing wrong."""
        return S.aggregate(self.rows, **{"queries": TEN, "on": "t", **self.options, **changes})

    def rolling(self, *frames: Any, **changes: Any) -> Any:
        """`sash.rolling` with one thing wrong."""
        results = {} if "z" in changes else {"z": sash.count()}
        return S.rolling(self.rows, *frames, **{"on": "t", **results, **self.options, **changes})

    def lookback(self, **changes: Any) -> Any:
        """`sash.lookback` of the same rows with one thing wrong."""
        return S.lookback(self.rows, **{"range": "10s", "n": sash.count(), **changes})

    def join(self, *lookbacks: Any, **changes: Any) -> Any:
        """`sash.join` with one thing wrong."""
        return S.join(self.rows, *lookbacks, **{"on": "t", **changes})

    def sql(self, text: str, **changes: Any) -> Any:
        """`sash.sql` of a table that is called `rows`."""
        return S.sql(text, **{"rows": self.rows, "on": "t", **self.options, **changes})


class Explained(Engine):
    """The same rows, asked for the plan alone."""

    def aggregate(self, **changes: Any) -> Any:
        return S.explain(self.rows, **{"queries": TEN, "on": "t", **self.options, **changes})


class InStream(Engine):
    """The same rows as the first push of a stream."""

    def aggregate(self, **changes: Any) -> Any:
        return S.Stream(**{"queries": TEN, "on": "t", **changes}).push(self.rows)


IN_PROCESS = (
    Engine("a dict", TABLE.to_pydict()),
    Engine("an Arrow table", TABLE),
    Engine("a pandas table", TABLE.to_pandas()),
    Engine("a Polars table", pl.from_arrow(TABLE)),
)
