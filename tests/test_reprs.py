"""The repr of what users make is the call that makes it."""

import datetime as dt
from typing import Any

import pytest

import sash

WINDOWS: list[object] = [
    sash.tumbling("10 minutes"),
    sash.tumbling(10),
    sash.tumbling(2.5, offset=0.5),
    sash.tumbling(rows=7),
    sash.sliding("1 hour", every="1 minute", offset="15 seconds"),
    sash.sliding(rows=1000, every=100),
    sash.sliding(rows=10, every="5 seconds", offset="1s"),
    sash.cumulative("1 day", every="1 hour", offset="2 hours"),
    sash.session(gap="30 seconds"),
    sash.punctuated("is_start"),
    sash.punctuated("is_start", "is_end"),
    sash.landmark(start=1, end=5),
    sash.tumbling("1 month", zone="Europe/Berlin"),
    sash.tumbling("1 week", zone="UTC", offset="1 day"),
    sash.sliding("1 quarter", every="1 month"),
    sash.cumulative("1 day", every="1 hour", zone="Asia/Tokyo"),
    sash.calendar([0, 10, 15]),
]
AGGREGATES: list[object] = [
    sash.count(),
    sash.count("x"),
    sash.sum("x", where="kind = 'card'"),
    sash.stddev("x"),
    sash.stddev("x", population=True),
    sash.quantile("x", 0.95),
    sash.median("x"),
    sash.argmax("x", "who"),
    sash.string_agg("x", separator="; "),
    sash.hyperloglog("x", precision=10),
    sash.bloom_filter("x", bits=1024, hashes=3),
    sash.count_min("x", width=64, depth=3),
    sash.moment_sketch("x"),
    sash.m4("x"),
]
OTHERS: list[object] = [
    sash.query("hourly", sash.sliding("1 hour", every="5 minutes"), peak=sash.max("load"), rows=sash.count()),
    sash.query("q", sash.tumbling(10), n=sash.count(), **{"max load": sash.max("load"), "from": sash.min("load")}),
    sash.frame(rows=3, peak=sash.max("x")),
    sash.frame(range=("-1 hour", "-5 minutes"), closed="left", min_samples=2, peak=sash.max("x")),
    sash.frame(groups=(None, 0), exclude="ties", peak=sash.max("x")),
]


@pytest.mark.parametrize("given", WINDOWS + AGGREGATES + OTHERS, ids=repr)
def test_repr_is_the_call_that_makes_it(given: object) -> None:
    again = eval(repr(given), {"sash": sash})
    assert again == given
    assert repr(again) == repr(given)


def test_every_aggregate_has_such_a_repr() -> None:
    for name in ("mean", "product", "min", "max", "range", "first", "last", "mode", "collect", "variance"):
        given = getattr(sash, name)("x")
        assert repr(given) == f"sash.{name}('x')"
        assert given._repr_html_() == f"<code>sash.{name}(&#x27;x&#x27;)</code>"


def test_own_aggregates_and_windows_are_short() -> None:
    own = sash.Aggregate("gm", state=("i8", "f8"), identity=(0, 0.0), lift=lambda x: (1, x), combine=max)
    assert repr(own("x")) == "sash.Aggregate('gm', state=('i8', 'f8'), identity=(0, 0.0), …)('x')"
    many = sash.calendar([dt.datetime(2024, 1, day) for day in range(1, 11)])
    assert repr(many) == "<sash.calendar of 10 edges from 2024-01-01 00:00:00 to 2024-01-10 00:00:00>"


def test_plans_and_explanations_show_their_text() -> None:
    plan = sash.explain({"t": [0]}, sash.query("n", sash.tumbling(10), n=sash.count()), on="t")
    slide = sash.swag.explain(sash.max(), 10)
    joined = sash.explain({"t": [0]}, sash.lookback({"t": [0]}, rows=2, n=sash.count()), on="t")
    reports: list[Any] = [plan, slide, joined]
    for each in reports:
        assert repr(each) == str(each)
        assert each._repr_html_().startswith("<table><tr><th")
    assert "dataclass" not in repr(plan)
    assert "Options(" not in repr(plan)


def test_counterexample_shows_its_sentence() -> None:
    average = sash.Aggregate("average", state="f8", identity=0.0, lift=float, combine=lambda a, b: (a + b) / 2)
    found = sash.laws.associative(average)
    assert found is not None
    assert repr(found) == f"<Counterexample: {found}>"
    assert "combine is not associative" in found._repr_html_()


def test_lookback_does_not_show_its_table() -> None:
    found = sash.lookback({"t": [0] * 1000}, range=5, by={"user": "payer"}, n=sash.count())
    assert repr(found) == "sash.lookback(…, range=5, by={'user': 'payer'}, n=sash.count())"
