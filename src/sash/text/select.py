"""Translate each SELECT of a query text to a window or frames, aggregates and keys.

[RANGE d SLIDE s] is sash.sliding(d, every=s). Without SLIDE a window moves with every row, as in CQL, and there is one
result per row, as in sash.rolling. OVER is the same with a frame for each aggregate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sash.algebra.aggregate import Template
from sash.engine.frame import PLAIN, Frame, Order
from sash.errors import InvalidText
from sash.plan.query import Query, query
from sash.syntax.expressions import Call, Column, Expression
from sash.syntax.parser import statements
from sash.syntax.tree import FrameSpec, Function, Join, Statement
from sash.text.functions import Functions, functions_of
from sash.text.inputs import NamedInput, inputs_of
from sash.text.items import Items
from sash.text.joins import JoinClause, clause_of
from sash.text.names import EDGES, ColumnsOf, resolve, table_of
from sash.text.outputs import Outputs
from sash.text.windows import order_text, window_in_brackets, window_of_function, window_of_group
from sash.windows.window import Window

__all__ = ["Select", "parse", "queries"]


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
    outputs: Outputs = field(default_factory=Outputs)  # what is made of the results
    order: Order = PLAIN  # of frames
    join: JoinClause | None = None  # the aggregates are of the events of each row of the table
    inputs: tuple[NamedInput, ...] = ()  # tables of the text
    columns: tuple[Column, ...] = field(default=(), compare=False, repr=False)  # all that are named, with their places
    named: tuple[Column, ...] = field(default=(), compare=False, repr=False)  # keys and edges that outputs read
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

    def source(self) -> str:
        """Return the table that it reads, through the tables of WITH."""
        table = self.table
        for each in reversed(self.inputs):
            table = each.table if each.name == table else table
        return table

    def misplaced(self, column: Column) -> InvalidText | None:
        """Return the error for a column of WHERE that has the name of a result; None if it has not."""
        is_of_where = self.where is not None and column.place in [each.place for each in self.where.columns()]
        if not is_of_where or column.name.lower() not in [name.lower() for name, _ in self.outputs.columns]:
            return None
        what = f"WHERE is computed before the result {column.name!r}"
        return InvalidText.meaning(column.place, what, f"write {'QUALIFY' if self.window is None else 'HAVING'}")

    def result_names(self) -> tuple[str, ...]:
        """Return the names of the results of its aggregates."""
        framed = (name for each in self.frames for name, _ in each.aggregates)
        return (*(name for name, _ in self.aggregates), *framed)


def parse(
    text: str, functions: Mapping[str, Template] | None = None, columns_of: ColumnsOf | None = None
) -> tuple[Select, ...]:
    """Parse a text, one result per statement; `columns_of` returns the columns of a table, None if it is not known.

    >>> [select] = parse("SELECT plug, MAX(load) AS peak FROM events [RANGE 1 HOUR SLIDE 1 MINUTE] GROUP BY plug")
    >>> select.table, str(select.window), select.keys
    ('events', 'sliding 1h every 1m', ('plug',))
    """
    try:
        known = functions_of(functions)
        found = statements(text)
        inputs, columns_of = inputs_of(found[0].inputs, columns_of or (lambda table: None), text)
        return tuple(
            _Translator(resolve(each, columns_of), place, text, known, inputs, columns_of).select()
            for place, each in enumerate(found, start=1)
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

    def __init__(
        self,
        statement: Statement,
        number: int,
        text: str,
        functions: Functions,
        inputs: tuple[NamedInput, ...],
        columns_of: ColumnsOf,
    ) -> None:
        self.statement = statement
        self.number = number
        self.text = text
        self.inputs = inputs
        self.items = Items(statement, number, functions, columns_of(table_of(statement)))

    def select(self) -> Select:
        statement = self.statement
        if statement.where is not None:
            self.items.results.check_scalar(statement.where, "WHERE")
            self.items.results.columns += statement.where.columns()
        if statement.join is not None:
            return self._of_join(statement.join)
        is_over = any(each.over is not None for each in self.items.calls())
        if not is_over and statement.windows:
            place = statement.windows[0][0].place
            raise InvalidText.meaning(place, "No aggregate uses this window", "write for example MAX(x) OVER w")
        if is_over:
            return self._over()
        if statement.function is not None:
            return self._of_function(statement.function)
        if any(isinstance(each, Call) for each in statement.groups or ()):
            return self._of_group()
        return self._of_bracket()

    # --- the dialects

    def _of_bracket(self) -> Select:
        statement, bracket = self.statement, self.statement.bracket
        assert statement.table is not None
        if bracket is None:
            fix = "write FROM t [RANGE 1 HOUR SLIDE 1 MINUTE], GROUP BY window(ts, '1 hour'), or OVER (ORDER BY ts)"
            raise InvalidText.meaning(statement.table.place, "There is no window", fix)
        keys = self._check_keys(self.items.keys(), bracket.keys)
        found = window_in_brackets(bracket)
        if isinstance(found, Window):
            self.items.results.columns += bracket.columns
            return self._windowed(statement.table, keys, None, found)
        outputs = self.items.bracket_outputs(found)
        frames = self.items.results.frames(bracket.place)
        return self._select(statement.table, keys, None, frames=frames, outputs=outputs, named=self.items.named)

    def _of_function(self, function: Function) -> Select:
        table, on, window, keys = window_of_function(function)
        group = self.items.keys() or ()
        if not {each.name for each in group} >= set(EDGES):
            place = group[0].place if group else function.name.place
            raise InvalidText.meaning(
                place, "GROUP BY must hold window_start and window_end", "add them, then the keys"
            )
        own = tuple(each for each in group if each.name not in EDGES)
        if function.name.name.upper() == "SESSION":
            # Sessions of a table that is not partitioned are those of all its rows, whatever they are grouped by.
            if {each.name for each in own} != {each.name for each in keys or ()}:
                place = own[0].place if own else function.name.place
                raise InvalidText.meaning(
                    place, "GROUP BY must hold the keys of SESSION", "write TABLE t PARTITION BY key"
                )
        elif keys is not None:
            raise InvalidText.unsupported(keys[0].place, "PARTITION BY here", "write the keys into GROUP BY")
        return self._windowed(table, own, on, window)

    def _of_group(self) -> Select:
        """GROUP BY window(ts, '1 hour'), key."""
        statement = self.statement
        assert statement.table is not None
        if statement.bracket is not None:
            raise InvalidText.meaning(statement.bracket.place, "There are two windows", "leave out one of them")
        windows = [each for each in statement.groups or () if isinstance(each, Call)]
        for each in windows:
            if each.name.lower() in ("rollup", "cube", "grouping"):
                raise InvalidText.unsupported(each.place, each.name, "write a SELECT for each set of keys")
        if len(windows) > 1:
            raise InvalidText.meaning(windows[1].place, "There are two windows", "leave out one of them")
        on, window = window_of_group(windows[0])
        self.items.window_call = windows[0]
        keys = tuple(each for each in self.items.keys() or () if each.name not in EDGES)
        return self._windowed(statement.table, keys, on, window)

    def _windowed(self, table: Column, keys: tuple[Column, ...] | None, on: Column | None, window: Window) -> Select:
        outputs = self.items.window_outputs()
        if keys is None and self.statement.is_distinct and not self.items.has_aggregates:
            keys = tuple(each for each in self.items.named if each.name not in EDGES)
        said = {"window": window, "aggregates": self.items.results.aggregates}
        return self._select(table, keys, on, outputs=outputs, named=self.items.named, **said)

    def _of_join(self, join: Join) -> Select:
        statement = self.statement
        over = next((each.over.place for each in self.items.calls() if each.over is not None), None)
        sorting = statement.sortings[0].expression.place if statement.sortings else None
        for place, what, fix in (
            (statement.bracket and statement.bracket.place, "Labels have no window", "put it after the other table"),
            (statement.where and statement.where.place, "WHERE would not say of which table", "write FILTER (WHERE …)"),
            (statement.groups and statement.groups[0].place, "A join has its keys in ON", "leave out GROUP BY"),
            (over, "A join has its own window", "leave out OVER"),
            (statement.windows and statement.windows[0][0].place, "A join has its own window", "leave out WINDOW"),
            (statement.function and statement.function.name.place, "Labels are a table", "name it, as in FROM labels"),
            (statement.having and statement.having.place, "A join keeps all labels", "filter the result"),
            (statement.qualify and statement.qualify.place, "A join keeps all labels", "filter the result"),
            (sorting, "A join keeps the order of the labels", "sort the result"),
            (statement.limit and statement.limit[2], "A join keeps all labels", "cut the result"),
        ):
            if place is not None and place != ():
                raise InvalidText.meaning(place, what, fix)
        assert statement.table is not None
        outputs = self.items.join_outputs()
        said: dict[str, Any] = {"aggregates": self.items.results.aggregates, "named": self.items.named}
        return self._select(statement.table, None, None, join=clause_of(join), outputs=outputs, **said)

    def _over(self) -> Select:
        statement = self.statement
        if statement.table is None or statement.bracket is not None:
            assert statement.function is not None or statement.bracket is not None
            place = statement.bracket.place if statement.bracket is not None else statement.place
            raise InvalidText.meaning(place, "OVER has its own window", "name the table alone, as in FROM t")
        if statement.groups is not None:
            raise InvalidText.meaning(
                statement.groups[0].place, "OVER has its own keys", "write PARTITION BY in OVER (…)"
            )
        outputs = self.items.row_outputs()
        specs = self.items.specs
        first = specs[0][1]
        for call, spec in specs[1:]:
            one, other = (order_text(each) for each in (first, spec))
            if one != other:
                assert call.over is not None
                raise InvalidText.disagree(call.over.place, "PARTITION BY and ORDER BY", one, other)
        return self._per_row(statement.table, first, outputs)

    def _per_row(self, table: Column, spec: FrameSpec, outputs: Outputs) -> Select:
        keys = () if spec.keys is None else spec.keys
        on, *further = spec.order
        self.items.results.columns += [each.column for each in further]
        order = Order(tuple(each.column.name for each in further), tuple(each.is_descending for each in spec.order))
        frames = self.items.results.frames()
        return self._select(table, keys, on.column, frames=frames, outputs=outputs, order=order)

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
        results = self.items.results
        columns = (*results.columns, *(keys or ()), *(() if on is None else (on,)))
        said["aggregates"] = tuple(said.get("aggregates", {}).items())
        return Select(
            name,
            table.name,
            **{"window": None, **said},
            where=self.statement.where,
            keys=None if keys is None else tuple(dict.fromkeys(each.name for each in keys)),
            on=None if on is None else on.name,
            computed=tuple(results.computed.items()),
            inputs=self.inputs,
            columns=columns,
            place=table.place,
            text=self.text,
        )
