"""`sash doctor`: check what sash needs, and tell how to install what is missing."""

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sash.algebra.cache import cache_directory
from sash.algebra.numba_parts import HAS_PARTS
from sash.errors import SashError

__all__ = ["Finding", "findings"]

_RECORD = Path(__file__).with_name("tested_versions.json")  # written by `make compat`
_NEEDED = ("numpy", "numba", "pyarrow", "click", "rich", "lark")
_OPTIONAL = {
    "pandas": ("pandas tables, and Spark", "pip install pandas"),
    "polars": ("Polars tables", "pip install polars"),
    "pyspark": ("Spark DataFrames and streams", "pip install 'sash[spark]'"),
    "protobuf": ("Spark streams", "pip install 'sash[spark]'"),
    "matplotlib": ("the plot of sash demo", "pip install 'sash[report]'"),
}


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    what: str
    is_fine: bool
    found: str
    fix: str = ""
    is_optional: bool = False

    @property
    def verdict(self) -> str:
        return "ok" if self.is_fine else "optional" if self.is_optional else "MISSING"


def findings() -> Iterator[Finding]:
    """Check each thing that sash needs, the most basic first."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("Python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer")
    record = json.loads(_RECORD.read_text())
    for name in _NEEDED:
        yield _compared(_package(name, "", f"pip install {name}"), record)
    for name, (what, fix) in _OPTIONAL.items():
        yield _compared(replace(_package(name, f" (for {what})", fix), is_optional=True), record)
    has_spark = importlib.util.find_spec("pyspark") is not None
    spark = _package("pyspark", "", "").found
    yield replace(_java(is_old_spark=spark.startswith("3.")), is_optional=not has_spark)
    if has_spark:
        yield _on_spark()
        yield _workers()
    yield _cache()
    yield _port()


def _package(name: str, what: str, fix: str) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, f"not installed{what}", fix)


def _compared(finding: Finding, record: list[dict[str, Any]]) -> Finding:
    """Return a finding that also tells how the version of a package compares with the tested ones."""
    tested = sorted({each[finding.what] for each in record if each.get(finding.what)}, key=_numbers)
    if not finding.is_fine or not tested:
        return finding
    if finding.what == "pyspark":
        return replace(finding, found=f"{finding.found}; {_standing(finding.found, record)}")
    verdict = _place(finding.found, tested)
    slower = "" if finding.what != "numba" or HAS_PARTS else ": kernels are slower, and every process compiles its own"
    return replace(finding, found=f"{finding.found}; {verdict}{slower}")


def _place(version: str, tested: Sequence[str]) -> str:
    """Return where a version is among tested ones, given from the oldest to the newest.

    >>> _place("2.3.0", ["2.2.3", "3.1.1"]), _place("3.2.0", ["2.2.3", "3.1.1"])
    ('tested: 2.2.3 to 3.1.1', 'newer than the tested ones, 2.2.3 to 3.1.1')
    """
    ends = f"{tested[0]} to {tested[-1]}"
    minor = _numbers(version)[:2]
    if minor < _numbers(tested[0])[:2]:
        return f"older than the tested ones, {ends}"
    if minor > _numbers(tested[-1])[:2]:
        return f"newer than the tested ones, {ends}"
    return f"tested: {ends}"


def _numbers(version: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", version)]


def _standing(version: str, record: list[dict[str, Any]]) -> str:
    """Return what was tested with a version of PySpark, or with another of the same minor version."""
    known = [each for each in record if each["pyspark"] and _numbers(each["pyspark"])[:2] == _numbers(version)[:2]]
    if not known:
        tested = dict.fromkeys(each["pyspark"] for each in record if each["pyspark"])
        return f"not tested; tested are {', '.join(tested)}"
    found = known[-1]
    what = "tables and streams" if found["streams"] else "tables (streams need 4.0 or newer)"
    state = f"{found['failed']} tests failed" if found["failed"] else "all tests passed"
    return f"{what} with {found['pyspark']}: {state}"


def _on_spark() -> Finding:
    """Tell what the first call on Spark would say: it refuses versions that lack what it needs."""
    what = "sash on Spark"
    try:
        from sash.spark.versions import check_protobuf, check_streams, check_tables

        check_tables()
    except (SashError, ImportError) as error:
        found, _, fix = str(error).partition(" Install it: ")
        return Finding(what, False, found, fix)
    try:
        check_streams()
        check_protobuf()
    except SashError as error:
        return Finding(what, True, f"tables run. {error}")
    return Finding(what, True, "tables and streams run")


def _java(is_old_spark: bool) -> Finding:
    """Tell which Java there is. Spark 3.5 also runs on Java 8 and 11, and uses no module of Java by its name."""
    fix = "install Java 17 or newer with all modules, such as openjdk-17-jre-headless, and put it on the PATH"
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return Finding("Java", False, "not found (for Spark)", fix)
    asked = "-version" if is_old_spark else "--list-modules"
    try:
        output = subprocess.run([java, asked], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("Java", False, f"{java} does not run ({error})", fix)
    if is_old_spark:
        version = re.search(r'version "([^"]+)"', output.stderr)
        return Finding("Java", True, version[1]) if version else Finding("Java", False, f"{java} is no Java", fix)
    found = re.search(r"^java\.base@(\d+)\S*", output.stdout, re.M)
    if found is None or int(found[1]) < 17:
        return Finding("Java", False, f"{java} is older than 17", fix)
    if "jdk.incubator.vector" not in output.stdout:
        return Finding("Java", False, f"{java} lacks the module jdk.incubator.vector", fix)
    return Finding("Java", True, found[0].partition("@")[2])


def _workers() -> Finding:
    """Tell which Python Spark's workers would run on this machine, and whether it has what they need."""
    chosen = os.environ.get("PYSPARK_PYTHON")
    if chosen is None:
        return Finding("Spark workers", True, f"{sys.executable} on a local master; elsewhere python3 of each machine")
    fix = f"set PYSPARK_PYTHON to {sys.executable}, or unset it"
    python = shutil.which(chosen)
    if python is None:
        return Finding("Spark workers", False, f"PYSPARK_PYTHON is {chosen}, which does not exist", fix)
    minor = ".".join(map(str, sys.version_info[:2]))
    try:
        output = subprocess.run([python, "-c", _WORKER], capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("Spark workers", False, f"{python} does not run ({error})", fix)
    found, _, lacking = output.stdout.strip().partition(" ")
    if not found.startswith(f"{minor}."):
        known = f"Python {found}" if found else "no Python"
        return Finding("Spark workers", False, f"{python} is {known}, and this is Python {minor}", fix)
    if lacking:
        return Finding("Spark workers", False, f"{python} lacks {lacking}", fix)
    return Finding("Spark workers", True, f"{python}, Python {found}")


_WORKER = """
import importlib.util, platform
names = ("numpy", "numba", "pyarrow", "pandas", "google.protobuf", "sash")
def lacks(name):
    try:
        return importlib.util.find_spec(name) is None
    except ImportError:
        return True
print(platform.python_version(), ", ".join(filter(lacks, names)))
"""


def _cache() -> Finding:
    fix = "set SASH_CACHE_DIR to a folder that you can write to; folders sash-kernels-… in it must be private"
    return _check("kernel cache", _write_to_cache, fix)


def _write_to_cache() -> str:
    folder = cache_directory()
    if folder is None and os.environ.get("SASH_CACHE_DIR") == "off":
        return "off: kernels are compiled in every process"
    if folder is None:
        raise OSError("there is no private folder that can be written to: kernels are compiled in every process")
    probe = folder / f"doctor-{os.getpid()}"
    probe.write_bytes(b"")
    probe.unlink()
    kernels = sum(1 for each in folder.rglob("*") if each.is_file())
    return f"{folder}, {kernels} files"


def _port() -> Finding:
    return _check("127.0.0.1", _listen, "Spark needs local connections: allow connections to 127.0.0.1")


def _listen() -> str:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen(1)
        with socket.create_connection(one.getsockname(), timeout=5):
            return "accepts connections"


def _check(what: str, run: Callable[[], str], fix: str) -> Finding:
    try:
        return Finding(what, True, run())
    except OSError as error:
        return Finding(what, False, str(error), fix)
