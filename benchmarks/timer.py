"""Timing: the best of several runs, a copy of the same bytes as the yardstick, and cycle counts inside kernels."""

import functools
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

from sash.algebra.compiler import JIT_DISABLED

__all__ = ["Timing", "best_of", "best_of_each", "copy_seconds", "counts_cycles", "cycles_per_second", "now_in_cycles"]


@dataclass(frozen=True)
class Timing:
    """The shortest of several runs, with the processor time that all threads used in it."""

    seconds: float
    cpu_seconds: float
    runs: int

    @property
    def cores_busy(self) -> float:
        """Return how many cores were busy."""
        return self.cpu_seconds / self.seconds if self.seconds else 0.0


def best_of(function: Callable[[], Any], runs: int = 3, budget: float = 1.0) -> Timing:
    """Return the shortest of up to `runs` runs; start no further run after `budget` seconds."""
    return best_of_each({"": function}, runs, budget)[""]


def best_of_each(functions: Mapping[str, Callable[[], Any]], rounds: int = 3, budget: float = 3.0) -> dict[str, Timing]:
    """Return the best run of each function, run in turns, so that a busy machine slows all of them alike.

    A function that has used `budget` seconds is left out of later rounds.
    """
    best: dict[str, Timing] = {}
    spent = dict.fromkeys(functions, 0.0)
    for _ in range(rounds):
        for name, function in functions.items():
            if name in best and spent[name] >= budget:
                continue
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            spent[name] += wall
            runs = best[name].runs + 1 if name in best else 1
            if name in best and best[name].seconds <= wall:
                wall, cpu = best[name].seconds, best[name].cpu_seconds
            best[name] = Timing(wall, cpu, runs)
    return best


def copy_call(size: int) -> Callable[[], None]:
    """Return a function that copies `size` bytes between arrays that are in memory already."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    return functools.partial(np.copyto, target, source)


def copy_seconds(size: int, runs: int = 5) -> float:
    """Return the seconds that `np.copyto` takes for `size` bytes."""
    return best_of(copy_call(size), runs).seconds


# --- cycles, readable from inside a kernel ---------------------------------------------------------

# On ARM, user programs cannot read the cycle counter, but they can read the steady counter.
_COUNTERS = {
    "x86_64": "llvm.readcyclecounter",
    "AMD64": "llvm.readcyclecounter",
    "aarch64": "llvm.readsteadycounter",
    "arm64": "llvm.readsteadycounter",
}
_COUNTER = _COUNTERS.get(platform.machine())


def counts_cycles() -> bool:
    """Return whether compiled code can read a cycle counter on this machine."""
    return _COUNTER is not None and not JIT_DISABLED


def _now_in_cycles(_typing_context: Any) -> Any:
    """Read the cycle counter; only compiled code can call this.

    Processors reorder instructions; a fence before and after the read keeps work on its side of it.
    """

    def read(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        counter = builder.module.declare_intrinsic(_COUNTER, fnty=ir.FunctionType(ir.IntType(64), []))
        _fence(builder)
        cycles = builder.call(counter, [])
        _fence(builder)
        return cycles

    return types.int64(), read


now_in_cycles: Any = intrinsic(_now_in_cycles)


def _fence(builder: Any) -> None:
    if _COUNTER == "llvm.readcyclecounter":
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.lfence", fnty=kind), [])
    else:
        builder.fence("seq_cst")


@functools.cache
def cycles_per_second() -> float:
    """Measure the rate of the counter against the clock."""
    import numba

    read = numba.njit(lambda: now_in_cycles())
    read()
    best = []
    for _ in range(5):
        clock, cycles = time.perf_counter_ns(), read()
        while time.perf_counter_ns() - clock < 10_000_000:
            pass
        elapsed, counted = time.perf_counter_ns() - clock, read() - cycles
        best.append(counted / elapsed * 1e9)
    return float(np.median(best))
