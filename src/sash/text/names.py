"""Resolve the names of columns: in any case if that is unambiguous, and with the name of the table before a dot."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sash.engine.results import RANKS
from sash.errors import InvalidText
from sash.syntax.expressions import Call, Column, Expression
from sash.syntax.tree import Argument, Bracket, FrameSpec, Function, Item, Join, Statement

__all__ = ["EDGES", "RANKS", "ColumnsOf", "Names", "resolve", "table_of", "unknown_column"]

EDGES = ("window_start", "window_end")
_STRUCTS = ("window", "session_window")  # Spark's names for a window with its start and end

ColumnsOf = Callable[[str], Sequence[str] | None]  # the columns of a table by its name; None: not known


class Names:
    """The columns of a table, by the names that a text may give them.

    >>> names = Names(["events", "e"], ["ts", "Load"])
    >>> [names.column(each).name for each in (Column("LOAD"), Column("e.ts", 0, ("e", "ts")), Column("WINDOW_END"))]
    ['Load', 'ts', 'window_end']
    """

    def __init__(self, tables: Iterable[str], known: Sequence[str] | None) -> None:
        self.tables = {each.lower() for each in tables}
        self.known = None if known is None else tuple(dict.fromkeys(known))
        self._folded: dict[str, list[str]] = {}
        for each in self.known or ():
            self._folded.setdefault(each.lower(), []).append(each)

    def column(self, column: Column) -> Column:
        """Return the column with the name that the table has for it; an unknown one is unchanged."""
        if column.path and column.name not in (self.known or ()):
            column = self._without_table(column)
        if column.is_quoted:
            return column
        folded = column.name.lower()
        found = self._folded.get(folded, [])
        if len(found) > 1:
            raise InvalidText.ambiguous(column.place, column.name, found)
        if found:
            return replace(column, name=found[0])
        return replace(column, name=folded) if folded in (*EDGES, *RANKS) else column

    def _without_table(self, column: Column) -> Column:
        first, *rest = column.path
        if first.lower() in _STRUCTS and [each.lower() for each in rest] in (["start"], ["end"]):
            return replace(column, name=f"window_{rest[0].lower()}", path=())
        if first.lower() in self.tables:
            return replace(column, name=".".join(rest), path=tuple(rest) if len(rest) > 1 else ())
        return column

    def columns(self, columns: tuple[Column, ...] | None) -> tuple[Column, ...] | None:
        return None if columns is None else tuple(map(self.column, columns))

    def expression(self, expression: Expression) -> Expression:
        return expression.rewrite(self._change)

    def _change(self, part: Expression) -> Expression | None:
        if isinstance(part, Column):
            return self.column(part)
        if isinstance(part, Call) and part.over is not None and part.over.frame is not None:
            over = replace(part.over, frame=self.frame(part.over.frame))
            return replace(part, over=over).with_parts(self._change)
        return None

    def frame(self, spec: FrameSpec) -> FrameSpec:
        order = tuple(replace(each, column=self.column(each.column)) for each in spec.order)
        return replace(spec, keys=self.columns(spec.keys), order=order)

    def item(self, item: Item) -> Item:
        return item if item.expression is None else replace(item, expression=self.expression(item.expression))

    def bracket(self, bracket: Bracket | None) -> Bracket | None:
        if bracket is None:
            return None
        return replace(bracket, columns=self.columns(bracket.columns) or (), keys=self.columns(bracket.keys))

    def function(self, function: Function | None) -> Function | None:
        return None if function is None else replace(function, arguments=tuple(map(self._argument, function.arguments)))

    def _argument(self, argument: Argument) -> Argument:
        column = None if argument.column is None else self.column(argument.column)
        return replace(argument, keys=self.columns(argument.keys), column=column)


def resolve(statement: Statement, columns_of: ColumnsOf) -> Statement:
    """Return the statement with the columns of its tables by their own names."""
    names = Names(_tables(statement), columns_of(table_of(statement)))
    if statement.join is not None:
        return _resolve_join(statement, statement.join, names, columns_of)
    groups = None if statement.groups is None else tuple(map(names.expression, statement.groups))
    return replace(
        statement,
        items=tuple(map(names.item, statement.items)),
        bracket=names.bracket(statement.bracket),
        function=names.function(statement.function),
        where=None if statement.where is None else names.expression(statement.where),
        groups=groups,
        windows=tuple((name, names.frame(spec)) for name, spec in statement.windows),
        having=None if statement.having is None else names.expression(statement.having),
        qualify=None if statement.qualify is None else names.expression(statement.qualify),
        sortings=tuple(replace(each, expression=names.expression(each.expression)) for each in statement.sortings),
    )


def _resolve_join(statement: Statement, join: Join, labels: Names, columns_of: ColumnsOf) -> Statement:
    """Plain columns are of the labels, and those in aggregates are of the events."""
    tables = [join.table.name, *(() if join.alias is None else (join.alias.name,))]
    events = Names(tables, columns_of(join.table.name))
    pairs = tuple(
        replace(each, label=labels.column(each.label), event=events.column(each.event)) for each in join.pairs
    )
    items = tuple((labels if isinstance(each.expression, Column) else events).item(each) for each in statement.items)
    return replace(statement, items=items, join=replace(join, pairs=pairs))


def table_of(statement: Statement) -> str:
    """Return the name of the table that a statement reads."""
    return _tables(statement)[0]


def _tables(statement: Statement) -> list[str]:
    if statement.function is not None:
        return [each.table.name for each in statement.function.arguments if each.table is not None] or [""]
    assert statement.table is not None
    return [statement.table.name, *(() if statement.alias is None else (statement.alias.name,))]


def unknown_column(column: Column, known: Sequence[str], text: str) -> InvalidText:
    """Return the error for a column that a table lacks."""
    first, dot, _ = column.name.partition(".")
    if dot and first.lower() in [each.lower() for each in known]:
        return InvalidText.nested(column.place, column.name)
    if column.path:
        return InvalidText.dotted(column.place)
    alike = [each for each in known if each.lower() == column.name.lower()]
    if text[column.place : column.place + 1] == '"' and not alike:
        return InvalidText.double_quotes(column.place, column.name)
    return InvalidText.unknown(column.place, "column", column.name, known)
