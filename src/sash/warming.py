"""Compile kernels before a call needs them: run small calls, and keep their kernels in the cache.

With `SASH_WARM=on`, a helper process does this for the common aggregates, the first time that sash compiles for a
cache (decision 53).
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Template
from sash.algebra.cache import cache_directory
from sash.algebra.compiler import on_compile, small_calls
from sash.algebra.extremes import first, last, max, min
from sash.algebra.holistic import count_distinct, median
from sash.algebra.sums import count, mean, stddev, sum
from sash.api import aggregate, rolling
from sash.engine.stream import Stream
from sash.errors import InvalidAggregate, InvalidInput
from sash.keywords import checked
from sash.plan.query import query
from sash.swag.slide import slide
from sash.windows.built_in import sliding, tumbling
from sash.worker_process import is_spark_worker

__all__ = ["COMMON", "TYPES", "start_helper", "steps", "warm"]

COMMON: tuple[Callable[..., Template], ...] = (
    *(mean, max, sum, count, min, stddev, median, first, last, count_distinct),
)  # the most common first
TYPES = ("float64", "int64")
_ROWS = 64
_COLUMNS = ("x", "y", "z")


@checked
def warm(*aggregates: Template, types: Iterable[Any] = TYPES, spark: bool = False) -> int:
    """Compile kernels of aggregates before a call needs them; return how many were compiled.

    Without aggregates, compile those of the ten most common ones. `types` are NumPy types of the columns. `spark` also
    compiles the kernels of streams and of columns with nulls, which Spark's workers use. Kernels stay in the cache, so
    this is a step of an installation, such as the build of an image.

    >>> import sash
    >>> sash.warm(sash.max(), types=["int64"]) >= 0
    True
    """
    compiled: list[str] = []

    def note(name: str, seconds: float | None) -> None:
        if seconds is not None:
            compiled.append(name)

    on_compile.append(note)
    try:
        for _, run in steps(aggregates, types, spark):
            run()
    finally:
        on_compile.remove(note)
    return len(compiled)


def steps(
    aggregates: Iterable[Template] = (), types: Iterable[Any] = TYPES, spark: bool = False
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return what `warm` does: labels, and calls that compile."""
    templates = [_of_columns(each) for each in aggregates] or [make("x") for make in COMMON]
    for dtype in types:
        kind = _numbers(dtype)
        for template in templates:
            yield f"{template} of {kind}", _calls(template, kind, spark)


def _of_columns(template: Template) -> Template:
    """Return an aggregate of columns of these tables."""
    if not isinstance(template, Template):
        raise InvalidAggregate.not_an_aggregate(template)
    return template(*_COLUMNS[: template.arity]) if template.arity else template


def _numbers(dtype: Any) -> np.dtype[Any]:
    kind: np.dtype[Any]
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind.kind not in "iufb":
        raise InvalidInput.option("types", dtype, "NumPy types of numbers, such as float64")
    return kind


def _calls(template: Template, kind: np.dtype[Any], spark: bool) -> Callable[[], None]:
    def run() -> None:
        with small_calls(None):
            _run(template, _table(kind), spark)

    return run


def _run(template: Template, rows: pa.Table, spark: bool) -> None:
    _compute(rows, template)
    if template.arity == 1:
        slide(rows[_COLUMNS[0]].to_numpy(), 8, template)
    if spark:
        nulls = {name: _with_null(rows[name]) if name in _COLUMNS else rows[name] for name in rows.column_names}
        rows = pa.table(nulls)
        _compute(rows, template)
        stream = Stream(_queries(template), on="ts", by="key", watermark="1 second", late="keep")
        for begin in range(0, _ROWS, _ROWS // 4):
            stream.push(rows.slice(begin, _ROWS // 4))


def _compute(rows: pa.Table, template: Template) -> None:
    for each in _queries(template):
        aggregate(rows, each, on="ts", by="key")
    rolling(rows, on="ts", by="key", rows=8, value=template)
    rolling(rows, on="ts", by="key", range="8 seconds", value=template)


def _queries(template: Template) -> list[Any]:
    return [
        query("tumbling", tumbling("10 seconds"), value=template),
        query("sliding", sliding("10 seconds", every="1 second"), value=template),
    ]


def _table(kind: np.dtype[Any]) -> pa.Table:
    place = np.arange(_ROWS)
    columns = {name: pa.array((place % 7).astype(kind)) for name in _COLUMNS}
    return pa.table({"ts": pa.array(place * 1_000_000).cast(pa.timestamp("us")), "key": pa.array(place % 3), **columns})


def _with_null(column: Any) -> Any:
    return pa.concat_arrays([pa.nulls(1, column.type), column.combine_chunks().slice(1)])


# --- the helper process ------------------------------------------------------------------------------------


def start_helper(_kernel: str = "", _seconds: float | None = None) -> None:
    """Start a process that compiles the common kernels, if none was started for this cache; return at once.

    It runs with the lowest priority, and only if the user set `SASH_WARM=on`. Workers of Spark start none.
    """
    if start_helper in on_compile:
        on_compile.remove(start_helper)  # once in a process
    folder = cache_directory()
    if os.environ.get("SASH_WARM") != "on" or folder is None or is_spark_worker() or not hasattr(os, "posix_spawn"):
        return
    home = str(Path(__file__).parents[1])
    versions = hashlib.sha256(f"{home} {sys.version} {numba.__version__} {np.__version__}".encode()).hexdigest()[:16]
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "SASH_WARM": "off", "PYTHONPATH": path}
    command = [sys.executable, "-c", "import os, sash; os.nice(19); sash.warm()"]
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0o600) for number in range(3)]
    try:
        os.close(os.open(folder / f"warm-{versions}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.posix_spawn(sys.executable, command, environment, file_actions=nowhere)
    except OSError:  # it was started before, or this system allows no processes
        return
