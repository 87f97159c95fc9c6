"""All errors of sash and their messages.

A message says what was given, what is expected and what to do. Every error is a `SashError` and the builtin exception
that a caller would catch. All messages are in this one module, so that similar errors use the same words.
"""

import difflib
import re
import reprlib
from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from string import Formatter
from typing import Any, TypeVar

__all__ = [
    "BrokenStream",
    "BrokenWindow",
    "CallWithinCall",
    "EmptyWindow",
    "InvalidAggregate",
    "InvalidInput",
    "InvalidJob",
    "InvalidQuery",
    "InvalidState",
    "InvalidText",
    "InvalidWindow",
    "MissingPackage",
    "NumberOverflow",
    "SashError",
    "UnknownAttribute",
    "UnknownKeyword",
    "UnknownName",
    "UnsupportedAggregate",
    "UnsupportedVersion",
    "UnsupportedWindow",
    "sentence_of",
]


class SashError(Exception):
    """The base class of all errors that sash raises.

    >>> import sash
    >>> try:
    ...     sash.aggregate(
    ...         {"t": [1]}, sash.query("n", sash.tumbling(10), n=sash.count()), on="time"
    ...     )
    ... except sash.SashError as error:
    ...     print(error)
    There is no column 'time'. The known ones: t.
    """


def sentence_of(error: object) -> str:
    """Return the message of sash in an error of Spark, without the stack trace; else that of Python or of Spark.

    >>> sentence_of(
    ...     "SparkException: …"
    ...     + chr(10)
    ...     + "sash.errors.InvalidState: The saved state is damaged."
    ... )
    'The saved state is damaged.'
    >>> sentence_of(
    ...     "SparkException: …"
    ...     + chr(10)
    ...     + "ValueError: no zero"
    ...     + chr(10)
    ...     + "  at org.apache.spark"
    ... )
    'ValueError: no zero'
    >>> sentence_of(
    ...     "There are [1] sources in the checkpoint offsets and now there are [2] sources"
    ... )
    "The checkpoint was written by a query with 1 source(s), but this query has 2;
     flush='at_end' adds one. Start ..."
    >>> sentence_of(
    ...     "An error occurred while calling o7.load."
    ...     + chr(10)
    ...     + ": java.lang.Exception: No such format."
    ... )
    'No such format.'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line in lines:
        kind, _, message = line.partition(": ")
        if kind.startswith("sash.errors."):
            return message
    sources = _SOURCES.search(str(error))
    if sources is not None:
        return str(InvalidState.sources(*sources.groups()))
    raised = [line for line in lines[1:] if _RAISED.match(line) and not _JAVA_CLASS.match(line)]
    if raised:
        return raised[0]
    plain = [_JAVA_CLASS.sub("", line) for line in lines if not line.startswith(_CALLING)]
    named = [line for line in plain if line.startswith("[")]  # an error condition of Spark, such as [PATH_NOT_FOUND]
    return (named or plain or [type(error).__name__])[0]


_WIDEST = 120  # how many characters of a line of query text, or of a value, a message shows
_ADDRESS = re.compile(" at 0x[0-9a-f]+")  # of an object, which differs from run to run
_CALLING = "An error occurred while calling"
_JAVA_CLASS = re.compile(r"^((Caused by)?:?\s*(java|javax|scala|org|com|py4j)\.[\w.$]+:\s*)+")
_SOURCES = re.compile(r"There are \[(\d+)\] sources in the checkpoint offsets and now there are \[(\d+)\]")
_RAISED = re.compile(r"(\w+\.)*[A-Z]\w*(Error|Exception|Exit|Interrupt)(:|$)")


def _in_short(value: object) -> str:
    """Return a short text for any value."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer with more digits than Python converts to text
        return f"a {type(value).__name__}"


def _shown(value: object) -> str:
    """Return the repr of a value in one line of limited length; for functions and classes, the name."""
    if callable(value) and hasattr(value, "__name__"):
        return f"the {'class' if isinstance(value, type) else 'function'} {value.__name__}"
    text = " ".join(_ADDRESS.sub("", repr(value)).split())
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:40]}…"


_OF_ONE_COLUMN = {"sum", "mean", "min", "first", "last", "median", "stddev", "variance", "product", "count_distinct"}


def _aggregate_like(value: object) -> str:
    """Return how to write the aggregate that a text or a function may mean."""
    name = value if isinstance(value, str) else getattr(value, "__name__", "")
    return "sash.count()" if name == "count" else f"sash.{name if name in _OF_ONE_COLUMN else 'max'}('x')"


# The formats of values in a message: {name:format}.
_FORMATS: dict[str, Callable[[Any], str]] = {
    "aggregate": _aggregate_like,
    "clause": lambda sentence: _ADDRESS.sub("", sentence).rstrip("."),
    "line": lambda value: " ".join(str(value).split()),
    "listed": ", ".join,
    "or": " or ".join,
    "raised": lambda error: f"{type(error).__name__}: {error}",
    "short": _short,
    "shown": _shown,
    "type": lambda value: type(value).__name__,
}
_Error = TypeVar("_Error", bound=SashError)
_INDEX_LEVEL = (
    "There is no column {name!r}: {name!r} is a level of the index. Make it a column: df.reset_index({name!r})."
)


class _Formatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        convert = _FORMATS.get(format_spec)
        return str(super().format_field(value, format_spec)) if convert is None else convert(value)


class _Sentence:
    """A constructor of errors with the same message, apart from the values in it.

    The values are passed in the order of the message, or in that of `names`.

    >>> InvalidInput.at_least("rows", 0, 1)
    InvalidInput('rows must be a whole number of at least 1, but is 0.')
    """

    def __init__(self, sentence: str, names: str = "") -> None:
        self.sentence, self.names = sentence, names.split()

    def signature(self) -> Signature:
        names = self.names or dict.fromkeys(name for _, name, _, _ in Formatter().parse(self.sentence) if name)
        return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def words(self, *given: Any, **named: Any) -> str:
        return _Formatter().vformat(self.sentence, (), self.signature().bind(*given, **named).arguments)

    def __get__(self, error: object, kind: type[_Error]) -> Callable[..., _Error]:
        return lambda *given, **named: kind(self.words(*given, **named))


class _SentenceAt(_Sentence):
    """The same for errors with a place in a text; the place is passed before the values."""

    def __get__(self, error: object, kind: type[_Error]) -> Callable[..., _Error]:
        make: Any = kind
        return lambda place, *given, **named: make._at(place, self.words(*given, **named))


class UnknownName(SashError, LookupError):
    """There is no column, algorithm, table or other thing of this name."""

    @classmethod
    def of(cls, kind: str, name: object, known: Iterable[str]) -> "UnknownName":
        known = sorted(set(known))
        spelled = {each.lower(): each for each in known}
        near = difflib.get_close_matches(str(name).lower(), spelled, n=1)
        hint = f" Did you mean {spelled[near[0]]!r}?" if near else ""
        listed = f"The known ones: {', '.join(known)}." if known else f"There is no {kind} at all."
        return cls(f"There is no {kind} {_shown(name)}.{hint} {listed}")

    elsewhere = _Sentence("There is no {kind} {name!r}. Did you mean {ours!r}?", "kind name ours")
    index_level = _Sentence(_INDEX_LEVEL)


class UnknownAttribute(UnknownName, AttributeError):
    """The package has no such name."""

    in_sash = _Sentence("sash has no {name!r}. Write {instead}.")
    of_kind = _Sentence("A {kind} has no {name!r}. Write {instead}.", "kind name instead")
    of_stream = _Sentence(
        "A sash.Stream has no {name!r}. To emit all windows that are open, write stream.push({{}}, watermark=math.inf)."
    )


class UnknownKeyword(UnknownName, TypeError):
    """A call has arguments that the function does not have."""

    instead = _Sentence("{call}() has no keyword {name!r}. Write {instead}.")
    near = _Sentence("{call}() has no keyword {name!r}. Did you mean {near!r}?")
    no_such = _Sentence("{call}() has no keyword {name!r}. It has these: {known:listed}.")
    of_query = _Sentence(
        "{call}() has no keyword {name!r}. It has these: {known:listed}. An aggregate belongs to a query: "
        "sash.query('q', sash.tumbling('1 hour'), {name}=sash.max('x'))."
    )
    without_keywords = _Sentence("{call}() has no keyword {name!r}: it has no keywords at all.")
    by_name = _Sentence("{call}() accepts {name!r} only by position: pass it first, without a name.", "call name")
    missing = _Sentence("{call}() needs {name}: write {example}.")

    @classmethod
    def too_many(
        cls, call: str, most: int, given: int, others: Iterable[str], instead: str | None = None
    ) -> "UnknownKeyword":
        taken = f"{most or 'no'} argument{'' if most == 1 else 's'}"
        listed = ", ".join(f"{name}=…" for name in others)
        rest = f" Pass {'the others' if most else 'them'} by name: {listed}." if listed else ""
        rest = rest if instead is None else f" Write {instead}."
        return cls(f"{call}() takes {taken} by position, but got {given}.{rest}")


class MissingPackage(SashError, ImportError):
    """A package or a program that a call needs is not installed."""

    of = _Sentence("{what} needs {package}, which is not installed. Install it with: pip install 'sash[{extra}]'")
    by_spark = _Sentence(
        "PySpark {found} cannot exchange tables with Python: {reason} Install it: pip install 'sash[spark]'"
    )
    protobuf = _Sentence(
        "Streams need a protobuf that PySpark {found} can use: {reason}. Install it: pip install --upgrade protobuf"
    )
    java = _Sentence("{what} needs Java 17 or newer, but Spark cannot start Java. Install Java and set JAVA_HOME.")
    in_worker = _Sentence(
        "Spark's workers run Python {version} at {python}, which cannot load sash: {reason}. Install sash[spark] "
        "there, or set PYSPARK_PYTHON or spark.pyspark.python to a Python that has it, before the Spark session "
        "starts. If only sash itself is missing there, call sash.spark.ship(spark)."
    )


class UnsupportedVersion(SashError, RuntimeError):
    """The installed version of a package lacks what a call needs."""

    spark = _Sentence("sash needs PySpark 3.5 to 4.x, but {found} is installed. Install it: pip install 'sash[spark]'")
    streams = _Sentence(
        "Streams need PySpark 4.0 or newer, but {found} is installed. Bounded DataFrames work with {found}, and "
        "sash.Stream computes a stream in one process."
    )
    connect_streams = _Sentence(
        "Streams on Spark Connect need PySpark 4.1 or newer, but {found} is installed. With {found}, bounded "
        "DataFrames work on Spark Connect, and streams work in a Spark session without Spark Connect."
    )
    column_type = _Sentence(
        "PySpark {found} cannot read columns of type {kind} in Python. Before the call, cast them to strings in an "
        "expression of SQL or drop them, or use a newer PySpark."
    )
    table_functions = _Sentence(
        "The table function needs PySpark 4.0 or newer, but {found} is installed. sash.sql takes the same text and "
        "works with {found}."
    )


class EmptyWindow(SashError, IndexError):
    """The window has no rows."""

    cannot = _Sentence("Cannot {verb} an empty window: insert a value first, or check len(window).")


class BrokenWindow(SashError, RuntimeError):
    """A window cannot be used any more, because a user function raised an error or because the window is closed."""

    since = _Sentence(
        "The window is no longer usable: combine or invert of {aggregate!r} raised {cause:raised}. Restore it from its "
        "last save()."
    )
    for_good = _Sentence(
        "The window is no longer usable: a function of {aggregate!r} raised {cause:raised}. Open another one."
    )
    closed = _Sentence("The window is closed. Open another one.")


class BrokenStream(SashError, RuntimeError):
    """A stream cannot be used any more, because a result did not fit its type."""

    since = _Sentence(
        "The stream is no longer usable, because emitting windows failed: {cause} Restore it from its last save()."
    )


class CallWithinCall(SashError, RuntimeError):
    """A user function calls the stream or the window that called it."""

    of = _Sentence(
        "One of your functions called {inner}() of a {what} while {outer}() of the same {what} was running. Call "
        "{inner}() after {outer}() has returned.",
        "what inner outer",
    )


class InvalidAggregate(SashError, TypeError):
    """The definition of an aggregate is wrong, or one of its functions raised an error."""

    field = _Sentence(
        "{code!r} is not a type of a field: use i1 i2 i4 i8, u1 u2 u4 u8, f4 f8, b1, one of them with a length such "
        "as 'f8[10]', or 'O' for any Python object."
    )
    shape = _Sentence(
        "Aggregate {name!r}: {what} must return {expected} value(s), one per field of its state, but returned "
        "{value!r}."
    )
    not_a_function = _Sentence("Aggregate {name!r}: {what} must be a function, but is {value:shown}.")
    fails = _Sentence(
        "Aggregate {name!r}: {what} raised {cause:raised} when called with {arguments}. The state is unchanged. Fix "
        "the function, or filter such values out first.",
        "name what arguments cause",
    )
    breaks = _Sentence(
        "Aggregate {name!r}: combine or invert raised {cause:raised} while the window was being updated. The window "
        "is no longer usable: fix the function, and restore the window from its last save()."
    )
    breaks_for_good = _Sentence(
        "Aggregate {name!r}: combine or lower raised {cause:raised} while the window was being updated. The window "
        "is no longer usable: fix the function, and open another window."
    )

    @classmethod
    def unknown(cls, name: str, what: str, path: str, value: object) -> "InvalidAggregate":
        kind = type(value)
        home = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        reads = f"reads {path}" if path else "is or holds an object"
        return cls(
            f"Aggregate {name!r}: {what} {reads} (of type {home}{kind.__qualname__}), which cannot be compared with "
            "an object of another process or of a saved state. Use only objects that can be pickled, such as numbers, "
            "strings, functions and plain objects. Create files, locks and connections inside the function."
        )

    truncates = _Sentence(
        "Aggregate {name!r}: {what} returns {given}, but {kept} is declared, which would truncate it. Declare f8."
    )
    not_compilable = _Sentence(
        "Aggregate {name!r} cannot be compiled: {reason} Use only numbers, tuples, math and NumPy, or declare "
        "state=('O',) to run it as plain Python."
    )
    parameter = _Sentence(
        "Aggregate {name!r}: {parameter} must be {expected}, but is {value:shown}.", "name parameter value expected"
    )
    left_out = _Sentence("Aggregate {name!r}: {parameter}={value:shown} is not possible here: {why}. Leave it out.")
    not_an_aggregate = _Sentence(
        "Expected an aggregate, made by a call such as {value:aggregate}, but got {value:shown}.", "value"
    )
    named = _Sentence(
        "{name!r} must be an aggregate, made by a call such as {value:aggregate}, but is {value:shown}. There is no "
        "option of that name.",
        "name value",
    )
    arithmetic = _Sentence(
        "sash cannot compute with the aggregate {aggregate}. Compute with columns of the result, or in query text: "
        "sash.sql('SELECT MAX(x) / COUNT(x) AS share FROM …')."
    )


class UnsupportedAggregate(SashError, TypeError):
    """The algorithm or the type of the values does not support the aggregate."""

    @classmethod
    def lacks(cls, trait: str, algorithm: str, aggregate: str, instead: Iterable[str]) -> "UnsupportedAggregate":
        have = {
            "invert": "an aggregate with `invert`, but {!r} has none",
            "selective": "a selective aggregate (combine returns one of its operands), but {!r} is not selective",
            "quantile": "the median or a quantile of numbers, but {!r} is neither",
            "variance": "the variance or stddev of numbers, but {!r} is neither",
            "commutative": "a commutative aggregate (late rows are combined last), but {!r} is not commutative",
        }[trait].format(aggregate)
        return cls(f"{algorithm} cannot slide {aggregate!r}: it needs {have}. Use {' or '.join(instead)}.")

    of_type = _Sentence(
        "{aggregate!r} does not accept values of type {given}: it accepts {expected}. Cast the values first."
    )
    open_result = _Sentence(
        "{where} must know the type of {result!r} before Spark runs it, but the aggregate returns Python objects. "
        "Declare their type: Aggregate(…, result=pyarrow.string())."
    )
    many_ranges = _Sentence("{algorithm} computes one range per pass, not several. Use {instead:or}.")


class UnsupportedWindow(SashError, TypeError):
    """The technique does not support the window."""

    by = _Sentence("{technique} cannot compute {kind} windows. Use {instead:or}.")


class InvalidInput(SashError, ValueError):
    """Rows, values or options are not valid."""

    frame = _Sentence(
        "A frame must be made by sash.frame(rows=… or range=…, name=aggregate), but is {value:shown}. For one frame, "
        "write its extent by name: sash.rolling(table, on='ts', range='1 hour', …)."
    )
    size = _Sentence(
        "size must be a whole number of rows, but is {value:shown}. For windows of time, write "
        "sash.rolling(table, on='ts', range={value:shown}, …)."
    )
    at_least = _Sentence("{what} must be a whole number of at least {least}, but is {value:shown}.", "what value least")
    long_lists = _Sentence(
        "The lists of {column!r} in all frames together have {count:,} values, but a column of lists has room for "
        "{most:,}. Make the frames shorter, or pass fewer rows at once."
    )
    ragged = _Sentence("The columns must have the same length, but have {lengths}.")
    names = _Sentence("The keys of a dict of aggregates must be strings, but are {names}.")
    not_flat = _Sentence("Values must be one-dimensional, but have shape {shape}. Pass one column at a time.")
    mixed = _Sentence(
        "Cannot read the values as one column: {why}, at {value!r}. Convert all values to one type.", "value why"
    )
    columns = _Sentence("{aggregate!r} needs {expected} column(s) of values, but got {given}. Pass a tuple of columns.")
    value_type = _Sentence(
        "{value!r} is not a value for a window of {bound}. Convert it, or create the window with another dtype."
    )
    whole_array = _Sentence(
        "{algorithm} slides windows of one size over a whole array. Use sash.swag.slide, for pba also "
        "sash.swag.open_fixed, or another algorithm."
    )
    no_index = _Sentence("{algorithm} does not support {call}: create the window with {instead:or}.")
    in_order = _Sentence(
        "{algorithm} accepts rows in order only, without positions. Create the window with algorithm='fiba'."
    )
    ranges = _Sentence(
        "The ranges are not valid: {why}. Starts and ends must never decrease, and start <= end must hold."
    )
    duration = _Sentence(
        "{value:shown} is not a valid duration: {why}. Write for example '1 hour', '90s', '1h30m' or 'PT1H', or pass a "
        "timedelta."
    )
    on_type = _Sentence(
        "Column {name!r} of type {kind} cannot be `on`: it must hold timestamps, dates, integers or floats. Cast it "
        "first."
    )

    @classmethod
    def too_far(cls, name: str, value: object, kind: str, reach: float) -> "InvalidInput":
        limits = {
            "time": f"lie within {round(reach / 3.156e13, -3):,.0f} years of 1970",
            "integer": "lie within 2^61 of zero",
            "float": f"lie within {reach:.6g} of zero: beyond it, floats are too far apart for the edges",
        }
        longer = " Use longer windows, or filter such rows out." if kind == "float" else " Filter such rows out."
        return cls(f"Column {name!r} holds {value!r}, but positions of these windows must {limits[kind]}.{longer}")

    on_changed = _Sentence(
        "Column {name!r} was of kind {kind} in the first rows of the stream, but is {given} now. Cast it to the first "
        "kind, or create another stream.",
        "name given kind",
    )
    key_type = _Sentence(
        "Column {name!r} of type {kind} cannot be in `by`: keys are numbers, booleans, strings, bytes, dates or times. "
        "Cast it, or use parts of it as the key."
    )
    key_changed = _Sentence(
        "Column {name!r} in `by` was {kind} in the first rows of the stream, but is {given} now. Cast it to the first "
        "type, or create another stream.",
        "name given kind",
    )

    rows = _Sentence(
        "Rows must be an Arrow, pandas or Polars table, or a dict of columns such as {{'ts': [1, 2], 'x': [0.5, 0.7]}},"
        " but are {value:line}: {fix}."
    )
    streaming = _Sentence("{what} needs a bounded DataFrame, but this one is a stream. Read it with spark.read.")
    no_watermark = _Sentence(
        "{what} of a stream needs a watermark, which says how late rows may be: pass watermark='10 seconds', or call "
        "rows.withWatermark({on!r}, '10 seconds')."
    )
    for_streams = _Sentence("{option}={value:shown} is an option of streams, but these rows are a table: leave it out.")
    for_windows = _Sentence(
        "{option}={value!r} is an option of windows, but this query has one result per row: leave it out."
    )
    in_column = _Sentence("Column {name!r} cannot be read: {why:clause}.")
    not_in_arrow = _Sentence(
        "Column {name!r} of type {kind} cannot be read in Python, because Arrow has no such type. Cast it, for example "
        "to a string, or drop it."
    )
    twice = _Sentence("There are several columns {name!r}: rename all but one.")
    expression = _Sentence(
        "{value:line} is an expression, but the name of a column is needed: select it first under a name, and pass "
        "this name."
    )
    key_name = _Sentence(
        "The nested key {path!r} would be the column {name!r} of the results, but another column has this name. "
        "Select the field first under a name of its own."
    )
    changed = _Sentence(
        "Column {name!r} held {known} so far, but now holds {given}. Cast it to the first type, and push the rows "
        "again.",
        "name given known",
    )
    option = _Sentence("{what} must be {expected}, but is {value:shown}.", "what value expected")
    left_out = _Sentence("{what}={value:shown} is not possible here, because {why}: leave it out.")
    no_lookback = _Sentence(
        "A join needs a lookback, such as sash.join(labels, sash.lookback(events, range='1 hour', n=sash.count()), "
        "on='ts')."
    )
    key_reserved = _Sentence(
        "{name!r} cannot be in `by`, because the results have columns with these names: {names:listed}. Rename the "
        "column."
    )
    no_session = _Sentence("sash.state needs an active Spark session: create one first.")
    ordered = _Sentence(
        "in_order=True excludes allowed_lateness and watermark, because an ordered stream has no late rows. Leave them "
        "out, or leave out in_order."
    )

    @classmethod
    def one_extent(cls, given: "dict[Any, object]") -> "InvalidInput":
        """Return the error for a frame that has not exactly one extent."""
        named = [f"{unit}={value!r}" for unit, value in given.items() if value is not None]
        found = f"but {' and '.join(named)} are given" if named else "but none of them is given"
        return cls(f"A frame needs rows, range or groups, {found}. Write one of them, such as rows=100.")

    open_frame = _Sentence(
        "A stream cannot compute {unit}={ends!r}: a frame with an open start would keep every row, and one with an "
        "open end would never be complete. Give both ends."
    )
    one_lookback = _Sentence(
        "A lookback has either range or rows, but range={range!r} and rows={rows!r} are given. Write one of them, or "
        "make two lookbacks."
    )
    kinds = _Sentence(
        "The tables of a join must be of one kind, but they are of these: {kinds:listed}. Convert them to one kind."
    )
    unlike_positions = _Sentence(
        "Labels and events must advance by the same measure, but `on` of the labels, {on!r}, is {kind}, and that of "
        "the events, {own!r}, is {own_kind}. Cast one of them."
    )
    unlike_keys = _Sentence(
        "The keys of labels and events can never be equal: {label!r} of the labels is {kind}, and {event!r} of the "
        "events is {other}. Cast one of them."
    )
    closed_without_range = _Sentence(
        "closed={closed!r} is for frames by range; this frame is by {unit}. Write its ends, such as {unit}=(-3, -1).",
        "closed unit",
    )
    center = _Sentence(
        "center=True is for one number or length, but {unit} is {value:shown}. Write both ends, or one length.",
        "unit value",
    )
    ends = _Sentence(
        "A frame cannot end before it starts, but {unit} is from {low:shown} to {high:shown}. Exchange the two ends.",
        "unit low high",
    )
    in_parts = _Sentence(
        "Spark split the first micro-batch, which also contains `initial`, in two, so that rows of the second part "
        "would be late. Increase spark.sql.execution.arrow.maxRecordsPerBatch, and start with a new checkpoint."
    )


class InvalidJob(SashError, ValueError):
    """A job file cannot be read or run."""

    unreadable = _Sentence("{path} cannot be read: {why}.")
    not_toml = _Sentence("{path} is not TOML: {why}.")

    @classmethod
    def unknown(cls, path: object, what: str, name: str, known: Iterable[str]) -> "InvalidJob":
        return cls(f"{path}: {UnknownName.of(what, name, known)}")

    other_part = _Sentence("{path}: [{part}] has no key {key!r}: write it under [{other}].", "path part key other")
    missing = _Sentence("{path}: [{part}] has no {key!r}. Add, for example, {example}")
    wrong_type = _Sentence("{path}: {key} must be {expected}, but is {value!r}.", "path key value expected")
    in_query = _Sentence("{path}: query {query!r}: {why}")
    no_queries = _Sentence(
        "{path} contains no query: add [queries.name] with a window, or text = 'SELECT …' under [job]."
    )
    text_and_queries = _Sentence("{path} has both text under [job] and [queries]: keep one of them.")
    no_variable = _Sentence("{path}: ${{{name}}} is not set. Set it, or write a default: ${{{name}:-…}}.")
    because = _Sentence("{path}: {cause}")
    unnamed_query = _Sentence("{path}: a query needs a name: write for example [queries.hourly] instead of [queries].")
    window_kinds = _Sentence(
        "{path}: query {query!r}: a window has one kind, but this one has {kinds:listed}: keep one of them."
    )
    window_words = _Sentence("{path}: query {query!r}: {why} Write for example window = {example}")
    other_table = _Sentence(
        '{path}: the text reads from {named!r}, but the source is named {table!r}: write table = "{named}" under '
        "[source], or change the text."
    )
    by_spark = _Sentence("{path}: Spark cannot {what}: {why}")
    no_trigger = _Sentence(
        "{path}: sink.trigger is {kind!r}, but Spark keeps state in micro-batches only. Write a duration such as "
        "'1 second', or 'available now'."
    )


class NumberOverflow(SashError, OverflowError):
    """An exact result does not fit its type."""

    @classmethod
    def at(cls, aggregate: str, row: int, kind: str = "64-bit integers") -> "NumberOverflow":
        return cls(
            f"{aggregate!r} overflows {kind} at result {row}: the exact result does not fit. "
            "Cast the values to float64, or make the window smaller."
        )


class InvalidState(SashError, ValueError):
    """A saved state or a checkpoint is damaged, or does not match the queries or options."""

    not_ours = _Sentence("These bytes are not a saved {what}: they do not start as the bytes of save() do.")
    changed_query = _Sentence(
        "Query {name!r} differs from the saved one. Saved: {saved}. Given: {given}. Restore the saved query, or give "
        "the new one another name."
    )

    @classmethod
    def changed_aggregate(
        cls, where: str, aggregate: str, changed: Iterable[str], saved_by: str, python: str
    ) -> "InvalidState":
        known = (
            f" Python {saved_by} saved it, but Python {python} compiles functions to other code: use the same version."
            if saved_by != python
            else ""
        )
        return cls(
            f"{where}: the aggregate {aggregate!r} differs from the saved one. What changed: {', '.join(changed)}."
            f"{known} Restore the saved aggregate, or give the new one another name and start it with a new state."
        )

    other_queries = _Sentence(
        "The state was saved with the queries {saved:listed}, but none of them is among {given:listed}. Restore it "
        "with at least one of them, then add and remove queries."
    )
    version = _Sentence(
        "The state has format {given}, but this version of sash reads format {known}. Use the version "
        "that saved the state."
    )
    damaged = _Sentence("The saved state is damaged: {why}. Restore an older copy.")

    @classmethod
    def unreadable(cls, why: str, error: BaseException) -> "InvalidState":
        try:
            return cls.damaged(f"{why} ({error})")
        except ValueError:  # an integer with more digits than Python converts to text
            return cls.damaged(why)

    @classmethod
    def partials(cls, name: str, error: BaseException) -> "InvalidState":
        return cls.unreadable(f"{name} cannot be computed from its partials", error)

    @classmethod
    def other(cls, what: str, saved: object, given: object) -> "InvalidState":
        shown = saved[:400] if isinstance(saved, str) else _in_short(saved)
        return cls(f"The state was saved with {what} {shown}, not {given}. Restore it with the same {what}.")

    own_window = _Sentence(
        "The window of query {name!r} is defined by your code ({text}). Pass the queries: sash.state(…, queries=[…])."
    )

    @classmethod
    def options(cls, differences: Iterable[tuple[str, object, object]]) -> "InvalidState":
        changes = "; ".join(f"{name} was {saved}, but is {given} now" for name, saved, given in differences)
        return cls(
            f"The checkpoint was written with other options: {changes}. Use the options of the checkpoint, or start "
            "with a new checkpoint."
        )

    partitions = _Sentence(
        "The checkpoint was written with {saved} shuffle partitions, but the session now has {given}, so sash "
        "cannot find the state of the keys. Set spark.sql.shuffle.partitions to {saved} before sash.aggregate, or "
        "start with a new checkpoint."
    )

    @classmethod
    def flush(cls, checkpoint: str, was: bool) -> "InvalidState":
        before, now = ("with", "without") if was else ("without", "with")
        return cls(
            f"The checkpoint {checkpoint} was written {before} flush='at_end', but this query is {now} it: `flush` "
            "cannot change between two runs. Start the query as before, or with a new checkpoint and the earlier rows "
            "as `initial=`."
        )

    sources = _Sentence(
        "The checkpoint was written by a query with {saved} source(s), but this query has {given}; flush='at_end' adds "
        "one. Start it with the same sources and the same `flush` as before, or with a new checkpoint and the earlier "
        "rows as `initial=`."
    )
    source_changed = _Sentence(
        "The rows of the source changed while they were read: the first pass read {expected} rows, the second {found}. "
        "Cache or save the DataFrame first, and run it again."
    )
    not_savable = _Sentence(
        "A partial holds a {value:type}, which cannot be saved: use only numbers, strings, bytes, dates, decimals, and "
        "tuples, lists, dicts or sets of them."
    )


class InvalidWindow(SashError, ValueError):
    """The description of a window is not valid, or one of its functions raised an error."""

    unknown_kind = _Sentence(
        "{window} is a {window:type}, which is not a known kind of window: use one of {known:listed}, or derive from "
        "sash.ContextFreeWindow, sash.ForwardFreeWindow, sash.MarkedWindow or sash.ContextAwareWindow."
    )
    unknown_zone = _Sentence(
        "zone of a {window} window must be a time zone such as 'Europe/Berlin' or 'UTC', but is {zone!r}.{hint}"
    )
    no_zone = _Sentence("A {window} window of rows has no zone, but zone is {zone!r}: leave it out.")
    not_on_calendar = _Sentence(
        "{what} of a {window} window with a zone must be whole days, weeks, months, quarters or years, but is "
        "{value!r}: hours are the same in every zone, so leave the zone out.",
        "window what value",
    )
    mixed_period = _Sentence(
        "The period of a {window} window with a zone must be a number of months, weeks or days, but {period!r} mixes "
        "them: use one of them, and shift by `offset`."
    )
    calendar_on_number = _Sentence(
        "{window!r} is a window of the calendar, but `on` is a plain {kind}: use an `on` that is a time."
    )
    edge_list = _Sentence(
        "sash.calendar needs a list of at least two edges, as in sash.calendar([0, 10, 15]), but got {edges!r}."
    )
    unsorted_edges = _Sentence(
        "The edges of sash.calendar must ascend, but {after!r} follows {before!r}: sort them, and remove duplicates.",
        "before after",
    )
    missing = _Sentence("A {window} window needs {what}: pass it, as in sash.{window}({what}=…).")
    length = _Sentence(
        "{what} of a {window} window must be a duration such as '10 minutes' or a number, more than 0 and less than "
        "2^61, but is {value!r}.",
        "window what value",
    )
    count = _Sentence(
        "{what} of a {window} window of rows must be a whole number of at least 1, but is {value!r}.",
        "window what value",
    )
    number_on_time = _Sentence(
        "{of} is {value!r}, a number without a unit, but `on` is a time: add the unit, as in '{value} seconds'."
    )
    duration_on_number = _Sentence(
        "{of} is the duration '{value}', but `on` is a float: use a number in its unit, or an `on` that is a time."
    )
    fraction = _Sentence("{of} is {value!r}, but `on` is an integer: use a whole number, or cast `on` to float.")
    not_whole = _Sentence(
        "A cumulative window of {size} cannot grow by {every}: size must be a whole multiple of every."
    )
    empty_band = _Sentence("A landmark window from {start!r} to {end!r} is empty: start must be before end.")
    both = _Sentence("A {window} window has either a size ({size!r}) or rows ({rows!r}): leave one of them out.")
    every_rows_conflict = _Sentence(
        "A sliding window with every_rows={every_rows!r} ends after rows and its size is a length, but {what} is "
        "{value!r}. Leave out {what}, or leave out every_rows."
    )
    no_offset = _Sentence("A {window} window of rows has no offset, but offset is {offset!r}: leave it out.")
    column = _Sentence("A {window} window needs the name of a boolean column, but got {value:shown}.")
    edges = _Sentence("The window {window} is not valid: {why}.")
    marks = _Sentence(
        "The window {window}: mark must return an array of {rows} booleans, one for each row, or a tuple of two such "
        "arrays, for starts and for ends."
    )
    edge_behind = _Sentence(
        "The window {window} is not forward-free: it reported an edge at {edge!r} after it had read rows up to "
        "{newest!r}. Report an edge at the latest with the first row after it, or derive from sash.ContextAwareWindow."
    )
    fails = _Sentence(
        "The window {window}: {call} raised {cause:raised}. The state is unchanged. Fix the function, and try again."
    )
    not_negative = _Sentence(
        "{what} must be a duration such as '10 seconds' or a number, not negative and less than 2^61, but is {value!r}."
    )
    too_many = _Sentence(
        "Query {query!r} would put each row into {count:,.0f} windows, but the limit is {most:,.0f}. Make `every` "
        "longer, or the window shorter."
    )
    too_fine = _Sentence(
        "The stream is at {position:.6g}, but the new windows need positions within {reach:.6g} of zero: beyond it, "
        "floats are too far apart for their edges. Use longer windows, or create another stream."
    )
    too_many_at_once = _Sentence(
        "The watermark passed the ends of more than {most:,} last-rows windows, which is the limit of one step. "
        "Make `every` longer, or check that watermarks have the unit of `on`."
    )
    not_a_window = _Sentence(
        "Expected a window, made by a call such as sash.tumbling('10 minutes'), but got {value:shown}."
    )


class InvalidQuery(SashError, ValueError):
    """A query, or a set of queries, is not valid."""

    name = _Sentence("The name of a query must be a non-empty string, but is {value:shown}.")
    private = _Sentence(
        "The name of a query must not start with an underscore, but is {name!r}: such names mark rejected rows. "
        "Use another name."
    )
    empty = _Sentence(
        "Query {name!r} has no aggregate: add one under the name of its result, as in peak=sash.max('x')."
    )
    reserved = _Sentence(
        "Query {query!r}: {result!r} cannot be the name of a result, because these columns exist already: "
        "{names:listed}. Use another name."
    )

    @classmethod
    def no_column(cls, query: str, result: str, aggregate: str, arity: int, is_own: bool) -> "InvalidQuery":
        call = f"{'' if is_own else 'sash.'}{aggregate}({', '.join(map(repr, 'xyz'[:arity]))})"
        return cls(f"Query {query!r}, {result}={aggregate}(): name the column, as in {call}.")

    unnamed = _Sentence("Query {query!r}: an aggregate needs the name of its result, as in peak=sash.max('x').")
    not_a_query = _Sentence(
        "Expected a query such as sash.query('hourly', sash.tumbling('1 hour'), n=sash.count()), but got {value:shown}."
    )
    twice = _Sentence("Two queries are named {name!r}: give each a name of its own.")
    alike = _Sentence(
        "The columns {one!r} and {other!r} of the results differ only in case, so Spark treats them as the same: "
        "give the result another name, or set spark.sql.caseSensitive to true."
    )
    none = _Sentence("There is no query: pass at least one.")
    condition = _Sentence("Query {query!r}, {result}={aggregate}: {cause}")
    types = _Sentence(
        "Two queries have a result {result!r}, one of type {one}, one of type {other}: give one of them another name."
    )


class InvalidText(SashError, ValueError):
    """A query text is not valid; the message shows the place."""

    place: int | None = None  # the index of the first wrong character, once it is known

    @classmethod
    def _at(cls, place: int | None, message: str) -> "InvalidText":
        error = cls(message)
        error.place = place
        return error

    def within(self, text: str) -> "InvalidText":
        """Return the same error with the wrong line of the text and a mark under the place."""
        if self.place is None:
            return self
        place = min(self.place, len(text))
        number = text.count("\n", 0, place) + 1
        begin = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place)
        line = text[begin : end if end >= 0 else len(text)]
        column = place - begin
        cut = max(0, column - 60) if len(line) > _WIDEST else 0
        shown = "".join(character if character.isprintable() else " " for character in line[cut : cut + _WIDEST])
        before, after = "…" if cut else "", "…" if len(line) > cut + _WIDEST else ""
        mark = " " * (column - cut + len(before)) + "^"
        return type(self)(f"Line {number}: {self}\n    {before}{shown}{after}\n    {mark}")

    not_text = _Sentence(
        "Query text must be a string such as 'SELECT MAX(x) FROM t [RANGE 1 HOUR SLIDE 1 MINUTE]', but is "
        "{value:shown}."
    )
    empty = _Sentence(
        "The query text is empty: write for example 'SELECT MAX(x) FROM t [RANGE 1 HOUR SLIDE 1 MINUTE]'."
    )
    index_level = _SentenceAt(_INDEX_LEVEL)
    too_long = _Sentence("The query text has {length}, but the limit is {most}: split it into several calls.")
    too_deep = _SentenceAt("This is nested deeper than {most} levels: compute parts of it as columns first.")
    unreadable = _SentenceAt(
        "{letter!r} is not allowed here: put names with such characters between backticks, as in `a b`."
    )
    unclosed = _SentenceAt("The {what} that begins here does not end: close it with {closing}.")
    no_name = _SentenceAt("There is no name between these quotes: write one.")
    dotted = _SentenceAt(
        "A name with a dot must be between backticks, as in `a.b`; before a dot, only the table of the query can stand."
    )

    nested = _SentenceAt(
        "Query text does not read nested fields, such as {name!r}: make a column of the field first, or use "
        "sash.aggregate or sash.rolling."
    )
    double_quotes = _SentenceAt(
        "There is no column {name!r}: a text goes between single quotes, double ones are for names."
    )

    @classmethod
    def ambiguous(cls, place: int, name: str, spellings: Iterable[str]) -> "InvalidText":
        *most, last = (f"`{each}`" for each in spellings)
        words = f"{', '.join(most)} or {last}"
        return cls._at(place, f"{name!r} can be {words}, which differ only in case: write one of them in its quotes.")

    text_for_column = _SentenceAt(
        "{function} of the text {text!r} is the same for every row: for the column of that name, write "
        '{function}("{text}").'
    )
    number = _SentenceAt(
        "{word:short} is not a number that fits 64 bits; a space must separate a number from its unit."
    )

    @classmethod
    def moment(cls, place: int, kind: str, word: str) -> "InvalidText":
        example = "'2026-01-31'" if kind == "DATE" else "'2026-01-31 12:00:00'"
        return cls._at(place, f"{kind} {_short(word)!r} cannot be read: write for example {kind} {example}.")

    @classmethod
    def unexpected(cls, place: int, found: str, expected: Iterable[str], near: str | None) -> "InvalidText":
        *most, last = expected
        words = f"{', '.join(most)} or {last}" if most else last
        hint = f" Did you mean {near}?" if near else ""
        return cls._at(place, f"Expected {words}, but found {_short(found) if found else 'the end'}.{hint}")

    unsupported = _SentenceAt("{what} is not part of the language: {instead}.")
    meaning = _SentenceAt("{what}: {fix}.")
    because = _SentenceAt("{cause}")

    @classmethod
    def unknown(cls, place: int | None, kind: str, name: str, known: Iterable[str]) -> "InvalidText":
        return cls._at(place, str(UnknownName.of(kind, name, known)))

    arguments = _SentenceAt("{function} needs {expected}, but got {given}.")
    twice = _SentenceAt("Two results are named {name!r}: give one of them another name with AS.")
    disagree = _SentenceAt(
        "{what} must be the same in the whole text and in the call, but two are given: {one} and {other}."
    )

    @classmethod
    def types(cls, place: int | None, function: str, kinds: Iterable[object]) -> "InvalidText":
        given = " and ".join(map(str, kinds)) or "nothing"
        fix = "cast columns first, or compare values of one type"
        if "timestamp" in given and "string" in given:
            fix = "write TIMESTAMP '2026-01-31 12:00:00'"
        elif function in ("+", "-") and "timestamp" in given:
            fix = "compute with times in the table or in the result"
        elif function.startswith("CAST"):
            fix = "convert the column in the table or in the result"
        elif function == "=" and "bool" in given:
            fix = "write the condition alone, or NOT before it"
        return cls._at(place, f"{function} does not accept {given}: {fix}.")

    values = _SentenceAt("{function} cannot be computed on these rows: {why:clause}.")
    registered = _Sentence("{name!r} is a built-in function: give your aggregate another name.")

    @classmethod
    def no_table(cls, place: int | None, name: str, known: Iterable[str]) -> "InvalidText":
        known = sorted(known)
        if known:
            if known == ["tables"]:
                return cls._at(place, f"There is no table {name!r}: pass a dict of tables as sash.sql(text, **tables).")
            return cls.unknown(place, "table", name, known)
        return cls._at(place, f"There is no table {name!r}: pass it by its name, as in sash.sql(text, {name}=rows).")
