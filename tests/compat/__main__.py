"""Run the tests with the marks `compat` and `compat_streams` on every version of PySpark: `make compat`.

Each version has an environment of its own, made from a lock file with hashes. The outcomes are written to a record,
from which `sash doctor` and the docs show the versions.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.compat.environments import (
    ENVIRONMENTS,
    LOCKS,
    ROOT,
    Environment,
    Outcome,
    load_record,
    save_record,
    write_docs,
)

BUILD = ROOT / "build" / "compat"
TABLES = ("versions", "equality", "types", "hot_keys", "join", "text")
STREAMS = ("streaming", "table_function")
PACKAGES = ("pyspark", "pandas", "numpy", "pyarrow", "numba")
NEEDED = """
click>=8.2
duckdb>=1.3
googleapis-common-protos>=1.65
grpcio>=1.67
grpcio-status>=1.67
hypothesis>=6.130
lark>=1.2
numba>=0.66
numpy>=2.2
polars>=1.30
protobuf>=6
pyarrow>=20
pytest>=8.3
pyyaml>=6
rich>=14
zstandard>=0.25
"""


def main() -> int:
    """Test the environments, or pin them anew; return how many failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.compat", description=__doc__)
    parser.add_argument("--only", default="", help="a part of the names of environments, such as 4.0")
    parser.add_argument("--lock", action="store_true", help="pin the versions of the environments anew, by uv")
    given = parser.parse_args()
    chosen = [each for each in ENVIRONMENTS if given.only in each.name]
    if given.lock:
        for environment in chosen:
            pin(environment)
        return 0
    failures = 0
    for environment in chosen:
        outcome = run(environment)
        print(f"{environment.name}: {outcome.tables} + {outcome.streams} passed, {outcome.failed} failed", flush=True)
        failures += outcome.failed > 0
        known = {(each.pyspark, each.pandas.rpartition(".")[0]): each for each in load_record()}
        known[environment.pyspark, environment.pandas] = outcome
        order = [(each.pyspark, each.pandas) for each in ENVIRONMENTS]
        save_record([known[each] for each in order if each in known])
        write_docs()
    return failures


def pin(environment: Environment) -> None:
    """Write the lock file of an environment; it names no index."""
    LOCKS.mkdir(exist_ok=True)
    wanted = f"{NEEDED}pyspark=={environment.pyspark}\npandas=={environment.pandas}.*\n"
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate", "-", "-o"]
    subprocess.run([*command, environment.lock], input=wanted, text=True, check=True)


def make(environment: Environment) -> Path:
    """Return the Python of an environment; make the environment if its lock file has changed."""
    folder, digest = BUILD / environment.name, hashlib.sha256(environment.lock.read_bytes()).hexdigest()
    python, stamp = folder / "bin" / "python", folder / "digest"
    if not stamp.exists() or stamp.read_text() != digest:
        venv.create(folder, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        subprocess.run([*install, "--require-hashes", "-r", str(environment.lock)], check=True)
        stamp.write_text(digest)
    return python


def run(environment: Environment) -> Outcome:
    """Run the tests of an environment, and return how many passed."""
    python, report = make(environment), BUILD / f"{environment.name}.xml"
    parts = (*TABLES, *STREAMS) if environment.has_streams else TABLES
    files = [f"tests/spark/test_{each}.py" for each in parts]
    marks = "(compat or compat_streams)" if environment.has_streams else "compat"
    # Older versions of Spark leave sockets open and use what newer Pythons deprecate, so warnings are no errors here.
    command = [
        str(python),
        "-m",
        "pytest",
        "-q",
        "-W",
        "default",
        "--disable-warnings",
        "--tb=short",
        "--durations=5",
        *files,
    ]
    command += ["-m", f"{marks} and not long", f"--junitxml={report}"]
    own = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "NUMBA_DISABLE_JIT": "1"}
    subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, check=False)
    cases = list(ET.parse(report).iter("testcase"))
    failed = [each for each in cases if each.find("failure") is not None or each.find("error") is not None]
    passed = [each for each in cases if each not in failed]
    streams = [
        each for each in passed if each.get("classname", "").endswith(STREAMS) or "stream" in str(each.get("name"))
    ]
    shown = f"import importlib.metadata as m, platform; print(*map(m.version, {PACKAGES}), platform.python_version())"
    found = subprocess.run([python, "-c", shown], capture_output=True, text=True, check=True).stdout.split()
    versions = dict(zip((*PACKAGES, "python"), found, strict=True))
    return Outcome(**versions, tables=len(passed) - len(streams), streams=len(streams), failed=len(failed))


if __name__ == "__main__":
    sys.exit(main())
