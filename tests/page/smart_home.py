"""A smart home to look at: the demo's stream and its page."""

import pyarrow as pa

import sash
from sash.cli.smart_home import LATEST, QUERIES, readings

__all__ = ["Home"]


class Home:
    """The demo's stream and its page; the test itself pushes rows, so nothing happens between two steps."""

    def __init__(self) -> None:
        self._rows = readings(0.5)
        self.stream = sash.Stream(
            QUERIES, on="ts", by=["house", "plug"], watermark=f"{LATEST} seconds", allowed_lateness="1 minute"
        )
        self.page = sash.page(self.stream, title="smart home")
        self._tables: list[pa.Table] = []

    def push(self, rows: int) -> None:
        """Push the next rows."""
        self._tables.append(self.stream.push(self._rows.slice(0, rows)))
        self._rows = self._rows.slice(rows)

    def results(self, query: str, key: str, aggregate: str) -> list[tuple[float, float]]:
        """Return the ends and values of all results so far, the last revision of each window, by end."""
        last = {}
        for row in (row for table in self._tables for row in table.to_pylist()):
            if row["query"] == query and f"{row['house']} / {row['plug']}" == key:
                last[row["window_start"], row["window_end"]] = row[aggregate]
        return sorted((end.timestamp(), value) for (_, end), value in last.items() if value is not None)
