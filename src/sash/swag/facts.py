"""What an algorithm needs, holds and costs: `FACTS` of each module, which the planner, the docs and the tests read."""

import math
from dataclasses import dataclass
from enum import Enum

__all__ = ["AllRanges", "Bound", "Cost", "Facts", "Needs", "Sizes", "Space", "room_for"]


def room_for(rows: int) -> int:
    """Return the number of slots of the smallest ring or tree that holds so many rows: a power of two."""
    return 1 << (max(rows, 1) - 1).bit_length()


class Needs(Enum):
    """What an algorithm needs of an aggregate besides associativity."""

    NOTHING = "associativity"
    INVERT = "invert"
    SELECTIVE = "selective"
    QUANTILE = "quantile"
    VARIANCE = "variance"

    @property
    def is_of_few(self) -> bool:
        """Whether only aggregates of certain names have it."""
        return self in (Needs.QUANTILE, Needs.VARIANCE)

    def met_by(self, has_inverse: bool, selective: bool, quantile: bool = False, variance: bool = False) -> bool:
        """Return whether an aggregate with these traits has it."""
        traits = {
            Needs.INVERT: has_inverse,
            Needs.SELECTIVE: selective,
            Needs.QUANTILE: quantile,
            Needs.VARIANCE: variance,
        }
        return traits.get(self, True)


class Sizes(Enum):
    """Which windows an algorithm can hold."""

    ANY = "any size, first in first out"
    FIXED = "one size, known at the start"
    UNORDERED = "any size, rows in any order"


@dataclass(frozen=True)
class Bound:
    """A number of combine calls, or of slots, for a window of n rows.

    It is constant + log · ⌈log₂ n⌉ + linear · n + linear_log · n ⌈log₂ n⌉ + square · n².
    """

    constant: float = 0
    log: float = 0
    linear: float = 0
    linear_log: float = 0
    square: float = 0

    def at(self, n: int) -> float:
        """Return the bound for a window of n rows."""
        log = math.ceil(math.log2(n if n > 1 else 1))
        return self.constant + self.log * log + (self.linear + self.linear_log * log + self.square * n) * n

    def text(self, n: str = "n") -> str:
        """Return the formula; `n` is the name of the number of rows."""
        parts = [
            f"{'' if factor == 1 and symbol else format(factor, '.3g' if factor < 1000 else ',.0f')}{symbol}"
            for factor, symbol in (
                (self.square, f"{n}²"),
                (self.linear_log, f"{n} log {n}"),
                (self.linear, n),
                (self.log, f" log {n}"),
                (self.constant, ""),
            )
            if factor
        ]
        return " + ".join(part.strip() for part in parts) or "0"

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class Cost:
    """Combine calls of one operation: on average over a long run, and at worst."""

    average: Bound
    worst: Bound


@dataclass(frozen=True)
class Space:
    """What the state of a window has room for, spare slots included.

    Rings and trees have N slots, where N is the number of rows rounded up to a power of two. Their bounds are bounds
    in N. Other states are not `rounded`.

    >>> from sash.swag import ALGORITHMS
    >>> space = ALGORITHMS["slick_deque"].facts.space
    >>> print(space, space.positions_text, space.partials_for(1000), space.positions_for(1000))
    N N + 4 1024 1028
    """

    partials: Bound
    positions: Bound = Bound()  # integers beside the partials: cursors, positions and links
    rounded: bool = True

    def partials_for(self, rows: int) -> float:
        """Return how many partials there is room for, at most, in a window of so many rows."""
        return self.partials.at(self._slots(rows))

    def positions_for(self, rows: int) -> float:
        """Return how many integers there are beside them, at most."""
        return self.positions.at(self._slots(rows))

    @property
    def positions_text(self) -> str:
        """The formula of the positions."""
        return self.positions.text("N" if self.rounded else "n")

    def __str__(self) -> str:
        return self.partials.text("N" if self.rounded else "n")

    def _slots(self, rows: int) -> int:
        return room_for(rows) if self.rounded else rows


@dataclass(frozen=True)
class AllRanges:
    """The cost of a window whose ranges from 1 to n are all queried at every slide."""

    slide: Cost  # combine calls of an evict, an insert and n queries together
    space: Space


@dataclass(frozen=True)
class Facts:
    """Facts about an algorithm; the tests check them, the planner and the docs read them."""

    title: str
    insert: Cost
    evict: Cost
    query: Cost
    space: Space
    needs: Needs = Needs.NOTHING
    sizes: Sizes = Sizes.ANY
    all_ranges: AllRanges | None = None  # None: it answers one range in a pass
    compiled: bool = True  # False: plain Python only, for study
    threads: int = 1
    paper: str = ""

    @property
    def ranges(self) -> bool:
        """Whether it answers many ranges in one pass."""
        return self.all_ranges is not None
