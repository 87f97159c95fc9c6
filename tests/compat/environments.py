"""The environments of `make compat`, and the records of its last runs."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

__all__ = [
    "ENVIRONMENTS",
    "LOCKS",
    "PACKAGES",
    "ROOT",
    "Environment",
    "Outcome",
    "Speed",
    "documented",
    "load_record",
    "load_speeds",
    "save_record",
    "save_speeds",
    "tables",
]

ROOT = Path(__file__).parents[2]
LOCKS = Path(__file__).parent / "locks"
DOCS = ROOT / "docs" / "spark.md"
RECORD = ROOT / "src" / "sash" / "cli" / "tested_versions.json"
SPEEDS = Path(__file__).parent / "speeds.json"
PACKAGES = ("pyspark", "numba", "pandas", "numpy", "pyarrow", "polars")
_PACKAGES = """\
Without Spark, `make compat` runs tests of tables, streams and compiled kernels with these versions:"""
_SPEEDS = """\
On 3.5 and 4.0, sash does by other means what newer versions of Spark have a call for. `python -m
tests.compat --speed` measures these versions and the newest one, in turns on one machine: 2 million
rows of 100 keys, windows of 100 seconds every second, and frames of 1,000 rows. The seconds are of
processor time, of Spark and its Python workers. The numbers in parentheses are speeds relative to
the last line."""


@dataclass(frozen=True)
class Environment:
    """Versions that are tested together; a lock file pins all others. Without PySpark, tests run in one process."""

    pyspark: str = ""
    numba: str = ""
    pandas: str = ""
    numpy: str = ""
    pyarrow: str = ""
    polars: str = ""

    @property
    def pins(self) -> dict[str, str]:
        """Return the packages whose versions are chosen; those that PySpark has no part in, by the first numbers."""
        return {name: version for name, version in asdict(self).items() if version}

    @property
    def name(self) -> str:
        return "-".join(f"{name}-{version}" for name, version in list(self.pins.items())[:2])

    @property
    def lock(self) -> Path:
        return LOCKS / f"{self.name}.lock"

    @property
    def has_streams(self) -> bool:
        return bool(self.pyspark) and not self.pyspark.startswith("3.")

    @property
    def has_pandas_state(self) -> bool:
        """Return whether Spark's state operator gives pandas DataFrames to Python, and not rows."""
        return self.pyspark.startswith("4.0.")

    @property
    def lacks_calls(self) -> bool:
        """Return whether sash does by other means what newer versions of Spark have a call for."""
        return not self.has_streams or self.has_pandas_state


ENVIRONMENTS = (
    Environment(pyspark="3.5.9", pandas="2.3"),
    Environment(pyspark="4.0.5", pandas="2.3"),
    Environment(pyspark="4.1.4", pandas="2.3"),
    Environment(pyspark="4.2.1", pandas="2.3"),
    Environment(pyspark="4.3.0", pandas="2.3"),
    Environment(pyspark="4.3.0", pandas="3.1"),
    Environment(numba="0.66", pandas="2.2", numpy="2.0", pyarrow="18.0", polars="1.0"),
    Environment(numba="0.67", pandas="2.3", numpy="2.2", pyarrow="20.0", polars="1.30"),
    Environment(numba="0.68", pandas="3.1", numpy="2.4", pyarrow="26.0", polars="2.1"),
)


@dataclass(frozen=True)
class Outcome:
    """The tests of one environment: how many passed, and the versions that it had."""

    environment: str
    pyspark: str  # empty: without Spark
    numba: str
    pandas: str
    numpy: str
    pyarrow: str
    polars: str
    python: str
    tables: int  # tests that passed
    streams: int
    failed: int


@dataclass(frozen=True)
class Speed:
    """The medians of some runs with one version of PySpark, in seconds of processor time."""

    pyspark: str
    windows_seconds: float
    frames_seconds: float


def load_record() -> list[Outcome]:
    """Return the outcomes of the last run."""
    return [Outcome(**each) for each in json.loads(RECORD.read_text())]


def save_record(outcomes: Iterable[Outcome]) -> None:
    """Write the outcomes of a run, in the order of the environments, here and into the docs."""
    order = [each.name for each in ENVIRONMENTS]
    known = sorted(outcomes, key=lambda each: order.index(each.environment))
    RECORD.write_text(json.dumps([asdict(each) for each in known], indent=2) + "\n")
    _write_docs()


def load_speeds() -> list[Speed]:
    """Return the speeds of the last run."""
    return [Speed(**each) for each in json.loads(SPEEDS.read_text())]


def save_speeds(speeds: Iterable[Speed]) -> None:
    """Write the speeds of a run, here and into the docs."""
    SPEEDS.write_text(json.dumps([asdict(each) for each in speeds], indent=2) + "\n")
    _write_docs()


def tables(outcomes: Iterable[Outcome], speeds: Iterable[Speed]) -> dict[str, list[str]]:
    """Return the tables of the docs by their names: with Spark, without it, and the speeds."""
    known = list(outcomes)
    return {
        "versions": _table(
            "",
            ("PySpark", "tables", "streams", "pandas", "NumPy", "PyArrow", "Numba"),
            (
                (
                    each.pyspark,
                    _shown(each.tables, each.failed),
                    _shown(each.streams, each.failed) if each.streams else "–",
                    *(each.pandas, each.numpy, each.pyarrow, each.numba),
                )
                for each in known
                if each.pyspark
            ),
        ),
        "packages": _table(
            _PACKAGES,
            ("Numba", "NumPy", "PyArrow", "pandas", "Polars", "tests"),
            (
                (each.numba, each.numpy, each.pyarrow, each.pandas, each.polars, _shown(each.tables, each.failed))
                for each in known
                if not each.pyspark
            ),
        ),
        "speeds": _table(_SPEEDS, ("PySpark", "windows", "frames"), _speed_rows(list(speeds))),
    }


def documented() -> dict[str, list[str]]:
    """Return the tables that the docs have."""
    text = DOCS.read_text()
    found = {}
    for name in tables((), ()):
        _, _, rest = text.partition(_mark(name, "begin"))
        found[name] = rest.partition(_mark(name, "end"))[0].strip().splitlines()
    return found


def _write_docs() -> None:
    text = DOCS.read_text()
    for name, lines in tables(load_record(), load_speeds()).items():
        before, rest = text.split(_mark(name, "begin"))
        _, after = rest.split(_mark(name, "end"))
        shown = ["", *lines, ""] if lines else []
        text = "\n".join([before + _mark(name, "begin"), *shown, _mark(name, "end") + after])
    DOCS.write_text(text)


def _mark(name: str, place: str) -> str:
    return f"<!-- {name}: {place} -->"


def _table(before: str, head: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a table, and before it some lines of text; nothing if there are no rows."""
    given = list(rows)
    if not given:
        return []
    lines = [f"| {' | '.join(each)} |" for each in (head, ["---"] * len(head), *given)]
    return [*before.splitlines(), "", *lines] if before else lines


def _shown(passed: int, failed: int) -> str:
    return f"{passed} tests pass" if not failed else f"{passed} tests pass, {failed} fail"


def _speed_rows(speeds: list[Speed]) -> Iterable[Iterable[str]]:
    """Return seconds, and speeds relative to the newest version."""
    names = [each.name for each in fields(Speed) if each.name.endswith("_seconds")]
    for each in speeds:
        pairs = ((getattr(each, name), getattr(speeds[-1], name)) for name in names)
        yield (each.pyspark, *(f"{own:.2f} s ({newest / own:.2f})" for own, newest in pairs))
