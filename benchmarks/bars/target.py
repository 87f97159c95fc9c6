"""A target: a limit that measured values must reach, and the bars that compare them with it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from benchmarks.records import Bar, Record, Report
from benchmarks.spark_tables.subjects import SASH

__all__ = [
    "FRAMES",
    "WIDE",
    "Pick",
    "Target",
    "at_least",
    "at_most",
    "bars_of",
    "by_copy",
    "by_value",
    "growth",
    "of_sash",
    "pick_of",
    "resolve",
    "select_records",
    "spread",
]

# Wanted values by field or parameter of a record: a value, a tuple or range of values, or `min` or `max` for the
# smallest or the largest value.
Pick = dict[str, Any]
Measured = tuple[Record, Record | None, float]  # a record, the peer that it is divided by, and the quotient
FIELDS = {each.name for each in fields(Record)}


class Unknown:
    """The value of a parameter that no record gives."""

    def __format__(self, spec: str) -> str:
        return "–"


def by_value(record: Record) -> float | None:
    """Return the measured value."""
    return record.value


def by_copy(record: Record) -> float | None:
    """Return the speed as a part of the speed of a copy."""
    return record.ratio


def first(values: Sequence[float]) -> float:
    """Return the first value."""
    return values[0]


def spread(values: Sequence[float]) -> float | None:
    """Return the largest value over the smallest."""
    return max(values) / min(values) if len(values) > 1 and min(values) else None


def growth(values: Sequence[float]) -> float | None:
    """Return the last value over the first."""
    return values[-1] / values[0] if len(values) > 1 and values[0] else None


@dataclass(frozen=True)
class Target:
    """A limit that a measured value, or its ratio to the value of a peer, must reach.

    Of several peers, the one with the highest value counts. `{parameter}` in the name is replaced by its value.
    """

    experiment: str  # empty: all of them
    name: str
    required: float
    of: Pick
    over: Pick | None = None
    at_most: bool = False
    unit: str = "×"
    each: str = ""  # a bar for each value of this parameter
    along: str = ""  # a series over this parameter; a peer has the same value of it
    value: Callable[[Record], float | None] = by_value
    reduce: Callable[[Sequence[float]], float | None] = first
    remark: Callable[[Report], str] | None = None

    def bars(self, report: Report) -> Iterator[Bar]:
        """Yield a bar, or one for each value of a parameter."""
        records = [record for record in report.records if self.experiment in ("", record.experiment)]
        if not self.each:
            yield self._bar(report, records, {})
            return
        alike = select_records(records, {name: wanted for name, wanted in self.of.items() if name == "aggregate"})
        for value in dict.fromkeys(record.get(self.each) for record in alike):
            if value is not None:
                yield self._bar(report, select_records(records, {self.each: value}), {self.each: value})

    def _bar(self, report: Report, records: list[Record], shape: Pick) -> Bar:
        of = resolve(records, self.of)
        found = list(self._measured(records, of))
        measured = self.reduce([value for _, _, value in found]) if found else None
        shown = {name: Unknown() if value == () else value for name, value in (of | shape).items()}
        remarks = [", ".join(self._values(found)), self.remark(report) if self.remark else ""]
        note = "; ".join(each for each in remarks if each)
        return Bar(self.name.format(**shown), self.required, measured, self.unit, self.at_most, note)

    def _measured(self, records: list[Record], of: Pick) -> Iterator[Measured]:
        for record in select_records(records, of):
            value, peer = self.value(record), None
            if self.over is not None:
                wanted = resolve(records, self.over) | ({self.along: record.get(self.along)} if self.along else {})
                peer = max(select_records(records, wanted), key=lambda each: each.value or 0.0, default=None)
                value = value / peer.value if peer is not None and peer.value and value is not None else None
            if value is not None:
                yield record, peer, value

    def _values(self, found: Sequence[Measured]) -> Iterator[str]:
        """Return the values behind the bar as text."""
        if self.along:
            unit = f" {found[0][0].unit}" if found and self.over is None and self.value is by_value else ""
            yield from (f"{value:.3g}{unit} at {record.get(self.along):,}" for record, _, value in found)
        elif self.reduce is not first:
            yield f"{len(found)} comparisons"
        elif found:
            known = [each for each in found[0][:2] if each is not None and each.value is not None]
            yield from (f"{each.subject} {each.mark}{each.value:.3g} {each.unit}" for each in known)


def bars_of(targets: Iterable[Target], report: Report) -> tuple[Bar, ...]:
    """Return the bars of all targets whose experiment is in the report."""
    ran = {record.experiment for record in report.records}
    bars: list[Bar] = []
    for target in targets:
        if target.experiment in ran:
            bars += target.bars(report)
        elif not target.experiment:
            bars += [bar for bar in target.bars(report) if bar.measured is not None]
    return tuple(bars)


def select_records(records: Iterable[Record], pick: Pick) -> list[Record]:
    """Return the records that have the wanted values."""
    return [record for record in records if all(_fits(record, name, wanted) for name, wanted in pick.items())]


def _fits(record: Record, name: str, wanted: Any) -> bool:
    given = getattr(record, name) if name in FIELDS else record.get(name)
    return given in wanted if isinstance(wanted, tuple | range) else given == wanted


def resolve(records: list[Record], pick: Pick, least: int = 2) -> Pick:
    """Replace `min` and `max` by the smallest and the largest value; if there are too few values, no record fits."""
    plain = {name: wanted for name, wanted in pick.items() if wanted not in (min, max)}
    others = select_records(records, {name: wanted for name, wanted in plain.items() if name not in FIELDS})
    for name in pick.keys() - plain.keys():
        values = {int(record.get(name) or 0) for record in others}
        plain[name] = pick[name](values) if len(values) >= least else ()
    return plain


def pick_of(subject: str | tuple[str, ...], **shape: Any) -> Pick:
    """Return the wanted values of a subject."""
    return {"subject": subject, **shape}


at_least = Target
at_most = partial(Target, at_most=True)
of_sash = partial(pick_of, SASH)
WIDE: dict[str, Any] = {"along": "width", "reduce": min}
FRAMES = (
    ("centered", "at the row", 0.8),
    ("offset", "at the row", 0.8),
    ("range centered", "range at the row", 0.8),
    ("exclude", "at the row", 0.3),
    ("groups", "range at the row", 0.3),
)
