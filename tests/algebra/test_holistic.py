"""The multiset behind quantiles and distinct values, and the words that its aggregates are asked with."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.algebra.aggregate import Kind, Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column
from sash.errors import InvalidAggregate, UnsupportedAggregate
from tests.algebra.templates import alike, bound

VALUES = st.lists(st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0, math.inf, -math.inf, math.nan]), max_size=12)


def fold(monoid: Any, values: list[Any]) -> Any:
    partial = monoid.initial
    for value in values:
        partial = monoid.combine(partial, monoid.lift((value,)))
    return partial


@given(VALUES, VALUES)
def test_a_multiset_is_sorted_counted_and_forgets_what_is_taken_away(older: list[float], newer: list[float]) -> None:
    monoid = bound(sash.median(), "f8", nullable=False, invertible=True)
    whole = monoid.combine(fold(monoid, older), fold(monoid, newer))
    assert whole == fold(monoid, [*newer, *older])
    ((values, counts),) = whole
    assert sum(counts) == len(older) + len(newer) and all(count > 0 for count in counts)
    numbers = [value for value in values if value == value]
    assert numbers == sorted(set(numbers)) and len(values) - len(numbers) <= 1
    assert not any(math.copysign(1, value) < 0 for value in numbers if value == 0)
    assert monoid.invert is not None
    assert monoid.invert(whole, fold(monoid, older)) == fold(monoid, newer)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(0, 1))
def test_a_quantile_is_numpys(values: list[float], q: float) -> None:
    monoid = bound(sash.quantile(q=q), "f8", nullable=False)
    found = monoid.outputs[0].read(fold(monoid, values))[0]
    assert math.isclose(found, float(np.quantile(values, q)), rel_tol=1e-9, abs_tol=1e-6)


def test_a_quantile_between_a_number_and_infinity_is_infinity_and_nan_is_the_largest() -> None:
    monoid = bound(sash.median(), "f8", nullable=False)
    for values, answer in (
        ([1.0, math.inf], math.inf),
        ([math.inf, math.inf], math.inf),
        ([-math.inf, 1.0], -math.inf),
        ([math.nan, 1.0, 2.0], 2.0),
        ([math.nan, math.nan, 2.0], math.nan),
    ):
        assert alike(monoid.outputs[0].read(fold(monoid, values))[0], answer)


@pytest.mark.parametrize(
    ("template", "answer"),
    [(sash.collect(), [3, 1, 3]), (sash.collect_distinct(), [1, 3]), (sash.count_distinct(), 2), (sash.median(), 3.0)],
    ids=lambda each: getattr(each, "name", ""),
)
def test_numpy_scalars_become_plain_values(template: Template, answer: Any) -> None:
    monoid = bound(template, "i8", nullable=False)
    found = monoid.outputs[0].read(fold(monoid, list(np.array([3, 1, 3]))))[0]
    assert found == answer
    assert not any(isinstance(each, np.generic) for each in (found if isinstance(found, list) else [found]))


def test_results_are_copies_that_a_user_may_change() -> None:
    monoid = bound(sash.collect(), "i8", nullable=False)
    partial = fold(monoid, [1, 2])
    monoid.outputs[0].read(partial)[0].append(3)
    assert monoid.outputs[0].read(partial)[0] == [1, 2]


def test_names_and_parameters_can_be_read_off_a_template() -> None:
    assert (sash.quantile(q=0.9).name, dict(sash.quantile(q=0.9).parameters)["q"]) == ("quantile", 0.9)  # type: ignore[attr-defined]
    assert (sash.median().name, dict(sash.median().parameters)["q"]) == ("median", 0.5)  # type: ignore[attr-defined]
    assert all(each.kind is Kind.HOLISTIC for each in (sash.collect(), sash.median(), sash.count_distinct()))


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan, "0.5", True, None])
def test_refuses_a_share_that_is_none(q: Any) -> None:
    with pytest.raises(InvalidAggregate, match="a number from 0 to 1"):
        sash.quantile(q=q)


def test_refuses_a_separator_that_is_no_string_and_numbers_to_join() -> None:
    with pytest.raises(InvalidAggregate, match="separator must be a string"):
        sash.string_agg(separator=1)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedAggregate, match="strings"):
        bind(sash.string_agg(), (Column(Field("i8")),))
