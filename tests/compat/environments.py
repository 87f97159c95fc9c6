"""The environments of `make compat`, and the record of its last run."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = [
    "ENVIRONMENTS",
    "LOCKS",
    "RECORD",
    "Environment",
    "Outcome",
    "documented",
    "load_record",
    "markdown",
    "save_record",
    "write_docs",
]

ROOT = Path(__file__).parents[2]
LOCKS = Path(__file__).parent / "locks"
DOCS = ROOT / "docs" / "spark.md"
_BEGIN, _END = "<!-- versions: begin -->", "<!-- versions: end -->"
RECORD = ROOT / "src" / "sash" / "cli" / "tested_versions.json"


@dataclass(frozen=True)
class Environment:
    """Versions that are tested together; a lock file pins all others."""

    pyspark: str
    pandas: str
    has_streams: bool = True

    @property
    def name(self) -> str:
        return f"pyspark-{self.pyspark}-pandas-{self.pandas}"

    @property
    def lock(self) -> Path:
        return LOCKS / f"{self.name}.lock"


ENVIRONMENTS = (
    Environment("3.5.9", "2.3", has_streams=False),
    Environment("4.0.5", "2.3"),
    Environment("4.1.4", "2.3"),
    Environment("4.2.1", "2.3"),
    Environment("4.3.0", "2.3"),
    Environment("4.3.0", "3.1"),
)


@dataclass(frozen=True)
class Outcome:
    """The tests of one environment: how many passed, and the versions that it had."""

    pyspark: str
    pandas: str
    numpy: str
    pyarrow: str
    numba: str
    python: str
    tables: int  # tests that passed
    streams: int
    failed: int


def load_record() -> list[Outcome]:
    """Return the outcomes of the last run."""
    return [Outcome(**each) for each in json.loads(RECORD.read_text())]


def save_record(outcomes: list[Outcome]) -> None:
    """Write the outcomes of a run."""
    RECORD.write_text(json.dumps([asdict(each) for each in outcomes], indent=2) + "\n")


def markdown(outcomes: list[Outcome]) -> list[str]:
    """Return the table of versions of the docs."""
    lines = [
        "| PySpark | tables | streams | pandas | NumPy | PyArrow | Numba |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for each in outcomes:
        tables = _shown(each.tables, each.failed)
        streams = _shown(each.streams, each.failed) if each.streams else "–"
        versions = each.pandas, each.numpy, each.pyarrow, each.numba
        lines.append(f"| {each.pyspark} | {tables} | {streams} | {' | '.join(versions)} |")
    return lines


def documented() -> list[str]:
    """Return the table of versions that the docs have."""
    lines = DOCS.read_text().splitlines()
    return [each for each in lines[lines.index(_BEGIN) + 1 : lines.index(_END)] if each]


def write_docs() -> None:
    """Write the table of versions into the docs."""
    before, rest = DOCS.read_text().split(_BEGIN)
    _, after = rest.split(_END)
    DOCS.write_text("\n".join([before + _BEGIN, "", *markdown(load_record()), "", _END + after]))


def _shown(passed: int, failed: int) -> str:
    return f"{passed} tests pass" if not failed else f"{passed} tests pass, {failed} fail"
