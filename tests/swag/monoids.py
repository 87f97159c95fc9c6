"""Small aggregates with known traits, so that no fault of an algorithm can hide.

`words` is ordered and keeps everything: any swapped, lost or doubled row shows. `turns` is ordered
and has an inverse. `latest` is ordered and selective. All are exact, so `==` is the test.
"""

from dataclasses import replace
from typing import Any

import sash
from sash.algebra.aggregate import Aggregate, Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid

words = Aggregate(
    "words",
    state=("O",),
    identity=((),),
    lift=lambda x: ((x,),),
    combine=lambda a, b: (a[0] + b[0],),
    lower=lambda p: p[0],
)
# Maps x → s·x + t with s = ±1: a group that does not commute.
turns = Aggregate(
    "turns",
    state=("i8", "i8"),
    identity=(1, 0),
    lift=lambda x: (1 if x % 2 == 0 else -1, x),
    combine=lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]),
    invert=lambda whole, older: (whole[0] * older[0], whole[1] - older[1] * whole[0] * older[0]),
    lower=lambda p: p[0] + 2 * p[1],
)
# The larger of the newest by parity: ordered, selective, ties to the newer.
latest = Aggregate(
    "latest",
    state=("i8", "b1"),
    identity=(0, False),
    lift=lambda x: (x, True),
    combine=lambda a, b: (a[0], a[1]) if not b[1] or (a[1] and a[0] // 2 > b[0] // 2) else (b[0], b[1]),
    lower=lambda p: p[0],
    selective=True,
)

TEMPLATES: dict[str, Template] = {
    "words": words,
    "turns": turns,
    "latest": latest,
    "sum": sash.sum(),
    "max": sash.max(),
    "first": sash.first(),
    "last": sash.last(),
}


def bound(name: str, interpreted: bool = True, invertible: bool = False) -> Monoid:
    """One of the templates for int64, to be run as plain Python or compiled."""
    monoid = bind(TEMPLATES[name], (Column(Field("i8")),), invertible)
    return replace(monoid, is_compiled=False) if interpreted else monoid


class Counter:
    """A monoid that counts its combines and inverts; those with an identity are free."""

    def __init__(self, monoid: Monoid) -> None:
        self.calls = 0
        neutral = monoid.initial

        def combine(a: Any, b: Any) -> Any:
            self.calls += neutral not in (a, b)
            return monoid.combine(a, b)

        def invert(whole: Any, older: Any) -> Any:
            assert monoid.invert is not None
            self.calls += neutral not in (whole, older)
            return monoid.invert(whole, older)

        self.monoid = replace(monoid, combine=combine, invert=invert if monoid.invert else None, is_compiled=False)
