"""The results that the page keeps, by query and key."""

import threading
from collections import deque
from typing import Any

import numpy as np
import pyarrow as pa

from sash.page.contract import M4, Results, Revised, Series, SeriesList
from sash.page.records import QueryFacts, key_text

__all__ = ["KeptResults"]


class KeptResults:
    """Columns of results; threads share it."""

    def __init__(self, most: int = 10_000_000) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._rows: dict[str, dict[str, dict[tuple[float, float], dict[str, float]]]] = {}
        self._aggregates: dict[str, tuple[str, ...]] = {}
        self._by: tuple[str, ...] = ()
        self._unit: Any = "number"
        self._revised: dict[str, list[Revised]] = {}

    def describe(self, by: tuple[str, ...], unit: Any, queries: tuple[QueryFacts, ...]) -> None:
        with self._lock:
            self._by, self._unit = by, unit
            self._aggregates |= {each.name: each.aggregates for each in queries}

    def add(self, tables: list[pa.Table]) -> None:
        with self._lock:
            for table in tables:
                self._add(table)

    def _add(self, table: pa.Table) -> None:
        scale = 1e-6 if pa.types.is_timestamp(table.column("window_end").type) else 1.0
        if scale != 1.0:
            for name in ("window_start", "window_end"):
                place = table.column_names.index(name)
                table = table.set_column(place, name, table.column(name).cast(pa.int64()))
        for row in table.to_pylist():
            name = row["query"]
            key = key_text([row[each] for each in self._by])
            start, end = row["window_start"] * scale, row["window_end"] * scale
            own = self._rows.setdefault(name, {}).setdefault(key, {})
            if (start, end) in own or row.get("revision"):
                self._revised.setdefault(name, []).append(Revised(key=key, start=start, end=end))
            own[start, end] = {each: row.get(each) for each in self._aggregates.get(name, ())}

    def recent_windows(self, query: str) -> list[tuple[float, float, int | None, bool]]:
        with self._lock:
            found: dict[tuple[float, float], int] = {}
            for own in self._rows.get(query, {}).values():
                for edges in own:
                    found[edges] = found.get(edges, 0) + 1
            return [(*edges, found[edges], False) for edges in sorted(found)[-60:]]

    def news(self) -> list[Results]:
        with self._lock:
            found = []
            for name, keys in self._rows.items():
                latest = max((max(end for _, end in own) for own in keys.values()), default=None)
                revised = self._revised.pop(name, [])[-100:]
                found.append(Results(query=name, count=sum(map(len, keys.values())), latest=latest, revised=revised))
            return found

    def series(self, query: str | None, search: str) -> SeriesList:
        with self._lock:
            found = []
            for name, aggregates in self._aggregates.items():
                if query in (None, name):
                    keys = [key for key in self._rows.get(name, {}) if search in key][:100]
                    found.append(Series(name=name, aggregates=list(aggregates), keys=keys, unit=self._unit))
            return SeriesList(queries=found)

    def m4(self, query: str, key: str, aggregate: str, start: float | None, end: float | None, width: int) -> M4:
        with self._lock:
            own = self._rows.get(query, {}).get(key, {})
            points = sorted(
                (end_, v[aggregate]) for (_, end_), v in own.items() if isinstance(v.get(aggregate), int | float)
            )
        bounds = (points[0][0], points[-1][0]) if points else None
        start = start if start is not None else bounds[0] if bounds else 0.0
        end = end if end is not None else bounds[1] if bounds else 1.0
        step = (end - start) / width or 1.0
        columns: dict[int, list[tuple[float, float]]] = {}
        for t, v in points:
            if start <= t <= end:
                columns.setdefault(min(width - 1, int((t - start) / step)), []).append((t, v))
        rows = []
        for pixel, own_points in sorted(columns.items()):
            low = min(own_points, key=lambda each: each[1])
            high = max(own_points, key=lambda each: each[1])
            rows.append((pixel, *own_points[0], *own_points[-1], *low, *high))
        count = sum(map(len, columns.values()))
        return M4(**{"from": start, "to": end, "width": width, "columns": rows, "count": count, "bounds": bounds})
