"""Scalar expressions, computed from one row.

A reader evaluates an expression: on Arrow tables (`arrow_expressions`) or on Spark (`sash.spark.driver.expressions`).
Both have the same functions. An expression is never turned into SQL text.
"""

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from sash.syntax.tokens import KEYWORDS

__all__ = ["SCALARS", "Apply", "Call", "Column", "Expression", "Literal", "Reader"]

T = TypeVar("T")

# Functions of a row by name, with the least and the largest number of arguments.
SCALARS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("abs", "exp", "length", "ln", "lower", "sign", "sqrt", "trim", "upper"), (1, 1)),
    **dict.fromkeys(("nullif", "power"), (2, 2)),
    **dict.fromkeys(("greatest", "least"), (2, 100)),
    "coalesce": (1, 100),
    "round": (1, 2),
}
_INFIX = frozenset({"+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">=", "and", "or", "like"})


class Reader(Protocol[T]):
    """The interface that evaluates columns, literals and functions."""

    def column(self, name: str) -> T: ...

    def literal(self, value: Any) -> T: ...

    def apply(self, function: str, arguments: Sequence[T], place: int) -> T: ...


class Expression(ABC):
    """An expression that is computed from one row."""

    place: int
    depth: int = 0
    column_name: str | None = None  # of a plain column

    @abstractmethod
    def read(self, reader: Reader[T]) -> T:
        """Evaluate the expression with a reader."""

    @property
    def parts(self) -> tuple["Expression", ...]:
        return ()

    def columns(self) -> tuple["Column", ...]:
        """Return the columns in it, in order."""
        return tuple(column for part in self.parts for column in part.columns())

    def calls(self) -> tuple["Call", ...]:
        """Return the calls in it that are not functions of a row."""
        return tuple(call for part in self.parts for call in part.calls())


@dataclass(frozen=True)
class Column(Expression):
    """A column by its name."""

    name: str
    place: int = field(compare=False, default=0, repr=False)

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
class Apply(Expression):
    """A function or an operator of other expressions."""

    function: str
    arguments: tuple[Expression, ...]
    place: int = field(compare=False, default=0, repr=False)
    depth: int = field(compare=False, default=0, repr=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((each.depth for each in self.arguments), default=0))

    def read(self, reader: Reader[T]) -> T:
        return reader.apply(self.function, [each.read(reader) for each in self.arguments], self.place)

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def __str__(self) -> str:
        if self.function == "filter":
            condition, value = self.arguments
            return f"{value} where {condition}"
        if self.function not in _INFIX or len(self.arguments) < 2:
            return f"{self.function}({', '.join(map(str, self.arguments))})"
        words = [f"({each})" if each.depth else str(each) for each in self.arguments]
        return f" {self.function} ".join(words)


@dataclass(frozen=True)
class Call(Expression):
    """A call of a function that is not a function of a row: an aggregate, if there is one of that name."""

    name: str
    arguments: tuple[Expression, ...]
    is_distinct: bool = False
    of_rows: bool = False  # COUNT(*)
    place: int = field(compare=False, default=0, repr=False)
    depth: int = field(compare=False, default=0, repr=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((each.depth for each in self.arguments), default=0))

    def read(self, reader: Reader[T]) -> T:
        raise AssertionError("an aggregate is no function of a row")

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments

    def calls(self) -> tuple["Call", ...]:
        return (self,)
