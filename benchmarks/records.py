"""Measured values, the targets they are compared with, and the report of a run: as JSON and as tables."""

import json
import math
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from sash.cli.table import Table

__all__ = ["Bar", "Machine", "Parameters", "Record", "Report", "Value", "parameters"]

FORMAT = 1  # of the JSON; other formats raise an error
Value = int | float | str
Parameters = tuple[tuple[str, Value], ...]


def parameters(**named: Value) -> Parameters:
    """Return the parameters of a measurement as a sorted tuple.

    >>> parameters(window=16, slide=1)
    (('slide', 1), ('window', 16))
    """
    return tuple(sorted(named.items()))


@dataclass(frozen=True)
class Record:
    """One measured value; None if it was not measured, with the reason in the note."""

    experiment: str
    subject: str  # an algorithm, a peer, the copy
    metric: str
    value: float | None
    unit: str
    aggregate: str = ""
    parameters: Parameters = ()
    ratio: float | None = None  # speed, where the yardstick of the suite is 1: a copy of the same bytes, or a peer
    note: str = ""
    mark: str = ""  # before the value: > if the run was stopped at this value, ≈ if it is scaled up from fewer rows

    def get(self, name: str) -> Value | None:
        """Return the parameter of that name, or None."""
        return dict(self.parameters).get(name)


@dataclass(frozen=True)
class Bar:
    """A target and the measured value, which must be at least or at most the required one."""

    name: str
    required: float
    measured: float | None
    unit: str = "×"
    at_most: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        """Return pass, miss, or not measured."""
        if self.measured is None:
            return "not measured"
        kept = self.measured <= self.required if self.at_most else self.measured >= self.required
        return "pass" if kept else "miss"

    @property
    def limit(self) -> str:
        """Return the required value with its sign and unit."""
        return f"{'≤' if self.at_most else '≥'} {_number(self.required)} {self.unit}".strip()

    @property
    def found(self) -> str:
        """Return the measured value with its unit."""
        return "–" if self.measured is None else f"{_number(self.measured)} {self.unit}".strip()


@dataclass(frozen=True)
class Machine:
    """The hardware and software of a run, without the name of the machine."""

    cpu: str
    cores: int
    system: str
    python: str
    versions: tuple[tuple[str, str], ...]
    date: str

    @classmethod
    def here(cls, packages: Iterable[str] = ("numba", "numpy")) -> "Machine":
        """Describe this machine; leave out packages that are not installed."""
        return cls(
            cpu=_cpu(),
            cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            system=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
            versions=tuple(_versions(packages)),
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
        )

    def __str__(self) -> str:
        packages = ", ".join(f"{name} {version}" for name, version in self.versions)
        return f"{self.cpu}, {self.cores} cores, {self.system}, Python {self.python}, {packages}, {self.date}"


@dataclass(frozen=True)
class Report:
    """The results of one run."""

    name: str
    machine: Machine
    records: tuple[Record, ...]
    bars: tuple[Bar, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def select(self, experiment: str, **wanted: Any) -> list[Record]:
        """Return the records of an experiment that have the wanted fields and parameters."""
        return [
            record
            for record in self.records
            if record.experiment == experiment
            and all((getattr(record, k) if hasattr(record, k) else record.get(k)) == v for k, v in wanted.items())
        ]

    # --- as JSON ---------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return JSON that `from_json` reads back as an equal report."""
        content = {"format": FORMAT, **asdict(self)}
        content["machine"]["versions"] = dict(self.machine.versions)
        for record in content["records"]:
            record["parameters"] = dict(record["parameters"])
            record.update({key: _finite(record[key]) for key in ("value", "ratio")})
        for bar, own in zip(content["bars"], self.bars, strict=True):
            bar["measured"] = _finite(own.measured)
            bar["verdict"] = own.verdict
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read what `to_json` wrote."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(
                    f"The report has format {content['format']!r}, and this version reads format {FORMAT}."
                )
            machine = {**content["machine"], "versions": tuple(content["machine"]["versions"].items())}
            records = tuple(
                Record(**{**each, "parameters": parameters(**each["parameters"])}) for each in content["records"]
            )
            bars = tuple(Bar(**{key: each[key] for key in each if key != "verdict"}) for each in content["bars"])
            numbers = [*((each.value, each.ratio) for each in records), *((bar.required, bar.measured) for bar in bars)]
            if not all(each is None or isinstance(each, int | float) for pair in numbers for each in pair):
                raise TypeError("A measured value must be a number.")
            return cls(content["name"], Machine(**machine), records, bars, tuple(content["notes"]))
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"This is not a report of a benchmark: {text[:40]!r}. Run the benchmark again.") from error

    # --- as tables -------------------------------------------------------------------------------

    def tables(self) -> Iterator[Table]:
        """Return a table per experiment, aggregate and unit, then the bars."""
        groups: dict[tuple[str, str, str], list[Record]] = {}
        for record in self.records:
            groups.setdefault((record.experiment, record.aggregate, record.unit), []).append(record)
        for (experiment, aggregate, unit), records in groups.items():
            title = experiment + (f" of {aggregate}" if aggregate else "")
            yield from _crossed(title, unit, records)
        if self.bars:
            yield self.bar_table()

    def bar_table(self) -> Table:
        """Return the bars as a table."""
        rows = tuple((bar.name, bar.limit, bar.found, bar.verdict, bar.note) for bar in self.bars)
        return Table("bars", ("bar", "required", "measured", "verdict", "note"), rows)

    def text(self) -> str:
        """Return everything as plain text."""
        parts = [f"{self.name}\n{self.machine}", *(f"note: {note}" for note in self.notes)]
        return "\n\n".join([*parts, *(table.text() for table in self.tables())]) + "\n"


def _crossed(title: str, unit: str, records: list[Record]) -> Iterator[Table]:
    """Write subjects as rows; as columns the metrics, or the parameter that has more values than there are metrics."""
    names = sorted({name for record in records for name, _ in record.parameters})
    values = {name: _distinct(record.get(name) for record in records) for name in names}
    metrics = _distinct(record.metric for record in records)
    across = max(names, key=lambda name: len(values[name]), default="")
    if len(metrics) > len(values.get(across, [])):
        yield _table(f"{title} [{unit}]", records, names, lambda record: record.metric, "")
        return
    for metric in metrics:
        own = [record for record in records if record.metric == metric]
        yield _table(f"{title}: {metric} [{unit}]", own, names, lambda record: record.get(across), across)


def _table(title: str, records: list[Record], names: list[str], head: Callable[[Record], Any], across: str) -> Table:
    """Show parameters that vary beside the subject, and the others in the title."""
    heads = _distinct(map(head, records))
    beside, fixed = [], []
    for name in names:
        pairs = {(head(record), record.get(name)) for record in records}
        if name == across:
            continue
        if len({value for _, value in pairs}) == 1:
            fixed.append(f"{name} {_number(records[0].get(name))}")
        elif len(pairs) > len(heads):  # else the heading shows it already
            beside.append(name)
    cells: dict[tuple[str, ...], dict[Any, str]] = {}
    for record in records:
        row = (record.subject, *(_number(record.get(name)) for name in beside))
        cells.setdefault(row, {})[head(record)] = _cell(record)
    columns = tuple(f"{across} {_number(each)}".strip() for each in heads)
    rows = tuple((*row, *(found.get(each, "–") for each in heads)) for row, found in cells.items())
    return Table(", ".join([title, *fixed]), ("subject", *beside, *columns), rows)


def _cell(record: Record) -> str:
    if record.value is None:
        return "–"
    value = f"{record.mark} {_number(record.value)}".strip()
    return value + (f" ({record.ratio:.2f})" if record.ratio is not None else "")


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _number(value: Any) -> str:
    if value is None:
        return "–"
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _finite(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


def _cpu() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text()
    except OSError:
        facts = ""
    models = [line.partition(":")[2].strip() for line in facts.splitlines() if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _versions(packages: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in packages:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
