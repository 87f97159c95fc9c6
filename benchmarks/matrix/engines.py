"""Calls of sash that are ready to be timed: a table at once, and a stream in pushes."""

from collections.abc import Callable
from typing import Any

import sash
from benchmarks.matrix.cells import STREAM, Cell
from benchmarks.matrix.columns import table_of
from benchmarks.settings import MatrixSettings, Size

__all__ = ["call_of", "most_rows", "rows_of"]


def rows_of(cell: Cell, size: Size, length: int) -> Any:
    """Return the rows of a cell as an Arrow table."""
    return table_of(cell.kind, size, cell.shape, length, cell.needs_near_one)


def call_of(cell: Cell, length: int, settings: MatrixSettings) -> Callable[[Size], Callable[[], Any]]:
    """Return a function that makes the call for tables of a size."""

    def make(size: Size) -> Callable[[], Any]:
        rows, shape = rows_of(cell, size, length), cell.shape
        if shape.frame is not None:
            frame = shape.frame(length)
            return lambda: sash.rolling(rows, on=shape.on, by="k", answer=cell.template, **frame)
        assert shape.window is not None
        query = sash.query("cells", shape.window(length), answer=cell.template)
        if cell.engine == STREAM:
            pushes = [rows.slice(first, settings.push_rows) for first in range(0, size.rows, settings.push_rows)]
            return lambda: _pushed(query, shape.on, pushes)
        return lambda: sash.aggregate(rows, query, on=shape.on, by="k")

    return make


def _pushed(query: Any, on: str, pushes: list[Any]) -> list[Any]:
    stream = sash.Stream(query, on=on, by="k", watermark="0 seconds")
    return [stream.push(rows) for rows in pushes]


def most_rows(cell: Cell, length: int, settings: MatrixSettings) -> float:
    """Return how many rows a table can have: an aggregate that collects returns all values of each window."""
    if cell.group != "collecting" or not cell.shape.results:
        return float("inf")
    return settings.most_values / (cell.shape.results * length)
