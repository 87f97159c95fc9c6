"""Names and keywords of other libraries: each error names what to write, and what it names exists."""

import re
from typing import Any

import pytest

import sash
from sash.synonyms import KEYWORDS, NAMES

EVENTS = {"ts": [1, 2, 3], "x": [1.0, 2.0, 3.0], "k": ["a", "b", "a"]}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_name_of_another_library_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError, match=f"sash has no '{name}'. Write ") as error:
        getattr(sash, name)
    assert isinstance(error.value, sash.SashError)
    for called in re.findall(r"sash\.(\w+)", NAMES[name]):
        assert called in sash.__all__


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("Max", "sash.max."),
        ("MEAN", "sash.mean."),
        ("stream", "sash.Stream."),
        ("Tumbling", "sash.tumbling."),
        ("rolling_sum", "sash.sum."),
        ("sliding_window", "sash.sliding."),
        ("hopping_window", "sash.sliding('1 "),
        ("countDistinct", "sash.count_distinct."),
        ("collectList", "sash.collect('x')"),
        ("groupBy", "sash.aggregate("),
        ("medain", "sash.median."),
        ("agregate", "sash.aggregate."),
        ("quantil", "sash.quantile."),
        ("sum_", "sash.sum."),
    ],
)
def test_other_spelling_of_a_name_says_what_to_write(name: str, instead: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(sash, name)
    assert str(error.value).startswith(f"sash has no '{name}'. Write {instead}")
    assert not hasattr(sash, "_repr_html_")


def test_names_are_none_of_our_own() -> None:
    assert not set(NAMES) & set(sash.__all__)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_thing'"):
        getattr(sash, "no_such_thing")  # noqa: B009
    assert not hasattr(sash, "avg")


@pytest.mark.parametrize(
    ("keyword", "value", "instead"),
    [
        ("min_periods", 2, "min_samples"),
        ("window", "1h", "range="),
        ("period", "1h", "range="),
        ("size", 3, "rows="),
        ("group_by", "k", "by="),
        ("partition_by", ["k"], "by="),
        ("allowed_lateness", 5, "sash.aggregate"),
        ("every", "1 minute", "in the window"),
    ],
)
def test_keyword_of_another_library_is_refused_as_a_keyword(keyword: str, value: object, instead: str) -> None:
    given: dict[str, Any] = {keyword: value, "peak": sash.max("x")}
    calls: list[Any] = [
        lambda: sash.rolling(EVENTS, on="ts", rows=2, **given),
        lambda: sash.rolling(EVENTS, on="ts", **given),
        lambda: sash.frame(rows=2, **given),
        lambda: sash.lookback(EVENTS, **given),
    ]
    for call in calls:
        with pytest.raises(sash.SashError, match=f"has no keyword '{keyword}'. Write .*{instead}"):
            call()


@pytest.mark.parametrize(
    ("keyword", "instead"),
    [("window", "sash.sliding"), ("size", "sash.sliding"), ("group_by", "sash.aggregate"), ("every", "in the window")],
)
def test_keyword_of_a_query_says_where_it_belongs(keyword: str, instead: str) -> None:
    given: dict[str, Any] = {keyword: 3, "peak": sash.max("x")}
    with pytest.raises(sash.SashError, match=f"sash.query.. has no keyword '{keyword}'. Write .*{instead}"):
        sash.query("q", sash.tumbling(10), **given)


def test_unknown_keyword_is_named() -> None:
    given: dict[str, Any] = {"loudness": 3}
    with pytest.raises(sash.SashError, match=r"'loudness' must be an aggregate.* but is 3\. There is no option"):
        sash.rolling(EVENTS, on="ts", rows=2, **given)


def test_aggregates_may_have_the_names_of_keywords() -> None:
    found = sash.rolling(EVENTS, on="ts", rows=2, size=sash.count())
    assert found.column("size").to_pylist() == [1, 2, 2]
    assert set(KEYWORDS) >= {"size", "window", "key"}
