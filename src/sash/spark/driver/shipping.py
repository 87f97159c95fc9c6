"""Send the package, and the kernels of the driver, to the executors of a session."""

import functools
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from sash.algebra.cache import SHIPPED, cache_directory
from sash.spark.versions import add_package

__all__ = ["ship"]

_MOST_BYTES = 32 << 20  # of kernels; the newest are sent


def ship(spark: Any) -> None:
    """Send the driver's copy of sash, and the kernels in its cache, to the executors of a session.

    An executor on which sash is installed does not need this call. But it need not compile the kernels that it gets.
    Call `sash.warm` before, to have kernels to send. An executor uses a kernel only if its processor, Python, Numba and
    NumPy are those of the driver. `ship` does not send Numba, NumPy and PyArrow, because they contain compiled code. If
    executors lack them, install them there, or send a packed environment with `spark.archives`.
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
        for name, content in _kernels():
            target.writestr(zipfile.ZipInfo(f"sash/{SHIPPED}/{name}"), content, zipfile.ZIP_DEFLATED)
    return folder


def _kernels() -> Iterator[tuple[str, bytes]]:
    """Return the newest kernels of this user's cache by their names."""
    cache, total = cache_directory(), 0
    entries = [] if cache is None else list(cache.glob("*.kernel"))
    for entry in sorted(entries, key=lambda each: (-each.stat().st_mtime_ns, each.name)):
        content = entry.read_bytes()
        total += len(content)
        if total > _MOST_BYTES:
            return
        yield entry.name, content


def _sources(folder: Any, name: str) -> Iterator[tuple[str, bytes]]:
    """Return the files of a package by their paths, without bytecode; the package itself may be in an archive."""
    for each in folder.iterdir():
        if each.is_dir():
            yield from _sources(each, f"{name}/{each.name}")
        elif not each.name.endswith(".pyc"):
            yield f"{name}/{each.name}", each.read_bytes()
