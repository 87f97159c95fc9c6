"""States of a window that are none, under a checksum that is right: refused at once, or harmless."""

import hashlib
import random
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra.compiler import JIT_DISABLED
from sash.errors import InvalidState
from sash.swag import state_bytes
from sash.swag.catalog import ALGORITHMS
from sash.swag.finger_tree import BELOW, KIDS, NEWEST, NEXT, PARENT, RECORD, ROOT, SIZE, TIMES
from tests.campaigns.cases import flips, mutation
from tests.campaigns.subjects import Subject, windows

# Interpreted, every algorithm; compiled, those whose kernels other tests need anyway.
COMPILED = ("daba_lite sum 45", "fiba scattered", "foa words 45", "two_stacks_lite words 45")


def opened(algorithm: str, rows: int = 45) -> sash.swag.Window:
    window = sash.swag.open(algorithm, sash.sum())
    window.insert_many(list(range(rows)))
    return window


def restored(algorithm: str, part: int, change: Any) -> None:
    """Restore a window of which one part of the state was changed."""
    content = state_bytes.unpack(opened(algorithm).save())
    parts = list(content["state"])
    parts[part] = change(parts[part])
    sash.swag.open(algorithm, sash.sum()).restore(state_bytes.pack({**content, "state": tuple(parts)}))


def with_number(place: int, number: int) -> Any:
    def change(array: Any) -> Any:
        found = array.copy()
        found[place] = number
        return found

    return change


@pytest.mark.parametrize("number", [-(2**63), -1, 2**62 + 1, 2**63 - 1])
@pytest.mark.parametrize("algorithm", [name for name, each in ALGORITHMS.items() if each.has_step("fault")])
def test_cursors_out_of_order_are_refused(algorithm: str, number: int) -> None:
    try:
        opened(algorithm, 1)
    except sash.errors.SashError:
        pytest.skip("it does not slide sums")
    cursors = state_bytes.unpack(opened(algorithm).save())["state"][-1]
    for place in range(min(len(cursors), 6)):
        is_any = algorithm == "fiba" and place == NEXT  # where an empty window goes on
        if is_any or cursors[place] == number:
            continue
        with pytest.raises(InvalidState, match="damaged"):
            restored(algorithm, -1, with_number(place, number))


@pytest.mark.parametrize("algorithm", ["daba", "daba_lite", "fiba", "amta", "flat_fit", "slick_deque_inv", "foa"])
def test_arrays_cut_short_are_refused(algorithm: str) -> None:
    parts = state_bytes.unpack(opened(algorithm).save())["state"]
    for part, each in enumerate(parts):
        cut = (lambda fields: tuple(field[:-1] for field in fields)) if isinstance(each, tuple) else (lambda a: a[:-1])
        with pytest.raises(InvalidState, match="damaged"):
            restored(algorithm, part, cut)


@pytest.mark.parametrize("field", [SIZE, PARENT, BELOW, TIMES, KIDS])
def test_a_tree_whose_links_lead_astray_is_refused(field: int) -> None:
    """Of every node in turn."""
    window = sash.swag.open("fiba", sash.sum())
    window.insert_at([(37 * k) % 211 for k in range(150)], list(range(150)))
    content = state_bytes.unpack(window.save())
    entries, nodes, cursor = content["state"]
    inner = int(cursor[ROOT])
    for node in (inner, int(cursor[NEWEST])):
        if field == KIDS and node != inner:
            continue
        for number in (-1, 7, inner, len(nodes), RECORD, 2**62):
            spoilt = nodes.copy()
            if spoilt[node + field] == number:
                continue
            spoilt[node + field] = number
            blob = state_bytes.pack({**content, "state": (entries, spoilt, cursor)})
            with pytest.raises(InvalidState, match="damaged"):
                sash.swag.open("fiba", sash.sum()).restore(blob)


def test_types_that_would_take_endless_room_are_refused() -> None:
    content = state_bytes.unpack(opened("daba_lite").save())
    for columns in (("f8[1000000000000]",), ("i8", "i8"), ("x",), "i8", (None,), (10**5000,), 5, ()):
        with pytest.raises(InvalidState):
            sash.swag.open("daba_lite", sash.sum()).restore(state_bytes.pack({**content, "columns": columns}))


def test_numbers_that_do_not_fit_their_type_are_refused() -> None:
    """As lists, which a window writes where the compiler is off."""
    content = state_bytes.unpack(opened("recalculate").save())
    ring, cursor = content["state"]
    for number in (10**5000, 0.5, "1", [1]):
        lists = tuple([number] * len(field) if k == 0 else list(field) for k, field in enumerate(ring))
        blob = state_bytes.pack({**content, "state": (lists, cursor)})
        with pytest.raises(InvalidState, match="a list of it is not of"):
            sash.swag.open("recalculate", sash.sum()).restore(blob)


def test_an_array_that_claims_to_be_longer_than_its_bytes_is_refused() -> None:
    blob = bytearray(state_bytes.pack(np.zeros(3)))
    for claim in (b"<f8 9", b"<f8 -", b"|O  3", b"<V9 3"):
        body = bytes(blob[state_bytes._HEAD.size :]).replace(b"<f8 3", claim)
        with pytest.raises(InvalidState, match="cannot be read"):
            state_bytes.unpack(_wrapped(body))


def test_nesting_and_counts_without_end_are_refused() -> None:
    deep = b"(" + (1).to_bytes(8, "little")
    for body in (deep * 10_000 + b"N", b"[" + b"\xff" * 8 + b"N" * 50, b"S" + b"\xff" * 8, b"I" + b"\xff" * 8):
        with pytest.raises(InvalidState, match="cannot be read"):
            state_bytes.unpack(_wrapped(body))


def _wrapped(body: bytes) -> bytes:
    return (
        state_bytes._HEAD.pack(state_bytes.MAGIC, state_bytes.VERSION, len(body), hashlib.sha256(body).digest()) + body
    )


def test_an_empty_window_whose_positions_have_run_out_takes_no_row() -> None:
    window = sash.swag.open("fiba", sash.sum())
    window.insert_at([2**63 - 2], [1])
    window.evict_until(2**63 - 1)
    window.insert(1)
    with pytest.raises(sash.errors.InvalidInput, match="there is none after it"):
        window.insert(2)
    assert window.query() == 1


# --- at random -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def subjects() -> list[Subject]:
    found = [each for each in windows() if JIT_DISABLED or each.name in COMPILED]
    for each in found:
        each.use(each.restore(each.blob))  # compiled from here on
    return found


def test_changes_under_a_right_checksum_are_refused_or_harmless(subjects: list[Subject]) -> None:
    for case in range(1200):
        assert not mutation(subjects[case % len(subjects)], f"fixed.{case}").faults


def test_every_flip_of_a_bit_is_refused(subjects: list[Subject]) -> None:
    for subject in subjects[:4]:
        bits = random.Random(7).sample(range(8 * len(subject.blob)), 500)
        outcome = flips(subject, bits)
        assert outcome.refused == len(bits) and not outcome.faults
