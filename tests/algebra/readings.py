"""Everything that a function can read: each value once more as an equal one, and beside it one that differs.

Run as a script, it prints the digests of all functions; given a file, it writes the functions to it as Spark sends
them.
"""

import collections
import contextlib
import datetime as dt
import functools
import json
import math
import operator
import pickle
import re
import sys
import types
import uuid
import zoneinfo
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numba
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.compiler import JIT_DISABLED
from sash.algebra.digest import digest


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Rights(Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: int = 0


Pair = collections.namedtuple("Pair", "x y")


@dataclass(frozen=True)
class Frozen:
    factor: int
    more: tuple[int, ...] = ()


@dataclass
class Mutable:
    factor: int
    more: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Slotted:
    factor: int


class Plain:
    """Its birthday is read by nobody."""

    def __init__(self, factor: int) -> None:
        self.factor = factor
        self.born = uuid.uuid4()

    def scale(self, x: Any) -> Any:
        return x * self.factor

    def __call__(self, x: Any) -> Any:
        return self.scale(x)


class Derived(Plain):
    @functools.cached_property
    def twice(self) -> int:
        return 2 * self.factor


def derived(factor: int, is_known: bool) -> Derived:
    found = Derived(factor)
    if is_known:
        found.twice  # noqa: B018  # it is kept from now on
    return found


class WithSlots:
    __slots__ = ("_hidden", "factor")

    def __init__(self, factor: int) -> None:
        self.factor = factor
        self._hidden = factor

    def __call__(self, x: Any) -> Any:
        return x * self._hidden


class Custom:
    """Says by itself what it is."""

    def __init__(self, factor: int) -> None:
        self.factor, self.file = factor, sys.stdin

    def __reduce__(self) -> Any:
        return Custom, (self.factor,)


def settings(factor: int, **more: Any) -> type:
    return type("Settings", (), {"FACTOR": factor, "__module__": __name__, **more})


def with_methods(constant: int) -> type:
    class Scale:
        def __init__(self, by: int) -> None:
            self.by = by

        def of(self, x: Any) -> Any:
            return self._inner(x)

        def _inner(self, x: Any) -> Any:
            return x * self.by + Base.offset()

        @staticmethod
        def still(x: Any) -> Any:
            return x + constant

        @classmethod
        def of_class(cls, x: Any) -> Any:
            return cls.still(x)

        @property
        def doubled(self) -> int:
            return 2 * constant

    class Base:
        @staticmethod
        def offset() -> int:
            return constant

    return Scale


def adding(constant: int) -> Callable[[Any], Any]:
    return lambda x: x + constant


def cached(constant: int) -> Callable[[Any], Any]:
    @functools.lru_cache
    def remembered(x: Any) -> Any:
        return x + constant

    remembered(constant)
    return remembered


def recursive(constant: int) -> Callable[[Any], Any]:
    def down(x: Any) -> Any:
        return down(x - 1) if x else constant

    return down


def mutual(constant: int) -> Callable[[Any], Any]:
    def even(x: Any) -> Any:
        return odd(x - 1) if x else True

    def odd(x: Any) -> Any:
        return even(x - 1) if x else constant

    return even


def composed(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
    whole: Callable[[Any], Any] = functions[0]
    for each in functions[1:]:
        whole = (lambda inner, outer: lambda x: outer(inner(x)))(whole, each)
    return whole


def circular(constant: int) -> list[Any]:
    found: list[Any] = [constant]
    found.append(found)
    return found


def module(name: str = "own", **names: Any) -> types.ModuleType:
    own = types.ModuleType(name)
    own.__dict__.update(names)
    return own


def made(source: str, **names: Any) -> Callable[..., Any]:
    """A function `f` from its text, in a module of its own."""
    exec(source, names)
    function: Callable[..., Any] = names["f"]
    return function


def jitted(constant: int) -> Any:
    @numba.njit  # type: ignore[untyped-decorator]
    def compiled(x: Any) -> Any:
        return x + constant

    return compiled


def ordered(*names: str) -> dict[str, int]:
    return {name: len(name) for name in names}


ZONE = zoneinfo.ZoneInfo("Europe/Berlin")
MOMENT = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)

# One, an equal one, another.
VALUES: dict[str, tuple[Any, ...]] = {
    "none": (None, None, ...),
    "boolean": (True, True, 1),
    "number": (1, 1, 1.0),
    "big number": (10**5000, 10**5000, 10**5000 + 1),
    "zero": (0.0, 0.0, -0.0),
    "nan": (math.nan, float("nan"), math.inf),
    "complex": (complex(0, -0.0), complex(0, -0.0), complex(0, 0.0)),
    "text": ("a", "a", b"a"),
    "odd text": ("\ud800", "\ud800", "\ud801"),
    "bytes": (b"a\0", bytes([97, 0]), b"a"),
    "bytearray": (bytearray(b"a"), bytearray(b"a"), bytearray(b"b")),
    "nested": ((1, (2, frozenset("ab"))), (1, (2, frozenset("ba"))), (1, (2, frozenset("ac")))),
    "tuple or list": ((1, 2), (1, 2), [1, 2]),
    "list": ([1, 2], [1, 2], [2, 1]),
    "set": ({1, "a", 2.5, None}, {None, 2.5, "a", 1}, {1, "a", 2.5}),
    "set of tuples": ({(1, "x"), (2, "y")}, {(2, "y"), (1, "x")}, {(1, "y"), (2, "x")}),
    "dict": (ordered("a", "bb"), ordered("bb", "a"), {"a": 2, "bb": 1}),
    "nested dict": ({"a": {"b": {1}}}, {"a": {"b": {1}}}, {"a": {"b": {2}}}),
    "keys and values": ({1: 2}, {1: 2}, {2: 1}),
    "ordered dict": (
        collections.OrderedDict(a=1, b=2),
        collections.OrderedDict(a=1, b=2),
        collections.OrderedDict(b=2, a=1),
    ),
    "counter": (collections.Counter("ab"), collections.Counter("ba"), collections.Counter("abb")),
    "default dict": (
        collections.defaultdict(int, a=1),
        collections.defaultdict(int, a=1),
        collections.defaultdict(list),
    ),
    "deque": (collections.deque([1, 2]), collections.deque([1, 2]), collections.deque([2, 1])),
    "proxy": (types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})),
    "list in itself": (circular(1), circular(1), circular(2)),
    "range": (range(3), range(3), range(4)),
    "slice": (slice(1, 2), slice(1, 2), slice(1, 3)),
    "regex": (re.compile("a+"), re.compile("a+"), re.compile("a+", re.IGNORECASE)),
    "other regex": (re.compile("a+"), re.compile("a+"), re.compile("a*")),
    "decimal": (Decimal("1.10"), Decimal("1.10"), Decimal("1.1")),
    "fraction": (Fraction(1, 3), Fraction(2, 6), Fraction(1, 2)),
    "timedelta": (dt.timedelta(hours=1), dt.timedelta(minutes=60), dt.timedelta(hours=2)),
    "date": (dt.date(2024, 1, 1), dt.date(2024, 1, 1), dt.date(2024, 1, 2)),
    "time": (dt.time(1), dt.time(1), dt.time(2)),
    "datetime": (MOMENT, MOMENT + dt.timedelta(0), MOMENT.replace(fold=1)),
    "zone of a datetime": (MOMENT, MOMENT + dt.timedelta(0), MOMENT.replace(tzinfo=None)),
    "timezone": (dt.timezone(dt.timedelta(hours=1)), dt.timezone(dt.timedelta(hours=1)), dt.UTC),
    "zoneinfo": (ZONE, zoneinfo.ZoneInfo("Europe/Berlin"), zoneinfo.ZoneInfo("UTC")),
    "uuid": (uuid.UUID(int=1), uuid.UUID(int=1), uuid.UUID(int=2)),
    "path": (Path("/a/b"), Path("/a") / "b", Path("/a/c")),
    "kind of path": (PurePosixPath("/a"), PurePosixPath("/a"), Path("/a")),
    "member": (Level.LOW, Level(1), Level.HIGH),
    "member of text": (Colour.RED, Colour("red"), Colour.BLUE),
    "flags": (Rights.READ | Rights.WRITE, Rights.WRITE | Rights.READ, Rights.READ),
    "named tuple": (Point(1), Point(1, 0), Point(1, 1)),
    "plain named tuple": (Pair(1, 2), Pair(y=2, x=1), Pair(2, 1)),
    "named tuple or tuple": (Point(1, 2), Point(1, 2), (1, 2)),
    "partial": (functools.partial(max, 1), functools.partial(max, 1), functools.partial(max, 2)),
    "partial of": (functools.partial(max, 1), functools.partial(max, 1), functools.partial(min, 1)),
    "keyword of a partial": (
        functools.partial(sorted, key=adding(1)),
        functools.partial(sorted, key=adding(1)),
        functools.partial(sorted, key=adding(2)),
    ),
    "itemgetter": (operator.itemgetter(0, "a"), operator.itemgetter(0, "a"), operator.itemgetter("a", 0)),
    "attrgetter": (operator.attrgetter("a.b"), operator.attrgetter("a.b"), operator.attrgetter("a.c")),
    "methodcaller": (
        operator.methodcaller("get", 1, default=2),
        operator.methodcaller("get", 1, default=2),
        operator.methodcaller("get", 1, default=3),
    ),
    "frozen dataclass": (Frozen(1, (2,)), Frozen(1, (2,)), Frozen(1, (3,))),
    "dataclass": (Mutable(1, [2]), Mutable(1, [2]), Mutable(1, [3])),
    "dataclass with slots": (Slotted(1), Slotted(1), Slotted(2)),
    "nested dataclass": (Mutable(1, [Frozen(1)]), Mutable(1, [Frozen(1)]), Mutable(1, [Frozen(2)])),  # type: ignore[list-item]
    "object": (Plain(1), Plain(1), Plain(2)),
    "object with slots": (WithSlots(1), WithSlots(1), WithSlots(2)),
    "object that says what it is": (Custom(1), Custom(1), Custom(2)),
    "sentinel": (object(), object(), [object()]),
    "builtin": (len, len, max),
    "class of Python": (int, int, float),
    "method of Python": (str.upper, str.upper, str.lower),
    "bound builtin": ({1: 2}.get, {1: 2}.get, {1: 3}.get),
    "bound regex": (re.compile("a").match, re.compile("a").match, re.compile("b").match),
    "bound text": (",".join, ",".join, ";".join),
    "bound fraction": (
        Fraction(1, 3).limit_denominator,
        Fraction(1, 3).limit_denominator,
        Fraction(1, 2).limit_denominator,
    ),
    "function of math": (math.sin, math.sin, math.cos),
    "function of Python": (re.sub, re.sub, re.split),
    "function": (adding(1), adding(1), adding(2)),
    "cached function": (cached(1), cached(1), cached(2)),
    "recursive function": (recursive(1), recursive(1), recursive(2)),
    "mutual recursion": (mutual(1), mutual(1), mutual(2)),
    "order of functions": (
        composed(adding(1), abs, adding(2), adding(3)),
        composed(adding(1), abs, adding(2), adding(3)),
        composed(adding(1), adding(2), abs, adding(3)),
    ),
    "shared or equal functions": ([adding(1)] * 2, [adding(1), adding(1)], [adding(1), adding(2)]),
    "bound method": (Plain(1).scale, Plain(1).scale, Plain(2).scale),
    "static method": (with_methods(1).still, with_methods(1).still, with_methods(2).still),  # type: ignore[attr-defined]
    "class method": (with_methods(1).of_class, with_methods(1).of_class, with_methods(2).of_class),  # type: ignore[attr-defined]
    "callable object": (with_methods(1)(1).of, with_methods(1)(1).of, with_methods(1)(2).of),
    "method of a method": (with_methods(1)(1).of, with_methods(1)(1).of, with_methods(2)(1).of),
    "jitted function": (jitted(1), jitted(1), jitted(2)),
    "vectorized function": (numba.vectorize(adding(1)), numba.vectorize(adding(1)), numba.vectorize(adding(2))),
    "array": (np.arange(6), np.arange(6), np.arange(6).reshape(2, 3)),
    "content of an array": (np.arange(3), np.array([0, 1, 2]), np.array([0, 1, 3])),
    "type of an array": (np.arange(3), np.arange(3), np.arange(3, dtype=np.int32)),
    "layout of an array": (np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.arange(6)),
    "part of an array": (np.arange(9)[::2], np.array([0, 2, 4, 6, 8]), np.arange(9)[:5]),
    "array of objects": (np.array([1, "a"], object), np.array([1, "a"], object), np.array([1, "b"], object)),
    "array of long floats": (np.ones(2, np.longdouble), np.ones(2, np.longdouble), np.zeros(2, np.longdouble)),
    "structured array": (
        np.zeros(2, np.dtype([("a", "i1"), ("b", "f8")], align=True)),
        np.zeros(2, np.dtype([("a", "i1"), ("b", "f8")], align=True)),
        np.ones(2, np.dtype([("a", "i1"), ("b", "f8")], align=True)),
    ),
    "moments": (
        np.array(["2024-01-01"], "M8[us]"),
        np.array(["2024-01-01"], "M8[us]"),
        np.array(["2024-01-01"], "M8[ns]"),
    ),
    "masked array": (
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array([1, 2], mask=[False, True]),
        np.ma.array([1, 2], mask=[True, False]),
    ),
    "scalar": (np.float32(1), np.float32(1), np.float64(1)),
    "scalar or number": (np.float64(1), np.float64(1), 1.0),
    "scalar moment": (np.datetime64(1, "s"), np.datetime64(1, "s"), np.datetime64(2, "s")),
    "dtype": (np.dtype("i4"), np.dtype(np.int32), np.dtype("i8")),
    "structured dtype": (np.dtype([("a", "i4")]), np.dtype([("a", "i4")]), np.dtype([("b", "i4")])),
    "ufunc": (np.sin, np.sin, np.cos),
    "method of a ufunc": (np.add.reduce, np.add.reduce, np.multiply.reduce),
    "function of NumPy": (np.sum, np.sum, np.prod),
    "Arrow type": (pa.int64(), pa.int64(), pa.int32()),
    "Arrow time": (pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC"), pa.timestamp("us")),
    "Arrow list": (pa.list_(pa.int8()), pa.list_(pa.int8()), pa.large_list(pa.int8())),
    "Arrow schema": (pa.schema({"a": pa.int8()}), pa.schema({"a": pa.int8()}), pa.schema({"b": pa.int8()})),
    "Arrow field": (pa.field("a", pa.int8()), pa.field("a", pa.int8()), pa.field("a", pa.int8(), nullable=False)),
    "Arrow scalar": (pa.scalar(1), pa.scalar(1), pa.scalar(1, pa.int8())),
    "Arrow array": (pa.array([9, 1, None])[1:], pa.array([1, None]), pa.array([1, 0])),
    "Arrow table": (pa.table({"a": [1]}), pa.table({"a": [1]}), pa.table({"a": [2]})),
    "Arrow function": (pc.add, pc.add, pc.subtract),
    "pandas moment": (pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")),
    "pandas series": (pd.Series([1, 2]), pd.Series([1, 2]), pd.Series([1, 3])),
    "class": (settings(1), settings(1), settings(1, __call__=adding(1))),
}


if not JIT_DISABLED:
    VALUES["option of a jitted function"] = (
        numba.njit(adding(1)),
        numba.njit(adding(1)),
        numba.njit(fastmath=True)(adding(1)),
    )


def reading(value: Any) -> Callable[..., Any]:
    return lambda x: (x, value)


READ_ATTRIBUTE = "f = lambda x: x * S.FACTOR"
CALLED = "def f(x): return own.g(x)"

# Functions that mean the same, and one that does not.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "attribute of a class": tuple(made(READ_ATTRIBUTE, S=settings(k)) for k in (1, 1, 2)),
    "attribute that nobody reads": (
        made(READ_ATTRIBUTE, S=settings(1, OTHER=1)),
        made(READ_ATTRIBUTE, S=settings(1, OTHER=sys.stdin)),
        made(READ_ATTRIBUTE, S=settings(2, OTHER=1)),
    ),
    "attribute by getattr": tuple(made("f = lambda x: getattr(S, 'FACTOR') * x", S=settings(k)) for k in (1, 1, 2)),
    "attribute of an object": tuple(made("f = lambda x: x * s.factor", s=Plain(k)) for k in (1, 1, 2)),
    "derived attribute": tuple(
        made("f = lambda x: s.twice", s=derived(k, known)) for k, known in ((1, False), (1, True), (2, False))
    ),
    "attribute by vars": tuple(made("f = lambda x: vars(s)['factor']", s=module(factor=k)) for k in (1, 1, 2)),
    "inherited attribute": tuple(
        made(READ_ATTRIBUTE, S=type("Child", (settings(k),), {"__module__": __name__})) for k in (1, 1, 2)
    ),
    "member of an enumeration": tuple(
        made("f = lambda x: x * E.A.value", E=Enum("E", {"A": k}, module=__name__)) for k in (1, 1, 2)
    ),
    "number of a module": tuple(made("f = lambda x: own.k + x", own=module(k=k)) for k in (1, 1, 2)),
    "number that nobody reads": (
        made("f = lambda x: own.k + x", own=module(k=1, other=1)),
        made("f = lambda x: own.k + x", own=module(k=1, other=sys.stdin)),
        made("f = lambda x: own.k + x", own=module(k=2, other=1)),
    ),
    "function of a module that reads a global": tuple(
        made(CALLED, own=module(g=made("def f(x): return x + k", k=k))) for k in (1, 1, 2)
    ),
    "submodule": tuple(
        made("f = lambda x: own.sub.g(x)", own=module(sub=module("own.sub", g=adding(k)))) for k in (1, 1, 2)
    ),
    "number of a class of a module": tuple(
        made("f = lambda x: own.S.FACTOR * x", own=module(S=settings(k))) for k in (1, 1, 2)
    ),
    "attribute of a function": tuple(made(f"def f(x): return x * f.k\nf.k = {k}") for k in (1, 1, 2)),
    "global": tuple(made("f = lambda x: x + k", k=k) for k in (1, 1, 2)),
    "global that is not there": (
        made("f = lambda x: x + k"),
        made("f = lambda x: x + k"),
        made("f = lambda x: x + k", k=1),
    ),
    "name of an attribute that is a global, too": (
        made("f = lambda x: x.k", k=1),
        made("f = lambda x: x.k"),
        made("f = lambda x: x.l"),
    ),
    "mutual recursion by globals": tuple(
        made(f"def f(x): return g(x)\ndef g(x): return f(x) + h(x)\ndef h(x): return g(x) if x else {k}")
        for k in (1, 1, 2)
    ),
    "default": tuple(made("f = lambda x, k=k: x + k", k=k) for k in (1, 1, 2)),
    "keyword default": tuple(made("f = lambda x, *, k=k: x + k", k=k) for k in (1, 1, 2)),
    "which argument has the default": (
        made("def f(a, b=1): return a"),
        made("def f(a, b=1): return a"),
        made("def f(a, *, b=1): return a"),
    ),
    "comprehension": tuple(made("f = lambda x: [y + k for y in x]", k=k) for k in (1, 1, 2)),
    "nested function": tuple(made("def f(x):\n    def g(y): return y + k\n    return g(x)", k=k) for k in (1, 1, 2)),
    "constant set": tuple(made(f"f = lambda x: x in {{{k}}}") for k in ("'a', 1, None", "None, 1, 'a'", "1, None")),
    "handled exceptions": (
        made("def f(x):\n    try:\n        y = x\n        return 1 / y\n    except Exception:\n        return 0"),
        made("def f(x):\n\n    try:\n        y = x\n        return 1 / y\n    except Exception:\n        return 0"),
        made("def f(x):\n    try:\n        y = x\n        return 1 / y\n    except Exception:\n        return 1"),
    ),
    "where and under what name it is written": (
        made("f = lambda x: x + 1"),
        made("\n\n\ng = f = lambda x: x + 1"),
        made("f = lambda x: x + 2"),
    ),
    "constructed class": tuple(made("f = lambda x: C(x).factor", C=Mutable if k else Frozen) for k in (1, 1, 0)),
    "dataclass field's default": tuple(
        made(f"@dataclass\nclass C:\n    k: int = {k}\nf = lambda x: C()", dataclass=dataclass, __name__=__name__)
        for k in (1, 1, 2)
    ),
    "module that is imported inside": (
        made("def f(x):\n    import json\n    return json.dumps(x)"),
        made("def f(x):\n    import json\n    return json.dumps(x)"),
        made("def f(x):\n    import json\n    return json.loads(x)"),
    ),
    "released modules": (
        made("f = lambda x: m.log(x)", m=math),
        made("f = lambda x: m.log(x)", m=math),
        made("f = lambda x: m.log(x)", m=np),
    ),
    "generator expression": tuple(made("f = lambda x: sum(y * k for y in x)", k=k) for k in (1, 1, 2)),
}


def triples() -> dict[str, tuple[Any, ...]]:
    return {name: tuple(map(reading, three)) for name, three in VALUES.items()} | FUNCTIONS


# What nobody can compare with what it was in another process.
UNKNOWN: dict[str, Callable[[], Any]] = {
    "file": lambda: sys.stdin,
    "lock": lambda: __import__("threading").Lock(),
    "generator": lambda: (x for x in [1]),
    "iterator": lambda: iter([1]),
    "memory": lambda: memoryview(b""),
    "weak reference": lambda: __import__("weakref").ref(Level),
    "object that holds a lock": lambda: Mutable(__import__("threading").Lock()),
    "ufunc of an unknown function": lambda: np.frompyfunc(adding(1), 1, 1),
    "connection": lambda: __import__("sqlite3").connect(":memory:"),
}


def sent() -> dict[str, bytes]:
    """Functions as Spark sends them; what cannot be sent is left out."""
    from pyspark import cloudpickle

    found = {}
    for name, three in triples().items():
        with contextlib.suppress(TypeError, AttributeError, pickle.PicklingError):
            found[name] = cloudpickle.dumps(three[0])
    return found


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_bytes(pickle.dumps(sent()))
    print(json.dumps({name: digest(three[0]) for name, three in triples().items()}))  # noqa: T201
