"""Keys as texts, in one way everywhere on the page."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["SEPARATOR", "key_texts"]

SEPARATOR = " / "


def key_texts(columns: Sequence[Any], rows: int) -> pa.StringArray:
    """Return the text of each row's key; without columns, every text is empty.

    >>> key_texts([pa.array([3, None]), pa.array(["a", "b"])], 2).to_pylist()
    ['3 / a', 'null / b']
    >>> key_texts([], 1).to_pylist()
    ['']
    """
    if not columns:
        return pa.array([""] * rows, pa.string())
    parts = [_texts(each) for each in columns]
    joined = parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, SEPARATOR)
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


def _texts(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        texts = column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # binaries that are no text, nested types
        texts = pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
    return texts.fill_null("null")
