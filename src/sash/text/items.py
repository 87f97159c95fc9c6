"""The select list and the clauses that read results: HAVING, QUALIFY, ORDER BY, LIMIT."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sash.algebra import sums
from sash.errors import InvalidText
from sash.plan.query import RESERVED_NAMES
from sash.syntax.expressions import Call, Column, Expression, Literal
from sash.syntax.tree import FrameSpec, Item, Sorting, Statement
from sash.text.functions import Functions
from sash.text.outputs import Outputs
from sash.text.over import result_over
from sash.text.results import Results, default_name

__all__ = ["Items"]

Translate = Callable[[Call, str | None], Expression]  # a call to an expression of results; a name, if it may have one


class Items:
    """The select list of a statement, and what it makes of results."""

    def __init__(self, statement: Statement, number: int, functions: Functions, known: Sequence[str] | None) -> None:
        self.statement = statement
        self.known = known
        self.results = Results(functions, "" if number == 1 else f" of {number}")
        self.named: tuple[Column, ...] = ()  # keys and edges that outputs read
        self.specs: list[tuple[Call, FrameSpec]] = []  # of OVER
        self.window_call: Call | None = None  # of GROUP BY
        self.has_aggregates = False
        self._aliases: dict[str, Expression] = {}

    def calls(self) -> Iterator[Call]:
        """Return the calls of aggregates in all clauses."""
        for each in self._expressions():
            yield from each.calls()

    def _expressions(self) -> Iterator[Expression]:
        for item in self.statement.items:
            if item.expression is not None:
                yield item.expression
        for clause in (self.statement.having, self.statement.qualify):
            if clause is not None:
                yield clause
        for sorting in self.statement.sortings:
            yield sorting.expression

    def keys(self) -> tuple[Column, ...] | None:
        """Return the columns of GROUP BY; a number is an entry of the select list, an alias is its column."""
        if self.statement.groups is None:
            return None
        return tuple(self._key(each) for each in self.statement.groups if not isinstance(each, Call))

    def _key(self, given: Expression) -> Column:
        found: Expression | None = given
        if isinstance(given, Literal):
            found = self._numbered(given).expression
        elif isinstance(given, Column) and given.name not in (self.known or ()):
            aliases = [
                each for each in self.statement.items if each.alias is not None and each.alias.name == given.name
            ]
            found = aliases[0].expression if aliases and isinstance(aliases[0].expression, Column) else given
        if not isinstance(found, Column):
            fix = "compute it first, as in WITH t AS (SELECT *, … AS key FROM events)"
            raise InvalidText.meaning(given.place, "GROUP BY takes columns", fix)
        return found

    def _numbered(self, number: Literal) -> Item:
        value = number.value
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= len(self.statement.items):
            what = f"The select list has no entry {value!r}"
            raise InvalidText.meaning(number.place, what, "write a number from 1, or a name")
        return self.statement.items[value - 1]

    # --- outputs

    def window_outputs(self) -> Outputs:
        """Return what is made of results of windows."""
        self._refuse(self.statement.qualify, "QUALIFY filters a result per row", "write HAVING")
        columns: list[tuple[str, Expression]] = []
        renamed: list[tuple[str, str]] = []
        named: list[Column] = []
        for item in self.statement.items:
            if item.expression is None:
                raise InvalidText.meaning(item.place, "* is not allowed over a window", "name keys and aggregates")
            if self._is_window(item):
                continue
            if isinstance(item.expression, Column):
                named.append(item.expression)
                if item.alias is not None and item.alias.name != item.expression.name:
                    renamed.append((item.expression.name, self._free_name(item)))
                    self._aliases[item.alias.name.lower()] = item.expression
            else:
                columns.append(self._column(item, self._of_window, {name for name, _ in columns}))
        self.has_aggregates = bool(self.results.aggregates)
        kept = self._clause(self.statement.having, self._of_window, alias_first=True)
        order = self._sortings(self._of_window)
        if not self.results.aggregates:
            if self.statement.groups is None and not self.statement.is_distinct:
                what = "The select list has no aggregate"
                raise InvalidText.meaning(self.statement.place, what, "add for example MAX(x) AS peak")
            self.results.add_template(sums.count(), None, None, "rows of the window", self.statement.place)
        named += self._outer(columns, kept, order)
        self.named = tuple(named)
        return Outputs(tuple(columns), False, tuple(renamed), kept, order, self.statement.limit)

    def row_outputs(self) -> Outputs:
        """Return what is made of a result per row, with OVER."""
        self.results.reserve(self.known or ())
        self._refuse(self.statement.having, "HAVING filters windows", "write QUALIFY for a result per row")
        self._refuse_distinct("leave it out: there is one result per row")
        columns: list[tuple[str, Expression]] = []
        for item in self.statement.items:
            if item.expression is not None:
                columns.append(self._column(item, self._over, {name for name, _ in columns}))
        kept = self._clause(self.statement.qualify, self._over)
        order = self._sortings(self._over)
        self.results.columns += self._outer(columns, kept, order)
        has_all = any(each.expression is None for each in self.statement.items)
        return Outputs(tuple(columns), has_all, (), kept, order, self.statement.limit)

    def bracket_outputs(self, extent: Mapping[str, Any]) -> Outputs:
        """Return what is made of a result per row, with one frame in brackets; all columns of the table are kept."""
        self.results.reserve(self.known or ())
        self._refuse(self.statement.having, "HAVING filters windows", "write QUALIFY for a result per row")
        self._refuse_distinct("leave it out: there is one result per row")
        columns: list[tuple[str, Expression]] = []
        named: list[Column] = []

        def translate(call: Call, name: str | None) -> Expression:
            return self.results.add(call, extent, name)

        for item in self.statement.items:
            if item.expression is None:
                raise InvalidText.meaning(item.place, "* is not allowed over a window", "name keys and aggregates")
            if isinstance(item.expression, Column):
                self._refuse_alias(item)
                named.append(item.expression)
            else:
                columns.append(self._column(item, translate, {name for name, _ in columns}))
        if not self.results.names():
            what = "The select list has no aggregate"
            raise InvalidText.meaning(self.statement.place, what, "add for example MAX(x) AS peak")
        kept = self._clause(self.statement.qualify, translate)
        order = self._sortings(translate)
        self.results.columns += self._outer(columns, kept, order)
        self.named = tuple(named)
        return Outputs(tuple(columns), True, (), kept, order, self.statement.limit)

    def join_outputs(self) -> Outputs:
        """Return the columns of a join: those of labels, and aggregates of events."""
        self._refuse_distinct("leave it out: there is one result for each label")
        columns: list[tuple[str, Expression]] = []
        named: list[Column] = []
        for item in self.statement.items:
            if isinstance(item.expression, Column):
                self._refuse_alias(item)
                named.append(item.expression)
            elif isinstance(item.expression, Call):
                columns.append(self._column(item, self._of_window, {name for name, _ in columns}))
            elif item.expression is not None:
                what = "The select list of a join takes columns and aggregates"
                raise InvalidText.meaning(item.expression.place, what, "compute with the result")
        if not columns:
            what = "The select list has no aggregate"
            raise InvalidText.meaning(self.statement.place, what, "add for example MAX(x) AS peak")
        self.named = tuple(named)
        has_all = any(each.expression is None for each in self.statement.items)
        return Outputs(tuple(columns), has_all)

    # --- entries and clauses

    def _column(self, item: Item, translate: Translate, taken: set[str]) -> tuple[str, Expression]:
        """Return an entry of the select list, with its name."""
        given = item.expression
        assert given is not None
        name = self._free_name(item)
        if name in taken:
            raise InvalidText.twice(item.alias.place if item.alias is not None else item.place, name)
        found = translate(given, name) if isinstance(given, Call) else self._translated(given, translate)
        if not (isinstance(given, Column) and item.alias is None):
            self._aliases[name.lower()] = found
        return name, found

    def _free_name(self, item: Item) -> str:
        given = item.expression
        assert given is not None
        name = item.alias.name if item.alias is not None else given.column_name or default_name(given)
        if name in RESERVED_NAMES and name != given.column_name:
            what = f"{name!r} cannot be the name of a result, for results have a column of that name"
            place = item.alias.place if item.alias is not None else item.place
            raise InvalidText.meaning(place, what, "give it another name with AS")
        return name

    def _translated(self, expression: Expression, translate: Translate) -> Expression:
        return expression.rewrite(lambda part: translate(part, None) if isinstance(part, Call) else None)

    def _clause(self, clause: Expression | None, translate: Translate, alias_first: bool = False) -> Expression | None:
        """Return a clause as an expression of results; names of the select list stand for their entries."""
        if clause is None:
            return None

        def change(part: Expression) -> Expression | None:
            if isinstance(part, Call):
                return translate(part, None)
            if isinstance(part, Column) and (alias_first or self.known is None or part.name not in self.known):
                found = self._aliases.get(part.name.lower())
                return part if found is None else found
            return None

        return clause.rewrite(change)

    def _sortings(self, translate: Translate) -> tuple[Sorting, ...]:
        return tuple(self._sorting(each, translate) for each in self.statement.sortings)

    def _sorting(self, sorting: Sorting, translate: Translate) -> Sorting:
        expression = sorting.expression
        if isinstance(expression, Literal):
            item = self._numbered(expression)
            if item.expression is None:
                raise InvalidText.meaning(expression.place, "* is more than one column", "write a name")
            expression = item.expression
        found = self._clause(expression, translate, alias_first=True)
        assert found is not None
        return replace(sorting, expression=found)

    def _outer(
        self, columns: Sequence[tuple[str, Expression]], kept: Expression | None, order: Sequence[Sorting]
    ) -> list[Column]:
        """Return the columns that outputs read besides results."""
        results = set(self.results.names())
        given = [each for _, each in columns] + [each.expression for each in order] + ([] if kept is None else [kept])
        return [column for each in given for column in each.columns() if column.name not in results]

    # --- aggregates

    def _of_window(self, call: Call, name: str | None) -> Expression:
        if call.ignores_nulls is False:
            raise InvalidText.unsupported(call.place, f"RESPECT NULLS of {call.name}", "aggregates leave out nulls")
        return self.results.add(call, None, name)

    def _over(self, call: Call, name: str | None) -> Expression:
        if call.over is None:
            if not self.results.functions.knows(call.name):
                self.results.template_of(call)  # says which functions there are
            what = f"{call.name} has no OVER, and another aggregate has one"
            raise InvalidText.meaning(call.place, what, "write OVER after each aggregate")
        spec = self._spec(call)
        self.specs.append((call, spec))
        return result_over(call, spec, self.results, name)

    def _spec(self, call: Call) -> FrameSpec:
        assert call.over is not None
        spec = call.over.frame
        if spec is None:
            assert call.over.name is not None
            known = {name.name: each for name, each in self.statement.windows}
            if call.over.name.name not in known:
                raise InvalidText.unknown(call.over.name.place, "window", call.over.name.name, known or ["none"])
            spec = known[call.over.name.name]
        if not spec.order:
            raise InvalidText.meaning(call.over.place, "OVER needs an order", "write ORDER BY ts in it")
        return spec

    # --- refusals

    def _is_window(self, item: Item) -> bool:
        """Return whether an entry is the window of GROUP BY, whose start and end are columns of every result."""
        given = item.expression
        is_column = isinstance(given, Column) and given.name.lower() in ("window", "session_window")
        is_call = self.window_call is not None and given == self.window_call
        if not is_call and (not is_column or (given.column_name in (self.known or ()) if given is not None else False)):
            return False
        if item.alias is not None:
            fix = "name window_start and window_end, as in window_start AS begin"
            raise InvalidText.meaning(item.alias.place, "A window has two columns", fix)
        return True

    def _refuse(self, clause: Expression | None, what: str, fix: str) -> None:
        if clause is not None:
            raise InvalidText.meaning(clause.place, what, fix)

    def _refuse_distinct(self, fix: str) -> None:
        if self.statement.is_distinct:
            raise InvalidText.meaning(self.statement.place, "DISTINCT is for the keys of windows", fix)

    def _refuse_alias(self, item: Item) -> None:
        if item.alias is not None and item.alias.name != (item.expression and item.expression.column_name):
            raise InvalidText.meaning(
                item.alias.place, "AS cannot rename a column here", "rename columns afterwards, or write OVER"
            )
