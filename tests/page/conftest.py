"""Tests of the page leave no connection open."""

from collections.abc import Iterator

import pytest

from tests.page.pages import Events


@pytest.fixture(autouse=True)
def closed_events() -> Iterator[None]:
    yield
    while Events.opened:
        Events.opened.pop().close()
