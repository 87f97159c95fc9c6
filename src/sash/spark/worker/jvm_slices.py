"""Complete the slices that Spark has aggregated."""

import pyarrow as pa

from sash.plan.plan import Plan
from sash.plan.planner import of_slices

__all__ = ["with_seen"]


def with_seen(table: pa.Table, plan: Plan) -> pa.Table:
    """Add the fields that did not travel: whether there was any value."""
    for group, names in zip(plan.groups, of_slices(plan).group_columns, strict=True):
        place = 0
        for component in group.components:
            last = place + len(component.fields) - 1
            if names[last] not in table.column_names:
                table = table.append_column(names[last], table.column(names[place]).is_valid())
            place = last + 1
    return table
