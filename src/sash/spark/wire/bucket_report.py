"""What a bucket reports of the rows of a micro-batch besides its figures: positions, lateness, keys, reasons.

Spark keeps the report in its progress, which it also writes to its log. So a report is a short text: it counts a sample
of the rows, and contains no row.
"""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.windows.measure import Measure

__all__ = ["BINS", "BucketReport", "report_of"]

BINS = 4  # of lateness per octave
SAMPLED = 2048  # rows of a micro-batch
QUANTILES = 9  # of positions, the first and the last included
MOST_KEYS = 3
MOST_TEXT = 100  # characters of one value of a key


@dataclass(frozen=True)
class BucketReport:
    """Rows of one bucket in one micro-batch; keys and lateness are those of a sample.

    >>> report = BucketReport(3, 10, ((("a",), 7),), (1, 9), 8, ((-4, 2),), (("it has no position", 1),))
    >>> BucketReport.from_text(report.to_text()) == report
    True
    """

    bucket: int
    rows: int
    keys: tuple[tuple[tuple[str, ...], int], ...]  # texts of the busiest keys, with about their rows
    positions: tuple[Any, ...]  # quantiles at equal distances; empty without rows with a position
    on_time: int  # rows that are not behind the newest row of the micro-batches before
    behind: tuple[tuple[int, int], ...]  # (i, rows): behind it by 2 ** (i / BINS) or more, up to i + 1
    rejected: tuple[tuple[str, int], ...]  # reasons, with all rejected rows

    @property
    def sampled(self) -> int:
        """The number of rows with a position in the sample."""
        return self.on_time + sum(rows for _, rows in self.behind)

    def to_text(self) -> str:
        """Return the report as a line of JSON."""
        return json.dumps(astuple(self), separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "BucketReport":
        """Read a report."""
        return cls(*(_as_tuple(each) for each in json.loads(text)))


def report_of(
    bucket: int, rows: pa.Table, far_rows: int, reasons: Any, newest: Any, on: str, by: Sequence[str], measure: Measure
) -> BucketReport:
    """Report the rows of a micro-batch and the reasons of rejected ones; `newest` is that of the micro-batches before.

    >>> from sash.windows.measure import MeasureKind
    >>> table = pa.table({"t": [5, 9, 20, None], "k": ["a", "a", "b", "b"]})
    >>> found = report_of(0, table, 0, pa.array(["late"]), 10, "t", ["k"], Measure(MeasureKind.INTEGER))
    >>> found.keys, found.on_time, found.behind, found.positions[0], found.positions[-1]
    (((('a',), 2), (('b',), 2)), 1, ((0, 1), (9, 1)), 5, 20)
    """
    count = rows.num_rows
    step = max(1, -(-count // SAMPLED))
    sample = rows.select(list(dict.fromkeys([on, *by]))).take(pa.array(np.arange(0, count, step)))
    positions, valid = measure.positions(sample.column(0), on)
    positions = positions if valid is None else positions[valid]
    behind = newest - positions[positions < newest] if newest > measure.lowest else positions[:0]
    bins, counts = np.unique(np.floor(np.log2(behind.astype(np.float64)) * BINS).astype(np.int64), return_counts=True)
    ranks = np.linspace(0, len(positions) - 1, QUANTILES).round().astype(np.int64)
    quantiles = np.sort(positions)[ranks].tolist() if len(positions) else []
    rejected = pc.value_counts(reasons)
    return BucketReport(
        bucket,
        count + far_rows,
        _busiest(sample.select(list(by)), step),
        tuple(quantiles),
        len(positions) - len(behind),
        tuple(zip(bins.tolist(), counts.tolist(), strict=True)),
        tuple(zip(rejected.field(0).to_pylist(), rejected.field(1).to_pylist(), strict=True)),
    )


def _busiest(keys: pa.Table, step: int) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Return the keys with the most rows, as texts; each row of the sample stands for `step` rows."""
    if not keys.num_columns or not keys.num_rows:
        return ()
    names = keys.column_names
    try:
        counts = keys.group_by(names, use_threads=False).aggregate([([], "count_all")])
    except pa.ArrowNotImplementedError:  # nested keys
        return ()
    top = counts.take(pc.select_k_unstable(counts, MOST_KEYS, [("count_all", "descending")]))
    texts = zip(*(_texts(top.column(name)) for name in names), strict=True)
    rows = (step * count for count in top.column("count_all").to_pylist())
    return tuple(sorted(zip(texts, rows, strict=True), key=lambda each: (-each[1], each[0])))


def _texts(column: Any) -> list[str]:
    try:
        texts = column.cast(pa.string()).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        texts = [None if value is None else str(value) for value in column.to_pylist()]
    return ["null" if each is None else each[:MOST_TEXT] for each in texts]


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
