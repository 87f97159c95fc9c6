"""One source, two readings: what makes plain Python functions compile once and for all.

A *static* is an object that Numba sees as a type: an aggregate, an algorithm. Its key holds a
digest of everything that its functions mean, so a kernel that was compiled for it and kept on
disk can be found again by name in another process, and can never be stale. A kernel is an
ordinary module-level function whose first arguments are statics; interpreted, it is called as it
stands.
"""

import functools
import hashlib
import inspect
import os
import pickle
import stat
import sys
import tempfile
import types as python_types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core import caching, config, types
from numba.core.compiler import CompileResult, run_frontend
from numba.core.datamodel import models
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.extending import NativeValue, register_jitable, register_model, typeof_impl, unbox
from numba.core.registry import cpu_target
from numba.core.typed_passes import type_inference_stage
from numba.np.numpy_support import as_dtype, from_dtype

from sash.errors import InvalidAggregate

__all__ = ["Kernel", "Static", "cache_directory", "digest", "jitable", "kernel", "static_of", "unrolled"]

P = ParamSpec("P")
R = TypeVar("R")

JIT_DISABLED = bool(config.DISABLE_JIT)
_MAGIC = b"sash-kernel-1\n"


# --- statics -----------------------------------------------------------------------------------


class Static:
    """An object that is a type to the compiler; equal keys mean equal code."""

    key: str
    is_compiled: bool
    needs_heap: bool = False  # its functions make arrays


class StaticType(types.Type):
    """What Numba calls a static: nothing at run time, everything at compile time."""

    def __init__(self, key: str) -> None:
        super().__init__(name=f"Static({key})")
        self.static_key = key


_STATICS: dict[str, Any] = {}


@typeof_impl.register(Static)
def _typeof_static(value: Static, _context: object) -> StaticType:
    _STATICS.setdefault(value.key, value)
    return StaticType(value.key)


register_model(StaticType)(models.OpaqueModel)


@unbox(StaticType)  # type: ignore[untyped-decorator]  # numba is untyped
def _unbox_static(_type: StaticType, _value: object, context: Any) -> NativeValue:
    return NativeValue(context.context.get_dummy_value())


def static_of(kind: object) -> Any:
    """The Python object behind a compile-time type, or None if the type is not a static."""
    return _STATICS[kind.static_key] if isinstance(kind, StaticType) else None


def jitable(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled code call `function`, which stays an ordinary Python function.

    Registering twice would offer Numba two equal candidates, so a function is marked.
    """
    if not getattr(function, "__sash_jitable__", False):
        register_jitable(function)
        function.__sash_jitable__ = True  # type: ignore[attr-defined]
    return function


@functools.cache
def unrolled(source: str, *bindings: tuple[str, Any]) -> Callable[..., Any]:
    """A function from generated source: how a loop over a tuple of unlike fields is written out."""
    namespace: dict[str, Any] = dict(bindings)
    exec(source, namespace)  # the text is made of field numbers by this package, never of user text
    return jitable(namespace["generated"])


def returned_fields(name: str, what: str, function: Callable[..., Any], arguments: list[Any]) -> Any:
    """What a user's function gives for fields of these types: a field code, or a tuple of them."""

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
        # Inference takes a lock of its own; another thread that compiles takes both, in this order.
        with global_compiler_lock:
            cpu_target.typing_context.refresh()
            cpu_target.target_context.refresh()
            inferred = type_inference_stage(
                cpu_target.typing_context, cpu_target.target_context, run_frontend(function), signature, None
            )
    except (NumbaError, TypeError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise InvalidAggregate.not_compilable(name, f"{what} does not type-check ({' '.join(lines[:3])}).") from error
    return code_of(inferred.return_type)


# --- digests: equal means the same machine code ------------------------------------------------


@functools.cache
def package_digest() -> str:
    """Of every source file of the package: a changed helper leaves no kernel behind."""
    root = Path(__file__).resolve().parents[1]
    hasher = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        hasher.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()


def digest(*parts: Any) -> str:
    """A name for what functions and values mean, down to the globals and closures that they read."""
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(_meaning(part, frozenset()).encode() + b"\0")
    return hasher.hexdigest()[:32]


def _meaning(value: Any, seen: frozenset[int]) -> str:
    function = getattr(value, "py_func", value)
    if isinstance(function, python_types.FunctionType):
        if id(function) in seen:
            return "recursive"
        seen = seen | {id(function)}
        return _code_meaning(function.__code__, function, seen)
    if isinstance(value, python_types.ModuleType):
        return f"module {value.__name__} {getattr(value, '__version__', '')}"
    if isinstance(value, np.ndarray):
        return (
            f"array {value.dtype.str} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
        )
    if isinstance(value, tuple | list):
        return f"{type(value).__name__} [{', '.join(_meaning(each, seen) for each in value)}]"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, type | python_types.BuiltinFunctionType | np.ufunc):
        return (
            f"name {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', getattr(value, '__name__', ''))}"
        )
    # Nothing is known of it, so it equals nothing, not even itself in another process.
    return f"unknown {os.getpid()} {id(value)} {os.urandom(8).hex()}"


def _code_meaning(code: python_types.CodeType, function: python_types.FunctionType, seen: frozenset[int]) -> str:
    read = inspect.getclosurevars(function)
    names = sorted({**read.globals, **read.nonlocals}.items())
    nested = [each for each in code.co_consts if isinstance(each, python_types.CodeType)]
    plain = [each for each in code.co_consts if not isinstance(each, python_types.CodeType)]
    inner_globals = sorted(
        (name, function.__globals__[name]) for each in nested for name in each.co_names if name in function.__globals__
    )
    return "|".join(
        [
            code.co_code.hex(),
            ",".join(each.co_code.hex() + repr(each.co_consts) + repr(each.co_names) for each in nested),
            repr(code.co_names),
            _meaning(tuple(each for each in plain if not isinstance(each, frozenset)), seen),
            _meaning(function.__defaults__, seen),
            *(f"{name}={_meaning(value, seen)}" for name, value in [*names, *inner_globals]),
        ]
    )


# --- kernels and their cache on disk -------------------------------------------------------------


@functools.cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept: a folder that only this user can read or write.

    `SASH_CACHE_DIR` names it, `SASH_CACHE_DIR=off` keeps nothing. A folder that someone else owns
    or could write to is not used, for what is loaded from it is run.
    """
    named = os.environ.get("SASH_CACHE_DIR")
    if named == "off":
        return None
    user = os.getuid() if hasattr(os, "getuid") else 0
    candidates = (
        [Path(named)]
        if named
        else [
            Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sash",
            Path(tempfile.gettempdir()) / f"sash-{user}",
        ]
    )
    for folder in candidates:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.stat()
            if status.st_uid != user:
                continue
            if stat.S_IMODE(status.st_mode) & 0o077:
                folder.chmod(0o700)
            return folder
        except OSError:
            continue
    return None


class KernelCache(caching._Cache):  # type: ignore[misc]  # numba is untyped
    """One file per kernel and signature, named by everything that its machine code depends on.

    Numba's own cache looks at the kernel's file alone and numbers its entries in an index that
    writers race for. Here an entry is written whole, checked by a digest when it is read, and
    whatever is wrong with it is a miss.
    """

    def __init__(self, function: Callable[..., Any], heap: bool) -> None:
        self._function = function
        self._heap = heap
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(cache_directory())

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing is held back."""

    def _path(self, signature: object, context: Any) -> Path | None:
        folder = cache_directory()
        if folder is None or not self._enabled:
            return None
        codegen = context.codegen()
        name = "\0".join(
            (
                package_digest(),
                f"{self._function.__module__}.{self._function.__qualname__}",
                f"heap {self._heap}",
                str(signature),
                str(codegen.magic_tuple()),
                sys.version,
                numba.__version__,
                llvmlite.__version__,
                np.__version__,
            )
        )
        return folder / f"{self._function.__name__}-{hashlib.sha256(name.encode()).hexdigest()[:40]}.kernel"

    def load_overload(self, signature: object, target_context: Any) -> object:
        path = self._path(signature, target_context)
        if path is None:
            return None
        target_context.refresh()
        try:
            content = path.read_bytes()
            head, payload = content[: len(_MAGIC) + 32], content[len(_MAGIC) + 32 :]
            if head != _MAGIC + hashlib.sha256(payload).digest():
                return None
            # A cache of machine code in a folder private to its user; state is never read this way.
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # whatever is wrong with an entry, compiling anew is right
            return None

    def save_overload(self, signature: object, data: Any) -> None:
        path = self._path(signature, data.target_context)
        if path is None or data.lifted or data.library.has_dynamic_globals:
            return
        try:
            payload = caching.dumps(data._reduce())
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path)
        except OSError:  # a full or read-only disk costs a compilation next time, nothing else
            return


class Kernel(Generic[P, R]):
    """An entry point: compiled when its statics are, interpreted otherwise.

    Compiled code counts references to every array that it touches, at ten times the cost of the
    work itself (measured: DABA Lite 10 against 120 million rows/s). A kernel only borrows the arrays
    of its caller, so it is compiled without a heap, unless its aggregate makes arrays of its own.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._dispatchers: dict[bool, Any] = {}
        self._on_heap: set[str] = set()

    def dispatcher(self, heap: bool) -> Any:
        """Numba's side of it, made on first use."""
        if heap not in self._dispatchers:
            compiled = numba.njit(nogil=True, _nrt=heap)(self.py_func)
            if not JIT_DISABLED:
                compiled._cache = KernelCache(self.py_func, heap)
            self._dispatchers[heap] = compiled
        return self._dispatchers[heap]

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        statics = [each for each in arguments[:3] if isinstance(each, Static)]
        if JIT_DISABLED or not all(each.is_compiled for each in statics):
            return self.py_func(*arguments, **named)
        key = " ".join(each.key for each in statics)
        heap = key in self._on_heap or any(each.needs_heap for each in statics)
        try:
            result: R = self.dispatcher(heap)(*arguments, **named)
        except NumbaError:
            if heap:
                raise
            self._on_heap.add(key)  # a user's function makes arrays on the way
            result = self.dispatcher(True)(*arguments, **named)
        return result


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a module-level function as an entry point: compiled per static, cached across processes."""
    return Kernel(function)
