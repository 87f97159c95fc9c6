"""What queries share: a piece of a partial that two aggregates need is kept once."""

from typing import Any

import pytest

import sash
from sash.errors import UnknownName, UnsupportedAggregate

ROWS = {"t": [1], "x": [1], "y": [1.5], "s": ["a"]}


def parts(*results: dict[str, Any]) -> list[list[str]]:
    """The components of each group of partials, of one query for each dict of results."""
    queries = [sash.query(f"q{k}", sash.tumbling(10 + k), **each) for k, each in enumerate(results)]
    plan = sash.explain(ROWS, queries, on="t")
    return [[component.name.partition("@")[0] for component in group.components] for group in plan.groups]


def test_a_mean_and_a_sum_of_one_column_keep_one_sum() -> None:
    (alone,), (both,) = parts({"m": sash.mean("x")}), parts({"m": sash.mean("x")}, {"s": sash.sum("x")})
    assert sorted(both) == sorted(alone)


def test_two_columns_share_nothing() -> None:
    (both,) = parts({"a": sash.max("x")}, {"b": sash.max("y")})
    assert len(both) == 2


def test_a_thousand_queries_for_the_same_keep_it_once() -> None:
    assert parts(*({"n": sash.count(), "s": sash.sum("x")} for _ in range(1000))) == parts(
        {"n": sash.count(), "s": sash.sum("x")}
    )


def test_values_of_numbers_objects_and_what_compiles_are_kept_apart() -> None:
    groups = parts({"m": sash.median("x"), "d": sash.count_distinct("x"), "n": sash.count(), "l": sash.collect("s")})
    assert ["values"] in groups and len(groups) == 3


def test_a_query_reads_only_its_own_groups() -> None:
    queries = [
        sash.query("middle", sash.tumbling(10), m=sash.median("x")),
        sash.query("count", sash.tumbling(10), n=sash.count()),
    ]
    plan = sash.explain(ROWS, queries, on="t")
    read = [[view is not None for view in query.views] for query in plan.queries]
    assert sorted(read) == [[False, True], [True, False]]
    assert [query.readings[0].output for query in plan.queries] == [0, 0]


def test_what_cannot_be_kept_is_refused_with_query_and_result() -> None:
    with pytest.raises(UnsupportedAggregate, match=r"Query 'q0', v=sum\('s'\)"):
        parts({"v": sash.sum("s")})
    with pytest.raises(UnknownName, match="no column 'z'"):
        parts({"v": sash.sum("z")})
