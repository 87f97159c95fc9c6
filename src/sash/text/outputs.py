"""What a text makes of results: columns that are computed from them, which rows are kept, their order and number."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sash.errors import InvalidText
from sash.syntax.expressions import Apply, Column, Expression, Literal
from sash.syntax.tree import Sorting

__all__ = ["Outputs", "Steps", "row_steps", "window_steps"]


@dataclass(frozen=True)
class Outputs:
    """What one SELECT makes of the results of its aggregates."""

    columns: tuple[tuple[str, Expression], ...] = ()  # of the select list, as expressions of results
    has_all: bool = False  # SELECT *
    renamed: tuple[tuple[str, str], ...] = ()  # keys and edges of windows, with their aliases
    kept: Expression | None = None  # HAVING or QUALIFY
    order: tuple[Sorting, ...] = ()
    limit: tuple[int, int, int] | None = None  # rows, rows to skip, and the place in the text

    def is_computing(self, names: Sequence[str]) -> bool:
        """Return whether it is more than the results of these names."""
        same = tuple((name, Column(name)) for name in names)
        return self.columns != same or bool(self.renamed) or self.kept is not None or self.sorts

    @property
    def sorts(self) -> bool:
        """Whether it needs all results at once."""
        return bool(self.order) or self.limit is not None


@dataclass(frozen=True)
class Steps:
    """The steps from the results of the engine to those of a text, in this order: filter, sort, cut, compute."""

    columns: tuple[tuple[str, Expression], ...]
    kept: Expression | None = None
    order: tuple[Sorting, ...] = ()
    limit: tuple[int, int] | None = None  # rows, and rows to skip
    conditions: tuple[Expression, ...] = ()  # as written, of which `kept` is made

    def are_needed(self, names: Sequence[str]) -> bool:
        """Return whether results with columns of these names are not yet those of the text."""
        same = tuple((name, Column(name)) for name in names)
        return self.columns != same or self.kept is not None or bool(self.order) or self.limit is not None

    def expressions(self) -> tuple[Expression, ...]:
        """Return what is computed, besides conditions."""
        return (*(each.expression for each in self.order), *(each for _, each in self.columns))


class SelectOutputs(Protocol):
    """The part of a SELECT that its steps depend on."""

    @property
    def name(self) -> str: ...

    @property
    def outputs(self) -> Outputs: ...

    @property
    def place(self) -> int: ...

    @property
    def text(self) -> str: ...

    def result_names(self) -> tuple[str, ...]: ...


def window_steps(selects: Sequence[SelectOutputs], names: Sequence[str]) -> Steps:
    """Return the steps for results of windows, which have columns of these names.

    Keys and edges stay where they are, under their aliases; results of the select list are where aggregates were.
    """
    computed: dict[str, list[tuple[str, Expression]]] = {}
    for select in selects:
        for name, expression in select.outputs.columns:
            computed.setdefault(name, []).append((select.name, expression))
    results = tuple((name, _of_queries(name, each, len(selects) > 1)) for name, each in computed.items())
    own = {name for select in selects for name in select.result_names()}
    renamed = dict(selects[0].outputs.renamed)
    at = min((place for place, name in enumerate(names) if name in own), default=len(names))
    before, after = ([each for each in part if each not in own] for part in (names[:at], names[at:]))
    columns = (
        *((renamed.get(name, name), Column(name)) for name in before),
        *results,
        *((renamed.get(name, name), Column(name)) for name in after),
    )
    _check_twice(selects[0], [name for name, _ in columns], (*computed, *renamed.values()))
    conditions = [_if_of(select.name, select.outputs.kept) for select in selects if select.outputs.kept is not None]
    return _steps(selects, columns, _all_of(conditions))


def row_steps(
    selects: Sequence[SelectOutputs], names: Sequence[str], own: Sequence[str], computed: Iterable[str]
) -> Steps:
    """Return the steps for a result per row; `own` are the columns of the rows, some of them `computed`."""
    hidden = {*computed, *(name for select in selects for name in select.result_names())}
    columns: list[tuple[str, Expression]] = []
    if any(each.outputs.has_all for each in selects):
        columns += [(name, Column(name)) for name in own if name not in hidden]
    columns += [each for select in selects for each in select.outputs.columns]
    columns += [(name, Column(name)) for name in names if name not in own and name not in hidden]
    made = [name for select in selects for name, _ in select.outputs.columns]
    _check_twice(selects[0], [name for name, _ in columns], made)
    return _steps(selects, tuple(columns), _all_of([each.outputs.kept for each in selects if each.outputs.kept]))


def _steps(
    selects: Sequence[SelectOutputs], columns: tuple[tuple[str, Expression], ...], kept: Expression | None
) -> Steps:
    outputs = selects[0].outputs
    limit = None if outputs.limit is None else outputs.limit[:2]
    conditions = tuple(each.outputs.kept for each in selects if each.outputs.kept is not None)
    return Steps(columns, kept, outputs.order, limit, conditions)


def _of_queries(name: str, given: Sequence[tuple[str, Expression]], has_others: bool) -> Expression:
    """Return a result; if there are other queries, it is null in their rows."""
    plain = Column(name)
    if all(each == plain for _, each in given):
        return plain
    if not has_others:
        return given[0][1]
    pairs = [part for query, each in given for part in (_is_of(query), each)]
    return Apply("case", (*pairs, Literal(None)))


def _is_of(query: str) -> Expression:
    return Apply("=", (Column("query"), Literal(query)))


def _if_of(query: str, condition: Expression | None) -> Expression:
    """Return the condition for rows of its query; others, such as rejected rows, are kept."""
    assert condition is not None
    return Apply("or", (Apply("not", (_is_of(query),)), condition), condition.place)


def _all_of(conditions: Sequence[Expression | None]) -> Expression | None:
    found = tuple(each for each in conditions if each is not None)
    return None if not found else found[0] if len(found) == 1 else Apply("and", found, found[0].place)


def _check_twice(select: SelectOutputs, names: Sequence[str], made: Iterable[str]) -> None:
    for name in made:
        if names.count(name) > 1:
            raise InvalidText.twice(select.place, name).within(select.text)
