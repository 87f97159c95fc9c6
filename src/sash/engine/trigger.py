"""Find the windows that are due and compute their results; emit again those that changed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sash.engine.placement import as_user_error
from sash.engine.results import FiredWindows, columns_of, names_of, values_of_results
from sash.engine.revisions import Columns, Emitted, revise
from sash.engine.state import State
from sash.kinds.kind import Moment, Push, StreamView
from sash.plan.decide import choose_fold
from sash.plan.plan import Plan, PlannedQuery
from sash.slicing.grids import Grids, ended_on_grids
from sash.slicing.partials import mark_trees_updated
from sash.slicing.slices import Array, Slices
from sash.slicing.window_manager import Ended

__all__ = ["Trigger", "due"]


def due(state: State, held: StreamView, query: PlannedQuery, moment: Moment) -> Ended:
    """Return the windows of a query that the second watermark closes and the first did not."""
    ended = query.kind.due(held, state.own[query.name], moment)
    return _without_unseen(state, (query,), _without_older(state, query, ended))


def _without_older(state: State, query: PlannedQuery, ended: Ended) -> Ended:
    """Leave out count windows whose last row lies before the watermark at which their query was added.

    The ends of other windows are positions, and lie after this watermark. The ranks of a count window do not tell its
    position, and a late row can still complete a window that lies before the watermark.
    """
    if not query.window.by_count or query.name not in state.added or not len(ended):
        return ended
    slices = state.slices
    is_newer = slices.lasts[slices.order[ended.highs - 1]] >= state.added[query.name]
    return ended if is_newer.all() else ended.take(np.flatnonzero(is_newer))


def _without_unseen(state: State, family: Sequence[PlannedQuery], ended: Ended) -> Ended:
    """Leave out windows that may contain rows from before their query was added, if it lacks some of these rows."""
    for place, query in enumerate(family) if state.unseen and len(ended) else ():
        if query.name in state.unseen:
            slices = state.slices
            starts = slices.firsts[slices.order[ended.lows]] if query.window.by_count else ended.starts
            is_seen = starts > state.unseen[query.name]
            if ended.which is not None:
                is_seen |= ended.which != place
            ended = ended.take(np.flatnonzero(is_seen))
    return ended


class Trigger:
    """Fires the windows of one plan; queries of a family have the same results and are computed in one pass."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.combines = 0  # in this process, as windows were finished
        self.all_grids = _grids(plan, plan.queries)
        self._families = {
            family[0].name: _grids(plan, family)
            for family in plan.families
            if family[0].kind.shared_grid is not None and not plan.has_revisions
        }
        self._passes = {
            family[0].name: serves([each.kind for each in family])
            for family in plan.families
            if (serves := family[0].kind.family) is not None and not plan.has_revisions
        }
        shared = self._families.keys() | self._passes.keys()
        self._names = {family[0].name: names_of(family) for family in plan.families if family[0].name in shared}
        self._has_only_grids = len(self._families) == len(plan.families)
        self._first_end: tuple[Any, Any] = (plan.measure.highest, plan.measure.lowest)  # of a grid, after a watermark
        self._expected: dict[str, int] = {}  # windows of each family that the next push may end

    def fire(self, state: State, push: Push, wants_results: bool = True) -> list[FiredWindows]:
        """Return the windows to emit after a push; without results, compute only those that revisions compare."""
        plan = self.plan
        is_due = push.is_moved and self.all_grids is not None and push.after >= self.next_end(push.before)
        if self._has_only_grids and not is_due:
            return []
        if plan.tree.choice:
            for partials in state.partials:
                partials.update_trees(state.slices)
            mark_trees_updated(state.slices)
        fired: list[FiredWindows] = []
        held = state.view()
        for family in plan.families:
            query = family[0]
            if query.name in self._families:
                ended = self._ended_on_grids(state, family, push) if is_due else Ended.none(plan.measure.dtype)
            elif query.name in self._passes:
                ended = self._ended_in_one_pass(state, held, family, push)
            else:
                added = state.added.get(query.name, plan.measure.lowest)
                moments = query.kind.moments(held, push, added)
                parts = [due(state, held, query, moment) for moment in moments]
                ended = Ended.concat(parts, np.int64 if query.window.by_count else plan.measure.dtype)
            if len(ended) and (wants_results or plan.has_revisions):
                fired += self._finish(state, family, ended)
            if query.name not in self._passes:
                query.kind.remember(state.own[query.name], ended, push)
            elif len(ended):
                self._passes[query.name].remember([state.own[each.name] for each in family], ended)
        return fired

    def _ended_on_grids(self, state: State, family: tuple[PlannedQuery, ...], push: Push) -> Ended:
        name = family[0].name
        grids, expected = self._families[name], self._expected.get(name, 0)
        assert grids is not None
        are_cut = not state.added
        ended = ended_on_grids(state.slices, push.slots, grids, push.before, push.after, expected, are_cut)
        self._expected[name] = len(ended) + len(ended) // 4
        return _without_unseen(state, family, ended)

    def _ended_in_one_pass(self, state: State, held: StreamView, family: tuple[PlannedQuery, ...], push: Push) -> Ended:
        """Return the due windows of a family; without revisions, all its queries have the same moments."""
        query = family[0]
        owns = [state.own[each.name] for each in family]
        (moment,) = query.kind.moments(held, push, self.plan.measure.lowest)
        ended = self._passes[query.name].due(held, owns, moment, self._expected.get(query.name, 0))
        self._expected[query.name] = len(ended) + len(ended) // 4
        return _without_unseen(state, family, ended)

    def next_end(self, after: Any) -> Any:
        """Return a position before which no window on a grid ends."""
        assert self.all_grids is not None
        if after == self.plan.measure.lowest:
            return after
        if not self._first_end[0] <= after < self._first_end[1]:
            self._first_end = after, self.all_grids.first_end(after)
        return self._first_end[1]

    def _finish(self, state: State, family: tuple[PlannedQuery, ...], ended: Ended) -> list[FiredWindows]:
        plan, query = self.plan, family[0]
        lengths = ended.highs - ended.lows
        overlap = np.maximum(ended.lows[1:], ended.highs[:-1])
        covered = int(np.maximum(ended.highs[1:] - overlap, 0).sum()) + int(lengths[0])
        try:
            answers: list[Any] = []
            ways: dict[bool, str] = {}  # how groups that compile, and others, are finished
            for view, partials, group in zip(query.views, state.partials, plan.groups, strict=True):
                if view is None:
                    answers.append(None)
                    continue
                compiled = group.is_compiled
                if compiled not in ways:
                    whole = int(lengths.sum())
                    found = choose_fold(len(ended), whole, max(1, covered), compiled, plan.options.limits)
                    ways[compiled] = str(found.choice)
                how = ways[compiled]
                self.combines += self._combined(lengths, covered, how)
                algorithm = None if how == "fold" else how
                answers.append(partials.answer(view, state.slices, ended, algorithm, query.name))
        except Exception as error:
            raise as_user_error(plan, state, error, "combine or lower") from error
        columns = values_of_results(query, columns_of(query, answers), state.dictionaries)
        if query.window.by_count:
            columns = (*_first_and_last(state.slices, ended), *columns)
        if not plan.has_revisions:
            return [_fired_windows(family, ended, columns, names=self._names.get(query.name))]
        now = Emitted(ended.slots, ended.starts, ended.ends, np.zeros(len(ended), np.int64), columns)
        before = state.emitted.get(query.name, now.take(np.zeros(0, np.int64)))
        fresh, state.emitted[query.name] = revise(before, now, query.kind.same_window)
        return [_fired_windows(family, fresh, fresh.columns, fresh.revisions)] if len(fresh) else []

    def _combined(self, lengths: Array, covered: int, how: str) -> int:
        """Return how many partials are combined for windows of so many slices each."""
        if self.plan.tree.choice:
            return int((2 * np.log2(lengths + 1)).sum())
        return int(lengths.sum()) if how == "fold" else 3 * covered


def _first_and_last(slices: Slices, ended: Ended) -> Columns:
    """Return the positions of the first and the last row of count windows, which late rows may change."""
    every = np.ones(len(ended), np.bool_)
    firsts, lasts = slices.firsts[slices.order[ended.lows]], slices.lasts[slices.order[ended.highs - 1]]
    return (firsts, every), (lasts, every)


def _fired_windows(
    family: tuple[PlannedQuery, ...],
    windows: Ended | Emitted,
    columns: Columns,
    revisions: Any = None,
    names: Any = None,
) -> FiredWindows:
    """Return windows as they are emitted; for count windows, positions as edges and ranks as further columns."""
    which = windows.which if isinstance(windows, Ended) else None
    starts, ends, ranks = windows.starts, windows.ends, None
    if family[0].window.by_count:
        ranks = starts, ends
        (starts, _), (ends, _), *rest = columns
        columns = tuple(rest)
    return FiredWindows(family, which, names, windows.slots, starts, ends, columns, revisions, ranks)


def _grids(plan: Plan, queries: Sequence[PlannedQuery]) -> Grids | None:
    """Return the grids that queries share; None if there are none."""
    grids = [grid for each in queries if (grid := each.kind.shared_grid) is not None]
    return Grids.of(grids, plan.measure.dtype) if grids else None
