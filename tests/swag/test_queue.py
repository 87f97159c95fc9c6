"""A window that grows and shrinks moves a constant number of partials per row, and no more at any size."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.algebra.compiler import kernel
from sash.algebra.monoid import Monoid, lift
from sash.swag import window_room
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm, evict, insert, settle
from sash.swag.queue import MOVES, Layout, Queue
from tests.swag.monoids import TEMPLATES, bound

LAID_OUT = {name: each for name, each in ALGORITHMS.items() if each.has_step("LAYOUT")}
# Between two steps, a step of these writes at most so many slots of rings by itself.
OWN_WRITES = {"daba": 4, "daba_lite": 3, "slick_deque": 2, "slick_deque_inv": 1, "subtract_on_evict": 1}


def aggregate_for(algorithm: Algorithm) -> str:
    return next(
        name
        for name in ("words", "turns", "latest")
        if algorithm.admits(TEMPLATES[name].invertible, TEMPLATES[name].selective)
    )


def lists_of(state: Any) -> list[list[Any]]:
    """The lists of an interpreted state, but for the cursors."""
    if isinstance(state, tuple):
        return [found for part in state for found in lists_of(part)]
    return [state]


def writes_between(before: list[tuple[int, list[Any]]], after: list[list[Any]]) -> int:
    """How many slots of the rings were written, which in a new list are all that are set."""
    copies = dict(before)
    return sum(
        sum(now is not then for now, then in zip(each, copies.get(id(each), unset(each)), strict=True))
        for each in after
    )


def unset(ring: list[Any]) -> list[Any]:
    return [each if each is None or each == 0 else None for each in ring]


class Watched:
    """An interpreted window whose writes are counted, beside its rows."""

    def __init__(self, name: str) -> None:
        self.algorithm = ALGORITHMS[name]
        self.aggregate = aggregate_for(self.algorithm)
        self.layout: Layout = self.algorithm.steps.LAYOUT
        invertible = TEMPLATES[self.aggregate].invertible
        self.monoid = bound(self.aggregate, invertible=invertible)
        self.state = window_room.empty(self.algorithm, self.monoid)
        self.partials: list[Any] = []
        self.next = 0

    def rings(self) -> list[list[Any]]:
        return [found for part in self.state[: self.layout.rings] for found in lists_of(part[:2])]

    def step(self, inserts: int, evictions: int = 0) -> int:
        """Do what a call of a window does; return how many slots of rings it wrote."""
        kept = self.rings()  # held, so that no number of an object is given twice
        before = [(id(each), list(each)) for each in kept]
        self.state = window_room.with_room(self.algorithm, self.monoid, self.state, inserts)
        for _ in range(evictions):
            self.algorithm.steps.evict(self.monoid, self.state)
            self.partials.pop(0)
        for _ in range(inserts):
            self.next += 1
            # Every partial is another object, and none wins against an older one, so that a deque keeps all.
            partial = tuple(map(distinct, lift(self.monoid, (1000 - self.next,))))
            self.algorithm.steps.insert(self.monoid, self.state, partial)
            self.partials.append(partial)
        settle(self.algorithm, self.state, MOVES * (inserts + evictions))
        written = writes_between(before, self.rings())
        self.state = window_room.released(self.algorithm, self.monoid, self.state)
        return written

    def agree(self) -> None:
        self.algorithm.steps.check(self.monoid, self.state, self.partials)
        first, end = self.layout.bounds(self.state)
        for queue in self.state[: self.layout.rings]:
            assert isinstance(queue, Queue)
            lengths = [len(lists_of(ring)[0]) for ring in (queue.ring, queue.old)]
            assert all(each & (each - 1) == 0 for each in lengths)
            assert end - first <= lengths[0], "Q2"
            assert queue.border[0] <= first or min(queue.border[0], end) - first <= lengths[1], "Q2"
        saved = self.layout.saved(self.monoid, self.state)
        assert self.algorithm.steps.fault(self.monoid, saved) is None
        self.algorithm.steps.check(self.monoid, saved, self.partials)


def distinct(value: Any) -> Any:
    """An equal value that is another object, so that each write of it can be seen."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@pytest.mark.parametrize("name", OWN_WRITES)
def test_no_row_moves_more_than_a_constant_number_of_partials(name: str) -> None:
    watched = Watched(name)
    fields, rings = len(watched.monoid.fields), watched.layout.rings
    most = (OWN_WRITES[name] + MOVES * rings) * max(fields, 1)
    sizes = [*range(1, 300), *range(298, -1, -1), *range(1, 40), *range(38, -1, -1)]
    for size in sizes:
        grows = size > len(watched.partials)
        assert watched.step(int(grows), int(not grows)) <= most
        if size % 29 == 0 or size < 40:
            watched.agree()


@pytest.mark.parametrize("name", LAID_OUT)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_growth_keeps_the_window_and_ends_each_move_in_time(name: str, data: st.DataObject) -> None:
    watched = Watched(name)
    for _ in range(data.draw(st.integers(1, 25))):
        evictions = data.draw(st.integers(0, len(watched.partials)))
        inserts = data.draw(st.one_of(st.integers(0, 3), st.integers(0, 90)))
        one_by_one = data.draw(st.booleans())
        if one_by_one:
            for _ in range(evictions):
                watched.step(0, 1)
            for _ in range(inserts):
                settled = watched.layout.has_empty_old_rings(watched.state)
                full = window_room.kept(watched.algorithm, watched.state) == watched.layout.capacity(watched.state)
                assert settled or not full  # so no ring is replaced before the last one is empty
                watched.step(1)
        else:
            watched.step(inserts, evictions)
        watched.agree()


def test_a_deque_takes_room_for_what_it_keeps() -> None:
    window = sash.swag.open("slick_deque", sash.max(), dtype=int)
    for value in range(3000):  # each wins against all before it
        window.insert(value)
    assert len(window) == 3000 and window.query() == 2999
    assert ALGORITHMS["slick_deque"].steps.capacity(window._state) == window_room.LEAST_CAPACITY
    window.insert_many(list(range(500, 0, -1)))
    again = sash.swag.open("slick_deque", sash.max(), dtype=int).restore(window.save())
    for each in (window, again):
        each.insert(5000)
        for _ in range(200):
            each.evict()
        assert len(each) == 3301 and each.query() == 5000 and each.query(last=1) == 5000
        assert ALGORITHMS["slick_deque"].steps.capacity(each._state) <= 128


def test_a_window_is_saved_alike_wherever_its_move_has_come_to() -> None:
    blobs = set()
    for extra in range(4):
        window = sash.swag.open("daba_lite", TEMPLATES["words"])
        for value in range(17 + extra):
            window.insert(value)
        window.evict()
        blobs.add(window.save() == sash.swag.open("daba_lite", TEMPLATES["words"]).restore(window.save()).save())
    assert blobs == {True}


# --- compiled, at sizes that the interpreter cannot reach -------------------------------------------


@kernel
def _fill(algorithm: Algorithm, aggregate: Monoid, state: Any, first: int, rows: int) -> int:
    """Insert falling values one by one; return the most partials that one of them moved."""
    most = 0
    for row in range(rows):
        border = state[0].border[0]
        insert(algorithm, aggregate, state, lift(aggregate, (-first - row,)))
        settle(algorithm, state, MOVES)
        most = max(most, border - state[0].border[0])
    return most


@kernel
def _drain(algorithm: Algorithm, aggregate: Monoid, state: Any, rows: int) -> int:
    most = 0
    for _ in range(rows):
        border = state[0].border[0]
        evict(algorithm, aggregate, state)
        settle(algorithm, state, MOVES)
        most = max(most, border - state[0].border[0])
    return most


@pytest.mark.only_compiled
@pytest.mark.parametrize("name", ["daba", "daba_lite", "slick_deque"])
def test_up_to_four_million_rows_no_step_moves_more_than_two_partials(name: str) -> None:
    algorithm, monoid, largest = ALGORITHMS[name], bound("max", interpreted=False), 2**22
    layout: Layout = algorithm.steps.LAYOUT
    state, replaced = window_room.empty(algorithm, monoid), []
    while layout.count(state) < largest:
        before = state
        state = window_room.with_room(algorithm, monoid, state, 1)
        if state is not before:  # the ring became the old one as it is: nothing was copied
            replaced.append(layout.capacity(state))
            assert layout.has_empty_old_rings(before) and state[0].old is before[0].ring
            assert state[0].border[0] == layout.bounds(state)[1]
        left = layout.steps_left(state)
        rows = min(left or largest, layout.capacity(state) - window_room.kept(algorithm, state))
        rows = min(rows, largest - layout.count(state))
        assert _fill(algorithm, monoid, state, layout.count(state), rows) <= MOVES
        state = window_room.released(algorithm, monoid, state)
    assert replaced == [2**k for k in range(5, 23)]
    while layout.count(state):
        before = state
        state = window_room.released(algorithm, monoid, state)
        if state is not before and state[0].old is before[0].ring:
            assert layout.has_empty_old_rings(before) and state[0].border[0] == layout.bounds(state)[1]
        left = layout.steps_left(state)
        rows = left or max(1, layout.count(state) - layout.capacity(state) // 4)
        assert _drain(algorithm, monoid, state, min(rows, layout.count(state))) <= MOVES
    assert layout.capacity(window_room.released(algorithm, monoid, state)) <= 2 * window_room.LEAST_CAPACITY


@pytest.mark.only_compiled
@pytest.mark.parametrize("name", ["daba_lite", "slick_deque"])
def test_a_compiled_window_answers_while_it_grows_and_shrinks(name: str) -> None:
    window = sash.swag.open(name, sash.max(), dtype=int)
    values = np.random.default_rng(3).integers(0, 10**6, 6000) - np.arange(6000) * 200  # mostly falling
    rows: list[int] = []
    for step, value in enumerate(values.tolist()):
        window.insert(value)
        rows.append(value)
        if step > 4000:
            for _ in range(min(len(rows), 4)):
                window.evict()
                rows.pop(0)
        if rows and (step % 97 == 0 or len(rows) < 40):
            assert window.query() == max(rows)
    assert len(window) == len(rows)
