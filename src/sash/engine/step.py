"""One push: rows go in, results come out.

rows ─▶ judged ─▶ wait in order? ─▶ slices ─▶ partials ─▶ windows that are due ─▶ results
          │late                        ▲                         │
          ▼                            └── dropped when no window needs them
"""

import math
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.aggregate import Aggregate
from sash.algebra.compiler import kernel
from sash.engine import firing
from sash.engine.firing import Push
from sash.engine.results import Fired, columns_of, names_of, schema_of, table_of
from sash.engine.sent import Sent, revised
from sash.engine.state import State
from sash.engine.users import asked, check_windows, is_position
from sash.engine.waiting import Batch
from sash.errors import InvalidAggregate, InvalidState, InvalidWindow, SashError
from sash.plan.decide import finishes
from sash.plan.plan import Plan, Planned
from sash.slicing import slice_manager, sweeper
from sash.slicing.partials import settle_trees
from sash.slicing.slice_manager import Placed
from sash.slicing.slicer import Cutter
from sash.slicing.slices import USED, Array
from sash.slicing.window_manager import Ended, Grids
from sash.slicing.window_manager import grids as grids_due
from sash.windows.kinds import OpenWindows

__all__ = ["Engine", "Judged"]

# Slices are swept when they have doubled since the last time, and are not few.
_FEW = 256
# Keys from which a push is sorted by key first: what is known of so many does not stay in the nearest memory.
_MANY_KEYS = 2048


@dataclass(frozen=True)
class Judged:
    """Which rows of a push are accepted (None: all), and how many are late or without a position."""

    accepted: Array | None
    late: int


class Engine:
    """What a plan needs again and again, made once; it remembers nothing of the stream."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.lowest, self.highest = plan.measure.lowest, plan.measure.highest
        self._reach = plan.measure.reach if plan.measure.dtype.kind == "f" else None
        self._has_revisions, self._waits = plan.has_revisions, plan.waits
        self.cutter = Cutter(plan.edges, plan.measure.lowest, plan.measure.highest)
        self.schema = schema_of(plan)
        self.nothing = self.schema.empty_table()
        self._user_edges = [each.window for each in plan.queries if each.window.kind == "user_free"]
        grids = [each.window for each in plan.queries if each.window.kind == "grid"]
        self._all_grids = Grids.of(grids, plan.measure.dtype) if grids else None
        self._families = {
            family[0].name: (Grids.of([each.window for each in family], plan.measure.dtype), names_of(family))
            for family in plan.families
            if family[0].window.kind == "grid" and not plan.has_revisions
        }
        self._has_only_grids = len(self._families) == len(plan.families)
        self._first_end: tuple[Any, Any] = (plan.measure.highest, plan.measure.lowest)  # of a grid, after a watermark
        self._expected = 0
        self.combines = 0  # in this process, as windows were finished
        self._aware = [each for each in plan.queries if each.window.kind == "user_aware"]

    # --- judging -----------------------------------------------------------------------------------

    def judge(self, state: State, positions: Array, valid: Array | None) -> Judged:
        """Rows are judged by the watermark before the push; in an ordered stream, each by the rows before it."""
        if not len(positions):
            return Judged(None, 0)
        if self.plan.options.in_order:
            if valid is None and is_ascending(positions, state.watermark):
                return Judged(None, 0)
            seen = positions if valid is None else np.where(valid, positions, self.plan.measure.lowest)
            before = np.maximum.accumulate(np.concatenate([[state.watermark], seen])[:-1])
            accepted = positions >= before
        else:
            final = self.final(state.watermark)
            if valid is None and positions.min() >= final:
                return Judged(None, 0)
            accepted = positions >= final
        if valid is not None:
            accepted &= valid
        count = int(accepted.sum())
        return Judged(None if count == len(positions) else np.flatnonzero(accepted), len(positions) - count)

    def within_reach(self, watermark: Any) -> Any:
        """A watermark, no further than rows can be."""
        if self._reach is None or abs(watermark) in (0.0, math.inf):
            return watermark
        return min(max(watermark, -self._reach), self._reach)

    def final(self, watermark: Any) -> Any:
        """No row before this position is accepted any more."""
        if self.plan.lateness == 0 or watermark == self.lowest or watermark == self.highest:
            return watermark
        final = max(watermark - self.plan.lateness, self.lowest)
        return self.lowest if self._reach is not None and final < -self._reach else final

    # --- one push ----------------------------------------------------------------------------------

    def advance(self, state: State, batch: Batch, watermark: Any) -> pa.Table:
        """Take rows that were accepted, move the watermark, send what is due; the state is changed."""
        plan, before = self.plan, state.watermark
        state.ensure_keys(state.keys.capacity)
        is_end = watermark >= self.highest
        after = max(before, watermark)
        state.rows += len(batch)
        touched = late = np.zeros(0, np.int64)
        if len(batch) and (self._has_revisions or plan.punctuations or self._aware):
            touched = np.unique(batch.slots)
            late = np.unique(batch.slots[batch.positions < before]) if plan.lateness > 0 else late
        undo = None
        if self._waits:
            if len(batch) and batch.positions.min() <= state.unordered_until:
                # Among rows that were cut as they came, before a query that needs order was added.
                early = batch.positions <= state.unordered_until
                self._put(state, batch.taken(np.flatnonzero(early)), False, None)
                batch = batch.taken(np.flatnonzero(~early))
            state.waiting = state.waiting.with_newer(batch)
            count = state.waiting.until(self.final(after))
            self._place(state, state.waiting.part(0, count))
            state.waiting = state.waiting.part(count, len(state.waiting))
            if plan.has_revisions:
                shown = (
                    state.waiting
                    if plan.options.emit == "updates"
                    else state.waiting.part(0, state.waiting.until(after))
                )
                undo = self._place_for_now(state, shown)
        else:
            self._place(state, batch)
        state.watermark = after
        slots = np.arange(state.slices.keys)
        try:
            fired = self._fire(state, Push(before, after, self.final(before), is_end, slots, touched, late))
        finally:
            if undo is not None:
                self._take_back(state, undo)
        try:
            results = table_of(plan, state.keys, self.schema, fired) if fired else self.nothing
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            if not state.is_restored:
                raise
            raise self._blamed(state, error, "lower") from error
        self._forget(state, after)  # keys, too: they are in the results by now
        return results

    def _place(self, state: State, batch: Batch, fresh: Array | None = None) -> Placed | None:
        placed = self._put(state, batch, self.plan.is_ordered, fresh)
        if self._aware and fresh is None and len(batch):
            self._notify(state.contexts, batch)
        return placed

    def _put(self, state: State, batch: Batch, in_order: bool, fresh: Array | None) -> Placed | None:
        if not len(batch):
            return None
        plan, slices = self.plan, state.slices
        low, high = batch.extent(in_order)
        if state.keys.capacity > _MANY_KEYS and len(batch) > state.keys.capacity // 4:
            batch = batch.by_key(state.keys.capacity)
        edges = self.cutter.cut(
            batch.positions, low, high, [self._edges_of(each, batch.positions) for each in self._user_edges]
        )
        placed = slice_manager.place(
            slices, batch.slots, batch.positions, batch.bits, edges, plan.cuts, in_order, fresh
        )
        for name in state.due:
            gap: Any = next(each.window.gap for each in plan.queries if each.name == name)  # type: ignore[attr-defined]
            state.due[name] = min(state.due[name], low + gap)
        for partials, group, names in zip(state.partials, plan.groups, plan.group_columns, strict=True):
            partials.ensure(slices.capacity)
            partials.reset(placed.made)
            columns = [batch.columns[name] for name in names]
            flags = [valid for (_, valid), column in zip(columns, group.columns, strict=True) if column.nullable]
            inputs = (*(data for data, _ in columns), *flags)
            try:
                partials.add(placed.ids, inputs)
                partials.merge(placed.merged)
            except Exception as error:
                raise self._blamed(state, error, "lift or combine") from error
        if len(placed.merged):
            slice_manager.release(slices, placed.merged[:, 1])
        return placed

    def _blamed(self, state: State, error: Exception, what: str) -> Exception:
        """An error while partials were computed is that of a user's function, if there is one; or of saved bytes."""
        users = [
            reading.template.name
            for query in self.plan.queries
            for reading in query.readings
            if isinstance(reading.template, Aggregate)
        ]
        if isinstance(error, SashError) or not (users or state.is_restored):
            return error
        if not users:
            return InvalidState.partials("what was asked for", error)
        return InvalidAggregate.fails(" or ".join(dict.fromkeys(users)), what, "rows of this push", error)

    def _edges_of(self, window: Any, positions: Array) -> Array:
        """The first edge after each of these positions: asked for once per slice."""
        found: list[Any] = []
        rest = np.unique(positions)
        while len(rest):
            position = rest[0].item()
            edge = asked(window, f"next_edge({position})", partial(window.next_edge, position))
            if edge == math.inf:
                edge = self.highest
            if not is_position(edge, positions.dtype) or not position < edge <= self.highest:
                raise InvalidWindow.edges(
                    window, f"next_edge({position}) must be a number after it, as `on` is, but gave {edge!r}"
                )
            found.append(edge)
            rest = rest[np.searchsorted(rest, edge) :]
        return np.array(found, positions.dtype)

    def _notify(self, contexts: dict[str, Any], batch: Batch) -> None:
        """Tell users' windows of rows that are in order, key by key."""
        order = np.argsort(batch.slots, kind="stable")
        slots = batch.slots[order]
        begins = np.flatnonzero(np.concatenate([[True], slots[1:] != slots[:-1]]))
        for begin, end in zip(begins, [*begins[1:], len(slots)], strict=True):
            rows, slot = order[begin:end], int(slots[begin])
            for query in self._aware:
                window: Any = query.window
                context = contexts[query.name].setdefault(slot, OpenWindows([], {}))
                columns = {
                    name: [
                        value if known else None
                        for value, known in zip(
                            batch.columns[name][0][rows].tolist(), batch.columns[name][1][rows].tolist(), strict=True
                        )
                    ]
                    for name in window.columns
                }
                asked(window, "notify", partial(window.notify, context, batch.positions[rows].tolist(), columns))
                check_windows(window, context.windows, self.plan.measure.dtype)

    # --- rows that may still be overtaken -------------------------------------------------------------

    def _place_for_now(self, state: State, batch: Batch) -> dict[str, Any] | None:
        """Cut rows whose order is not final yet; gives what it takes to take them back."""
        if not len(batch):
            return None
        slices = state.slices
        state.ensure_keys(state.keys.capacity)
        slots = np.unique(batch.slots)
        undo = {
            "slots": slots,
            "count": slices.count[slots],
            "seen": slices.seen[slots],
            "cut": slices.cut[slots],
            "contexts": state.contexts,
        }
        fresh = np.zeros(slices.keys, np.int64)
        fresh[slots] = 1
        placed = self._place(state, batch, fresh)
        if self._aware:
            own = set(slots.tolist())
            state.contexts = {
                name: {slot: deepcopy(each) if slot in own else each for slot, each in contexts.items()}
                for name, contexts in state.contexts.items()
            }
            self._notify(state.contexts, batch)
        undo["made"] = placed.made if placed is not None else np.zeros(0, np.int64)
        return undo

    def _take_back(self, state: State, undo: dict[str, Any]) -> None:
        slices, slots = state.slices, undo["slots"]
        for name in ("count", "seen", "cut"):
            getattr(slices, name)[slots] = undo[name]
        slices.dirty[slots] = np.minimum(slices.dirty[slots], undo["count"])
        slices.cursor[USED] -= len(undo["made"])
        for partials in state.partials:
            partials.forget(undo["made"])
        slice_manager.release(slices, undo["made"][::-1])
        state.contexts = undo["contexts"]

    # --- what fires --------------------------------------------------------------------------------

    def _fire(self, state: State, push: Push) -> list[Fired]:
        plan = self.plan
        is_due = push.is_moved and self._all_grids is not None and push.after >= self._next_end(push.before)
        if self._has_only_grids and not is_due:
            return []
        if plan.tree.choice:
            for partials in state.partials:
                partials.bring_up_to_date(state.slices)
            settle_trees(state.slices)
        fired: list[Fired] = []
        for family in plan.families:
            query = family[0]
            if query.name in self._families:
                ended = self._ended_on_grids(state, family, push) if is_due else Ended.none(plan.measure.dtype)
            else:
                moments = firing.moments(plan, state, query, push)
                parts = [firing.due(plan, state, query, moment) for moment in moments]
                ended = Ended.joined(parts, np.int64 if query.window.by_count else plan.measure.dtype)
            if len(ended):
                fired += self._finished(state, family, ended)
            firing.remember(plan, state, query, ended, push)
        return fired

    def _ended_on_grids(self, state: State, family: tuple[Planned, ...], push: Push) -> Ended:
        grids, _ = self._families[family[0].name]
        ended = grids_due(state.slices, push.slots, grids, push.before, push.after, self._expected, not state.added)
        self._expected = len(ended) + len(ended) // 4
        return firing.without_unseen(state, family, ended)

    def _next_end(self, after: Any) -> Any:
        """No window on a grid ends before it."""
        assert self._all_grids is not None
        if after == self.lowest:
            return after
        if not self._first_end[0] <= after < self._first_end[1]:
            self._first_end = after, self._all_grids.first_end(after)
        return self._first_end[1]

    def _finished(self, state: State, family: tuple[Planned, ...], ended: Ended) -> list[Fired]:
        plan, query = self.plan, family[0]
        lengths = ended.highs - ended.lows
        overlap = np.maximum(ended.lows[1:], ended.highs[:-1])
        covered = int(np.maximum(ended.highs[1:] - overlap, 0).sum()) + int(lengths[0])
        try:
            answers = []
            for view, partials, group in zip(query.views, state.partials, plan.groups, strict=True):
                how = finishes(len(ended), int(lengths.sum()), max(1, covered), group.is_compiled).choice
                algorithm = None if how == "fold" else str(how)
                self.combines += 0 if view is None else self._combined(lengths, covered, str(how))
                answers.append(None if view is None else partials.answer(view, state.slices, ended, algorithm))
        except Exception as error:
            raise self._blamed(state, error, "combine or lower") from error
        columns = columns_of(query, answers)
        if not plan.has_revisions:
            names = self._families[query.name][1] if query.name in self._families else None
            return [Fired(family, ended.which, names, ended.slots, ended.starts, ended.ends, columns, None)]
        now = Sent(ended.slots, ended.starts, ended.ends, np.zeros(len(ended), np.int64), columns)
        sent = state.sent.get(query.name, now.taken(np.zeros(0, np.int64)))
        fresh, state.sent[query.name] = revised(sent, now, firing.identity_of(query))
        if not len(fresh):
            return []
        return [Fired(family, None, None, fresh.slots, fresh.starts, fresh.ends, fresh.columns, fresh.revisions)]

    def _combined(self, lengths: Array, covered: int, how: str) -> int:
        """How many partials are combined for windows of so many slices each."""
        if self.plan.tree.choice:
            return int((2 * np.log2(lengths + 1)).sum())
        return int(lengths.sum()) if how == "fold" else 3 * covered

    # --- what is forgotten -------------------------------------------------------------------------

    def _forget(self, state: State, watermark: Any) -> None:
        plan, slices = self.plan, state.slices
        final = self.final(watermark)
        if self._has_revisions:
            self._settle(state, final)
        for query in self._aware:
            for context in state.contexts[query.name].values():
                # Where it could be sent again, a row at the very end of a window may still change it.
                context.windows = [
                    each for each in context.windows if each[1] > final or (self._has_revisions and each[1] == final)
                ]
        if slices.used <= 2 * state.swept + _FEW:
            return
        keep_from, fine_from = firing.kept_from(plan, self._all_grids, final)
        first = firing.needed(plan, state, final)
        dropped, merged = sweeper.drop(slices, keep_from, fine_from, first, plan.edges.points, plan.cuts)
        for partials in state.partials:
            partials.merge(merged)
            partials.forget(dropped)
        slice_manager.release(slices, dropped)
        slice_manager.release(slices, merged[:, 1])
        state.swept = slices.used
        self._free_keys(state)

    def _settle(self, state: State, final: Any) -> None:
        """Forget what was sent and cannot change any more."""
        for query in self.plan.queries:
            sent = state.sent.get(query.name)
            if sent is not None and len(sent):
                if query.window.kind == "rows":
                    window: Any = query.window
                    whole = np.flatnonzero(sent.ends <= state.slices.seen[sent.slots])
                    np.maximum.at(state.fired[query.name], sent.slots[whole], sent.starts[whole] // window.every + 1)
                gone = firing.is_final(state, query, final, sent)
                if gone.any():
                    state.sent[query.name] = sent.taken(np.flatnonzero(~gone))

    def _free_keys(self, state: State) -> None:
        """Keys of which nothing is left are forgotten, unless a count of their rows must go on."""
        if not self.plan.options.by or any(
            each.window.kind in ("rows", "last_rows", "user_aware") for each in self.plan.queries
        ):
            return
        slices = state.slices
        empty = slices.count == 0
        empty[state.waiting.slots] = False
        empty[state.keys.capacity :] = False
        empty[state.keys.unused] = False
        for sent in state.sent.values():
            empty[sent.slots] = False
        freed = np.flatnonzero(empty)
        slices.seen[freed] = 0
        slices.room[freed] = 0
        slices.cut[freed] = 0
        state.keys.free(freed)


@kernel
def _ascends(positions: Any, least: Any) -> bool:
    goes_back = positions[0] < least
    for row in range(1, len(positions)):  # to the end in any case: so it is done for several rows at once
        goes_back |= positions[row] < positions[row - 1]
    return not goes_back


def is_ascending(positions: Array, least: Any) -> bool:
    """Whether no position goes back, and none is before `least`."""
    return bool(_ascends(positions, positions.dtype.type(least)))


def adapt(new: Engine, state: State) -> None:
    """Go on with other queries: what is kept is adapted, what only a removed query needed is freed.

    All that it asks of the plan before is in the state, so that a stream changes its queries in one way, whether it is
    running or restored: those who restore it need not have the queries that are gone.
    """
    plan, slices, old = new.plan, state.slices, state.cutting
    _check_reach(plan, state)
    if plan.waits and not old.is_ordered:
        state.unordered_until = state.rows_since = max(state.unordered_until, state.newest)
        slices.seen[:] = 0
        slices.ranks[:] = -1
    elif plan.cuts.is_each_row and not old.is_each_row:
        # Rows that are cut from now on are slices of their own: all after the last that was cut.
        placed = min(new.final(state.watermark), state.newest) if plan.waits else state.newest
        state.rows_since = max(state.rows_since, placed)
    state.moved(plan)
    live, _ = slices.live()
    if len(live):
        lasts = np.sort(slices.lasts[live])
        edges = new.cutter.cut(lasts, lasts[0], lasts[-1], [new._edges_of(each, lasts) for each in new._user_edges])
        slices.ends[live] = edges[np.searchsorted(edges, slices.lasts[live], side="right")]
    for key in range(slices.keys):
        seen = int(slices.seen[key])
        at_cut = bool(((seen - plan.cuts.phase) % plan.cuts.every == 0).any()) if len(plan.cuts.every) else False
        slices.cut[key] = seen if at_cut else slice_manager.next_cut(plan.cuts.every, plan.cuts.phase, seen)
    for query in plan.queries:
        if query.name in old.queries:
            continue
        state.added[query.name] = state.watermark
        window: Any = query.window
        if window.kind == "punctuated":
            state.unseen[query.name] = state.newest
        elif window.kind == "session":
            # A session of a smaller gap has cut all rows that this one needs cut, as far as it has seen them itself.
            cut_since = [state.unseen.get(name, new.lowest) for name, gap in old.sessions if gap <= window.gap]
            state.unseen[query.name] = min(cut_since, default=state.newest)
        elif window.kind == "rows":
            state.ensure_keys(slices.keys)
            state.fired[query.name] = np.maximum((slices.seen - window.size) // window.every + 1, 0)
        mixed_until = state.mixed_until(query)
        if mixed_until > new.lowest:
            state.unseen[query.name] = max(state.unseen.get(query.name, new.lowest), mixed_until)
    if not plan.waits and len(state.waiting):
        rest, state.waiting = state.waiting, state.waiting.part(0, 0)
        new._put(state, rest, False, None)


def _check_reach(plan: Plan, state: State) -> None:
    """Refuse windows that are too fine for positions that are there already."""
    if plan.measure.dtype.kind != "f":
        return
    live, _ = state.slices.live()
    rows = state.slices.firsts[live], state.slices.lasts[live], state.waiting.positions
    known = np.abs(np.concatenate([*rows, [state.watermark, state.newest]]))
    furthest = known[np.isfinite(known)].max(initial=0.0)
    if furthest > plan.measure.reach:
        raise InvalidWindow.too_fine(furthest, plan.measure.reach)
