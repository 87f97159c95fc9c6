"""Refusals that depend on no rows: queries, windows, aggregates, calls, saved states, the data structure by hand."""

import datetime as dt
import math
from typing import Any

import pandas as pd
import polars as pl

import sash
from sash.errors import (
    EmptyWindow,
    InvalidAggregate,
    InvalidInput,
    InvalidQuery,
    InvalidState,
    InvalidText,
    InvalidWindow,
    UnknownName,
)
from tests.refusals.case import Case

__all__ = ["CALLS"]

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
NOON = dt.datetime(2026, 1, 1, 12)
ROWS: dict[str, Any] = {"t": [1, 2], "x": [1, 2]}
TIMES: dict[str, Any] = {"t": [NOON], "x": [1]}
TENS = sash.tumbling(10)
TEN = sash.query("ten", TENS, n=sash.count())
SOON = sash.query("soon", sash.tumbling("10s"), n=sash.count())


def query(**results: Any) -> Any:
    return S.query("q", sash.tumbling(10), **results)


def over(window: Any, rows: Any = ROWS) -> Any:
    return sash.aggregate(rows, sash.query("q", window, n=sash.count()), on="t")


def mine(**functions: Any) -> Any:
    given: dict[str, Any] = {"state": "f8", "identity": 0.0, "lift": lambda x: x, "combine": lambda a, b: a + b}
    return S.Aggregate("mine", **{**given, **functions})


def slid(**functions: Any) -> Any:
    return sash.swag.slide([1.0, 2.0], 2, mine(**functions))


def pair(**functions: Any) -> Any:
    """Objects in a tuple, so that nothing is compiled."""
    given = {"state": ("O",), "identity": ("",), "lift": lambda x: (x,), "combine": lambda a, b: (a[0] + b[0],)}
    return mine(**{**given, **functions})


def saved() -> bytes:
    stream = sash.Stream(TEN, on="t")
    stream.push(ROWS)
    return stream.save()


def opened(**options: Any) -> Any:
    return S.swag.open("daba_lite", sash.max(), **{"dtype": "f8", **options})


class Stuck(sash.ContextFreeWindow):
    def next_edge(self, position: Any) -> Any:
        return position

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        return []


class Backwards(sash.ContextAwareWindow):
    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        context.add(5, 3)


class Hasty(sash.ContextAwareWindow):
    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        context.remove(5, 13)


# --- queries ---------------------------------------------------------------------------------------------

QUERIES: dict[str, Case] = {
    "an aggregate that is not called": (lambda: query(peak=sash.max), InvalidAggregate, "sash.max('x')"),
    "Python's own max": (lambda: query(peak=max), InvalidAggregate, "but is the function max"),
    "an aggregate as a text": (lambda: query(peak="max(x)"), InvalidAggregate, "made by a call such as sash.max('x')"),
    "an aggregate without a name": (
        lambda: S.query("q", sash.tumbling(10), sash.count()),
        InvalidQuery,
        "needs the name of its result, as in peak=sash.max('x')",
    ),
    "an aggregate of a number": (lambda: query(peak=S.max(5)), InvalidAggregate, "columns must be names"),
    "an aggregate of a list": (lambda: query(peak=S.max(["x"])), InvalidAggregate, "columns must be names"),
    "an own aggregate of no column": (lambda: query(peak=mine()), InvalidQuery, "as in mine('x')"),
    "an own aggregate of too many columns": (lambda: mine()("x", "y"), InvalidAggregate, "1 column name(s)"),
    "argmax of one column": (lambda: sash.argmax("x"), InvalidAggregate, "two column names, or none"),
    "a quantile in percent": (lambda: sash.quantile("x", 95), InvalidAggregate, "a number from 0 to 1, but is 95"),
    "a quantile that is no number": (lambda: sash.quantile("x", math.nan), InvalidAggregate, "from 0 to 1, but is nan"),
    "a quantile before its column": (lambda: S.quantile(0.5, "x"), InvalidAggregate, "from 0 to 1, but is 'x'"),
    "a sketch too fine": (lambda: sash.hyperloglog("x", 99), InvalidAggregate, "a whole number from 4 to 16"),
    "a quantile of no sketch": (lambda: S.quantile_of(5, 0.5), InvalidAggregate, "must be the array"),
    "a window as a text": (lambda: S.query("q", "10s", n=sash.count()), InvalidWindow, "sash.tumbling('10 minutes')"),
    "a window that is not called": (
        lambda: S.query("q", sash.tumbling, n=sash.count()),
        InvalidWindow,
        "made by a call such as sash.tumbling('10 minutes'), but got the function tumbling",
    ),
    "the class of a window": (lambda: S.query("q", Stuck, n=sash.count()), InvalidWindow, "but got the class Stuck"),
    "window and name exchanged": (
        lambda: S.query(sash.tumbling(10), "q", n=sash.count()),
        InvalidQuery,
        "must be a non-empty string",
    ),
    "rows and queries exchanged": (lambda: S.aggregate(TEN, ROWS, on="t"), InvalidQuery, "sash.query('hourly'"),
    "a query without a name": (lambda: S.query("", TENS, n=sash.count()), InvalidQuery, "name of a query must be"),
    "a query named by a number": (lambda: S.query(5, TENS, n=sash.count()), InvalidQuery, "name of a query must be"),
    "a query with the name of late rows": (
        lambda: sash.query("_late", sash.tumbling(1), n=sash.count()),
        InvalidQuery,
        "underscore",
    ),
    "a query of nothing": (lambda: sash.query("q", sash.tumbling(1)), InvalidQuery, "has no aggregate"),
    "a number for an aggregate": (lambda: query(n=5), InvalidAggregate, "must be an aggregate"),
    "a result with a name of sash": (lambda: query(query=sash.count()), InvalidQuery, "'query' cannot be the name"),
    "a sum of no column": (lambda: query(s=sash.sum()), InvalidQuery, "name the column, as in sash.sum('x')"),
}

# --- windows ---------------------------------------------------------------------------------------------

WINDOWS: dict[str, Case] = {
    "no size": (lambda: sash.tumbling(), InvalidWindow, "as in sash.tumbling(size=…)"),
    "a size of infinity": (lambda: sash.tumbling(math.inf), InvalidWindow, "less than 2^61, but is inf"),
    "a negative duration": (lambda: sash.tumbling("-10 minutes"), InvalidWindow, "more than 0"),
    "a duration without a unit": (lambda: sash.tumbling("10"), InvalidInput, "Write for example '1 hour'"),
    "a unit misspelt": (lambda: sash.tumbling("10 minuets"), InvalidInput, "no unit of time, 'minutes' is"),
    "a unit that is none": (lambda: sash.tumbling("10 furlongs"), InvalidInput, "'furlongs' is no unit of time. Write"),
    "a month": (lambda: sash.session(gap="1 month"), InvalidInput, "give days or weeks"),
    "thousands with a comma": (lambda: sash.tumbling("1,000 seconds"), InvalidInput, "write such as 1.5 or 1500"),
    "a unit without a number": (lambda: sash.tumbling("minute"), InvalidInput, "Write for example '1 hour'"),
    "a moment for a size": (lambda: sash.tumbling(NOON), InvalidInput, "its type is datetime. Write for example"),
    "size and rows": (lambda: sash.tumbling("10s", rows=5), InvalidWindow, "leave one of them out"),
    "rows as a text": (lambda: S.sliding(rows="10", every=2), InvalidWindow, "a whole number of at least 1"),
    "rows beside every_rows": (lambda: sash.sliding("5s", rows=3, every_rows=10), InvalidWindow, "Leave out rows"),
    "a slide beside every_rows": (lambda: sash.sliding("5s", every="1s", every_rows=10), InvalidWindow, "out every"),
    "every_rows without a size": (lambda: sash.sliding(every_rows=10), InvalidWindow, "needs size"),
    "every_rows of nothing": (lambda: sash.sliding("5s", every_rows=0), InvalidWindow, "a whole number of at least 1"),
    "every_rows with an offset": (lambda: sash.sliding("5s", every_rows=2, offset=1), InvalidWindow, "has no offset"),
    "no slide": (lambda: sash.sliding("1 hour"), InvalidWindow, "needs every"),
    "a slide of nothing": (lambda: sash.sliding(10, every=0), InvalidWindow, "more than 0"),
    "an offset of rows": (lambda: sash.tumbling(rows=5, offset=2), InvalidWindow, "leave it out"),
    "growth that does not divide": (
        lambda: sash.cumulative("1 day", every="7h"),
        InvalidWindow,
        "size must be a whole multiple",
    ),
    "a band that ends before it starts": (lambda: over(sash.landmark(start=9, end=1)), InvalidWindow, "before end"),
    "a band without a start": (lambda: sash.landmark(start=None, end=3), InvalidWindow, "sash.landmark(start=…)"),
    "a store that there is not": (
        lambda: S.Stream(TEN, on="t", store="tree"),
        InvalidInput,
        "'auto', 'lazy' or 'eager'",
    ),
    "an end that is no column": (lambda: S.punctuated("new", 5), InvalidWindow, "name of a boolean column"),
    "punctuation by a function": (lambda: S.punctuated(lambda row: row), InvalidWindow, "name of a boolean column"),
    "an own window that stands still": (lambda: over(Stuck()), InvalidWindow, "must be a number after it"),
    "an own window backwards": (lambda: over(Backwards()), InvalidWindow, "not a start before an end"),
    "an own window that fails": (lambda: over(Hasty()), InvalidWindow, "The state is unchanged. Fix the function"),
}

# --- tables and streams ----------------------------------------------------------------------------------

RUNS: dict[str, Case] = {
    "the name of a file": (lambda: sash.aggregate("rows.csv", TEN, on="t"), InvalidInput, "Arrow, pandas or Polars"),
    "a column of one number": (lambda: sash.aggregate({"t": 1}, TEN, on="t"), InvalidInput, "one list or one-dim"),
    "a column of pandas alone": (
        lambda: sash.aggregate(pd.Series([1, 2], name="t"), TEN, on="t"),
        InvalidInput,
        "pass a DataFrame, or name the column in a dict",
    ),
    "an expression of Polars": (
        lambda: sash.aggregate(pl.col("t"), TEN, on="t"),
        InvalidInput,
        "pass a DataFrame, or name the column in a dict",
    ),
    "an option of a step misspelt": (lambda: sash.windowed(TEN, on="t", bye="x"), UnknownName, "Did you mean 'by'?"),
    "a step of no query": (lambda: S.windowed(5, on="t"), InvalidQuery, "Expected a query such as"),
    "a frame of nothing": (lambda: sash.frame(rows=3), InvalidQuery, "peak=sash.max('x')"),
    "a frame of three ends": (lambda: sash.frame(rows=(1, 2, 3), n=sash.count()), InvalidInput, "a pair such as"),
    "half a row": (lambda: sash.frame(rows=(-0.5, 0), n=sash.count()), InvalidInput, "a whole number, or None"),
    "a centered pair": (lambda: sash.frame(rows=(-1, 1), center=True, n=sash.count()), InvalidInput, "for one number"),
    "too few directions": (
        lambda: sash.rolling({"t": [1], "u": [1]}, on="t", rows=2, order="u", descending=[True], n=sash.count()),
        InvalidInput,
        "a list of 2 of them",
    ),
    "a delay in the place of a watermark": (
        lambda: sash.Stream(SOON, on="t").push(TIMES, watermark="10 seconds"),
        InvalidInput,
        "must be a datetime",
    ),
    "late rows that nobody kept": (lambda: sash.Stream(TEN, on="t").late(), InvalidInput, "Stream(…, late='keep')"),
    "a query removed by a wrong name": (
        lambda: sash.Stream(TEN, on="t").remove("tne"),
        UnknownName,
        "Did you mean 'ten'?",
    ),
    "a query removed by itself": (lambda: S.Stream(TEN, on="t").remove(TEN), UnknownName, "The known ones: ten."),
    "a function that fails": (
        lambda: sash.aggregate(
            {"t": [1, 2], "x": ["a", "b"]}, query(v=pair(combine=lambda a, b: (a[0] / b[0],))("x")), on="t"
        ),
        InvalidAggregate,
        "Fix the function, or filter such values out first.",
    ),
    "progress of a number": (lambda: sash.progress(5), InvalidInput, "the StreamingQuery that start() returned"),
    "page of a list": (lambda: sash.page([1]), InvalidInput, "watched must be a sash.Stream"),
    "page on no host": (lambda: S.page(sash.Stream(TEN, on="t"), host=""), InvalidInput, "host must be a name"),
    "page on no port": (
        lambda: S.page(sash.Stream(TEN, on="t"), port=70_000),
        InvalidInput,
        "port must be a free port",
    ),
    "page that keeps nothing": (
        lambda: S.page(sash.Stream(TEN, on="t"), keep_results=0),
        InvalidInput,
        "keep_results must be a number of results, at least 1",
    ),
    "a state of nothing": (lambda: S.state(None), InvalidInput, "the path of a checkpoint"),
    "an aggregate registered by its name": (lambda: S.register("max"), InvalidAggregate, "Expected an aggregate"),
    "an aggregate registered as max": (
        lambda: sash.register(sash.Aggregate("Max", state="f8", identity=0.0, lift=abs, combine=max)),
        InvalidText,
        "give your aggregate another name",
    ),
}

# --- states ----------------------------------------------------------------------------------------------

STATES: dict[str, Case] = {
    "a text": (lambda: S.Stream.restore("state", TEN), InvalidState, "not a saved stream"),
    "nothing": (lambda: sash.Stream.restore(b"", TEN), InvalidState, "not a saved stream"),
    "cut short": (lambda: sash.Stream.restore(saved()[:-7], TEN), InvalidState, "Restore an older copy"),
    "too long": (lambda: sash.Stream.restore(saved() + b"x", TEN), InvalidState, "Restore an older copy"),
    "one letter changed": (
        lambda: sash.Stream.restore(saved()[:-1] + bytes([saved()[-1] ^ 1]), TEN),
        InvalidState,
        "its checksum does not match. Restore an older copy",
    ),
    "of another version": (
        lambda: sash.Stream.restore(saved()[:8] + b"\x63" + saved()[9:], TEN),
        InvalidState,
        "Use the version that saved the state",
    ),
    "of other queries": (
        lambda: sash.Stream.restore(saved(), sash.query("other", sash.tumbling(5), n=sash.count())),
        InvalidState,
        "Restore it with at least one of them",
    ),
    "of a query that changed": (
        lambda: sash.Stream.restore(saved(), sash.query("ten", sash.tumbling(20), n=sash.count())),
        InvalidState,
        "Restore the saved query, or give the new one another name",
    ),
    "of a window by hand": (lambda: sash.Stream.restore(opened().save(), TEN), InvalidState, "not a saved stream"),
    "of a stream, in a window by hand": (lambda: opened().restore(saved()), InvalidState, "not a saved window"),
}

# --- the data structure ----------------------------------------------------------------------------------

SLIDES: dict[str, Case] = {
    "an algorithm misspelt": (
        lambda: sash.swag.slide([1], 1, sash.max(), algorithm="Two_Stack"),
        UnknownName,
        "Did you mean 'two_stacks'?",
    ),
    "size and aggregate exchanged": (
        lambda: S.swag.slide([1, 2], sash.max(), 2),
        InvalidInput,
        "size must be a whole number of at least 1",
    ),
    "a size in seconds": (lambda: S.swag.slide([1], "10s", sash.max()), InvalidInput, "a whole number"),
    "no sizes": (lambda: sash.swag.slide([1], [], sash.max()), InvalidInput, "at least one size"),
    "a text for values": (lambda: sash.swag.slide("abc", 2, sash.max()), InvalidInput, "a NumPy array, an Arrow array"),
    "no threads": (lambda: sash.swag.slide([1], 1, sash.max(), threads=0), InvalidInput, "at least 1"),
    "ranges beyond the rows": (lambda: sash.swag.fold([1, 2], [0], [3], sash.max()), InvalidInput, "within the 2 rows"),
    "algorithm and aggregate exchanged": (
        lambda: S.swag.open(sash.max(), "daba"),
        InvalidAggregate,
        "made by a call such as sash.max('x'), but got 'daba'",
    ),
    "several aggregates by hand": (
        lambda: S.swag.open("daba", {"a": sash.max()}),
        InvalidAggregate,
        "Expected an aggregate",
    ),
    "a type misspelt": (lambda: opened(dtype="flaot64"), InvalidInput, "a NumPy dtype of numbers"),
    "a question to an empty window": (lambda: opened().query(), EmptyWindow, "insert a value first"),
    "less than nothing evicted": (lambda: opened().evict(-1), InvalidInput, "at least 1"),
    "one value for many": (lambda: opened().insert_many(5), InvalidInput, "a NumPy array, an Arrow array or a list"),
}

# --- aggregates of one's own -----------------------------------------------------------------------------

OWN: dict[str, Case] = {
    "a state by another name": (lambda: mine(state="float64"), InvalidAggregate, "f4 f8"),
    "a state in a list": (lambda: mine(state=["f8"]), InvalidAggregate, "a field, or a tuple of fields"),
    "an identity in words": (lambda: mine(identity="0"), InvalidAggregate, "a number for field f8"),
    "an identity of one field for two": (lambda: mine(state=("f8", "i8")), InvalidAggregate, "2 value(s)"),
    "a result by a class": (lambda: mine(result=float), InvalidAggregate, "'f8', or an Arrow type"),
    "several fields and no lower": (
        lambda: slid(state=("f8", "f8"), identity=(0.0, 0.0), lift=lambda x: (x, x), combine=lambda a, b: a),
        InvalidAggregate,
        "lower must be given when the state has several fields",
    ),
    "combine of another shape": (
        lambda: sash.swag.slide(["a", "b"], 2, pair(combine=lambda a, b: a[0] + b[0])),
        InvalidAggregate,
        "combine must return 1 value(s)",
    ),
    "combine of another type": (lambda: slid(combine=lambda a, b: "sum"), InvalidAggregate, "declare state=('O',)"),
    "combine that fails": (
        lambda: sash.swag.slide(["a", "b"], 2, pair(combine=lambda a, b: (a[0] / b[0],))),
        InvalidAggregate,
        "Fix the function",
    ),
    "lift of nothing": (lambda: slid(lift=lambda x: None), InvalidAggregate, "which is not a number. Use only"),
    "fractions in a whole number": (lambda: slid(state="i8", identity=0), InvalidAggregate, "Declare f8."),
    "laws of a number": (lambda: S.laws.check(5), InvalidAggregate, "sash.max('x')"),
    "an inverse that is not there": (lambda: sash.laws.inverse(mine()), InvalidAggregate, "invert must be given"),
}

CALLS = {
    f"{group}: {name}": case
    for group, cases in {
        "query": QUERIES,
        "window": WINDOWS,
        "run": RUNS,
        "state": STATES,
        "slide": SLIDES,
        "own": OWN,
    }.items()
    for name, case in cases.items()
}
