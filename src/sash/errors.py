"""What can go wrong, worded once: what was given, what is expected, what to do.

Every error is a `SashError` and the builtin that a caller would catch. One long list on purpose: whoever looks for how
something is said, or whether it is said already, looks here and nowhere else.
"""

import difflib
import re
import reprlib
from collections.abc import Iterable, Sequence

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
    "UnknownName",
    "UnsupportedAggregate",
    "UnsupportedWindow",
    "sentence_of",
]


class SashError(Exception):
    """Anything that sash refuses."""


def sentence_of(error: object) -> str:
    """What sash said in an error of Spark's, without the way it came; of others, what Python or Spark said.

    >>> sentence_of("SparkException: …" + chr(10) + "sash.errors.InvalidState: The saved state is damaged.")
    'The saved state is damaged.'
    >>> sentence_of("SparkException: …" + chr(10) + "ValueError: no zero" + chr(10) + "  at org.apache.spark")
    'ValueError: no zero'
    >>> sentence_of("There are [1] sources in the checkpoint offsets and now there are [2] sources")
    "The checkpoint was written by a query of 1 source(s), and this one has 2; flush='at_end' adds one. Start it ..."
    >>> sentence_of("An error occurred while calling o7.load." + chr(10) + ": java.lang.Exception: No such format.")
    'No such format.'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    for line in lines:
        kind, _, said = line.partition(": ")
        if kind.startswith("sash.errors."):
            return said
    sources = _SOURCES.search(str(error))
    if sources is not None:
        return str(InvalidState.sources(*sources.groups()))
    raised = [line for line in lines[1:] if _RAISED.match(line) and not _JAVA_CLASS.match(line)]
    if raised:
        return raised[0]
    plain = [_JAVA_CLASS.sub("", line) for line in lines if not line.startswith(_CALLING)]
    named = [line for line in plain if line.startswith("[")]  # by a condition of Spark's, such as [PATH_NOT_FOUND]
    return (named or plain or [type(error).__name__])[0]


_WIDEST = 120  # characters of a line of query text, or of a value, that are shown
_CALLING = "An error occurred while calling"
_JAVA_CLASS = re.compile(r"^((Caused by)?:?\s*(java|javax|scala|org|com|py4j)\.[\w.$]+:\s*)+")
_SOURCES = re.compile(r"There are \[(\d+)\] sources in the checkpoint offsets and now there are \[(\d+)\]")
_RAISED = re.compile(r"(\w+\.)*[A-Z]\w*(Error|Exception|Exit|Interrupt)(:|$)")


def _in_short(value: object) -> str:
    """A value that may be anything, as a few words."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return f"a {type(value).__name__}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _shown(value: object) -> str:
    """A value as it would be written, in one line that is not too long; of functions and classes, the name."""
    if callable(value) and hasattr(value, "__name__"):
        return f"the {'class' if isinstance(value, type) else 'function'} {value.__name__}"
    text = " ".join(re.sub(" at 0x[0-9a-f]+", "", repr(value)).split())
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"


def _of_the_index(name: str) -> str:
    return f"There is no column {name!r}: {name!r} is a level of the index. Make it one: df.reset_index({name!r})."


class UnknownName(SashError, LookupError):
    """A name that is not on the list."""

    @classmethod
    def of(cls, kind: str, name: object, known: Iterable[str]) -> "UnknownName":
        known = sorted(known)
        spelled = {each.lower(): each for each in known}
        near = difflib.get_close_matches(str(name).lower(), spelled, n=1)
        hint = f" Did you mean {spelled[near[0]]!r}?" if near else ""
        return cls(f"There is no {kind} {_shown(name)}.{hint} The known ones: {_listed(known)}.")

    @classmethod
    def index_level(cls, name: str) -> "UnknownName":
        return cls(_of_the_index(name))


class MissingPackage(SashError, ImportError):
    """Something that sash needs for this and that is not installed."""

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> "MissingPackage":
        return cls(f"{what} needs {package}, which is not installed. Get it with: pip install 'sash[{extra}]'")

    @classmethod
    def java(cls, what: str) -> "MissingPackage":
        return cls(f"{what} needs a Java of version 17 or newer, and Spark found none that starts: set JAVA_HOME.")


class EmptyWindow(SashError, IndexError):
    """The window holds no row."""

    @classmethod
    def cannot(cls, verb: str) -> "EmptyWindow":
        return cls(f"Cannot {verb} an empty window: insert a value first, or check len(window).")


class BrokenWindow(SashError, RuntimeError):
    """A user function failed while the window was being changed."""

    @classmethod
    def since(cls, aggregate: str, cause: BaseException) -> "BrokenWindow":
        return cls(
            f"The window is no longer usable: combine or invert of {aggregate!r} raised "
            f"{type(cause).__name__}: {cause}. Restore it from its last save()."
        )


class BrokenStream(SashError, RuntimeError):
    """A result did not fit while windows were being sent."""

    @classmethod
    def since(cls, cause: BaseException) -> "BrokenStream":
        return cls(
            f"The stream is no longer usable, for windows could not be sent: {cause} Restore it from its last save()."
        )


class CallWithinCall(SashError, RuntimeError):
    """A stream or a window is used by a function that it has called itself."""

    @classmethod
    def of(cls, what: str, inner: str, outer: str) -> "CallWithinCall":
        return cls(
            f"{inner}() was called while {outer}() of the same {what} runs, by one of your functions that it calls. "
            f"Keep what you want to do with the {what}, and do it after {outer}() has returned."
        )


class InvalidAggregate(SashError, TypeError):
    """An aggregate that does not fit together."""

    @classmethod
    def field(cls, code: object) -> "InvalidAggregate":
        return cls(
            f"{code!r} is not a field: use i1 i2 i4 i8, u1 u2 u4 u8, f4 f8, b1, one of them with a length "
            "such as 'f8[10]', or 'O' for any Python object."
        )

    @classmethod
    def shape(cls, name: str, what: str, expected: int, value: object) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: {what} must give {expected} value(s), one per field of its state, but gave {value!r}."
        )

    @classmethod
    def not_a_function(cls, name: str, what: str, value: object) -> "InvalidAggregate":
        return cls(f"Aggregate {name!r}: {what} must be a function, but is {_shown(value)}.")

    @classmethod
    def fails(cls, name: str, what: str, arguments: object, cause: BaseException) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: {what} raised {type(cause).__name__}: {cause}, when given {arguments}. "
            "Nothing was changed. Mend the function, or filter such values before."
        )

    @classmethod
    def breaks(cls, name: str, cause: BaseException) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: combine or invert raised {type(cause).__name__}: {cause}, while the window was being "
            "changed. It can no longer be used: restore it from its last save(), and mend the function."
        )

    @classmethod
    def unknown(cls, name: str, what: str, path: str, value: object) -> "InvalidAggregate":
        kind = type(value)
        home = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        reads = f"reads {path}" if path else "is or holds an object"
        return cls(
            f"Aggregate {name!r}: {what} {reads} (of type {home}{kind.__qualname__}), and nothing tells whether "
            "that is the same in another process or after a restart. Let it read what can be pickled, such as numbers, "
            "strings, functions and plain objects, or open files, locks and connections inside the function."
        )

    @classmethod
    def truncates(cls, name: str, what: str, given: str, kept: str) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r}: {what} gives {given} where {kept} is declared, which would cut it off. Declare f8."
        )

    @classmethod
    def not_compilable(cls, name: str, reason: str) -> "InvalidAggregate":
        return cls(
            f"Aggregate {name!r} cannot be compiled: {reason} "
            "Keep to numbers, tuples, math and NumPy, or declare state=('O',) to run it as plain Python."
        )

    @classmethod
    def parameter(cls, name: str, parameter: str, value: object, expected: str) -> "InvalidAggregate":
        return cls(f"Aggregate {name!r}: {parameter} must be {expected}, but is {_shown(value)}.")

    @classmethod
    def not_an_aggregate(cls, value: object) -> "InvalidAggregate":
        return cls(f"Expected an aggregate, made by a call such as sash.max('x'), but got {_shown(value)}.")


class UnsupportedAggregate(SashError, TypeError):
    """An aggregate that this algorithm or this type does not admit."""

    @classmethod
    def lacks(cls, trait: str, algorithm: str, aggregate: str, instead: Iterable[str]) -> "UnsupportedAggregate":
        have = {
            "invert": "an aggregate with `invert`, and {!r} has none",
            "selective": "a selective aggregate (combine returns one of its operands), and {!r} is not",
            "quantile": "the median or a quantile of numbers, and {!r} is not one",
            "commutative": "a commutative aggregate (late rows are combined last), and {!r} is not",
        }[trait].format(aggregate)
        return cls(f"{algorithm} cannot slide {aggregate!r}: it needs {have}. Use {' or '.join(instead)}.")

    @classmethod
    def of_type(cls, aggregate: str, given: object, expected: str) -> "UnsupportedAggregate":
        return cls(f"{aggregate!r} does not take values of type {given}: it takes {expected}. Cast them first.")

    @classmethod
    def open_result(cls, where: str, result: str) -> "UnsupportedAggregate":
        return cls(
            f"{where} must know the type of {result!r} before Spark runs it, and the aggregate gives Python objects. "
            "Say what they are: Aggregate(…, result=pyarrow.string())."
        )

    @classmethod
    def many_ranges(cls, algorithm: str, instead: Iterable[str]) -> "UnsupportedAggregate":
        return cls(f"{algorithm} answers one range per pass, not many. Use {' or '.join(instead)}.")


class UnsupportedWindow(SashError, TypeError):
    """A window that this technique does not answer."""

    @classmethod
    def by(cls, technique: str, kind: str, instead: Iterable[str]) -> "UnsupportedWindow":
        return cls(f"{technique} cannot answer {kind} windows. Use {' or '.join(instead)}.")


class InvalidInput(SashError, ValueError):
    """Values, sizes or options that make no sense."""

    @classmethod
    def at_least(cls, what: str, value: object, least: int) -> "InvalidInput":
        return cls(f"{what} must be a whole number of at least {least}, but is {_shown(value)}.")

    @classmethod
    def ragged(cls, lengths: object) -> "InvalidInput":
        return cls(f"The columns must have the same length, but have {lengths}.")

    @classmethod
    def names(cls, names: object) -> "InvalidInput":
        return cls(f"Aggregates in a dict are named by strings, but these are {names}.")

    @classmethod
    def not_flat(cls, shape: object) -> "InvalidInput":
        return cls(f"Values must be one-dimensional, but have shape {shape}. Pass one column at a time.")

    @classmethod
    def mixed(cls, value: object, why: str) -> "InvalidInput":
        return cls(f"Cannot read the values as one column: {why}, at {value!r}. Give all values one type.")

    @classmethod
    def columns(cls, aggregate: str, expected: int, given: int) -> "InvalidInput":
        return cls(f"{aggregate!r} takes {expected} column(s) of values, but got {given}. Pass a tuple of columns.")

    @classmethod
    def value_type(cls, value: object, bound: str) -> "InvalidInput":
        return cls(
            f"{value!r} is not a value for a window of {bound}. Convert it, or open the window with another dtype=…"
        )

    @classmethod
    def whole_array(cls, algorithm: str) -> "InvalidInput":
        return cls(
            f"{algorithm} slides windows of one size over a whole array: use sash.swag.slide, or another algorithm."
        )

    @classmethod
    def in_order(cls, algorithm: str) -> "InvalidInput":
        return cls(f"{algorithm} takes rows in order, without positions: open the window with 'fiba'.")

    @classmethod
    def ranges(cls, why: str) -> "InvalidInput":
        return cls(f"The ranges are not usable: {why}. Give starts and ends that never decrease, with start <= end.")

    @classmethod
    def duration(cls, value: object, why: str) -> "InvalidInput":
        return cls(
            f"{value!r} is not a usable duration: {why}. "
            "Write such as '1 hour', '90s', '1h30m', 'PT1H', or give a timedelta."
        )

    @classmethod
    def on_type(cls, name: str, kind: object) -> "InvalidInput":
        return cls(
            f"Column {name!r} of type {kind} cannot be `on`: rows advance by timestamps, dates, integers or floats. "
            "Cast it first."
        )

    @classmethod
    def too_far(cls, name: str, value: object, kind: str, reach: float) -> "InvalidInput":
        limits = {
            "time": f"lie within {round(reach / 3.156e13, -3):,.0f} years of 1970",
            "integer": "lie within 2^61 of zero",
            "float": f"lie within {reach:.6g} of zero: beyond it floats are too coarse for the edges",
        }
        longer = " Take longer windows, or filter such rows out." if kind == "float" else " Filter such rows out."
        return cls(f"Column {name!r} holds {value!r}, but positions of these windows {limits[kind]}.{longer}")

    @classmethod
    def on_changed(cls, name: str, given: object, kind: str) -> "InvalidInput":
        return cls(
            f"Column {name!r} was of kind {kind} when the stream began, and is {given} now. Cast it to what it was, "
            "or open another stream."
        )

    @classmethod
    def key_type(cls, name: str, kind: object) -> "InvalidInput":
        return cls(
            f"Column {name!r} of type {kind} cannot be in `by`: keys are numbers, booleans, strings, bytes, dates or "
            "times. Cast it, or take the parts of it that make the key."
        )

    @classmethod
    def key_changed(cls, name: str, given: object, kind: object) -> "InvalidInput":
        return cls(
            f"Column {name!r} in `by` was {kind} when the stream began, and {given} does not fit that. Cast it to what "
            "it was, or open another stream."
        )

    @classmethod
    def rows(cls, value: object, fix: str) -> "InvalidInput":
        return cls(
            "Rows are an Arrow, pandas or Polars table, or a dict of columns such as {'ts': [1, 2], 'x': [0.5, 0.7]}, "
            f"but these are {' '.join(str(value).split())}: {fix}."
        )

    @classmethod
    def streaming(cls, what: str) -> "InvalidInput":
        return cls(f"{what} needs a bounded DataFrame, and this one is a stream. Read it with spark.read.")

    @classmethod
    def no_watermark(cls, what: str, on: str) -> "InvalidInput":
        return cls(
            f"{what} of a stream needs to know how late rows may come: give watermark='10 seconds', or "
            f"rows.withWatermark({on!r}, '10 seconds')."
        )

    @classmethod
    def for_streams(cls, option: str, value: object) -> "InvalidInput":
        return cls(f"{option}={value!r} is for streams, and these rows are a table: leave it out.")

    @classmethod
    def for_windows(cls, option: str, value: object) -> "InvalidInput":
        return cls(f"{option}={value!r} is for windows, and this asks for one result per row: leave it out.")

    @classmethod
    def in_column(cls, name: object, why: str) -> "InvalidInput":
        return cls(f"Column {name!r} cannot be read: {why.rstrip('.')}.")

    @classmethod
    def not_in_arrow(cls, name: str, kind: str) -> "InvalidInput":
        return cls(
            f"Column {name!r} of type {kind} cannot be read in Python, for Arrow has no such type: cast it, such as "
            "to a string, or drop it."
        )

    @classmethod
    def twice(cls, name: str) -> "InvalidInput":
        return cls(f"There are several columns {name!r}: rename all but one.")

    @classmethod
    def changed(cls, name: str, given: object, known: object) -> "InvalidInput":
        return cls(
            f"Column {name!r} held {known} so far and now holds {given}: cast it to the first type, and push again."
        )

    @classmethod
    def option(cls, what: str, value: object, expected: str) -> "InvalidInput":
        return cls(f"{what} must be {expected}, but is {_shown(value)}.")

    @classmethod
    def in_parts(cls) -> "InvalidInput":
        return cls(
            "Spark cut the first micro-batch, which also brings `initial`, in two, and rows of the second part would "
            "be late: set spark.sql.execution.arrow.maxRecordsPerBatch higher, and start anew."
        )


class InvalidJob(SashError, ValueError):
    """A job file that cannot be run."""

    @classmethod
    def unreadable(cls, path: object, why: str) -> "InvalidJob":
        return cls(f"{path} cannot be read: {why}.")

    @classmethod
    def not_toml(cls, path: object, why: str) -> "InvalidJob":
        return cls(f"{path} is not TOML: {why}.")

    @classmethod
    def unknown(cls, path: object, what: str, name: str, known: Iterable[str]) -> "InvalidJob":
        return cls(f"{path}: {UnknownName.of(what, name, known)}")

    @classmethod
    def missing(cls, path: object, part: str, key: str, example: str) -> "InvalidJob":
        return cls(f"{path}: [{part}] has no {key!r}. Add, for example, {example}")

    @classmethod
    def wrong_type(cls, path: object, key: str, value: object, expected: str) -> "InvalidJob":
        return cls(f"{path}: {key} must be {expected}, but is {value!r}.")

    @classmethod
    def in_query(cls, path: object, query: str, why: str) -> "InvalidJob":
        return cls(f"{path}: query {query!r}: {why}")

    @classmethod
    def nothing_asked(cls, path: object) -> "InvalidJob":
        return cls(f"{path} asks for nothing: add [queries.name] with a window, or text = 'SELECT …' under [job].")

    @classmethod
    def asked_twice(cls, path: object) -> "InvalidJob":
        return cls(f"{path} has both text under [job] and [queries]: keep one of them.")

    @classmethod
    def no_variable(cls, path: object, name: str) -> "InvalidJob":
        return cls(f"{path}: ${{{name}}} is not set. Set it, or give a default: ${{{name}:-…}}.")

    @classmethod
    def because(cls, path: object, cause: BaseException) -> "InvalidJob":
        return cls(f"{path}: {cause}")

    @classmethod
    def unnamed_query(cls, path: object) -> "InvalidJob":
        return cls(f"{path}: a query has a name: write [queries.hourly] or the like in the place of [queries].")

    @classmethod
    def window_kinds(cls, path: object, query: str, kinds: Iterable[str]) -> "InvalidJob":
        return cls(f"{path}: query {query!r}: a window is of one kind, but this is {_listed(kinds)}: keep one of them.")

    @classmethod
    def window_words(cls, path: object, query: str, why: str, example: str) -> "InvalidJob":
        return cls(f"{path}: query {query!r}: {why}. Write such as window = {example}")

    @classmethod
    def other_table(cls, path: object, asked: str, table: str) -> "InvalidJob":
        return cls(
            f"{path}: the text reads from {asked!r}, and the source is called {table!r}: "
            f'write table = "{asked}" under [source], or change the text.'
        )

    @classmethod
    def by_spark(cls, path: object, what: str, why: str) -> "InvalidJob":
        return cls(f"{path}: Spark cannot {what}: {why}")


class NumberOverflow(SashError, OverflowError):
    """An exact integer result that does not fit."""

    @classmethod
    def at(cls, aggregate: str, row: int, kind: str = "64-bit integers") -> "NumberOverflow":
        return cls(
            f"{aggregate!r} overflows {kind} at result {row}: the exact answer does not fit. "
            "Cast the values to float64, or make the window smaller."
        )


class InvalidState(SashError, ValueError):
    """Bytes that are not a state of this window."""

    @classmethod
    def not_ours(cls, what: str = "window") -> "InvalidState":
        return cls(f"These bytes are not a saved {what}: they do not start as save() writes them.")

    @classmethod
    def changed_query(cls, name: str, saved: str, given: str) -> "InvalidState":
        return cls(
            f"Query {name!r} is not the one that was saved. Saved: {saved}. Given: {given}. "
            "Restore it as it was, or give the new one another name."
        )

    @classmethod
    def changed_aggregate(
        cls, where: str, aggregate: str, changed: Iterable[str], saved_by: str, python: str
    ) -> "InvalidState":
        known = (
            f" Python {saved_by} saved it, and Python {python} compiles functions to other code: use the same version."
            if saved_by != python
            else ""
        )
        return cls(
            f"{where}: the aggregate {aggregate!r} is not the one that was saved. What changed: {_listed(changed)}."
            f"{known} Restore it as it was, or give the new one another name and start it anew."
        )

    @classmethod
    def other_queries(cls, saved: Iterable[str], given: Iterable[str]) -> "InvalidState":
        return cls(
            f"The state was saved with the queries {_listed(saved)}, and none of them is among {_listed(given)}. "
            "Restore it with at least one of them, then add and remove."
        )

    @classmethod
    def version(cls, given: int, known: int) -> "InvalidState":
        return cls(
            f"The state has format {given}, and this version of sash reads format {known}. Use the sash that saved it."
        )

    @classmethod
    def damaged(cls, why: str) -> "InvalidState":
        return cls(f"The saved state is damaged: {why}. Restore an older copy.")

    @classmethod
    def unreadable(cls, why: str, error: BaseException) -> "InvalidState":
        try:
            return cls.damaged(f"{why} ({error})")
        except ValueError:  # an integer of more digits than Python writes
            return cls.damaged(why)

    @classmethod
    def partials(cls, name: str, error: BaseException) -> "InvalidState":
        return cls.unreadable(f"{name} cannot be computed of its partials", error)

    @classmethod
    def other(cls, what: str, saved: object, given: object) -> "InvalidState":
        shown = saved[:400] if isinstance(saved, str) else _in_short(saved)
        return cls(f"The state was saved with {what} {shown}, not {given}. Restore it with the one that saved it.")

    @classmethod
    def own_window(cls, name: str, text: str) -> "InvalidState":
        return cls(f"The window of query {name!r} is your own ({text}): give sash.state its queries=[…].")

    @classmethod
    def options(cls, differences: Iterable[tuple[str, object, object]]) -> "InvalidState":
        said = "; ".join(f"{name} was {saved}, and is {given}" for name, saved, given in differences)
        return cls(f"The checkpoint is of other options: {said}. Give those that it was written with, or start anew.")

    @classmethod
    def partitions(cls, saved: int, given: int) -> "InvalidState":
        return cls(
            f"The checkpoint was written with {saved} shuffle partitions, and the session now has {given}: keys would "
            f"be looked for in the wrong place. Set spark.sql.shuffle.partitions to {saved} before sash.aggregate, or "
            "start with a new checkpoint."
        )

    @classmethod
    def flush(cls, checkpoint: str, was: bool) -> "InvalidState":
        before, now = ("with", "without") if was else ("without", "with")
        return cls(
            f"The checkpoint {checkpoint} was written {before} flush='at_end', and this query is {now} it: `flush` "
            "cannot change between two runs. Start it as it was, or with a new checkpoint and the rows before as "
            "`initial=`."
        )

    @classmethod
    def sources(cls, saved: object, given: object) -> "InvalidState":
        return cls(
            f"The checkpoint was written by a query of {saved} source(s), and this one has {given}; flush='at_end' "
            "adds one. Start it with the sources and the `flush` that it had, or with a new checkpoint and the rows "
            "before as `initial=`."
        )

    @classmethod
    def source_changed(cls, expected: int, found: int) -> "InvalidState":
        return cls(
            f"The rows of the source changed while they were read: {expected} were counted where {found} came. "
            "Cache or save the DataFrame first, and run it again."
        )

    @classmethod
    def not_savable(cls, value: object) -> "InvalidState":
        return cls(
            f"A partial holds a {type(value).__name__}, which cannot be saved: keep to numbers, strings, bytes, "
            "dates, decimals, and tuples, lists, dicts or sets of them."
        )


class InvalidWindow(SashError, ValueError):
    """A window that cannot be."""

    @classmethod
    def unknown_kind(cls, window: object, known: Iterable[str]) -> "InvalidWindow":
        return cls(
            f"{window} is a {type(window).__name__}, which is no kind of window that sash knows: take one of "
            f"{', '.join(known)}, or derive from sash.ContextFreeWindow or sash.ContextAwareWindow."
        )

    @classmethod
    def unknown_zone(cls, window: str, zone: object, near: Sequence[str]) -> "InvalidWindow":
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return cls(
            f"zone of a {window} window must be a time zone such as 'Europe/Berlin' or 'UTC', but is {zone!r}.{hint}"
        )

    @classmethod
    def no_zone(cls, window: str, zone: object) -> "InvalidWindow":
        return cls(f"A {window} window of rows has no zone, but zone is {zone!r}: leave it out.")

    @classmethod
    def not_on_calendar(cls, window: str, what: str, value: object) -> "InvalidWindow":
        return cls(
            f"{what} of a {window} window with a zone must be whole days, weeks, months, quarters or years, but is "
            f"{value!r}: hours are the same in every zone, so leave the zone out."
        )

    @classmethod
    def mixed_period(cls, window: str, period: str) -> "InvalidWindow":
        return cls(
            f"A {window} window of the calendar starts every so many months, weeks or days, but {period!r} mixes them: "
            "give one of them, and shift by `offset`."
        )

    @classmethod
    def calendar_on_number(cls, window: str, kind: str) -> "InvalidWindow":
        return cls(f"{window!r} is a window of the calendar, but `on` is a plain {kind}: give an `on` that is a time.")

    @classmethod
    def edge_list(cls, edges: object) -> "InvalidWindow":
        return cls(
            f"sash.calendar takes a list of at least two edges, as in sash.calendar([0, 10, 15]), but got {edges!r}."
        )

    @classmethod
    def unsorted_edges(cls, before: object, after: object) -> "InvalidWindow":
        return cls(f"The edges of sash.calendar must ascend, but {after!r} follows {before!r}: sort them, each once.")

    @classmethod
    def missing(cls, window: str, what: str) -> "InvalidWindow":
        return cls(f"A {window} window needs {what}: give it, as in sash.{window}({what}=…).")

    @classmethod
    def length(cls, window: str, what: str, value: object) -> "InvalidWindow":
        return cls(
            f"{what} of a {window} window must be a duration such as '10 minutes' or a number, more than 0 and less "
            f"than 2^61, but is {value!r}."
        )

    @classmethod
    def count(cls, window: str, what: str, value: object) -> "InvalidWindow":
        return cls(f"{what} of a {window} window of rows must be a whole number of at least 1, but is {value!r}.")

    @classmethod
    def number_on_time(cls, window: str, what: str, value: object) -> "InvalidWindow":
        of = window if what == "length" else f"{what} of a {window} window"
        return cls(f"{of} is {value!r}, a bare number, but `on` is a time: say the unit, as in '{value} seconds'.")

    @classmethod
    def duration_on_number(cls, window: str, what: str, value: object) -> "InvalidWindow":
        of = window if what == "length" else f"{what} of a {window} window"
        return cls(
            f"{of} is the duration '{value}', but `on` is a float: give a number in its unit, or "
            "an `on` that is a time."
        )

    @classmethod
    def fraction(cls, window: str, what: str, value: object) -> "InvalidWindow":
        of = window if what == "length" else f"{what} of a {window} window"
        return cls(f"{of} is {value!r}, but `on` is an integer: give a whole number, or cast `on` to float.")

    @classmethod
    def not_whole(cls, size: object, every: object) -> "InvalidWindow":
        return cls(f"A cumulative window of {size} cannot grow by {every}: every must divide size without rest.")

    @classmethod
    def empty_band(cls, start: object, end: object) -> "InvalidWindow":
        return cls(f"A landmark window from {start!r} to {end!r} is empty: start must come before end.")

    @classmethod
    def both(cls, window: str, size: object, rows: object) -> "InvalidWindow":
        return cls(f"A {window} window has a size ({size!r}) or rows ({rows!r}), not both.")

    @classmethod
    def no_offset(cls, window: str, offset: object) -> "InvalidWindow":
        return cls(f"A {window} window of rows counts from the first row: leave out offset, which is {offset!r}.")

    @classmethod
    def column(cls, window: str, value: object) -> "InvalidWindow":
        return cls(f"A {window} window needs the name of a boolean column, but got {_shown(value)}.")

    @classmethod
    def edges(cls, window: object, why: str) -> "InvalidWindow":
        return cls(f"The window {window} is not usable: {why}.")

    @classmethod
    def fails(cls, window: object, call: str, cause: BaseException) -> "InvalidWindow":
        return cls(
            f"The window {window}: {call} raised {type(cause).__name__}: {cause}. Nothing was changed. "
            "Mend the function."
        )

    @classmethod
    def not_negative(cls, what: str, value: object) -> "InvalidWindow":
        return cls(
            f"{what} must be a duration such as '10 seconds' or a number, not negative and less than 2^61, "
            f"but is {value!r}."
        )

    @classmethod
    def too_many(cls, query: str, count: float, most: float) -> "InvalidWindow":
        return cls(
            f"Query {query!r} would put each row into {count:,.0f} windows; at most {most:,.0f} are computed. "
            "Make `every` longer, or the window shorter."
        )

    @classmethod
    def too_fine(cls, position: float, reach: float) -> "InvalidWindow":
        return cls(
            f"The stream is at {position:.6g}, and the windows asked for need positions within {reach:.6g} of zero: "
            "beyond it floats are too coarse for their edges. Take longer windows, or open another stream."
        )

    @classmethod
    def too_many_at_once(cls, most: int) -> "InvalidWindow":
        return cls(
            f"The watermark moved over more than {most:,} ends of windows of the last rows: that many results are not "
            "computed at once. Make `every` longer, or see that watermarks are in the unit of `on`."
        )

    @classmethod
    def not_a_window(cls, value: object) -> "InvalidWindow":
        return cls(f"Expected a window, made by a call such as sash.tumbling('10 minutes'), but got {_shown(value)}.")


class InvalidQuery(SashError, ValueError):
    """A query, or a set of them, that cannot be."""

    @classmethod
    def name(cls, value: object) -> "InvalidQuery":
        return cls(f"A query needs a name, a non-empty string, but got {_shown(value)}.")

    @classmethod
    def private(cls, name: str) -> "InvalidQuery":
        return cls(
            f"The name of a query must not start with an underscore, but is {name!r}: such names mark late rows."
        )

    @classmethod
    def empty(cls, name: str) -> "InvalidQuery":
        return cls(
            f"Query {name!r} computes nothing: give it an aggregate by the name of its result, as in "
            "peak=sash.max('x')."
        )

    @classmethod
    def reserved(cls, query: str, result: str, names: Iterable[str]) -> "InvalidQuery":
        return cls(
            f"Query {query!r}: {result!r} cannot be the name of a result, for the table has it: {_listed(names)}."
        )

    @classmethod
    def no_column(cls, query: str, result: str, aggregate: str, arity: int, is_own: bool) -> "InvalidQuery":
        call = f"{'' if is_own else 'sash.'}{aggregate}({', '.join(map(repr, 'xyz'[:arity]))})"
        return cls(f"Query {query!r}, {result}={aggregate}(): say of which column, as in {call}.")

    @classmethod
    def unnamed(cls, query: str) -> "InvalidQuery":
        return cls(f"Query {query!r}: an aggregate needs the name of its result, as in peak=sash.max('x').")

    @classmethod
    def not_a_query(cls, value: object) -> "InvalidQuery":
        return cls(
            "Expected a query such as sash.query('hourly', sash.tumbling('1 hour'), n=sash.count()), "
            f"but got {_shown(value)}."
        )

    @classmethod
    def twice(cls, name: str) -> "InvalidQuery":
        return cls(f"Two queries are named {name!r}: give each a name of its own.")

    @classmethod
    def alike(cls, one: str, other: str) -> "InvalidQuery":
        return cls(
            f"The columns {one!r} and {other!r} of the results differ in case alone, and Spark takes them for one: "
            "give the result another name, or set spark.sql.caseSensitive to true."
        )

    @classmethod
    def none(cls) -> "InvalidQuery":
        return cls("There is no query: give at least one.")

    @classmethod
    def types(cls, result: str, one: object, other: object) -> "InvalidQuery":
        return cls(
            f"Two queries name a result {result!r}, one of type {one}, one of {other}: give one of them another name."
        )


class InvalidText(SashError, ValueError):
    """A query text that cannot be read, or asks for what cannot be; says where."""

    place: int | None = None  # of the first letter that is wrong, once it is known

    @classmethod
    def _at(cls, place: int | None, said: str) -> "InvalidText":
        error = cls(said)
        error.place = place
        return error

    def within(self, text: str) -> "InvalidText":
        """The same error, with the line that is wrong and a mark under the place."""
        if self.place is None:
            return self
        place = min(self.place, len(text))
        number = text.count("\n", 0, place) + 1
        begin = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place)
        line = text[begin : end if end >= 0 else len(text)]
        column = place - begin
        cut = max(0, column - 60) if len(line) > _WIDEST else 0
        shown = "".join(letter if letter.isprintable() else " " for letter in line[cut : cut + _WIDEST])
        before, after = "…" if cut else "", "…" if len(line) > cut + _WIDEST else ""
        mark = " " * (column - cut + len(before)) + "^"
        return type(self)(f"Line {number}: {self}\n    {before}{shown}{after}\n    {mark}")

    @classmethod
    def not_text(cls, value: object) -> "InvalidText":
        example = "'SELECT MAX(x) FROM t [RANGE 1 HOUR SLIDE 1 MINUTE]'"
        return cls(f"Query text is a string such as {example}, not {_shown(value)}.")

    @classmethod
    def empty(cls) -> "InvalidText":
        return cls("The query text is empty: write such as 'SELECT MAX(x) FROM t [RANGE 1 HOUR SLIDE 1 MINUTE]'.")

    @classmethod
    def index_level(cls, place: int, name: str) -> "InvalidText":
        return cls._at(place, _of_the_index(name))

    @classmethod
    def too_long(cls, length: str, most: str) -> "InvalidText":
        return cls(f"The query text has {length}, and at most {most} are read: make several calls of it.")

    @classmethod
    def too_deep(cls, place: int, most: int) -> "InvalidText":
        return cls._at(place, f"This is nested deeper than {most} levels: compute parts of it as columns before.")

    @classmethod
    def unreadable(cls, place: int, letter: str) -> "InvalidText":
        return cls._at(place, f"{letter!r} has no meaning here: put names with such letters between backticks.")

    @classmethod
    def unclosed(cls, place: int, what: str, closing: str) -> "InvalidText":
        return cls._at(place, f"The {what} that begins here does not end: close it with {closing}.")

    @classmethod
    def no_name(cls, place: int) -> "InvalidText":
        return cls._at(place, "There is no name between these quotes: write one.")

    @classmethod
    def dotted(cls, place: int) -> "InvalidText":
        return cls._at(
            place, "A name with a dot goes between backticks, as in `a.b`; tables are not named with columns."
        )

    @classmethod
    def number(cls, place: int, word: str) -> "InvalidText":
        return cls._at(place, f"{_short(word)} is not a number that fits 64 bits, or it lacks a space before its unit.")

    @classmethod
    def moment(cls, place: int, kind: str, word: str) -> "InvalidText":
        example = "'2026-01-31'" if kind == "DATE" else "'2026-01-31 12:00:00'"
        return cls._at(place, f"{kind} {_short(word)!r} cannot be read: write such as {kind} {example}.")

    @classmethod
    def unexpected(cls, place: int, found: str, expected: Iterable[str], near: str | None) -> "InvalidText":
        *most, last = expected
        words = f"{', '.join(most)} or {last}" if most else last
        hint = f" Did you mean {near}?" if near else ""
        return cls._at(place, f"Expected {words}, but found {_short(found) if found else 'the end'}.{hint}")

    @classmethod
    def unsupported(cls, place: int, what: str, instead: str) -> "InvalidText":
        return cls._at(place, f"{what} is not part of the language: {instead}.")

    @classmethod
    def meaning(cls, place: int | None, what: str, fix: str) -> "InvalidText":
        return cls._at(place, f"{what}: {fix}.")

    @classmethod
    def because(cls, place: int | None, cause: BaseException) -> "InvalidText":
        return cls._at(place, str(cause))

    @classmethod
    def unknown(cls, place: int | None, kind: str, name: str, known: Iterable[str]) -> "InvalidText":
        return cls._at(place, str(UnknownName.of(kind, name, known)))

    @classmethod
    def arguments(cls, place: int, function: str, expected: str, given: int) -> "InvalidText":
        return cls._at(place, f"{function} takes {expected}, but got {given}.")

    @classmethod
    def twice(cls, place: int, name: str) -> "InvalidText":
        return cls._at(place, f"Two results are named {name!r}: give one of them another name, with AS.")

    @classmethod
    def disagree(cls, place: int | None, what: str, one: object, other: object) -> "InvalidText":
        return cls._at(place, f"{what} must be the same wherever it is said, but is {one} and {other}.")

    @classmethod
    def types(cls, place: int | None, function: str, kinds: Iterable[object]) -> "InvalidText":
        given = " and ".join(map(str, kinds)) or "nothing"
        return cls._at(
            place, f"{function.upper()} does not take {given}: cast columns before, or compare like with like."
        )

    @classmethod
    def values(cls, place: int | None, function: str, why: str) -> "InvalidText":
        return cls._at(place, f"{function.upper()} cannot be computed of these rows: {why.rstrip('.')}.")

    @classmethod
    def registered(cls, name: str) -> "InvalidText":
        return cls(f"{name!r} is a function of the language: give your aggregate another name.")

    @classmethod
    def no_table(cls, place: int | None, name: str, known: Iterable[str]) -> "InvalidText":
        known = sorted(known)
        if known:
            return cls.unknown(place, "table", name, known)
        return cls._at(place, f"There is no table {name!r}: give it by its name, as in sash.sql(text, {name}=rows).")


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:40]}…"
