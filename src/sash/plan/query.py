"""Queries: a name, a window, and aggregates by the names of their results."""

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Never

from sash.algebra.aggregate import Aggregate, Template
from sash.errors import InvalidAggregate, InvalidQuery, InvalidText, InvalidWindow
from sash.keywords import checked, is_keyword, unknown_keyword
from sash.references import name_of
from sash.syntax.parser import condition
from sash.windows.window import Window

__all__ = ["RESERVED_NAMES", "Query", "check_aggregates", "named_queries", "query", "some_queries", "written"]

# The columns of every table of results.
RESERVED_NAMES = ("query", "window_start", "window_end", "rank_start", "rank_end", "revision")


@dataclass(frozen=True, repr=False)
class Query:
    """A window and its aggregates, made by `sash.query`.

    >>> import sash
    >>> hourly = sash.query("hourly", sash.tumbling("1 hour"), peak=sash.max("load"))
    >>> (
    ...     isinstance(hourly, sash.Query),
    ...     hourly.name,
    ...     str(hourly.window),
    ...     [name for name, _ in hourly.aggregates],
    ... )
    (True, 'hourly', 'tumbling 1h', ['peak'])
    """

    name: str
    window: Window
    aggregates: tuple[tuple[str, Template], ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.window}: {', '.join(f'{name}={each}' for name, each in self.aggregates)}"

    def __repr__(self) -> str:
        """Return the call that makes it.

        >>> import sash
        >>> sash.query("n", sash.tumbling("1 hour"), n=sash.count(), peak=sash.max("load"))
        sash.query('n', sash.tumbling('1h'), n=sash.count(), peak=sash.max('load'))
        """
        return f"sash.query({self.name!r}, {self.window!r}, {written(self.aggregates)})"

    def seal(self) -> "Query":
        """Return the same query, to be sent to another process, with aggregates that do not change on the way."""
        return replace(self, aggregates=tuple((name, each.seal()) for name, each in self.aggregates))

    def _repr_html_(self) -> str:
        """Return an HTML table for a notebook.

        >>> import sash
        >>> sash.query("n", sash.tumbling(10), n=sash.count())._repr_html_()
        '<table><caption>n: tumbling 10</caption><tr><th>n</th><td>count()</td></tr></table>'
        """
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(e))}</td></tr>" for name, e in self.aggregates)
        return f"<table><caption>{escape(f'{self.name}: {self.window}')}</caption>{rows}</table>"


def written(aggregates: Iterable[tuple[str, Template]]) -> str:
    """Return named aggregates as a user writes them."""
    pairs = tuple(aggregates)
    words = [f"{name}={each!r}" for name, each in pairs if _is_keyword(name)]
    others = ", ".join(f"{name!r}: {each!r}" for name, each in pairs if not _is_keyword(name))
    return ", ".join([*words, f"**{{{others}}}"] if others else words)


def _is_keyword(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


@checked
def query(name: str, window: Window, /, *unnamed: Never, **aggregates: Template) -> Query:
    """Describe a named query: aggregates over a window, each under the name of its result.

    >>> import sash
    >>> print(
    ...     sash.query(
    ...         "hourly",
    ...         sash.sliding("1 hour", every="1 minute"),
    ...         peak=sash.max("load"),
    ...         rows=sash.count(),
    ...     )
    ... )
    hourly: sliding 1h every 1m: peak=max('load'), rows=count()
    """
    if not isinstance(name, str) or not name:
        raise InvalidQuery.name(name)
    if name.startswith("_"):
        raise InvalidQuery.private(name)
    if not isinstance(window, Window):
        raise InvalidWindow.not_a_window(window)
    if unnamed:
        raise InvalidQuery.unnamed(name)
    if not aggregates:
        raise InvalidQuery.empty(name)
    aggregates = {name: _by_name(each) for name, each in check_aggregates(aggregates, "sash.query").items()}
    for result, template in aggregates.items():
        if result in RESERVED_NAMES:
            raise InvalidQuery.reserved(name, result, RESERVED_NAMES)
        if len(template.columns) != template.arity:
            raise InvalidQuery.no_column(
                name, result, template.name, template.arity, is_own=isinstance(template, Aggregate)
            )
        if not all(isinstance(column, str) for column in template.columns):
            raise InvalidAggregate.parameter(
                template.name, "columns", template.columns, f"names, as in sash.{template.name}('x')"
            )
        if template.where is not None:
            try:
                condition(template.where)
            except InvalidText as error:
                raise InvalidQuery.condition(name, result, str(template), error) from None
    return Query(name, window, tuple(aggregates.items()))


def _by_name(template: Template) -> Template:
    """Return the same aggregate with names in place of references to columns."""
    if all(type(each) is str for each in template.columns):
        return template
    return replace(template, columns=tuple(map(name_of, template.columns)))


def check_aggregates(given: dict[str, Any], call: str, keywords: Sequence[str] = ()) -> dict[str, Template]:
    """Return the aggregates of a call by name; a value that is none was meant as a keyword, and is refused as such."""
    for name, value in given.items():
        if not isinstance(value, Template):
            if is_keyword(name, keywords):
                raise unknown_keyword(call, name, keywords)
            raise InvalidAggregate.named(name, value)
    return given


def named_queries(queries: Any) -> tuple[Query, ...]:
    """Check that each query has a name of its own, and return the queries as a tuple."""
    given = (
        (queries,) if isinstance(queries, Query) else tuple(queries) if isinstance(queries, Iterable) else (queries,)
    )
    if isinstance(queries, str | bytes | Mapping):
        raise InvalidQuery.not_a_query(queries)
    for each in given:
        if not isinstance(each, Query):
            raise InvalidQuery.not_a_query(each)
    names = [each.name for each in given]
    for name in names:
        if names.count(name) > 1:
            raise InvalidQuery.twice(name)
    return given


def some_queries(queries: Any) -> tuple[Query, ...]:
    """Return the queries as `named_queries` does; refuse an empty list."""
    found = named_queries(queries)
    if not found:
        raise InvalidQuery.none()
    return found
