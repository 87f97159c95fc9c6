"""The suites by name: the command line and the report read this list."""

from collections.abc import Mapping
from typing import Any

from benchmarks.algorithms import experiments as algorithms
from benchmarks.matrix import experiments as matrix
from benchmarks.slicing import experiments as slicing
from benchmarks.spark_streams import experiments as spark_streams
from benchmarks.spark_tables import experiments as spark_tables
from benchmarks.suite import Suite

__all__ = ["SUITES"]

SUITES: Mapping[str, Suite[Any]] = {
    each.name: each for each in (algorithms.SUITE, slicing.SUITE, matrix.SUITE, spark_tables.SUITE, spark_streams.SUITE)
}
