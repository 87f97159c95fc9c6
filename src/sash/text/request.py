"""One call for several statements, which share slices: they read one table by one key and one order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sash.engine.frame import PLAIN, Frame, Order
from sash.errors import InvalidInput, InvalidText
from sash.plan.query import Query, named_queries
from sash.syntax.expressions import Expression
from sash.text.inputs import NamedInput
from sash.text.joins import JoinRequest, LookbackText
from sash.text.names import EDGES, RANKS, unknown_column
from sash.text.outputs import Steps, row_steps, window_steps
from sash.text.select import Select

__all__ = ["Request", "join_request_of", "request_of"]


@dataclass(frozen=True)
class Request:
    """Queries for `sash.aggregate`, or frames for `sash.rolling`, on one table."""

    selects: tuple[Select, ...]
    on: str
    by: tuple[str, ...]
    queries: tuple[Query, ...]
    frames: tuple[Frame, ...]
    order: Order = PLAIN  # of frames

    @property
    def table(self) -> str:
        return self.selects[0].table

    @property
    def text(self) -> str:
        return self.selects[0].text

    @property
    def where(self) -> Expression | None:
        return self.selects[0].where

    @property
    def computed(self) -> dict[str, Expression]:
        """The expressions to compute from each row first, by the names of their columns."""
        return {name: each for select in self.selects for name, each in select.computed}

    @property
    def inputs(self) -> tuple[NamedInput, ...]:
        """The tables of WITH."""
        return self.selects[0].inputs

    @property
    def has_all(self) -> bool:
        """Whether a result per row has all columns of the table."""
        return any(each.outputs.has_all for each in self.selects)

    @property
    def is_computing(self) -> bool:
        """Whether results of windows are not yet those of the text."""
        return any(each.outputs.is_computing(each.result_names()) for each in self.selects)

    def steps(self, names: Sequence[str], own: Sequence[str]) -> Steps:
        """Return the steps from results with these columns to those of the text; `own` are the columns of the rows."""
        if self.queries:
            return window_steps(self.selects, names)
        return row_steps(self.selects, names, own, self.computed)

    def check_bounded(self, revises: bool) -> None:
        """Refuse what a stream cannot have: the order of all results, and HAVING if results are revised."""
        for each in self.selects:
            outputs = each.outputs
            if outputs.sorts:
                place = outputs.order[0].expression.place if outputs.order else (outputs.limit or (0, 0, 0))[2]
                what = f"{'ORDER BY' if outputs.order else 'LIMIT'} needs all results, and a stream has no end"
                raise InvalidText.meaning(place, what, "leave it out, or use it in foreachBatch").within(self.text)
            if outputs.kept is not None and revises and self.queries:
                what = "HAVING would leave out a revision, and the result before it would stay"
                fix = "leave it out and filter where results are read, or use neither updates nor allowed_lateness"
                raise InvalidText.meaning(outputs.kept.place, what, fix).within(self.text)

    @property
    def is_unbounded(self) -> bool:
        """Whether a frame has an open end."""
        return any(each.low is None or each.high is None for each in self.frames)

    def check_one_bucket(self) -> None:
        """Refuse what a table function cannot have, because each of its calls sees a part of the rows."""
        for each in self.selects:
            if each.outputs.sorts or each.inputs:
                what = "WITH, ORDER BY and LIMIT are not for the text of a table function"
                raise InvalidText.meaning(each.place, what, "write them in the query of Spark").within(self.text)

    def check_columns(self, names: Iterable[str], levels: Sequence[str] = ()) -> None:
        """Raise for a column that the table lacks, at its place in the text, and for one that would be overwritten.

        `levels` are those of the index of a pandas DataFrame, which are not columns.
        """
        known = list(names)
        for select in self.selects:
            for column in select.columns:
                if column.name not in known:
                    is_level = column.name in levels
                    error = InvalidText.index_level(column.place, column.name) if is_level else select.misplaced(column)
                    raise (error or unknown_column(column, known, self.text)).within(self.text)
        for name in self.computed:
            if name in known:
                raise InvalidInput.twice(name)


def request_of(selects: Sequence[Select], on: str | None, by: str | Sequence[str] | None) -> Request:
    """Return all statements as one request; options in Python and in the text must agree.

    >>> from sash.text.select import parse
    >>> request = request_of(parse("SELECT COUNT(*) FROM t [ROWS 9 SLIDE 9] GROUP BY k"), on="ts", by=None)
    >>> request.by, str(request.queries[0])
    (('k',), 'q1: tumbling 9 rows: count=count()')
    """
    first = selects[0]
    if not isinstance(by, str | list | tuple | None):
        raise InvalidInput.option("by", by, "the name of a column, or a list of different names")
    try:
        for each in selects:
            if each.join is not None:
                what = "WINDOW JOIN reads two tables"
                raise InvalidText.meaning(each.join.place, what, "use sash.sql, without other queries beside it")
        for each in selects[1:]:
            _check_alike(first, each)
        _check_results(selects)
        if on is not None and first.on is not None and on != first.on:
            raise InvalidText.disagree(first.place, "The column of `on`", on, first.on)
        order = first.on if on is None else on
        given = None if by is None else (by,) if isinstance(by, str) else tuple(by)
        keys = first.keys if given is None else given
        if given is not None and first.keys is not None and set(given) != set(first.keys):
            raise InvalidText.disagree(first.place, "The key", ", ".join(given) or "none", _join_names(first.keys))
        for each in selects:
            for column in each.named:
                edges = () if each.window is None else (*EDGES, *RANKS) if each.window.by_count else EDGES
                allowed = (*(keys or ()), *edges)
                if column.name not in allowed:
                    what = f"{column.name!r} is neither a key nor in an aggregate"
                    fix = f"add GROUP BY {column}, or write such as LAST({column})"
                    raise InvalidText.meaning(column.place, what, fix)
    except InvalidText as error:
        raise error.within(first.text) from None
    if order is None:
        raise InvalidInput.option("on", on, "the name of a column of times or numbers, as in sash.sql(…, on='ts')")
    queries = () if first.window is None else named_queries([each.query() for each in selects])
    return Request(
        tuple(selects),
        order,
        keys or (),
        queries,
        tuple(frame for each in selects for frame in each.frames),
        first.order,
    )


def join_request_of(selects: Sequence[Select], on: str | None, by: str | Sequence[str] | None) -> JoinRequest:
    """Return statements with WINDOW JOIN as one request; options in Python and in the text must agree."""
    first = selects[0]
    try:
        if on is None:
            on = next((each.join.on[0] for each in selects if each.join is not None and each.join.on is not None), None)
        given = None if by is None else (by,) if isinstance(by, str) else tuple(by)
        keys = [name for name, _ in first.join.keys] if first.join is not None else []
        taken: set[str] = set()
        for each in selects:
            join = each.join
            if join is None:
                what = "One call joins or aggregates one table, not both"
                raise InvalidText.meaning(each.place, what, "make two calls")
            if each.table != first.table:
                raise InvalidText.disagree(each.place, "The table of the labels", first.table, each.table)
            own = tuple(name for name, _ in join.keys)
            for one in ((given,) if given is not None else ()) + (tuple(keys),):
                if set(one) != set(own) or len(set(own)) < len(own):
                    raise InvalidText.disagree(join.place, "The key of the labels", _join_names(one), _join_names(own))
            if join.on is not None and join.on[0] != on:
                raise InvalidText.disagree(join.place, "The column of `on`", on, join.on[0])
            for name, _ in each.aggregates:
                if name in taken:
                    raise InvalidText.twice(each.place, name)
                taken.add(name)
    except InvalidText as error:
        raise error.within(first.text) from None
    if on is None:
        raise InvalidInput.option("on", on, "the name of a column of times or numbers, as in sash.sql(…, on='ts')")
    lookbacks = tuple(
        LookbackText(
            each.join, each.aggregates, each.computed, each.columns, None if each.outputs.has_all else each.named
        )
        for each in selects
        if each.join is not None
    )
    return JoinRequest(first.text, first.table, on, tuple(keys), lookbacks, first.place, first.inputs)


def _check_alike(first: Select, other: Select) -> None:
    for each in (first, other):
        if each.outputs.sorts:
            what = "ORDER BY and LIMIT are for a text with one SELECT"
            raise InvalidText.meaning(each.place, what, "leave them out, or make two calls")
    if (first.window is None) != (other.window is None):
        what = "One call gives windows or a result per row, not both"
        raise InvalidText.meaning(other.place, what, "make two calls")
    for what, one, two in (
        ("The table of a call", first.table, other.table),
        ("The key of a call", _join_names(first.keys), _join_names(other.keys)),
        ("The column of `on`", first.on, other.on),
        ("ORDER BY of a call", str(first.order), str(other.order)),
        ("WHERE of a call", first.where, other.where),
        ("The name of a key", dict(first.outputs.renamed), dict(other.outputs.renamed)),
    ):
        if one != two:
            words = (each if each is not None else "not given" for each in (one, two))
            raise InvalidText.disagree(other.place, what, *words)


def _check_results(selects: Sequence[Select]) -> None:
    """Raise for two results of one name in the same row; windows have rows of their own."""
    taken: set[str] = set()
    for each in selects:
        for name in each.result_names() if each.window is None else ():
            if name in taken:
                raise InvalidText.twice(each.place, name)
            taken.add(name)


def _join_names(keys: tuple[str, ...] | None) -> str:
    return ", ".join(sorted(keys or ())) or "none"
