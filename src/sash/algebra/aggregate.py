"""Aggregates as users write them. When the input types are known, an aggregate becomes a monoid."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Never, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from sash.algebra.building_blocks import after_count, before_last, counted, first_field, last_is_set, some
from sash.algebra.compiler import JIT_DISABLED, copy_by_meaning, from_source, jitable, returned_fields
from sash.algebra.digest import Undigestable, digest, digests
from sash.algebra.fields import Field, Partial
from sash.algebra.monoid import Column, Component, Monoid, Parts, optional
from sash.algebra.union import unite
from sash.errors import InvalidAggregate, InvalidInput, UnknownName, UnsupportedAggregate
from sash.keywords import checked
from sash.report import Call

__all__ = ["Aggregate", "Aggregates", "Builtin", "Kind", "Template", "bind", "builtin", "parts_of"]

T = TypeVar("T", bound="Template")
D = TypeVar("D")


class Kind(Enum):
    """The classes of Gray et al.: how much of the data a partial must keep."""

    DISTRIBUTIVE = "distributive"  # the partial is the result: sum, max
    ALGEBRAIC = "algebraic"  # a few fields: mean, stddev
    HOLISTIC = "holistic"  # all values: median


@dataclass(frozen=True, repr=False)
class Template(Call, ABC):
    """An aggregate before its input types are known: a name, its columns, its traits.

    >>> import sash
    >>> peak = sash.max("load")
    >>> isinstance(peak, sash.Template), peak.name, peak.columns, peak.selective
    (True, 'max', ('load',), True)
    >>> peak
    sash.max('load')
    """

    name: str
    _: KW_ONLY
    columns: tuple[str, ...] = ()
    arity: int = 1
    invertible: bool = False
    commutative: bool = False
    selective: bool = False
    kind: Kind = Kind.ALGEBRAIC
    where: str | None = None  # a condition of query text: rows for which it is not true are left out

    def __post_init__(self) -> None:
        if self.where is not None and (not isinstance(self.where, str) or not self.where.strip()):
            expected = "a boolean column, or a condition such as \"kind = 'card'\""
            raise InvalidAggregate.parameter(str(self.name), "where", self.where, expected)

    @abstractmethod
    def parts(self, columns: tuple[Column, ...], invertible: bool) -> Parts:
        """Return the components and the result for these input types; if `invertible`, in a form that can subtract."""

    @property
    def meanings(self) -> dict[str, str]:
        """Digests of the user's functions that make its partials and of what they read, by name."""
        return {}

    @property
    def arguments(self) -> list[str]:
        """The arguments as a user writes them."""
        condition = [] if self.where is None else [f"where={self.where!r}"]
        return [*map(repr, self.columns), *condition]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)})"

    def __repr__(self) -> str:
        return f"sash.{self}"

    def _refuse_arithmetic(self, _other: object) -> Never:
        raise InvalidAggregate.arithmetic(str(self))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse_arithmetic

    def seal(self: T) -> T:
        """Return the aggregate with its digests fixed, so that a worker does not compute other ones."""
        return self

    def __call__(self: T, *columns: str, where: str | None = None) -> T:
        """Return the aggregate with these columns, and a condition on rows."""
        if len(columns) != self.arity or not all(isinstance(column, str) for column in columns):
            raise InvalidAggregate.parameter(self.name, "columns", columns, f"{self.arity} column name(s)")
        return replace(self, columns=columns, where=where)


@checked
@dataclass(frozen=True, repr=False)
class Aggregate(Template):
    """An aggregate function of your own, in plain Python; it is compiled if its state is numbers.

    A partial is a tuple with a value per field of `state`. `lift` makes the partial of a value, `combine` makes one
    partial from an older and a newer one, and `lower` returns the result. `invert(whole, older)`, which is optional,
    removes the older rows: invert(combine(a, b), a) = b.

    >>> import math, sash
    >>> geometric = sash.Aggregate(
    ...     "geometric", state=("i8", "f8"), identity=(0, 0.0),
    ...     lift=lambda x: (1, math.log(x)),
    ...     combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ...     lower=lambda p: math.exp(p[1] / p[0]),
    ... )
    >>> [round(x, 9) for x in sash.swag.slide([1.0, 4.0, 16.0], 2, geometric)]
    [1.0, 2.0, 8.0]
    """

    state: tuple[str, ...] | str = field(kw_only=True)
    identity: Any = field(kw_only=True)
    lift: Callable[..., Any] = field(kw_only=True)
    combine: Callable[[Any, Any], Any] = field(kw_only=True)
    lower: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    invert: Callable[[Any, Any], Any] | None = field(default=None, kw_only=True)
    result: Any = field(default=None, kw_only=True)  # a field code; for objects, an Arrow type

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidAggregate.parameter(str(self.name), "name", self.name, "a non-empty string")
        super().__post_init__()
        for what in ("lift", "combine", "lower", "invert"):
            function, is_optional = getattr(self, what), what in ("lower", "invert")
            if not callable(function) and not (is_optional and function is None):
                raise InvalidAggregate.not_a_function(self.name, what, function)
        if not isinstance(self.state, str | tuple) or not self.state:
            raise InvalidAggregate.parameter(self.name, "state", self.state, "a field, or a tuple of fields")
        fields = self._fields
        if not self._is_scalar and (not isinstance(self.identity, tuple) or len(self.identity) != len(fields)):
            raise InvalidAggregate.shape(self.name, "identity", len(fields), self.identity)
        for kind, value in zip(fields, (self.identity,) if self._is_scalar else self.identity, strict=True):
            if not kind.is_object and not isinstance(value, bool | int | float | np.number | np.bool_):
                raise InvalidAggregate.parameter(
                    self.name, "identity", self.identity, f"a number for field {kind.code}"
                )
        if self.result is not None and not isinstance(self.result, str | pa.DataType):
            raise InvalidAggregate.parameter(
                self.name, "result", self.result, "a field such as 'f8', or an Arrow type such as pyarrow.string()"
            )
        object.__setattr__(self, "invertible", self.invert is not None)
        object.__setattr__(self, "arity", _arity(self.lift))

    def __repr__(self) -> str:
        given = f"{self.name!r}, state={self.state!r}, identity={self.identity!r}"
        call = f"({', '.join(self.arguments)})" if self.columns else ""
        return f"sash.Aggregate({given}, …){call}"

    @property
    def _is_scalar(self) -> bool:
        return isinstance(self.state, str)

    @property
    def _fields(self) -> tuple[Field, ...]:
        return (Field(self.state),) if isinstance(self.state, str) else tuple(Field(code) for code in self.state)

    @property
    def meanings(self) -> dict[str, str]:
        sealed: dict[str, str] | None = self.__dict__.get("_sealed")
        return self._meanings_here() if sealed is None else sealed

    def _meanings_here(self) -> dict[str, str]:
        found = {what: self._digest_of(what, digest) for what in ("state", "identity")}
        for what in ("lift", "combine", "invert"):
            for name, meaning in self._digest_of(what, digests).items():
                found[f"{name} (read by {what})" if name else f"the code of {what}"] = meaning
        return found

    def seal(self) -> "Aggregate":
        # A function may change what it reads, such as a table of its results. A worker that computed the digest again
        # would reject its own state as that of another function.
        copy = replace(self)
        object.__setattr__(copy, "_sealed", self.meanings)
        return copy

    def _digest_of(self, what: str, by: Callable[[Any], D]) -> D:
        try:
            return by(getattr(self, what))
        except Undigestable as error:
            raise InvalidAggregate.unknown(self.name, what, error.path, error.value) from error

    def parts(self, columns: tuple[Column, ...], invertible: bool) -> Parts:
        """Return the parts for these input types.

        Equal functions share their parts: the compiler takes 100 ms to analyse them and never frees the memory.
        """
        functions = self.lift, self.combine, self.invert, self.lower
        homes = tuple(id(getattr(each, "__globals__", None)) for each in functions)  # as in `copy_by_meaning`
        here = self._meanings_here()
        meaning = digest(self.__dict__.get("_sealed", here))
        known_here = tuple(here.items()), self._digest_of("lower", digest)
        known = self.name, meaning, known_here, homes, self.commutative, self.selective, str(self.result), columns
        if known not in _PARTS:
            _PARTS[known] = self._parts(columns, meaning)
        return _PARTS[known]

    def _parts(self, columns: tuple[Column, ...], meaning: str) -> Parts:
        fields = self._fields
        for column in columns:
            if column.is_time:
                raise UnsupportedAggregate.of_type(self.name, column, "numbers, or objects in a list")
        interpreted = JIT_DISABLED or any(each.is_object for each in (*fields, *(column.field for column in columns)))
        wrap = _Wrap(self.name, len(fields), self.arity, self._is_scalar, interpreted)
        component = Component(
            f"{self.name}@{meaning}",
            fields,
            (self.identity,) if self._is_scalar else self.identity,
            wrap.lift(self.lift),
            wrap.combine(self.combine),
            None if self.invert is None else wrap.combine(self.invert),
            commutative=self.commutative,
            selective=self.selective,
            inputs=tuple(range(self.arity)),
            is_builtin=False,
        )
        lower = wrap.lower(self.lower)
        result = Field("O") if interpreted else self._infer_result(component, lower, columns)
        if isinstance(self.result, str):
            if result.code.startswith("f") and not self.result.startswith(("f", "O")):
                raise InvalidAggregate.truncates(self.name, "lower", result.code, self.result)
            result = Field(self.result)
        if any(column.nullable for column in columns):
            if self.selective:
                return Parts((optional(component),), before_last(lower), result, last_is_set)
            return Parts((counted(columns), component), after_count(lower), result, some)
        return Parts((component,), lower, result)

    def _infer_result(self, component: Component, lower: Callable[[Any], Any], columns: tuple[Column, ...]) -> Field:
        """Return the type of `lower`'s result; raise an error if a function's result does not fit the state."""
        values = [column.field for column in columns[: self.arity]]
        partial = [component.fields]
        for what, function, arguments in (
            ("lift", component.lift, values),
            ("combine", component.combine, partial * 2),
            ("invert", component.invert, partial * 2),
        ):
            if function is not None:
                given = returned_fields(self.name, what, function, arguments)
                if (
                    not isinstance(given, tuple)
                    or len(given) != len(component.fields)
                    or any(isinstance(each, tuple) for each in given)
                ):
                    raise InvalidAggregate.shape(self.name, what, len(component.fields), given)
                for code, kept in zip(given, component.fields, strict=True):
                    if code.startswith("f") and not kept.code.startswith("f"):
                        raise InvalidAggregate.truncates(self.name, what, code, kept.code)
        given = returned_fields(self.name, "lower", lower, partial)
        if isinstance(given, tuple):
            raise InvalidAggregate.shape(self.name, "lower", 1, given)
        return Field(given)


_PARTS: dict[tuple[Any, ...], Parts] = {}  # by what functions and options mean, and types


def _arity(function: Callable[..., Any]) -> int:
    """Return the number of columns that a lift takes: its parameters without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin without a signature
        return 1
    plain = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return len([each for each in plain if each.default is each.empty]) or 1


@dataclass(frozen=True)
class _Wrap:
    """Wrap a user's functions as functions of tuples: a state of one plain field is a tuple of one."""

    name: str
    fields: int
    arity: int
    is_scalar: bool
    checked: bool  # interpreted: the wrapper checks results, since no compiler does

    def lift(self, function: Callable[..., Any]) -> Callable[..., Partial]:
        user = jitable(copy_by_meaning(function))
        if self.is_scalar:
            row = ", ".join(f"x{k}" for k in range(self.arity))
            return from_source(f"def generated({row}):\n    return (user({row}),)", ("user", user))
        return self._checks("lift", user) if self.checked else user

    def combine(self, function: Callable[[Any, Any], Any]) -> Callable[[Partial, Partial], Partial]:
        user = jitable(copy_by_meaning(function))
        if self.is_scalar:
            return lambda a, b: (user(a[0], b[0]),)
        return self._checks("combine", user) if self.checked else user

    def lower(self, function: Callable[[Any], Any] | None) -> Callable[[Partial], Any]:
        if function is None:
            if self.fields > 1:
                raise InvalidAggregate.parameter(self.name, "lower", None, "given when the state has several fields")
            return first_field
        user = jitable(copy_by_meaning(function))
        return (lambda partial: user(partial[0])) if self.is_scalar else user

    def _checks(self, what: str, user: Callable[..., Any]) -> Callable[..., Partial]:
        def checked(*arguments: Any) -> Partial:
            given = user(*arguments)
            if not isinstance(given, tuple) or len(given) != self.fields:
                raise InvalidAggregate.shape(self.name, what, self.fields, given)
            return given

        return checked


@dataclass(frozen=True, repr=False)
class Builtin(Template):
    """An aggregate that comes with sash: a function from input types to parts."""

    make: Callable[[tuple[Column, ...], bool], Parts] = field(kw_only=True, repr=False, compare=False)  # by the name
    parameters: tuple[tuple[str, Any], ...] = field(default=(), kw_only=True)

    @property
    def arguments(self) -> list[str]:
        columns, rest = super().arguments[: len(self.columns)], super().arguments[len(self.columns) :]
        implied = {("population", False), *((("q", 0.5),) if self.name == "median" else ())}
        parameters = [f"{name}={value!r}" for name, value in self.parameters if (name, value) not in implied]
        return [*columns, *parameters, *rest]

    def parts(self, columns: tuple[Column, ...], invertible: bool) -> Parts:
        digits = tuple(each.field.decimal for each in columns)  # fields are equal without them
        known = self.name, self.parameters, columns, digits, invertible
        if known not in _PARTS:
            _PARTS[known] = self.make(columns, invertible)
        return _PARTS[known]


def builtin(
    name: str, column: str | None, make: Callable[[tuple[Column, ...], bool], Parts], *parameters: Any, **traits: Any
) -> Builtin:
    """Return a built-in aggregate of a column; without a column, a call sets it later."""
    columns = () if column is None else (column,)
    return Builtin(name, columns=columns, make=make, parameters=parameters, **traits)


Aggregates: TypeAlias = Template | Mapping[str, Template]


def bind(aggregates: Aggregates, columns: tuple[Column, ...], invertible: bool = False) -> Monoid:
    """Return the monoid of one aggregate, or of several of the same columns, for these input types.

    >>> import sash
    >>> x = Column(Field("f8"))
    >>> several = {"mean": sash.mean(), "sum": sash.sum(), "count": sash.count("x"), "sd": sash.stddev()}
    >>> [field.code for field in bind(several, (x,)).fields]
    ['i8', 'f8', 'f8']
    """
    named = aggregates if isinstance(aggregates, Mapping) else {getattr(aggregates, "name", ""): aggregates}
    if not named:
        raise InvalidAggregate.not_an_aggregate(aggregates)
    parts: dict[str, Template] = {}
    for name, template in named.items():
        if not isinstance(template, Template):
            raise InvalidAggregate.not_an_aggregate(template)
        if template.where is not None:
            raise InvalidAggregate.left_out(
                template.name, "where", template.where, "only rows of a table have conditions"
            )
        if len(columns) < template.arity:
            raise InvalidInput.columns(template.name, template.arity, len(columns))
        parts[name] = template
    if all(type(each) is Builtin for each in parts.values()):
        digits = tuple(each.field.decimal for each in columns)  # fields are equal without them
        return _bind_builtin(tuple(parts.items()), columns, digits, invertible)
    return _bind(parts, columns, invertible)


def _bind(templates: Mapping[str, Template], columns: tuple[Column, ...], invertible: bool) -> Monoid:
    parts = {name: each.parts(columns[: each.arity], invertible) for name, each in templates.items()}
    return unite(parts, columns)


@lru_cache(maxsize=256)
def _bind_builtin(
    templates: tuple[tuple[str, Template], ...], columns: tuple[Column, ...], _digits: Any, invertible: bool
) -> Monoid:
    """Bind built-in aggregates once: they mean the same in every call. What a user's function reads may change."""
    return _bind(dict(templates), columns, invertible)


def parts_of(template: Template, schema: Mapping[str, Column], places: Mapping[str, int]) -> Parts:
    """Return the parts of an aggregate of named columns; `places` are the places of columns in a row."""
    for name in template.columns:
        if name not in schema:
            raise UnknownName.of("column", name, schema)
    if len(template.columns) != template.arity:
        expected = f"{template.arity} column name(s), as in sash.{template.name}('x')"
        raise InvalidAggregate.parameter(template.name, "columns", template.columns, expected)
    parts = template.parts(tuple(schema[name] for name in template.columns), False)
    own = [places[name] for name in template.columns]

    def moved(component: Component) -> Component:
        inputs, passes = (tuple(own[i] for i in each) for each in (component.inputs, component.passes))
        return replace(component, inputs=inputs, passes=passes)

    return replace(parts, components=tuple(moved(each) for each in parts.components))
