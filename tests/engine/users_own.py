"""Aggregates and windows as users write them, for streams in tests; the oracle knows each by its name."""

from typing import Any

import numpy as np
import pyarrow as pa

import sash
from tests.engine.extents import LISTED

__all__ = ["AGGREGATES", "WINDOWS"]


class Weeks(sash.ContextFreeWindow):
    """The last two stretches of seven, every seven."""

    reach = 14

    def next_edge(self, position: Any) -> Any:
        return (position // 7 + 1) * 7

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        first = int(after // 7 + 1)
        return [(7 * k - 14, 7 * k) for k in range(first, int(until // 7) + 1)]


class Elevens(sash.ContextAwareWindow):
    """From one multiple of eleven that has a row to the next that has one."""

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in positions:
            if position % 11 == 0 and context.memory.get("since") != position:
                if "since" in context.memory:
                    context.add(context.memory["since"], position)
                context.memory["since"] = position


class Parities(sash.ForwardFreeWindow):
    """As long as x stays even, or odd, or null; a late row may take an edge away."""

    reads = ("x",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position, x in zip(positions.tolist(), columns["x"], strict=True):
            parity = None if x is None else int(x) % 2
            if not context.memory or parity != context.memory["parity"]:
                context.close(position)
                context.open(position)
            context.memory["parity"] = parity


class Switches(sash.MarkedWindow):
    """The same as Parities, for all keys at once."""

    reads = ("x",)

    def mark(self, rows: Any) -> Any:
        now, before = (
            np.array([-1 if x is None else int(x) % 2 for x in column])
            for column in (rows.columns["x"], rows.previous("x"))
        )
        return rows.is_first | (now != before)


class Echoes(sash.ForwardFreeWindow):
    """Eight from each multiple of five that has a row: edges after all rows so far, and windows that overlap."""

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in np.unique(positions[positions % 5 == 0]).tolist():
            if position != context.memory.get("last"):
                context.add(position, position + 8)
            context.memory["last"] = position


AGGREGATES: dict[str, Any] = {
    # Affine maps modulo 97: exact, associative, not commutative, compiled.
    "turns": sash.Aggregate(
        "turns",
        state=("i8", "i8"),
        identity=(1, 0),
        lift=lambda x: (x * x % 97 + 1, (x + 50) % 97),
        combine=lambda a, b: (a[0] * b[0] % 97, (a[1] * b[0] + b[1]) % 97),
        lower=lambda p: p[0] * 100 + p[1],
        result="i8",
    ),
    # Objects that do not commute, and objects that do.
    "path": sash.Aggregate(
        "path",
        state="O",
        identity=(),
        lift=lambda x: (x,),
        combine=lambda a, b: a + b,
        lower=lambda p: ">".join(map(str, p)),
        result=pa.string(),
    ),
    "bag": sash.Aggregate(
        "bag",
        state=("O", "i8"),
        identity=((), 0),
        lift=lambda x: ((x,), 1),
        combine=lambda a, b: (tuple(sorted(a[0] + b[0])), a[1] + b[1]),
        lower=lambda p: " ".join(map(str, p[0])),
        result=pa.string(),
        commutative=True,
    ),
    # A field that is an array.
    "residues": sash.Aggregate(
        "residues",
        state=("i8[3]",),
        identity=(0,),
        lift=lambda x: (np.array([x % 3 == 0, x % 3 == 1, x % 3 == 2]).astype(np.int64),),
        combine=lambda a, b: (a[0] + b[0],),
        lower=lambda p: p[0],
        result="i8[3]",
        commutative=True,
    ),
}
WINDOWS: dict[str, Any] = {
    "weeks": Weeks,
    "elevens": Elevens,
    "parities": Parities,
    "switches": Switches,
    "echoes": Echoes,
    "berlin_days": lambda: sash.tumbling("1 day", zone="Europe/Berlin", offset="6 hours"),
    "berlin_weeks": lambda: sash.sliding("2 weeks", every="1 week", zone="Europe/Berlin"),
    "months": lambda: sash.sliding("2 months", every="1 month"),
    "growing_days": lambda: sash.cumulative("1 day", every="8 hours", zone="Europe/Berlin"),
    "listed": lambda: sash.calendar(LISTED),
}
