"""The laws of aggregates as functions: each searches for the smallest case that breaks it.

Laws      associative   (a ⊕ b) ⊕ c = a ⊕ (b ⊕ c)
          neutral       identity ⊕ a = a = a ⊕ identity
          inverse       invert(a ⊕ b, a) = b
          commutative   a ⊕ b = b ⊕ a
          selective     a ⊕ b is a or b
          in place      absorb and merge give a ⊕ b, too; only built-in aggregates with arrays have them
Search    a, b and c are folds of short histories of example values (`law_cases`), the smallest first.
Equality  Integers, strings and the like must be equal. Floats may differ by 1e-9 of the largest
          float of the case, since rounding breaks no law; NaN equals NaN, and 0.0 equals -0.0.

The functions of the aggregate run as plain Python, not compiled.

>>> import sash
>>> print(sash.laws.commutative(sash.last()))
'last': combine is not commutative: ...
>>> sash.laws.check(sash.max())
()
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, TypeAlias

import numpy as np

from sash.algebra.aggregate import Aggregate, Template, bind
from sash.algebra.fields import Field, Partial
from sash.algebra.law_cases import History, cases, column_of, examples_of, simplest_first
from sash.algebra.monoid import Column, Monoid, identity
from sash.errors import InvalidAggregate, InvalidInput
from sash.keywords import checked

__all__ = ["Counterexample", "associative", "check", "commutative", "in_place", "inverse", "neutral", "selective"]

TOLERANCE = 1e-9
Checked: TypeAlias = Template | Monoid
Examples: TypeAlias = Sequence[Any] | None


@dataclass(frozen=True, repr=False)
class Counterexample:
    """The smallest case found that breaks a law: the rows of each operand, and the outcomes.

    >>> import sash
    >>> average = sash.Aggregate(
    ...     "average",
    ...     state="f8",
    ...     identity=0.0,
    ...     lift=float,
    ...     combine=lambda a, b: (a + b) / 2,
    ... )
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
        operands = ", ".join(f"{name} = {_spell(history)}" for name, history in self.operands)
        outcomes = ", ".join(f"{term} = {_show(value)}" for term, value in self.outcomes)
        return f"{self.aggregate!r}: {self.breach}: for {operands}{': ' if outcomes else ''}{outcomes}"

    def __repr__(self) -> str:
        return f"<Counterexample: {self}>"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks."""
        return f"<p>{escape(str(self))}</p>"


@checked
def associative(aggregate: Checked, values: Examples = None, column: str = "i8") -> Counterexample | None:
    """Check that grouping does not matter: (a ⊕ b) ⊕ c = a ⊕ (b ⊕ c).

    `values` are examples, tuples of them for an aggregate of several columns. The default is examples of the type
    `column`: numbers, with NaN and infinities for floats, strings for "O", or decimals for "decimal".

    >>> import sash
    >>> associative(sash.stddev()) is None
    True
    """

    def terms(it: _Subject, a: Partial, b: Partial, c: Partial) -> _Terms:
        left, right = it.combine(it.combine(a, b), c), it.combine(a, it.combine(b, c))
        return ("(a ⊕ b) ⊕ c", left), ("a ⊕ (b ⊕ c)", right), (right,)

    return _search(aggregate, values, column, _Law("associative", "combine is not associative", (1, 1, 1), terms))


@checked
def neutral(aggregate: Checked, values: Examples = None, column: str = "i8") -> Counterexample | None:
    """Check that the identity changes nothing, on either side.

    >>> import sash
    >>> highest = sash.Aggregate(
    ...     "highest", state="i8", identity=0, lift=lambda x: x, combine=max
    ... )
    >>> print(neutral(highest))
    'highest': identity is not neutral on the left: for a = lift(-1): identity ⊕ a = 0,
      a = -1
    """

    def on_the_left(it: _Subject, a: Partial) -> _Terms:
        return ("identity ⊕ a", it.combine(it.nothing, a)), ("a", a), (a,)

    def on_the_right(it: _Subject, a: Partial) -> _Terms:
        return ("a ⊕ identity", it.combine(a, it.nothing)), ("a", a), (a,)

    sides = ("left", on_the_left), ("right", on_the_right)
    laws = (_Law("neutral", f"identity is not neutral on the {side}", (0,), terms) for side, terms in sides)
    return _search(aggregate, values, column, *laws)


@checked
def inverse(aggregate: Checked, values: Examples = None, column: str = "i8") -> Counterexample | None:
    """Check that invert removes the older rows: invert(a ⊕ b, a) = b.

    Float examples show whether a NaN or an infinity that enters a window leaves it again.

    >>> import sash
    >>> inverse(sash.sum(), column="f8") is None
    True
    """

    def terms(it: _Subject, a: Partial, b: Partial) -> _Terms:
        return ("invert(a ⊕ b, a)", it.invert(it.combine(a, b), a)), ("b", b), (b,)

    return _search(aggregate, values, column, _Law("inverse", "invert does not undo combine", (1, 0), terms))


@checked
def commutative(aggregate: Checked, values: Examples = None, column: str = "i8") -> Counterexample | None:
    """Check that order does not matter: a ⊕ b = b ⊕ a.

    >>> import sash
    >>> print(commutative(sash.first()))
    'first': combine is not commutative: for a = lift(0), b = lift(1): a ⊕ b = (0, True),
      b ⊕ a = (1, True)
    """

    def terms(it: _Subject, a: Partial, b: Partial) -> _Terms:
        right = it.combine(b, a)
        return ("a ⊕ b", it.combine(a, b)), ("b ⊕ a", right), (right,)

    return _search(aggregate, values, column, _Law("commutative", "combine is not commutative", (1, 1), terms))


@checked
def selective(aggregate: Checked, values: Examples = None, column: str = "i8") -> Counterexample | None:
    """Check that combine always returns one of its operands.

    >>> import sash
    >>> selective(sash.max()) is None
    True
    """

    def terms(it: _Subject, a: Partial, b: Partial) -> _Terms:
        return ("a ⊕ b", it.combine(a, b)), ("a", a), (a, b)

    return _search(aggregate, values, column, _Law("selective", "combine gives neither operand", (1, 1), terms))


@checked
def in_place(aggregate: Checked, values: Examples = None, column: str = "i8") -> Counterexample | None:
    """Check that functions which change the arrays of a partial give what combine gives: absorb and merge.

    >>> import sash
    >>> in_place(sash.hyperloglog(precision=4)) is None
    True
    """

    def absorbed(it: _Subject, a: Partial, b: Partial, rows: History) -> _Terms:
        return ("a absorbs b", it.absorb(a, rows)), ("a ⊕ b", it.combine(a, b)), (it.combine(a, b),)

    def merged(it: _Subject, a: Partial, b: Partial, rows: History) -> _Terms:
        return ("a merges b", it.merge(a, b)), ("a ⊕ b", it.combine(a, b)), (it.combine(a, b),)

    laws = (
        _Law("in place", f"{name} is not combine", (0, 1), terms, needs_rows=True)
        for name, terms in (("absorb", absorbed), ("merge", merged))
    )
    return _search(aggregate, values, column, *laws)


@checked
def check(aggregate: Checked, values: Examples = None, column: str = "i8") -> tuple[Counterexample, ...]:
    """Return a counterexample for each law that an aggregate claims and breaks.

    >>> import sash
    >>> check(sash.mean()), check(sash.max(), ["b", "a", None])
    ((), ())
    >>> latest = sash.Aggregate(
    ...     "latest",
    ...     state="i8",
    ...     identity=0,
    ...     lift=lambda x: x,
    ...     combine=lambda a, b: b,
    ...     commutative=True,
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
    claimed += [] if isinstance(aggregate, Aggregate) else [in_place]
    found = (law(aggregate, values, column) for law in claimed)
    return tuple({each.breach: each for each in found if each is not None}.values())


# --- the search ----------------------------------------------------------------------------------

_Term = tuple[str, Partial]
_Terms = tuple[_Term, _Term, tuple[Partial, ...]]  # the outcome, what it is compared with in words, allowed values


@dataclass(frozen=True)
class _Law:
    name: str
    breach: str
    least: tuple[int, ...]  # the fewest rows of each operand
    terms: Callable[..., _Terms]
    needs_rows: bool = False  # of the last operand


class _RaisedError(Exception):
    def __init__(self, function: str, cause: Exception) -> None:
        super().__init__(function)
        self.function, self.cause = function, cause


@dataclass(frozen=True)
class _Subject:
    """A monoid whose errors name the function that raised."""

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

    def absorb(self, partial: Partial, rows: History) -> Partial:
        """Return the partial after it absorbed rows, or combined with them if it cannot absorb; change a copy."""
        partial = _copy(partial)
        for value in rows:
            row = self._row(value)
            if self.monoid.absorb is None:
                partial = self.combine(partial, self.lift(row))
            else:
                partial = self._called("absorb", self.monoid.absorb, partial, row)
        return partial

    def merge(self, a: Partial, b: Partial) -> Partial:
        return self._called("merge", self.monoid.merge or self.monoid.combine, _copy(a), b)

    def _called(self, name: str, function: Any, *arguments: Any) -> Partial:
        try:
            result: Partial = function(*arguments)
        except Exception as cause:  # a user's function can raise anything, and all of it is reported
            raise _RaisedError(name, cause) from cause
        return result

    def fold(self, history: History) -> Partial:
        folded = self.nothing if not history else self.lift(self._row(history[0]))
        for value in history[1:]:
            folded = self.combine(folded, self.lift(self._row(value)))
        return folded

    def _row(self, value: Any) -> tuple[Any, ...]:
        """Return a row as kernels read it: columns, then the validity of the nullable ones."""
        columns = self.monoid.columns
        values = value if len(columns) > 1 else (value,)
        filled = tuple(_filler(each) if one is None else one for one, each in zip(values, columns, strict=False))
        return filled + tuple(one is not None for one, each in zip(values, columns, strict=False) if each.nullable)


def _copy(partial: Partial) -> Partial:
    return tuple(each.copy() if isinstance(each, np.ndarray) else each for each in partial)


def _filler(column: Column) -> Any:
    return None if column.field.is_object else column.field.dtype.type(0).item()


def _search(aggregate: Checked, values: Examples, column: str, *laws: _Law) -> Counterexample | None:
    found = []
    for monoid, examples in _subjects(aggregate, values, column, needs_inverse=laws[0].name == "inverse"):
        subject = _Subject(replace(monoid, is_compiled=False))
        found += [case for law in laws if (case := _first_breach(subject, law, examples)) is not None]
    return min(found, key=lambda each: sum(len(history) for _, history in each.operands), default=None)


def _first_breach(subject: _Subject, law: _Law, examples: Sequence[Any]) -> Counterexample | None:
    with np.errstate(all="ignore"):
        for histories in cases(law.least, examples):
            named = tuple(zip("abc", histories, strict=False))
            try:
                operands = [subject.fold(history) for history in histories]
                rows = histories[-1:] if law.needs_rows else ()
                given, beside, allowed = law.terms(subject, *operands, *rows)
            except _RaisedError as raised:
                breach = f"{raised.function} raised {type(raised.cause).__name__}: {raised.cause}"
                return Counterexample(subject.monoid.name, law.name, named, breach, ())
            if not any(_equal(given[1], each, 0.0) for each in allowed) and not any(
                _equal(given[1], each, _scale((operands, given[1]))) for each in allowed
            ):
                return Counterexample(subject.monoid.name, law.name, named, law.breach, (given, beside))
    return None


def _subjects(
    aggregate: Checked, values: Examples, column: str, needs_inverse: bool
) -> Iterator[tuple[Monoid, Sequence[Any]]]:
    """Yield the forms of an aggregate to be tried, with examples for each."""
    if values is not None and not len(values):
        raise InvalidInput.option("values", values, "at least one example")
    if isinstance(aggregate, Monoid):
        if needs_inverse and aggregate.invert is None:
            raise InvalidAggregate.parameter(aggregate.name, "invert", None, "given to be checked")
        yield aggregate, simplest_first(examples_of(aggregate.columns) if values is None else values)
        return
    if not isinstance(aggregate, Template):
        raise InvalidAggregate.not_an_aggregate(aggregate)
    if needs_inverse and not aggregate.invertible:
        raise InvalidAggregate.parameter(aggregate.name, "invert", None, "given to be checked")
    arity = max(aggregate.arity, 1)
    if values is None:
        columns = (Column(Field("O", (10, 2)) if column == "decimal" else Field(column)),) * arity
        values = examples_of(columns)
    else:
        rows = [value if arity > 1 else (value,) for value in values]
        columns = tuple(column_of([row[k] for row in rows]) for k in range(arity))
    for invertible in (False, True):
        if invertible <= aggregate.invertible and (invertible or not needs_inverse):
            yield bind(aggregate, columns, invertible), simplest_first(values)


# --- equality and text ---------------------------------------------------------------------------


def _scale(value: Any) -> float:
    """Return the largest finite float in a value, at least 1."""
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


def _spell(history: History) -> str:
    return " ⊕ ".join(f"lift({_argument(value)})" for value in history) or "identity"


def _argument(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(repr(each) for each in value)
    return "null" if value is None else repr(value)


def _show(value: Any) -> str:
    return repr(value[0]) if isinstance(value, tuple) and len(value) == 1 else repr(value)
