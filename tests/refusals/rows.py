"""Refusals of what is asked of rows: in the same words, whatever the rows are."""

import math
from collections.abc import Callable
from typing import Any

import sash
from sash.errors import InvalidInput, InvalidQuery, InvalidText, InvalidWindow, SashError, UnknownName
from sash.errors import UnsupportedAggregate as Unsupported
from tests.refusals.case import Case
from tests.refusals.engines import TEN

__all__ = ["EVERY", "FRAMES", "ORDERED", "STREAMS", "TABLES", "TEXTS"]

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
Ask = Callable[[Any], Any]


def windows(**changes: Any) -> Ask:
    return lambda engine: engine.aggregate(**changes)


def results(**results: Any) -> Ask:
    return windows(queries=sash.query("q", sash.tumbling("10s"), **results))


def over(window: Any) -> Ask:
    return windows(queries=sash.query("q", window, n=sash.count()))


def frames(*given: Any, **changes: Any) -> Ask:
    return lambda engine: engine.rolling(*given, **changes)


def text(words: str, **changes: Any) -> Ask:
    return lambda engine: engine.sql(words, **changes)


def option(name: str, value: Any, says: str, kind: type[SashError] = InvalidInput) -> tuple[str, Case]:
    return f"{name}={value!r}", (windows(**{name: value}), kind, says)


# --- of everybody ------------------------------------------------------------------------------------------

EVERY: dict[str, Case] = {
    "on is not there": (windows(on="tt"), UnknownName, "no column 'tt' … Did you mean 't'? … known ones: "),
    "on in another case": (windows(on="T"), UnknownName, "Did you mean 't'?"),
    "on in a list": (windows(on=["t"]), InvalidInput, "the name of a column of times or numbers"),
    "on is a string": (windows(on="k"), InvalidInput, "Column 'k' of type … cannot be `on`"),
    "on is a struct": (windows(on="pair"), InvalidInput, "Column 'pair' of type struct … cannot be `on`"),
    "on is a list": (windows(on="many"), InvalidInput, "Column 'many' of type … cannot be `on`"),
    "on is a boolean": (windows(on="flag"), InvalidInput, "Column 'flag' of type bool … cannot be `on`"),
    "by is not there": (windows(by=["k", "kk"]), UnknownName, "no column 'kk'"),
    "by is a struct": (windows(by="pair"), InvalidInput, "Column 'pair' of type struct … cannot be in `by`"),
    "by is a list": (windows(by=["k", "many"]), InvalidInput, "Column 'many' of type … cannot be in `by`"),
    "by from a generator": (windows(by=(name for name in "k")), InvalidInput, "a list of different names"),
    "a column is not there": (results(s=sash.sum("xx")), UnknownName, "no column 'xx' … The known ones: "),
    "a punctuation is not there": (over(sash.punctuated("new")), UnknownName, "no column 'new'"),
    "punctuation by a number": (over(sash.punctuated("x")), InvalidInput, "must be boolean"),
    "a sum of strings": (results(s=sash.sum("k")), Unsupported, "q … 'sum' does not accept values of type"),
    "a mean of structs": (results(s=sash.mean("pair")), SashError, ""),
    "a mean of times": (results(s=sash.mean("t")), Unsupported, "'mean' does not accept values of type"),
    "numbers joined as texts": (results(all=sash.string_agg("x")), Unsupported, "it accepts strings. Cast the values"),
    "binaries joined as texts": (
        results(all=sash.string_agg("blob")),
        Unsupported,
        "q … 'string_agg' does not accept values of type … it accepts strings. Cast the values",
    ),
    "a result named as its key": (
        windows(queries=sash.query("q", sash.tumbling("10s"), k=sash.count()), by="k"),
        InvalidQuery,
        "'k' cannot be the name of a result",
    ),
    "no query": (windows(queries=[]), InvalidQuery, "no query"),
    "no query in a tuple": (windows(queries=()), InvalidQuery, "no query"),
    "None for a query": (windows(queries=None), InvalidQuery, "Expected a query … got None"),
    "a number for a query": (windows(queries=5), InvalidQuery, "Expected a query … got 5"),
    "a number among queries": (windows(queries=[TEN, 5]), InvalidQuery, "Expected a query … got 5"),
    "the name of a query": (windows(queries="ten"), InvalidQuery, "Expected a query … got 'ten'"),
    "a window for a query": (windows(queries=sash.tumbling(10)), InvalidQuery, "Expected a query"),
    "queries in a dict": (windows(queries={"ten": TEN}), InvalidQuery, "but got {'ten': sash.query("),
    "one name twice": (windows(queries=[TEN, TEN]), InvalidQuery, "Two queries are named 'ten'"),
    "a number on times": (over(sash.tumbling(10)), InvalidWindow, "add the unit, as in '10 seconds'"),
    "a slide in no unit": (over(sash.sliding("1 hour", every=60)), InvalidWindow, "as in '60 seconds'"),
    "a duration on fractions": (windows(on="y"), InvalidWindow, "10 … use a number in its unit"),
    "a slide in the wrong unit": (
        over(sash.sliding("3650 days", every="1 ms")),
        InvalidWindow,
        "Make `every` longer, or the window shorter.",
    ),
    "a band of texts": (over(sash.landmark(start="2026-01-01", end="2026-01-02")), InvalidInput, "must be a datetime"),
    **dict(
        [
            option("on", "", "on must be the name of a column"),
            option("on", 3, "on must be the name of a column"),
            option("by", 5, "by must be the name of a column, or a list"),
            option("by", ["k", "k"], "different names"),
            option("by", "", "by must be"),
            option("by", {"k"}, "by must be"),
            option("by", "query", "because the results have columns with these names: query, window_start"),
            option("emit", "sometimes", "emit must be 'final' or 'updates', but is 'sometimes'"),
            option("emit", None, "emit must be"),
            option("late", "drop", "late must be 'count' or 'keep', but is 'drop'"),
            option("allowed_lateness", -1, "not negative", InvalidWindow),
            option("allowed_lateness", math.nan, "not negative", InvalidWindow),
            option("allowed_lateness", True, "allowed_lateness must be a duration"),
            option("allowed_lateness", "later", "'later' is not a valid duration"),
            option("allowed_lateness", None, "not a valid duration"),
            option("watermark", -1, "watermark must be … not negative", InvalidWindow),
            option("watermark", "-10 seconds", "not negative", InvalidWindow),
            option("watermark", "soon", "'soon' is not a valid duration"),
            option("watermark", "10 secnds", "'seconds' is. Write for example"),
            option("watermark", math.inf, "less than 2^61", InvalidWindow),
        ]
    ),
}

# --- of tables, of any kind --------------------------------------------------------------------------------

TABLES: dict[str, Case] = {
    "partial in words": (windows(partial="yes"), InvalidInput, "True or False"),
    "a flush of a table": (windows(flush="at_end"), InvalidInput, "leave it out"),
    "history for a table": (lambda engine: engine.aggregate(initial=engine.rows), InvalidInput, "leave it out"),
    "a step on no column": (lambda engine: sash.windowed(TEN, on="tt")(engine.rows), UnknownName, "Did you mean 't'?"),
}

# --- of streams, in this process and on Spark --------------------------------------------------------------

STREAMS: dict[str, Case] = dict(
    [
        option("watermark", 10, "add the unit, as in '10 seconds'", InvalidWindow),
        option("allowed_lateness", 5, "add the unit, as in '5 seconds'", InvalidWindow),
    ]
)

# Only a stream in this process can be ordered.
ORDERED: dict[str, Case] = {
    "in_order=1": (windows(in_order=1), InvalidInput, "in_order must be True or False, but is 1"),
    "in order with lateness": (windows(in_order=True, allowed_lateness=5), InvalidInput, "excludes allowed_lateness"),
    "in order with a delay": (windows(in_order=True, watermark=5), InvalidInput, "excludes allowed_lateness"),
}

# --- of whoever has frames ---------------------------------------------------------------------------------

FRAMES: dict[str, Case] = {
    "no extent": (frames(), InvalidInput, "needs rows, range or groups"),
    "two extents": (frames(rows=2, range="2s"), InvalidInput, "rows=2 and range='2s' are given"),
    "no rows": (frames(rows=0), InvalidInput, "rows must be a whole number of at least 1, but is 0"),
    "rows that are true": (frames(rows=True), InvalidInput, "rows must be"),
    "rows in fractions": (frames(rows=1.5), InvalidInput, "rows must be"),
    "rows in words": (frames(rows="3"), InvalidInput, "a whole number"),
    "a negative range": (frames(range=-1), InvalidWindow, "range must be … not negative"),
    "a range that is NaN": (frames(range=math.nan), InvalidWindow, "range must be"),
    "a range without a unit": (frames(range=10), InvalidWindow, "add the unit, as in '10 seconds'"),
    "a duration on fractions": (frames(on="y", range="1 hour"), InvalidWindow, "use a number in its unit"),
    "closed at the end": (frames(range="10s", closed="end"), InvalidInput, "closed must be 'both', 'left', 'right' or"),
    "closed rows": (frames(rows=2, closed="left"), InvalidInput, "is for frames by range"),
    "an end before the start": (frames(rows=(2, -2)), InvalidInput, "cannot end before it starts"),
    "a range that ends before it starts": (frames(range=("1s", "-1s")), InvalidInput, "cannot end before it starts"),
    "an unknown exclusion": (frames(rows=2, exclude="self"), InvalidInput, "'row', 'group' or 'ties'"),
    "an unknown column of the order": (frames(rows=2, order="seq"), UnknownName, "no column 'seq'"),
    "fewer samples than none": (frames(rows=2, min_samples=-1), InvalidInput, "min_samples must be"),
    "on is not there": (frames(rows=2, on="tt"), UnknownName, "no column 'tt'"),
    "on is a struct": (frames(rows=2, on="pair"), InvalidInput, "Column 'pair' of type struct … cannot be `on`"),
    "by is not there": (frames(rows=2, by="kk"), UnknownName, "no column 'kk'"),
    "by is a struct": (frames(rows=2, by="pair"), InvalidInput, "Column 'pair' of type struct … cannot be in `by`"),
    "a column is not there": (frames(rows=2, z=sash.sum("xx")), UnknownName, "no column 'xx'"),
    "a sum of strings": (frames(rows=2, z=sash.sum("k")), Unsupported, "'sum' does not accept values of type"),
    "a number for an aggregate": (frames(rows=2, z=5), SashError, "must be an aggregate"),
    "a result in the place of a column": (frames(rows=2, x=sash.sum("x")), InvalidQuery, "'x' cannot be the name"),
    "a result in the place of on": (frames(rows=2, t=sash.count()), InvalidQuery, "'t' cannot be the name"),
    "an option misspelt": (frames(row=3), UnknownName, "Did you mean 'rows'?"),
    "a frame by position": (frames(3), InvalidInput, "sash.frame(rows=…"),
    "a query for a frame": (frames(TEN), InvalidInput, "sash.frame(rows=…"),
}

# --- of whoever takes query text ---------------------------------------------------------------------------

EACH = "FROM rows [RANGE 10 SECONDS SLIDE 10 SECONDS]"
TEXTS: dict[str, Case] = {
    "a column misspelt": (text(f"SELECT MAX(xx) AS m {EACH}"), InvalidText, "Did you mean 'x'?"),
    "unlike types": (text(f"SELECT MAX(x) AS m {EACH} WHERE k > 5"), InvalidText, "compare values of one type"),
    "an option misspelt": (
        text(f"SELECT MAX(x) AS m {EACH}", watermrk="10s"),
        UnknownName,
        "Did you mean 'watermark'?",
    ),
    "another table": (text("SELECT MAX(x) FROM T [ROWS 5]"), InvalidText, "There is no table 'T'"),
    "a sum of names": (text(f"SELECT SUM(k) AS s {EACH}"), Unsupported, "it accepts numbers. Cast the values first."),
    "a bare number on times": (
        text("SELECT MAX(x) AS m FROM rows [RANGE 10 SLIDE 10]"),
        InvalidWindow,
        "add the unit, as in '10 seconds'",
    ),
}
