"""States of a stream that are none, under a checksum that is right: refused at once, or harmless."""

import random
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import sash
from sash.errors import InvalidState
from sash.slicing.slices import Slices
from sash.swag import state_bytes
from tests.campaigns.cases import flips, mutation
from tests.campaigns.subjects import Subject, streams

MAGIC = b"SASHSTR\0"
VALUES = {"n": sash.count(), "s": sash.sum("x"), "m": sash.max("x")}
QUERIES = [
    sash.query("ten", sash.sliding(10, every=5), **VALUES),
    sash.query("visit", sash.session(gap=3), mid=sash.median("x")),
    sash.query("rank", sash.sliding(rows=5, every=2), **VALUES),
    sash.query("recent", sash.sliding(rows=3, every=2.0), **VALUES),
]


def begun() -> sash.Stream:
    stream = sash.Stream(QUERIES, on="t", by="k", allowed_lateness=4, late="keep")
    for push in range(3):
        times = [10 * push + (7 * k) % 13 for k in range(12)]
        rows = {"t": times, "k": ["abc"[k % 3] for k in range(12)], "x": [k % 5 for k in range(12)]}
        stream.push(rows, watermark=10 * push)
    return stream


def changed(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The state with a change in it, under the checksum of what it is then."""
    content = state_bytes.unpack(begun().save(), MAGIC)
    change(content["state"])
    return state_bytes.pack(content, MAGIC)


@pytest.mark.parametrize(
    "number", [-(2**63), 2**63 - 1, 2**64, -(2**62) - 1, 0.5, float("nan"), None, True, "0"], ids=repr
)
@pytest.mark.parametrize("name", ["watermark", "newest", "rows_since", "unordered_until"])
def test_a_head_that_is_no_position_is_refused(name: str, number: Any) -> None:
    with pytest.raises(InvalidState, match=f"its {name} is not a position"):
        sash.Stream.restore(changed(lambda state: state.update({name: number})), QUERIES)


@pytest.mark.parametrize("number", [-1, 2**63, 1.0, None, True], ids=repr)
@pytest.mark.parametrize("name", ["rejected", "rows", "swept"])
def test_a_head_that_is_no_count_is_refused(name: str, number: Any) -> None:
    with pytest.raises(InvalidState, match=f"its {name} is not a count"):
        sash.Stream.restore(changed(lambda state: state.update({name: number})), QUERIES)


@pytest.mark.parametrize("name", [each.name for each in fields(Slices)])
@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[:-1] if len(array) else np.zeros(1, array.dtype),
        lambda array: np.concatenate([array, array[:1]]) if len(array) else np.zeros(1, array.dtype),
        lambda array: array.astype(np.float32),
        lambda array: array.reshape(1, -1),
        lambda array: array.tolist(),
        lambda array: None,
    ],
    ids=["cut", "longer", "of another type", "of two dimensions", "a list", "nothing"],
)
def test_slices_whose_arrays_do_not_fit_are_refused(name: str, change: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidState, match="damaged"):
        sash.Stream.restore(
            changed(lambda state: state["slices"].update({name: change(state["slices"][name])})), QUERIES
        )


@pytest.mark.parametrize("number", [-(2**63), -1, 1_000_000, 2**62, 2**63 - 1])
@pytest.mark.parametrize("name", ["begin", "count", "room", "order", "cursor"])
def test_slices_that_lead_elsewhere_are_refused(name: str, number: int) -> None:
    def lead(state: dict[str, Any]) -> None:
        state["slices"][name] = state["slices"][name].copy()
        state["slices"][name][1] = number

    with pytest.raises(InvalidState, match="damaged"):
        sash.Stream.restore(changed(lead), QUERIES)


@pytest.mark.parametrize("number", [-(2**63), -(2**61) - 1, 2**61 + 1, 2**63 - 1])
@pytest.mark.parametrize("name", ["firsts", "lasts", "ends"])
def test_slices_out_of_range_are_refused(name: str, number: int) -> None:
    def move(state: dict[str, Any]) -> None:
        state["slices"][name] = state["slices"][name].copy()
        state["slices"][name][0] = number

    blob = changed(move)
    if name == "ends" and number == 2**61 + 1:  # edges may lie where rows do not
        sash.Stream.restore(blob, QUERIES).finish()
        return
    with pytest.raises(InvalidState, match="out of range or out of order"):
        sash.Stream.restore(blob, QUERIES)


def test_runs_that_do_not_ascend_are_refused() -> None:
    query = sash.query("mid", sash.tumbling(10), mid=sash.median("x"))
    stream = sash.Stream(query, on="t")
    stream.push({"t": [1, 2, 3, 12], "x": [5, 3, 5, 4]})
    content = state_bytes.unpack(stream.save(), MAGIC)
    lengths, values, counts = content["state"]["partials"][0]
    for spoilt in (
        (lengths, values[[1, 0, 2]], counts),
        (lengths, values, -counts),
        (lengths, values, np.full_like(counts, 2**62)),
        (lengths[::-1].copy() - 1, values, counts),
    ):
        content["state"]["partials"][0] = spoilt
        with pytest.raises(InvalidState, match="run"):
            sash.Stream.restore(state_bytes.pack(content, MAGIC), query)


def test_rows_and_windows_of_keys_that_there_are_not_are_refused() -> None:
    def stray(state: dict[str, Any]) -> None:
        state["waiting"]["slots"] = state["waiting"]["slots"] + 7

    with pytest.raises(InvalidState, match=r"no key|unknown key"):
        sash.Stream.restore(changed(stray), QUERIES)

    def claim(state: dict[str, Any]) -> None:
        slots, *rest = state["emitted"]["ten"]
        state["emitted"]["ten"] = (slots + 5, *rest)

    with pytest.raises(InvalidState, match="an emitted window has an unknown key"):
        sash.Stream.restore(changed(claim), QUERIES)


def test_a_key_column_that_claims_to_be_endless_is_refused() -> None:
    def claim(state: dict[str, Any]) -> None:
        _, free, table = state["keys"]
        state["keys"] = (2**60, free, table)

    with pytest.raises(InvalidState, match="not one for each slot"):
        sash.Stream.restore(changed(claim), QUERIES)


def test_windows_of_rows_that_were_all_sent_end() -> None:
    """A count of rows far beyond those that are there is walked in steps of slices, not of rows."""

    def claim(state: dict[str, Any]) -> None:
        state["slices"]["seen"] = state["slices"]["seen"] + 2**60
        state["slices"]["ranks"] = state["slices"]["ranks"] + 2**59

    sash.Stream.restore(changed(claim), QUERIES).finish()


def test_a_number_of_more_digits_than_python_writes_is_refused() -> None:
    content = state_bytes.unpack(begun().save(), MAGIC)
    content["options"] = {10**5000: 1}
    with pytest.raises(InvalidState, match="damaged"):
        sash.Stream.restore(state_bytes.pack(content, MAGIC), QUERIES)
    content["options"], content["windows"] = {}, [(10**5000, {})]
    with pytest.raises(InvalidState, match="damaged"):
        sash.Stream.restore(state_bytes.pack(content, MAGIC), QUERIES)


# --- at random -------------------------------------------------------------------------------------

KNOWN = ("stream of grids", "stream with lateness", "stream of values", "stream before its first row")


@pytest.fixture(scope="module")
def subjects() -> dict[str, Subject]:
    found = {each.name: each for each in streams() if each.name in KNOWN}
    for each in found.values():
        each.use(each.restore(each.blob))  # compiled from here on
    return found


@pytest.mark.parametrize("name", KNOWN)
def test_changes_under_a_right_checksum_are_refused_or_harmless(subjects: dict[str, Subject], name: str) -> None:
    for case in range(60):
        assert not mutation(subjects[name], f"fixed.{case}").faults


@pytest.mark.parametrize("name", KNOWN)
def test_every_flip_of_a_bit_is_refused(subjects: dict[str, Subject], name: str) -> None:
    bits = random.Random(7).sample(range(8 * len(subjects[name].blob)), 1000)
    outcome = flips(subjects[name], bits)
    assert outcome.refused == len(bits) and not outcome.faults
