"""The plans of the streams that this process has made, by the word that names their figures.

Spark gives back a query, and not the DataFrame that it runs. `sash.page` finds the plan of a query here.
"""

from collections import OrderedDict
from dataclasses import dataclass

from sash.plan.plan import Plan

__all__ = ["KnownPlan", "plan_named", "remember"]

MOST = 100


@dataclass(frozen=True)
class KnownPlan:
    """What a stream computes, and whether its results contain rejected rows."""

    plan: Plan
    keeps_late: bool


_plans: "OrderedDict[str, KnownPlan]" = OrderedDict()


def remember(word: str, known: KnownPlan) -> None:
    """Remember a plan; forget the oldest one if there are many."""
    _plans[word] = known
    while len(_plans) > MOST:
        _plans.popitem(last=False)


def plan_named(word: str) -> KnownPlan | None:
    """Return the plan of a stream; None if another process made it, or many others were made since."""
    return _plans.get(word)
