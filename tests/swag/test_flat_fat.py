"""What FlatFAT can do beyond the contract: one path per slide, ranges, changes in the middle, many at once."""

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
from sash.swag.flat_fat import (
    evict_many,
    insert_many,
    query_between,
    query_each,
    query_last,
    remove_at,
    update_at,
    update_many,
)
from tests.sample import sample
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
    """A window as a list of partials beside the state of FlatFAT."""

    def __init__(self, monoid: Monoid) -> None:
        self.monoid = monoid
        self.state = flat_fat.start(monoid, 4)
        self.partials: list[Partial] = []

    @property
    def room(self) -> int:
        return len(self.state[1]) // 2

    @property
    def holes(self) -> int:
        return int(self.state[1][1])

    def insert(self, values: list[int], at_once: bool) -> None:
        while len(self.partials) + len(values) > flat_fat.capacity(self.state):
            self.state = flat_fat.resize(self.monoid, self.state, 2 * self.room)
        partials = [lift(self.monoid, (value,)) for value in values]
        if at_once:
            insert_many(self.monoid, self.state, packed(self.monoid, partials), len(partials))
        else:
            flat_fat.insert(self.monoid, self.state, partials[0])
        self.partials += partials

    def evict(self, count: int, at_once: bool) -> None:
        if at_once:
            evict_many(self.monoid, self.state, count)
        else:
            flat_fat.evict(self.monoid, self.state)
        del self.partials[:count]

    def update(self, changes: dict[int, int], at_once: bool) -> None:
        partials = {index: lift(self.monoid, (value,)) for index, value in sorted(changes.items())}
        if at_once:
            update_many(
                self.monoid, self.state, list(partials), packed(self.monoid, list(partials.values())), len(partials)
            )
        for index, partial in partials.items():
            self.partials[index] = partial
            if not at_once:
                update_at(self.monoid, self.state, index, partial)

    def remove(self, index: int) -> None:
        remove_at(self.monoid, self.state, index)
        del self.partials[index]

    def shrink(self) -> None:
        if 4 * len(self.partials) < flat_fat.capacity(self.state) and self.room > 4:
            self.state = flat_fat.resize(self.monoid, self.state, self.room // 2)

    def agree(self) -> None:
        flat_fat.check(self.monoid, self.state, self.partials)
        assert flat_fat.fault(self.monoid, self.state) is None
        assert flat_fat.count(self.state) == len(self.partials) <= flat_fat.capacity(self.state)
        assert flat_fat.query(self.monoid, self.state) == folded(self.monoid, self.partials)

    def agree_on_ranges(self, low: int, high: int) -> None:
        assert query_between(self.monoid, self.state, low, high) == folded(self.monoid, self.partials[low:high])
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
    verbs = [
        "insert",
        "insert",
        "insert_many",
        "evict",
        "evict_many",
        "slide",
        "slide",
        "update",
        "remove",
        "remove",
        "ask",
    ]
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
        elif verb == "slide":
            for value in data.draw(st.lists(values, max_size=9)):
                model.evict(1, at_once=False)
                model.agree()
                model.insert([value], at_once=False)
        elif verb == "update":
            changes = data.draw(st.dictionaries(st.integers(0, size - 1), values))
            model.update(changes, at_once=data.draw(st.booleans()))
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
    for index in (12, 9, 5):
        model.remove(index)
    assert flat_fat.capacity(model.state) == flat_fat.count(model.state) == 13  # 3 holes of 16: not worth it
    model.remove(1)
    assert flat_fat.capacity(model.state) == 16 and model.holes == 4
    model.insert([16], at_once=False)
    model.agree()
    assert model.room == 16 and model.holes == 0


def test_removing_the_oldest_or_everything_leaves_no_hole_behind() -> None:
    model = Model(bound("words"))
    model.insert([1, 2, 3, 4], at_once=True)
    for index in (1, 1, 0, 0):  # the two in the middle, the oldest with the holes behind it, the last
        model.remove(index)
        model.agree()
    assert flat_fat.capacity(model.state) == 4 and model.holes == 0
    model.insert([5], at_once=False)
    model.agree()


# --- combines ------------------------------------------------------------------------------------


class CountAll:
    """A monoid that counts every combine, also those with an identity."""

    def __init__(self, name: str) -> None:
        self.counter = Counter(bound(name))
        self.calls = 0
        combine_once = self.counter.monoid.combine

        def combine(a: Any, b: Any) -> Any:
            self.calls += 1
            return combine_once(a, b)

        object.__setattr__(self.counter.monoid, "combine", combine)
        self.monoid = self.counter.monoid


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 64, 100, 256, 300, 1000])
@pytest.mark.parametrize(
    ("aggregate", "is_ordered"), [("max", False), ("sum", False), ("words", True), ("latest", True)]
)
def test_a_slide_repairs_one_path(n: int, aggregate: str, is_ordered: bool) -> None:
    """Rows that come one by one, in a tree that has grown as that of a window opened by hand does."""
    counted = CountAll(aggregate)
    monoid = counted.monoid
    model = Model(monoid)
    for value in range(n):
        model.insert([value], at_once=False)
    path, leaves = math.ceil(math.log2(n)), math.log2(model.room)
    for value in range(2 * n + 5):
        partial = lift(monoid, (value,))
        model.partials = [*model.partials[1:], partial]
        counted.calls = counted.counter.calls = 0
        flat_fat.evict(monoid, model.state)
        assert counted.calls == 0
        flat_fat.insert(monoid, model.state, partial)
        assert counted.calls == leaves and counted.counter.calls <= path
        answer = flat_fat.query(monoid, model.state)
        # Of an ordered aggregate, a suffix and a prefix of the ring: at most one block for each level, and one more.
        assert counted.counter.calls <= (2 * path + 1 if is_ordered else path)
        if value % 7 == 0:
            assert answer == folded(monoid, model.partials)


@pytest.mark.parametrize("room", [1, 2, 16, 100, 128])
@pytest.mark.parametrize("phase", [0, 1, 5, 77])
def test_many_changes_at_once_take_the_combines_of_the_theorem(room: int, phase: int) -> None:
    counted = CountAll("words")
    monoid = counted.monoid
    full = [lift(monoid, (value,)) for value in range(room)]
    random = np.random.default_rng(phase)
    for m in range(1, room + 1):
        state = flat_fat.start(monoid, room)
        for _ in range(phase):  # so that the changed leaves lie anywhere on the ring, wrapped or not
            flat_fat.insert(monoid, state, full[0])
            flat_fat.insert(monoid, state, full[0]) if room > 1 else None
            evict_many(monoid, state, flat_fat.count(state))
        insert_many(monoid, state, packed(monoid, full), room)
        bound_ = m + m * math.log2(room / m) + math.log2(room)  # theorem 4.2 of the paper
        counted.calls = 0
        evict_many(monoid, state, m)
        evicting, counted.calls = counted.calls, 0
        insert_many(monoid, state, packed(monoid, full[:m]), m)
        inserting = counted.calls
        window = full[m:] + full[:m]
        assert flat_fat.query(monoid, state) == folded(monoid, window)
        scattered = sorted(random.choice(room, m, replace=False).tolist())
        evenly = [room * k // m for k in range(m)]
        for indexes in (scattered, evenly):
            counted.calls = 0
            update_many(monoid, state, list(indexes), packed(monoid, full[:m]), m)
            assert counted.calls <= 1.2 * bound_
            for place, index in enumerate(indexes):
                window[index] = full[place]
            flat_fat.check(monoid, state, window)
        assert evicting <= 1.2 * bound_ and evicting <= 3 * math.ceil(math.log2(room)) + 1
        assert inserting <= 1.2 * bound_ and inserting <= m + 3 * math.ceil(math.log2(room))


def test_rows_that_wrapped_move_once_if_the_window_grows_again() -> None:
    counted = CountAll("words")
    model = Model(counted.monoid)
    model.insert(list(range(100)), at_once=True)
    for value in range(60):
        model.evict(1, at_once=False)
        model.insert([value], at_once=False)
    counted.calls = 0
    model.insert([7], at_once=False)
    assert 60 <= counted.calls <= 60 + 6 * 7
    counted.calls = 0
    model.insert([8], at_once=False)
    assert counted.calls <= 7
    assert model.room == 128
    model.agree()


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
    algorithm: Algorithm, aggregate: Monoid, state: Any, inputs: Any, numbers: Any, answers: Any, asked: Any
) -> None:
    counts, indexes = numbers
    insert_many(aggregate, state, inputs, 8)
    evict_many(aggregate, state, 5)
    insert_many(aggregate, state, inputs, 5)
    update_at(aggregate, state, 4, load(inputs, 0))
    update_many(aggregate, state, indexes, inputs, 3)
    remove_at(aggregate, state, 2)
    remove_at(aggregate, state, 4)
    query_each(aggregate, state, counts, answers)
    store(asked, 0, query_between(aggregate, state, 1, 5))
    insert(algorithm, aggregate, state, load(inputs, 3))  # compacts
    store(asked, 1, query_last(aggregate, state, 4))


@pytest.mark.compiled
@pytest.mark.parametrize("aggregate", sample(["turns", "latest", "max"], ["turns"]))
def test_compiled_and_interpreted_are_one(aggregate: str) -> None:
    seen = []
    for interpreted in (True, False):
        monoid = bound(aggregate, interpreted=interpreted)
        state = flat_fat.start(monoid, 8)
        inputs = packed(monoid, [lift(monoid, (value,)) for value in (3, -8, 5, 6, 1, -7, 4, 2)])
        numbers: Any = ([6, 4, 1], [0, 3, 6])
        numbers = numbers if interpreted else tuple(np.array(each) for each in numbers)
        answers, asked = monoid.allocate(3), monoid.allocate(2)
        _replay(ALGORITHMS["flat_fat"], monoid, state, inputs, numbers, answers, asked)
        state = flat_fat.resize(monoid, state, 32)
        nodes = [load(state[0], node) for node in range(1, 64)]
        seen.append([load(answers, k) for k in range(3)] + [load(asked, k) for k in range(2)] + nodes)
    assert seen[0] == seen[1]
