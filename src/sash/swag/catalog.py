"""The list of algorithms, which the planner, the tests, the benchmarks and the docs read."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from sash.errors import UnknownName
from sash.swag.contract import Algorithm

__all__ = ["ALGORITHMS", "find"]

_NAMES = (
    *("recalculate", "two_stacks_lite", "daba_lite", "sba", "pba", "ranked", "shifted"),
    *("subtract_on_evict", "two_stacks", "daba", "foa", "ioa", "slick_deque", "slick_deque_inv"),
    *("flat_fat", "b_int", "flat_fit", "slide_side", "slide_side_inv", "amta", "fiba"),
)
ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {name: Algorithm(name, import_module(f"sash.swag.{name}")) for name in _NAMES}
)


def find(name: str) -> Algorithm:
    """Return the algorithm of that name."""
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise UnknownName.of("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]
