"""What re-anchored prefixes promise: nothing that has left stays in them for long."""

import pytest

from sash.algebra.aggregate import Aggregate, bind
from sash.algebra.fields import Field, load
from sash.algebra.monoid import Column, lift
from sash.swag import slide_side_inv
from tests.swag.monoids import bound


def test_prefixes_forget_an_outlier_soon_after_it_has_left() -> None:
    plain = Aggregate(
        "plain sum",
        state="f8",
        identity=0.0,
        lift=lambda x: x,
        combine=lambda a, b: a + b,
        invert=lambda whole, older: whole - older,
    )
    monoid = bind(plain, (Column(Field("f8")),), invertible=True)
    n = 16
    state = slide_side_inv.start(monoid, n)
    for i in range(8 * n):
        if i >= n:
            slide_side_inv.evict(monoid, state)
        slide_side_inv.insert(monoid, state, lift(monoid, (1e20 if i == n else 0.1,)))
        if i >= 5 * n:
            assert slide_side_inv.query(monoid, state)[0] == pytest.approx(0.1 * n, rel=1e-14)


def test_no_prefix_spans_more_than_two_windows() -> None:
    monoid = bound("sum", invertible=True)
    state = slide_side_inv.start(monoid, 8)
    for i in range(200):
        if i >= 8:
            slide_side_inv.evict(monoid, state)
        slide_side_inv.insert(monoid, state, lift(monoid, (1,)))
        ring, _base, _cursor = state
        newest = load(ring, i % 8)
        assert monoid.outputs[0].read(newest)[0] <= 16
