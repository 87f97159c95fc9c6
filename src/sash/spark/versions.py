"""Differences between versions of PySpark: the one module that knows them.

Where a version lacks a function, this module does the same by other means. Where there are none, it raises an error
that names the version needed and what works instead. It asks for the function and not for the version where it can:
vendors ship Sparks whose versions are their own.

  tables           3.5 and newer
  table functions  4.0 and newer
  streams          4.0 and newer; 4.1 and newer on Spark Connect
"""

import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, types
from pyspark.sql import functions as F

from sash.errors import MissingPackage, UnsupportedVersion

__all__ = [
    "add_package",
    "arrow_type_of",
    "check_connect_streams",
    "check_protobuf",
    "check_streams",
    "check_table_functions",
    "check_tables",
    "check_types",
    "collect",
    "create_table",
    "has_row_state",
    "interval_types",
    "is_time_of_day",
    "repartition_by_number",
    "round_to",
    "try_cast",
    "try_mod",
]

_OLDEST, _TOO_NEW = (3, 5), (5, 0)
_STREAMS, _CONNECT_STREAMS, _TABLE_FUNCTIONS = (4, 0), (4, 1), (4, 0)


# --- what a version lacks altogether ----------------------------------------------------------------------


def check_tables() -> None:
    """Refuse a version on which nothing works, and pandas and PyArrow that PySpark does not accept."""
    if not _OLDEST <= _installed() < _TOO_NEW:
        raise UnsupportedVersion.spark(pyspark.__version__)
    from pyspark.sql.pandas.utils import require_minimum_pandas_version, require_minimum_pyarrow_version

    try:
        require_minimum_pandas_version()
        require_minimum_pyarrow_version()
    except ImportError as error:
        reason = re.sub(r"^\[\w+\] ", "", str(error))  # without the name that newer versions give to errors
        raise MissingPackage.by_spark(pyspark.__version__, reason) from None


def check_streams() -> None:
    """Refuse a stream where Spark has no state operator for Python that calls one group many times."""
    check_tables()
    if _installed() < _STREAMS:
        raise UnsupportedVersion.streams(pyspark.__version__)


def check_connect_streams(rows: Any) -> None:
    """Refuse a stream of Spark Connect where only classic sessions have the state operator."""
    if not hasattr(rows, "_jdf") and _installed() < _CONNECT_STREAMS:
        raise UnsupportedVersion.connect_streams(pyspark.__version__)


def check_protobuf() -> None:
    """Refuse a stream where the messages of Spark's state operator cannot be loaded; without this, a process dies."""
    messages = "pyspark.sql.streaming.proto.StateMessage_pb2"
    try:
        importlib.import_module(messages)
    except Exception as error:  # protobuf is missing, or it is older than the messages
        if isinstance(error, ImportError) and str(error.name).startswith("pyspark"):
            return  # this Spark has no such messages
        raise MissingPackage.protobuf(pyspark.__version__, str(error).rstrip(".")) from None


def check_table_functions() -> None:
    """Refuse a table function where Spark does not analyze one before it has rows."""
    if _installed() < _TABLE_FUNCTIONS:
        raise UnsupportedVersion.table_functions(pyspark.__version__)


def check_types(rows: Any) -> None:
    """Refuse columns of a type that Python lacks. Before 4.0, it lacks intervals of months, days and time."""
    check_tables()
    try:
        _ = rows.schema
    except Exception as error:
        if not re.search(r"CANNOT_PARSE_DATATYPE|^Unsupported data type", str(error)):
            raise
        kind = re.findall(r"\w+", str(error))[-1]
        raise UnsupportedVersion.column_type(pyspark.__version__, kind) from None


def _installed() -> tuple[int, int]:
    major, minor = map(int, re.findall(r"\d+", pyspark.__version__)[:2])
    return major, minor


# --- what a version does by other means -------------------------------------------------------------------


def arrow_type_of(kind: Any, zone: str) -> Any:
    """Return a type of Spark as Arrow has it. Before 4.2, times with a zone are in UTC whatever `zone` is."""
    from pyspark.sql.pandas.types import to_arrow_type

    named: Any = {"timezone": zone} if "timezone" in inspect.signature(to_arrow_type).parameters else {}
    return to_arrow_type(kind, **named)


def interval_types() -> tuple[type, ...]:
    """Return the types of intervals that Arrow lacks. Before 4.0, Python has none for months, days and time."""
    names = ("YearMonthIntervalType", "CalendarIntervalType")
    return tuple(getattr(types, name) for name in names if hasattr(types, name))


def is_time_of_day(kind: Any) -> bool:
    """Return whether a type is TIME, which Spark has since 4.1, and which its aggregates refuse by default."""
    return hasattr(types, "TimeType") and isinstance(kind, types.TimeType)


def collect(rows: Any) -> pa.Table:
    """Return the rows of a DataFrame as an Arrow table. Before 4.0, there is no `toArrow`."""
    if hasattr(rows, "toArrow"):
        return rows.toArrow()
    if not hasattr(rows, "_jdf"):
        return rows._session.client.to_table(rows._plan.to_proto(rows._session.client))[0]
    fields = [pa.field(each.name, arrow_type_of(each.dataType, "UTC")) for each in rows.schema.fields]
    batches = rows._collect_as_arrow()
    return pa.Table.from_batches(batches, None if batches else pa.schema(fields))


def create_table(session: Any, table: pa.Table) -> Any:
    """Return an Arrow table of integers as a DataFrame. Before 4.0, Spark takes rows and not a table."""
    if hasattr(DataFrame, "toArrow"):
        return session.createDataFrame(table)
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return session.createDataFrame(rows, ", ".join(f"{name} bigint" for name in table.column_names))


def repartition_by_number(rows: Any, count: int, number: Any, ids: Callable[[int], Sequence[int]]) -> Any:
    """Return rows in `count` partitions, each row in the one of its `number`.

    Before 4.1, Spark partitions by hash alone. `ids` returns, for each partition, an integer that Spark hashes to it.
    """
    if hasattr(rows, "repartitionById"):
        return rows.repartitionById(count, number)
    landing = F.array(*(F.lit(each) for each in ids(count)))
    return rows.repartition(count, F.element_at(landing, (number + 1).cast("int")))


def has_row_state(grouped: Any) -> bool:
    """Return whether a state operator gives rows to Python as rows; before 4.1, it gives pandas DataFrames."""
    return hasattr(grouped, "transformWithState")


def try_mod(left: Any, right: Any) -> Any:
    """Return the remainder of a division, null if the divisor is 0. Before 4.0, Spark has no function for it."""
    return F.try_mod(left, right) if hasattr(F, "try_mod") else F.when(right != 0, left % right)


def try_cast(value: Any, kind: str) -> Any:
    """Return a value of another type, null if it cannot be converted. Before 4.0, `cast` does that."""
    return value.try_cast(kind) if hasattr(value, "try_cast") else value.cast(kind)


def round_to(value: Any, *places: Any) -> Any:
    """Return a rounded number. Before 4.0, Python's `round` takes no column for the number of places."""
    return F.call_function("round", value, *places) if _installed() < (4, 0) else F.round(value, *places)


def add_package(session: Any, path: str) -> None:
    """Send an archive of Python code to executors. Before 4.0, sessions without Connect do it by their context."""
    if _installed() < (4, 0) and hasattr(session, "_jsparkSession"):
        session.sparkContext.addPyFile(path)
    else:
        session.addArtifacts(path, pyfile=True)
