"""One browser for all tests of the page, and a smart home to look at."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import Browser

import sash
from sash.cli.smart_home import LATEST, QUERIES, readings
from tests.page.browser import Viewer, open_browser


class Home:
    """The demo's stream and its page; the test itself pushes rows, so nothing happens between two steps."""

    def __init__(self) -> None:
        self._rows = readings(0.5)
        options = {"watermark": f"{LATEST} seconds", "allowed_lateness": "1 minute"}
        self.stream = sash.Stream(QUERIES, on="ts", by=["house", "plug"], **options)
        self.page = sash.page(self.stream, title="smart home")
        self._tables: list[pa.Table] = []

    def push(self, rows: int) -> None:
        """Push the next rows."""
        self._tables.append(self.stream.push(self._rows.slice(0, rows)))
        self._rows = self._rows.slice(rows)

    def results(self, query: str, key: str, aggregate: str) -> list[tuple[float, float]]:
        """Return the ends and values of all results so far, the last revision of each window, by end."""
        last = {}
        for row in pa.concat_tables(self._tables).to_pylist():
            if row["query"] == query and f"{row['house']} / {row['plug']}" == key:
                last[row["window_start"], row["window_end"]] = row[aggregate]
        return sorted((end.timestamp(), value) for (_, end), value in last.items() if value is not None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Viewer]]:
    """Open tabs; at the end of the test, none may have had an error or asked another machine."""
    viewers: list[Viewer] = []

    def look(url: str, width: int = 1300, **options: Any) -> Viewer:
        viewers.append(Viewer.open(browser, url, width, **options))
        return viewers[-1]

    yield look
    for viewer in viewers:
        viewer.close()


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    home = Home()
    home.push(12_000)
    with home.page:
        yield home
