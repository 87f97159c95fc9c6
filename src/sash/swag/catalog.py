"""The one list of algorithms: the planner, the tests, the benchmarks and the docs read it."""

from collections.abc import Mapping
from types import MappingProxyType, ModuleType

from sash.errors import UnknownName
from sash.swag import daba_lite, recalculate, two_stacks_lite
from sash.swag.contract import Algorithm

__all__ = ["ALGORITHMS", "find"]

_MODULES: tuple[ModuleType, ...] = (
    recalculate,
    two_stacks_lite,
    daba_lite,
)

ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {name: Algorithm(name, module) for module in _MODULES for name in [module.__name__.rpartition(".")[2]]}
)


def find(name: str) -> Algorithm:
    """The algorithm of that name."""
    if name not in ALGORITHMS:
        raise UnknownName.of("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]
