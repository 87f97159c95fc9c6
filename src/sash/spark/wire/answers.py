"""What a bucket answers in a micro-batch: packed results, and figures that Spark observes."""

import pyarrow as pa

from sash.windows.measure import Measure

__all__ = ["FIGURES", "OBSERVED", "answer_schema"]

# The name of the observed figures begins with it.
OBSERVED = "sash"
# Counts of each bucket in a micro-batch: the sum over buckets is the figure of the query.
FIGURES = (
    "rows",
    "late",
    "late_rows",
    "results",
    "slices",
    "keys",
    "open_windows",
    "combines",
    "state_bytes",
    "written_bytes",
)


def answer_schema(measure: Measure) -> pa.Schema:
    """Return the columns of an answer: packed results, and figures of the micro-batch."""
    position = pa.from_numpy_dtype(measure.dtype)
    return pa.schema(
        [
            ("data", pa.binary()),
            *((name, position) for name in ("watermark", "newest", "next_end")),
            *((name, pa.int64()) for name in FIGURES),
        ]
    )
