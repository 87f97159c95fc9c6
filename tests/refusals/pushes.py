"""Rows and watermarks that a stream refuses: while it runs, and as its first push."""

import datetime as dt
import decimal
import math
from typing import Any

import pyarrow as pa

from sash.errors import InvalidInput, InvalidWindow, SashError, UnknownName, UnsupportedAggregate

__all__ = ["FIRST", "LATER"]

# Rows, a watermark, the kind of the error, and parts of its sentence.
Push = tuple[Any, Any, type[SashError], str]

# The stream has `t` and `x` of integers, and `k` of strings.
LATER: dict[str, Push] = {
    "on is not there": ({"k": ["c"], "x": [1]}, None, UnknownName, "no column 't' … known ones: k, x"),
    "by is not there": ({"t": [8], "x": [1]}, None, UnknownName, "no column 'k' … known ones: t, x"),
    "x is not there": ({"t": [8], "k": ["c"]}, None, UnknownName, "no column 'x' … known ones: k, t"),
    "ragged": ({"t": [8, 9], "k": ["c"], "x": [1]}, None, InvalidInput, "same length"),
    "x is a string": ({"t": [8], "k": ["c"], "x": ["1"]}, None, InvalidInput, "Column 'x' held int64"),
    "x is a float": ({"t": [8], "k": ["c"], "x": [1.5]}, None, InvalidInput, "Column 'x' held int64 … float64"),
    "x is a time": ({"t": [8], "k": ["c"], "x": [dt.datetime(2024, 1, 1)]}, None, InvalidInput, "Column 'x' held"),
    "x is mixed": ({"t": [8, 9], "k": ["c", "d"], "x": [1, "a"]}, None, InvalidInput, "int and str are mixed"),
    "x is a list": ({"t": [8], "k": ["c"], "x": [[1]]}, None, InvalidInput, "collection"),
    "x is beyond 64 bits": ({"t": [8], "k": ["c"], "x": [2**70]}, None, InvalidInput, "64 bits"),
    "k is an integer": ({"t": [8], "k": [7], "x": [1]}, None, InvalidInput, "Column 'k' in `by` was string"),
    "k is mixed": ({"t": [8, 9], "k": ["c", 7], "x": [1, 1]}, None, InvalidInput, "Column 'k'"),
    "k is a list": ({"t": [8], "k": [["c"]], "x": [1]}, None, InvalidInput, "Column 'k'"),
    "t is a string": ({"t": ["8"], "k": ["c"], "x": [1]}, None, InvalidInput, "Column 't' of type string"),
    "t is a fraction": ({"t": [8.5], "k": ["c"], "x": [1]}, None, InvalidInput, "Column 't' was of kind integer"),
    "t is a time": ({"t": [dt.datetime(2024, 1, 1)], "k": ["c"], "x": [1]}, None, InvalidInput, "Column 't' was"),
    "t is beyond 64 bits": ({"t": [2**70], "k": ["c"], "x": [1]}, None, InvalidInput, "64 bits"),
    "t is an object": ({"t": [object()], "k": ["c"], "x": [1]}, None, InvalidInput, "Column 't' cannot be read"),
    "no table": (5, None, InvalidInput, "but are 5"),
    "None": (None, None, InvalidInput, "but are None"),
    "a string": ("rows", None, InvalidInput, "but are 'rows'"),
    "a list of dicts": ([{"t": 1}], None, InvalidInput, "from_pylist"),
    "columns by number": ({1: [2]}, None, InvalidInput, "names of columns must be strings"),
    "two columns of one name": (
        pa.table([pa.array([8]), pa.array(["c"]), pa.array([1]), pa.array([2])], names=["t", "k", "x", "x"]),
        None,
        InvalidInput,
        "several columns 'x'",
    ),
    "a watermark of words": ({"t": [8], "k": ["c"], "x": [1]}, "soon", InvalidInput, "watermark must be … 'soon'"),
    "a watermark of time": ({"t": [8], "k": ["c"], "x": [1]}, dt.datetime(2024, 1, 1), InvalidInput, "watermark must"),
    "a watermark that is NaN": ({"t": [8], "k": ["c"], "x": [1]}, math.nan, InvalidInput, "watermark must be"),
    "a watermark that is true": ({}, True, InvalidInput, "watermark must be"),
    "a watermark that is a list": ({}, [1], InvalidInput, "watermark must be"),
    "a watermark in fractions": ({}, 2.5, InvalidInput, "watermark must be"),
}

FIRST: dict[str, Push] = {
    "on is not there": ({"k": ["a"], "x": [1]}, None, UnknownName, "known ones: k, x"),
    "by is not there": ({"t": [1], "x": [1]}, None, UnknownName, "known ones: t, x"),
    "x is not there": ({"t": [1], "k": ["a"]}, None, UnknownName, "known ones: k, t"),
    "a sum of strings": (
        {"t": [1], "k": ["a"], "x": ["w"]},
        None,
        UnsupportedAggregate,
        "Query 'ten', s=sum('x'): 'sum' does not accept values of type object",
    ),
    "a sum of decimals": (
        {"t": [1], "k": ["a"], "x": [decimal.Decimal("1.5")]},
        None,
        UnsupportedAggregate,
        "'sum' does not accept",
    ),
    "a bare number on a time": (
        {"t": [dt.datetime(2024, 1, 1)], "k": ["a"], "x": [1]},
        None,
        InvalidWindow,
        "size of a tumbling window is 10, a number without a unit, … '10 seconds'",
    ),
    "on is a string": ({"t": ["a"], "k": ["a"], "x": [1]}, None, InvalidInput, "cannot be `on`"),
    "on is a boolean": ({"t": [True], "k": ["a"], "x": [1]}, None, InvalidInput, "cannot be `on`"),
    "by is a struct": ({"t": [1], "k": [{"a": 1}], "x": [1]}, None, InvalidInput, "cannot be in `by`"),
    "by is mixed": ({"t": [1, 2], "k": ["a", 1], "x": [1, 2]}, None, InvalidInput, "Column 'k'"),
    "the watermark is of another type": ({"t": [1], "k": ["a"], "x": [1]}, "soon", InvalidInput, "watermark must"),
}
