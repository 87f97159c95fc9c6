"""Translate each SELECT of a query text to a window or frames, aggregates and keys.

[RANGE d SLIDE s] is sash.sliding(d, every=s). Without SLIDE a window moves with every row, as in CQL, and there is one
result per row, as in sash.rolling. OVER is the same with a frame for each aggregate.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sash.algebra.aggregate import Template
from sash.engine.frame import PLAIN, Frame, Order
from sash.errors import InvalidText
from sash.plan.query import RESERVED_NAMES, Query, query
from sash.syntax.expressions import Apply, Call, Column, Expression, Literal
from sash.syntax.parser import statements
from sash.syntax.tree import FrameSpec, Function, Item, Join, Statement
from sash.text.functions import Functions, functions_of
from sash.text.joins import JoinClause, clause_of
from sash.text.windows import extent_of, frame_of, order_text, window_in_brackets, window_of_function
from sash.windows.window import Window

__all__ = ["Select", "parse", "queries"]

_EDGES = ("window_start", "window_end")


@dataclass(frozen=True)
class Select:
    """One SELECT, translated: over windows, or over frames with one result per row."""

    name: str
    table: str
    window: Window | None
    aggregates: tuple[tuple[str, Template], ...]  # over the window
    frames: tuple[Frame, ...] = ()
    where: Expression | None = None
    keys: tuple[str, ...] | None = None  # None: not given
    on: str | None = None  # None: not given
    computed: tuple[tuple[str, Expression], ...] = ()  # arguments of aggregates that are no bare columns, by name
    selected: tuple[str, ...] | None = None  # the columns of a result per row; None: all
    order: Order = PLAIN  # of frames
    join: JoinClause | None = None  # the aggregates are of the events of each row of the table
    columns: tuple[Column, ...] = field(default=(), compare=False, repr=False)  # all that are named, with their places
    named: tuple[Column, ...] = field(default=(), compare=False, repr=False)  # in the select list, besides aggregates
    place: int = field(default=0, compare=False, repr=False)  # of the table
    text: str = field(default="", compare=False, repr=False)

    def query(self) -> Query:
        """Return the query over the window."""
        if self.window is None:
            error = InvalidText.meaning(
                self.place, "This asks for a result per row", "a query needs a window with SLIDE"
            )
            raise error.within(self.text)
        return query(self.name, self.window, **dict(self.aggregates))


def parse(text: str, functions: Mapping[str, Template] | None = None) -> tuple[Select, ...]:
    """Parse a text, one result per statement; tables and columns are not checked.

    >>> [select] = parse("SELECT plug, MAX(load) AS peak FROM events [RANGE 1 HOUR SLIDE 1 MINUTE] GROUP BY plug")
    >>> select.table, str(select.window), select.keys
    ('events', 'sliding 1h every 1m', ('plug',))
    """
    try:
        known = functions_of(functions)
        return tuple(
            _Translator(each, place, text, known).select() for place, each in enumerate(statements(text), start=1)
        )
    except InvalidText as error:
        raise error.within(text) from None


def queries(text: str, functions: Mapping[str, Template] | None = None) -> tuple[Query, ...]:
    """Return the queries of a text, which must be over windows.

    >>> [hourly] = queries("hourly: SELECT MAX(load) FROM events [RANGE 1 HOUR SLIDE 1 HOUR]")
    >>> print(hourly)
    hourly: tumbling 1h: max_load=max('load')
    """
    return tuple(each.query() for each in parse(text, functions))


class _Translator:
    """Translate one statement."""

    def __init__(self, statement: Statement, number: int, text: str, functions: Functions) -> None:
        self.statement = statement
        self.number = number
        self.text = text
        self.functions = functions
        self.computed: dict[str, Expression] = {}
        self.columns: list[Column] = []

    def select(self) -> Select:
        statement = self.statement
        if statement.where is not None:
            self._check_scalar(statement.where, "WHERE")
            self.columns += statement.where.columns()
        if statement.join is not None:
            return self._of_join(statement.join)
        is_over = any(each.over is not None for each in statement.items)
        if not is_over and statement.windows:
            place = statement.windows[0][0].place
            raise InvalidText.meaning(place, "No aggregate uses this window", "write for example MAX(x) OVER w")
        if is_over:
            return self._over()
        if statement.function is not None:
            return self._of_function(statement.function)
        return self._of_bracket()

    # --- the three dialects

    def _of_bracket(self) -> Select:
        statement, bracket = self.statement, self.statement.bracket
        assert statement.table is not None
        if bracket is None:
            what = "There is no window"
            raise InvalidText.meaning(
                statement.table.place, what, "write for example FROM t [RANGE 1 HOUR SLIDE 1 MINUTE]"
            )
        keys = self._check_keys(statement.keys, bracket.keys)
        found = window_in_brackets(bracket)
        aggregates, named = self._aggregates(statement.items, statement.place)
        if not isinstance(found, Window):
            frames = (frame_of(found, aggregates, bracket.place),)
            return self._select(statement.table, keys, None, frames=frames, named=named)
        self.columns += bracket.columns
        return self._select(statement.table, keys, None, window=found, aggregates=aggregates, named=named)

    def _of_function(self, function: Function) -> Select:
        table, on, window, keys = window_of_function(function)
        group = self.statement.keys or ()
        if not {each.name for each in group} >= set(_EDGES):
            place = group[0].place if group else function.name.place
            raise InvalidText.meaning(
                place, "GROUP BY must hold window_start and window_end", "add them, then the keys"
            )
        own = tuple(each for each in group if each.name not in _EDGES)
        if function.name.name.upper() == "SESSION":
            # Sessions of a table that is not partitioned are those of all its rows, whatever they are grouped by.
            if {each.name for each in own} != {each.name for each in keys or ()}:
                place = own[0].place if own else function.name.place
                raise InvalidText.meaning(
                    place, "GROUP BY must hold the keys of SESSION", "write TABLE t PARTITION BY key"
                )
        elif keys is not None:
            raise InvalidText.unsupported(keys[0].place, "PARTITION BY here", "write the keys into GROUP BY")
        aggregates, named = self._aggregates(self.statement.items, self.statement.place)
        return self._select(table, own, on, window=window, aggregates=aggregates, named=named)

    def _of_join(self, join: Join) -> Select:
        statement = self.statement
        over = next((each.over.place for each in statement.items if each.over is not None), None)
        for place, what, fix in (
            (statement.bracket and statement.bracket.place, "Labels have no window", "put it after the other table"),
            (statement.where and statement.where.place, "WHERE would not say of which table", "write FILTER (WHERE …)"),
            (statement.keys and statement.keys[0].place, "A join has its keys in ON", "leave out GROUP BY"),
            (over, "A join has its own window", "leave out OVER"),
            (statement.windows and statement.windows[0][0].place, "A join has its own window", "leave out WINDOW"),
            (statement.function and statement.function.name.place, "Labels are a table", "name it, as in FROM labels"),
        ):
            if place is not None and place != ():
                raise InvalidText.meaning(place, what, fix)
        assert statement.table is not None
        own = [each for each in statement.items if each.expression is not None]
        aggregates, named = self._aggregates(own, statement.items[0].place)
        selected = None if len(own) < len(statement.items) else tuple(each.name for each in named)
        said: dict[str, Any] = {"aggregates": aggregates, "named": named, "selected": selected}
        return self._select(statement.table, None, None, join=clause_of(join), **said)

    def _over(self) -> Select:
        statement = self.statement
        if statement.table is None or statement.bracket is not None:
            assert statement.function is not None or statement.bracket is not None
            place = statement.bracket.place if statement.bracket is not None else statement.place
            raise InvalidText.meaning(place, "OVER has its own window", "name the table alone, as in FROM t")
        if statement.keys is not None:
            raise InvalidText.meaning(
                statement.keys[0].place, "OVER has its own keys", "write PARTITION BY in OVER (…)"
            )
        specs = [(each, self._spec(each)) for each in statement.items if each.over is not None]
        first = specs[0][1]
        for item, spec in specs[1:]:
            one, other = (order_text(each) for each in (first, spec))
            if one != other:
                assert item.over is not None
                raise InvalidText.disagree(item.over.place, "PARTITION BY and ORDER BY", one, other)
        frames, selected = self._frames(statement.items, {id(item): spec for item, spec in specs})
        keys = () if first.keys is None else first.keys
        on, *further = first.order
        self.columns += [each.column for each in further]
        order = Order(tuple(each.column.name for each in further), tuple(each.is_descending for each in first.order))
        return self._select(statement.table, keys, on.column, frames=frames, selected=selected, order=order)

    def _frames(
        self, items: Sequence[Item], specs: Mapping[int, FrameSpec]
    ) -> tuple[tuple[Frame, ...], tuple[str, ...] | None]:
        """Return frames in the order of the select list; neighbours of the same extent are one."""
        found: list[tuple[Any, int, dict[str, Template]]] = []
        selected: list[str] = []
        taken: set[str] = set()
        has_all = False
        for item in items:
            if item.expression is None:
                has_all = True
            elif id(item) not in specs:
                column = self._plain(item)
                self.columns.append(column)
                selected.append(column.name)
            else:
                extent = extent_of(specs[id(item)])
                name, template = self._result(item, taken)
                selected.append(name)
                if not found or found[-1][0] != extent:
                    found.append((extent, item.place, {}))
                found[-1][2][name] = template
        frames = tuple(frame_of(extent, aggregates, place) for extent, place, aggregates in found)
        return frames, None if has_all else tuple(selected)

    def _spec(self, item: Item) -> FrameSpec:
        assert item.over is not None
        spec = item.over.frame
        if spec is None:
            assert item.over.name is not None
            known = {name.name: each for name, each in self.statement.windows}
            if item.over.name.name not in known:
                raise InvalidText.unknown(item.over.name.place, "window", item.over.name.name, known or ["none"])
            spec = known[item.over.name.name]
        if not spec.order:
            raise InvalidText.meaning(item.over.place, "OVER needs an order", "write ORDER BY ts in it")
        return spec

    # --- aggregates

    def _aggregates(self, items: Sequence[Item], place: int) -> tuple[dict[str, Template], tuple[Column, ...]]:
        """Return the results by name, and the other columns of the select list."""
        found: dict[str, Template] = {}
        named = []
        taken: set[str] = set()
        for item in items:
            if item.expression is None:
                raise InvalidText.meaning(item.place, "* is not allowed over a window", "name keys and aggregates")
            if isinstance(item.expression, Call):
                name, template = self._result(item, taken)
                found[name] = template
            else:
                named.append(self._plain(item))
        if not found:
            raise InvalidText.meaning(place, "The select list has no aggregate", "add for example MAX(x) AS peak")
        return found, tuple(named)

    def _result(self, item: Item, taken: set[str]) -> tuple[str, Template]:
        call = item.expression
        if not isinstance(call, Call):
            assert call is not None
            raise InvalidText.meaning(call.place, "OVER must follow an aggregate", "write for example MAX(x) OVER (…)")
        for each in call.arguments:
            self._check_scalar(each, f"An argument of {call.name}")
        template = self.functions.template_of(call, self._column)
        if item.filter is not None:
            template = self._filtered(template, item.filter)
        name = item.alias.name if item.alias is not None else _default_name(call)
        place = item.alias.place if item.alias is not None else item.place
        if name in RESERVED_NAMES:
            what = f"{name!r} cannot be the name of a result, for results have a column of that name"
            raise InvalidText.meaning(place, what, "give it another name with AS")
        if name in taken:
            raise InvalidText.twice(place, name)
        taken.add(name)
        return name, template

    def _filtered(self, template: Template, condition: Expression) -> Template:
        """Return an aggregate of a column that is null where a condition is not true (`sash.engine.conditions`)."""
        self._check_scalar(condition, "FILTER")
        value: Expression = Literal(1)
        if template.columns:
            value = self.computed.get(template.columns[0], Column(template.columns[0]))
        filtered = self._column(Apply("filter", (condition, value), condition.place))
        return replace(template, columns=(filtered, *template.columns[1:]), arity=max(1, template.arity))

    def _plain(self, item: Item) -> Column:
        expression = item.expression
        assert expression is not None
        if item.filter is not None:
            raise InvalidText.meaning(item.filter.place, "FILTER must follow an aggregate", "write it after SUM(x)")
        if not isinstance(expression, Column):
            what = "The select list takes columns and aggregates, and no computing with them"
            raise InvalidText.meaning(expression.place, what, "compute in an aggregate, or with the result")
        if item.alias is not None and item.alias.name != expression.name:
            raise InvalidText.meaning(
                item.alias.place, "AS can only name results of aggregates", "rename columns afterwards"
            )
        return expression

    def _check_scalar(self, expression: Expression, where: str) -> None:
        for call in expression.calls():
            if not self.functions.knows(call.name):
                self.functions.template_of(call, str)  # says which functions there are
            raise InvalidText.meaning(call.place, f"{where} is computed from one row", f"{call.name} is an aggregate")

    def _column(self, expression: Expression) -> str:
        """Return the name of the column that an expression is computed into: its own, or the text of the expression."""
        self.columns += expression.columns()
        name = expression.column_name
        if name is None:
            name = str(expression)
            while any(each != name and each.lower() == name.lower() for each in self.computed):
                name += "'"  # Spark does not distinguish upper and lower case
            self.computed[name] = expression
        return name

    # --- keys

    def _check_keys(
        self, group: tuple[Column, ...] | None, partition: tuple[Column, ...] | None
    ) -> tuple[Column, ...] | None:
        if group is not None and partition is not None:
            one, other = ([each.name for each in keys] for keys in (group, partition))
            if set(one) != set(other):
                words = [", ".join(each) for each in (one, other)]
                raise InvalidText.disagree(group[0].place, "The key, in GROUP BY and PARTITION BY,", *words)
        return group if group is not None else partition

    def _select(self, table: Column, keys: tuple[Column, ...] | None, on: Column | None, **said: Any) -> Select:
        label = self.statement.label
        name = f"q{self.number}" if label is None else label.name
        if name.startswith("_"):
            assert label is not None
            raise InvalidText.meaning(label.place, "The name of a query must not start with _", "use another name")
        columns = (*self.columns, *(keys or ()), *(() if on is None else (on,)))
        said["aggregates"] = tuple(said.get("aggregates", {}).items())
        return Select(
            name,
            table.name,
            **{"window": None, **said},
            where=self.statement.where,
            keys=None if keys is None else tuple(dict.fromkeys(each.name for each in keys)),
            on=None if on is None else on.name,
            computed=tuple(self.computed.items()),
            columns=columns,
            place=table.place,
            text=self.text,
        )


def _default_name(call: Call) -> str:
    """Return a name for a result without one: max_load, count."""
    words = [call.name.lower(), *(["distinct"] if call.is_distinct else []), *map(str, call.arguments)]
    return re.sub(r"\W+", "_", "_".join(words)).strip("_")
