"""Arrow decimals are added up exactly, whatever the decimal context, and results have the types of Spark's."""

import decimal
import random
import statistics
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash import laws
from sash.errors import InvalidInput, NumberOverflow, UnsupportedAggregate

BY_HAND = decimal.Context(prec=200, rounding=decimal.ROUND_HALF_UP)
MONEY = pa.decimal128(10, 2)
LONG = pa.decimal128(38, 4)
D = Decimal


def total(values: list[Any]) -> Any:
    result = D(0)
    for value in values:
        result = BY_HAND.add(result, value)
    return result


def mean(values: list[Any], scale: int) -> Any:
    return BY_HAND.quantize(BY_HAND.divide(total(values), D(len(values))), D(1).scaleb(-scale))


def random_decimals(rows: int, digits: int, scale: int, nulls: float = 0.0) -> list[Any]:
    rng = random.Random(digits)
    return [
        None if rng.random() < nulls else D(f"{rng.randrange(-(10**digits) + 1, 10**digits)}E{-scale}")
        for _ in range(rows)
    ]


def windows(values: list[Any], size: int) -> list[list[Any]]:
    """The values of each window that are not null."""
    return [[each for each in values[max(0, k - size + 1) : k + 1] if each is not None] for k in range(len(values))]


def of_window(values: list[Any], kind: Any, **aggregates: Any) -> Any:
    """One tumbling window over all values, as a row of its results, with their types."""
    rows = pa.table({"t": list(range(len(values))), "x": pa.array(values, kind)})
    table = sash.aggregate(rows, sash.query("q", sash.tumbling(1000), **aggregates), on="t")
    assert table.num_rows == 1
    return {name: (table.schema.field(name).type, table.column(name)[0].as_py()) for name in aggregates}


@pytest.mark.parametrize("template", [sash.sum, sash.mean, sash.variance, sash.range], ids=lambda each: each.__name__)
def test_decimals_keep_the_laws(template: Any) -> None:
    assert laws.check(template(), column="decimal") == ()


@pytest.mark.parametrize("algorithm", ["auto", "two_stacks_lite", "daba_lite", "subtract_on_evict", "recalculate"])
@pytest.mark.parametrize("nulls", [0.0, 0.4])
def test_sums_and_means_are_exact_by_every_way_to_slide(algorithm: str, nulls: float) -> None:
    values = random_decimals(60, 9, 2, nulls)
    both = {"sum": sash.sum(), "mean": sash.mean()}
    with decimal.localcontext(prec=3):
        found = sash.swag.slide(pa.array(values, MONEY), 5, both, algorithm=algorithm)
    expected = windows(values, 5)
    assert found["sum"].to_pylist() == [total(each) if each else None for each in expected]
    assert found["mean"].to_pylist() == [mean(each, 6) if each else None for each in expected]


def test_sums_of_38_digits_are_exact_in_a_context_of_3() -> None:
    values = [*random_decimals(40, 36, 4), D("0.0001")]
    with decimal.localcontext(prec=3):
        found = of_window(values, LONG, s=sash.sum("x"), low=sash.min("x"))
    assert found == {"s": (LONG, total(values)), "low": (LONG, min(values))}


def test_what_cancels_leaves_nothing_behind() -> None:
    big = D("9" * 33 + ".9999")
    found = sash.swag.slide(
        pa.array([big, D("0.0001"), big.copy_negate(), big, big.copy_negate()], LONG), 3, sash.sum()
    )
    assert found[2].as_py() == D("0.0001")


@pytest.mark.parametrize(
    ("kind", "of_sum", "of_mean", "of_range"),
    [
        (MONEY, pa.decimal128(20, 2), pa.decimal128(14, 6), pa.decimal128(11, 2)),
        (pa.decimal128(30, 0), pa.decimal128(38, 0), pa.decimal128(34, 4), pa.decimal128(31, 0)),
        (pa.decimal128(38, 36), pa.decimal128(38, 36), pa.decimal128(38, 38), pa.decimal128(38, 36)),
        (pa.decimal128(5, -2), pa.decimal128(15, -2), pa.decimal128(9, 2), pa.decimal128(6, -2)),
        (pa.decimal256(50, 3), pa.decimal256(60, 3), pa.decimal256(54, 7), pa.decimal256(51, 3)),
        (pa.decimal256(10, 2), pa.decimal128(20, 2), pa.decimal128(14, 6), pa.decimal128(11, 2)),
    ],
    ids=str,
)
def test_results_have_the_types_of_spark(kind: Any, of_sum: Any, of_mean: Any, of_range: Any) -> None:
    values = [D(f"{units}E{-kind.scale}") for units in (12, -7, 6)]
    asked = {"s": sash.sum("x"), "m": sash.mean("x"), "r": sash.range("x"), "x": sash.max("x")}
    found = of_window(values, kind, **asked)
    assert found["s"] == (of_sum, total(values))
    assert found["m"] == (of_mean, mean(values, of_mean.scale))
    assert found["r"] == (of_range, values[0] - values[1])
    assert found["x"] == (kind, values[0])


@pytest.mark.parametrize(
    ("values", "expected"), [(["0.00", "0.01", *["0.00"] * 14], "0.000625"), (["0.01", *["0.00"] * 31], "0.000313")]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_mean_is_rounded_half_up_away_from_zero(values: list[str], expected: str, sign: int) -> None:
    found = of_window([sign * D(each) for each in values], MONEY, m=sash.mean("x"))
    assert found["m"][1] == sign * D(expected)  # 0.01 / 32 = 0.0003125


def test_a_window_of_nulls_has_no_sum() -> None:
    asked = {
        "s": sash.sum("x"),
        "m": sash.mean("x"),
        "r": sash.range("x"),
        "sd": sash.stddev("x"),
        "n": sash.count("x"),
    }
    found = of_window([None, None], MONEY, **asked)
    assert {name: value for name, (_, value) in found.items()} == {"s": None, "m": None, "r": None, "sd": None, "n": 0}
    assert found["s"][0] == pa.decimal128(20, 2)


@pytest.mark.parametrize("template", [sash.sum, sash.mean, sash.range], ids=lambda each: each.__name__)
def test_a_result_that_does_not_fit_is_refused(template: Any) -> None:
    most = D("9" * 34 + ".9999")
    values = [most, most.copy_negate(), most, most]
    with pytest.raises(NumberOverflow, match=r"'q.r' overflows decimal\(38, [48]\) at result 0"):
        of_window(values, LONG, r=template("x"))
    with pytest.raises(NumberOverflow, match=f"'{template.__name__}' overflows"):
        sash.swag.slide(pa.array(values, LONG), 2, template())


def test_the_largest_result_fits() -> None:
    most = D("9" * 34 + ".9999")
    assert of_window([most], LONG, s=sash.sum("x"))["s"] == (LONG, most)
    assert of_window([most.copy_negate()], LONG, s=sash.sum("x"))["s"] == (LONG, most.copy_negate())


def test_selective_aggregates_and_lists_keep_the_type_of_the_column() -> None:
    values = [D("2.50"), None, D("-1.00"), D("2.50"), D("0.10")]
    asked = {
        "high": sash.max("x"),
        "low": sash.min("x"),
        "first": sash.first("x"),
        "last": sash.last("x"),
        "who": sash.argmax("t", "x"),
        "all": sash.collect("x"),
        "kinds": sash.collect_distinct("x"),
    }
    found = of_window(values, MONEY, **asked)
    present = [each for each in values if each is not None]
    assert [found[name] for name in ("high", "low", "first", "last", "who")] == [
        (MONEY, value) for value in (D("2.50"), D("-1.00"), D("2.50"), D("0.10"), D("0.10"))
    ]
    assert found["all"] == (pa.list_(MONEY), present)
    assert found["kinds"] == (pa.list_(MONEY), sorted(set(present)))
    counts = {"n": sash.count("x"), "d": sash.count_distinct("x"), "top": sash.max_count("x")}
    assert {name: value for name, (_, value) in of_window(values, MONEY, **counts).items()} == {
        "n": 4,
        "d": 3,
        "top": 2,
    }


FLOATS: dict[str, tuple[Any, Callable[[list[float]], float]]] = {
    "variance": (sash.variance, statistics.variance),
    "stddev": (sash.stddev, statistics.stdev),
    "geometric_mean": (sash.geometric_mean, statistics.geometric_mean),
    "product": (sash.product, lambda values: values[0] * values[1] * values[2]),
    "median": (sash.median, statistics.median),
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("algorithm", ["auto", "recalculate"])
def test_what_spark_computes_of_doubles_is_a_float(name: str, algorithm: str) -> None:
    make, reference = FLOATS[name]
    values = [D("1.25"), D("2.50"), D("0.30")]
    kind, found = of_window(values, MONEY, r=make("x"))["r"]
    assert kind == pa.float64() and found == pytest.approx(reference([float(each) for each in values]))
    slid = sash.swag.slide(pa.array(values, MONEY), 3, make(), algorithm=algorithm)
    assert slid.type == pa.float64() and slid[2].as_py() == found


def test_floats_of_decimals_stand_beside_exact_sums() -> None:
    values = random_decimals(50, 9, 2, 0.2)
    asked = {"s": sash.sum(), "m": sash.mean(), "v": sash.variance(), "sd": sash.stddev(), "q": sash.quantile(q=0.5)}
    for algorithm in ("two_stacks_lite", "daba_lite"):
        found = sash.swag.slide(pa.array(values, MONEY), 6, asked, algorithm=algorithm)
        last = windows(values, 6)[-1]
        assert found["s"][-1].as_py() == total(last) and found["m"][-1].as_py() == mean(last, 6)
        assert found["sd"][-1].as_py() == pytest.approx(statistics.stdev(map(float, last)))
        assert found["q"][-1].as_py() == pytest.approx(statistics.median(map(float, last)))


def test_sketches_tell_decimals_apart_beyond_the_digits_of_a_float() -> None:
    values = [D("0.1"), D("1.5"), D("10000000000000000000000.1"), D("10000000000000000000000.2")]
    array = pa.array(values, pa.decimal128(30, 1))
    assert round(sash.swag.slide(array, 4, sash.hyperloglog())[-1].as_py()) == 4
    words = sash.swag.slide(array, 4, sash.bloom_filter())[-1].as_py()
    assert all(sash.bloom_contains(words, each) for each in [*values, D("0.10"), 1.5])
    assert not sash.bloom_contains(words, D("10000000000000000000000.3"))


@pytest.mark.parametrize(
    ("template", "values", "message"),
    [
        (
            sash.string_agg(),
            pa.array([D("1.5")], MONEY),
            r"'string_agg' does not accept values of type decimal\(10, 2\): it accepts strings",
        ),
        (
            sash.sum(),
            pa.array(["1.5"]),
            "'sum' does not accept values of type object: it accepts numbers. Cast the values first.",
        ),
        (
            sash.sum(),
            [D("1.5")],
            "'sum' does not accept values of type object: it accepts numbers. Cast the values first.",
        ),
        (sash.median(), ["1.5"], "'median' does not accept values of type object: it accepts numbers"),
        (sash.range(), ["1.5"], "'range' does not accept values of type object: it accepts numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(template: Any, values: Any, message: str) -> None:
    with pytest.raises(UnsupportedAggregate, match=message):
        sash.swag.slide(values, 2, template)


def test_rolling_frames_are_exact() -> None:
    values = random_decimals(40, 9, 2, 0.3)
    rows = pa.table({"t": list(range(40)), "k": [k % 2 for k in range(40)], "x": pa.array(values, MONEY)})
    found = sash.rolling(rows, on="t", by="k", rows=3, s=sash.sum("x"), m=sash.mean("x"), high=sash.max("x"))
    assert [found.schema.field(name).type for name in ("s", "m", "high")] == [
        pa.decimal128(20, 2),
        pa.decimal128(14, 6),
        MONEY,
    ]
    for own in (0, 1):
        expected = windows(values[own::2], 3)
        assert found.column("s").to_pylist()[own::2] == [total(each) if each else None for each in expected]
        assert found.column("m").to_pylist()[own::2] == [mean(each, 6) if each else None for each in expected]


SLIDING = sash.query(
    "q",
    sash.sliding(10, every=5),
    s=sash.sum("x"),
    m=sash.mean("x"),
    sd=sash.stddev("x"),
    md=sash.median("x"),
    n=sash.max("x"),
)


def pushes(values: list[Any]) -> list[Any]:
    """Four pushes of rows a unit apart, every seventh of them late."""
    places = list(range(len(values)))
    for k in range(7, len(places), 7):
        places[k], places[k - 2] = places[k - 2], places[k]
    quarter = len(places) // 4
    return [
        pa.table({"t": part, "x": pa.array([values[k] for k in part], LONG)})
        for part in (places[k : k + quarter] for k in range(0, len(places), quarter))
    ]


@pytest.mark.parametrize("options", [{"allowed_lateness": 20}, {"watermark": 4}])
def test_a_stream_goes_on_from_its_bytes(options: dict[str, Any]) -> None:
    values = random_decimals(80, 33, 4, 0.2)
    steady, moved = sash.Stream(SLIDING, on="t", **options), sash.Stream(SLIDING, on="t", **options)
    results = []
    for rows in pushes(values):
        one, other = steady.push(rows), moved.push(rows)
        assert one.equals(other)
        moved = sash.Stream.restore(moved.save(), SLIDING)
        results += one.to_pylist()
    last = steady.finish()
    assert last.equals(moved.finish()) and last.schema.field("s").type == LONG
    final = {row["window_start"]: row for row in [*results, *last.to_pylist()]}
    for start, row in final.items():
        own = [each for each in values[max(start, 0) : start + 10] if each is not None]
        assert (row["s"], row["m"]) == ((total(own), mean(own, 8)) if own else (None, None))


def test_a_query_added_later_finds_the_exact_sums_that_are_kept() -> None:
    stream = sash.Stream(sash.query("s", sash.tumbling(10), s=sash.sum("x")), on="t")
    stream.push({"t": [1, 2], "x": pa.array([D("0.10"), D("0.20")], MONEY)})
    stream.add(sash.query("again", sash.tumbling(10), s=sash.sum("x")))
    stream = sash.Stream.restore(stream.save(), stream.queries)
    stream.push({"t": [3], "x": pa.array([None], MONEY)})
    assert [row["s"] for row in stream.finish().to_pylist()] == [D("0.30")] * 2


def test_a_stream_that_begins_with_nulls_knows_that_they_are_decimals() -> None:
    stream = sash.Stream(sash.query("s", sash.tumbling(10), s=sash.sum("x")), on="t")
    stream.push({"t": [1], "x": pa.array([None], MONEY)})
    stream.push({"t": [2], "x": pa.array([D("0.25")], MONEY)})
    assert stream.finish().column("s").to_pylist() == [D("0.25")]


def test_later_rows_with_more_digits_are_refused_not_rounded() -> None:
    stream = sash.Stream(sash.query("s", sash.tumbling(10), s=sash.sum("x")), on="t")
    stream.push({"t": [1], "x": pa.array([D("0.25")], MONEY)})
    with pytest.raises(InvalidInput, match=r"held decimal\(10, 2\).* now holds decimal\(10, 3\)"):
        stream.push({"t": [2], "x": pa.array([D("0.125")], pa.decimal128(10, 3))}, watermark=20)
    assert stream.finish().column("s").to_pylist() == [D("0.25")]


def test_an_object_of_ones_own_that_begins_at_a_float_leaves_decimals_exact() -> None:
    """0, 0.0 and False are equal, and not the same thing to begin with."""
    ones_own = sash.Aggregate(
        "own",
        state=("O",),
        identity=(0.0,),
        lift=lambda x: (x,),
        combine=lambda a, b: (a[0] + b[0],),
        lower=lambda p: p[0],
    )
    floats = pa.table({"t": [1, 2], "x": pa.array([1.0, None])})
    assert (
        sash.aggregate(floats, sash.query("q", sash.tumbling(10), v=ones_own("x")), on="t").to_pylist()[0]["v"] == 1.0
    )
    exact = [Decimal("12345678901234567.89"), None, Decimal("1.01")]
    decimals = pa.table({"t": [1, 2, 3], "x": pa.array(exact, pa.decimal128(38, 10))})
    (found,) = sash.aggregate(decimals, sash.query("q", sash.tumbling(10), s=sash.sum("x")), on="t").to_pylist()
    assert found["s"] == Decimal("12345678901234568.90")
