"""One Spark for all tests of a process: two cores, no window to look at, UTC.

With sash interpreted, Spark interprets its small plans, too: it compiles a stage for longer than it runs.
"""

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sash.algebra.compiler import JIT_DISABLED
from tests.spark.jvm import HASTY

# What a worker does with rows and state is tested without Spark, so it needs no JVM.
WITHOUT_JVM = {
    "test_bucket",
    "test_daemon",
    "test_frame_stretches",
    "test_join_stretches",
    "test_lazy_processor",
    "test_progress",
    "test_snapshot_log",
    "test_task",
}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that need a JVM, so that they run in few processes, each with one JVM."""
    if item.path.stem not in WITHOUT_JVM:
        item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session", autouse=True)
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the Python processes of Spark import PySpark from where it is installed.

    By default they import it from an archive, without bytecode. Four micro-batches then take 4 s instead of 2.5 s.
    """
    found = find_spec("pyspark")
    if "SPARK_HOME" in os.environ or found is None or found.origin is None:
        return
    home = tmp_path_factory.mktemp("spark_home")
    for part in ("bin", "jars", "sbin"):
        (home / part).symlink_to(Path(found.origin).parent / part)
    os.environ["SPARK_HOME"] = str(home)


@pytest.fixture(scope="session")
def spark(spark_home: None) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("sash tests")
        .config("spark.driver.extraJavaOptions", HASTY)
        .config("spark.sql.codegen.wholeStage", str(not JIT_DISABLED).lower())
        .config("spark.python.daemon.module", "tests.spark.daemon")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def zone(spark: Any) -> Iterator[Any]:
    """Says in which time zone the session is; it is in UTC again afterwards."""
    yield lambda name: spark.conf.set("spark.sql.session.timeZone", name)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
