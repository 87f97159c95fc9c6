"""The one list of algorithms: the planner, the tests, the benchmarks and the docs read it."""

from collections.abc import Mapping
from types import MappingProxyType, ModuleType

from sash.errors import UnknownName
from sash.swag import (
    amta,
    b_int,
    daba,
    daba_lite,
    fiba,
    flat_fat,
    flat_fit,
    foa,
    ioa,
    pba,
    ranked,
    recalculate,
    sba,
    slick_deque,
    slick_deque_inv,
    slide_side,
    slide_side_inv,
    subtract_on_evict,
    two_stacks,
    two_stacks_lite,
)
from sash.swag.contract import Algorithm

__all__ = ["ALGORITHMS", "find"]

_MODULES: tuple[ModuleType, ...] = (
    recalculate,
    two_stacks_lite,
    daba_lite,
    sba,
    pba,
    ranked,
    subtract_on_evict,
    two_stacks,
    daba,
    foa,
    ioa,
    slick_deque,
    slick_deque_inv,
    flat_fat,
    b_int,
    flat_fit,
    slide_side,
    slide_side_inv,
    amta,
    fiba,
)

ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {name: Algorithm(name, module) for module in _MODULES for name in [module.__name__.rpartition(".")[2]]}
)


def find(name: str) -> Algorithm:
    """The algorithm of that name."""
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise UnknownName.of("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]
