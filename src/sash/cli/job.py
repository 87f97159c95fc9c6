"""Job files: source, queries and sink of a Spark job, as TOML.

    [job]                                   [source]                              [sink]
    on = "ts"                               format = "parquet"                    format = "parquet"
    by = ["plug"]                           path = "${DATA}/plugs"                path = "${DATA}/windows"
    watermark = "10 seconds"                stream = true                         checkpoint = "${DATA}/checkpoint"
                                            schema = "ts timestamp, plug long"    trigger = "available now"
    [queries.hourly]
    window = { sliding = "1 hour", every = "1 minute" }
    peak = "max(load)"

A job is checked before Spark starts. The error for an unknown name lists the known ones.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sash
from sash import text as texts
from sash.cli.arguments import aggregates, unknown_aggregate
from sash.engine.options import length_of, options_of
from sash.errors import InvalidJob, SashError, UnknownKeyword, UnknownName
from sash.windows.duration import Duration, duration

__all__ = ["Job", "read_job"]

_OPTIONS = ("on", "by", "watermark", "allowed_lateness", "emit", "late", "flush", "max_future", "partial", "store")
_PARTS = {
    "job": ("name", "master", "text", *_OPTIONS),
    "source": ("format", "path", "stream", "schema", "options", "table"),
    "sink": ("format", "path", "checkpoint", "trigger", "mode", "options"),
}
_WINDOWS = {
    "tumbling": '{ tumbling = "10 minutes" }',
    "sliding": '{ sliding = "1 hour", every = "1 minute" }',
    "session": '{ session = "30 seconds" }',
    "punctuated": '{ punctuated = "is_start", end = "is_end" }',
    "cumulative": '{ cumulative = "1 day", every = "1 hour" }',
    "landmark": "{ landmark = { start = 2026-01-01, end = 2026-02-01 } }",
    "calendar": "{ calendar = [2026-01-01, 2026-02-01, 2026-03-15] }",
}
# The name of the Python argument that has the value of the kind, if it is not the first argument.
_VALUE_OF = {"session": "gap"}
_CHOICES = {
    "late": ("count", "keep"),
    "flush": ("at_end",),
    "partial": (True, False),
    "store": ("auto", "lazy", "eager"),
}
AVAILABLE_NOW = "available now"
# In the spellings of Spark: availableNow, available-now, once=True, processingTime='10 seconds', Trigger.Once().
_TRIGGER = re.compile(
    r"""\s*(?:trigger\.)?(available[\s_-]?now|once|processing[\s_-]?time|continuous|real[\s_-]?time)\b"""
    r"""\s*[=(:]?\s*['"]?(.*?)['"]?\)?\s*""",
    re.IGNORECASE,
)
_EXPECTED_TRIGGER = "'available now', or a duration such as '10 seconds'"
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_CALL = re.compile(r"\s*(\w+)\s*\(\s*(.*?)\s*\)\s*\Z", re.S)
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')""")
_ARGUMENT = re.compile(r"""\s*("[^"]*"|'[^']*'|[^,]+)\s*,?""")


@dataclass(frozen=True)
class Source:
    """The source of the rows: any format that Spark reads."""

    format: str
    path: str | None = None
    stream: bool = False
    schema: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    table: str = "rows"  # its name in query text


@dataclass(frozen=True)
class Sink:
    """The sink of the results: any format that Spark writes."""

    format: str = "console"
    path: str | None = None
    checkpoint: str | None = None
    trigger: str | None = None  # AVAILABLE_NOW, or a duration
    mode: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pause(self) -> Duration | None:
        """The time from one micro-batch to the next, if the trigger is a duration."""
        return None if self.trigger in (None, AVAILABLE_NOW) else duration(self.trigger)


@dataclass(frozen=True)
class Job:
    """The checked content of a job file."""

    path: Path
    source: Source
    sink: Sink
    options: Mapping[str, Any]  # of sash.aggregate
    queries: tuple[Any, ...] = ()
    text: str | None = None
    name: str = "sash"
    master: str | None = None
    spark: Mapping[str, Any] = field(default_factory=dict)


def read_job(path: Path, environment: Mapping[str, str] | None = None) -> Job:
    """Read and check a job file; replace variables such as ${DATA} or ${DATA:-/tmp} from the environment."""
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidJob.unreadable(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise InvalidJob.unreadable(path, "it is not UTF-8 text") from error
    try:
        given = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise InvalidJob.not_toml(path, str(error)) from error
    given = _fill_variables(given, os.environ if environment is None else environment, path)
    known = [*_PARTS, "queries", "spark"]
    for name in given:
        if name not in known:
            raise InvalidJob.unknown(path, "part", name, known)
    parts = {name: _table(path, given.get(name, {}), name) for name in known}
    for name, keys in _PARTS.items():
        for key in parts[name]:
            if key not in keys:
                other = next((part for part, others in _PARTS.items() if key in others), None)
                if other is not None:
                    raise InvalidJob.other_part(path, name, key, other)
                raise InvalidJob.unknown(path, f"key of [{name}]", key, keys)
    return _job(path, parts)


def _job(path: Path, parts: Mapping[str, dict[str, Any]]) -> Job:
    own = parts["job"]
    source = _part_of(path, Source, "source", parts["source"], "format")
    sink = _part_of(path, Sink, "sink", {**parts["sink"], **_trigger(path, parts["sink"])})
    _check_trigger(path, sink)
    if "text" not in own and not parts["queries"]:
        raise InvalidJob.no_queries(path)
    if "text" in own and parts["queries"]:
        raise InvalidJob.text_and_queries(path)
    if "on" not in own and "text" not in own:
        raise InvalidJob.missing(path, "job", "on", 'on = "ts"')
    if source.stream and sink.format not in ("console", "memory", "noop") and sink.checkpoint is None:
        raise InvalidJob.missing(path, "sink", "checkpoint", 'checkpoint = "…/checkpoint"')
    if "window" in parts["queries"]:
        raise InvalidJob.unnamed_query(path)
    queries = tuple(_query(path, name, _table(path, each, name)) for name, each in parts["queries"].items())
    options = {name: own[name] for name in _OPTIONS if name in own}
    _check_options(path, options)
    if "flush" in options and sink.pause is not None:
        expected = "'available now' with flush, which closes all windows when the source has no more rows"
        raise InvalidJob.wrong_type(path, "sink.trigger", sink.trigger, expected)
    settings = {name: own[name] for name in ("text", "name", "master") if name in own}
    for name, value in settings.items():
        if not isinstance(value, str):
            raise InvalidJob.wrong_type(path, f"job.{name}", value, "a string")
    if "text" in own:
        _check_text(path, own["text"], source.table)
    return Job(path, source, sink, options, queries, spark=parts["spark"], **settings)


def _trigger(path: Path, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the trigger in one spelling; Spark and its users have many.

    >>> _trigger(Path("job.toml"), {"trigger": {"processingTime": "10 seconds"}})
    {'trigger': '10 seconds'}
    >>> _trigger(Path("job.toml"), {"trigger": "availableNow"}), _trigger(Path("job.toml"), {"trigger": {"once": True}})
    ({'trigger': 'available now'}, {'trigger': 'available now'})
    """
    if "trigger" not in given:
        return {}
    value = given["trigger"]
    if isinstance(value, dict) and len(value) == 1:
        value = "{}={}".format(*next(iter(value.items())))
    if not isinstance(value, str):
        raise InvalidJob.wrong_type(path, "sink.trigger", value, _EXPECTED_TRIGGER)
    found = _TRIGGER.fullmatch(value)
    if found is None:  # a duration, or an error that is raised when it is read as one
        return {"trigger": value}
    kind, argument = re.sub(r"[\s_-]", "", found[1].lower()), found[2]
    if kind in ("continuous", "realtime"):
        raise InvalidJob.no_trigger(path, found[1])
    if kind == "processingtime":
        return {"trigger": argument}
    if argument.lower() not in ("", "true"):
        raise InvalidJob.wrong_type(path, "sink.trigger", given["trigger"], _EXPECTED_TRIGGER)
    return {"trigger": AVAILABLE_NOW}


def _check_trigger(path: Path, sink: Sink) -> None:
    try:
        is_one = sink.pause is None or sink.pause.microseconds >= 0
    except SashError:
        is_one = False
    if not is_one:
        raise InvalidJob.wrong_type(path, "sink.trigger", sink.trigger, _EXPECTED_TRIGGER)


def _check_options(path: Path, given: Mapping[str, Any]) -> None:
    """Refuse options that are wrong for any rows."""
    for name, choices in _CHOICES.items():
        if name in given and (given[name] not in choices or type(given[name]) is not type(choices[0])):
            words = " or ".join(repr(each) if isinstance(each, str) else str(each).lower() for each in choices)
            raise InvalidJob.wrong_type(path, f"job.{name}", given[name], words)
    defaults = {"on": "on", "by": None, "allowed_lateness": 0, "watermark": None, "emit": "final"}
    on, by, lateness, watermark, emit = (given.get(name, default) for name, default in defaults.items())
    try:
        options_of(on, by, lateness, watermark, False, emit)
        length_of(given.get("max_future", 0), "max_future")
    except SashError as error:
        raise InvalidJob.because(path, error) from error


def _check_text(path: Path, text: str, table: str) -> None:
    try:
        selects = texts.parse(text)
    except SashError as error:
        raise InvalidJob.because(path, error) from error
    if selects[0].source() != table:
        raise InvalidJob.other_table(path, selects[0].source(), table)


def _part_of(path: Path, kind: Any, name: str, given: Mapping[str, Any], *needed: str) -> Any:
    for key in needed:
        if key not in given:
            raise InvalidJob.missing(path, name, key, f'{key} = "parquet"')
    types = {"stream": bool, "options": dict}
    for key, value in given.items():
        expected = types.get(key, str)
        if not isinstance(value, expected):
            words = {bool: "true or false", dict: "a table { … }", str: "a string"}[expected]
            raise InvalidJob.wrong_type(path, f"{name}.{key}", value, words)
    return kind(**given)


def _query(path: Path, name: str, given: Mapping[str, Any]) -> Any:
    """Return a query: its window, and an aggregate for each other key."""
    if "window" not in given:
        raise InvalidJob.missing(path, f"queries.{name}", "window", 'window = { tumbling = "10 minutes" }')
    try:
        window = _window(path, name, given["window"])
        aggregates = {key: _aggregate(path, name, key, text) for key, text in given.items() if key != "window"}
        return sash.query(name, window, **aggregates)
    except SashError as error:
        if isinstance(error, InvalidJob):
            raise
        raise InvalidJob.in_query(path, name, str(error)) from error


def _window(path: Path, query: str, given: Any) -> Any:
    if not isinstance(given, dict):
        raise InvalidJob.wrong_type(path, f"queries.{query}.window", given, _WINDOWS["sliding"])
    kinds = [key for key in given if key in _WINDOWS]
    if len(kinds) > 1:
        raise InvalidJob.window_kinds(path, query, kinds)
    if not kinds:
        error = UnknownName.of("window", ", ".join(given) or "nothing", _WINDOWS)
        raise InvalidJob.window_words(path, query, str(error), _WINDOWS["sliding"])
    words = {key: value for key, value in given.items() if key != kinds[0]}
    make, size = getattr(sash, kinds[0]), given[kinds[0]]
    try:
        if kinds[0] in _VALUE_OF:
            return make(**{_VALUE_OF[kinds[0]]: size}, **words)
        return make(**size, **words) if isinstance(size, dict) else make(size, **words)
    except UnknownKeyword as error:
        raise InvalidJob.window_words(path, query, str(error), _WINDOWS[kinds[0]]) from error


def _aggregate(path: Path, query: str, name: str, text: Any) -> Any:
    found = _CALL.match(text) if isinstance(text, str) else None
    if found is None or _QUOTED.sub("", found[2]).count(")"):
        expected = 'a call such as "max(load)", or part of a text = "SELECT …" under [job]'
        raise InvalidJob.wrong_type(path, f"queries.{query}.{name}", text, expected)
    known = aggregates()
    if found[1] not in known:
        raise InvalidJob.in_query(path, query, str(unknown_aggregate(found[1])))
    arguments = [_argument(each) for each in _ARGUMENT.findall(found[2])]
    try:
        return known[found[1]](*arguments)
    except TypeError as error:
        raise InvalidJob.in_query(path, query, f"{name} = {text!r}: {error}") from error


def _argument(text: str) -> Any:
    text = text.strip()
    if text[0] in "\"'":
        return text[1:-1]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _fill_variables(value: Any, environment: Mapping[str, str], path: Path) -> Any:
    """Replace the variables in all texts of a value."""
    if isinstance(value, dict):
        return {key: _fill_variables(each, environment, path) for key, each in value.items()}
    if isinstance(value, list):
        return [_fill_variables(each, environment, path) for each in value]
    if not isinstance(value, str):
        return value

    def found(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name not in environment and default is None:
            raise InvalidJob.no_variable(path, name)
        return environment.get(name, default or "")

    return _VARIABLE.sub(found, value)


def _table(path: Path, value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidJob.wrong_type(path, name, value, f"a table [{name}]")
    return value
