import datetime as dt
import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sash.engine.keys import Keys
from sash.errors import InvalidInput, InvalidState
from sash.swag.state_bytes import pack, unpack

FLOATS = st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, -math.inf])
TIMES = st.integers(-5, 5)
NARROW_DECIMALS = [pa.decimal64] if hasattr(pa, "decimal64") else []  # Arrow has them from 19 on

# Few values of each type, so that keys recur.
TYPES: list[tuple[Any, Any]] = [
    (pa.int64(), st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)])),
    (pa.int8(), st.integers(-3, 3)),
    (pa.uint64(), st.sampled_from([0, 1, 2**64 - 1])),
    (pa.bool_(), st.booleans()),
    (pa.float64(), FLOATS),
    (pa.float32(), FLOATS),
    (pa.float16(), FLOATS.map(np.float16)),
    (pa.string(), st.sampled_from(["", "a", "b", "ä€😀", "nan"])),
    (pa.large_string(), st.sampled_from(["", "a", "b"])),
    (pa.string_view(), st.sampled_from(["", "a", "longer than twelve bytes"])),
    (pa.binary(), st.sampled_from([b"", b"a", b"\0"])),
    (pa.large_binary(), st.sampled_from([b"", b"a"])),
    (pa.binary_view(), st.sampled_from([b"", b"a"])),
    (pa.binary(2), st.sampled_from([b"ab", b"cd"])),
    (pa.date32(), TIMES.map(lambda days: dt.date(1970, 1, 10) + dt.timedelta(days))),
    (pa.date64(), TIMES.map(lambda days: dt.date(1970, 1, 10) + dt.timedelta(days))),
    (
        pa.timestamp("us", "Asia/Tokyo"),
        TIMES.map(lambda s: dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=s)),
    ),
    (pa.timestamp("s"), TIMES.map(lambda s: dt.datetime(2024, 1, 1) + dt.timedelta(seconds=s))),
    (pa.time32("s"), TIMES.map(lambda s: dt.time(1, 1, 10 + s))),
    (pa.time64("us"), TIMES.map(lambda s: dt.time(1, 1, 10 + s))),
    (pa.duration("us"), TIMES.map(lambda s: dt.timedelta(seconds=s))),
    (pa.decimal128(5, 2), TIMES.map(lambda n: decimal.Decimal(n) / 4)),
    (pa.decimal256(5, 2), TIMES.map(lambda n: decimal.Decimal(n) / 4)),
    *((kind(5, 2), TIMES.map(lambda n: decimal.Decimal(n) / 4)) for kind in NARROW_DECIMALS),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", "b", "c"])),
    (pa.dictionary(pa.int16(), pa.int64()), st.integers(0, 3)),
    (pa.null(), st.none()),
]


def plain(value: Any) -> Any:
    """A key for a plain dict: all NaNs are one, -0.0 is 0.0, True is not 1."""
    if isinstance(value, float | np.floating):
        return "NaN" if math.isnan(value) else float(value) + 0.0
    return type(value).__name__, value


class Oracle:
    """The rule in plain words: a key that is not in the dict gets the lowest slot that is free."""

    def __init__(self) -> None:
        self.table: dict[Any, int] = {}
        self.free: set[int] = set()
        self.capacity = 0

    def slots(self, rows: list[tuple[Any, ...]]) -> list[int]:
        return [self.slot(tuple(map(plain, row))) for row in rows]

    def slot(self, key: Any) -> int:
        if key not in self.table:
            if not self.free:
                self.free.add(self.capacity)
                self.capacity += 1
            self.table[key] = min(self.free)
            self.free.remove(self.table[key])
        return self.table[key]


def columns_of(data: st.DataObject, rows: list[tuple[Any, ...]], kinds: list[Any]) -> list[Any]:
    columns = []
    for k, kind in enumerate(kinds):
        values = [row[k] for row in rows]
        column = pa.array(values, kind)
        way = data.draw(st.sampled_from(["array", "chunks", "list"]))
        if way == "chunks":
            cut = data.draw(st.integers(0, len(rows)))
            column = pa.chunked_array([pa.array(values[:cut], kind), pa.array(values[cut:], kind)])
        columns.append(values if way == "list" else column)
    return columns


def run(data: st.DataObject, kinds: list[Any], values: list[Any], longest: int) -> None:
    row = st.tuples(*(st.none() | each for each in values))
    keys, oracle = Keys(kinds), Oracle()
    for _ in range(data.draw(st.integers(1, 4))):
        rows = data.draw(st.lists(row, max_size=longest)) * data.draw(st.sampled_from([1, 1, 40]))
        before = set(oracle.table.values())
        slots = keys.slots(columns_of(data, rows, kinds), len(rows))
        assert slots.dtype == np.int64
        assert slots.tolist() == oracle.slots(rows)
        assert sorted(keys.new.tolist()) == sorted(set(oracle.table.values()) - before)
        assert keys.capacity == oracle.capacity
        assert len(keys) == len(oracle.table)
        back = keys.columns(slots)
        assert [each.type for each in back] == list(keys.types)
        for given_back, each in zip(zip(*(b.to_pylist() for b in back), strict=True), rows, strict=True):
            assert tuple(map(plain, given_back)) == tuple(map(plain, each))
        gone = data.draw(st.lists(st.sampled_from(sorted(oracle.table.values())), unique=True)) if oracle.table else []
        keys.free(np.array(gone, np.int64))
        oracle.free |= set(gone)
        oracle.table = {key: slot for key, slot in oracle.table.items() if slot not in gone}
        if data.draw(st.booleans()):
            saved = keys.save()
            keys = Keys.from_saved(unpack(pack(saved)))
            assert pack(keys.save()) == pack(saved)


@pytest.mark.parametrize(("kind", "values"), TYPES, ids=[str(kind) for kind, _ in TYPES])
@settings(max_examples=12)
@given(data=st.data())
def test_one_column_agrees_with_a_dict(kind: Any, values: Any, data: st.DataObject) -> None:
    run(data, [kind], [values], 12)


@settings(max_examples=100)
@given(data=st.data())
def test_several_columns_agree_with_a_dict(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(TYPES), min_size=2, max_size=4))
    run(data, [kind for kind, _ in chosen], [values for _, values in chosen], 12)


def test_without_by_columns_all_rows_have_slot_0() -> None:
    keys = Keys([])
    assert keys.slots([], 3).tolist() == [0, 0, 0]
    assert keys.new.tolist() == [0]
    assert keys.slots([], 100).tolist() == [0] * 100
    assert keys.new.tolist() == []
    assert keys.columns(np.zeros(5, np.int64)) == []
    restored = Keys.from_saved(unpack(pack(keys.save())))
    assert restored.slots([], 1).tolist() == [0] and not len(restored.new)


def test_no_rows_need_no_slot() -> None:
    for kinds in ([], [pa.int64()], [pa.string(), pa.bool_()]):
        keys = Keys(kinds)
        assert keys.slots([pa.array([], kind) for kind in kinds], 0).tolist() == []
        assert keys.capacity == 0
        assert [len(each) for each in keys.columns(np.zeros(0, np.int64))] == [0] * len(kinds)


def test_a_long_push_and_single_rows_give_the_same_slots() -> None:
    values = np.random.default_rng(7).integers(0, 300, 5000)
    long, short = Keys([pa.int64()]), Keys([pa.int64()])
    together = long.slots([pa.array(values)], len(values))
    assert together.tolist() == [short.slots([[value]], 1)[0] for value in values.tolist()]


def test_a_type_of_the_same_family_is_the_same_key() -> None:
    keys = Keys([pa.string()])
    assert keys.slots([["a"] * 50 + ["b"]], 51).tolist() == [0] * 50 + [1]
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        assert keys.slots([pa.array(["b", "a"], kind)], 2).tolist() == [1, 0]
    numbers = Keys([pa.int64()])
    assert numbers.slots([pa.array([1, 2], pa.int8())], 2).tolist() == [0, 1]
    assert numbers.slots([pa.array([2.0, 1.0])], 2).tolist() == [1, 0]
    assert numbers.slots([pa.nulls(2)], 2).tolist() == [2, 2]


def test_a_dictionary_that_holds_a_value_twice_or_unused_makes_one_key_or_none() -> None:
    column = pa.DictionaryArray.from_arrays(
        pa.array([3, 1, 0, None], pa.int8()), pa.array(["a", "b", "unused", "a", None])
    )
    keys = Keys([column.type])
    assert keys.slots([column], 4).tolist() == [0, 1, 0, 2]
    assert len(keys) == 3


def test_keys_that_were_all_null_become_what_follows() -> None:
    keys = Keys([pa.null(), pa.int64()])
    assert keys.slots([pa.nulls(2), pa.array([1, 2])], 2).tolist() == [0, 1]
    assert keys.slots([["x", None], [1, 1]], 2).tolist() == [2, 0]
    assert keys.types == (pa.string(), pa.int64())
    assert keys.columns(np.array([2, 0]))[0].to_pylist() == ["x", None]


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.int8()), pa.struct([("a", pa.int8())]), pa.map_(pa.int8(), pa.int8()), pa.month_day_nano_interval()],
    ids=str,
)
def test_nested_keys_are_refused(kind: Any) -> None:
    with pytest.raises(InvalidInput, match=r"'plug' of type .* cannot be in `by`"):
        Keys([kind], ["plug"])


@pytest.mark.parametrize(
    ("kind", "given_"),
    [
        (pa.int64(), pa.array(["1"])),
        (pa.int64(), [True]),
        (pa.int64(), ["1"]),
        (pa.int64(), [1.5]),
        (pa.int64(), [2**63]),
        (pa.int8(), [128]),
        (pa.int8(), pa.array([128])),
        (pa.string(), [1]),
        (pa.string(), ["\ud800"]),
        (pa.string(), pa.array([1])),
        (pa.bool_(), [1]),
        (pa.timestamp("us"), pa.array([1])),
        (pa.timestamp("us"), ["2024-01-01"]),
        (pa.timestamp("s"), [dt.datetime(2024, 1, 1, 0, 0, 0, 1)]),
        (pa.time32("s"), [dt.time(1, 1, 1, 1)]),
        (pa.date32(), pa.array([dt.datetime(2024, 1, 1)])),
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [1, 100])
def test_keys_of_another_type_are_refused_and_change_nothing(kind: Any, given_: Any, rows: int) -> None:
    keys = Keys([kind], ["plug"])
    before = pack(keys.save())
    column = given_ * rows if isinstance(given_, list) else pa.concat_arrays([given_] * rows)
    with pytest.raises(InvalidInput, match=f"'plug' in `by` was {kind.__str__().split('[')[0]}"):
        keys.slots([column], rows)
    assert pack(keys.save()) == before


def test_damaged_keys_are_refused() -> None:
    keys = Keys([pa.int64()])
    keys.slots([[1, 2]], 2)
    capacity, free, values = keys.save()
    for damaged in (
        (capacity, free, values[:20]),
        (capacity, free, b""),
        (capacity, free),
        (capacity + 1, free, values),
        (1, free, values),
        (capacity, np.array([5]), values),
    ):
        with pytest.raises(InvalidState, match="key"):
            Keys.from_saved(damaged)
