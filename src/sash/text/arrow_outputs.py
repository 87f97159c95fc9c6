"""Make the results of a text from those of the engine, on Arrow tables."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sash.syntax.arrow_expressions import compute, condition_mask, without_views
from sash.syntax.tree import Sorting
from sash.text.inputs import NamedInput
from sash.text.names import unknown_column
from sash.text.outputs import Steps
from sash.text.request import Request

__all__ = ["apply_steps", "compute_outputs", "input_mask", "input_table", "kept_rows"]


def compute_outputs(results: Any, request: Request, own: Sequence[str]) -> Any:
    """Return the results of a text from those of the engine on rows with columns of the names `own`."""
    steps = request.steps(results.column_names, own)
    return apply_steps(results, steps, request.text, kept_rows(results, steps, request.text))


def apply_steps(table: Any, steps: Steps, text: str, rows: Any) -> Any:
    """Return the results of a text; `rows` are the indices of those that it keeps (`kept_rows`).

    >>> from sash.syntax.expressions import Column
    >>> apply_steps(pa.table({"a": [1, 2]}), Steps((("b", Column("a")),)), "", pa.array([1])).to_pylist()
    [{'b': 2}]
    """
    plain = without_views(table)
    if rows is not None:
        plain = plain.take(rows)
    arrays = [compute(plain, each, text) for _, each in steps.columns]
    return pa.table(arrays, names=[name for name, _ in steps.columns])


def kept_rows(table: Any, steps: Steps, text: str) -> Any:
    """Return the indices of the rows that a text keeps, in its order; None: all as they are."""
    if steps.kept is None and not steps.order and steps.limit is None:
        return None
    table = without_views(table)
    rows = pa.array(range(len(table)), pa.int64())
    for each in steps.conditions:
        condition_mask(table.slice(0, 0), each, text, "HAVING or QUALIFY")  # says what is no condition
    if steps.kept is not None:
        mask = condition_mask(table, steps.kept, text, "HAVING or QUALIFY")
        rows = rows.filter(mask.fill_null(False).combine_chunks())
    if steps.order:
        rows = rows.take(_sorted(table.take(rows), steps.order, text))
    if steps.limit is not None:
        count, skipped = steps.limit
        rows = rows.slice(skipped, count)
    return rows


def _sorted(table: Any, order: Sequence[Sorting], text: str) -> Any:
    """Return the indices that sort rows as Spark does: nulls first if ascending, NaN as the largest number."""
    columns: dict[str, Any] = {}
    keys: list[tuple[str, str]] = []
    for place, each in enumerate(order):
        values = compute(table, each.expression, text)
        direction = "descending" if each.is_descending else "ascending"
        nulls_first = not each.is_descending if each.nulls_first is None else each.nulls_first
        parts = {f"null {place}": (pc.is_null(values), "descending" if nulls_first else "ascending")}
        if pa.types.is_floating(values.type):
            nan = pc.fill_null(pc.is_nan(values), False)
            parts[f"nan {place}"] = (nan, direction)
            values = pc.if_else(nan, pa.scalar(0.0, values.type), values)
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        if not pa.types.is_null(values.type):
            parts[f"value {place}"] = (values, direction)
        for name, (column, way) in parts.items():
            columns[name] = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
            keys.append((name, way))
    return pc.sort_indices(pa.table(columns), sort_keys=keys)


def input_mask(table: Any, given: NamedInput) -> Any:
    """Return which rows of a table a named input keeps; None: all."""
    if given.where is None:
        return None
    return condition_mask(without_views(table), given.where, given.text, "WHERE").fill_null(False)


def input_table(table: Any, given: NamedInput) -> Any:
    """Return the rows and columns of a named input."""
    names = table.column_names
    for column in given.used():
        if column.name not in names:
            raise unknown_column(column, names, given.text).within(given.text)
    table = without_views(table)
    mask = input_mask(table, given)
    if mask is not None:
        table = table.filter(mask)
    own = dict(zip(names, table.columns, strict=True)) if given.has_all else {}
    made = {name: compute(table, each, given.text) for name, each in given.columns}
    given.names(names)  # none of them twice
    return pa.table({**own, **made})
