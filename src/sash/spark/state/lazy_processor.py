"""A processor that imports sash only for the first rows.

For every query, Spark starts a process on the driver to ask which state variables a processor has. That process need
not import all of sash for one name. So this module is pickled by value, as `worker/loading.py` is, and the processor
that it wraps stays pickled until there are rows.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)
from pyspark.sql.types import StructType

from sash.spark.worker.loading import load

__all__ = ["LazyProcessor"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])

_TALKATIVE = "pyspark.sql.streaming.transform_with_state_driver_worker"  # the process on the driver, which prints pages


class LazyProcessor(StatefulProcessor):
    """Declare the one map of a processor, by its name and schemas; load the processor for the first rows."""

    def __init__(
        self, processor: StatefulProcessor, variable: tuple[str, StructType, StructType], lacking: str
    ) -> None:
        self._packed: bytes = cloudpickle.dumps(processor)
        self._variable, self._lacking = variable, lacking
        self._loaded: StatefulProcessor | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = _KnownMapHandle(handle, handle.getMapState(*self._variable))

    def handleInitialState(self, key: Any, initialState: Any, timerValues: TimerValues) -> None:
        self._processor().handleInitialState(key, initialState, timerValues)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Any]:
        return self._processor().handleInputRows(key, rows, timerValues)  # type: ignore[no-any-return]

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[Any]:
        return self._processor().handleExpiredTimer(key, timerValues, expiredTimerInfo)  # type: ignore[no-any-return]

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()

    def _processor(self) -> StatefulProcessor:
        if self._loaded is None:
            # Code of this query, as Spark itself sends it; state has its own format (snapshot_log.py).
            loaded: StatefulProcessor = load(self._packed, self._lacking)
            loaded.init(self._handle)
            self._loaded = loaded
        return self._loaded

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        running = getattr(sys.modules.get("__main__"), "__spec__", None)
        if running is not None and running.name == _TALKATIVE:
            # Its prints go to the JVM and from there to the terminal of the user; results go through a socket.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class _KnownMapHandle:
    """A handle whose map is declared already."""

    def __init__(self, handle: StatefulProcessorHandle, known: MapState) -> None:
        self._handle, self._known = handle, known

    def getMapState(self, *_given: Any) -> MapState:
        return self._known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)
