"""Recipes of plans, which are sent to workers instead of plans."""

from dataclasses import dataclass

import pyarrow as pa

from sash.engine.input_rows import types_of
from sash.engine.tables import read_rows
from sash.plan.plan import Options, Plan
from sash.plan.planner import make_plan, of_slices
from sash.plan.query import Query
from sash.plan.share import ColumnType

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """The arguments of a plan. A plan holds functions compiled in its process; a recipe can be sent to workers."""

    queries: tuple[Query, ...]
    options: Options
    schema: pa.Schema  # of the columns that queries read
    is_sliced: bool = False  # the rows are slices already

    def types(self) -> dict[str, ColumnType]:
        return types_of(self.queries, read_rows(self.schema.empty_table()))

    def plan(self, coded: bool = False) -> Plan:
        """Return the plan; one that the engine runs on rows is coded."""
        given = read_rows(self.schema.empty_table())
        keys = [given.arrow(name).type for name in self.options.by]
        plan = make_plan(self.queries, self.options, self.types(), given.measure(self.options.on), keys, coded)
        return of_slices(plan) if self.is_sliced else plan
