"""Call the functions of windows that users wrote, and check what they raise and return; errors name the window."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sash.errors import InvalidWindow, SashError

__all__ = ["call_user", "check_windows", "is_position"]


def call_user(window: Any, call: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a user's function returns; if it fails, raise an error that names the window."""
    try:
        return function(*arguments)
    except SashError:
        raise
    except Exception as error:
        raise InvalidWindow.fails(window, call, error) from error


def is_position(value: Any, dtype: Any) -> bool:
    """Return whether a user's number can be a position."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    if dtype.kind == "f":
        return bool(value == value)
    return bool(-(2**62) <= value <= 2**62) and int(value) == value


def check_windows(window: Any, windows: Any, dtype: Any) -> None:
    """Reject windows of a user's function that are not pairs of positions, the first before the second."""
    if not isinstance(windows, list):
        raise InvalidWindow.edges(window, f"context.windows must stay a list, but is {windows!r}")
    for given in windows:
        pair = tuple(given) if isinstance(given, tuple | list) else ()
        if len(pair) != 2 or not all(is_position(edge, dtype) for edge in pair) or not pair[0] < pair[1]:
            raise InvalidWindow.edges(window, f"it added {given!r}, which is not a start before an end")
