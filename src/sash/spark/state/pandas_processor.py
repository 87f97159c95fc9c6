"""A processor of rows behind Spark 4.0's state operator, which has pandas DataFrames only.

Whole numbers that can be null would arrive as floats, so positions travel as text. Like the processor that it wraps,
this module is pickled by value and imports nothing of sash.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

__all__ = ["PandasProcessor"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])


class PandasProcessor(StatefulProcessor):
    """Give a processor the rows of pandas DataFrames, and return its rows as DataFrames.

    `texts` are the columns that travel as text, and `read` reads such a text.
    """

    def __init__(
        self, processor: StatefulProcessor, texts: Sequence[str], read: type[int] | type[float], results: Sequence[str]
    ) -> None:
        self._processor, self._texts, self._read, self._results = processor, tuple(texts), read, list(results)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._processor.init(handle)

    def handleInitialState(self, key: Any, initialState: Any, timerValues: TimerValues) -> None:
        for row in self._rows(initialState):
            self._processor.handleInitialState(_plain(key), row, timerValues)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Any]:
        given = (row for frame in rows for row in self._rows(frame))
        return self._frames(self._processor.handleInputRows(_plain(key), given, timerValues))

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Any]:
        return self._frames(self._processor.handleExpiredTimer(_plain(key), timerValues, expiredTimerInfo))

    def close(self) -> None:
        self._processor.close()

    def _rows(self, frame: Any) -> Iterator[dict[str, Any]]:
        for row in frame.to_dict("records"):
            for name in self._texts:
                text = row[name]
                row[name] = self._read(text) if isinstance(text, str) else None
            yield row

    def _frames(self, rows: Iterable[Any]) -> Iterator[Any]:
        found = [tuple(row) for row in rows]
        if found:
            yield pd.DataFrame(found, columns=self._results, dtype=object)  # whole numbers with nulls stay whole


def _plain(key: Any) -> tuple[int]:
    """Return the number of a bucket as an integer of Python; PySpark 4.0 gives one of NumPy."""
    (bucket,) = key
    return (int(bucket),)
