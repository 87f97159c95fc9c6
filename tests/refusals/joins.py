"""Refusals of joins: in the same words, whatever kind of tables is joined."""

import math
from collections.abc import Callable
from typing import Any

import polars as pl

import sash
from sash.errors import InvalidInput, InvalidQuery, InvalidWindow, SashError, UnknownName
from sash.errors import UnsupportedAggregate as Unsupported
from tests.refusals.case import Case
from tests.refusals.engines import TABLE, TEN

__all__ = ["JOINS"]

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
Ask = Callable[[Any], Any]


def joined(**changes: Any) -> Ask:
    """A join of a table with itself, with one thing wrong."""
    return lambda engine: engine.join(engine.lookback(), **changes)


def looking(**changes: Any) -> Ask:
    """The same, with one thing wrong in its lookback; labels have the key x."""
    return lambda engine: engine.join(engine.lookback(**changes), by="x")


JOINS: dict[str, Case] = {
    # --- tables and lookbacks ---
    "no lookback": (
        lambda engine: engine.join(),
        InvalidInput,
        "needs a lookback, such as sash.join(labels, sash.lookback(events",
    ),
    "a table for a lookback": (lambda engine: engine.join(engine.rows), InvalidInput, "made by sash.lookback(events"),
    "a query for a lookback": (lambda engine: engine.join(TEN), InvalidInput, "made by sash.lookback(events"),
    "tables of different kinds": (
        lambda engine: engine.join(
            sash.lookback(TABLE, a=sash.count()), sash.lookback(pl.from_arrow(TABLE), b=sash.count())
        ),
        InvalidInput,
        "must be of one kind … arrow … polars … Convert them",
    ),
    # --- columns of the labels ---
    "on is not there": (joined(on="tt"), UnknownName, "no column 'tt' … Did you mean 't'?"),
    "on is a string": (joined(on="k"), InvalidInput, "Column 'k' of type … cannot be `on`"),
    "on in a list": (joined(on=["t"]), InvalidInput, "the name of a column of times or numbers"),
    "by is not there": (joined(by="kk"), UnknownName, "no column 'kk'"),
    "by is a struct": (joined(by="pair"), InvalidInput, "Column 'pair' of type struct … cannot be in `by`"),
    "by is a list": (joined(by="many"), InvalidInput, "Column 'many' of type … cannot be in `by`"),
    # --- columns of the events ---
    "on of the events is not there": (looking(on="tt"), UnknownName, "no column 'tt' … Did you mean 't'?"),
    "on of the events is a string": (looking(on="k"), InvalidInput, "Column 'k' of type … cannot be `on`"),
    "on of the events in a list": (looking(on=["t"]), InvalidInput, "on of a lookback must be the name of a column"),
    "times beside fractions": (looking(on="y"), InvalidInput, "'t' … 'y'"),
    "by of the events is not there": (looking(by="xx"), UnknownName, "no column 'xx'"),
    "a key of the events is not there": (looking(by={"x": "xx"}), UnknownName, "no column 'xx'"),
    "a mapping from no key of the labels": (looking(by={"k": "x"}), UnknownName, "no key column of the labels 'k'"),
    "more keys than the labels have": (looking(by=["x", "k"]), InvalidInput, "1 name(s), or a mapping"),
    "keys that are never equal": (looking(by="k"), InvalidInput, "can never be equal: 'x' of the labels … 'k' of the"),
    "whole numbers beside fractions as keys": (looking(by="y"), InvalidInput, "can never be equal: 'x' … 'y'"),
    "a column is not there": (looking(n=sash.sum("xx")), UnknownName, "no column 'xx' … The known ones: "),
    "a sum of strings": (looking(n=sash.sum("k")), Unsupported, "'sum' does not accept values of type"),
    "a condition on no column": (looking(n=sash.sum("x", where="xx > 1")), SashError, "Did you mean 'x'?"),
    "a condition that is a number": (
        looking(n=sash.count(where="x")),
        SashError,
        "filtered by a condition … compare it",
    ),
    # --- extents and times ---
    "rows and a range": (looking(range="1s", rows=1), InvalidInput, "rows=1"),
    "no rows": (looking(range=None, rows=0), InvalidInput, "rows must be a whole number of at least 1, but is 0"),
    "rows that are true": (looking(range=None, rows=True), InvalidInput, "rows must be"),
    "rows in a pair": (looking(range=None, rows=(-3, 0)), InvalidInput, "rows must be a whole number"),
    "a negative range": (looking(range="-1s"), InvalidWindow, "range must be … not negative"),
    "a range in a pair": (looking(range=("-2s", "-1s")), InvalidInput, "not a valid duration: its type is tuple"),
    "a range that is NaN": (looking(range=math.nan), InvalidWindow, "range must be"),
    "a range without a unit": (looking(range=10), InvalidWindow, "add the unit, as in '10 seconds'"),
    "a negative delay": (joined(delay="-1s"), InvalidWindow, "delay must be … not negative"),
    "a negative delay of a lookback": (looking(delay="-1 second"), InvalidWindow, "delay must be … not negative"),
    "a delay without a unit": (joined(delay=5), InvalidWindow, "add the unit, as in '5 seconds'"),
    "a delay in words": (looking(delay="soon"), InvalidInput, "'soon' is not a valid duration"),
    "closed at the end": (joined(closed="end"), InvalidInput, "closed must be 'left', 'both', 'right' or 'neither'"),
    "a lookback closed at the end": (looking(closed="end"), InvalidInput, "closed must be 'left', 'both', 'right' or"),
    # --- names ---
    "no aggregate": (lambda engine: engine.join(sash.lookback(engine.rows, range="1s")), SashError, "aggregate"),
    "a number for an aggregate": (looking(n=5), SashError, "must be an aggregate"),
    "a result in the place of a column": (looking(y=sash.count()), InvalidQuery, "'y' cannot be the name"),
    "a result in the place of on": (looking(t=sash.count()), InvalidQuery, "'t' cannot be the name"),
    "two lookbacks with one name": (
        lambda engine: engine.join(engine.lookback(), engine.lookback()),
        InvalidQuery,
        "'n' cannot be the name",
    ),
}
