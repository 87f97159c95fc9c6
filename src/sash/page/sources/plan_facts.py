"""What the plan of a stream tells the page."""

from typing import Any, Literal

from sash.kinds.kind import Same
from sash.page.m4 import Replaces
from sash.page.records import QueryFacts, StreamFacts
from sash.plan.plan import Plan

__all__ = ["facts_of_plan", "length_on", "unit_of_plan"]

_REPLACES: dict[Same, Replaces] = {Same.EXTENT: "extent", Same.END: "end", Same.OVERLAP: "overlap"}


def facts_of_plan(plan: Plan, title: str, notes: tuple[tuple[str, str], ...] = ()) -> StreamFacts:
    """Return what the page knows of a stream."""
    queries = tuple(
        QueryFacts(each.name, each.text, tuple(one.name for one in each.results), _REPLACES[each.kind.same_window])
        for each in plan.queries
    )
    return StreamFacts(
        title,
        unit_of_plan(plan),
        tuple(plan.options.result_keys),
        None if plan.delay is None else length_on(plan, plan.delay),
        length_on(plan, plan.lateness),
        queries,
        tuple(plan.field_names()),
        notes,
    )


def unit_of_plan(plan: Plan) -> Literal["time", "number"]:
    """Return the unit of positions."""
    return "time" if plan.measure.kind.value == "time" else "number"


def length_on(plan: Plan, length: Any) -> float:
    """Return a position or a length in the unit of the page."""
    return float(length) / 1e6 if unit_of_plan(plan) == "time" else float(length)
