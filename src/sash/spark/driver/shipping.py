"""Send the package to the executors of a session on which it is not installed."""

import functools
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from sash.spark.versions import add_package

__all__ = ["ship"]


def ship(spark: Any) -> None:
    """Send the driver's copy of sash to the executors of a session.

    Executors on which sash is installed do not need this call. It does not send Numba, NumPy and PyArrow, because they
    contain compiled code. If executors lack them, install them there, or send a packed environment with
    `spark.archives`.
    """
    add_package(spark, str(Path(_folder().name) / "sash.zip"))


@functools.cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """Return a folder with the archive; it stays until this process ends, for executors that start later."""
    folder = tempfile.TemporaryDirectory(prefix="sash-")
    with zipfile.ZipFile(Path(folder.name) / "sash.zip", "w") as target:
        for name, source in sorted(_sources(files("sash"), "sash")):
            # No times of files: Spark refuses a second archive of the same name that differs.
            target.writestr(zipfile.ZipInfo(name), source, zipfile.ZIP_DEFLATED)
    return folder


def _sources(folder: Any, name: str) -> Iterator[tuple[str, bytes]]:
    """Return the files of a package by their paths, without bytecode; the package itself may be in an archive."""
    for each in folder.iterdir():
        if each.is_dir():
            yield from _sources(each, f"{name}/{each.name}")
        elif not each.name.endswith(".pyc"):
            yield f"{name}/{each.name}", each.read_bytes()
