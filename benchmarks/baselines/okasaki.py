"""FOA and IOA as compiled algorithms, in place of those of the catalog, which are plain Python."""

from collections.abc import Mapping

from benchmarks.baselines import compiled_foa, compiled_ioa
from benchmarks.baselines.okasaki_cells import BenchmarkAlgorithm
from sash.swag import ALGORITHMS
from sash.swag.contract import Algorithm

__all__ = ["OKASAKI", "SUBJECTS"]

OKASAKI = {"foa": BenchmarkAlgorithm("foa", compiled_foa), "ioa": BenchmarkAlgorithm("ioa", compiled_ioa)}
SUBJECTS: Mapping[str, Algorithm] = {**ALGORITHMS, **OKASAKI}
