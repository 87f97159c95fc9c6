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
    first, second = parts({"a": sash.max("x")}, {"b": sash.max("y")})
    assert len(first) == len(second) == 1


def test_aggregates_that_share_no_part_have_groups_of_their_own() -> None:
    groups = parts({"n": sash.count(), "top": sash.max("x"), "mean": sash.mean("x"), "sd": sash.stddev("x")})
    assert len(groups) == 3
    assert sorted(map(len, groups)) == [1, 1, 3], "mean and stddev share the count and the sum"


def test_an_aggregate_can_join_two_groups() -> None:
    queries = [{"n": sash.count("x")}, {"top": sash.max("x")}, {"s": sash.sum("x")}, {"m": sash.mean("x")}]
    rows = {"t": [1, 2], "x": [1.5, None]}
    plan = sash.explain(rows, [sash.query(f"q{k}", sash.tumbling(9), **each) for k, each in enumerate(queries)], on="t")
    assert len(plan.groups) == 2, "count, sum and mean share parts; max does not"


def test_columns_of_one_type_share_their_kernels() -> None:
    rows = {"t": [1], **{f"x{k}": [1.5] for k in range(5)}}
    means = {f"m{k}": sash.mean(f"x{k}") for k in range(5)}
    plan = sash.explain(rows, sash.query("q", sash.tumbling(10), **means), on="t")
    assert len(plan.groups) == 5 and len({group.key for group in plan.groups}) == 1
    assert len({view.monoid.key for view in plan.queries[0].views if view is not None}) == 1


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
