"""Labels of strings: equal and ordered as the strings are, whatever comes, is labelled anew, and is dropped."""

import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.engine.dictionary import NO_LABEL, Dictionary
from sash.errors import InvalidState

VALUES = st.one_of(st.none(), st.text("ab\0ä", max_size=4), st.integers(0, 30).map(str))
GAPS = pytest.mark.parametrize("gap", [1, 2, 1 << 32])


@GAPS
@pytest.mark.parametrize("few", [True, False], ids=["small pushes", "large pushes"])
@given(pushes=st.lists(st.lists(VALUES, max_size=8), max_size=8), sweeps=st.randoms(use_true_random=False))
def test_labels_have_the_order_of_strings(few: bool, gap: int, pushes: list[list[Any]], sweeps: random.Random) -> None:
    dictionary, held = Dictionary(gap), dict[Any, int]()  # what a state would hold
    for push in pushes:
        values = push if few else push * 5 + [None] * 33
        labels, moved = dictionary.encode(pa.array(values, pa.string()))
        dictionary.check()
        if moved is not None:
            again = moved.apply(np.array([*held.values()], np.int64))
            held = dict(zip(held, again.tolist(), strict=True))
        held.update((value, label) for value, label in zip(values, labels.tolist(), strict=True) if value is not None)
        assert all(label == NO_LABEL for value, label in zip(values, labels.tolist(), strict=True) if value is None)
        ordered = sorted(held, key=lambda each: each.encode())
        assert ordered == sorted(held, key=lambda each: held[each]) and len(set(held.values())) == len(held)
        found = dictionary.decode(np.array([held[each] for each in ordered], np.int64), None, pa.string())
        assert found.to_pylist() == ordered
        if sweeps.random() < 0.3:
            held = {value: label for value, label in held.items() if sweeps.random() < 0.5}
            dictionary.sweep(np.array([*held.values()], np.int64))
            dictionary.check()
            assert len(dictionary) == len(held)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.large_string(), ["b", "a", "ä", ""]),
        (pa.binary(), [b"\xff", b"", b"\0", b"\0\0"]),
        (pa.binary(2), [b"zz", b"\0\0"]),
        (
            pa.decimal128(38, 3),
            [Decimal(10) ** 30, Decimal("-0.001"), Decimal(0), -(Decimal(10) ** 30), Decimal(2) ** 64],
        ),
        (pa.decimal256(60, 1), [Decimal(10) ** 50, -(Decimal(10) ** 50), Decimal("0.1"), Decimal(-1)]),
    ],
    ids=str,
)
def test_values_of_every_type_come_back(kind: Any, values: list[Any]) -> None:
    dictionary = Dictionary(gap=4)
    labels, _ = dictionary.encode(pa.array([*values, None], kind))
    assert [values[k] for k in np.argsort(labels[:-1])] == sorted(values)
    again = Dictionary.from_saved(dictionary.save(), 4, kind)
    for each in (dictionary, again):
        assert each.decode(labels, labels != NO_LABEL, kind).to_pylist() == [*values, None]


def test_strings_that_ascend_are_seldom_labelled_anew() -> None:
    dictionary = Dictionary(1 << 32)
    found = [dictionary.encode(pa.array([f"{k:06}" for k in range(50 * n, 50 * n + 50)]))[1] for n in range(200)]
    assert not any(found)


@pytest.mark.parametrize(
    "change",
    [
        lambda data, offsets, labels, swept: (data, offsets, labels[::-1], swept),
        lambda data, offsets, labels, swept: (data[::-1], offsets, labels, swept),
        lambda data, offsets, labels, swept: (data, offsets + 1, labels, swept),
        lambda data, offsets, labels, swept: (data, offsets[:-1], labels, swept),
        lambda data, offsets, labels, swept: (data, offsets, labels * 0, swept),
        lambda data, offsets, labels, swept: (data, offsets, labels + 2**62, swept),
        lambda data, offsets, labels, swept: (data, offsets, labels.astype(np.int32), swept),
        lambda data, offsets, labels, swept: (data | 0x80, offsets, labels, swept),  # not UTF-8
        lambda data, offsets, labels, swept: (data, offsets, labels, -1),
        lambda data, offsets, labels, swept: (data, offsets, labels),
        lambda *_: None,
    ],
)
def test_strings_that_are_none_are_refused(change: Any) -> None:
    dictionary = Dictionary(4)
    dictionary.encode(pa.array(["pear", "fig", "kiwi"]))
    with pytest.raises(InvalidState):
        Dictionary.from_saved(change(*dictionary.save()), 4, pa.string())
