"""Every aggregate against plain Python, over windows with nulls, NaN and infinities, in both readings."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sash
from sash.algebra.aggregate import Kind, Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column, Presence, identity
from sash.errors import InvalidAggregate, UnsupportedAggregate
from tests.algebra.templates import (
    CASES,
    Case,
    alike,
    all_answers,
    answers,
    bound,
    column,
    folded,
    subtracted,
    together,
)
from tests.sample import sample

ROWS = 240
OF = [pytest.param(case, code, id=f"{name}-{code}") for name, case in CASES.items() for code in case.types]
NULLS = pytest.mark.parametrize("nullable", [False, True], ids=["full", "nulls"])
REFUSED = [
    pytest.param(case.template, code, id=f"{name}-{code}")
    for name, case in CASES.items()
    for code in ("i8", "f8", "O")
    if code not in case.types
]


def case_of(parameters: Any) -> Case:
    case: Case = parameters.values[0]
    return case


def columns_of(case: Case, code: str, nullable: bool, seed: int) -> list[list[Any]]:
    nulls = 0.25 if nullable else 0.0
    return [column(code, ROWS, nulls, seed + k) for k in range(max(case.template.arity, 1))]


def expected(case: Case, columns: list[list[Any]], size: int) -> list[Any]:
    results = []
    for end in range(1, ROWS + 1):
        rows: list[Any] = list(zip(*(values[max(0, end - size) : end] for values in columns), strict=True))
        if case.template.arity == 0:
            results.append(len(rows))
            continue
        if case.template.arity == 1:
            rows = [row[0] for row in rows if row[0] is not None]
        results.append(case.reference(rows) if rows else case.of_nothing)
    return results


def compare(case: Case, found: list[tuple[Any, int]], columns: list[list[Any]], size: int) -> None:
    for row, ((value, presence), answer) in enumerate(zip(found, expected(case, columns, size), strict=True)):
        assert alike(value, answer), (row, [values[max(0, row + 1 - size) : row + 1] for values in columns])
        assert (presence == Presence.NULL) is (answer is None)


@NULLS
@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize(("case", "code"), OF)
def test_agrees_with_plain_python_when_interpreted(case: Case, code: str, size: int, nullable: bool) -> None:
    columns = columns_of(case, code, nullable, seed=size)
    compare(case, answers(bound(case.template, code, nullable), columns, size), columns, size)


def compiled_names(code: str, arity: int, invertible: bool = False) -> list[str]:
    return [
        name
        for name, case in CASES.items()
        if code in case.types
        and case.template.kind is not Kind.HOLISTIC
        and (case.template.arity == 2) is (arity == 2)
        and (case.template.invertible or not invertible)
    ]


@pytest.mark.compiled
@NULLS
@pytest.mark.parametrize("code", ["i8", "f8"])
def test_agrees_with_plain_python_when_compiled(code: str, nullable: bool) -> None:
    names = compiled_names(code, arity=1)
    monoid = together(names, code, nullable)
    for size in (1, 2, 7):
        columns = [column(code, ROWS, 0.25 if nullable else 0.0, size)]
        for name, found in all_answers(monoid, columns, size).items():
            compare(CASES[name], found, columns, size)


@pytest.mark.compiled
@NULLS
@pytest.mark.parametrize(("name", "code"), [("argmax", "f8"), ("argmin", "i8")])
def test_two_columns_agree_with_plain_python_when_compiled(name: str, code: str, nullable: bool) -> None:
    columns = columns_of(CASES[name], code, nullable, seed=5)
    compare(CASES[name], answers(bound(CASES[name].template, code, nullable, compiled=True), columns, 5), columns, 5)


@NULLS
@pytest.mark.parametrize(("case", "code"), [p for p in OF if case_of(p).template.invertible])
def test_rows_that_are_subtracted_leave_nothing_behind(case: Case, code: str, nullable: bool) -> None:
    monoid = bound(case.template, code, nullable, invertible=True)
    for size in (1, 3, 8):
        columns = columns_of(case, code, nullable, seed=10 + size)
        compare(case, answers(monoid, columns, size, subtracted), columns, size)


@pytest.mark.compiled
@NULLS
@pytest.mark.parametrize("code", ["i8", "f8"])
def test_rows_that_are_subtracted_leave_nothing_behind_when_compiled(code: str, nullable: bool) -> None:
    monoid = together(compiled_names(code, 1, invertible=True), code, nullable, invertible=True)
    for size in (1, 3, 8):
        columns = [column(code, ROWS, 0.25 if nullable else 0.0, 10 + size)]
        for name, found in all_answers(monoid, columns, size, subtracted).items():
            compare(CASES[name], found, columns, size)


@NULLS
@pytest.mark.parametrize(("case", "code"), OF)
def test_a_monoid_has_the_traits_that_its_template_claims(case: Case, code: str, nullable: bool) -> None:
    plain = bound(case.template, code, nullable)
    assert plain.commutative is case.template.commutative
    assert plain.selective is case.template.selective
    assert (bound(case.template, code, nullable, invertible=True).invert is not None) is case.template.invertible


@pytest.mark.parametrize(("template", "code"), REFUSED)
def test_refuses_what_it_cannot_aggregate(template: Template, code: str) -> None:
    with pytest.raises(UnsupportedAggregate, match=template.name):
        bound(template, code, nullable=False)


# --- sharing ---------------------------------------------------------------------------------------

FAMILY = {"mean": sash.mean(), "sum": sash.sum(), "count": sash.count("x"), "sd": sash.stddev()}


@pytest.mark.parametrize(("code", "fields"), [("f8", ["i8", "f8", "f8"]), ("i8", ["i8", "i8", "i8", "f8"])])
def test_mean_sum_count_and_stddev_of_a_column_are_one_partial(code: str, fields: list[str]) -> None:
    monoid = bind(FAMILY, (Column(Field(code)),))
    assert [field.code for field in monoid.fields] == fields
    partial = monoid.initial
    for value in (1, 2, 6):
        partial = monoid.combine(partial, monoid.lift((value,)))
    results = {output.name: output.read(partial)[0] for output in monoid.outputs}
    assert alike(list(results.values()), [3.0, 9, 3, math.sqrt(7)])


def test_holistic_aggregates_of_a_column_share_their_values() -> None:
    several = {"m": sash.median(), "q": sash.quantile(q=0.9), "n": sash.count_distinct(), "d": sash.collect_distinct()}
    assert len(bind(several, (Column(Field("f8")),)).fields) == 1
    assert len(bind({"c": sash.collect(), "s": sash.string_agg()}, (Column(Field("O")),)).fields) == 1


def test_min_max_range_and_m4_share_their_extremes() -> None:
    several = {"low": sash.min(), "high": sash.max(), "range": sash.range(), "m4": sash.m4()}
    assert len(bind(several, (Column(Field("f8")),)).fields) == 2 + 4


# --- numbers ---------------------------------------------------------------------------------------


def read(template: Template, code: str, values: list[Any], compiled: bool, invertible: bool = False) -> tuple[Any, int]:
    monoid = bound(template, code, nullable=None in values, invertible=invertible, compiled=compiled)
    return answers(monoid, [values] * max(template.arity, 1), len(values), folded)[-1]


BOTH = pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.compiled)], ids=["interpreted", "compiled"]
)
TOP, BOTTOM = 2**63 - 1, -(2**63)


@BOTH
@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([TOP], TOP),
        ([BOTTOM], BOTTOM),
        ([TOP, 1], None),
        ([BOTTOM, -1], None),
        ([TOP, TOP, BOTTOM, BOTTOM, 7], 5),  # overflows on the way, not in the end
        ([TOP] * 5, None),
    ],
)
def test_an_integer_sum_is_exact_or_an_overflow(values: list[int], answer: int | None, compiled: bool) -> None:
    for invertible in (False, True):
        presence = Presence.OVERFLOW if answer is None else Presence.VALUE
        assert read(sash.sum(), "i8", values, compiled, invertible) == (answer, presence)


@BOTH
@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([TOP], TOP),
        ([BOTTOM], BOTTOM),
        ([2**62, -2], BOTTOM),
        ([2**62, 2], None),
        ([2**62, 2, -1], BOTTOM),
        ([BOTTOM, -1], None),
        ([BOTTOM, 1], BOTTOM),
        ([TOP, TOP, 0], 0),
        ([3037000500, 3037000500], None),
        ([3037000499, -3037000499], -(3037000499**2)),
        ([-1, -1, -1], -1),
    ],
)
def test_an_integer_product_is_exact_or_an_overflow(values: list[int], answer: int | None, compiled: bool) -> None:
    presence = Presence.OVERFLOW if answer is None else Presence.VALUE
    assert read(sash.product(), "i8", values, compiled) == (answer, presence)


@BOTH
@pytest.mark.parametrize(
    ("code", "values", "answer"),
    [
        ("i1", [-128, 127], 255),
        ("u1", [0, 255], 255),
        ("i8", [BOTTOM, -1], TOP),
        ("i8", [BOTTOM, 0], None),
        ("u8", [0, 2**64 - 1], 2**64 - 1),
    ],
)
def test_a_range_of_integers_does_not_wrap(code: str, values: list[int], answer: int | None, compiled: bool) -> None:
    presence = Presence.OVERFLOW if answer is None else Presence.VALUE
    assert read(sash.range(), code, values, compiled) == (answer, presence)
    assert read(sash.range(), code, [*values, None], compiled) == (answer, presence)


NARROW = ["i1", "i4", "u2", "u8", "b1", "f4"]


@pytest.mark.parametrize("nulls", [[], [None]], ids=["full", "nulls"])
@pytest.mark.parametrize("code", NARROW)
def test_narrow_and_unsigned_types_do_not_wrap(code: str, nulls: list[None]) -> None:
    check_narrow(code, nulls)


@pytest.mark.only_compiled
@pytest.mark.parametrize("code", sample(NARROW, ["i1", "u8", "f4"]))
def test_narrow_and_unsigned_types_do_not_wrap_when_compiled(code: str) -> None:
    check_narrow(code, [None])


def check_narrow(code: str, nulls: list[None]) -> None:
    kind = np.dtype(code).kind
    top = True if kind == "b" else 1000.0 if kind == "f" else int(np.iinfo(code).max)
    values: list[Any] = [top, top, top] if code != "u8" else [2**62 + 1, 2**60 + 1, 3]
    plain = [int(value) if kind != "f" else value for value in values]
    whole = {"sum": sum(plain), "product": math.prod(plain)}
    expected: dict[str, Any] = {
        name: None if kind != "f" and not BOTTOM <= answer <= TOP else answer for name, answer in whole.items()
    }
    expected |= {"mean": sum(plain) / 3, "stddev": float(np.std(np.array(plain, np.float64), ddof=1))}
    expected |= {"max": max(values), "first": values[0], "last": values[-1], "max_count": values.count(max(values))}
    expected |= {"range": max(plain) - min(plain), "m4": [values[0], values[-1], min(values), max(values)]}
    monoid = together(expected, code, bool(nulls))
    for reading in (monoid, replace(monoid, is_compiled=False)):
        found = all_answers(reading, [[*values, *nulls]], 4)
        for name, answer in expected.items():
            assert alike(found[name][-1][0], answer, 1e-6 if name == "stddev" else 1e-12), name


@BOTH
def test_unsigned_integers_beyond_the_signed_ones_are_summed_exactly(compiled: bool) -> None:
    assert read(sash.sum(), "u8", [2**63 - 1], compiled) == (2**63 - 1, Presence.VALUE)
    assert read(sash.sum(), "u8", [2**64 - 1, 1], compiled) == (None, Presence.OVERFLOW)
    assert read(sash.mean(), "u8", [2**64 - 1, 2**64 - 1], compiled)[0] == float(2**64)


@BOTH
@pytest.mark.parametrize("centre", [1e9, -1e9, 1e12])
def test_variance_survives_a_large_mean(centre: float, compiled: bool) -> None:
    noise = np.random.default_rng(0).normal(size=400)
    values = [float(value) for value in centre + noise]
    monoid = bound(sash.variance(), "f8", False, compiled=compiled)
    found = answers(monoid, [values], 50, folded)
    within = 1e-6 if abs(centre) < 1e10 else 2e-3  # the values themselves are rounded to 1e-4 there
    for row in range(50, 400):
        value = found[row][0]
        assert value == pytest.approx(float(np.var(np.array(values[row - 49 : row + 1]) - centre, ddof=1)), rel=within)


# Values near the largest float, and the variance of all of them together, for a sample.
EXTREME: dict[str, tuple[list[float], float]] = {
    "far apart": ([1e308, -1e308], math.inf),
    "near each other": ([1e308, 1e307, 2e307], math.inf),
    "equal": ([2.0**1015] * 200, 0.0),
    "equal, with a sum beyond a float": ([1e308] * 4, math.inf),
    "many on both sides": ([1e305, -1e305] * 200, math.inf),
    "whose squares fit": ([1e153, -1e153], 2e306),
    "one of them infinite": ([1e308, -1e308, -math.inf], math.nan),
    "one of them NaN": ([1e308, -1e308, math.nan], math.nan),
}


@BOTH
@pytest.mark.parametrize("kind", EXTREME)
def test_variance_of_finite_values_is_never_nan(kind: str, compiled: bool) -> None:
    values, variance = EXTREME[kind]
    for template, wanted in ((sash.variance(), variance), (sash.stddev(), math.sqrt(variance))):
        found, _ = answers(bound(template, "f8", False, compiled=compiled), [values], len(values))[-1]
        assert found == pytest.approx(wanted, nan_ok=True)


@BOTH
def test_an_outlier_that_leaves_takes_its_rounding_along(compiled: bool) -> None:
    values = [0.1, 1e17, 0.2, 0.3, -1e17, 0.4, 0.5, 0.6]
    found = answers(bound(sash.sum(), "f8", False, True, compiled), [values], 2, subtracted)
    assert [value for value, _ in found] == pytest.approx([0.1, 1e17, 1e17, 0.5, -1e17, -1e17, 0.9, 1.1], rel=1e-14)


@BOTH
def test_a_tie_of_argmax_goes_to_the_older_row_and_a_null_who_is_null(compiled: bool) -> None:
    monoid = bound(sash.argmax(), "i8", True, compiled=compiled)
    rows: list[list[Any]] = [[3, 3, None, 5], [10, 11, 12, None]]
    assert answers(monoid, rows, 4) == [(10, 1), (10, 1), (10, 1), (None, 0)]


@BOTH
def test_minus_zero_is_zero_and_nan_is_the_largest(compiled: bool) -> None:
    for values in ([-0.0, 0.0], [0.0, -0.0]):
        assert read(sash.max_count(), "f8", values, compiled)[0] == 2
    assert math.isnan(read(sash.max(), "f8", [1.0, math.nan, math.inf], compiled)[0])
    assert read(sash.min(), "f8", [math.nan, math.inf, math.nan], compiled)[0] == math.inf
    assert math.isnan(read(sash.min(), "f8", [math.nan, math.nan], compiled)[0])
    assert read(sash.max_count(), "f8", [math.nan, 1.0, math.nan], compiled)[0] == 2


# --- templates and identities ------------------------------------------------------------------------


def test_a_template_is_a_value() -> None:
    assert sash.quantile("x", q=0.9) == sash.quantile("x", q=0.9)
    assert sash.quantile("x", q=0.9) != sash.quantile("x", q=0.8)
    assert sash.stddev() != sash.stddev(population=True)
    assert len({sash.bloom_filter(), sash.bloom_filter(), sash.bloom_filter(bits=64)}) == 2
    assert sash.max()("load").columns == ("load",)


def test_a_template_takes_as_many_columns_as_it_names() -> None:
    with pytest.raises(InvalidAggregate, match="2 column name"):
        sash.argmax()("x")
    with pytest.raises(InvalidAggregate, match="two column names, or none"):
        sash.argmax("x")


def test_identities_of_equal_value_keep_their_own_types() -> None:
    """0, 0.0, -0.0 and False are equal to Python, and each is the identity of another field."""
    for code, zero in (("i8", 0), ("f8", 0.0), ("b1", False), ("f8", -0.0), ("i8", 0)):
        aggregate = sash.Aggregate("same", state=code, identity=zero, lift=lambda x: x, combine=lambda a, b: a + b)
        monoid = replace(bind(aggregate, (Column(Field("i8")),)), is_compiled=False)
        (found,) = identity(monoid)
        assert type(found) is type(zero)
        assert math.copysign(1, found) == math.copysign(1, zero)
