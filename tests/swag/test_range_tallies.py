"""Sketches over ranges, whose rows enter and leave one partial, equal the fold of each range."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra.aggregate import Template, bind
from sash.algebra.compiler import JIT_DISABLED
from sash.algebra.fields import Field, allocate
from sash.algebra.monoid import Column, Monoid, combine, identity, lift
from sash.swag.range_tallies import check, over_tallies, tally_of

SKETCHES = [sash.bloom_filter(bits=128), sash.hyperloglog(precision=4), sash.count_min(width=8, depth=3)]
READINGS = [False, pytest.param(True, marks=pytest.mark.compiled)]
ROWS = 60
# A range of one part that grows, jumps and empties; and one of two parts with a gap between them.
ONE = np.array([[0, 0, 0, 3, 5, 20, 20, 41, 60, 60]]), np.array([[0, 1, 5, 5, 5, 30, 41, 60, 60, 60]])
TWO = np.array([[0, 0, 2, 9, 30], [3, 5, 9, 9, 58]]), np.array([[0, 4, 8, 9, 50], [5, 5, 30, 40, 60]])


def tally(template: Template, column: Column) -> Monoid:
    made = tally_of("result", template.parts((column,), False), (column,))
    assert made is not None
    return made


@pytest.mark.parametrize("compiled", READINGS, ids=["interpreted", "compiled"])
@pytest.mark.parametrize("ranges", [ONE, TWO], ids=["one part", "two parts"])
@pytest.mark.parametrize("template", SKETCHES, ids=lambda each: each.name)
def test_each_range_is_the_fold_of_its_rows(template: Template, ranges: Any, compiled: bool) -> None:
    column = Column(Field("i8"), nullable=True)
    random = np.random.default_rng(5)
    values, valid = random.integers(0, 9, ROWS), random.random(ROWS) < 0.7
    starts, ends = ranges
    compiled = compiled and not JIT_DISABLED
    monoid = replace(tally(template, column), is_compiled=compiled)
    inputs = (values, valid) if compiled else (values.tolist(), valid.tolist())
    results = tuple(each.result.empty(starts.shape[1], compiled) for each in monoid.outputs)
    presences = allocate((Field("u1"),), starts.shape[1], compiled)
    state = over_tallies(monoid, inputs, starts, ends, results, presences)
    plain = replace(bind(template, (column,)), is_compiled=False)
    rows = list(zip(values.tolist(), valid.tolist(), strict=True))
    for place in range(starts.shape[1]):
        inside = [row for low, high in zip(starts[:, place], ends[:, place], strict=True) for row in rows[low:high]]
        partial = identity(plain)
        for row in inside:
            partial = combine(plain, partial, lift(plain, row))
        value, presence = plain.outputs[0].read(partial)
        assert presences[0][place] == presence
        assert not presence or np.allclose(results[0][place], value, rtol=1e-12)
    check(replace(monoid, is_compiled=False), state, inside)


def test_aggregates_that_rows_cannot_leave_have_no_tally() -> None:
    column = Column(Field("f8"))
    assert tally_of("x", sash.moment_sketch().parts((column,), False), (column,)) is None
    assert tally_of("x", sash.sum().parts((column,), False), (column,)) is None
