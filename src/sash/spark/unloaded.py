"""A processor that is taken apart on the way: Spark starts a process of its own on the driver, for every query, to ask
which variables a processor keeps. That one need not import all of sash for three names.

So this module travels as text, and may use nothing of sash: what it wraps stays packed until there are rows.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

__all__ = ["Unloaded"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Unloaded(StatefulProcessor):
    """Declares what a processor keeps, by the method of the handle and its arguments; loads it for the first rows."""

    def __init__(self, processor: StatefulProcessor, variables: Mapping[str, tuple[str, tuple[str, ...]]]) -> None:
        self._packed: bytes = cloudpickle.dumps(processor)
        self._variables = variables
        self._loaded: StatefulProcessor | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        known = {name: getattr(handle, method)(name, *given) for name, (method, given) in self._variables.items()}
        self._handle = _Declared(handle, known)

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
            # Code on its way within one query, as Spark itself sends it; state has a format of its own (journal.py).
            self._loaded = cloudpickle.loads(self._packed)
            self._loaded.init(self._handle)
        return self._loaded


class _Declared:
    """A handle whose variables are known already."""

    def __init__(self, handle: StatefulProcessorHandle, known: Mapping[str, Any]) -> None:
        self._handle, self._known = handle, known

    def __getattr__(self, method: str) -> Any:
        if method in ("getValueState", "getMapState"):
            return lambda name, *schemas: self._known[name]
        return getattr(self._handle, method)
