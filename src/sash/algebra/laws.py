"""The laws of aggregates as functions: each looks for the smallest case that breaks it.

Laws      associative   (a ⊕ b) ⊕ c = a ⊕ (b ⊕ c)
          neutral       identity ⊕ a = a = a ⊕ identity
          inverse       invert(a ⊕ b, a) = b
          commutative   a ⊕ b = b ⊕ a
          selective     a ⊕ b is a or b
Search    a, b and c are folds of short histories of example values, shorter before longer and
          simpler values before others, so what is found first is smallest.
Equality  Whole numbers, strings and the like must be equal; floats may differ by 1e-9 of the
          largest float in sight, for rounding is no breach; NaN equals NaN, and 0.0 equals -0.0.

The functions are run as plain Python, whatever they compile to.

>>> import sash
>>> print(sash.laws.commutative(sash.last()))
'last': combine is not commutative: ...
>>> sash.laws.check(sash.max())
()
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.aggregate import Template, bind
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Column, Monoid, identity
from sash.errors import InvalidAggregate, InvalidInput

__all__ = ["Counterexample", "associative", "check", "commutative", "inverse", "neutral", "selective"]

TOLERANCE = 1e-9
MOST_CASES = 4_000  # of one law: a tenth of a second for a simple aggregate
EXAMPLES: dict[str, tuple[Any, ...]] = {
    "b": (False, True),
    "i": (0, 1, -1, 2, -2, 3, 7, 100),
    "u": (0, 1, 2, 3, 7, 100),
    "f": (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e6, -0.0, math.inf, -math.inf, math.nan),
    "O": ("", "a", "b", "ab", "ba"),
}
DECIMALS = tuple(Decimal(each) for each in ("0.00", "0.01", "-0.01", "0.10", "1.00", "-2.50", "99999999.99"))

History = tuple[Any, ...]


@dataclass(frozen=True)
class Counterexample:
    """The smallest case found that breaks a law: the rows behind each operand, and what came out.

    >>> import sash
    >>> average = sash.Aggregate("average", state="f8", identity=0.0, lift=float, combine=lambda a, b: (a + b) / 2)
    >>> print(sash.laws.associative(average))
    'average': combine is not associative: for a = lift(0), b = lift(0), c = lift(1):
    (a ⊕ b) ⊕ c = 0.5, a ⊕ (b ⊕ c) = 0.25
    """

    aggregate: str
    law: str
    operands: tuple[tuple[str, History], ...]
    breach: str
    outcomes: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        operands = ", ".join(f"{name} = {_spelt(history)}" for name, history in self.operands)
        outcomes = ", ".join(f"{term} = {_shown(value)}" for term, value in self.outcomes)
        return f"{self.aggregate!r}: {self.breach}: for {operands}{': ' if outcomes else ''}{outcomes}"


def associative(
    aggregate: Template | Monoid, values: Sequence[Any] | None = None, column: str = "i8"
) -> Counterexample | None:
    """Whether grouping does not matter: (a ⊕ b) ⊕ c = a ⊕ (b ⊕ c).

    `values` are examples, tuples of them for an aggregate of several columns; without, there are some
    for the type of `column`: numbers, with NaN and infinities for floats, strings for "O", or decimals for "decimal".

    >>> import sash
    >>> associative(sash.stddev()) is None
    True
    """

    def cases(it: _Subject, a: Partial, b: Partial, c: Partial) -> _Terms:
        left, right = it.combine(it.combine(a, b), c), it.combine(a, it.combine(b, c))
        return ("(a ⊕ b) ⊕ c", left), ("a ⊕ (b ⊕ c)", right), (right,)

    return _sought(aggregate, values, column, _Law("associative", "combine is not associative", (1, 1, 1), cases))


def neutral(
    aggregate: Template | Monoid, values: Sequence[Any] | None = None, column: str = "i8"
) -> Counterexample | None:
    """Whether the identity changes nothing, on either side.

    >>> import sash
    >>> highest = sash.Aggregate("highest", state="i8", identity=0, lift=lambda x: x, combine=max)
    >>> print(neutral(highest))
    'highest': identity is not neutral on the left: for a = lift(-1): identity ⊕ a = 0, a = -1
    """

    def on_the_left(it: _Subject, a: Partial) -> _Terms:
        return ("identity ⊕ a", it.combine(it.nothing, a)), ("a", a), (a,)

    def on_the_right(it: _Subject, a: Partial) -> _Terms:
        return ("a ⊕ identity", it.combine(a, it.nothing)), ("a", a), (a,)

    return _sought(
        aggregate,
        values,
        column,
        _Law("neutral", "identity is not neutral on the left", (0,), on_the_left),
        _Law("neutral", "identity is not neutral on the right", (0,), on_the_right),
    )


def inverse(
    aggregate: Template | Monoid, values: Sequence[Any] | None = None, column: str = "i8"
) -> Counterexample | None:
    """Whether invert takes the older rows out again: invert(a ⊕ b, a) = b.

    Floats show whether a NaN or an infinity that enters a window ever leaves it.

    >>> import sash
    >>> inverse(sash.sum(), column="f8") is None
    True
    """

    def cases(it: _Subject, a: Partial, b: Partial) -> _Terms:
        return ("invert(a ⊕ b, a)", it.invert(it.combine(a, b), a)), ("b", b), (b,)

    return _sought(aggregate, values, column, _Law("inverse", "invert does not undo combine", (1, 0), cases))


def commutative(
    aggregate: Template | Monoid, values: Sequence[Any] | None = None, column: str = "i8"
) -> Counterexample | None:
    """Whether order does not matter: a ⊕ b = b ⊕ a.

    >>> import sash
    >>> print(commutative(sash.first()))
    'first': combine is not commutative: for a = lift(0), b = lift(1): a ⊕ b = (0, True), b ⊕ a = (1, True)
    """

    def cases(it: _Subject, a: Partial, b: Partial) -> _Terms:
        right = it.combine(b, a)
        return ("a ⊕ b", it.combine(a, b)), ("b ⊕ a", right), (right,)

    return _sought(aggregate, values, column, _Law("commutative", "combine is not commutative", (1, 1), cases))


def selective(
    aggregate: Template | Monoid, values: Sequence[Any] | None = None, column: str = "i8"
) -> Counterexample | None:
    """Whether combine always gives one of its operands.

    >>> import sash
    >>> selective(sash.max()) is None
    True
    """

    def cases(it: _Subject, a: Partial, b: Partial) -> _Terms:
        return ("a ⊕ b", it.combine(a, b)), ("a", a), (a, b)

    return _sought(aggregate, values, column, _Law("selective", "combine gives neither operand", (1, 1), cases))


def check(
    aggregate: Template | Monoid, values: Sequence[Any] | None = None, column: str = "i8"
) -> tuple[Counterexample, ...]:
    """What breaks the laws that an aggregate claims: nothing, if it keeps them all.

    >>> import sash
    >>> check(sash.mean()), check(sash.max(), ["b", "a", None])
    ((), ())
    >>> latest = sash.Aggregate(
    ...     "latest", state="i8", identity=0, lift=lambda x: x, combine=lambda a, b: b, commutative=True
    ... )
    >>> [found.law for found in check(latest)]
    ['neutral', 'commutative']
    """
    if not isinstance(aggregate, Template | Monoid):
        raise InvalidAggregate.not_an_aggregate(aggregate)
    has_inverse = aggregate.invertible if isinstance(aggregate, Template) else aggregate.invert is not None
    claimed: list[Callable[..., Counterexample | None]] = [associative, neutral]
    claimed += [inverse] if has_inverse else []
    claimed += [commutative] if aggregate.commutative else []
    claimed += [selective] if aggregate.selective else []
    found = (law(aggregate, values, column) for law in claimed)
    return tuple({each.breach: each for each in found if each is not None}.values())


# --- what is searched ----------------------------------------------------------------------------

_Term = tuple[str, Partial]
_Terms = tuple[_Term, _Term, tuple[Partial, ...]]  # what came out, what it is shown beside, what it may be


@dataclass(frozen=True)
class _Law:
    name: str
    breach: str
    least: tuple[int, ...]  # rows behind each operand
    terms: Callable[..., _Terms]


class _RaisedError(Exception):
    def __init__(self, function: str, cause: Exception) -> None:
        super().__init__(function)
        self.function, self.cause = function, cause


@dataclass(frozen=True)
class _Subject:
    """A monoid whose functions say which of them raised."""

    monoid: Monoid

    @property
    def nothing(self) -> Partial:
        return identity(self.monoid)

    def lift(self, row: tuple[Any, ...]) -> Partial:
        return self._called("lift", self.monoid.lift, row)

    def combine(self, a: Partial, b: Partial) -> Partial:
        return self._called("combine", self.monoid.combine, a, b)

    def invert(self, whole: Partial, older: Partial) -> Partial:
        return self._called("invert", self.monoid.invert, whole, older)

    def _called(self, name: str, function: Any, *arguments: Any) -> Partial:
        try:
            result: Partial = function(*arguments)
        except Exception as cause:  # whatever a user's function does is what is reported
            raise _RaisedError(name, cause) from cause
        return result

    def fold(self, history: History) -> Partial:
        folded = self.nothing if not history else self.lift(self._row(history[0]))
        for value in history[1:]:
            folded = self.combine(folded, self.lift(self._row(value)))
        return folded

    def _row(self, value: Any) -> tuple[Any, ...]:
        """As kernels see it: columns, then whether the nullable ones are there."""
        columns = self.monoid.columns
        values = value if len(columns) > 1 else (value,)
        filled = tuple(_filler(each) if one is None else one for one, each in zip(values, columns, strict=False))
        return filled + tuple(one is not None for one, each in zip(values, columns, strict=False) if each.nullable)


def _filler(column: Column) -> Any:
    return None if column.field.is_object else column.field.dtype.type(0).item()


def _sought(
    aggregate: Template | Monoid, values: Sequence[Any] | None, column: str, *laws: _Law
) -> Counterexample | None:
    found = []
    for monoid, examples in _subjects(aggregate, values, column, needs_inverse=laws[0].name == "inverse"):
        subject = _Subject(replace(monoid, is_compiled=False))
        found += [case for law in laws if (case := _first_breach(subject, law, examples)) is not None]
    return min(found, key=lambda each: sum(len(history) for _, history in each.operands), default=None)


def _first_breach(subject: _Subject, law: _Law, examples: Sequence[Any]) -> Counterexample | None:
    with np.errstate(all="ignore"):
        for histories in _cases(law.least, examples):
            named = tuple(zip("abc", histories, strict=False))
            try:
                operands = [subject.fold(history) for history in histories]
                given, beside, allowed = law.terms(subject, *operands)
            except _RaisedError as raised:
                breach = f"{raised.function} raised {type(raised.cause).__name__}: {raised.cause}"
                return Counterexample(subject.monoid.name, law.name, named, breach, ())
            if not any(_equal(given[1], each, 0.0) for each in allowed) and not any(
                _equal(given[1], each, _scale((operands, given[1]))) for each in allowed
            ):
                return Counterexample(subject.monoid.name, law.name, named, law.breach, (given, beside))
    return None


def _subjects(
    aggregate: Template | Monoid, values: Sequence[Any] | None, column: str, needs_inverse: bool
) -> Iterator[tuple[Monoid, Sequence[Any]]]:
    """The forms of an aggregate to be tried, with examples for each."""
    if values is not None and not len(values):
        raise InvalidInput.option("values", values, "at least one example")
    if isinstance(aggregate, Monoid):
        if needs_inverse and aggregate.invert is None:
            raise InvalidAggregate.parameter(aggregate.name, "invert", None, "given to be checked")
        yield aggregate, _simplest_first(_examples(aggregate.columns) if values is None else values)
        return
    if not isinstance(aggregate, Template):
        raise InvalidAggregate.not_an_aggregate(aggregate)
    if needs_inverse and not aggregate.invertible:
        raise InvalidAggregate.parameter(aggregate.name, "invert", None, "given to be checked")
    arity = max(aggregate.arity, 1)
    if values is None:
        columns = (Column(Field("O", (10, 2)) if column == "decimal" else Field(column)),) * arity
        values = _examples(columns)
    else:
        rows = [value if arity > 1 else (value,) for value in values]
        columns = tuple(_column_of([row[k] for row in rows]) for k in range(arity))
    for invertible in (False, True):
        if invertible <= aggregate.invertible and (invertible or not needs_inverse):
            yield bind(aggregate, columns, invertible), _simplest_first(values)


def _examples(columns: tuple[Column, ...]) -> list[Any]:
    of_each = [
        [
            *(EXAMPLES[each.field.dtype.kind] if each.field.decimal is None else DECIMALS),
            *([None] if each.nullable else []),
        ]
        for each in columns or (Column(Field("i8")),)
    ]
    if len(of_each) == 1:
        return of_each[0]
    # Pairs that tie in one column and differ in another, as well as pairs that differ in both.
    return [
        tuple(
            examples[(k * step) % len(examples)]
            for k, examples in zip(range(1, len(of_each) + 1), of_each, strict=True)
        )
        for step in range(len(of_each[0]))
    ] + [tuple(examples[k if each else 0] for each, examples in enumerate(of_each)) for k in range(1, len(of_each[-1]))]


def _column_of(values: Iterable[Any]) -> Column:
    present = [value for value in values if value is not None]
    kinds = {
        "b1" if isinstance(value, bool | np.bool_)
        else "i8" if isinstance(value, int | np.integer)
        else "f8" if isinstance(value, float | np.floating)
        else "O"
        for value in present
    }  # fmt: skip
    code = kinds.pop() if len(kinds) == 1 else "f8" if kinds == {"i8", "f8"} else "O"
    return Column(Field(code), nullable=len(present) < len(list(values)))


def _simplest_first(values: Sequence[Any]) -> list[Any]:
    """Small numbers before large, positive before negative, short before long, what is missing last."""

    def complexity(value: Any) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return tuple(sum(each) for each in zip(*(complexity(one)[:2] for one in value), strict=True))
        if isinstance(value, bool | int | float | np.number):
            size = abs(float(value))
            odd = 1 if size != size or math.isinf(size) else 0
            return odd, math.inf if odd else size, not float(value).is_integer(), math.copysign(1, value) < 0
        return (2, 0.0) if value is None else (0, float(len(value)) if hasattr(value, "__len__") else 0.0)

    return sorted(values, key=complexity)


def _cases(least: tuple[int, ...], examples: Sequence[Any]) -> Iterator[tuple[History, ...]]:
    """Histories for each operand: few rows first, and among as many rows those of simple values.

    One operand at a time has a row more than one: partials of two rows stand for all longer ones.
    """
    left = MOST_CASES
    for rows in range(sum(least), len(least) + 2):
        for places in _ranked(rows, len(examples)):
            for lengths in _shared(rows, least):
                ends = [sum(lengths[:k]) for k in range(len(lengths) + 1)]
                chosen = [examples[place] for place in places]
                yield tuple(tuple(chosen[start:end]) for start, end in pairwise(ends))
                left -= 1
                if not left:
                    return


def _ranked(count: int, size: int) -> Iterator[tuple[int, ...]]:
    """All tuples of numbers below `size`, those of a small sum first."""

    def with_sum(count: int, total: int) -> Iterator[tuple[int, ...]]:
        if count == 0:
            if total == 0:
                yield ()
            return
        for one in range(max(0, total - (count - 1) * (size - 1)), min(total, size - 1) + 1):
            for rest in with_sum(count - 1, total - one):
                yield (one, *rest)

    for total in range(count * (size - 1) + 1):
        yield from with_sum(count, total)


def _shared(rows: int, least: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All ways to share out rows among operands."""
    if len(least) == 1:
        yield (rows,)
        return
    for one in range(least[0], rows - sum(least[1:]) + 1):
        for rest in _shared(rows - one, least[1:]):
            yield (one, *rest)


# --- equality and words --------------------------------------------------------------------------


def _scale(value: Any) -> float:
    """The largest finite float anywhere in it, at least 1."""
    if isinstance(value, float):
        return max(1.0, abs(value)) if math.isfinite(value) else 1.0
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        value = value.tolist()
    return max((_scale(each) for each in value), default=1.0) if isinstance(value, tuple | list) else 1.0


def _equal(a: Any, b: Any, scale: float) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if np.shape(a) != np.shape(b) or (not scale and not np.array_equal(a, b)):
            return False
        return not scale or _equal(np.asarray(a).tolist(), np.asarray(b).tolist(), scale)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(_equal(one, other, scale) for one, other in zip(a, b, strict=True))
    if isinstance(a, float) or isinstance(b, float):
        try:
            return bool(a == b or (a != a and b != b) or abs(a - b) <= TOLERANCE * scale)
        except TypeError:
            return False
    return bool(a == b)


def _spelt(history: History) -> str:
    return " ⊕ ".join(f"lift({_argument(value)})" for value in history) or "identity"


def _argument(value: Any) -> str:
    return (
        ", ".join(repr(each) for each in value)
        if isinstance(value, tuple)
        else "null"
        if value is None
        else repr(value)
    )


def _shown(value: Any) -> str:
    return repr(value[0]) if isinstance(value, tuple) and len(value) == 1 else repr(value)
