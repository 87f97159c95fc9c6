"""Windows that start from the last window of the push before, against counters of all rows."""

import random
from collections import Counter
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.slicing.runs import Read, Runs, Statistic
from sash.slicing.slices import Slices
from sash.slicing.window_manager import Ended

KEYS, SLICES = 2, 400
OUTPUTS = [Statistic(Read.COUNT_DISTINCT), Statistic(Read.QUANTILE), Statistic(Read.MODE)]
LISTS = [*OUTPUTS, Statistic(Read.COLLECT_DISTINCT)]


class Life:
    """Slices of some keys, in order, and a counter for each of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.runs = Runs("int64", fewest=8)
        self.runs.ensure(SLICES)
        self.slices = Slices.empty(np.int64)
        self.slices.ensure_keys(KEYS)
        self.slices.begin[:KEYS] = np.arange(KEYS) * SLICES
        self.slices.order = np.zeros(KEYS * SLICES, np.int64)
        self.slices.cursor[:] = SLICES
        self.slices.ends = np.zeros(SLICES, np.int64)
        self.orders: list[list[int]] = [[] for _ in range(KEYS)]
        self.counters: list[Counter[int]] = [Counter() for _ in range(SLICES)]
        self.free = list(range(SLICES))

    def lay_out(self) -> None:
        for key, own in enumerate(self.orders):
            self.slices.count[key] = len(own)
            begin = self.slices.begin[key]
            self.slices.order[begin : begin + len(own)] = own

    def add(self, numbers: list[int]) -> None:
        ids = np.array(numbers, np.int64)
        values = np.array([self.random.randrange(40) for _ in numbers], np.int64)
        self.runs.add(ids, (values, np.ones(len(ids), np.bool_)))
        for number, value in zip(numbers, values.tolist(), strict=True):
            self.counters[number][value] += 1

    def make(self, key: int, place: int) -> int:
        number = self.free.pop(self.random.randrange(len(self.free)))
        self.runs.reset(np.array([number]))
        self.orders[key].insert(place, number)
        return number

    def drop(self, number: int) -> None:
        self.runs.forget(np.array([number]))
        self.counters[number] = Counter()
        self.free.append(number)

    def change(self) -> None:
        """Append slices to each key; sometimes change older ones, as late rows and sweeps do."""
        for key, own in enumerate(self.orders):
            newest = len(own) - 1  # of the windows before
            for _ in range(self.random.randrange(5)):
                number = self.make(key, len(own))
                self.add([number] * self.random.randrange(4))
            if not own or self.random.random() < 0.6:
                continue
            what = self.random.choice(["late", "insert", "drop", "merge", "copy"])
            if what == "late":
                self.add([self.random.choice(own)])
            elif what == "insert":
                self.add([self.make(key, self.random.randrange(len(own)))])
            elif what == "drop":
                for number in own[: len(own) // 3]:
                    self.drop(number)
                del own[: len(own) // 3]
            elif what == "copy":
                self.runs = self.runs.copy()
            elif len(own) > 1:
                place = min(max(0, newest - self.random.randrange(2)), len(own) - 2)
                first, second = own[place : place + 2]
                self.runs.merge(np.array([[first, second]]))
                self.counters[first] += self.counters[second]
                del own[place + 1]
                self.counters[second] = Counter()
                self.free.append(second)
        self.lay_out()

    def due(self, queries: int) -> Ended:
        """Return windows of up to 20 and 12 slices that end at the newest slices of each key."""
        found = []
        for query in range(queries):
            for key, own in enumerate(self.orders):
                begin = self.slices.begin[key]
                highs = range(max(1, len(own) - self.random.randrange(1, 4)), len(own) + 1)
                found += [(key, begin + max(0, high - (20, 12)[query]), begin + high, query) for high in highs]
        slots, lows, ends, which = (np.array(each, np.int64) for each in zip(*found, strict=True))
        return Ended(slots, lows, ends, lows, ends, which if queries > 1 else None)

    def count_starts(self, ended: Ended) -> int:
        """Return how many keys can start from a kept window."""
        if "a" not in self.runs.kept:
            return 0
        begins = np.flatnonzero(np.diff(ended.slots, prepend=-1))
        covered, overlaps = np.zeros(len(begins), np.int64), np.zeros(len(begins), np.bool_)
        starts = self.runs.kept["a"].find(self.slices, ended, begins, covered, overlaps)[1]
        return int((starts >= 0).sum())

    def check(self, ended: Ended, results: list[tuple[Any, Any]]) -> None:
        for place, (low, high) in enumerate(zip(ended.lows, ended.highs, strict=True)):
            whole: Counter[int] = sum((self.counters[k] for k in self.slices.order[low:high]), Counter())
            rows = sorted(whole.elements())
            expected = [len(whole), np.median(rows) if rows else None, None, sorted(whole)]
            if rows:
                expected[2] = min(whole, key=lambda each: (-whole[each], each))
            for (values, valid), want in zip(results, expected, strict=False):
                assert (values.tolist()[place] if valid[place] else None) == want
        keys = [{key + 2**63: count for key, count in each.items()} for each in self.counters]
        for kept in self.runs.kept.values():
            kept.check(keys, self.slices)
        self.runs.check()


@pytest.mark.compiled
@pytest.mark.parametrize("outputs", [OUTPUTS, LISTS], ids=["numbers", "lists"])
@pytest.mark.parametrize("queries", [1, 2])
def test_windows_start_from_kept_ones(queries: int, outputs: list[Statistic]) -> None:
    started = 0
    for seed in range(6):
        life = Life(seed)
        for _ in range(25):
            life.change()
            if not any(life.orders):
                continue
            ended = life.due(queries)
            started += life.count_starts(ended)
            for family in ("a", "b"):
                life.check(ended, life.runs.compute_windows(outputs, life.slices, ended, family))
    assert started > 20


def rows_of(seed: int, jitter: int) -> list[tuple[int, int, int]]:
    """Return rows (t, k, x) that come up to `jitter` late."""
    chance = random.Random(seed)
    rows = [(t, chance.randrange(3), chance.randrange(30)) for t in range(500)]
    return sorted(rows, key=lambda row: row[0] + chance.randrange(jitter + 1))


WINDOWS = {
    "sliding": sash.sliding(150, every=1),
    "count": sash.sliding(rows=80, every=1),
    "last rows": sash.sliding(rows=70, every=3),
    "last time": sash.sliding(250, every_rows=1),
}


@pytest.mark.parametrize("emit", ["final", "updates"])
@pytest.mark.parametrize("window", WINDOWS)
def test_pushes_of_any_size_give_the_windows_of_the_table(window: str, emit: Literal["final", "updates"]) -> None:
    answers = {
        "n": sash.count_distinct("x"),
        "m": sash.median("x"),
        "o": sash.mode("x"),
        "l": sash.collect_distinct("x"),
    }
    query = sash.query("q", WINDOWS[window], **answers)
    rows = rows_of(3, 20)
    table = {name: [row[k] for row in sorted(rows)] for k, name in enumerate("tkx")}
    expected = {
        (row["k"], row["window_start"], row["window_end"]): row
        for row in sash.aggregate(table_of(table), query, on="t", by="k").to_pylist()
    }
    chance = random.Random(1)
    stream = sash.Stream(query, on="t", by="k", watermark=25, emit=emit)
    found, first = [], 0
    while first < len(rows):
        count = chance.randrange(1, 30)
        part = rows[first : first + count]
        found += stream.push(table_of({name: [row[k] for row in part] for k, name in enumerate("tkx")})).to_pylist()
        first += count
    found += stream.push({}, watermark=10**9).to_pylist()
    last = {(row["k"], row["window_start"], row["window_end"]): row for row in found}
    for place, row in expected.items():
        assert {name: last[place][name] for name in answers} == {name: row[name] for name in answers}


def table_of(columns: dict[str, list[int]]) -> Any:
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})
