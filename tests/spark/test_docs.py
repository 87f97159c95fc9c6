"""What the guide to Spark shows is what Spark says."""

import doctest
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

GUIDE = Path(__file__).parents[2] / "docs" / "spark.md"


def test_the_examples_of_the_guide_are_true(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(GUIDE), module_relative=False, globs={"spark": spark}, optionflags=options)
    assert tried > 8 and not failed, capsys.readouterr().out
