"""Clocks: the best of several runs, contests in turns, the copy as yardstick, cycles inside kernels."""

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

__all__ = ["Timing", "best_of", "contest", "copy_seconds", "counts_cycles", "cycles_per_second", "now_in_cycles"]


@dataclass(frozen=True)
class Timing:
    """The shortest of some runs, and the processor time of that run by all threads."""

    seconds: float
    cpu_seconds: float
    runs: int

    @property
    def cores_busy(self) -> float:
        """How many cores it kept busy."""
        return self.cpu_seconds / self.seconds if self.seconds else 0.0


def best_of(function: Callable[[], Any], runs: int = 3, budget: float = 1.0) -> Timing:
    """The shortest of up to `runs` runs; no further run once `budget` seconds are spent."""
    return contest({"": function}, runs, budget)[""]


def contest(functions: Mapping[str, Callable[[], Any]], rounds: int = 3, budget: float = 3.0) -> dict[str, Timing]:
    """The best of each, run in turns: what disturbs the machine for a while disturbs all alike.

    A function that has used up its `budget` seconds sits out the later rounds.
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


def copying(size: int) -> Callable[[], None]:
    """A function that copies so many bytes, between arrays that are in memory already."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    return functools.partial(np.copyto, target, source)


def copy_seconds(size: int, runs: int = 5) -> float:
    """What `np.copyto` takes for so many bytes: the yardstick."""
    return best_of(copying(size), runs).seconds


# --- cycles, readable from inside a kernel ---------------------------------------------------------

# On ARM the cycle counter is closed to user programs, and the steady counter of the architecture is open.
_COUNTERS = {
    "x86_64": "llvm.readcyclecounter",
    "AMD64": "llvm.readcyclecounter",
    "aarch64": "llvm.readsteadycounter",
    "arm64": "llvm.readsteadycounter",
}
_COUNTER = _COUNTERS.get(platform.machine())


def counts_cycles() -> bool:
    """Whether compiled code can read a counter on this machine."""
    return _COUNTER is not None and not JIT_DISABLED


def _now_in_cycles(_typing_context: Any) -> Any:
    """The processor's counter; only compiled code can call it.

    Processors run instructions ahead of each other; a fence before and after the reading keeps
    work on its own side of the stamp.
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
    """How fast the counter counts, measured against the clock."""
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
