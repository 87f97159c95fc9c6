"""Translate WINDOW JOIN: for each label, aggregates of the rows of another table before it.

`FROM labels WINDOW JOIN clicks [RANGE 7 DAYS] ON user = visitor AND ts > clicked_at` is a lookback of `sash.join`.
Equal columns are the key. The comparison names both times: with > an event at the time of the label is not seen, with
>= it is (docs/decisions/0022-the-window-join-as-text.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sash.algebra.aggregate import Template
from sash.engine.frame import Closed
from sash.errors import InvalidInput, InvalidText
from sash.syntax.expressions import Column, Expression
from sash.syntax.tree import Bracket, Join, Pair
from sash.text.inputs import NamedInput
from sash.text.names import unknown_column
from sash.text.windows import window_in_brackets
from sash.windows.window import Window

__all__ = ["JoinClause", "JoinRequest", "LookbackText", "clause_of"]


@dataclass(frozen=True)
class JoinClause:
    """A clause WINDOW JOIN, translated."""

    table: str
    extent: Mapping[str, Any]  # options of sash.lookback: range, rows, or none
    keys: tuple[tuple[str, str], ...]  # columns of labels and events
    on: tuple[str, str] | None  # the times of labels and events; None: not given
    closed: Closed
    delay: Any
    labels: tuple[Column, ...] = field(default=(), compare=False, repr=False)  # all columns that are named
    events: tuple[Column, ...] = field(default=(), compare=False, repr=False)
    place: int = field(default=0, compare=False, repr=False)


def clause_of(join: Join) -> JoinClause:
    """Return a clause WINDOW JOIN as options of `sash.lookback`."""
    keys = tuple((each.label.name, each.event.name) for each in join.pairs if each.sign == "=")
    times = [each for each in join.pairs if each.sign != "="]
    for each in join.pairs:
        _check_pair(each)
    if len(times) > 1:
        raise InvalidText.meaning(times[1].place, "ON compares times twice", "leave out one of them")
    closed: Closed = "both" if times and times[0].sign == ">=" else "left"
    delay = times[0].delay if times else None
    return JoinClause(
        join.table.name,
        {} if join.bracket is None else _extent_of(join.bracket),
        keys,
        (times[0].label.name, times[0].event.name) if times else None,
        closed,
        0 if delay is None else delay.value if delay.text is None else delay.text,
        tuple(each.label for each in join.pairs),
        tuple(each.event for each in join.pairs),
        join.table.place,
    )


def _check_pair(pair: Pair) -> None:
    if pair.sign not in ("=", ">", ">="):
        what = "ON has the column of the labels first, and then the earlier one of the events"
        raise InvalidText.meaning(pair.place, what, "write for example ON user = visitor AND ts > clicked_at")
    if pair.sign == "=" and pair.delay is not None:
        raise InvalidText.meaning(pair.delay.place, "Keys are equal as they are", "compute the column first")


def _extent_of(bracket: Bracket) -> dict[str, Any]:
    found = None if bracket.slide is not None or bracket.keys is not None else window_in_brackets(bracket)
    if found is None or isinstance(found, Window):
        what = "A lookback is a length or a number of rows before each label"
        raise InvalidText.meaning(bracket.place, what, "write [RANGE 7 DAYS], [ROWS 20] or [UNBOUNDED]")
    return {} if bracket.kind == "unbounded" else found


@dataclass(frozen=True)
class LookbackText:
    """The lookback of one SELECT: its clause, its aggregates, and what they are computed from."""

    clause: JoinClause
    aggregates: tuple[tuple[str, Template], ...]
    computed: tuple[tuple[str, Expression], ...]
    columns: tuple[Column, ...]  # of the events
    selected: tuple[Column, ...] | None  # of the labels; None: all


@dataclass(frozen=True)
class JoinRequest:
    """Several SELECTs with WINDOW JOIN on the same labels, for one call of `sash.join`."""

    text: str
    labels: str
    on: str
    by: tuple[str, ...]
    lookbacks: tuple[LookbackText, ...]
    place: int = 0
    inputs: tuple[NamedInput, ...] = ()  # tables of WITH

    @property
    def tables(self) -> dict[str, int]:
        """The tables that are read, with their places in the text."""
        return {each.clause.table: each.clause.place for each in self.lookbacks} | {self.labels: self.place}

    def computed(self, table: str) -> dict[str, Expression]:
        """Return the expressions to compute from each event first, by the names of their columns."""
        return {
            name: expression
            for each in self.lookbacks
            if each.clause.table == table
            for name, expression in each.computed
        }

    def selected(self) -> list[str] | None:
        """Return the columns of the result; None: all."""
        if any(each.selected is None for each in self.lookbacks):
            return None
        labels = [column.name for each in self.lookbacks for column in each.selected or ()]
        return list(dict.fromkeys([*labels, *(name for each in self.lookbacks for name, _ in each.aggregates)]))

    def options(self, one: LookbackText) -> dict[str, Any]:
        """Return the options of `sash.lookback`."""
        clause = one.clause
        on = clause.on[1] if clause.on is not None else self.on
        return {**clause.extent, "on": on, "by": dict(clause.keys), "closed": clause.closed, "delay": clause.delay}

    def check_labels(self, names: Iterable[str]) -> None:
        """Raise for a column that the labels lack, at its place in the text."""
        for each in self.lookbacks:
            self._check((*each.clause.labels, *(each.selected or ())), list(names))

    def check_events(self, table: str, names: Iterable[str]) -> None:
        """Raise for a column that a table of events lacks, or that an expression would overwrite."""
        known = list(names)
        for each in self.lookbacks:
            if each.clause.table == table:
                self._check((*each.clause.events, *each.columns), known)
        for name in self.computed(table):
            if name in known:
                raise InvalidInput.twice(name)

    def _check(self, columns: Sequence[Column], known: list[str]) -> None:
        for column in columns:
            if column.name not in known:
                raise unknown_column(column, known, self.text).within(self.text)
