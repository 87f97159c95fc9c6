"""WITH: named tables of a text, each a filter and a projection of another table."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sash.errors import InvalidText
from sash.syntax.expressions import Column, Expression
from sash.syntax.tree import Statement
from sash.text.names import ColumnsOf, resolve
from sash.text.results import default_name

__all__ = ["NamedInput", "inputs_of"]


@dataclass(frozen=True)
class NamedInput:
    """A table with a name: the rows of another table that WHERE keeps, with columns computed from them."""

    name: str
    table: str
    columns: tuple[tuple[str, Expression], ...]
    has_all: bool  # SELECT *: all columns, and then these
    where: Expression | None
    place: int = field(compare=False)  # of the table
    text: str = field(compare=False, repr=False)

    def names(self, known: Sequence[str]) -> list[str]:
        """Return the names of its columns, if the table has columns of these names; refuse one that occurs twice."""
        names = [*(known if self.has_all else ()), *(name for name, _ in self.columns)]
        for name, _ in self.columns:
            if names.count(name) > 1:
                raise InvalidText.twice(self.place, name)
        return names

    def used(self) -> tuple[Column, ...]:
        """Return the columns that it reads."""
        where = () if self.where is None else self.where.columns()
        return (*where, *(column for _, each in self.columns for column in each.columns()))


def inputs_of(
    statements: Sequence[Statement], columns_of: ColumnsOf, text: str
) -> tuple[tuple[NamedInput, ...], ColumnsOf]:
    """Return the tables of WITH, and the columns of tables with these among them."""
    found: list[NamedInput] = []
    for statement in statements:
        _check(statement)
        made = _input_of(resolve(statement, columns_of), text)
        if any(each.name == made.name for each in found):
            assert statement.label is not None
            raise InvalidText.meaning(statement.label.place, f"WITH names {made.name!r} twice", "use another name")
        found.append(made)
        columns_of = _with_input(made, columns_of)
    return tuple(found), columns_of


def _with_input(made: NamedInput, columns_of: ColumnsOf) -> ColumnsOf:
    known = columns_of(made.table)
    names = None if known is None and made.has_all else made.names(known or ())
    return lambda table: names if table == made.name else columns_of(table)


def _input_of(statement: Statement, text: str) -> NamedInput:
    assert statement.label is not None and statement.table is not None
    columns = []
    for item in statement.items:
        if item.expression is not None:
            given = item.expression
            columns.append(
                (item.alias.name if item.alias is not None else given.column_name or default_name(given), given)
            )
    has_all = len(columns) < len(statement.items)
    where, place = statement.where, statement.table.place
    return NamedInput(statement.label.name, statement.table.name, tuple(columns), has_all, where, place, text)


def _check(statement: Statement) -> None:
    """Refuse all but a filter and a projection."""
    calls = [call for item in statement.items if item.expression is not None for call in item.expression.calls()]
    calls += () if statement.where is None else statement.where.calls()
    limit = None if statement.limit is None else statement.limit[2]
    sorting = statement.sortings[0].expression.place if statement.sortings else None
    for place, what in (
        (
            calls[0].place if calls else None,
            f"A table of WITH has no aggregates, such as {calls[0].name if calls else ''}",
        ),
        (statement.bracket and statement.bracket.place, "A table of WITH has no window"),
        (statement.function and statement.function.name.place, "A table of WITH has no window"),
        (statement.join and statement.join.table.place, "A table of WITH joins nothing"),
        (statement.groups[0].place if statement.groups else None, "A table of WITH has no groups"),
        (statement.windows[0][0].place if statement.windows else None, "A table of WITH has no window"),
        (statement.having and statement.having.place, "A table of WITH has no groups"),
        (statement.qualify and statement.qualify.place, "A table of WITH has no window"),
        (statement.place if statement.is_distinct else None, "A table of WITH keeps equal rows"),
        (sorting, "A table of WITH has no order"),
        (limit, "A table of WITH has no limit"),
    ):
        if place is not None:
            fix = "it is SELECT columns FROM table WHERE condition; pass other results as tables"
            raise InvalidText.meaning(place, what, fix)
