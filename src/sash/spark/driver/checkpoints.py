"""Refuse a checkpoint that was written with another `flush`, before the query starts.

`flush` adds a source and changes the time mode of Spark's timers. Spark fails on either with an assertion, before any
code of sash runs. So sash reads the checkpoint as soon as its path is known: when the user starts the query.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from sash.errors import InvalidState
from sash.spark.driver.schema import column
from sash.spark.state.snapshot_log import STATE_VARIABLE

__all__ = ["select_columns", "with_checkpoint_check"]

_OPTION, _SETTING = "checkpointlocation", "spark.sql.streaming.checkpointLocation"
_WITH_TIMERS = "EventTime"


def with_checkpoint_check(results: DataFrame, flushes: bool) -> DataFrame:
    """Return the same results with a `writeStream` that refuses a checkpoint that was written with another `flush`.

    A DataFrame that is derived from them, by a `select` for example, is Spark's own and has no such check.
    """
    kind: Any = type(results)
    results.__class__ = _checked_results(kind)
    results._sash_flushes = flushes
    return results


def select_columns(results: Any, names: Sequence[str]) -> DataFrame:
    """Return some columns of results, with the same check."""
    chosen = results.select(*map(column, names))
    return with_checkpoint_check(chosen, results._sash_flushes) if results.isStreaming else chosen


def check_flush(session: Any, checkpoint: str, flushes: bool) -> None:
    """Refuse a checkpoint that was written with another `flush`; accept one that does not exist yet."""
    try:
        found = session.read.format("state-metadata").load(checkpoint).select("operatorProperties").collect()
    except PySparkException:
        return  # Spark cannot read it, and says so when the query starts
    for (text,) in found:
        properties = json.loads(text) if text else {}
        if STATE_VARIABLE[0] in [each.get("stateName") for each in properties.get("stateVariables", ())]:
            was = properties.get("timeMode") == _WITH_TIMERS
            if was != flushes:
                raise InvalidState.flush(checkpoint, was)


@cache
def _checked_results(kind: Any) -> type:
    """Return a subclass of a DataFrame class, classic or Connect, whose writer checks its checkpoint."""

    class Results(kind):  # type: ignore[misc]
        @property
        def writeStream(self) -> Any:
            writer: Any = super().writeStream
            plain: Any = type(writer)
            writer.__class__ = _checked_writer(plain)
            writer._sash_given = (self.sparkSession, self._sash_flushes)
            writer._sash_options = {}
            return writer

    return _named_as(Results, kind)


@cache
def _checked_writer(kind: Any) -> type:
    class Writer(kind):  # type: ignore[misc]
        def option(self, key: str, value: Any) -> Any:
            self._sash_options[key.lower()] = value
            return super().option(key, value)

        def options(self, **options: Any) -> Any:
            self._sash_options |= {key.lower(): value for key, value in options.items()}
            return super().options(**options)

        def queryName(self, queryName: str) -> Any:
            self._sash_options["queryname"] = queryName
            return super().queryName(queryName)

        def start(self, *given: Any, **options: Any) -> Any:
            self._sash_check(options)
            return super().start(*given, **options)

        def toTable(self, *given: Any, **options: Any) -> Any:
            self._sash_check(options)
            return super().toTable(*given, **options)

        def _sash_check(self, options: dict[str, Any]) -> None:
            session, flushes = self._sash_given
            given = self._sash_options | {key.lower(): value for key, value in options.items()}
            checkpoint, folder = given.get(_OPTION), session.conf.get(_SETTING, None)
            if checkpoint is None and folder and given.get("queryname"):
                checkpoint = f"{folder}/{given['queryname']}"
            if checkpoint is not None:
                check_flush(session, str(checkpoint), flushes)

    return _named_as(Writer, kind)


def _named_as(kind: Any, other: type) -> type:
    """Give a class the name of another, so that users and Spark see the class that they know."""
    kind.__module__, kind.__name__, kind.__qualname__ = other.__module__, other.__name__, other.__qualname__
    return kind  # type: ignore[no-any-return]
