"""One source, two readings: what makes plain Python functions compile once and for all.

A *static* is an object that Numba sees as a type: an aggregate, an algorithm. Its key holds a
digest of everything that its functions mean, so a kernel that was compiled for it and kept on
disk can be found again by name in another process, and can never be stale. A kernel is an
ordinary module-level function whose first arguments are statics; interpreted, it is called as it
stands.
"""

import functools
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import types as python_types
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import llvmlite
import numba
import numpy as np
from numba import types
from numba.core import caching, config
from numba.core.compiler import Compiler, CompileResult, run_frontend
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import models
from numba.core.errors import NumbaError
from numba.core.extending import (
    NativeValue,
    overload,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)
from numba.core.registry import cpu_target
from numba.core.typed_passes import type_inference_stage
from numba.np.numpy_support import as_dtype, from_dtype

from sash.errors import InvalidAggregate

__all__ = [
    "Kernel",
    "Static",
    "cache_directory",
    "compiled_reading",
    "digest",
    "jitable",
    "kernel",
    "static_of",
    "unrolled",
]

P = ParamSpec("P")
R = TypeVar("R")

JIT_DISABLED = bool(config.DISABLE_JIT)
_MAGIC = b"sash-kernel-1\n"
# Only kernels call it: a sixth of the time to compile went into wrappers.
_CALLEE: Any = {"no_cfunc_wrapper": True}


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

    Registering twice would offer Numba two equal candidates, so a function is marked. Builtins such as
    max and float it knows by itself, as it does what is compiled already.
    """
    if isinstance(function, python_types.FunctionType) and not getattr(function, "__sash_jitable__", False):
        register_jitable(**_CALLEE)(function)
        function.__sash_jitable__ = True  # type: ignore[attr-defined]
    return function


def compiled_reading(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate what `function` means to the compiler: from argument types to an implementation."""
    decorate: Any = overload(function, strict=False, jit_options=_CALLEE)
    return decorate  # type: ignore[no-any-return]


@functools.cache
def unrolled(source: str, *bindings: tuple[str, Any]) -> Callable[..., Any]:
    """A function from generated source: how a loop over a tuple of unlike fields is written out."""
    namespace: dict[str, Any] = dict(bindings)
    exec(source, namespace)  # noqa: S102  # the text is made of field numbers by this package, never of user text
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
def source_digest(kernel_file: str) -> str:
    """Of the rooms that kernels call into and of the kernel's own file: a changed helper leaves no kernel behind."""
    root = Path(__file__).resolve().parents[1]
    hasher = hashlib.sha256()
    for path in sorted({*root.glob("algebra/*.py"), *root.glob("swag/*.py"), Path(kernel_file).resolve()}):
        hasher.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()


@functools.cache
def _file_digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:  # typed in, or made up
        return os.urandom(16).hex()


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


# --- kernels and their cache on disk -------------------------------------------------------------


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == _user()


@functools.cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept: a folder that only this user can read or write.

    `SASH_CACHE_DIR` names it, `SASH_CACHE_DIR=off` keeps nothing. A folder that someone else owns
    or could write to is not used, for what is loaded from it is run.
    """
    named = os.environ.get("SASH_CACHE_DIR")
    if named == "off":
        return None
    candidates = (
        [Path(named)]
        if named
        else [
            Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sash",
            Path(tempfile.gettempdir()) / f"sash-{_user()}",
        ]
    )
    for folder in candidates:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.stat()
            if not _is_ours(status):
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
        if folder is None or not self._enabled or not Path(self._function.__code__.co_filename).exists():
            return None  # a kernel typed into a prompt has no source to tell its versions apart
        codegen = context.codegen()
        name = "\0".join(
            (
                source_digest(self._function.__code__.co_filename),
                _file_digest(self._function.__code__.co_filename),  # a kernel need not be one of the package's
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
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if not _is_ours(status) or status.st_mode & 0o022:  # left in a folder that was once open to others
                    return None
                content = file.read()
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
            Path(temporary).replace(path)
        except OSError:  # a full or read-only disk costs a compilation next time, nothing else
            return


class _KernelCompiler(Compiler):
    """Numba's compiler, told that the arrays a kernel is given are all different.

    So a cursor stays in a register while the ring beside it is written to.
    """

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()


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
            compiled = numba.njit(nogil=True, _nrt=heap, pipeline_class=_KernelCompiler)(self.py_func)
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
