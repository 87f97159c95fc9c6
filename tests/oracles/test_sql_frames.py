"""Frames of every kind: against their definition, row by row, and against DuckDB."""

import random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import sash
from sash.engine.frame import frame, order_of
from sash.engine.frame_ranges import check, ranges_of
from sash.engine.rolling import line_of, plan_frames
from sash.engine.tables import read_rows

CLOSED = {"both": (True, True), "left": (True, False), "right": (False, True), "neither": (False, False)}
AGGREGATES: dict[str, Any] = {
    "n": sash.count("x"),
    "total": sash.sum("x"),
    "least": sash.min("x"),
    "oldest": sash.first("x"),
    "newest": sash.last("x"),
    "all": sash.collect("x"),
    "median": sash.median("x"),
    "kinds": sash.count_distinct("s"),
    "name": sash.max("s"),
}


def drawn_rows(rng: random.Random) -> dict[str, list[Any]]:
    count = rng.choice([0, 1, 2, 5, 12, 30])
    return {
        "t": [rng.randrange(12) if rng.random() < 0.95 else None for _ in range(count)],
        "k": [rng.choice("ab") for _ in range(count)],
        "u": [rng.randrange(3) for _ in range(count)],
        "x": [rng.randrange(-9, 9) if rng.random() < 0.8 else None for _ in range(count)],
        "s": [rng.choice(["fig", "pear", "", None]) for _ in range(count)],
        "place": list(range(count)),
    }


def drawn_frame(rng: random.Random) -> dict[str, Any]:
    unit = rng.choice(["rows", "range", "groups"])
    low, high = sorted(rng.randrange(-4, 5) for _ in range(2))
    ends = (None if rng.random() < 0.2 else low, None if rng.random() < 0.2 else high)
    found: dict[str, Any] = {unit: ends, "exclude": rng.choice([None, None, "row", "group", "ties"])}
    if unit == "range":
        found["closed"] = rng.choice(list(CLOSED))
    found["min_samples"] = rng.choice([1, 1, 2, 0])
    return found


def drawn_order(rng: random.Random) -> dict[str, Any]:
    order = rng.choice([None, None, "u", ["u", "place"]])
    return {"order": order, "descending": rng.random() < 0.3}


# --- the definition ------------------------------------------------------------------------------


def held(rows: dict[str, list[Any]], row: int, given: dict[str, Any]) -> list[int]:
    """The places of the rows of a frame, in their order."""
    names = [given["order"]] if isinstance(given["order"], str) else given["order"] or []
    sign = -1 if given["descending"] else 1

    def rank(place: int) -> tuple[Any, ...]:
        return tuple(sign * rows[name][place] for name in ["t", *names])

    own = [p for p in range(len(rows["t"])) if rows["k"][p] == rows["k"][row] and rows["t"][p] is not None]
    own.sort(key=rank)
    (unit,) = {"rows", "range", "groups"} & given.keys()
    low, high = given[unit]
    if unit == "range":
        line = [sign * rows["t"][p] for p in own]
    else:
        distinct = sorted({rank(p) for p in own})
        line = list(range(len(own))) if unit == "rows" else [distinct.index(rank(p)) for p in own]
    at = line[own.index(row)]
    with_low, with_high = CLOSED[given.get("closed", "both")]
    found = []
    for place, where in zip(own, line, strict=True):
        after_low = low is None or where > at + low or (with_low and where == at + low)
        before_high = high is None or where < at + high or (with_high and where == at + high)
        is_peer = rank(place) == rank(row)
        left_out = {None: False, "row": place == row, "group": is_peer, "ties": is_peer and place != row}[
            given["exclude"]
        ]
        if after_low and before_high and not left_out:
            found.append(place)
    return found


def expected(rows: dict[str, list[Any]], row: int, given: dict[str, Any]) -> dict[str, Any]:
    if rows["t"][row] is None:
        return dict.fromkeys(AGGREGATES)
    places = held(rows, row, given)
    xs = [rows["x"][p] for p in places if rows["x"][p] is not None]
    ss = [rows["s"][p] for p in places if rows["s"][p] is not None]
    middle = sorted(xs)
    found = {
        "n": len(xs),
        "total": sum(xs) if xs else None,
        "least": min(xs, default=None),
        "oldest": xs[0] if xs else None,
        "newest": xs[-1] if xs else None,
        "all": xs,
        "median": (middle[(len(xs) - 1) // 2] + middle[len(xs) // 2]) / 2 if xs else None,
        "kinds": len(set(ss)),
        "name": max(ss, default=None),
    }
    least = given["min_samples"]
    enough = {name: len(ss if name in ("kinds", "name") else xs) >= max(least, 0) for name in found}
    return {name: value if least <= 1 or enough[name] else None for name, value in found.items()}


def table_of(rows: dict[str, list[Any]]) -> pa.Table:
    types = {name: pa.string() if name in "ks" else pa.int64() for name in rows}
    return pa.table({name: pa.array(values, types[name]) for name, values in rows.items()})


def ask(rows: dict[str, list[Any]], given: dict[str, Any], **aggregates: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sash.rolling(table_of(rows), on="t", by="k", **given, **aggregates).to_pylist()
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(60))
def test_frames_hold_the_rows_of_their_definition(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        rows = drawn_rows(rng)
        given = {**drawn_frame(rng), **drawn_order(rng)}
        for row, found in enumerate(ask(rows, given, **AGGREGATES)):
            assert {name: found[name] for name in AGGREGATES} == expected(rows, row, given), (rows, given, row)


@pytest.mark.parametrize("seed", range(100, 130))
def test_ranges_keep_their_lines(seed: int) -> None:
    rng = random.Random(seed)
    rows = drawn_rows(rng)
    extent, order = drawn_frame(rng), drawn_order(rng)
    given = read_rows(table_of(rows))
    own = frame(**extent, n=sash.count())
    plan = plan_frames(given, (own,), "t", "k", order_of(order["order"], order["descending"]))
    _, line = line_of(plan, given)
    check(ranges_of(plan.extents[0], line), line)


# --- DuckDB --------------------------------------------------------------------------------------


def bound(end: int | None, is_start: bool) -> str:
    if end is None:
        return "UNBOUNDED PRECEDING" if is_start else "UNBOUNDED FOLLOWING"
    return "CURRENT ROW" if end == 0 else f"{abs(end)} {'PRECEDING' if end < 0 else 'FOLLOWING'}"


def clause(given: dict[str, Any]) -> str:
    (unit,) = {"rows", "range", "groups"} & given.keys()
    low, high = given[unit]
    names = [given["order"]] if isinstance(given["order"], str) else given["order"] or []
    order = ", ".join(f"{name}{' DESC' if given['descending'] else ''}" for name in ["t", *names])
    words = {None: "NO OTHERS", "row": "CURRENT ROW", "group": "GROUP", "ties": "TIES"}[given["exclude"]]
    ends = f"BETWEEN {bound(low, True)} AND {bound(high, False)}"
    return f"(PARTITION BY k ORDER BY {order} {unit.upper()} {ends} EXCLUDE {words})"


def comparable(rng: random.Random) -> dict[str, Any]:
    """A frame that DuckDB has: rows of frames by rows are told apart by their place, and ends are closed."""
    given = {**drawn_frame(rng), **drawn_order(rng), "min_samples": 1}
    given.pop("closed", None)
    if "rows" in given:
        given["order"] = ["u", "place"]
    elif "range" in given:
        given["order"] = None
    return given


@pytest.mark.parametrize("seed", range(200, 240))
def test_frames_and_their_text_are_those_of_duckdb(seed: int) -> None:
    rng = random.Random(seed)
    given, rows = comparable(rng), drawn_rows(rng)
    table = table_of(rows)
    table = table.filter(table["t"].is_valid())
    over = clause(given)
    calls = {"n": "COUNT(x)", "total": "SUM(x)", "most": "MAX(x)", "kinds": "COUNT(DISTINCT s)", "middle": "MEDIAN(x)"}
    items = ", ".join(f"{call} OVER {over} AS {name}" for name, call in calls.items())
    connection = duckdb.connect()
    connection.register("rows", table)
    theirs = connection.sql(f"SELECT place, {items} FROM rows ORDER BY place").fetchall()
    ours = sash.sql(f"SELECT place, {items} FROM rows", rows=table)
    assert sorted(tuple(row.values()) for row in ours.to_pylist()) == [
        tuple(
            None if each is None else int(each) if name != "middle" else each
            for name, each in zip(["place", *calls], row, strict=True)
        )
        for row in theirs
    ], (given, rows)
