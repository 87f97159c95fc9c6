"""Compile plain Python functions once per meaning; the same functions also run interpreted.

A *static* is an object that is a type to Numba: an aggregate, an algorithm. Its key has a digest of
the code of its functions and all that they read. So another process finds a kernel on disk by the
key, and the kernel is never stale. A kernel is a module-level function whose first arguments are
statics. Interpreted, it is called as it is.
"""

import functools
import os
import time
import types as python_types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np
from numba import config, types
from numba.core.errors import NumbaError
from numba.extending import NativeValue, models, overload, register_jitable, register_model, typeof_impl, unbox
from numba.np.numpy_support import as_dtype, from_dtype

from sash.algebra.cache import KernelCache
from sash.algebra.digest import digest
from sash.algebra.numba_parts import HAS_PARTS, callee_options, compile_kernel, inferred_type, on_compile
from sash.errors import InvalidAggregate

__all__ = [
    "JIT_DISABLED",
    "BoundKernel",
    "Kernel",
    "Small",
    "Static",
    "bound_kernel",
    "compiled_reading",
    "compiling_for",
    "copy_by_meaning",
    "entry_point",
    "from_source",
    "jitable",
    "kernel",
    "on_compile",
    "returned_fields",
    "small_calls",
    "static_of",
]

P = ParamSpec("P")
R = TypeVar("R")

JIT_DISABLED = bool(config.DISABLE_JIT)


# --- statics -----------------------------------------------------------------------------------


class Static:
    """An object that is a type to the compiler; equal keys mean equal code."""

    key: str
    is_compiled: bool
    needs_heap: bool = False  # its functions make arrays
    is_plain: bool = True  # its functions come with sash, and do the same with NumPy's numbers as compiled


class StaticType(types.Type):
    """The Numba type of a static: it has no value at run time, only at compile time."""

    def __init__(self, key: str) -> None:
        super().__init__(name=f"Static({key})")
        self.static_key = key


_STATICS: dict[str, Any] = {}


@typeof_impl.register(Static)
def _typeof_static(value: Static, _context: object) -> StaticType:
    _STATICS[value.key] = value  # the latest: an older one may read globals that no longer exist
    return StaticType(value.key)


register_model(StaticType)(models.OpaqueModel)


@unbox(StaticType)  # type: ignore[untyped-decorator]  # numba is untyped
def _unbox_static(_type: StaticType, _value: object, context: Any) -> NativeValue:
    return NativeValue(context.context.get_dummy_value())


def static_of(kind: object) -> Any:
    """Return the Python object behind a compile-time type, or None if the type is not a static."""
    return _STATICS[kind.static_key] if isinstance(kind, StaticType) else None


_JITABLE: weakref.WeakSet[Any] = weakref.WeakSet()


def jitable(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled code call `function`, which stays an ordinary Python function.

    Registering twice would give Numba two equal candidates, so a set holds the registered functions. An attribute of
    the function would not do: it would be pickled along to a process that has not registered it. Numba knows builtins
    such as max and float, and compiled functions, by itself.
    """
    if isinstance(function, python_types.FunctionType) and function not in _JITABLE:
        register = register_jitable(**callee_options) if callee_options else register_jitable
        register(function)
        _JITABLE.add(function)
    return function


_OWN: dict[tuple[str, int], Any] = {}


def copy_by_meaning(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function object for the current meaning of a user's function.

    The compiler caches its result per function object. If a global that the function reads has
    changed, the function means something else, so it needs another object.
    """
    if not isinstance(function, python_types.FunctionType):
        return function
    meaning = digest(function), id(function.__globals__)  # held by the copy, so the number is not given twice
    if meaning not in _OWN:
        copy = python_types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        _OWN[meaning] = copy
    copied: Callable[P, R] = _OWN[meaning]
    return copied


def compiled_reading(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the compiler's version of `function`: from argument types to an implementation."""
    decorate: Any = overload(function, strict=False, jit_options=callee_options)
    return decorate  # type: ignore[no-any-return]


@functools.cache
def from_source(source: str, *bindings: tuple[str, Any]) -> Callable[..., Any]:
    """Return a function from generated source, such as an unrolled loop over fields of different types."""
    namespace: dict[str, Any] = dict(bindings)
    exec(source, namespace)  # noqa: S102  # the text is made of field numbers by this package, never of user text
    return jitable(namespace["generated"])


_NOISE = (
    *("During:", "File ", ">>>", "- ", "There ", "raised ", "With ", "Overload ", "Rejected "),
    *("^", "def ", "<source"),
)


def _cause(error: Exception) -> str:
    """Return the innermost message of a compiler error."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line and not line.startswith(_NOISE) and "implementation" not in line.lower()]
    return (telling or lines or ["no reason given"])[-1]


def returned_fields(name: str, what: str, function: Callable[..., Any], arguments: list[Any]) -> Any:
    """Return the type of a user's function for fields of these types: a field code, or a tuple of them."""

    def kind_of(argument: Any) -> Any:
        if isinstance(argument, tuple):
            return types.Tuple([kind_of(each) for each in argument])
        scalar = from_dtype(argument.dtype)
        return types.Array(scalar, 1, "C") if argument.is_array else scalar

    def code_of(kind: Any) -> Any:
        kind = types.unliteral(kind)
        if isinstance(kind, types.BaseTuple):
            return tuple(code_of(each) for each in kind)
        if isinstance(kind, types.Array) and kind.ndim == 1:
            return f"{as_dtype(kind.dtype).str[1:]}[1]"
        if isinstance(kind, types.Number | types.Boolean):
            return as_dtype(kind).str[1:]
        raise InvalidAggregate.not_compilable(name, f"{what} gives a {kind}, which is not a number.")

    try:
        signature = tuple(kind_of(argument) for argument in arguments)
        returned = inferred_type(function, signature)
    except (NumbaError, TypeError) as error:
        raise InvalidAggregate.not_compilable(name, f"{what} does not type-check ({_cause(error)}).") from error
    return code_of(returned)


# --- kernels -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Small:
    """Calls that are interpreted, because to compile their kernel would take longer (decision 52)."""

    length: int = 50_000  # of the longest array of a call, and rows of the work that it is part of
    seconds: float = 0.5  # of the processor, for all interpreted calls of a kernel: it compiles in 0.1 to 3 s


class Kernel(Generic[P, R]):
    """An entry point: compiled when its statics are, interpreted otherwise.

    Small calls are interpreted, too, until they have taken so long that compiling pays, or the kernel is in the cache.
    They work on the same arrays as compiled ones, so their results are the same. Functions of users are always
    compiled: on NumPy's numbers they can do something else, such as a division by zero.

    Compiled code counts references to every array that it touches, at ten times the cost of the
    work itself (measured: DABA Lite 10 against 120 million rows/s). A kernel only borrows the arrays
    of its caller, so it is compiled without reference counts, unless its aggregate makes arrays.
    """

    # None: each kernel is compiled at its first call.
    small: ClassVar[Small | None] = None if os.environ.get("SASH_COMPILE") == "always" else Small()

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._dispatchers: dict[bool, Any] = {}
        self._compiled: dict[tuple[Static, ...], bool] = {}  # those that were compiled: whether with a heap
        self._plain: Any = None
        self._interpreted: dict[tuple[Static, ...], float] = {}  # the seconds of interpreted calls

    def dispatcher(self, heap: bool) -> Any:
        """Return the Numba dispatcher; it is made on first use."""
        if heap not in self._dispatchers:
            compiled = compile_kernel(self.py_func, heap)
            if HAS_PARTS and not JIT_DISABLED:
                compiled._cache = KernelCache(self.py_func, heap)
            self._dispatchers[heap] = compiled
        return self._dispatchers[heap]

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        if self._plain is not None:
            plain: R = self._plain(*arguments, **named)
            return plain
        statics = [each for each in arguments[:3] if isinstance(each, Static)]
        if JIT_DISABLED or not all(each.is_compiled for each in statics):
            return self.py_func(*arguments, **named)
        known = tuple(statics)
        heap = self._compiled.get(known)
        if heap is None:
            heap = any(each.needs_heap for each in statics)
            start = time.thread_time()
            if self._is_small(known, heap, arguments, named):
                with np.errstate(all="ignore"):  # compiled code does not warn
                    answer = self.py_func(*arguments, **named)
                self._interpreted[known] = self._interpreted.get(known, 0.0) + time.thread_time() - start
                return answer
            self._compiled[known] = heap
        try:
            result: R = self.dispatcher(heap)(*arguments, **named)
        except NumbaError:
            if heap:
                raise
            self._compiled[known] = heap = True  # it makes arrays on the way
            result = self.dispatcher(heap)(*arguments, **named)
        if not statics:  # a kernel takes statics always or never
            self._plain = self.dispatcher(heap)
        return result

    def _is_small(
        self, statics: tuple[Static, ...], heap: bool, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> bool:
        """Return whether to interpret a call of a kernel that was not compiled in this process."""
        small = Kernel.small
        if small is None or named or not HAS_PARTS or _rows_at_work.get() > small.length:
            return False
        if not all(each.is_plain for each in statics):
            return False
        arrays = (each for each in _flat(arguments[len(statics) :]) if isinstance(each, np.ndarray))
        if any(len(each) > small.length for each in arrays):
            return False
        dispatcher = self.dispatcher(heap)
        signature = tuple(dispatcher.typeof_pyval(each) for each in arguments)
        cache, target = dispatcher._cache, dispatcher.targetctx
        if cache.has(signature, target):
            return False
        # Where another process compiles the kernel already, the interpreter is faster than waiting.
        return self._interpreted.get(statics, 0.0) <= small.seconds or cache.is_being_compiled(signature, target)


_rows_at_work = ContextVar("_rows_at_work", default=0)


@contextmanager
def compiling_for(rows: int) -> Iterator[None]:
    """Compile the kernels that this block calls, also those of short arrays, if it computes with many rows."""
    token = _rows_at_work.set(rows)
    try:
        yield
    finally:
        _rows_at_work.reset(token)


@contextmanager
def small_calls(small: Small | None) -> Iterator[None]:
    """Change which calls are interpreted, in all threads: None compiles at every first call."""
    before, Kernel.small = Kernel.small, small
    try:
        yield
    finally:
        Kernel.small = before


class BoundKernel:
    """A kernel with fixed statics: after the first call, calls skip the lookup of types.

    Finding the type of a static costs more than a short call itself (measured: 20 of 30 µs). Arrays must keep their
    types and be contiguous; if one does not, the call looks up the types.
    """

    def __init__(self, kernel: "Kernel[..., Any]", *statics: Static) -> None:
        self._kernel, self._statics = kernel, statics
        self._is_compiled = not JIT_DISABLED and all(each.is_compiled for each in statics)
        self._found: tuple[Any, list[Any]] | None = None  # the compiled function, and the types of its arrays

    def __call__(self, *arguments: Any) -> None:
        if self._found is not None:
            entry, types = self._found
            arrays = _flat(arguments)
            if len(arrays) == len(types) and all(map(_is_alike, arrays, types)):
                entry(*self._statics, *arguments)
                return
        self._kernel(*self._statics, *arguments)
        if self._is_compiled and self._found is None:
            self._find_entry(arguments)

    def _find_entry(self, arguments: tuple[Any, ...]) -> None:
        arrays = _flat(arguments)
        if not all(isinstance(each, np.ndarray) and each.flags.carray for each in arrays):
            return
        entry = entry_point(self._kernel, (*self._statics, *arguments))
        if entry is not None:
            self._found = entry, [each.dtype for each in arrays]  # at once: threads share it


def entry_point(kernel: "Kernel[..., Any]", arguments: tuple[Any, ...]) -> Any:
    """Return the compiled function of a kernel for these types of arguments; None if it is not compiled yet.

    It does not check the types of its arguments: they must be the same in every call.
    """
    for heap in (False, True) if HAS_PARTS else ():
        dispatcher = kernel.dispatcher(heap)
        kinds = tuple(dispatcher.typeof_pyval(each) for each in arguments)
        if kinds in dispatcher.overloads:
            return dispatcher.overloads[kinds].entry_point
    return None


_BOUND: dict[tuple[int, ...], BoundKernel] = {}
_MOST_BOUND = 256


def bound_kernel(kernel: "Kernel[..., Any]", *statics: Static) -> BoundKernel:
    """Return the kernel bound to these statics, once; the statics are the same objects, not only equal ones."""
    known = id(kernel), *map(id, statics)  # the bound kernel holds all of them, so no number is given twice
    found = _BOUND.get(known)
    if found is None:
        if len(_BOUND) >= _MOST_BOUND:
            _BOUND.clear()
        found = _BOUND[known] = BoundKernel(kernel, *statics)
    return found


def _is_alike(array: Any, dtype: Any) -> bool:
    """Return whether an array is of a type, contiguous and aligned."""
    flags = array.flags
    return bool((array.dtype is dtype or array.dtype == dtype) and flags.c_contiguous and flags.aligned)


def _flat(arguments: tuple[Any, ...]) -> list[Any]:
    """Return the arrays in arguments, which are arrays, whole numbers, and tuples of arrays at any depth."""
    found: list[Any] = []
    for argument in arguments:
        if isinstance(argument, tuple):
            found.extend(_flat(argument))
        elif type(argument) is not int:
            found.append(argument)
    return found


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a module-level function as an entry point: compiled per static, cached across processes."""
    return Kernel(function)
