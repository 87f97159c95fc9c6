"""Runs an algorithm on values that remember which rows they fold, and notes what it combines."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sash.algebra.aggregate import Aggregate, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid
from sash.swag.catalog import ALGORITHMS
from sash.swag.facts import Needs

__all__ = ["MAX", "PI", "Run", "Span", "costs"]

PI = tuple(int(digit) for digit in "3141592653589793238462643383279502884197169399375105820974944592")


class Span(NamedTuple):
    """A partial of the rows [start, end)."""

    start: int
    end: int
    value: int

    def __str__(self) -> str:
        return str(self.value)


def _monoid(fold: Callable[[int, int], int], undo: Callable[[int, int], int] | None) -> Monoid:
    def combine(a: Any, b: Any) -> Any:
        if a[0] is None or b[0] is None:
            return b if a[0] is None else a
        return (Span(a[0].start, b[0].end, fold(a[0].value, b[0].value)),)

    def invert(whole: Any, older: Any) -> Any:
        assert undo is not None
        if older[0] is None:
            return whole
        return (Span(older[0].end, whole[0].end, undo(whole[0].value, older[0].value)),)

    spans = Aggregate(
        "spans",
        state=("O",),
        identity=(None,),
        lift=lambda span: (span,),
        combine=combine,
        invert=None if undo is None else invert,
        lower=lambda partial: partial[0],
    )
    return bind(spans, (Column(Field("O")),), undo is not None)


MAX = _monoid(max, None)
SUM = _monoid(lambda a, b: a + b, lambda whole, older: whole - older)


@dataclass
class Run:
    """One window over the digits of pi, moved by hand: max, or sum where an inverse is needed."""

    algorithm: str
    size: int = 8
    sizes: tuple[int, ...] = ()
    state: Any = None
    newest: int = 0
    combines: int = 0
    _made: list[Any] = field(default_factory=list)
    _used: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        needs = ALGORITHMS[self.algorithm].facts.needs
        known = SUM if needs is Needs.INVERT else MAX
        self.monoid = replace(
            known,
            combine=self._noted(_larger if needs is Needs.SELECTIVE else known.combine),
            invert=None if known.invert is None else self._noted(known.invert),
        )
        self.state = self.steps.start(self.monoid, self.size, self.sizes)

    def _noted(self, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def noting(a: Any, b: Any) -> Any:
            result = function(a, b)
            if a[0] is not None and b[0] is not None:
                self.combines += 1
                self._used += [each[0] for each in (a, b) if not any(each[0] is made for made in self._made)]
                self._made.append(result[0])
            return result

        return noting

    @property
    def steps(self) -> Any:
        return ALGORITHMS[self.algorithm].steps

    @property
    def oldest(self) -> int:
        return self.newest - int(self.steps.count(self.state))

    def insert(self) -> None:
        """The next digit."""
        span = Span(self.newest, self.newest + 1, PI[self.newest])
        self.newest += 1
        self.steps.insert(self.monoid, self.state, (span,))

    def evict(self) -> None:
        """The oldest digit."""
        self.steps.evict(self.monoid, self.state)

    def slide(self, rows: int) -> "Run":
        """Insert so many digits, evicting when the window is full, with a query after each."""
        for _ in range(rows):
            if self.newest - self.oldest == self.size:
                self.evict()
            self.insert()
            self.query()
        return self

    def query(self) -> tuple[Span, list[Span]]:
        """The answer, and the partials that it was made of."""
        self._forget()
        return self._told(self.steps.query(self.monoid, self.state))

    def query_last(self, count: int) -> tuple[Span, list[Span]]:
        """The same of the newest `count`."""
        self._forget()
        return self._told(self.steps.query_last(self.monoid, self.state, count))

    def _forget(self) -> None:
        self._made, self._used = [], []

    def _told(self, answer: Any) -> tuple[Span, list[Span]]:
        return answer[0], self._used or [answer[0]]


def _larger(a: Any, b: Any) -> Any:
    """The maximum that keeps its own row, where a partial must be one of the two."""
    if a[0] is None or b[0] is None:
        return b if a[0] is None else a
    return a if a[0].value > b[0].value else b


def costs(algorithm: str, size: int = 8, slides: int = 40, sizes: tuple[int, ...] = ()) -> list[int]:
    """The combines of each slide (evict, insert, query) of a full window."""
    run = Run(algorithm, size, sizes).slide(size)
    found = []
    for _ in range(slides):
        before = run.combines
        run.slide(1)
        found.append(run.combines - before)
    return found
