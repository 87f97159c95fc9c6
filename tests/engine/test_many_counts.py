"""Many count windows over one stream: computed as one family, with the results that each has alone."""

from typing import Any

import numpy as np
import pytest

import sash

ROWS = 120
SIZES = [(3 + k, 1 + 3 * k % 11) for k in range(24)]


def queries_of(sizes: list[tuple[int, int]]) -> list[Any]:
    """Ordered and other results, so that there are two families."""
    return [
        sash.query(f"q{k}", sash.sliding(rows=size, every=every), n=sash.count(), old=sash.first("x"))
        if k % 3
        else sash.query(f"q{k}", sash.sliding(rows=size, every=every), total=sash.sum("x"))
        for k, (size, every) in enumerate(sizes)
    ]


def table(keys: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {"t": np.sort(rng.integers(0, 200, ROWS)), "k": rng.integers(0, keys, ROWS), "x": np.arange(ROWS)}


def brute(rows: dict[str, Any], sizes: list[tuple[int, int]], partial: bool) -> set[Any]:
    found = set()
    for q, (size, every) in enumerate(sizes):
        for key in set(rows["k"].tolist()):
            own = np.flatnonzero(rows["k"] == key)
            for start in range(0, len(own), every):
                if start + size > len(own) and not partial:
                    continue
                held = own[start : start + size]
                value = (
                    (len(held), int(rows["x"][held[0]]), None) if q % 3 else (None, None, int(rows["x"][held].sum()))
                )
                edges = int(rows["t"][held[0]]), int(rows["t"][held[-1]])
                found.add((key, f"q{q}", start, start + size, *edges, *value))
    return found


def rows_of(results: Any) -> list[Any]:
    names = ("k", "query", "rank_start", "rank_end", "window_start", "window_end", "n", "old", "total")
    return [tuple(each[name] for name in names) for each in results.to_pylist()]


@pytest.mark.parametrize("keys", [1, 4])
@pytest.mark.parametrize("partial", [False, True])
def test_a_table_has_the_windows_of_each_query(keys: int, partial: bool) -> None:
    rows = table(keys)
    results = rows_of(sash.aggregate(rows, queries_of(SIZES), on="t", by="k", partial=partial))
    assert len(results) == len(set(results)) and set(results) == brute(rows, SIZES, partial)


@pytest.mark.parametrize("options", [{"in_order": True}, {"watermark": 7}], ids=["in order", "waits"])
@pytest.mark.parametrize("size", [1, 17])
def test_a_stream_has_the_windows_of_each_query_across_pushes_and_saved_states(
    options: dict[str, Any], size: int
) -> None:
    rows, queries = table(3), queries_of(SIZES)
    stream = sash.Stream(queries, on="t", by="k", **options)
    found = []
    for at in range(0, ROWS, size):
        found += rows_of(stream.push({name: each[at : at + size] for name, each in rows.items()}))
        if at % 5 == 0:
            stream = sash.Stream.restore(stream.save(), queries)
    found += rows_of(stream.finish())
    assert len(found) == len(set(found)) and set(found) == brute(rows, SIZES, False)


def test_queries_with_the_same_results_are_one_family_unless_windows_are_revised() -> None:
    queries = queries_of(SIZES)
    rows = {"t": [0], "k": [0], "x": [0]}
    assert [len(each) for each in sash.explain(rows, queries, on="t").families] == [8, 16]
    stream = sash.Stream(queries, on="t", watermark=5, allowed_lateness=5)
    stream.push(rows)
    assert stream.plan is not None and len(stream.plan.families) == len(SIZES)


def test_an_added_query_has_only_windows_whose_rows_were_cut_for_it_and_a_removed_one_none() -> None:
    rows = table(1)
    queries = queries_of(SIZES)
    stream = sash.Stream(queries[:20], on="t", by="k", in_order=True)
    found = rows_of(stream.push({name: each[:50] for name, each in rows.items()}))
    for query in queries[20:]:
        stream.add(query)
    for query in queries[:4]:
        stream.remove(query.name)
    found += rows_of(stream.push({name: each[50:] for name, each in rows.items()}))
    expected = {each for each in brute(rows, SIZES, False) if each[3] <= 50 or int(each[1][1:]) >= 4}
    kept = {each for each in expected if int(each[1][1:]) < 20}
    late = {each for each in expected if int(each[1][1:]) >= 20 and each[2] >= 50}
    assert len(found) == len(set(found)) and kept | late <= set(found) <= expected


def test_few_of_many_slices_are_kept() -> None:
    stream = sash.Stream(queries_of(SIZES), on="t", in_order=True)
    for at in range(0, 6000, 500):
        stream.push({"t": np.arange(at, at + 500), "x": np.arange(500)})
    assert stream.state is not None and stream.state.slices.used < 3 * 600
