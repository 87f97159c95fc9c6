"""Report a user's function that fails in a worker with the key and the rows that it fails for."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from sash.errors import InvalidAggregate, InvalidWindow, SashError

__all__ = ["with_failing_rows"]

_SHOWN = 3


def with_failing_rows(run: Callable[[pa.Table], Any], table: pa.Table, by: Sequence[str], on: str) -> Any:
    """Run a function on a table; if a user's function fails, find few rows for which it fails and report them."""
    try:
        return run(table)
    except (InvalidAggregate, InvalidWindow) as error:
        if error.__cause__ is None:  # sash refused it: no function failed
            raise
        raise _with_rows(error, _narrow(run, table, by, on), by) from error.__cause__


def _narrow(run: Callable[[pa.Table], Any], table: pa.Table, by: Sequence[str], on: str) -> pa.Table:
    """Halve the rows, sorted by key and position, as long as one half fails."""
    part = table.sort_by([(name, "ascending") for name in [*by, on]])
    while part.num_rows > 1:
        half = part.num_rows // 2
        for each in (part.slice(0, half), part.slice(half)):
            if _fails(run, each):
                part = each
                break
        else:
            return part
    return part


def _fails(run: Callable[[pa.Table], Any], table: pa.Table) -> bool:
    try:
        run(table)
    except SashError:
        return True
    return False


def _with_rows(error: SashError, rows: pa.Table, by: Sequence[str]) -> SashError:
    first = rows.slice(0, _SHOWN).to_pylist()
    key = ", ".join(f"{name}={first[0][name]!r}" for name in by) or "none"
    shown = "; ".join(", ".join(f"{name}={value!r}" for name, value in row.items()) for row in first)
    more = f" and {rows.num_rows - _SHOWN} more" if rows.num_rows > _SHOWN else ""
    return type(error)(f"{error} Key: {key}. Rows: {shown}{more}.")
