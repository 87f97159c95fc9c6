"""Every aggregate keeps the laws that it claims, and a law that is broken is broken by the smallest case."""

import math
from typing import Any

import pytest

import sash
from sash import laws
from sash.algebra.aggregate import Aggregate, Template, bind
from sash.algebra.fields import Field
from sash.algebra.monoid import Column
from sash.errors import InvalidAggregate, InvalidInput
from tests.algebra.templates import CASES, POOLS, SKETCHES
from tests.sample import sample

ALL = {name: (case.template, case.types) for name, case in CASES.items()} | SKETCHES
OF = [pytest.param(each, code, id=f"{name}-{code}") for name, (each, codes) in ALL.items() for code in codes]


IDS = [str(each.id) for each in OF]
FIRST = [(template, codes[0]) for template, codes in ALL.values()]


@pytest.mark.parametrize(("template", "code"), sample([each.values for each in OF], FIRST), ids=IDS)
def test_keeps_the_laws_that_it_claims(template: Template, code: str) -> None:
    assert laws.check(template, column=code) == ()


@pytest.mark.parametrize(("template", "code"), OF)
def test_keeps_them_with_nulls_and_other_values(template: Template, code: str) -> None:
    values = [None, *POOLS[code][:5]]
    assert laws.check(template, [(value, value) for value in values] if template.arity == 2 else values) == ()


@pytest.mark.parametrize("name", ["first", "last", "collect", "argmax", "string_agg"])
def test_what_is_ordered_is_known_to_be(name: str) -> None:
    template, codes = ALL[name]
    assert not template.commutative
    assert laws.commutative(template, column=codes[-1]) is not None


@pytest.mark.parametrize("name", ["sum", "mean", "range", "collect", "max_count"])
def test_what_is_not_selective_is_known_not_to_be(name: str) -> None:
    assert laws.selective(ALL[name][0]) is not None


def of(name: str = "mine", **parts: Any) -> Aggregate:
    given: dict[str, Any] = {"state": "i8", "identity": 0, "lift": lambda x: x, "combine": lambda a, b: a + b}
    return Aggregate(name, **(given | parts))


@pytest.mark.parametrize(
    ("law", "aggregate", "operands", "text"),
    [
        (
            laws.associative,
            of(combine=lambda a, b: a - b),
            ((0,), (0,), (1,)),
            (
                "'mine': combine is not associative: for a = lift(0), b = lift(0), c = lift(1): "
                "(a ⊕ b) ⊕ c = -1, a ⊕ (b ⊕ c) = 1"
            ),
        ),
        (
            laws.neutral,
            of(identity=1),
            ((),),
            "'mine': identity is not neutral on the left: for a = identity: identity ⊕ a = 2, a = 1",
        ),
        (
            laws.neutral,
            of(combine=lambda a, b: b),
            ((1,),),
            "'mine': identity is not neutral on the right: for a = lift(1): a ⊕ identity = 0, a = 1",
        ),
        (
            laws.inverse,
            of(invert=lambda whole, older: whole),
            ((1,), ()),
            "'mine': invert does not undo combine: for a = lift(1), b = identity: invert(a ⊕ b, a) = 1, b = 0",
        ),
        (
            laws.commutative,
            of(combine=lambda a, b: a),
            ((0,), (1,)),
            "'mine': combine is not commutative: for a = lift(0), b = lift(1): a ⊕ b = 0, b ⊕ a = 1",
        ),
        (
            laws.selective,
            of(),
            ((1,), (1,)),
            "'mine': combine gives neither operand: for a = lift(1), b = lift(1): a ⊕ b = 2, a = 1",
        ),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_the_smallest_counterexample_is_found(law: Any, aggregate: Aggregate, operands: Any, text: str) -> None:
    found = law(aggregate)
    assert found is not None
    assert tuple(history for _, history in found.operands) == operands
    assert str(found) == text


def test_a_breach_that_needs_two_rows_in_an_operand_is_found() -> None:
    # A count that sticks at two: single rows keep the law, longer histories do not.
    capped = of(lift=lambda x: 1, combine=lambda a, b: min(a + b, 2), invert=lambda whole, older: whole - older)
    found = laws.inverse(capped)
    assert found is not None and sum(len(history) for _, history in found.operands) == 3
    assert laws.associative(capped) is None


def test_simple_values_are_tried_before_others_in_whatever_order_they_are_given() -> None:
    found = laws.commutative(of(combine=lambda a, b: a), [900, -7, 3, 5])
    assert found is not None and found.operands == (("a", (3,)), ("b", (5,)))


def test_a_function_that_raises_is_a_counterexample_that_says_so() -> None:
    found = laws.associative(of(lift=lambda x: 1 // x))
    assert found is not None
    assert str(found).startswith("'mine': lift raised ZeroDivisionError")
    assert "a = lift(0)" in str(found)
    (only,) = laws.check(of(lift=lambda x: 1 // x, combine=lambda a, b: a + b, commutative=True))[:1]
    assert only.breach.startswith("lift raised")
    raising = laws.inverse(of(invert=lambda whole, older: whole // (older - older)))
    assert raising is not None and raising.breach.startswith("invert raised ZeroDivisionError")


def test_rounding_is_no_breach_but_a_nan_that_stays_is() -> None:
    total = of(state="f8", identity=0.0, lift=lambda x: x * 0.1, invert=lambda whole, older: whole - older)
    assert laws.associative(total, [0.1, 0.2, 0.3, 1e6]) is None
    assert laws.inverse(total, [0.1, 0.2, 0.3, 1e6]) is None
    found = laws.inverse(total, column="f8")
    assert found is not None and any(not math.isfinite(value) for _, history in found.operands for value in history)


def test_whole_numbers_beside_large_floats_must_be_equal() -> None:
    wrong = Aggregate(
        "wrong",
        state=("i8", "f8"),
        identity=(0, 0.0),
        lift=lambda x: (1, 1e12),
        combine=lambda a, b: (a[0] + b[0] + (1 if a[0] > 1 else 0), a[1] + b[1]),
        lower=lambda p: p[1],
    )
    assert laws.associative(wrong) is not None


def test_check_reports_each_claim_that_is_broken() -> None:
    broken = of(combine=lambda a, b: a, identity=3, commutative=True, selective=True)
    assert [each.law for each in laws.check(broken)] == ["neutral", "commutative"]


def test_a_bound_monoid_can_be_checked_for_its_own_columns() -> None:
    monoid = bind({"mean": sash.mean(), "high": sash.max()}, (Column(Field("f8"), nullable=True),))
    assert laws.check(monoid) == ()
    assert laws.commutative(bind(sash.last(), (Column(Field("O")),))) is not None


def test_strings_and_pairs_are_examples_too() -> None:
    assert laws.check(sash.max(), ["b", "a", "", None]) == ()
    assert laws.check(sash.argmax(), [(1, "x"), (1, "y"), (2, None)]) == ()


def test_refuses_what_cannot_be_checked() -> None:
    with pytest.raises(InvalidAggregate, match="invert"):
        laws.inverse(sash.max())
    with pytest.raises(InvalidAggregate, match="Expected an aggregate"):
        laws.check(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at least one example"):
        laws.check(sash.max(), [])
