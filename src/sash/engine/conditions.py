"""Aggregates with `where`: each reads a copy of its column that is null where the condition is not true.

Idea      Every aggregate skips nulls. So an aggregate with a condition is the same aggregate, without one, of a copy of
          its column; `count()` counts a copy of the constant 1. Kernels, states and JVM slices know no conditions.
Picture     amount   kind          amount where kind = 'card'
            5        'card'        5
            7        'cash'  ─▶    null                            sum("amount", where="kind = 'card'") = 5 + 2
            2        'card'        2
Limits    The name of a copy says what it is, so a saved state and a plan contain the condition.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa

from sash.algebra.aggregate import Template
from sash.engine.input_rows import types_of
from sash.engine.tables import Rows, read_rows
from sash.errors import InvalidInput, InvalidQuery, InvalidText, SashError, UnknownName
from sash.plan.share import ColumnType
from sash.syntax.arrow_expressions import compute, without_views
from sash.syntax.expressions import Apply, Column, Expression, Literal
from sash.syntax.parser import condition

__all__ = ["Conditions", "conditions_of"]

Aggregates: TypeAlias = tuple[tuple[str, Template], ...]


@dataclass(frozen=True)
class Copy:
    """A column that is computed from each row, and the aggregate that needs it, for errors."""

    expression: Expression
    query: str
    result: str
    template: Template

    def error(self, cause: Exception) -> InvalidQuery:
        """Return an error of the condition, with the names of query and result."""
        return InvalidQuery.condition(self.query, self.result, str(self.template), cause)


@dataclass(frozen=True)
class Conditions:
    """The copies of columns that aggregates with `where` read, by name."""

    copies: Mapping[str, Copy]
    names: Mapping[Expression, str]  # of the copies

    def __bool__(self) -> bool:
        return bool(self.copies)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that copies are computed from."""
        found = (column.name for each in self.copies.values() for column in each.expression.columns())
        return tuple(dict.fromkeys(found))

    def _aggregates(self, given: Aggregates) -> Aggregates:
        """Return the aggregates without conditions, reading copies."""
        return tuple((name, self._rewritten(template)) for name, template in given)

    def rewrite(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """Return queries, frames or lookbacks with aggregates that read copies."""
        if not self:
            return tuple(given)
        return tuple(replace(each, aggregates=self._aggregates(each.aggregates)) for each in given)

    def _rewritten(self, template: Template) -> Template:
        if template.where is None:
            return template
        # Aggregates of several columns leave out a row if the first is null.
        columns = (self.names[_expression_of(template)], *template.columns[1:])
        return replace(template, columns=columns, arity=len(columns), where=None)

    def check_names(self, known: Iterable[str], nested: Iterable[str] = ()) -> None:
        """Refuse conditions on columns that a table lacks, and a table that has a column with the name of a copy."""
        names = [*known, *nested]
        for name, copy in self.copies.items():
            for column in copy.expression.columns():
                if column.name not in names:
                    if f'"{column.name}"' in (copy.template.where or ""):
                        raise copy.error(InvalidText.double_quotes(None, column.name))
                    raise copy.error(UnknownName.of("column", column.name, names))
            if name in names:
                raise InvalidInput.twice(name)

    def rows(self, rows: Rows) -> Rows:
        """Return rows with the copies; rows without columns are unchanged."""
        if not self or not rows.names:
            return rows
        self.check_names(rows.names, [name for name in self.columns if rows.has(name)])
        table = pa.table({name: rows.arrow(name) for name in self.columns})
        return rows.with_arrays(self._computed(table, rows.count))

    def types(self, types: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
        """Return types of columns with those of the copies; refuse a condition that does not fit them."""
        missing = [name for name in self.copies if name not in types]
        if not missing:
            return dict(types)
        self.check_names(name for name in types if name not in self.copies)
        table = pa.schema([(name, types[name].arrow) for name in self.columns]).empty_table()
        copies = read_rows(pa.table(self._computed(table, 0)))
        return {**types, **types_of([], copies)}

    def check_types(self, schema: pa.Schema) -> None:
        """Refuse conditions that do not fit columns of these types."""
        self.check_names(schema.names)
        self._computed(schema.empty_table(), 0)

    def _computed(self, table: Any, count: int) -> dict[str, Any]:
        found, table = {}, without_views(table)
        for name, copy in self.copies.items():
            try:
                found[name] = compute(table, copy.expression, None, count)
            except InvalidText as error:
                raise copy.error(error) from None
        return found


def conditions_of(given: Iterable[Any], taken: Iterable[str] = (), call: str = "") -> Conditions:
    """Return the conditions of queries, or of what the call `call` aggregates; no copy has a name that is `taken`.

    >>> import sash
    >>> card = sash.query("q", sash.tumbling(10), card=sash.sum("amount", where="kind = 'card'"))
    >>> print(conditions_of([card]).rewrite([card])[0])
    q: tumbling 10: card=sum("amount where kind = 'card'")
    """
    copies: dict[str, Copy] = {}
    names: dict[Expression, str] = {}
    folded = {name.lower() for name in taken}  # Spark does not distinguish upper and lower case
    for each in given:
        query = call or each.name
        for result, template in each.aggregates:
            if template.where is None:
                continue
            try:
                expression = _expression_of(template)
            except SashError as error:
                raise InvalidQuery.condition(query, result, str(template), error) from None
            if expression not in names:
                name = str(expression)
                while name.lower() in folded:
                    name += "'"
                folded.add(name.lower())
                names[expression] = name
                copies[name] = Copy(expression, query, result, template)
    return Conditions(copies, names)


def _expression_of(template: Template) -> Expression:
    assert template.where is not None
    value = Column(template.columns[0]) if template.columns else Literal(1)
    return Apply("filter", (condition(template.where), value))
