"""Scalar expressions, computed from one row.

A reader evaluates an expression: on Arrow tables (`arrow_expressions`) or on Spark (`sash.spark.driver.expressions`).
Both have the same functions. An expression is never turned into SQL text.
"""

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sash.errors import InvalidText
from sash.syntax.casts import CastType
from sash.syntax.tokens import KEYWORDS

if TYPE_CHECKING:
    from sash.syntax.tree import Over, Sorting

__all__ = ["SCALARS", "SYNONYMS", "Apply", "Call", "Cast", "Column", "Expression", "Interval", "Literal", "Reader"]

T = TypeVar("T")

# Functions of a row by name, with the least and the largest number of arguments.
SCALARS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("abs", "exp", "length", "ln", "lower", "sign", "sqrt", "trim", "upper"), (1, 1)),
    **dict.fromkeys(("ceil", "floor"), (1, 1)),
    **dict.fromkeys(("nullif", "power", "mod"), (2, 2)),
    **dict.fromkeys(("greatest", "least", "concat"), (2, 100)),
    "coalesce": (1, 100),
    "round": (1, 2),
    "if": (3, 3),
}
SYNONYMS = {
    **dict.fromkeys(("ifnull", "nvl"), "coalesce"),
    **dict.fromkeys(("char_length", "character_length", "len"), "length"),
    "ceiling": "ceil",
    "pow": "power",
    "iff": "if",
    "ucase": "upper",
    "lcase": "lower",
}
_INFIX = frozenset({"+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "and", "or", "like"})


class Reader(Protocol[T]):
    """The interface that evaluates columns, literals and functions."""

    def column(self, name: str) -> T: ...

    def literal(self, value: Any) -> T: ...

    def apply(self, function: str, arguments: Sequence[T], place: int) -> T: ...

    def cast(self, value: T, kind: CastType, is_try: bool, place: int) -> T: ...


class Expression(ABC):
    """An expression that is computed from one row."""

    place: int
    depth: int = 0
    size: int = 1  # operands and operators
    column_name: str | None = None  # of a plain column

    @abstractmethod
    def read(self, reader: Reader[T]) -> T:
        """Evaluate the expression with a reader."""

    @property
    def parts(self) -> tuple["Expression", ...]:
        return ()

    def rewrite(self, change: "Change") -> "Expression":
        """Return the expression with parts changed, the largest first; a part for which `change` is None is kept."""
        changed = change(self)
        return self.with_parts(change) if changed is None else changed

    def with_parts(self, change: "Change") -> "Expression":
        """Return the expression with its parts rewritten."""
        return self

    def columns(self) -> tuple["Column", ...]:
        """Return the columns in it, in order."""
        return tuple(column for part in self.parts for column in part.columns())

    def calls(self) -> tuple["Call", ...]:
        """Return the calls in it that are not functions of a row."""
        return tuple(call for part in self.parts for call in part.calls())


Change = Callable[[Expression], Expression | None]


@dataclass(frozen=True)
class Column(Expression):
    """A column by its name."""

    name: str
    place: int = field(compare=False, default=0, repr=False)
    path: tuple[str, ...] = field(compare=False, default=(), repr=False)  # the names between dots, if there are several
    is_quoted: bool = field(compare=False, default=False, repr=False)

    def read(self, reader: Reader[T]) -> T:
        return reader.column(self.name)

    @property
    def column_name(self) -> str:  # type: ignore[override]
        return self.name

    def columns(self) -> tuple["Column", ...]:
        return (self,)

    def __str__(self) -> str:
        is_plain = self.name.isidentifier() and self.name.upper() not in KEYWORDS
        return self.name if is_plain else "`" + self.name.replace("`", "``") + "`"


@dataclass(frozen=True)
class Literal(Expression):
    """A number, a string, a boolean, a date, a time, or null."""

    value: Any
    place: int = field(compare=False, default=0, repr=False)

    def read(self, reader: Reader[T]) -> T:
        return reader.literal(self.value)

    def __str__(self) -> str:
        if self.value is None or isinstance(self.value, bool):
            return str(self.value if self.value is not None else "null").upper()
        if isinstance(self.value, dt.datetime):
            return f"TIMESTAMP '{self.value}'"
        if isinstance(self.value, dt.date):
            return f"DATE '{self.value}'"
        return "'" + self.value.replace("'", "''") + "'" if isinstance(self.value, str) else repr(self.value)


@dataclass(frozen=True)
class Interval(Expression):
    """A length of time; only functions of windows take one."""

    text: str
    place: int = field(compare=False, default=0, repr=False)

    def read(self, reader: Reader[T]) -> T:
        raise InvalidText.meaning(
            self.place, "An interval is the length of a window", "compute with columns of numbers"
        )

    def __str__(self) -> str:
        return f"INTERVAL '{self.text}'"


@dataclass(frozen=True)
class _Inner(Expression):
    """An expression with parts; it knows its depth and size."""

    depth: int = field(compare=False, default=0, repr=False, init=False)
    size: int = field(compare=False, default=0, repr=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((each.depth for each in self.parts), default=0))
        object.__setattr__(self, "size", 1 + sum(each.size for each in self.parts))


@dataclass(frozen=True)
class Apply(_Inner):
    """A function or an operator of other expressions."""

    function: str
    arguments: tuple[Expression, ...]
    place: int = field(compare=False, default=0, repr=False)

    def read(self, reader: Reader[T]) -> T:
        return reader.apply(self.function, [each.read(reader) for each in self.arguments], self.place)

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def with_parts(self, change: Change) -> Expression:
        return replace(self, arguments=tuple(each.rewrite(change) for each in self.arguments))

    def __str__(self) -> str:
        if self.function == "filter":
            condition, value = self.arguments
            return f"{value} where {condition}"
        if self.function not in _INFIX or len(self.arguments) < 2:
            return f"{self.function}({', '.join(map(str, self.arguments))})"
        words = [f"({each})" if each.depth else str(each) for each in self.arguments]
        return f" {self.function} ".join(words)


@dataclass(frozen=True)
class Cast(_Inner):
    """A value of another type; a value that cannot be converted is an error, or null (`is_try`)."""

    value: Expression
    kind: CastType
    is_try: bool = False
    place: int = field(compare=False, default=0, repr=False)

    def read(self, reader: Reader[T]) -> T:
        return reader.cast(self.value.read(reader), self.kind, self.is_try, self.place)

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.value,)

    def with_parts(self, change: Change) -> Expression:
        return replace(self, value=self.value.rewrite(change))

    def __str__(self) -> str:
        return f"{'TRY_' if self.is_try else ''}CAST({self.value} AS {self.kind})"


@dataclass(frozen=True)
class Call(_Inner):
    """A call of a function that is not a function of a row: an aggregate, if there is one of that name."""

    name: str
    arguments: tuple[Expression, ...]
    is_distinct: bool = False
    of_rows: bool = False  # COUNT(*)
    place: int = field(compare=False, default=0, repr=False)
    filter: Expression | None = None  # FILTER (WHERE …)
    over: "Over | None" = None
    within: tuple["Sorting", ...] = ()  # WITHIN GROUP (ORDER BY …)
    ignores_nulls: bool | None = None  # None: not written

    def read(self, reader: Reader[T]) -> T:
        raise AssertionError("an aggregate is no function of a row")

    @property
    def parts(self) -> tuple[Expression, ...]:
        given = (*self.arguments, *(each.expression for each in self.within))
        return given if self.filter is None else (*given, self.filter)

    def with_parts(self, change: Change) -> Expression:
        return replace(
            self,
            arguments=tuple(each.rewrite(change) for each in self.arguments),
            filter=None if self.filter is None else self.filter.rewrite(change),
            within=tuple(replace(each, expression=each.expression.rewrite(change)) for each in self.within),
        )

    def calls(self) -> tuple["Call", ...]:
        return (self,)

    def __str__(self) -> str:
        words = "*" if self.of_rows else ", ".join(map(str, self.arguments))
        within = "".join(f" by {each.expression}{' desc' if each.is_descending else ''}" for each in self.within)
        condition = "" if self.filter is None else f" where {self.filter}"
        return f"{self.name.lower()}({'distinct ' if self.is_distinct else ''}{words}){within}{condition}"
