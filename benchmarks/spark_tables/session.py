"""A local Spark session: started when it is first used, and stopped with all its files removed."""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sash.errors import MissingPackage

__all__ = ["LOCAL", "MASTER", "LocalSpark", "with_option"]

WHAT = "The suite spark_tables"
MASTER = "local[2]"


class LocalSpark:
    """A Spark session and a folder. A session that exists already is used, and not stopped."""

    def __init__(self, master: str = MASTER, folder: Path | None = None, what: str = WHAT) -> None:
        self._master = master
        self._given = folder
        self._what = what
        self._made: Path | None = None
        self._own: Any = None
        self.warmed: set[str] = set()  # kinds of points that need no warm-up any more

    @property
    def folder(self) -> Path:
        """Return the folder of the rows; it is created when it is first used, unless it was given."""
        if self._given is not None:
            return self._given
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix="sash-bench-"))
        return self._made

    def spark(self) -> Any:
        """Return the session."""
        if importlib.util.find_spec("pyspark") is None:
            raise MissingPackage.of(self._what, "pyspark", "spark")
        from pyspark.sql import SparkSession

        if self._own is None:
            found = SparkSession.getActiveSession()
            if found is not None:
                return found
            self._own = _started(self._master, self.folder / "spark", self._what)
        return self._own

    def close(self) -> None:
        """Stop the session if this object started it, and remove the folder if this object created it."""
        if self._own is not None:
            self._own.stop()
            self._own = None
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)
            self._made = None
        self.warmed.clear()


LOCAL = LocalSpark()


def _started(master: str, folder: Path, what: str) -> Any:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder),
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master(master).appName(what)
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if "JAVA" in str(error.getCondition()):
            raise MissingPackage.java(what) from error
        raise
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def with_option(spark: Any, name: str, value: str) -> Iterator[None]:
    """Set an option of the session for the block."""
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)
