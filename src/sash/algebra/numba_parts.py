"""The parts of Numba that its documentation does not promise: the one module that imports them.

With a version of Numba that sash was not tested with, or one that lacks a part, kernels are compiled by the public
`numba.njit`: with reference counts, and without a disk cache. Results are the same. Every process then compiles the
kernels that it uses.
"""

import functools
import gc
import re
import time
import warnings
from collections.abc import Callable
from typing import Any

import numba

from sash.worker_process import is_spark_worker

__all__ = [
    "HAS_PARTS",
    "NEWEST",
    "OLDEST",
    "CacheBase",
    "CompileResult",
    "callee_options",
    "compile_kernel",
    "count_leading_zeros",
    "count_trailing_zeros",
    "dump_code",
    "inferred_type",
    "on_compile",
    "warn_once",
]

OLDEST, NEWEST = (0, 66), (0, 68)  # tested

CacheBase: Any = object
Compiler: Any = object
Flags: Any = object
CompileResult: Any = None
JITCodeLibrary: Any = object
dump_code: Any = None
count_leading_zeros: Any = None
count_trailing_zeros: Any = None
run_frontend: Any = None
global_compiler_lock: Any = None
cpu_target: Any = None
type_inference_stage: Any = None


def _is_tested() -> bool:
    major, minor = map(int, re.findall(r"\d+", numba.__version__)[:2])
    return OLDEST <= (major, minor) <= NEWEST


def _import_parts() -> bool:
    """Import all parts, or none; return whether they are there."""
    global \
        CacheBase, \
        Compiler, \
        CompileResult, \
        Flags, \
        JITCodeLibrary, \
        dump_code, \
        count_leading_zeros, \
        count_trailing_zeros
    global run_frontend, global_compiler_lock, cpu_target, type_inference_stage
    try:
        from numba.core.caching import _Cache, dumps
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler import Compiler, CompileResult, Flags, run_frontend
        from numba.core.compiler_lock import global_compiler_lock
        from numba.core.registry import cpu_target
        from numba.core.typed_passes import type_inference_stage
        from numba.cpython.unsafe.numbers import leading_zeros, trailing_zeros
    except (ImportError, AttributeError):
        return False
    CacheBase, dump_code = _Cache, dumps
    count_leading_zeros, count_trailing_zeros = leading_zeros, trailing_zeros
    return True


HAS_PARTS = _is_tested() and _import_parts()

# Each is called with the name of a kernel, twice: with None before the kernel is compiled, and with the seconds after.
# Kernels that come from the disk cache are not compiled. The thread that compiles calls it, and waits for it. It may
# remove itself from the list.
on_compile: list[Callable[[str, float | None], None]] = []


class _SharedFlags(Flags):  # type: ignore[misc]  # numba is untyped
    """Options of the compiler that are equal only to themselves: one object for all functions with these options."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def copy(self) -> Any:
        return Flags(self)  # the caller changes it


class _OwnFlags(Flags):  # type: ignore[misc]  # numba is untyped
    """The options of one function that is compiled.

    Numba looks up the types of every call in dictionaries whose keys contain a copy of the options. It compares options
    one by one, and all of them have the same hash: a third of the time to compile was spent on that.
    """

    __slots__ = ()

    def copy(self) -> Any:
        return _shared_flags.setdefault(self.summary(), _SharedFlags(self))


_shared_flags: dict[str, Any] = {}


class _OwnCompiler(Compiler):  # type: ignore[misc]  # numba is untyped
    """Numba's compiler, with options that are quick to compare."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = _OwnFlags(self.state.flags)


class _KernelCompiler(_OwnCompiler):
    """Numba's compiler, with the promise that the arrays of a kernel do not overlap.

    So a cursor stays in a register while the ring beside it is written to.
    """

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()

    def compile_extra(self, function: Any) -> Any:
        for observe in tuple(on_compile):
            observe(function.__name__, None)
        start = time.perf_counter()
        collects = gc.isenabled()
        gc.disable()  # a compiler makes many objects and drops few: to search them takes a tenth of its time
        try:
            return super().compile_extra(function)
        finally:
            if collects:
                gc.enable()
            for observe in tuple(on_compile):
                observe(function.__name__, time.perf_counter() - start)


class _CalleeLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """The code of a function that only kernels call: it is optimized in each kernel, and not also by itself."""

    def finalize(self) -> None:
        if any(each.name.startswith(_RECURSIVE) for each in self._final_module.global_variables):
            super().finalize()  # it calls its own machine code
            return
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


_RECURSIVE = ".numba.unresolved$"


class _CalleeCompiler(_OwnCompiler):
    """Numba's compiler, for functions that only kernels call: without wrappers for Python and machine code."""

    def define_pipelines(self) -> Any:
        flags = self.state.flags
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        self.state.library = _CalleeLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()

    def compile_extra(self, function: Any) -> Any:
        result = super().compile_extra(function)
        # Kernels find the code by the entry point, and never call it.
        result = result._replace(entry_point=[].append)
        result.target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result


# Wrappers and machine code of functions that only kernels call took a third of the time to compile.
callee_options: Any = {"pipeline_class": _CalleeCompiler} if HAS_PARTS else {}


def compile_kernel(function: Callable[..., Any], heap: bool) -> Any:
    """Return a dispatcher of Numba; without reference counts, unless the kernel makes arrays (`heap`)."""
    if HAS_PARTS:
        return numba.njit(nogil=True, _nrt=heap, pipeline_class=_KernelCompiler)(function)
    warn_once()
    return numba.njit(nogil=True)(function)


@functools.cache
def warn_once() -> None:
    """Say that this Numba was not tested. A driver of Spark says so for its workers, of which there are many."""
    if HAS_PARTS or numba.config.DISABLE_JIT or is_spark_worker():
        return
    (oldest, newest) = (".".join(map(str, each)) for each in (OLDEST, NEWEST))
    warnings.warn(
        f"sash is tested with Numba {oldest} to {newest}, and {numba.__version__} is installed. Results are the same, "
        "but kernels are slower, and every process compiles its own.",
        stacklevel=4,
    )


def inferred_type(function: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    """Return the type that a function returns for arguments of these types."""
    if not HAS_PARTS:
        dispatcher = numba.njit(function)
        dispatcher.compile(signature)
        return dispatcher.nopython_signatures[0].return_type
    # Inference takes a lock of its own; another thread that compiles takes both, in this order.
    with global_compiler_lock:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
        inferred = type_inference_stage(
            cpu_target.typing_context, cpu_target.target_context, run_frontend(function), signature, None
        )
    return inferred.return_type
