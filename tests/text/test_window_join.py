"""WINDOW JOIN: the same as sash.join, on every kind of table, and refused at its place."""

import random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash.errors import InvalidInput, InvalidText

LABELS = {"user": ["a", "b", "a"], "ts": [4, 9, 10], "note": ["x", "y", "z"]}
CLICKS = {"visitor": ["a", "a", "b", "a"], "at": [1, 4, 5, 9], "price": [3.0, 2.0, 7.0, 1.0]}
TEXT = "SELECT *, SUM(price) AS spent, COUNT(*) AS n FROM labels WINDOW JOIN clicks"
KEYS = "ON user = visitor AND ts"


def asked(text: str, **options: Any) -> pa.Table:
    return sash.sql(text, labels=LABELS, clicks=CLICKS, **options)


@pytest.mark.parametrize(
    ("clause", "options"),
    [
        (f"[RANGE 6] {KEYS} > at", {"range": 6}),
        (f"[RANGE 6] {KEYS} >= at", {"range": 6, "closed": "both"}),
        (f"[ROWS 2] {KEYS} >= at + 1", {"rows": 2, "closed": "both", "delay": 1}),
        (f"[UNBOUNDED] {KEYS} > at", {}),
        (f"{KEYS} > at", {}),
    ],
)
def test_a_text_is_the_join_of_its_options(clause: str, options: dict[str, Any]) -> None:
    recent = sash.lookback(CLICKS, on="at", by={"user": "visitor"}, **options, spent=sash.sum("price"), n=sash.count())
    assert asked(f"{TEXT} {clause}").equals(sash.join(LABELS, recent, on="ts", by="user"))


def test_times_of_one_name_come_from_the_call() -> None:
    clicks = {"user": CLICKS["visitor"], "ts": CLICKS["at"], "price": CLICKS["price"]}
    found = sash.sql(f"{TEXT} [RANGE 6] ON user = user", labels=LABELS, clicks=clicks, on="ts")
    assert found.equals(asked(f"{TEXT} [RANGE 6] {KEYS} > at"))
    everyone = sash.sql(f"{TEXT} [RANGE 6]", labels=LABELS, clicks=clicks, on="ts")
    assert everyone.column("n").to_pylist() == [1, 2, 3]


def test_expressions_filters_and_the_select_list() -> None:
    text = (
        "SELECT note, SUM(price * 2) FILTER (WHERE price < 7) AS spent, MAX_BY(visitor, price) AS best "
        f"FROM labels WINDOW JOIN clicks [RANGE 6] {KEYS} > at"
    )
    wanted = [
        {"note": "x", "spent": 6.0, "best": "a"},
        {"note": "y", "spent": None, "best": "b"},
        {"note": "z", "spent": 6.0, "best": "a"},
    ]
    assert asked(text).to_pylist() == wanted
    index = [7, 8, 9]
    found = sash.sql(text, labels=pd.DataFrame(LABELS, index=index), clicks=pd.DataFrame(CLICKS))
    assert list(found.index) == index
    assert list(found.columns) == ["note", "spent", "best"]
    assert sash.sql(text, labels=pl.DataFrame(LABELS), clicks=pl.DataFrame(CLICKS)).to_dicts() == wanted


def test_several_statements_are_lookbacks_of_one_call() -> None:
    text = (
        f"SELECT user, SUM(price) AS spent FROM labels WINDOW JOIN clicks [RANGE 6] {KEYS} > at; "
        f"SELECT ts, COUNT(*) AS ever FROM labels WINDOW JOIN clicks {KEYS} > at"
    )
    assert asked(text).column_names == ["user", "ts", "spent", "ever"]
    assert asked(text).column("ever").to_pylist() == [1, 1, 3]


@pytest.mark.parametrize("seed", range(10))
def test_random_texts_are_the_join(seed: int) -> None:
    rng = random.Random(seed)
    events = {name: [rng.randrange(20) for _ in range(30)] for name in ("t", "k", "x")}
    labels = {name: [rng.randrange(20) for _ in range(10)] for name in ("t", "k")}
    length, delay, sign = rng.randrange(1, 12), rng.randrange(3), rng.choice([">", ">="])
    text = f"SELECT *, SUM(x) FILTER (WHERE x > 5) AS s FROM l WINDOW JOIN e [RANGE {length}] ON k = k "
    found = sash.sql(f"{text} AND t {sign} t + {delay}", l=labels, e=events)
    closed: Any = "left" if sign == ">" else "both"
    recent = sash.lookback(events, range=length, closed=closed, delay=delay, s=sash.sum("x", where="x > 5"))
    assert found.equals(sash.join(labels, recent, on="t", by="k"))


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("SELECT *, SUM(cost) AS s FROM labels WINDOW JOIN clicks", "cost", "There is no column 'cost'"),
        ("SELECT other, SUM(price) AS s FROM labels WINDOW JOIN clicks", "other", "There is no column 'other'"),
        (f"{TEXT} ON usr = visitor", "usr", "Did you mean 'user'?"),
        (f"{TEXT} ON user = visitr", "visitr", "Did you mean 'visitor'?"),
        (f"{TEXT} ON user = visitor AND at < ts", "<", "the column of the labels first"),
        (f"{TEXT} ON user = visitor AND ts > at AND ts >= at", ">= at", "compares times twice"),
        (f"{TEXT} ON user = visitor + 5", "5", "Keys are equal as they are"),
        (f"{TEXT} [RANGE 5 SLIDE 1] {KEYS} > at", "RANGE", "before each label: write [RANGE 7 DAYS]"),
        (f"{TEXT} [SESSION GAP 5] {KEYS} > at", "SESSION", "before each label: write [RANGE 7 DAYS]"),
        (f"{TEXT} {KEYS} > at WHERE price > 3", "> 3", "WHERE would not say of which table"),
        (f"{TEXT} {KEYS} > at GROUP BY user", "user", "A join has its keys in ON"),
        ("SELECT SUM(price) FROM labels [ROWS 3] WINDOW JOIN clicks", "ROWS", "Labels have no window"),
        ("SELECT * FROM labels WINDOW JOIN clicks", "*", "The select list has no aggregate"),
        ("SELECT SUM(price) FROM labels WINDOW JOIN buys", "buys", "There is no table 'buys'"),
        ("SELECT SUM(price) OVER w FROM labels WINDOW JOIN clicks", "OVER", "A join has its own window"),
        ("SELECT SUM(price) FROM labels JOIN clicks", "JOIN", "or write WINDOW JOIN"),
        (f"SELECT MAX(ts) FROM labels [ROWS 3]; {TEXT} {KEYS} > at", "labels", "make two calls"),
        (f"{TEXT} {KEYS} > at; {TEXT} {KEYS} > at", "labels", "Two results are named 'spent'"),
    ],
)
def test_a_wrong_join_is_refused_at_its_place(text: str, at: str, said: str) -> None:
    with pytest.raises(InvalidText) as caught:
        asked(text, on="ts")
    first, shown, mark = str(caught.value).split("\n")
    assert said in first
    places = [k for k in range(len(shown)) if shown.startswith(at, k)]
    assert mark.index("^") in places


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="on must be the name"):
        asked(f"{TEXT} ON user = visitor")
    with pytest.raises(InvalidInput, match="emit='updates' is an option of windows"):
        asked(f"{TEXT} {KEYS} > at", emit="updates")
    with pytest.raises(InvalidText, match="The key of the labels"):
        asked(f"{TEXT} {KEYS} > at", by="note")
    with pytest.raises(InvalidText, match="The column of `on`"):
        asked(f"{TEXT} {KEYS} > at", on="note")
    with pytest.raises(InvalidInput, match="pandas"):
        sash.sql(f"{TEXT} {KEYS} > at", labels=pd.DataFrame(LABELS), clicks=pl.DataFrame(CLICKS))
