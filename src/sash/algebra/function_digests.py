"""Digests of users' functions and of what they read, saved with a state to detect other functions later."""

import sys
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sash.algebra.aggregate import Template
from sash.errors import InvalidState

__all__ = ["PYTHON", "Meanings", "are_meanings", "check_meanings", "meanings_of"]

PYTHON = "{}.{}".format(*sys.version_info)  # functions are compared by their byte code
Meanings: TypeAlias = Mapping[str, Mapping[str, str]]  # by result, and by function and name


def meanings_of(aggregates: Iterable[tuple[str, Template]]) -> dict[str, dict[str, str]]:
    """Return the digests of users' functions, by the names of their results."""
    return {name: meanings for name, each in aggregates if (meanings := each.meanings)}


def are_meanings(given: object) -> bool:
    """Return whether a value has the form of `meanings_of`."""
    if not isinstance(given, dict) or not all(isinstance(each, dict) for each in given.values()):
        return False
    texts = [text for each in given.values() for pair in each.items() for text in pair]
    return all(isinstance(each, str) for each in (*given, *texts))


def check_meanings(where: str, saved: Meanings, given: Iterable[tuple[str, Template]], python: str) -> None:
    """Raise if functions are not those that were saved; the error names what changed."""
    for name, template in given:
        before, now = saved.get(name), template.meanings
        if before is not None and before != now:
            changed = [each for each in {**before, **now} if before.get(each) != now.get(each)]
            raise InvalidState.changed_aggregate(f"{where}, {name}", template.name, changed, python, PYTHON)
