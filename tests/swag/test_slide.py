"""`slide` and `fold`: every kind of input, every algorithm, against a plain loop."""

import math
import statistics
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.algebra.aggregate import Template
from sash.algebra.compiler import JIT_DISABLED
from sash.errors import InvalidAggregate, InvalidInput, NumberOverflow, UnknownName, UnsupportedAggregate
from sash.swag import loops
from sash.swag.catalog import ALGORITHMS
from sash.swag.contract import Algorithm
from sash.swag.facts import Needs
from tests.swag.monoids import TEMPLATES

GENERAL = [each for each in ALGORITHMS.values() if not each.facts.needs.is_of_few]
ORDERED = ["turns", "latest"]


def expected(values: list[int], size: int, name: str) -> list[Any]:
    template = TEMPLATES[name]
    assert isinstance(template, sash.Aggregate) and template.lower is not None
    results = []
    for end in range(1, len(values) + 1):
        partial = template.identity
        for value in values[max(0, end - size) : end]:
            partial = template.combine(partial, template.lift(value))
        results.append(template.lower(partial))
    return results


def pairs() -> list[Any]:
    return [
        pytest.param(algorithm, name, id=f"{algorithm.name}-{name}")
        for algorithm in GENERAL
        for name in ORDERED
        if algorithm.admits(TEMPLATES[name].invertible, TEMPLATES[name].selective)
    ]


@pytest.mark.compiled
@pytest.mark.parametrize(("algorithm", "name"), pairs())
def test_every_algorithm_slides_ordered_functions_compiled(algorithm: Algorithm, name: str) -> None:
    random = np.random.default_rng(7)
    for rows, size in [(1, 1), (1, 5), (40, 1), (64, 8), (257, 16), (257, 17), (200, 300), (1500, 100)]:
        values = random.integers(-9, 10, rows)
        result = sash.swag.slide(values, size, TEMPLATES[name], algorithm=algorithm.name)
        assert result.tolist() == expected(values.tolist(), size, name), (rows, size)


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        pytest.param(algorithm, name, id=f"{algorithm.name}-{name}")
        for algorithm in ALGORITHMS.values()
        for name, template in TEMPLATES.items()
        if not algorithm.admits(template.invertible, template.selective)
        and not ALGORITHMS.get(f"{algorithm.name}_inv", algorithm).admits(template.invertible, template.selective)
    ],
)
def test_every_algorithm_refuses_what_it_cannot_slide_and_says_which_could(algorithm: Algorithm, name: str) -> None:
    with pytest.raises(UnsupportedAggregate, match=f"{algorithm.name} cannot slide '{name}'.*Use .*two_stacks_lite"):
        sash.swag.slide([1, 2], 2, TEMPLATES[name], algorithm=algorithm.name)


@pytest.mark.parametrize("algorithm", [each for each in GENERAL if each.facts.ranges], ids=lambda each: each.name)
def test_many_sizes_in_one_pass_equal_a_pass_each(algorithm: Algorithm) -> None:
    values = np.random.default_rng(3).integers(-9, 10, 120)
    for name in ORDERED:
        if algorithm.admits(TEMPLATES[name].invertible, TEMPLATES[name].selective):
            sizes = [3, 50, 1, 5, 50, 200]
            together = sash.swag.slide(values, sizes, TEMPLATES[name], algorithm=algorithm.name)
            assert together.shape == (6, 120)
            assert together.tolist() == [expected(values.tolist(), size, name) for size in sizes]


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 24, 64])
def test_many_sizes_of_few_rows_have_room(rows: int) -> None:
    values = [None if each % 5 == 2 else each * 7 % 11 for each in range(rows)]
    sizes = [4, 1, 30]
    together = sash.swag.slide(values, sizes, sash.max(), algorithm="slick_deque")
    for size, found in zip(sizes, together, strict=True):
        newest = [[x for x in values[max(0, end - size) : end] if x is not None] for end in range(1, rows + 1)]
        assert list(found) == [max(each, default=None) for each in newest]


def test_results_of_many_sizes_are_spread_over_the_cache() -> None:
    places = loops.places_of([1 << 13] * 1024)
    lines = np.diff(places) // loops.LINE
    assert (np.diff(places) >= 1 << 13).all() and (lines % 2 == 1).all()
    assert len(set((places[:64] // loops.LINE % 64).tolist())) == 64  # sets of a cache with 64 of them


@settings(max_examples=60)
@given(
    values=st.lists(st.integers(-9, 9), max_size=60),
    size=st.integers(1, 25),
    every=st.integers(1, 12),
    algorithm=st.sampled_from(["auto", "sba", "daba_lite", "pba"]),
)
def test_a_slide_that_does_not_divide_the_size(values: list[int], size: int, every: int, algorithm: str) -> None:
    result = sash.swag.slide(values, size, TEMPLATES["turns"], every=every, algorithm=algorithm)
    assert result == expected(values, size, "turns")[every - 1 :: every]


@pytest.mark.compiled
@settings(max_examples=60)
@given(
    cuts=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=12),
    algorithm=st.sampled_from(["auto", "two_stacks_lite", "daba_lite", "flat_fat"]),
)
def test_fold_answers_any_monotone_ranges(cuts: list[tuple[int, int]], algorithm: str) -> None:
    starts = sorted(min(pair) for pair in cuts)
    ends = sorted(max(pair) for pair in cuts)
    values = list(range(-20, 20))
    result = sash.swag.fold(values, starts, ends, TEMPLATES["turns"], algorithm=algorithm)
    assert result == [
        expected(values[start:end], 99, "turns")[-1] if start < end else None
        for start, end in zip(starts, ends, strict=True)
    ]


@pytest.mark.only_compiled
def test_pieces_on_several_threads_equal_one_piece() -> None:
    values = np.random.default_rng(1).normal(size=100_000)
    for algorithm in ("sba", "daba_lite", "two_stacks_lite"):
        one = sash.swag.slide(values, 37, sash.max(), algorithm=algorithm, threads=1)
        for threads in (2, 3, 7):
            many = sash.swag.slide(values, 37, sash.max(), algorithm=algorithm, threads=threads)
            assert np.array_equal(one, many), (algorithm, threads)


# --- kinds of input --------------------------------------------------------------------------------


def test_numpy_in_numpy_out() -> None:
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "?"):
        values = np.array([0, 1, 1, 0], dtype)
        result = sash.swag.slide(values, 2, sash.max())
        assert result.dtype == values.dtype
        assert result.tolist() == np.maximum(values, np.array([0, 0, 1, 1], dtype)).tolist()


def test_strided_and_foreign_byte_order_arrays_are_read_right() -> None:
    values = np.arange(12, dtype=">i4")[::3]
    assert sash.swag.slide(values, 2, sash.sum()).tolist() == [0, 3, 9, 15]


def test_arrow_in_arrow_out_with_nulls() -> None:
    result = sash.swag.slide(pa.chunked_array([[1, None], [None, 4]]), 2, sash.sum())
    assert result.equals(pa.array([1, 1, None, 4]))
    assert sash.swag.slide(pa.array([1.5, None]), 1, sash.count("x")).to_pylist() == [1, 0]
    assert sash.swag.slide(pa.array(["b", "a", None]), 2, sash.min()).equals(pa.array(["b", "a", "a"]))


def test_times_keep_their_type_and_are_not_added_up() -> None:
    days = np.array(["2024-01-02", "NaT", "2024-01-01"], "M8[D]").astype("M8[us]")
    assert sash.swag.slide(days, 2, sash.max()).tolist() == days[[0, 0, 2]].tolist()
    stamps = pa.array([2, 1, None], pa.timestamp("us", "UTC"))
    assert sash.swag.slide(stamps, 2, sash.first()).equals(pa.array([2, 2, 1], pa.timestamp("us", "UTC")))
    dates = pa.array([3, 1, 2], pa.date32())
    assert sash.swag.slide(dates, 2, sash.max()).equals(pa.array([3, 3, 2], pa.date32()))
    with pytest.raises(UnsupportedAggregate, match="'sum' does not accept values of type time"):
        sash.swag.slide(days, 2, sash.sum())


def test_masked_arrays_are_nulls() -> None:
    values = np.ma.MaskedArray([1, 2, 3], mask=[False, True, False])
    result = sash.swag.slide(values, 1, sash.sum())
    assert isinstance(result, np.ma.MaskedArray) and result.tolist() == [1, None, 3]


def test_pandas_and_polars_columns_come_in_as_arrow() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for series in (pandas.Series([1.0, 2.0, 3.0]), polars.Series([1.0, 2.0, 3.0])):
        assert sash.swag.slide(series, 2, sash.mean()).to_pylist() == [1.0, 1.5, 2.5]


def test_several_columns_and_several_aggregates() -> None:
    result = sash.swag.slide(
        ([3, 1, 3], ["ann", "bob", None]), 2, {"who": sash.argmax(), "top": sash.max(), "rows": sash.count()}
    )
    assert result == {"who": ["ann", "ann", None], "top": [3, 3, 3], "rows": [1, 2, 2]}


def test_no_rows_give_no_results() -> None:
    assert sash.swag.slide([], 3, sash.sum()) == []
    assert sash.swag.slide(np.zeros(0), [1, 2], sash.max()).shape == (2, 0)
    assert sash.swag.slide([], 3, sash.median(), every=2) == []
    assert sash.swag.fold([], [], [], sash.max()) == []


def test_min_samples_counts_values_that_are_not_null() -> None:
    assert sash.swag.slide([1, 2, 3], 2, sash.sum(), min_samples=2) == [None, 3, 5]
    assert sash.swag.slide([1, None, 3, 4], 2, sash.sum(), min_samples=2) == [None, None, None, 7]
    assert math.isnan(sash.swag.slide(np.array([1.0, 2.0]), 2, sash.max(), min_samples=2)[0])


# --- numbers ---------------------------------------------------------------------------------------


def test_nan_is_the_largest_number_and_leaves_with_its_row() -> None:
    values = [1.0, math.nan, 2.0, -math.inf, math.inf, 3.0]
    for algorithm in ("auto", "daba_lite", "sba", "slick_deque"):
        biggest = sash.swag.slide(values, 2, sash.max(), algorithm=algorithm)
        smallest = sash.swag.slide(values, 2, sash.min(), algorithm=algorithm)
        assert str(biggest) == "[1.0, nan, nan, 2.0, inf, inf]"
        assert str(smallest) == "[1.0, 1.0, 2.0, -inf, -inf, 3.0]"
    for algorithm in ("auto", "subtract_on_evict", "slick_deque", "slide_side", "slide_side_inv"):
        total = sash.swag.slide(values, 2, sash.sum(), algorithm=algorithm)
        assert str(total) == "[1.0, nan, nan, -inf, nan, inf]", algorithm


@pytest.mark.compiled
@pytest.mark.parametrize("algorithm", ["auto", "subtract_on_evict", "slick_deque_inv", "slide_side_inv"])
def test_an_outlier_that_has_left_leaves_no_trace(algorithm: str) -> None:
    random = np.random.default_rng(2)
    values = random.normal(size=5000)
    values[[10, 700, 1900]] = 1e16, -1e20, 1e20
    for aggregate in (sash.sum(), sash.mean()):
        result = sash.swag.slide(values, 100, aggregate, algorithm=algorithm)
        for row in (120, 850, 2005, 4999):
            window = values[row - 99 : row + 1]
            truth = math.fsum(window) / (1 if aggregate.name == "sum" else 100)
            assert result[row] == pytest.approx(truth, rel=1e-11, abs=1e-11)


def test_integer_sums_are_exact_to_the_last_bit_and_refuse_what_does_not_fit() -> None:
    top = 2**63 - 1
    for algorithm in ("auto", "subtract_on_evict", "daba_lite"):
        assert sash.swag.slide([top, -5, 5, -top], 2, sash.sum(), algorithm=algorithm) == [top, top - 5, 0, 5 - top]
        with pytest.raises(NumberOverflow, match=r"'sum' overflows 64-bit integers at result 2"):
            sash.swag.slide([0, top, 1], 2, sash.sum(), algorithm=algorithm)
    assert sash.swag.slide(np.array([200, 100], "u1"), 2, sash.sum()).tolist() == [200, 300]
    with pytest.raises(NumberOverflow, match="'product'"):
        sash.swag.slide([2**62, 3], 2, sash.product())


@pytest.mark.parametrize("largest", [1000, 2**60 - 1, 2**60, 2**60 + 1])
def test_sums_of_small_integers_are_those_of_large_ones(largest: int) -> None:
    """Eight times 2⁶⁰ is the first sum that does not fit, so both ways of adding are taken."""
    values = [largest, -largest, 3, -1, largest, 7, -largest, -2, 5, largest, 1, -largest] * 2
    windows = [values[max(0, k - 7) : k + 1] for k in range(len(values))]
    given = np.array(values, np.int64)
    nulls = pa.array([None if k % 5 == 0 else each for k, each in enumerate(values)], pa.int64())
    for algorithm in ("auto", "two_stacks_lite"):
        assert sash.swag.slide(given, 8, sash.sum(), algorithm=algorithm).tolist() == [sum(each) for each in windows]
        means = sash.swag.slide(given, 8, sash.mean(), algorithm=algorithm).tolist()
        assert means == [float(sum(each)) / len(each) for each in windows]
        some = sash.swag.slide(nulls, 1, sash.sum(), algorithm=algorithm).to_pylist()
        assert some == nulls.to_pylist()
    with pytest.raises(NumberOverflow):
        sash.swag.slide(np.full(9, 2**60), 8, sash.sum())
    assert sash.swag.slide(np.full(9, -(2**60)), 8, sash.sum())[-1] == -(2**63)


@pytest.mark.parametrize("outlier", [1e16, -1e20, 1e150, math.inf, math.nan])
@pytest.mark.parametrize("centre", [0.0, 1e6])
def test_a_variance_forgets_an_outlier_that_has_left(outlier: float, centre: float) -> None:
    values = np.random.default_rng(3).normal(size=400) + centre
    values[[0, 1, 170, 172]] = outlier
    has_left = [row for row in range(20, 400) if not (values[row - 19 : row + 1] == outlier).any()]
    has_left = [row for row in has_left if np.isfinite(values[row - 19 : row + 1]).all()]
    assert len(has_left) == 400 - 20 - 1 - 22
    for aggregate in (sash.variance(), sash.stddev()):
        truth = [statistics.variance(values[row - 19 : row + 1].tolist()) for row in has_left]
        if aggregate.name == "stddev":
            truth = [math.sqrt(each) for each in truth]
        for algorithm in ("auto", "two_stacks_lite", "daba_lite", "recalculate"):
            result = sash.swag.slide(values, 20, aggregate, algorithm=algorithm)
            assert np.allclose(result[has_left], truth, rtol=1e-7, atol=0), algorithm


@pytest.mark.parametrize("algorithm", [each for each in GENERAL if each.facts.needs is Needs.INVERT])
@pytest.mark.parametrize("aggregate", [sash.variance(), sash.stddev()], ids=lambda each: each.name)
def test_a_variance_is_never_subtracted(algorithm: Algorithm, aggregate: Template) -> None:
    refused = rf"{algorithm.name} cannot slide '{aggregate.name}'.* Use two_stacks_lite or daba_lite\."
    with pytest.raises(UnsupportedAggregate, match=refused):
        sash.swag.slide([1.0, 2.0], 2, aggregate, algorithm=algorithm.name)
    with pytest.raises(UnsupportedAggregate, match=refused):
        sash.swag.open(algorithm.name, aggregate)


def test_a_variance_with_a_large_mean_is_stable() -> None:
    noise = np.random.default_rng(4).normal(size=3000)
    for algorithm in ("auto", "daba_lite", "two_stacks_lite"):
        result = sash.swag.slide(noise + 1e9, 200, sash.stddev(), algorithm=algorithm)
        truth = np.array([np.std(noise[row - 199 : row + 1], ddof=1) for row in range(199, 3000)])
        assert np.allclose(result[199:], truth, rtol=1e-7), algorithm


# --- choosing and refusing -------------------------------------------------------------------------


def test_auto_says_what_it_takes_and_why() -> None:
    cases: list[tuple[Any, Any, str]] = [
        (sash.max(), 8, "sba"),
        (sash.max(), 1000, "sba"),
        (sash.median(), 1000, "ranked"),
        (sash.max(), list(range(1, 200)), "sba"),
        (sash.collect(), 10, "two_stacks_lite"),
        (sash.sum(), None, "daba_lite"),
    ]
    for aggregate, size, name in cases:
        text = str(sash.swag.explain(aggregate, size))
        assert f": {name}\nbecause " in text


def test_slick_deque_and_slide_side_go_by_the_aggregate() -> None:
    assert ": slick_deque_inv\n" in str(sash.swag.explain(sash.sum(), 5, algorithm="slick_deque"))
    assert ": slick_deque\n" in str(sash.swag.explain(sash.max(), 5, algorithm="slick_deque"))


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (
            lambda: sash.swag.slide([1], 0, sash.sum()),
            InvalidInput,
            "size must be a whole number of at least 1, but is 0",
        ),
        (lambda: sash.swag.slide([1], cast("Any", 2.5), sash.sum()), InvalidInput, r"size .* 2\.5"),
        (lambda: sash.swag.slide([1], True, sash.sum()), InvalidInput, "size"),
        (lambda: sash.swag.slide([1], [], sash.sum()), InvalidInput, "at least one size"),
        (lambda: sash.swag.slide([1], 1, sash.sum(), every=0), InvalidInput, "every"),
        (lambda: sash.swag.slide([1], 1, sash.sum(), min_samples=-1), InvalidInput, "min_samples"),
        (lambda: sash.swag.slide([1], 1, sash.sum(), threads=0), InvalidInput, "threads"),
        (lambda: sash.swag.slide([1], 1, sash.sum(), algorithm="daba_light"), UnknownName, "Did you mean 'daba_lite'"),
        (lambda: sash.swag.slide([1], 1, cast("Any", max)), InvalidAggregate, "sash.max"),
        (lambda: sash.swag.slide([1], 1, {}), InvalidAggregate, "Expected an aggregate"),
        (
            lambda: sash.swag.slide([1], 1, sash.max(), algorithm="subtract_on_evict"),
            UnsupportedAggregate,
            "Use two_stacks_lite or daba_lite or slick_deque",
        ),
        (lambda: sash.swag.slide([1], 1, sash.sum(), algorithm="ranked"), UnsupportedAggregate, "median or a quantile"),
        (
            lambda: sash.swag.slide(["a"], 1, sash.sum()),
            UnsupportedAggregate,
            "'sum' does not accept values of type object",
        ),
        (lambda: sash.swag.slide([1, "a"], 1, sash.max()), InvalidInput, "int and str are mixed"),
        (lambda: sash.swag.slide([[1], [2, 3]], 1, sash.max()), InvalidInput, "itself a collection"),
        (lambda: sash.swag.slide(np.zeros((2, 2)), 1, sash.max()), InvalidInput, "one-dimensional"),
        (lambda: sash.swag.slide(np.array([1, "a", None], object), 1, sash.max()), InvalidInput, "mixed"),
        (lambda: sash.swag.slide(np.zeros(2, complex), 1, sash.max()), InvalidInput, "complex128"),
        (lambda: sash.swag.slide("abc", 1, sash.max()), InvalidInput, "a list"),
        (lambda: sash.swag.slide([2**70], 1, sash.max()), InvalidInput, "does not fit 64 bits"),
        (lambda: sash.swag.slide(([1, 2], [1]), 1, sash.argmax()), InvalidInput, "same length"),
        (lambda: sash.swag.slide([1, 2], 1, sash.argmax()), InvalidInput, "needs 2 column"),
        (lambda: sash.swag.fold([1, 2], [1, 0], [1, 2], sash.max()), InvalidInput, "goes back"),
        (lambda: sash.swag.fold([1, 2], [1], [0], sash.max()), InvalidInput, "after its end"),
        (lambda: sash.swag.fold([1, 2], [0], [3], sash.max()), InvalidInput, "within the 2 rows"),
        (lambda: sash.swag.fold([1, 2], [0.5], [1.0], sash.max()), InvalidInput, "whole numbers"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(wrong: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        wrong()


def test_a_user_function_that_fails_is_named_with_the_value() -> None:
    inverse = sash.Aggregate(
        "inverse", state=("f8",), identity=(0.0,), lift=lambda x: (1 / x,), combine=lambda a, b: (a[0] + b[0],)
    )
    with pytest.raises(InvalidAggregate, match=r"'inverse': lift raised ZeroDivisionError.*0\.0"):
        sash.swag.slide([1.0, 0.0], 2, inverse)


# --- found by reading and by trying ----------------------------------------------------------------


FACTOR = 2.0


def scaled(x: float) -> tuple[float]:
    return (x * FACTOR,)


def test_a_changed_global_is_a_changed_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def aggregate() -> sash.Aggregate:
        return sash.Aggregate(
            "scaled", state=("f8",), identity=(0.0,), lift=scaled, combine=lambda a, b: (a[0] + b[0],)
        )

    assert sash.swag.slide([1.0, 2.0], 2, aggregate()) == [2.0, 6.0]
    monkeypatch.setattr("tests.swag.test_slide.FACTOR", 3.0)
    assert sash.swag.slide([1.0, 2.0], 2, aggregate()) == [3.0, 9.0]
    monkeypatch.undo()
    assert sash.swag.slide([1.0, 2.0], 2, aggregate()) == [2.0, 6.0]


def test_nulls_of_masks_and_of_values_add_up() -> None:
    days = np.array(["2020-01-01", "NaT", "2020-01-03"], "M8[D]")
    masked = np.ma.MaskedArray(days, [False, False, True])
    assert sash.swag.slide(masked, 2, sash.min()).astype(str).tolist() == ["2020-01-01", "2020-01-01", "NaT"]
    several = sash.swag.slide(np.ma.MaskedArray([1, 99, 3], [False, True, False]), [3, 1], sash.sum())
    assert several.tolist() == [[1, 1, 4], [1, None, 3]]
    swapped = np.array([256, 1]).astype("M8[D]").astype(">M8[D]")
    assert sash.swag.slide(swapped, 2, sash.max()).astype("i8").tolist() == [256, 256]


def test_means_of_many_negative_integers_do_not_cancel() -> None:
    rows = 70_000
    assert sash.swag.slide(np.full(rows, -1), rows, sash.mean())[-1] == -1.0
    spread = sash.swag.slide(np.tile([-1, -3], rows // 2), rows, sash.stddev(population=True))
    assert spread[-1] == pytest.approx(1.0, rel=1e-12)


def test_each_aggregate_of_several_goes_by_its_own_columns() -> None:
    columns = ([3, 4, 1], [7, None, None])
    result = sash.swag.slide(columns, 2, {"sum": sash.sum(), "who": sash.argmax()}, min_samples=2)
    assert result == {"sum": [None, 7, 5], "who": [None, None, None]}


def test_a_quantile_between_infinities_and_extremes() -> None:
    assert sash.swag.slide([-math.inf, 1.0], 2, sash.median())[1] == -math.inf
    assert sash.swag.slide([-1.7e308, 1.7e308], 2, sash.median())[1] == 0.0


NUMBERS: dict[str, Any] = {
    "a list": [3, 1, 2, 5],
    "a list with nulls": [3, None, 2, None],
    "floats": [1.5, math.nan, -0.0, 2.5],
    "an array": np.array([3, 1, 2, 5]),
    "an array of floats": np.array([1.5, 2.5, 0.5, 2.5]),
    "a masked array": np.ma.MaskedArray([3, 1, 2, 5], [False, True, False, False]),
    "Arrow with nulls": pa.array([3.5, None, 2.5, None]),
}
TEXTS: dict[str, Any] = {
    "strings": ["b", "a", "c", "a"],
    "strings with nulls": ["b", None, "c", None],
    "Arrow strings": pa.array(["b", "a", None, "a"]),
    "objects in NumPy": np.array(["b", "a", "c", "a"], object),
}
# Kernels are compiled for each set of aggregates and types; those in the second set are never compiled.
OF_NUMBERS: list[dict[str, Any]] = [
    {"n": sash.count(), "count": sash.count("x"), "max": sash.max(), "first": sash.first(), "sum": sash.sum()}
    | {"stddev": sash.stddev()},
    {"median": sash.median(), "q": sash.quantile(q=0.3), "distinct": sash.count_distinct()}
    | {"collect": sash.collect(), "set": sash.collect_distinct()},
]
OF_TEXTS: list[dict[str, Any]] = [
    {"n": sash.count(), "count": sash.count("x"), "max": sash.max(), "first": sash.first(), "last": sash.last()}
    | {"often": sash.max_count(), "distinct": sash.count_distinct(), "text": sash.string_agg()}
    | {"collect": sash.collect(), "set": sash.collect_distinct()}
]
NOTHING: dict[str, Any] = {"n": 0, "count": 0, "distinct": 0, "collect": [], "set": []}


def as_list(result: Any) -> list[Any]:
    """Results of any kind, null as None; among NumPy's floats, null is NaN."""
    if isinstance(result, np.ndarray):
        return [None if isinstance(each, float) and math.isnan(each) else each for each in result.tolist()]
    return list(result.to_pylist() if isinstance(result, pa.Array) else result)


@pytest.mark.parametrize("algorithm", [pytest.param("auto", marks=pytest.mark.compiled), "foa"])
@pytest.mark.parametrize(
    ("values", "sets"),
    [
        *(pytest.param(each, OF_NUMBERS, id=name) for name, each in NUMBERS.items()),
        *(pytest.param(each, OF_TEXTS, id=name) for name, each in TEXTS.items()),
    ],
)
def test_an_empty_range_is_null_and_changes_no_other(values: Any, sets: list[dict[str, Any]], algorithm: str) -> None:
    """Ranges [0, 2) [1, 3) and [3, 4), with empty ones between them and at both ends."""
    starts, ends = [0, 0, 1, 3, 3, 4, 4], [0, 2, 3, 3, 4, 4, 4]
    for aggregates in sets:
        found = sash.swag.fold(values, starts, ends, aggregates, algorithm=algorithm)
        others = sash.swag.fold(values, [0, 1, 3], [2, 3, 4], aggregates, algorithm=algorithm)
        for name in aggregates:
            first, second, third = as_list(others[name])
            nothing = NOTHING.get(name)
            wanted = [nothing, first, second, nothing, third, nothing, nothing]
            assert str(as_list(found[name])) == str(wanted), name  # NaN is written as NaN


def test_only_empty_ranges_give_nothing() -> None:
    assert sash.swag.fold(["a", None], [0, 1, 2], [0, 1, 2], sash.first()) == [None, None, None]
    assert sash.swag.fold([1.5], [1], [1], {"n": sash.count(), "m": sash.median()}) == {"n": [0], "m": [None]}
    assert sash.swag.fold([], [0, 0], [0, 0], sash.max()) == [None, None]
    days = np.array(["2024-01-02", "2024-01-01"], "M8[D]")
    assert str(sash.swag.fold(days, [0, 2], [2, 2], sash.max()).tolist()) == "[datetime.date(2024, 1, 2), None]"


def test_ranges_with_too_few_samples_are_null_empty_or_not() -> None:
    found = sash.swag.fold([3, 1, None], [0, 1, 3], [2, 3, 3], {"n": sash.count("x"), "s": sash.sum()}, min_samples=2)
    assert found == {"n": [2, None, None], "s": [4, None, None]}


@pytest.mark.parametrize("kind", [list, np.array, pa.array])
def test_min_samples_holds_for_lists_and_texts_of_every_kind_of_input(kind: Any) -> None:
    lists = sash.swag.slide(kind([1, 2, 3]), 2, sash.collect(), min_samples=2)
    assert as_list(lists) == [None, [1, 2], [2, 3]]
    texts = sash.swag.slide(kind(["a", "b", "c"]), 2, {"s": sash.string_agg(), "m": sash.max()}, min_samples=2)
    assert (as_list(texts["s"]), as_list(texts["m"])) == ([None, "a,b", "b,c"], [None, "b", "c"])
    assert as_list(sash.swag.slide(kind([1, 2]), 1, sash.collect())) == [[1], [2]]
    assert as_list(sash.swag.slide(kind([1, 2, 2]), 2, sash.count_distinct(), min_samples=2)) == [None, 2, 1]


def test_an_empty_range_asks_nothing_of_an_aggregate() -> None:
    average = sash.Aggregate(
        "average",
        state=("i8", "f8"),
        identity=(0, 0.0),
        lift=lambda x: (1, x),
        combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
        lower=lambda p: p[1] / p[0],
    )
    assert sash.swag.fold([1.0, 3.0], [0, 1, 2], [2, 1 + 1, 2], average) == [2.0, 3.0, None]


def add(a: Any, b: Any) -> Any:
    return (a[0] + b[0],)


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        (
            lambda: sash.swag.fold([1, 2], [0], [1], sash.max(), algorithm="pba"),
            InvalidInput,
            "pba slides windows of one",
        ),
        (lambda: sash.swag.slide(pa.array([[1]]), 1, sash.max()), InvalidInput, "numbers, booleans"),
        (lambda: sash.swag.slide([1 + 2j, 2j], 2, sash.max()), InvalidInput, "cannot be combined"),
        (lambda: sash.swag.slide([1], 1, {1: sash.max()}), InvalidInput, "must be strings"),  # type: ignore[dict-item]
        (lambda: sash.swag.slide([1], 1, sash.max(), algorithm=cast("Any", ["sba"])), UnknownName, "no algorithm"),
        (lambda: sash.swag.explain(sash.max(), cast("Any", 1.5)), InvalidInput, "size"),
        (lambda: sash.swag.explain(sash.max(), 2, dtype="foo"), InvalidInput, "dtype"),
        (lambda: sash.swag.explain(sash.max(), algorithm="pba"), InvalidInput, "one size over a whole array"),
        (lambda: sash.swag.slide(np.arange(3).astype("M8[D]"), 2, sash.collect()), UnsupportedAggregate, "time"),
        (
            lambda: sash.Aggregate("x", state=cast("Any", 3), identity=0, lift=lambda x: (x,), combine=add),
            InvalidAggregate,
            "state must be",
        ),
        (
            lambda: sash.Aggregate("x", state="f8", identity=None, lift=lambda x: x, combine=add),
            InvalidAggregate,
            "identity must be a number for field f8",
        ),
    ],
)
def test_odd_input_is_refused_in_one_sentence(wrong: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        wrong()


@pytest.mark.compiled
@pytest.mark.skipif(JIT_DISABLED, reason="only the compiler knows types beforehand")
def test_what_would_cut_off_a_number_is_refused() -> None:
    cut = sash.Aggregate("cut", state=("i8",), identity=(0,), lift=lambda x: (x * 0.5,), combine=add)
    with pytest.raises(InvalidAggregate, match="lift returns f8, but i8 is declared"):
        sash.swag.slide([1.0], 1, cut)
    nested = sash.Aggregate("nested", state="f8", identity=0.0, lift=lambda x: x, combine=lambda a, b: (a, b))
    with pytest.raises(InvalidAggregate, match="combine must return 1 value"):
        sash.swag.slide([1.0], 1, nested)


def test_odd_sizes_and_steps_are_taken_for_what_they_mean() -> None:
    assert sash.swag.slide([1, 2, 3], cast("Any", np.array(2)), sash.sum()) == [1, 3, 5]
    assert sash.swag.slide([1, 2, 3], 10**30, sash.sum(), min_samples=2) == [None, 3, 6]
    assert sash.swag.slide([1, 2, 3], 2, sash.median(), every=10**30) == []
    assert sash.swag.slide([1, 2], [10**12, 1], sash.sum(), algorithm="flat_fat") == [[1, 3], [1, 2]]
    assert sash.swag.slide(pa.nulls(2), 2, sash.max()).to_pylist() == [None, None]
    assert "max of object" in str(sash.swag.explain(sash.max(), 3, dtype=str))
