"""Run tests on every version of PySpark, and with the oldest and newest versions of other packages: `make compat`.

Each environment is made from a lock file with hashes. With PySpark, the tests with the marks `compat` and
`compat_streams` run; without it, those of what NumPy, PyArrow, pandas, Polars and Numba do for sash. The outcomes are
written to a record, from which `sash doctor` and the docs show the versions.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.compat.environments import (
    ENVIRONMENTS,
    LOCKS,
    PACKAGES,
    ROOT,
    Environment,
    Outcome,
    load_record,
    save_record,
    save_speeds,
)
from tests.compat.speed import measure_speeds

BUILD = ROOT / "build" / "compat"
TABLES = ("versions", "equality", "types", "hot_keys", "join", "text", "run", "connect")
STREAMS = ("streaming", "table_function")
# Where the state operator is another one, the other tests of streams run, too: kills, restarts, all options.
WHOLE_STREAMS = ("streaming", "checkpoints", "lives", "chaos")
# What reads and writes tables, interpreted; what uses undocumented parts of Numba, and some kernels, compiled.
PLAIN = (
    *("engine/test_tables", "engine/test_keys", "engine/test_row_batch", "engine/test_coded_columns"),
    *("engine/test_rolling", "engine/test_stream", "engine/test_arrow_bytes", "engine/test_dictionary"),
    "engine/test_output",
    *("algebra/test_decimals", "text/test_expressions", "kinds/test_calendar", "oracles/test_polars"),
)
COMPILED = (
    *("algebra/test_cache", "algebra/test_compiler", "algebra/test_numba_parts"),
    *("swag/test_slide", "engine/test_rolling"),
)
INTERPRETER, COMPILER = {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_DISABLE_JIT": "0"}
NEEDED = """
click>=8.2
duckdb>=1.3
hypothesis>=6.130
lark>=1.2
numba>=0.66
numpy>=2.0
polars>=1.0
pyarrow>=18
pytest>=8.3
pyyaml>=6
rich>=14
"""
NEEDED_BY_SPARK = """
googleapis-common-protos>=1.65
grpcio>=1.67
grpcio-status>=1.67
protobuf>=6.33.5
zstandard>=0.25
"""


def main() -> int:
    """Test the environments, measure or pin them; return how many failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.compat", description=__doc__)
    parser.add_argument("--only", default="", help="a part of the names of environments, such as 4.0")
    parser.add_argument("--lock", action="store_true", help="pin the versions of the environments anew, by uv")
    parser.add_argument("--speed", action="store_true", help="measure versions of PySpark instead of testing")
    given = parser.parse_args()
    chosen = [each for each in ENVIRONMENTS if given.only in each.name]
    if given.lock:
        for environment in chosen:
            pin(environment)
        return 0
    if given.speed:
        versions = {each.pyspark: each for each in reversed(chosen) if each.pyspark}  # one for each version
        newest, *older = versions.values()
        measured = [*(each for each in reversed(older) if each.lacks_calls), newest]
        save_speeds(measure_speeds({each: make(each) for each in measured}))
        return 0
    failures = 0
    for environment in chosen:
        outcome = run(environment)
        print(f"{environment.name}: {outcome.tables} + {outcome.streams} passed, {outcome.failed} failed", flush=True)
        failures += outcome.failed > 0
        save_record([*(each for each in load_record() if each.environment != environment.name), outcome])
    return failures


def pin(environment: Environment) -> None:
    """Write the lock file of an environment; it names no index."""
    LOCKS.mkdir(exist_ok=True)
    pins = (f"{name}=={version}.*\n" for name, version in environment.pins.items())
    wanted = NEEDED + (NEEDED_BY_SPARK if environment.pyspark else "") + "".join(pins)
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
    python = make(environment)
    if environment.pyspark:
        parts = (*TABLES, *STREAMS) if environment.has_streams else TABLES
        marks = "compat or compat_streams" if environment.has_streams else "compat"
        variables = {**INTERPRETER, **_connect_server(environment)}
        cases = _tested(python, environment.name, (f"spark/test_{each}" for each in parts), marks, variables)
        if environment.has_pandas_state:
            whole, others = (f"spark/test_{each}" for each in WHOLE_STREAMS), f"not ({marks}) and not long"
            cases += _tested(python, f"{environment.name}-streams", whole, others, variables)
    else:
        cases = _tested(python, environment.name, PLAIN, "not only_compiled and not long", INTERPRETER)
        marks = "(compiled or only_compiled) and not long"
        cases += _tested(python, f"{environment.name}-compiled", COMPILED, marks, COMPILER)
    failed = [each for each in cases if each.find("failure") is not None or each.find("error") is not None]
    passed = [each for each in cases if each not in failed and each.find("skipped") is None]
    rooms = (*STREAMS, *WHOLE_STREAMS)
    own = [each for each in passed if each.get("classname", "").endswith(rooms) or "stream" in str(each.get("name"))]
    streams = own if environment.has_streams else []
    shown = (
        "import importlib.metadata as m, platform, sys; print(*map(m.version, sys.argv[1:]), platform.python_version())"
    )
    names = [name for name in PACKAGES if name != "pyspark" or environment.pyspark]
    found = subprocess.run([python, "-c", shown, *names], capture_output=True, text=True, check=True).stdout.split()
    versions = {"pyspark": "", **dict(zip((*names, "python"), found, strict=True))}
    return Outcome(
        environment.name, **versions, tables=len(passed) - len(streams), streams=len(streams), failed=len(failed)
    )


def _connect_server(environment: Environment) -> dict[str, str]:
    """Return the variable that names the Python of a server of Spark Connect, where PySpark contains none."""
    if environment.has_streams:
        return {}
    newer = next(each for each in ENVIRONMENTS if each.has_streams)
    return {"SASH_CONNECT_SERVER": str(make(newer))}


def _tested(
    python: Path, name: str, parts: Iterable[str], marks: str, variables: Mapping[str, str]
) -> list[ET.Element]:
    """Run the tests with some marks of some files, and return the cases of their report."""
    report = BUILD / f"{name}.xml"
    report.unlink(missing_ok=True)
    # Older versions leave sockets open and use what newer Pythons deprecate, so warnings are no errors here.
    command = [str(python), "-m", "pytest", "-q", "-W", "default", "--disable-warnings", "--tb=short", "--durations=5"]
    command += [*(f"tests/{each}.py" for each in parts), "-m", marks, f"--junitxml={report}"]
    path = {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    subprocess.run(command, cwd=ROOT, env={**os.environ, **path, **variables}, check=False)
    return list(ET.parse(report).iter("testcase"))


if __name__ == "__main__":
    sys.exit(main())
