"""The order of numbers: NaN is the largest, as in Spark; comparisons do not branch on data.

The CPU cannot predict which of two values is larger, so it mispredicts a branch on it half of the
time. By default the compiler merges the two tests (larger, or NaN) into one condition with a
branch. The code here makes each test one comparison and one blend.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sash.algebra.compiler import compiled_reading, jitable

__all__ = ["larger", "less", "smaller"]


@jitable
def less(a: Any, b: Any) -> bool:
    """Return whether a comes before b."""
    return bool(a < b or (b != b and a == a))


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two values; either if they are equal."""
    return a if less(b, a) else b


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two values; either if they are equal."""
    return b if less(b, a) else a


@intrinsic
def _larger_float(_context: Any, a: Any, _b: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        x, y = operands
        number = builder.select(builder.fcmp_ordered(">", x, y), x, y)
        return builder.select(builder.fcmp_unordered("uno", x, y), builder.fadd(x, y), number)

    return a(a, a), generate


@intrinsic
def _smaller_float(_context: Any, a: Any, _b: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, operands: Any) -> Any:
        x, y = operands
        kind = ir.FunctionType(x.type, [x.type, x.type])
        minnum = builder.module.declare_intrinsic("llvm.minnum", [x.type], kind)
        return builder.call(minnum, [x, y])

    return a(a, a), generate


@compiled_reading(larger)
def _larger(a: Any, b: Any) -> Any:
    if isinstance(a, types.Float):
        return lambda a, b: _larger_float(a, b)  # type: ignore[call-arg]  # the typing context comes from the compiler
    return lambda a, b: a if a > b else b


@compiled_reading(smaller)
def _smaller(a: Any, b: Any) -> Any:
    if isinstance(a, types.Float):
        return lambda a, b: _smaller_float(a, b)  # type: ignore[call-arg]
    return lambda a, b: b if b < a else a
