"""Positions of the rows of a table."""

from typing import Any

import numpy as np
import pyarrow as pa

from sash.windows.measure import Measure

__all__ = ["positions_in"]


def positions_in(table: pa.Table, on: str, measure: Measure) -> Any:
    """Return the positions of rows; a row without one gets the lowest."""
    positions, valid = measure.positions(table.column(on), on)
    return positions if valid is None else np.where(valid, positions, measure.dtype.type(measure.lowest))
