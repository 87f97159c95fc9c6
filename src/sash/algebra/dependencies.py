"""Describe a value for its digest: its kind as text, and the values that it depends on.

Functions  A function depends on its code, defaults, closure and the globals that its byte code reads.
Names      Of a module, a class or an object of a user's class, only what a function can access counts: the attributes
           whose names occur in its code, and the special methods, which syntax calls.
Releases   Code of Python and of the libraries in `_LIBRARIES` changes only with its version, so its name is enough.
Packages   Of other installed packages, code and constants count; their other objects do not.
Objects    An object is described by what `pickle` would send to another process. An object that pickle rejects raises
           `Undigestable`.
Classes    A class is named by its short name: cloudpickle does not keep the qualified name.
"""

import copyreg
import functools
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import types
from collections import OrderedDict
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.algebra.bytecode import atom, reading_of

__all__ = ["Description", "Part", "Reader", "Undigestable", "description_of", "parts_of_function"]


class Undigestable(Exception):
    """A value that cannot be compared with a value of another process."""

    def __init__(self, value: Any, path: str = "") -> None:
        super().__init__(f"{path} is a {type(value).__qualname__}")
        self.value, self.path = value, path


class Reader(NamedTuple):
    """The function that reads a value: the names in its code, and whether it belongs to an installed package."""

    names: frozenset[str] = frozenset()
    is_package: bool = False


class Part(NamedTuple):
    """A value that another one depends on, and what it is called there."""

    name: str
    value: Any
    reader: Reader


class Description(NamedTuple):
    """The kind of a value as text, and its parts, whose order may matter."""

    kind: str
    parts: tuple[Part, ...] = ()
    is_ordered: bool = True


_LIBRARIES = {"llvmlite", "numba", "numpy", "pandas", "polars", "pyarrow", "scipy"}
_STANDARD = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
_BUILTINS = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
# Attributes of a class that Python maintains, or that have no effect in an aggregate.
_PLUMBING = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotate_func__"),
    *("__slots__", "__abstractmethods__", "_abc_impl", "__orig_bases__", "__parameters__", "__match_args__"),
    *("__dataclass_fields__", "__dataclass_params__", "__firstlineno__", "__static_attributes__", "__del__"),
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__"),
    *("__init_subclass__", "__class_getitem__", "__subclasshook__", "__set_name__", "__copy__", "__deepcopy__"),
}
_MAKING = {"__init__", "__new__", "__post_init__"}  # not called any more: the object exists
_ALL_OF_IT = {"__dict__", "__getattribute__", "asdict", "astuple", "getattr", "vars"}  # can read any attribute
_MISSING = object()


# --- where code comes from ---------------------------------------------------------------------------


_ORIGINS: dict[str, str] = {}  # of modules that are loaded


def _origin(module: str) -> str:
    """Return where a module comes from: `release`, `package` or `own`."""
    if module in _ORIGINS:
        return _ORIGINS[module]
    top = module.partition(".")[0]
    file = getattr(sys.modules.get(module) or sys.modules.get(top), "__file__", None)
    parts = Path(file).parts if file else ()
    is_installed = "site-packages" in parts or "dist-packages" in parts
    is_standard = top in sys.stdlib_module_names and (file is None or file.startswith(_STANDARD))
    origin = "package" if is_installed and top != "sash" else "own"
    if top in _LIBRARIES or (is_standard and not is_installed):
        origin = "release"
    if module in sys.modules:
        _ORIGINS[module] = origin
    return origin


def _is_release(module: Any) -> bool:
    return isinstance(module, str) and _origin(module) == "release"


def _released_name(value: Any) -> str | None:
    """Return the name of an object of a release, under which it can be imported."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if _is_release(value.__name__) else None
    if isinstance(value, np.ufunc):
        homes: list[Any] = ["numpy", "scipy.special"]
    else:
        owner = getattr(value, "__self__", None)  # as of random.random, which is a method
        homes = [getattr(value, "__module__", None), *([] if owner is None else [type(owner).__module__])]
    for home in homes:
        if _is_release(home):
            for name in (getattr(value, "__qualname__", None), getattr(value, "__name__", None)):
                if isinstance(name, str) and _found(home, name) is value:
                    return f"{home}.{name}"
    return None


def _found(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for each in name.split("."):
        found = getattr(found, each, None)
    return found


# --- descriptions ------------------------------------------------------------------------------------


def description_of(value: Any, reader: Reader) -> Description:
    """Return the description of a value that is not a plain constant, for a reader."""
    name = _released_name(value)
    if name is not None:
        return Description(f"name {name}")
    if isinstance(value, types.FunctionType):
        return _function(value)
    function = getattr(value, "py_func", None) or getattr(getattr(value, "_dispatcher", None), "py_func", None)
    if isinstance(function, types.FunctionType):
        options = sorted(getattr(value, "targetoptions", {}).items(), key=str)
        return Description(f"compiled {options}", (Part("py_func", function, reader),))
    if isinstance(value, functools._lru_cache_wrapper):
        return Description("cached", (Part("__wrapped__", value.__wrapped__, reader),))
    if isinstance(value, types.MethodType):
        return _method(value, reader)
    if isinstance(value, _BUILTINS) or "cython_function" in type(value).__name__:
        return _builtin(value, reader)
    if isinstance(value, types.ModuleType):
        return _module(value, reader)
    if isinstance(value, type):
        return _class(value, reader)
    if isinstance(value, np.ndarray | np.generic | np.dtype):
        return _of_numpy(value, reader)
    if type(value) in (tuple, frozenset) or isinstance(value, Enum):
        return _container(value, reader) if not isinstance(value, Enum) else _member(value, reader)
    if reader.is_package:
        return Description(f"object of {type(value).__module__}.{type(value).__qualname__}")
    if type(value) in (list, set, dict, types.MappingProxyType, slice):
        return _container(value, reader)
    if isinstance(value, property | staticmethod | classmethod | functools.cached_property):
        functions = _functions_in(value)
        return Description(type(value).__name__, tuple(Part(each.__name__, each, reader) for each in functions))
    if type(value).__module__.startswith("pyarrow"):
        found = _of_arrow(value, reader)
        if found is not None:
            return found
    if hasattr(type(value), "__next__") or isinstance(value, np.ufunc):
        raise Undigestable(value)
    return _instance(value, reader) if _is_plain(value) else _reduce(value, reader)


def parts_of_function(function: types.FunctionType) -> tuple[str, tuple[Part, ...]]:
    """Return the text of a function's code, and everything that it reads, by name."""
    code = function.__code__
    origin = "own" if function.__module__ is None else _origin(function.__module__)
    text, names, read, imported = reading_of(code)
    reader, of_globals = Reader(names), Reader(names, origin == "package")
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    parts = [Part(name, value, reader) for name, value in zip(positional[::-1], defaults[::-1], strict=False)]
    parts += [Part(name, value, reader) for name, value in sorted((function.__kwdefaults__ or {}).items())]
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            parts.append(Part(name, cell.cell_contents, reader))
        except ValueError:  # not set yet: a function that refers to itself while it is made
            parts.append(Part(name, "empty", reader))
    known = function.__globals__
    parts += [Part(name, known[name], of_globals) for name in read if name in known]
    parts += [Part(name, module, of_globals) for name, module in _imported(imported, known)]
    parts += [Part(name, value, reader) for name, value in sorted(vars(function).items()) if name in names]
    return text, tuple(parts)


def _imported(imported: tuple[tuple[str, int], ...], known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, level in imported:
        try:
            whole = importlib.util.resolve_name("." * level + name, known.get("__package__") or "")
            if not _is_release(whole):
                importlib.import_module(whole)
                yield whole, sys.modules[whole if level else whole.partition(".")[0]]
        except Exception:  # noqa: S112  # the function itself will say what is wrong with it
            continue


def _function(function: types.FunctionType) -> Description:
    text, parts = parts_of_function(function)
    return Description(f"function {[each.name for each in parts]} {text}", parts)


def _method(method: types.MethodType, reader: Reader) -> Description:
    functions = _functions_in(method.__func__)
    names = reader.names.union(*(reading_of(each.__code__).names for each in functions))
    owner = Part("__self__", method.__self__, Reader(names, reader.is_package))
    return Description("method", (Part(method.__func__.__name__, method.__func__, reader), owner))


def _builtin(value: Any, reader: Reader) -> Description:
    owner = getattr(value, "__self__", None)
    kind = f"name {getattr(value, '__module__', None)}.{getattr(value, '__qualname__', value.__name__)}"
    if owner is None or isinstance(owner, types.ModuleType):
        return Description(kind)
    return Description(kind, (Part(value.__name__, owner, reader),))


def _module(module: types.ModuleType, reader: Reader) -> Description:
    found = [(name, getattr(module, name, _MISSING)) for name in sorted(reader.names)]
    parts = tuple(Part(name, value, reader) for name, value in found if value is not _MISSING)
    return Description(f"module {module.__name__} {[each.name for each in parts]}", parts)


def _container(value: Any, reader: Reader) -> Description:
    if isinstance(value, slice):
        return Description("slice", tuple(Part("", each, reader) for each in (value.start, value.stop, value.step)))
    if isinstance(value, dict | types.MappingProxyType):
        pairs = ((f"[{key!r}]" if atom(key) is not None else "", (key, each)) for key, each in value.items())
        return Description("dict", tuple(Part(name, pair, reader) for name, pair in pairs), is_ordered=False)
    is_ordered = isinstance(value, tuple | list)
    kind = type(value).__name__ if is_ordered else "set"
    return Description(kind, tuple(Part("", each, reader) for each in value), is_ordered)


def _of_numpy(value: Any, reader: Reader) -> Description:
    if isinstance(value, np.dtype):
        return Description(f"dtype {value!r}")
    if isinstance(value, np.ma.MaskedArray):
        return Description("masked", (Part("", value.data, reader), Part("", np.ma.getmaskarray(value), reader)))
    array = np.asarray(value)
    kind = f"{'array' if isinstance(value, np.ndarray) else 'scalar'} {array.dtype!r} {array.shape}"
    if array.dtype.names:  # there may be anything between the fields
        return Description(kind, tuple(Part(name, array[name], reader) for name in array.dtype.names))
    if array.dtype.hasobject:
        return Description(kind, (Part("", array.ravel().tolist(), Reader(reader.names)),))
    if array.dtype.kind in "fc" and array.dtype.itemsize > (8 if array.dtype.kind == "f" else 16):
        # There may be anything beside its 80 bits.
        return Description(f"{kind} {[str(each) for each in array.ravel()]}")
    return Description(f"{kind} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}")


def _of_arrow(value: Any, reader: Reader) -> Description | None:
    def typed(kind: str, of: pa.DataType, content: Any) -> Description:
        return Description(kind, (Part("type", of, reader), Part("", content, reader)))

    if isinstance(value, pa.DataType | pa.Field | pa.Schema):
        field = pa.field("", value) if isinstance(value, pa.DataType) else value
        schema = field if isinstance(value, pa.Schema) else pa.schema([field])
        return Description(f"arrow {type(value).__name__} {schema.serialize().to_pybytes().hex()}")
    if isinstance(value, pa.Scalar):
        return typed("arrow scalar", value.type, value.as_py())
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return typed("arrow array", value.type, value.to_pylist())
    if isinstance(value, pa.Table | pa.RecordBatch):
        return Description("arrow table", (Part("", value.schema, reader), Part("", list(value.columns), reader)))
    return None


# --- classes and their objects -----------------------------------------------------------------------


def _functions_in(value: Any) -> list[types.FunctionType]:
    """Yield the functions of a class's member."""
    if isinstance(value, property):
        found: list[Any] = [value.fget, value.fset, value.fdel]
    else:
        found = [getattr(value, "func", None) or getattr(value, "__wrapped__", None) or value]
    return [each for each in found if isinstance(each, types.FunctionType)]


def _is_special(name: str, value: Any) -> bool:
    functions = _functions_in(value)
    is_written = not any("__create_fn__" in each.__code__.co_qualname for each in functions)  # by a dataclass
    return bool(functions) and is_written and name.startswith("__") and name.endswith("__")


def _members(of: type, reader: Reader, without: set[str]) -> tuple[list[Part], Reader]:
    """Return the members of a class that a reader, or a method that it uses, can access."""
    wanted = set(reader.names)
    found: dict[str, Any] = {}
    homes = [each for each in of.__mro__ if not _is_release(each.__module__)]
    members = {f"{home.__name__}.{name}": (name, value) for home in homes for name, value in vars(home).items()}
    is_growing = True
    while is_growing:
        is_growing = False
        for full, (name, value) in members.items():
            is_hidden = name in _PLUMBING or name in without or isinstance(value, types.MemberDescriptorType)
            if full in found or is_hidden or not (name in wanted or _is_special(name, value)):
                continue
            found[full] = value
            wanted = wanted.union(*(reading_of(each.__code__).names for each in _functions_in(value)))
            is_growing = True
    inner = Reader(frozenset(wanted), reader.is_package or _origin(of.__module__) == "package")
    return [Part(full, value, inner) for full, value in sorted(found.items())], inner


def _bases(of: type) -> list[str]:
    return [f"{each.__module__}.{each.__qualname__}" for each in of.__mro__ if _is_release(each.__module__)]


def _class(of: type, reader: Reader) -> Description:
    members: set[str] = set(getattr(of, "__members__", ())) if issubclass(of, Enum) else set()
    parts, inner = _members(of, reader, members)
    parts += [Part(name, of[name].value, inner) for name in sorted(members)]  # type: ignore[index]
    for name, field in getattr(of, "__dataclass_fields__", {}).items():
        parts += [Part(name, field.default, inner), Part(name, field.default_factory, inner)]
    return Description(f"class {of.__name__} {_bases(of)} {[each.name for each in parts]}", tuple(parts))


def _member(member: Enum, reader: Reader) -> Description:
    parts, inner = _members(type(member), reader, {*type(member).__members__, *_MAKING})
    kind = f"member {type(member).__name__}.{member.name} {[each.name for each in parts]}"
    return Description(kind, (Part("value", member.value, inner), *parts))


def _is_plain(value: Any) -> bool:
    """Return whether an object of a user's class is determined by its attributes."""
    of = type(value)
    is_default = all(
        getattr(of, name, None) is getattr(object, name, None)
        for name in ("__reduce__", "__reduce_ex__", "__getstate__")
    )
    is_own = all(each is object or not _is_release(each.__module__) for each in of.__mro__)
    return is_default and is_own and of is not object and of not in copyreg.dispatch_table


def _instance(value: Any, reader: Reader) -> Description:
    of = type(value)
    parts, inner = _members(of, reader, _MAKING)
    members = [pair for home in of.__mro__ for pair in vars(home).items()]
    slots = [name for name, each in members if isinstance(each, types.MemberDescriptorType)]
    state = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})
    fields = set(getattr(of, "__dataclass_fields__", ()))
    for name, each in sorted(state.items()):
        is_derived = isinstance(getattr(of, name, None), functools.cached_property)
        if not is_derived and (name in fields or name in inner.names or inner.names & _ALL_OF_IT):
            parts.append(Part(name, each, inner))
    return Description(f"object of {of.__name__} {[each.name for each in parts]}", tuple(parts))


def _reduce(value: Any, reader: Reader) -> Description:
    """Return the description of an object as pickle reduces it."""
    try:
        reducer = copyreg.dispatch_table.get(type(value))
        found: Any = reducer(value) if reducer is not None else value.__reduce_ex__(4)
        if isinstance(found, str):
            return Description(f"global {getattr(value, '__module__', None)}.{found}")
        make, arguments, state, items, pairs = (*found, None, None, None)[:5]
        items = None if items is None else list(items)
        if pairs is not None:
            pairs = list(pairs) if isinstance(value, OrderedDict) else dict(pairs)
    except Exception as error:  # whatever it is that cannot be taken along
        raise Undigestable(value) from error
    parts = [Part("", make, reader)] if make is not copyreg.__newobj__ else []  # type: ignore[attr-defined]
    parts += [Part("", each, reader) for each in (arguments, state, items, pairs)]
    return Description(f"object of {type(value).__name__}", tuple(parts))
