"""What a bucket of keys remembers, at work: micro-batches go in, results come out.

A `Work` is a description that travels; what it makes is `Live`, and stays with its worker. Live work is a function of
what it was given: the same micro-batches in the same order make the same memory and the same results.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.kept import PYTHON, Meanings, are_meanings, check_meanings, meanings_of
from sash.engine.arrow_bytes import table_bytes, table_of_bytes
from sash.engine.inspection import next_end, open_count
from sash.engine.results import arrow_of
from sash.engine.rolling import Framing, framed
from sash.engine.saving import load as load_stream
from sash.engine.saving import windows_only
from sash.engine.state import State
from sash.engine.stream import Stream
from sash.engine.tables import read_rows
from sash.engine.watermark import Watermarks
from sash.errors import InvalidAggregate, InvalidState, InvalidWindow
from sash.plan.plan import Options, Plan
from sash.plan.query import Query
from sash.slicing.runs import Runs
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import written
from sash.spark.worker.failing_rows import with_failing_rows
from sash.spark.worker.frame_task import needed
from sash.spark.worker.positions import positions_in
from sash.swag.saved import pack, unpack
from sash.windows.measure import Measure

__all__ = [
    "NONE_REJECTED",
    "TOO_FAR",
    "FrameWork",
    "Live",
    "RejectedRows",
    "Step",
    "WindowWork",
    "Work",
    "is_count",
    "window_bucket",
]

_MAGIC, _STEP = b"SASHBKT\0", b"SASHSTP\0"
# Why a row is in no window.
TOO_LATE = "it came after the watermark"
NO_POSITION = "it has no position"
TOO_FAR = "it is too far ahead of the clock"


@dataclass(frozen=True)
class RejectedRows:
    """Rows that are in no window, and why."""

    rows: pa.Table
    reasons: Any

    def __len__(self) -> int:
        return int(self.rows.num_rows)


NONE_REJECTED = RejectedRows(pa.table({}), pa.array([], pa.string()))


@dataclass(frozen=True)
class Step:
    """What a micro-batch brings to a bucket."""

    rows: pa.Table
    newest: Any  # the largest position of any bucket; None if there was none
    far: int = 0  # rows that were too far ahead of the clock
    is_end: bool = False

    def kept(self, columns: Sequence[str]) -> "Step":
        """With the columns that matter when it is taken again."""
        return replace(self, rows=self.rows.select(columns))

    def packed(self) -> bytes:
        content = {"rows": table_bytes(self.rows), "newest": self.newest, "far": self.far, "end": self.is_end}
        return pack(content, _STEP)

    @classmethod
    def unpacked(cls, data: bytes, measure: Measure) -> "Step":
        content = _whole(unpack(data, _STEP, "micro-batch"), "rows", "newest", "far", "end")
        newest, far, is_end = content["newest"], content["far"], content["end"]
        if newest is not None and not measure.holds(newest):
            raise InvalidState.damaged("the newest row of a micro-batch has no position")
        if not is_count(far) or not isinstance(is_end, bool):
            raise InvalidState.damaged("a micro-batch does not count what it should")
        return cls(table_of_bytes(content["rows"]), newest, far, is_end)


def is_count(given: Any) -> bool:
    """Whether this can be a number of rows, parts or micro-batches."""
    return type(given) is int and 0 <= given < 2**62


def _whole(content: Any, *names: str) -> dict[str, Any]:
    """What was packed, if it has these parts."""
    if not isinstance(content, dict) or not content.keys() >= set(names):
        raise InvalidState.damaged(f"it has not {', '.join(names)}")
    return content


def _told(content: dict[str, Any], measure: Measure, *positions: str) -> list[Any]:
    """Positions in the head of a bucket, and how many rows were late."""
    for name in positions:
        if not measure.holds(content[name]):
            raise InvalidState.damaged(f"its {name} is no position")
    if not is_count(content["late"]):
        raise InvalidState.damaged("its late rows are no count")
    return [*(content[name] for name in positions), content["late"]]


class Live(ABC):
    """The memory of one bucket."""

    measure: Measure
    newest: Any  # the largest position that any bucket was told of
    late: RejectedRows  # of the last micro-batch
    late_rows: int  # of all micro-batches, with those that were too far ahead

    @abstractmethod
    def push(self, step: Step) -> pa.Table:
        """Take the rows of a micro-batch, move the watermark, and send what is due."""

    @abstractmethod
    def saved(self) -> bytes:
        """All of it."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """How much memory it takes, about."""

    @property
    @abstractmethod
    def weight(self) -> int:
        """How many bytes it takes to save it, about."""

    @property
    def combines(self) -> int:
        """How often partials were combined in this process, about."""
        return 0

    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """Watermark, slices, open windows, and where the next one ends."""


class Work(ABC):
    """What a bucket is to do."""

    schema: pa.Schema  # of rows
    results: pa.Schema  # as Spark was told
    keeps_late: bool

    @property
    @abstractmethod
    def measure(self) -> Measure: ...

    @property
    @abstractmethod
    def kept(self) -> list[str]:
        """The columns that must be remembered, to do it again."""

    @abstractmethod
    def fresh(self) -> Live:
        """Before the first row."""

    @abstractmethod
    def restored(self, base: bytes) -> Live:
        """What was saved; queries that are new come with `caught_up`, when all that was done without them is."""

    @abstractmethod
    def caught_up(self, live: Live) -> bool:
        """Make the memory that of today's queries; whether it was not."""

    @abstractmethod
    def sent(self, results: pa.Table, late: RejectedRows) -> pa.Table:
        """Results as Spark was told of them, with late rows where they are wanted."""


# --- windows -----------------------------------------------------------------------------------------


class _Windows(Live):
    def __init__(self, stream: Stream, newest: Any, late_rows: int = 0) -> None:
        self.stream, self.newest, self.late_rows = stream, newest, late_rows
        self.measure = self.plan.measure
        self.has_lost = False  # a query since it was saved
        self.late = NONE_REJECTED

    def push(self, step: Step) -> pa.Table:
        plan, rows = self.plan, step.rows
        if step.newest is not None:
            self.newest = max(self.newest, step.newest)
        try:
            results = self.stream.advance(
                rows if rows.num_rows else {}, np.inf if step.is_end else None, newest=self.newest
            )
        except (InvalidAggregate, InvalidWindow):
            for given in (rows, self._waiting()):
                with_failing_rows(self._alone, given, plan.options.by, plan.options.on)
            raise
        self.late = _gone(self.stream.late(), plan.options.on, plan.measure)
        self.late_rows += len(self.late) + step.far
        return results

    def _alone(self, rows: pa.Table) -> pa.Table:
        """What rows give by themselves: to find those that a user's function fails for."""
        return Stream.of(self.plan).push(rows if rows.num_rows else {}, watermark=np.inf)

    def _waiting(self) -> pa.Table:
        """The rows that wait for their order, with what is kept of them."""
        plan, waiting = self.plan, self.state.waiting
        columns = dict(zip(plan.options.by, self.state.keys.columns(waiting.slots), strict=True))
        columns[plan.options.on] = plan.measure.to_arrow(waiting.positions)
        for name, (data, valid) in waiting.columns.items():
            columns[name] = arrow_of(data.tolist() if data.dtype == object else data, valid, plan.columns[name].arrow)
        return pa.table(columns)

    def saved(self) -> bytes:
        return pack({"newest": self.newest, "late": self.late_rows, "stream": self.stream.save()}, _MAGIC)

    @property
    def plan(self) -> Plan:
        assert self.stream.plan is not None
        return self.stream.plan

    @property
    def state(self) -> State:
        assert self.stream.state is not None
        return self.stream.state

    @property
    def watermark(self) -> Any:
        return self.state.watermark

    @property
    def nbytes(self) -> int:
        return self.stream.state_bytes

    @property
    def weight(self) -> int:
        runs = sum(each.nbytes for each in self.state.partials if isinstance(each, Runs))
        return self.state.weight(self.plan) + runs

    def figures(self) -> dict[str, Any]:
        plan, state = self.plan, self.state
        return {
            "watermark": _known(state.watermark, plan.measure),
            "newest": _known(self.newest, plan.measure),
            "slices": state.slices.used + len(state.waiting),
            "keys": len(state.keys),
            "open_windows": open_count(plan, state),
            "next_end": next_end(plan, state),
        }

    @property
    def combines(self) -> int:
        return self.stream.combines


@dataclass(frozen=True)
class WindowWork(Work):
    """Windows of queries."""

    recipe: Recipe
    schema: pa.Schema
    results: pa.Schema
    keeps_late: bool

    @property
    def measure(self) -> Measure:
        return read_rows(self.recipe.schema.empty_table()).measure(self.recipe.options.on)

    @property
    def kept(self) -> list[str]:
        return list(self.recipe.schema.names)

    def fresh(self) -> Live:
        plan = self.recipe.plan()
        stream = Stream.of(plan, None, self.recipe.queries, self.recipe.types(), late="keep")
        return _Windows(stream, plan.measure.lowest)

    def restored(self, base: bytes) -> Live:
        content = _whole(unpack(base, _MAGIC, "bucket"), "newest", "late", "stream")
        saved = load_stream(content["stream"])
        _check_options(saved.options, self.recipe.options)
        names = [name for name, _ in saved.queries]
        common = [each for each in self.recipe.queries if each.name in names]
        if not common:
            raise InvalidState.other_queries(names, [each.name for each in self.recipe.queries])
        stream = Stream.restore(content["stream"], common)
        if stream.plan is None:
            raise InvalidState.damaged("it has no state")
        live = _Windows(stream, *_told(content, stream.plan.measure, "newest"))
        live.has_lost = len(common) < len(names)
        return live

    def caught_up(self, live: Live) -> bool:
        assert isinstance(live, _Windows)
        known = {each.name for each in live.stream.queries}
        new = [each for each in self.recipe.queries if each.name not in known]
        if new:
            live.stream.learn(self.recipe.types())
        for each in new:
            live.stream.add(each)
        return bool(new) or live.has_lost

    def sent(self, results: pa.Table, late: RejectedRows) -> pa.Table:
        if not self.keeps_late:
            return written(results, self.results)
        table = results
        nothing = pa.nulls(results.num_rows)
        for name in ("late_row", "late_reason"):
            table = table.append_column(name, nothing.cast(self.results.field(name).type))
        ours = written(table, self.results)
        if not len(late):
            return ours
        rows = late.rows.select(self.schema.names).combine_chunks()
        row = pa.StructArray.from_arrays(
            [each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each for each in rows.columns],
            names=self.schema.names,
        )
        columns: dict[str, Any] = {name: rows.column(name) for name in self.recipe.options.by}
        columns |= {"query": pa.repeat(pa.scalar("_late"), len(late)), "late_row": row, "late_reason": late.reasons}
        return _with_rows(ours, columns, len(late))


_SPOKEN = {"delay": "watermark", "lateness": "allowed_lateness"}


def _check_options(saved: Options, given: Options) -> None:
    pairs = [(each.name, getattr(saved, each.name), getattr(given, each.name)) for each in fields(Options)]
    differences = [(_SPOKEN.get(name, name), old, new) for name, old, new in pairs if old != new]
    if differences:
        raise InvalidState.options(differences)


def window_bucket(base: bytes, queries: Sequence[Query] = ()) -> tuple[_Windows, list[tuple[str, str]]]:
    """The memory of windows as far as it can be looked at without their aggregates; and the queries as they were."""
    content = _whole(unpack(base, _MAGIC, "bucket"), "newest", "late")
    if "stream" not in content:
        raise InvalidState.other("frames", "sash.rolling", "windows, which sash.state shows")
    saved = load_stream(content["stream"])
    plan, state = windows_only(saved, queries)
    return _Windows(Stream.of(plan, state, late="keep"), *_told(content, plan.measure, "newest")), saved.queries


# --- frames ------------------------------------------------------------------------------------------


class _Frames(Live):
    """Rows wait until no earlier one can come; those that later ones look back on stay."""

    def __init__(
        self, work: "FrameWork", before: pa.Table, waiting: pa.Table, newest: Any, watermark: Any, late_rows: int = 0
    ) -> None:
        self._work, self._before, self._waiting, self.measure = work, before, waiting, work.measure
        self.newest, self._watermark, self.late_rows = newest, watermark, late_rows
        self.late = NONE_REJECTED

    def push(self, step: Step) -> pa.Table:
        plan = self._work.plan
        rows = _cast(step.rows, self._work.schema)
        if step.newest is not None:
            self.newest = max(self.newest, step.newest)
        watermarks = Watermarks(plan.measure, delay=self._work.delay)
        positions, valid = plan.measure.positions(rows.column(plan.on), plan.on)
        judged = watermarks.judge(self._watermark, positions, valid)
        self.late = _gone(rows.take(pa.array(judged.rejected)), plan.on, plan.measure)
        self.late_rows += len(self.late) + step.far
        accepted = rows if judged.accepted is None else rows.take(pa.array(judged.accepted))
        waiting = pa.concat_tables([self._waiting, accepted])
        mark = watermarks.after(self._watermark, self.newest, plan.measure.highest if step.is_end else None)
        is_ready = positions_in(waiting, plan.on, plan.measure) < mark
        ready = waiting.filter(pa.array(is_ready))
        table = pa.concat_tables([self._before, ready])
        columns = with_failing_rows(lambda part: framed(plan, read_rows(part)), table, plan.by, plan.on)
        results = ready
        for name, column in columns.items():
            results = results.append_column(name, column.slice(self._before.num_rows))
        self._waiting = waiting.filter(pa.array(~is_ready)).combine_chunks()
        if ready.num_rows or mark > self._watermark:
            self._before = needed(plan, table, mark).combine_chunks()
        self._watermark = mark
        return results

    def saved(self) -> bytes:
        content = {
            "frames": self._work.text,
            "meanings": self._work.meanings,
            "python": PYTHON,
            "schema": str(self._work.schema),
            "newest": self.newest,
            "watermark": self._watermark,
            "late": self.late_rows,
            "before": table_bytes(self._before),
            "waiting": table_bytes(self._waiting),
        }
        return pack(content, _MAGIC)

    @property
    def nbytes(self) -> int:
        return int(self._before.nbytes + self._waiting.nbytes)

    @property
    def weight(self) -> int:
        return self.nbytes

    def figures(self) -> dict[str, Any]:
        measure = self._work.plan.measure
        return {
            "watermark": _known(self._watermark, measure),
            "newest": _known(self.newest, measure),
            "slices": self._before.num_rows + self._waiting.num_rows,
            "keys": _count_keys([self._before, self._waiting], self._work.plan.by),
            "open_windows": self._waiting.num_rows,
            "next_end": None,
        }


@dataclass(frozen=True)
class FrameWork(Work):
    """Frames over rows."""

    plan: Framing
    delay: Any  # in positions
    schema: pa.Schema
    results: pa.Schema
    keeps_late: bool

    @property
    def measure(self) -> Measure:
        return self.plan.measure

    @property
    def kept(self) -> list[str]:
        return list(self.schema.names)

    @property
    def text(self) -> str:
        """What is asked, to tell whether it is what was asked before."""
        return "; ".join([f"watermark {self.delay}", *self.plan.lines()])

    @property
    def meanings(self) -> list[Meanings]:
        """What the functions of users mean, frame by frame."""
        return [meanings_of(each.aggregates) for each in self.plan.frames]

    def fresh(self) -> Live:
        lowest, empty = self.measure.lowest, self.schema.empty_table()
        return _Frames(self, empty, empty, lowest, lowest)

    def restored(self, base: bytes) -> Live:
        content = _whole(unpack(base, _MAGIC, "bucket"), "newest", "late")
        if "frames" not in content:
            raise InvalidState.other("windows", "sash.aggregate", "sash.rolling")
        _whole(content, "schema", "watermark", "before", "waiting")
        meanings, python = content.get("meanings", []), content.get("python", PYTHON)
        if not isinstance(meanings, list) or not all(map(are_meanings, meanings)) or not isinstance(python, str):
            raise InvalidState.damaged("functions are not told by digests")
        for frame, known in zip(self.plan.frames, meanings, strict=False):
            check_meanings("sash.rolling", known, frame.aggregates, python)
        if not isinstance(content["frames"], str) or not isinstance(content["schema"], str):
            raise InvalidState.damaged("its frames and columns are not told by a text")
        if content["frames"] != self.text:
            raise InvalidState.other("frames", content["frames"], self.text)
        if content["schema"] != str(self.schema):
            columns = (" ".join(each.split()) for each in (content["schema"], str(self.schema)))
            raise InvalidState.other("columns", *columns)
        before, waiting = (_cast(table_of_bytes(content[name]), self.schema) for name in ("before", "waiting"))
        return _Frames(self, before, waiting, *_told(content, self.measure, "newest", "watermark"))

    def caught_up(self, live: Live) -> bool:
        return False

    def sent(self, results: pa.Table, late: RejectedRows) -> pa.Table:
        if not self.keeps_late:
            return written(results, self.results)
        table = results.append_column("late_reason", pa.nulls(results.num_rows, pa.string()))
        ours = written(table, self.results)
        if not len(late):
            return ours
        columns: dict[str, Any] = {name: late.rows.column(name) for name in self.schema.names}
        columns["late_reason"] = late.reasons
        return _with_rows(ours, columns, len(late))


def _cast(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows in the columns of a schema; what was saved of others is not what it was."""
    if rows.schema.equals(schema):
        return rows
    try:
        return rows.select(schema.names).cast(schema)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise InvalidState.unreadable("its rows have other columns", error) from error


def _with_rows(results: pa.Table, columns: dict[str, Any], count: int) -> pa.Table:
    """Results and so many more rows, of which only these columns are known."""
    more = [columns[each.name] if each.name in columns else pa.nulls(count, each.type) for each in results.schema]
    return pa.concat_tables([results, pa.table(more, schema=results.schema)])


def _gone(rows: pa.Table, on: str, measure: Measure) -> RejectedRows:
    if not rows.num_rows:
        return NONE_REJECTED
    _, valid = measure.positions(rows.column(on), on)
    is_none = np.zeros(rows.num_rows, np.bool_) if valid is None else ~valid
    return RejectedRows(rows, pa.array(np.where(is_none, NO_POSITION, TOO_LATE).tolist(), pa.string()))


def _count_keys(tables: Sequence[pa.Table], by: Sequence[str]) -> int:
    """How many keys rows have; without a key there is one, if there are rows."""
    rows = pa.concat_tables(tables)
    return len(rows.group_by(list(by)).aggregate([])) if by else min(1, rows.num_rows)


def _known(position: Any, measure: Measure) -> Any:
    """A position, if it is not the beginning of all."""
    return None if position <= measure.lowest else position
