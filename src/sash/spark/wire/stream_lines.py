"""What a map task of a micro-batch sends to every bucket."""

import pyarrow as pa

from sash.windows.measure import Measure

__all__ = ["FAR", "LINE", "piece_columns", "sent_schema"]

# Rows that claim to be of a time that has not come: they are told apart by a column that no user's table has.
FAR = "sash is far"
# What a bucket is told by a line, beside its number.
LINE = ("task", "number", "rows", "newest", "piece")


def sent_schema(measure: Measure) -> pa.Schema:
    """What is shuffled."""
    return pa.schema(
        [
            ("bucket", pa.int32()),
            ("task", pa.int32()),
            ("number", pa.int32()),
            ("rows", pa.int32()),
            ("newest", pa.from_numpy_dtype(measure.dtype)),  # null: the task had no row with a position
            ("piece", pa.binary()),
        ]
    )


def piece_columns(schema: pa.Schema, has_far: bool) -> pa.Schema:
    """The columns of a piece."""
    return schema.append(pa.field(FAR, pa.bool_())) if has_far else schema
