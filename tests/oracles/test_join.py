"""The window join: against its definition, against DuckDB, and without anything from the future of a label."""

import datetime as dt
import random
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash

WITHIN: dict[str, Any] = {
    "left": lambda e, low, p: low <= e < p,
    "both": lambda e, low, p: low <= e <= p,
    "right": lambda e, low, p: low < e <= p,
    "neither": lambda e, low, p: low < e < p,
}
FEATURES: dict[str, Any] = {
    "n": sash.count(),
    "total": sash.sum("x"),
    "oldest": sash.first("x"),
    "newest": sash.last("x"),
    "all": sash.collect("x"),
    "middle": sash.median("x"),
    "kinds": sash.count_distinct("s"),
    "name": sash.max("s"),
}


def drawn_events(rng: random.Random, most: int = 25) -> dict[str, list[Any]]:
    count = rng.choice([0, 1, 3, most])
    return {
        "t": [rng.randrange(20) if rng.random() < 0.95 else None for _ in range(count)],
        "k": [rng.choice(["a", "b", None]) for _ in range(count)],
        "x": [rng.randrange(-9, 9) if rng.random() < 0.8 else None for _ in range(count)],
        "s": [rng.choice(["fig", "pear", None]) for _ in range(count)],
    }


def drawn_labels(rng: random.Random) -> dict[str, list[Any]]:
    count = rng.choice([0, 1, 12])
    return {
        "t": [rng.randrange(24) if rng.random() < 0.9 else None for _ in range(count)],
        "k": [rng.choice(["a", "b", "c", None]) for _ in range(count)],
        "label": list(range(count)),
    }


def table_of(rows: dict[str, list[Any]]) -> pa.Table:
    return pa.table({n: pa.array(v, pa.string() if n in "ks" else pa.int64()) for n, v in rows.items()})


def drawn_lookback(rng: random.Random) -> dict[str, Any]:
    extent: dict[str, Any] = rng.choice([{"range": rng.randrange(0, 9)}, {"rows": rng.randrange(1, 5)}, {}])
    return {**extent, "closed": rng.choice(list(WITHIN)), "delay": rng.choice([0, 0, 2])}


def held(events: dict[str, list[Any]], label: dict[str, Any], given: dict[str, Any], keyed: bool) -> list[int]:
    """The places of the events that a label sees, oldest first."""
    p, own = label["t"], []
    for place in range(len(events["t"])):
        if events["t"][place] is None or (keyed and events["k"][place] != label["k"]):
            continue
        low = p - given["range"] if "range" in given else -1000
        if WITHIN[given["closed"]](events["t"][place] + given["delay"], low, p):
            own.append(place)
    own.sort(key=lambda place: events["t"][place])
    return own[-given["rows"] :] if "rows" in given else own


def features(events: dict[str, list[Any]], places: list[int]) -> dict[str, Any]:
    xs = [events["x"][p] for p in places if events["x"][p] is not None]
    ss = [events["s"][p] for p in places if events["s"][p] is not None]
    ascending = sorted(xs)
    return {
        "n": len(places),
        "total": sum(xs) if xs else None,
        "oldest": xs[0] if xs else None,
        "newest": xs[-1] if xs else None,
        "all": xs,
        "middle": (ascending[(len(xs) - 1) // 2] + ascending[len(xs) // 2]) / 2 if xs else None,
        "kinds": len(set(ss)),
        "name": max(ss, default=None),
    }


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(60))
def test_labels_get_the_events_of_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    labels, events, given = drawn_labels(rng), drawn_events(rng), drawn_lookback(rng)
    keyed = rng.random() < 0.8
    found = sash.join(
        table_of(labels), sash.lookback(table_of(events), **given, **FEATURES), on="t", by="k" if keyed else None
    )
    assert found.column("label").to_pylist() == labels["label"], "all labels, in their order"
    for row in found.to_pylist():
        if row["t"] is None or (keyed and row["k"] is None):
            wanted: dict[str, Any] = dict.fromkeys(FEATURES)
        else:
            wanted = features(events, held(events, row, given, keyed))
        assert {name: row[name] for name in FEATURES} == wanted, (row, given)


@pytest.mark.parametrize("seed", range(30))
def test_the_join_is_duckdbs_inequality_join(seed: int) -> None:
    rng = random.Random(1000 + seed)
    labels, events = table_of(drawn_labels(rng)), table_of(drawn_events(rng))
    length = rng.randrange(1, 9)
    found = sash.join(
        labels,
        sash.lookback(events, range=length, n=sash.count(), total=sash.sum("x"), kinds=sash.count_distinct("s")),
        on="t",
        by="k",
    )
    connection = duckdb.connect()
    connection.register("labels", labels)
    connection.register("events", events)
    theirs = connection.execute(
        "SELECT label, COUNT(e.t), SUM(e.x), COUNT(DISTINCT e.s) FROM labels l LEFT JOIN events e "
        "ON e.k = l.k AND e.t >= l.t - ? AND e.t < l.t GROUP BY label ORDER BY label",
        [length],
    ).fetchall()
    ours = found.select(["label", "n", "total", "kinds", "t", "k"]).to_pylist()
    for row, (label, n, total, kinds) in zip(ours, theirs, strict=True):
        nothing = row["t"] is None or row["k"] is None
        assert row["label"] == label
        assert [row["n"], row["total"], row["kinds"]] == ([None] * 3 if nothing else [n, total, kinds])


@pytest.mark.parametrize("seed", range(40))
def test_nothing_after_a_label_changes_its_features(seed: int) -> None:
    rng = random.Random(2000 + seed)
    labels = {**drawn_labels(rng), "t": [10] * 12, "k": ["a"] * 12, "label": list(range(12))}
    events, given = drawn_events(rng), {**drawn_lookback(rng), "closed": rng.choice(["left", "neither"])}

    def ask(rows: dict[str, list[Any]]) -> Any:
        return sash.join(table_of(labels), sash.lookback(table_of(rows), **given, **FEATURES), on="t", by="k")

    before = ask(events)
    future = [t is None or t + given["delay"] >= 10 for t in events["t"]]
    for name, values in (("x", [99] * 25), ("s", ["zzz"] * 25), ("t", [30] * 25)):
        changed = {
            **events,
            name: [new if late else old for old, new, late in zip(events[name], values, future, strict=False)],
        }
        if name == "t":  # an event without a position stays without one
            changed["t"] = [None if t is None else c for t, c in zip(events["t"], changed["t"], strict=True)]
        assert ask(changed).equals(before), name
    more = {
        name: [*values, *([12] if name == "t" else ["a"] if name in "ks" else [5])] for name, values in events.items()
    }
    assert ask(more).equals(before)


# --- shapes -----------------------------------------------------------------------------------------


def test_several_tables_lengths_and_names_of_keys() -> None:
    day = dt.datetime(2026, 1, 1)
    labels = {"ts": [day + dt.timedelta(days=d) for d in (8, 9)], "user": ["ann", "bob"]}
    clicks = {"ts": [day, day + dt.timedelta(days=7)], "user": ["ann", "ann"], "site": ["x", "y"]}
    paid = {"paid_at": [day + dt.timedelta(days=d) for d in (1, 2, 9)], "payer": ["bob"] * 3, "amount": [5, 6, 7]}
    found = sash.join(
        labels,
        sash.lookback(clicks, range="7 days", week=sash.count()),
        sash.lookback(clicks, range="30 days", month=sash.count(), sites=sash.count_distinct("site")),
        sash.lookback(paid, rows=2, on="paid_at", by={"user": "payer"}, spend=sash.sum("amount")),
        on="ts",
        by="user",
    )
    assert found.select(["week", "month", "sites", "spend"]).to_pylist() == [
        {"week": 1, "month": 2, "sites": 2, "spend": None},
        {"week": 0, "month": 0, "sites": 0, "spend": 11},
    ]


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, dict], ids=["pandas", "polars", "arrow", "dict"]
)
def test_every_kind_of_table_gives_its_kind_back(make: Any) -> None:
    labels, events = make({"t": [5, 1], "k": ["a", "b"]}), make({"t": [1, 2], "k": ["a", "a"], "x": [3, 4]})
    found = sash.join(labels, sash.lookback(events, range=9, total=sash.sum("x")), on="t", by="k")
    assert isinstance(found, pa.Table if make is dict else type(labels))
    assert [None if each != each else each for each in list(found["total"])[:1]] == [7] or found["total"][
        0
    ].as_py() == 7


def test_pandas_keeps_the_index_of_the_labels() -> None:
    labels = pd.DataFrame({"t": [5, 1, 9]}, index=[7, 7, 3])
    found = sash.join(labels, sash.lookback(pd.DataFrame({"t": [4]}), n=sash.count()), on="t")
    assert found.index.tolist() == [7, 7, 3] and found["n"].tolist() == [1, 0, 1]


def test_a_users_own_aggregate_joins() -> None:
    chain = sash.Aggregate(
        "chain",
        state="O",
        identity=(),
        lift=lambda x: (x,),
        combine=lambda a, b: a + b,
        lower=list,
        result=pa.list_(pa.int64()),
    )
    events = {"t": [3, 1, 2], "x": [30, 10, 20]}
    found = sash.join({"t": [4, 2]}, sash.lookback(events, xs=chain("x")), on="t")
    assert found["xs"].to_pylist() == [[10, 20, 30], [10]]


def test_explain_says_which_events_a_label_sees() -> None:
    events = {"t": [1], "k": ["a"], "x": [5]}
    every, recent = sash.lookback(events, n=sash.count()), sash.lookback(events, range=5, total=sash.sum("x"))
    text = str(sash.explain({"t": [2], "k": ["a"]}, [every, recent], on="t", by="k"))
    assert "all rows before each label, closed 'left': n=count()" in text
    assert "the rows of 5 before each label" in text
