"""A name for what functions mean: equal digests, the same machine code.

A digest covers a function's code and constants, its defaults, and whatever it reads from closures and
globals, functions of other modules included. What nothing is known of equals nothing, so that it is
compiled anew rather than mistaken.
"""

import hashlib
import os
import sys
import types as python_types
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np

__all__ = ["digest"]


def digest(*parts: Any) -> str:
    """A name for what functions and values mean, down to the globals and closures that they read."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(_meaning(part, frozenset()).encode() + b"\0")
    return hasher.hexdigest()[:32]


_RELEASED = {*sys.stdlib_module_names, "numba", "numpy"}  # code that changes with its version only


def _is_released(value: Any) -> bool:
    home = value.__name__ if isinstance(value, python_types.ModuleType) else getattr(value, "__module__", None)
    return str(home).partition(".")[0] in _RELEASED


def _meaning(value: Any, seen: frozenset[int]) -> str:
    name = getattr(value, "__qualname__", getattr(value, "__name__", None))
    if name is not None and _is_released(value) and not isinstance(value, Enum):
        return f"name {getattr(value, '__module__', '')}.{name}"
    function = getattr(value, "py_func", value)
    if isinstance(function, python_types.FunctionType):
        return "recursive" if id(function) in seen else _function_meaning(function, seen | {id(function)})
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.dtype.str} {value.shape} {content if value.dtype != object else os.urandom(8).hex()}"
    if isinstance(value, Enum):
        return f"member {type(value).__qualname__}.{value.name} {_meaning(value.value, seen)}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} [{', '.join(_meaning(each, seen) for each in value)}]"
    if isinstance(value, frozenset | set):
        return f"set [{', '.join(sorted(_meaning(each, seen) for each in value))}]"
    if isinstance(value, dict):
        return f"dict [{', '.join(f'{_meaning(k, seen)}: {_meaning(v, seen)}' for k, v in value.items())}]"
    if (
        value is None
        or value is ...
        or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype)
    ):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, type):
        members = [_meaning(each, seen) for each in value] if issubclass(value, Enum) else []
        return f"class {value.__module__}.{value.__qualname__} {members}"
    if isinstance(value, python_types.BuiltinFunctionType | np.ufunc):
        return f"name {getattr(value, '__module__', '')}.{name}"
    # Nothing is known of it, so it equals nothing, not even itself in another process.
    return f"unknown {os.getpid()} {id(value)} {os.urandom(8).hex()}"


def _codes(code: python_types.CodeType) -> Iterator[python_types.CodeType]:
    """A function's code and that of the functions and comprehensions inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, python_types.CodeType):
            yield from _codes(each)


def _function_meaning(function: python_types.FunctionType, seen: frozenset[int]) -> str:
    codes = list(_codes(function.__code__))
    names = sorted({name for code in codes for name in code.co_names})
    read = [(name, function.__globals__[name]) for name in names if name in function.__globals__]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            read.append((name, cell.cell_contents))
        except ValueError:  # not set yet: a function that refers to itself while it is made
            read.append((name, "empty"))
    return "|".join(
        [
            *(
                f"{code.co_code.hex()} {code.co_names} {code.co_varnames} "
                + _meaning([each for each in code.co_consts if not isinstance(each, python_types.CodeType)], seen)
                for code in codes
            ),
            _meaning(function.__defaults__, seen),
            _meaning(function.__kwdefaults__, seen),
            *(f"{name}={_read_meaning(value, names, seen)}" for name, value in read),
        ]
    )


def _read_meaning(value: Any, names: list[str], seen: frozenset[int]) -> str:
    """What a name stands for; of a module that is not a release, what the function may take from it."""
    if not isinstance(value, python_types.ModuleType) or _is_released(value) or id(value) in seen:
        return f"module {value.__name__}" if isinstance(value, python_types.ModuleType) else _meaning(value, seen)
    seen = seen | {id(value)}
    taken = [f"{name}={_read_meaning(getattr(value, name), names, seen)}" for name in names if hasattr(value, name)]
    return f"module {value.__name__} [{', '.join(taken)}]"
