"""A question to Spark takes a second: `make test` asks one of many alike, and `make long` asks all of them."""

from collections.abc import Iterable
from typing import Any

import pytest


def sample(values: Iterable[Any], kept: Iterable[Any]) -> list[Any]:
    """Return the values as parameters; those that are not in `kept` run in `make long` alone."""
    chosen = list(kept)
    return [each if each in chosen else pytest.param(each, marks=pytest.mark.long) for each in values]
