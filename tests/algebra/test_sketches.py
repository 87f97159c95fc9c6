"""Sketches keep their promises: no false no, counts never too low, errors within their bounds."""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra.aggregate import Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Monoid, Presence, combine, identity, lift
from sash.errors import InvalidAggregate, UnsupportedAggregate
from tests.algebra.templates import SKETCHES, all_answers, column, folded, subtracted
from tests.sample import sample

OF = [pytest.param(each, code, id=f"{name}-{code}") for name, (each, codes) in SKETCHES.items() for code in codes]


def plain(template: Template, code: str, nullable: bool = False) -> Monoid:
    return replace(bind(template, (Column(Field(code), nullable),)), is_compiled=False)


def sketch(template: Template, code: str, values: list[Any]) -> Any:
    """The answer for all values, combined as a tree so that as many partials as possible meet."""
    monoid = plain(template, code)
    partials = [lift(monoid, (value,)) for value in values]
    while len(partials) > 1:
        partials = [
            combine(monoid, partials[k], partials[k + 1]) if k + 1 < len(partials) else partials[k]
            for k in range(0, len(partials), 2)
        ]
    return monoid.outputs[0].read(partials[0])[0]


# --- both readings -----------------------------------------------------------------------------------


def both_readings_agree(templates: dict[str, Template], code: str, values: list[Any]) -> None:
    monoid = bind(templates, (Column(Field(code), None in values),))
    compiled = all_answers(monoid, [values], 4, folded)
    interpreted = all_answers(replace(monoid, is_compiled=False), [values], 4, folded)
    for name, answers in compiled.items():
        for (value, presence), (other, other_presence) in zip(answers, interpreted[name], strict=True):
            assert presence == other_presence
            assert value is None or np.allclose(value, other, rtol=1e-9, equal_nan=True), name


OF_TYPES: dict[str, list[Any]] = {
    "i8": column("i8", 60, 0.4, 3),
    "f8": column("f8", 60, 0.0, 3),
    "f4": [0.5, -0.0, 0.0, math.nan, math.inf, 3.0, -2.25],
    "b1": [True, False, None, True, None, None, None, None],
    "u8": [2**64 - 1, 2**63, 5, 0, 2**53 + 1],
}


@pytest.mark.compiled
@pytest.mark.parametrize("code", sample(OF_TYPES, ["i8", "f8"]))
def test_compiled_and_interpreted_sketches_are_the_same(code: str) -> None:
    solved = ("moment_sketch median",)  # the solver is slow to compile and slow to interpret: once, below
    both_readings_agree(
        {name: each for name, (each, _) in SKETCHES.items() if name not in solved}, code, OF_TYPES[code]
    )


@pytest.mark.compiled
def test_compiled_and_interpreted_solvers_agree() -> None:
    both_readings_agree(
        {"median": sash.moment_sketch(quantile=0.5)}, "f8", [1.0, None, 4.0, 2.0, 8.0, 5.5, None, None, None, None, 7.0]
    )


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.compiled)], ids=["interpreted", "compiled"]
)
def test_count_min_forgets_what_is_subtracted(compiled: bool) -> None:
    values = column("i8", 100, 0.3, 1)
    monoid = replace(bind(sash.count_min(width=8, depth=2), (Column(Field("i8"), True),), True), is_compiled=compiled)
    running, anew = (all_answers(monoid, [values], 5, by)["count_min"] for by in (subtracted, folded))
    for (value, presence), (other, other_presence) in zip(running, anew, strict=True):
        assert presence == other_presence and np.array_equal(value, other)


@pytest.mark.parametrize(("template", "code"), OF)
def test_combine_and_results_leave_their_operands_alone(template: Template, code: str) -> None:
    monoid = plain(template, code)
    a, b = (lift(monoid, (value,)) for value in (("a", "b") if code == "O" else (1, 2)))
    before = [np.copy(each) for each in (*a, *b)]
    combined = combine(monoid, a, b)
    result = monoid.outputs[0].read(a)[0]
    for each in (*combined, result):
        if isinstance(each, np.ndarray):
            each += each.dtype.type(1)
    assert all(np.array_equal(one, other) for one, other in zip(before, (*a, *b), strict=True))


@pytest.mark.parametrize(("template", "code"), OF)
def test_a_window_of_nulls_gives_null(template: Template, code: str) -> None:
    monoid = plain(template, code, nullable=True)
    nothing = combine(monoid, lift(monoid, (None if code == "O" else 0, False)), identity(monoid))
    assert monoid.outputs[0].read(nothing) == (None, Presence.NULL)


# --- hashes --------------------------------------------------------------------------------------------


def test_refuses_values_without_a_stable_hash() -> None:
    with pytest.raises(UnsupportedAggregate, match="numbers, strings and bytes"):
        sketch(sash.hyperloglog(), "O", [(1, 2)])


# --- bounds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["i8", "f8", "O"])
def test_a_bloom_filter_knows_every_member_and_few_strangers(code: str) -> None:
    def value(k: int) -> Any:
        return k if code == "i8" else k / 7 if code == "f8" else f"name {k}"

    words = sketch(sash.bloom_filter(bits=4096, hashes=4), code, [value(k) for k in range(400)])
    assert words.dtype == np.uint64 and words.shape == (64,)
    assert all(sash.bloom_contains(words, value(k), hashes=4) for k in range(400))
    strangers = sum(sash.bloom_contains(words, value(k), hashes=4) for k in range(1000, 6000)) / 5000
    expected = (1 - math.exp(-4 * 400 / 4096)) ** 4
    assert expected / 2 < strangers < expected * 2


@pytest.mark.parametrize("code", ["i8", "f8", "O"])
@pytest.mark.parametrize("count", [1, 10, 500, 3000, 20_000])
def test_hyperloglog_is_within_three_standard_errors(count: int, code: str) -> None:
    values = [k if code == "i8" else k / 3 if code == "f8" else str(k) for k in range(count)]
    registers = np.zeros(1024, np.uint8)
    monoid = plain(sash.hyperloglog(precision=10), code)
    for value in values:
        np.maximum(registers, lift(monoid, (value,))[0], out=registers)
    estimate = monoid.outputs[0].read((registers,))[0]
    assert estimate == pytest.approx(count, rel=3 * 1.04 / 32, abs=0.6)


def test_count_min_is_never_too_low_and_rarely_much_too_high() -> None:
    rng = np.random.default_rng(0)
    values = [int(value) for value in rng.zipf(1.5, 2000) % 500]
    table = sketch(sash.count_min(width=128, depth=5), "i8", values)
    truth = Counter(values)
    errors = [sash.count_min_estimate(table, value, 128, 5) - truth[value] for value in range(500)]
    assert min(errors) >= 0
    assert sum(error > math.e * len(values) / 128 for error in errors) / 500 <= math.exp(-5) + 0.01
    with pytest.raises(InvalidAggregate, match="4 rows of 64 counters"):
        sash.count_min_estimate(table, 1)


# --- moments ---------------------------------------------------------------------------------------------


def moments(values: Any, k: int = 10) -> list[float]:
    values = np.asarray(values, np.float64)
    return [values.size, values.min(), values.max(), *(np.sum(values**power) for power in range(1, k + 1))]


def rank_error(values: Any, k: int = 10) -> float:
    values = np.asarray(values, np.float64)
    given = moments(values, k)
    worst = 0.0
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        found = sash.quantile_of(given, q)
        worst = max(worst, np.mean(values < found) - q, q - np.mean(values <= found))
    return float(worst)


RNG = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("values", "bound"),
    [
        pytest.param(RNG.normal(size=5000), 0.01, id="normal"),
        pytest.param(RNG.random(5000), 0.01, id="uniform"),
        pytest.param(RNG.exponential(size=5000), 0.01, id="exponential"),
        pytest.param(np.r_[RNG.normal(-5, 0.5, 2500), RNG.normal(5, 1, 2500)], 0.02, id="two peaks"),
        pytest.param(RNG.lognormal(size=5000), 0.06, id="long tail"),
        pytest.param(RNG.normal(100, 1, 5000), 0.01, id="mean 100"),
        pytest.param(RNG.normal(1000, 1, 5000), 0.02, id="mean 1000"),
        pytest.param(RNG.normal(1e9, 1, 5000), 0.35, id="mean 1e9: one moment is left"),
        pytest.param(RNG.random(2000) * 1e25, 0.02, id="large"),
        pytest.param(RNG.random(2000) * 1e-25, 0.02, id="small"),
        pytest.param(RNG.integers(0, 3, 1000), 0.35, id="three values"),
        pytest.param(RNG.normal(size=6), 0.2, id="six rows"),
    ],
)
def test_a_quantile_of_moments_is_near_in_rank(values: Any, bound: float) -> None:
    assert rank_error(values) <= bound


def test_more_moments_are_better() -> None:
    values = np.r_[RNG.normal(-5, 0.5, 2500), RNG.normal(5, 1, 2500)]
    assert rank_error(values, k=12) < rank_error(values, k=4) < rank_error(values, k=2)


@pytest.mark.parametrize("q", [0.0, 0.2, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(
    "values", [[3.0], [3.0] * 9, [1.0, 2.0], [1.0, 7.0, 2.0], [0.0, 1.0, 1.0, 0.0, 1.0], [-4.0] * 3 + [6.0]]
)
def test_few_values_are_exact(values: list[float], q: float) -> None:
    assert sash.quantile_of(moments(values), q) == pytest.approx(float(np.quantile(values, q)), abs=1e-9)


@pytest.mark.parametrize("values", [[1.0, math.nan, 3.0, 4.0], [1.0, math.inf, 3.0, 4.0], [-math.inf, 1.0, 2.0, 3.0]])
def test_what_is_not_finite_gives_nan(values: list[float]) -> None:
    assert math.isnan(sketch(sash.moment_sketch(quantile=0.5), "f8", values))


@pytest.mark.parametrize(
    "values", [[1e200, 2e200, 5e200, 9e200], [1e-200, 2e-200, 5e-200, 9e-200], [-1e308, 1e308, 0.0, 5.0]]
)
def test_moments_that_overflow_leave_an_estimate_between_the_extremes(values: list[float]) -> None:
    found = sketch(sash.moment_sketch(quantile=0.5), "f8", values)
    assert min(values) <= found <= max(values)


def test_quantiles_never_decrease_and_stay_between_the_extremes() -> None:
    for values in (RNG.normal(size=500), RNG.integers(0, 4, 500), RNG.pareto(1, 500)):
        given = moments(values)
        found = [sash.quantile_of(given, q) for q in np.linspace(0, 1, 9)]
        assert found == sorted(found) and found[0] == given[1] and found[-1] == given[2]


def test_a_moment_sketch_is_count_extremes_and_power_sums() -> None:
    assert sketch(sash.moment_sketch(k=3), "f8", [1.0, -2.0, 3.0]).tolist() == [3.0, -2.0, 3.0, 2.0, 14.0, 20.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: sash.moment_sketch(k=1),
        lambda: sash.moment_sketch(quantile=1.5),
        lambda: sash.quantile_of([1.0, 2.0], 0.5),
        lambda: sash.quantile_of([1.0, 2.0, 2.0, 2.0], math.nan),
        lambda: sash.bloom_filter(bits=100),
        lambda: sash.bloom_filter(bits=0),
        lambda: sash.bloom_filter(hashes=0),
        lambda: sash.hyperloglog(precision=3),
        lambda: sash.hyperloglog(precision=17),
        lambda: sash.count_min(width=0),
        lambda: sash.count_min(depth=True),
    ],
)
def test_refuses_parameters_that_make_no_sense(make: Any) -> None:
    with pytest.raises(InvalidAggregate, match="must be"):
        make()
