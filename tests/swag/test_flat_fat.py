"""What FlatFAT can do beyond the contract: ranges, changes in the middle, many at once."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.algebra.compiler import kernel
from sash.algebra.fields import Partial, load, store
from sash.algebra.monoid import Monoid, combine, identity, lift
from sash.swag import flat_fat
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm, insert
from sash.swag.flat_fat import evict_many, insert_many, query_each, query_last, query_range, remove_at, update_at
from tests.swag.monoids import TEMPLATES, Counter, bound


def folded(monoid: Monoid, partials: list[Partial]) -> Partial:
    whole = identity(monoid)
    for partial in partials:
        whole = combine(monoid, whole, partial)
    return whole


def packed(monoid: Monoid, partials: list[Partial]) -> Any:
    fields = monoid.allocate(len(partials))
    for place, partial in enumerate(partials):
        store(fields, place, partial)
    return fields


class Model:
    """A window as two lists, partials and their positions, kept by the documented rules alone."""

    def __init__(self, monoid: Monoid) -> None:
        self.monoid = monoid
        self.state = flat_fat.start(monoid, 4)
        self.room = 4
        self.partials: list[Partial] = []
        self.positions: list[int] = []
        self.next = 0
        self.compactions = 0

    def close_holes(self) -> None:
        self.positions = list(range(self.next - len(self.partials), self.next))

    def make_room(self, count: int) -> None:
        while len(self.partials) + count > flat_fat.capacity(self.state):
            self.room *= 2
            self.state = flat_fat.resize(self.monoid, self.state, self.room)
            self.close_holes()
        span = self.next - self.positions[0] if self.positions else 0
        if span + count > self.room:
            assert 4 * (span - len(self.partials)) >= self.room  # enough removals have paid for it
            self.close_holes()
            self.compactions += 1

    def insert(self, values: list[int], at_once: bool) -> None:
        self.make_room(len(values))
        partials = [lift(self.monoid, (value,)) for value in values]
        if at_once:
            insert_many(self.monoid, self.state, packed(self.monoid, partials), len(partials))
        else:
            flat_fat.insert(self.monoid, self.state, partials[0])
        self.partials += partials
        self.positions += range(self.next, self.next + len(partials))
        self.next += len(partials)

    def evict(self, count: int, at_once: bool) -> None:
        if at_once:
            evict_many(self.monoid, self.state, count)
        else:
            flat_fat.evict(self.monoid, self.state)
        del self.partials[:count], self.positions[:count]

    def update(self, rank: int, value: int) -> None:
        self.partials[rank] = lift(self.monoid, (value,))
        update_at(self.monoid, self.state, self.positions[rank], self.partials[rank])

    def remove(self, rank: int) -> None:
        remove_at(self.monoid, self.state, self.positions[rank])
        del self.partials[rank], self.positions[rank]

    def shrink(self) -> None:
        if 4 * len(self.partials) < flat_fat.capacity(self.state) and self.room > 4:
            self.room //= 2
            self.state = flat_fat.resize(self.monoid, self.state, self.room)
            self.close_holes()

    def agree(self) -> None:
        flat_fat.check(self.monoid, self.state, self.partials)
        assert flat_fat.fault(self.monoid, self.state) is None
        assert flat_fat.count(self.state) == len(self.partials) <= flat_fat.capacity(self.state)
        assert flat_fat.query(self.monoid, self.state) == folded(self.monoid, self.partials)

    def agree_on_ranges(self, low: int, high: int) -> None:
        end = self.positions[high] if high < len(self.positions) else self.next
        answer = query_range(self.monoid, self.state, self.positions[low], end)
        assert answer == folded(self.monoid, self.partials[low:high])
        counts = [len(self.partials) - rank for rank in (low, high) if rank < len(self.partials)]
        answers = self.monoid.allocate(len(counts))
        query_each(self.monoid, self.state, counts, answers)
        for place, count in enumerate(counts):
            assert load(answers, place) == folded(self.monoid, self.partials[-count:])
            assert query_last(self.monoid, self.state, count) == load(answers, place)


@pytest.mark.parametrize("aggregate", list(TEMPLATES))
@settings(max_examples=60)
@given(data=st.data())
def test_any_mix_of_changes_agrees_with_a_list(aggregate: str, data: st.DataObject) -> None:
    model = Model(bound(aggregate))
    values = st.integers(-9, 9)
    verbs = ["insert", "insert", "insert_many", "evict", "evict_many", "update", "remove", "remove", "ask"]
    for verb in data.draw(st.lists(st.sampled_from(verbs), min_size=5, max_size=60)):
        size = len(model.partials)
        if verb == "insert" or not size:
            model.insert([data.draw(values)], at_once=False)
        elif verb == "insert_many":
            model.insert(data.draw(st.lists(values, max_size=9)), at_once=True)
        elif verb == "evict":
            model.evict(1, at_once=False)
        elif verb == "evict_many":
            model.evict(data.draw(st.integers(0, size)), at_once=True)
        elif verb == "update":
            model.update(data.draw(st.integers(0, size - 1)), data.draw(values))
        elif verb == "remove":
            model.remove(data.draw(st.integers(0, size - 1)))
        else:
            low = data.draw(st.integers(0, size - 1))
            model.agree_on_ranges(low, data.draw(st.integers(low, size)))
        model.shrink()
        model.agree()


def test_a_window_full_of_holes_is_compacted_and_one_with_few_asks_for_room() -> None:
    model = Model(bound("words"))
    model.insert(list(range(16)), at_once=True)
    for rank in (12, 9, 5):
        model.remove(rank)
    assert flat_fat.capacity(model.state) == flat_fat.count(model.state) == 13  # 3 holes of 16: not worth it
    model.remove(1)
    assert flat_fat.capacity(model.state) == 16
    model.insert([16], at_once=False)
    model.agree()
    assert model.compactions == 1
    assert model.positions == list(range(4, 17))  # the newest stays where it would have been


def test_removing_the_oldest_or_everything_leaves_no_hole_behind() -> None:
    model = Model(bound("words"))
    model.insert([1, 2, 3, 4], at_once=True)
    for rank in (1, 1, 0, 0):  # the two in the middle, the oldest with the holes behind it, the last
        model.remove(rank)
        model.agree()
    assert flat_fat.capacity(model.state) == 4
    model.insert([5], at_once=False)
    model.agree()


@pytest.mark.parametrize("room", [1, 2, 16, 128])
@pytest.mark.parametrize("phase", [0, 1, 5, 77])
def test_many_changes_at_once_combine_each_node_above_them_once(room: int, phase: int) -> None:
    counter = Counter(bound("words"))
    monoid = counter.monoid
    full = [lift(monoid, (value,)) for value in range(room)]
    for m in range(1, room + 1):
        state = flat_fat.start(monoid, room)
        for _ in range(phase):  # so that the changed leaves lie anywhere on the ring, wrapped or not
            flat_fat.insert(monoid, state, full[0])
            flat_fat.evict(monoid, state)
        counter.calls = 0
        insert_many(monoid, state, packed(monoid, full), room)
        assert counter.calls == room - 1
        counter.calls = 0
        evict_many(monoid, state, m)
        evicting, counter.calls = counter.calls, 0
        insert_many(monoid, state, packed(monoid, full[:m]), m)
        inserting = counter.calls
        assert flat_fat.query(monoid, state) == folded(monoid, full[m:] + full[:m])
        for calls in (evicting, inserting):
            assert calls <= m * (1 + math.ceil(math.log2(room / m)))  # theorem 4.2 of the paper
            assert calls <= m + 2 * math.log2(room)  # neighbours share nearly all of their paths


def test_all_suffixes_of_a_window_take_a_combine_each() -> None:
    counter = Counter(bound("words"))
    monoid, n = counter.monoid, 50
    state = flat_fat.start(monoid, n)
    insert_many(monoid, state, packed(monoid, [lift(monoid, (value,)) for value in range(n)]), n)
    counter.calls = 0
    query_each(monoid, state, list(range(n, 0, -1)), monoid.allocate(n))
    assert counter.calls == n - 1


@kernel
def _replay(
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Any, counts: Any, answers: Any, asked: Any
) -> None:
    insert_many(aggregate, state, inputs, 8)
    evict_many(aggregate, state, 5)
    insert_many(aggregate, state, inputs, 5)
    update_at(aggregate, state, 9, load(inputs, 0))
    remove_at(aggregate, state, 7)
    remove_at(aggregate, state, 10)
    query_each(aggregate, state, counts, answers)
    store(asked, 0, query_range(aggregate, state, 6, 11))
    insert(algorithm, aggregate, state, load(inputs, 3))  # compacts
    store(asked, 1, query_last(aggregate, state, 4))


@pytest.mark.compiled
@pytest.mark.parametrize("aggregate", ["turns", "latest", "max"])
def test_compiled_and_interpreted_are_one(aggregate: str) -> None:
    seen = []
    for interpreted in (True, False):
        monoid = bound(aggregate, interpreted=interpreted)
        state = flat_fat.start(monoid, 8)
        inputs = packed(monoid, [lift(monoid, (value,)) for value in (3, -8, 5, 6, 1, -7, 4, 2)])
        counts: Any = [6, 4, 1] if interpreted else np.array([6, 4, 1])
        answers, asked = monoid.allocate(3), monoid.allocate(2)
        _replay(ALGORITHMS["flat_fat"], monoid, state, inputs, counts, answers, asked)
        state = flat_fat.resize(monoid, state, 32)
        nodes = [load(state[0], node) for node in range(1, 64)]
        seen.append([load(answers, k) for k in range(3)] + [load(asked, k) for k in range(2)] + nodes)
    assert seen[0] == seen[1]
