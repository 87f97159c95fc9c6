"""`sash demo` on local Spark: which workers it starts."""

import sys
from importlib.util import find_spec

from sash.cli.smart_home import worker_settings


def test_workers_come_from_a_process_that_has_loaded_sash() -> None:
    for environment in ({}, {"PYSPARK_PYTHON": sys.executable}):
        settings = worker_settings(environment)
        assert find_spec(settings["spark.python.daemon.module"]) is not None


def test_another_python_has_the_workers_of_spark() -> None:
    assert worker_settings({"PYSPARK_PYTHON": "/opt/other/python"}) == {}
