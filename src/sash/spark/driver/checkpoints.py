"""Before a query starts: whether its checkpoint was written with the same `flush`.

`flush` adds a source and the time mode of Spark's timers. Spark would fail on either with an assertion of its own,
before any code of sash runs, so the checkpoint is looked at where it is first known: when the results are written.
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

__all__ = ["checked", "selected"]

_OPTION, _SETTING = "checkpointlocation", "spark.sql.streaming.checkpointLocation"
_WITH_TIMERS = "EventTime"


def checked(results: DataFrame, flushes: bool) -> DataFrame:
    """The same results, whose `writeStream` refuses a checkpoint that was written with another `flush`.

    What is made of them, by a `select` for example, is a DataFrame of Spark's own, and has Spark's own refusal.
    """
    kind: Any = type(results)
    results.__class__ = _checked_results(kind)
    results._sash_flushes = flushes
    return results


def selected(results: Any, names: Sequence[str]) -> DataFrame:
    """Some columns of results, which are results as well."""
    chosen = results.select(*map(column, names))
    return checked(chosen, results._sash_flushes) if results.isStreaming else chosen


def check_flush(session: Any, checkpoint: str, flushes: bool) -> None:
    """Refuse a checkpoint that was written with another `flush`; one that is not there yet fits."""
    try:
        found = session.read.format("state-metadata").load(checkpoint).select("operatorProperties").collect()
    except PySparkException:
        return  # no checkpoint that Spark can read: it says so itself, when the query starts
    for (text,) in found:
        properties = json.loads(text) if text else {}
        if STATE_VARIABLE[0] in [each.get("stateName") for each in properties.get("stateVariables", ())]:
            was = properties.get("timeMode") == _WITH_TIMERS
            if was != flushes:
                raise InvalidState.flush(checkpoint, was)


@cache
def _checked_results(kind: Any) -> type:
    """The class of DataFrames, of a session or of Spark Connect, with a writer that looks at its checkpoint."""

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
            told = self._sash_options | {key.lower(): value for key, value in options.items()}
            checkpoint, folder = told.get(_OPTION), session.conf.get(_SETTING, None)
            if checkpoint is None and folder and told.get("queryname"):
                checkpoint = f"{folder}/{told['queryname']}"
            if checkpoint is not None:
                check_flush(session, str(checkpoint), flushes)

    return _named_as(Writer, kind)


def _named_as(kind: Any, other: type) -> type:
    """Under the other's name: to whoever asks, it is what it was."""
    kind.__module__, kind.__name__, kind.__qualname__ = other.__module__, other.__name__, other.__qualname__
    return kind  # type: ignore[no-any-return]
