"""A stream restored with other queries goes on as the running stream does when queries are added and removed."""

import datetime as dt
import math
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.algebra.compiler import JIT_DISABLED
from sash.plan.query import Query
from tests.engine.test_changes import COUNTED, ENDS, Elevens, Weeks, any_rows, any_window
from tests.limits import LOW, restored, stream_with

TOTAL = sash.query("total", sash.tumbling(10), s=sash.sum("x"), n=sash.count())


def joined(a: list[Any], b: list[Any]) -> list[Any]:
    return a + b


listed = sash.Aggregate("listed", state="O", identity=[], lift=lambda x: [x], combine=joined, commutative=False)
boxed = sash.Aggregate("boxed", state="O", identity=0, lift=lambda x: x, combine=lambda a, b: a + b, commutative=True)
spread = sash.Aggregate(
    "spread",
    state=("i8", "i8[2]"),
    identity=(0, 0),
    lift=lambda x: (x, np.array([x, -x])),
    combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    lower=lambda p: p[0] + 10 * p[1][0] + 100 * p[1][1],
    commutative=True,
)

DROPPED = {
    "an ordered aggregate": sash.query("dropped", sash.tumbling(10), o=sash.collect("x")),
    "a count window": sash.query("dropped", sash.sliding(rows=5, every=2), **COUNTED),
    "last rows": sash.query("dropped", sash.sliding(rows=2, every=dt.timedelta(microseconds=4)), **COUNTED),
    "a punctuated window": sash.query("dropped", sash.punctuated("a"), **COUNTED),
    "a session with first": sash.query("dropped", sash.session(gap=3), **ENDS),
    "a grid that cuts": sash.query("dropped", sash.sliding(7, every=2), **COUNTED),
    "a user's window": sash.query("dropped", Weeks(), **COUNTED),
    "a user's window that sees rows": sash.query("dropped", Elevens(), **COUNTED),
    "a user's list": sash.query("dropped", sash.tumbling(10), o=listed("x")),
    "a user's object": sash.query("dropped", sash.tumbling(10), o=boxed("x")),
    "a user's array": sash.query("dropped", sash.tumbling(10), o=spread("x")),
    "a median": sash.query("dropped", sash.tumbling(10), o=sash.median("x")),
}


def rows_of(times: list[int], values: list[int]) -> dict[str, Any]:
    return {"t": times, "x": values, "a": [value == 1 for value in values]}


@pytest.mark.parametrize("what", DROPPED)
def test_rows_pushed_before_a_restore_with_fewer_queries_count(what: str) -> None:
    stream = sash.Stream([TOTAL, DROPPED[what]], on="t")
    stream.push(rows_of([3, 0], [1, 8]))
    stream = sash.Stream.restore(stream.save(), [TOTAL])
    (result,) = stream.push(rows_of([5], [2]), watermark=10).to_pylist()
    assert (result["s"], result["n"], stream.late_count) == (11, 3, 0)
    assert stream._state is not None and not len(stream._state.waiting)
    stream._state.slices.check()


@pytest.mark.parametrize("restores", [False, True])
@pytest.mark.parametrize("own", [listed, boxed, spread], ids=lambda each: str(each.name))
def test_fields_of_a_users_aggregate_and_of_others_are_apart_after_a_change(own: Any, restores: bool) -> None:
    """Both count the rows of x: one count is an array, the other may be a list."""
    kept = [sash.query("own", sash.tumbling(10), o=own("x")), sash.query("sum", sash.tumbling(10), c=sash.count("x"))]
    gone = sash.query("gone", sash.tumbling(5), m=sash.mean("x"))
    stream = sash.Stream([*kept, gone], on="t")
    stream.push(rows_of([0, 3], [8, 1]))
    if restores:
        stream = sash.Stream.restore(stream.save(), kept)
    else:
        stream.remove("gone")
    stream.push(rows_of([5], [2]))
    alone = sash.Stream(kept, on="t")
    alone.push(rows_of([0, 3, 5], [8, 1, 2]))
    assert stream.push({}, watermark=10).to_pylist() == alone.push({}, watermark=10).to_pylist()


class Failing(sash.ContextFreeWindow):
    reach = 10

    def next_edge(self, position: Any) -> Any:
        raise ValueError("no edge")

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        return []


def test_a_query_whose_window_fails_when_it_is_added_changes_nothing() -> None:
    stream = sash.Stream([TOTAL], on="t")
    stream.push(rows_of([0, 3], [8, 1]))
    before = stream.save()
    with pytest.raises(sash.errors.InvalidWindow, match="no edge"):
        stream.add(sash.query("failing", Failing(), m=sash.max("x")))
    assert stream.save() == before and [each.name for each in stream.queries] == ["total"]
    assert stream.push(rows_of([5], [2]), watermark=10).column("s").to_pylist() == [11]


# --- any change, at any moment ------------------------------------------------------------------------------------

# Parts that compile are few, for each set of them is compiled by itself.
AGGREGATES: list[Any] = [
    {"n": sash.count("x"), "s": sash.sum("x")},
    {"n": sash.count("x"), "m": sash.median("x")},
    {"n": sash.count("x"), "boxed": boxed("x")},
    {"listed": listed("x"), "all": sash.collect("x")},
]
ARRAYS: Any = {"n": sash.count("x"), "spread": spread("x")}


def any_query(draw: random.Random, name: str) -> Query:
    chosen = ARRAYS if draw.random() < 0.1 else draw.choice(AGGREGATES)
    return sash.query(name, any_window(draw), **chosen)


def sent_by(stream: sash.Stream, results: pa.Table) -> dict[str, list[str]]:
    """The results of each query, without the columns of others."""
    found: dict[str, list[str]] = {}
    for query in stream.queries:
        names = ["k", "window_start", "window_end", *(name for name, _ in query.aggregates)]
        names += ["revision"] if "revision" in results.schema.names else []
        rows = [row for row in results.to_pylist() if row["query"] == query.name]
        found[query.name] = sorted(repr([row[name] for name in names]) for row in rows)
    return found


def any_change(
    draw: random.Random, queries: tuple[Query, ...], number: int, most: int
) -> tuple[list[str], list[Query]]:
    """Names of queries to remove, and queries to add; the first always stays."""
    gone = [each.name for each in queries[1:] if draw.random() < 0.4][:most]
    return gone, [any_query(draw, f"o{number}.{k}") for k in range(draw.choice([0, 0, 1, 2]))]


@pytest.mark.parametrize("seed", range(60 if JIT_DISABLED else 25))
def test_queries_change_alike_in_a_running_stream_and_at_a_restore(seed: int) -> None:
    draw = random.Random(seed)
    in_order = draw.random() < 0.25
    options: Any = {
        "on": "t",
        "by": "k",
        "in_order": in_order,
        "allowed_lateness": 0 if in_order else draw.choice([0, 0, 8, 30]),
        "emit": draw.choice(["final", "final", "updates"]),
    }
    queries = [any_query(draw, "q"), *(any_query(draw, f"o{k}") for k in range(draw.randint(0, 2)))]
    running, saved, alone = (stream_with(LOW, each, **options) for each in (queries, queries, queries[:1]))
    # Removed one by one, queries leave finer slices than removed at once, and queries that are added see them.
    many = draw.random() < 0.3
    now = 0
    for at in range(draw.randint(3, 14)):
        if draw.random() < 0.5:
            gone, new = any_change(draw, running.queries, at, most=9 if many else 1)
            for name in gone:
                running.remove(name)
            for query in new:
                running.add(query)
            saved = restored(saved, running.queries, LOW)
        rows = any_rows(draw, now, in_order)
        now += draw.randint(0, 14)
        mark: Any = None if in_order else draw.choice([None, now - draw.randint(0, 10)])
        mark = math.inf if at == 12 else mark
        found, again, only = (sent_by(stream, stream.push(rows, watermark=mark)) for stream in (running, saved, alone))
        told = f"push {at} of {list(map(str, running.queries))}"
        assert found["q"] == only["q"], told
        assert again["q"] == found["q"] if many else again == found, told
        assert saved.late_count == running.late_count == alone.late_count
        if saved.state is not None:
            saved.state.slices.check()
