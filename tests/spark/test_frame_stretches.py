"""Frames of rows that come bit by bit: each row is answered once, as soon as its frame is complete, as in a table."""

import random
from typing import Any

import pytest

import sash
from sash.engine.frame import frame, order_of
from sash.engine.rolling import compute_frames, plan_frames
from sash.engine.tables import read_rows
from sash.spark.worker.frames import Frames
from tests.oracles.test_sql_frames import drawn_frame, drawn_order, held, table_of

AGGREGATES: dict[str, Any] = {"total": sash.sum("x"), "all": sash.collect("x"), "newest": sash.last("place")}


def rows_of(rng: random.Random, count: int) -> dict[str, list[Any]]:
    return {
        "t": sorted(rng.randrange(40) for _ in range(count)),
        "k": [rng.choice("ab") for _ in range(count)],
        "u": [rng.randrange(3) for _ in range(count)],
        "x": [rng.randrange(9) for _ in range(count)],
        "s": ["" for _ in range(count)],
        "place": list(range(count)),
    }


@pytest.mark.parametrize("seed", range(80))
def test_rows_that_come_in_stretches_are_answered_once_and_as_in_a_table(seed: int) -> None:
    rng = random.Random(seed)
    rows, given = rows_of(rng, 40), {**drawn_frame(rng), **drawn_order(rng)}
    (unit,) = {"rows", "range", "groups"} & given.keys()
    if seed % 4:  # else, open ends: these rows wait for the last stretch
        low, high = given[unit]
        given[unit] = (-4 if low is None else low, 4 if high is None else high)
    extent = {name: value for name, value in given.items() if name not in ("order", "descending")}
    table = table_of(rows)
    order = order_of(given["order"], given["descending"])
    plan = plan_frames(read_rows(table), (frame(**extent, **AGGREGATES),), "t", "k", order)
    wanted = compute_frames(plan, read_rows(table))
    frames, at = Frames(plan, table.slice(0, 0)), 0
    found: list[dict[str, Any]] = []
    for until in [*sorted(rng.sample(range(1, 40), 5)), None]:
        end = 40 if until is None else sum(t < until for t in rows["t"])
        part = table.slice(at, end - at)
        if rng.random() < 0.3 and until is not None:
            frames.skip(part, until)  # a replay
            answered = None
        else:
            answered = frames.answer(part, until)
            found += answered.to_pylist()
        frames = Frames(plan, frames.held, frames.is_done)  # saved and restored
        if answered is not None and until is not None:
            for row in answered.to_pylist():
                assert not _can_grow(rows, row["place"], given, until), (row, given, until)
        at = end
    places = [row["place"] for row in found]
    assert len(places) == len(set(places))
    for row in found:
        for name in AGGREGATES:
            assert row[name] == wanted[name][row["place"]].as_py(), (row, given)


def _can_grow(rows: dict[str, list[Any]], row: int, given: dict[str, Any], until: int) -> bool:
    """Whether a later row would change the frame: try one at every later position."""
    known = [p for p in range(len(rows["t"])) if rows["t"][p] < until]
    small = {name: [values[p] for p in known] for name, values in rows.items()}
    before = held(small, known.index(row), given)
    for t in range(until, until + 10):
        for u in (-1, 4):
            new = {"t": t, "k": rows["k"][row], "u": u, "x": 1, "s": "", "place": 99}
            more = {name: [*values, new[name]] for name, values in small.items()}
            if held(more, known.index(row), given) != before:
                return True
    return False


@pytest.mark.parametrize("seed", range(12))
def test_frames_of_several_units_in_one_call_are_those_of_a_table(seed: int) -> None:
    """One frame can be complete before another, so rows at one position are answered at different times."""
    rng = random.Random(seed)
    rows = {**rows_of(rng, 60), "t": sorted(rng.randrange(15) for _ in range(60))}
    table, order = table_of(rows), order_of(None, rng.random() < 0.3)
    ahead = frame(rows=(-1, rng.randint(1, 4)), total=sash.sum("x"))
    back = frame(groups=(-rng.randint(1, 3), 0), all=sash.collect("place"))
    plan = plan_frames(read_rows(table), (ahead, back), "t", "k", order)
    wanted = compute_frames(plan, read_rows(table))
    frames, at, found = Frames(plan, table.slice(0, 0)), 0, []
    for until in [*range(1, 15), None]:
        end = 60 if until is None else sum(t < until for t in rows["t"])
        found += frames.answer(table.slice(at, end - at), until).to_pylist()
        at = end
    assert sorted(row["place"] for row in found) == list(range(60))
    for row in found:
        assert all(row[name] == wanted[name][row["place"]].as_py() for name in ("total", "all")), row
