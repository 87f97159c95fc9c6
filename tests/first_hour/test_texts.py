"""Texts that a new user types, one test each: they work, or the message names the fix."""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash.errors import SashError
from tests.refusals.case import plain, says_all

NOON = dt.datetime(2026, 1, 1, 12)
EVENTS = pa.table(
    {
        "ts": pa.array([NOON + dt.timedelta(minutes=each) for each in (0, 5, 12, 31, 40)], pa.timestamp("us")),
        "plug": ["a", "b", "a", "a", "b"],
        "load": [3.0, 5.0, 4.0, 8.0, None],
        "My Col": [1, 2, 3, 4, 5],
        "n": [1, 2, 3, 4, 5],
    }
)
HALVES = "GROUP BY window(ts, '30 minutes')"
W = "OVER (PARTITION BY plug ORDER BY ts)"

# A text, a column of its result, and the values of this column.
WORKS: list[tuple[str, str, list[Any]]] = [
    (f"SELECT MAX(load) peak FROM events {HALVES}", "peak", [5.0, 8.0]),
    ("select window_start begin, avg(load) m from events group by window(ts, '1 hour')", "m", [5.0]),
    (f"SELECT window.start, window.end, COUNT(*) c FROM events {HALVES}", "c", [3, 2]),
    (f"SELECT window, plug, COUNT(*) AS c FROM events {HALVES}, plug ORDER BY c DESC LIMIT 1", "plug", ["a"]),
    ("SELECT COUNT(*) AS c FROM events GROUP BY window(ts, '30 minutes', '15 minutes')", "c", [3, 3, 2, 2]),
    ("SELECT COUNT(*) AS c FROM events GROUP BY window(ts, '30 minutes', '30 minutes', '10 minutes')", "c", [2, 2, 1]),
    ("SELECT COUNT(*) AS c FROM events GROUP BY session_window(ts, '10 minutes')", "c", [3, 2]),
    ("SELECT COUNT(*) AS c FROM events GROUP BY window(ts, INTERVAL 30 MINUTES)", "c", [3, 2]),
    ("SELECT COUNT(*) AS c FROM events GROUP BY TUMBLE(ts, INTERVAL '30' MINUTE)", "c", [3, 2]),
    (
        "SELECT COUNT(*) AS c FROM events GROUP BY HOP(ts, INTERVAL '15' MINUTE, INTERVAL '30' MINUTE)",
        "c",
        [3, 3, 2, 2],
    ),
    ("SELECT COUNT(*) AS c FROM events GROUP BY SESSION(ts, INTERVAL '10' MINUTE)", "c", [3, 2]),
    (f"SELECT MAX(CAST(n AS DOUBLE)) / 2 AS half FROM events {HALVES}", "half", [1.5, 2.5]),
    (f"SELECT SUM(CASE WHEN plug = 'a' THEN 1 ELSE 0 END) AS c FROM events {HALVES}", "c", [2, 1]),
    (f"SELECT SUM(CASE plug WHEN 'a' THEN n END) AS s FROM events {HALVES}", "s", [4, 4]),
    (f"SELECT SUM(COALESCE(load, 0)) AS s FROM events {HALVES}", "s", [12.0, 8.0]),
    (f"SELECT DISTINCT plug FROM events {HALVES}, plug", "plug", ["a", "a", "b", "b"]),
    (
        (
            f"WITH used AS (SELECT *, load / 2 AS half FROM events WHERE load IS NOT NULL) "
            f"SELECT SUM(half) AS s FROM used {HALVES}"
        ),
        "s",
        [6.0, 4.0],
    ),
    (f"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY load) AS p FROM events {HALVES}", "p", [4.0, 8.0]),
    (f"SELECT PERCENTILE(load, 0.5) AS p FROM events {HALVES}", "p", [4.0, 8.0]),
    (f"SELECT COUNT(DISTINCT plug) AS d FROM events {HALVES}", "d", [2, 2]),
    (f"SELECT plug, COUNT(*) AS c FROM events {HALVES}, plug HAVING COUNT(*) > 1", "c", [2]),
    (f"SELECT MAX(load) - MIN(load) AS width FROM events {HALVES}", "width", [2.0, 0.0]),
    (f"SELECT ROUND(AVG(load), 1) AS m FROM events {HALVES}", "m", [4.0, 8.0]),
    (f"SELECT SUM(load) FILTER (WHERE plug = 'a') AS s FROM events {HALVES}", "s", [7.0, 8.0]),
    (f"SELECT MAX(LOAD) AS peak FROM events {HALVES}", "peak", [5.0, 8.0]),
    (f'SELECT MAX("My Col") AS m FROM events {HALVES}', "m", [3, 5]),
    (f"SELECT MAX(`my col`) AS m FROM events {HALVES}".replace("my col", "My Col"), "m", [3, 5]),
    (f"SELECT e.plug AS name, MAX(e.load) AS m FROM events AS e {HALVES}, e.plug", "name", ["a", "a", "b", "b"]),
    (f"SELECT load - LAG(load) {W} AS change FROM events", "change", [None, None, 1.0, 4.0, None]),
    (f"SELECT LEAD(n) {W} AS next FROM events", "next", [3, 5, 4, None, None]),
    (f"SELECT FIRST_VALUE(n) {W} AS f, LAST_VALUE(n) {W} AS l FROM events", "f", [1, 2, 1, 1, 2]),
    ("SELECT *, ROW_NUMBER() OVER (PARTITION BY plug ORDER BY ts DESC) AS rn FROM events QUALIFY rn = 1", "n", [4, 5]),
    (f"SELECT n, SUM(n) {W} AS running FROM events ORDER BY running DESC LIMIT 2", "running", [8, 7]),
    (f"SELECT ts, plug, n, AVG(load) {W} AS mean FROM events WHERE n <= 2", "n", [1, 2]),
    (f"SELECT COUNT() AS c FROM events {HALVES}", "c", [3, 2]),
    (f"SELECT LIST(plug) AS l FROM events {HALVES}", "l", [["a", "b", "a"], ["a", "b"]]),
    (f"SELECT SUM(n) AS s FROM events WHERE (load > 4) IS TRUE {HALVES}", "s", [2, 4]),
    (f"SELECT SUM(n) AS s FROM events WHERE (load > 4) IS NOT TRUE {HALVES}", "s", [4, 5]),
    (f"SELECT SUM(n) AS s FROM events WHERE (load > 4) IS FALSE {HALVES}", "s", [4]),
    (f"SELECT SUM(n) AS s FROM events WHERE (load > 4) IS NOT FALSE {HALVES}", "s", [2, 9]),
    (f"SELECT 2 * n AS twice, COUNT(*) {W} AS c FROM events", "twice", [2, 4, 6, 8, 10]),
]

# A text, and what its message says.
REFUSED: list[tuple[str, str]] = [
    (f"SELECT max('My Col') FROM events {HALVES}", 'for the column of that name, write max("My Col")'),
    ("SELECT plug, MAX(load) FROM events GROUP BY plug", "There is no window … GROUP BY window(ts, '1 hour')"),
    ("SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) FROM events GROUP BY TUMBLE(ts, '1 hour')", "write window_start"),
    (f"SELECT plug, MAX(load) FROM events {HALVES}, ROLLUP(plug)", "ROLLUP … write a SELECT for each set of keys"),
    (f"SELECT MAX(load) FROM events WHERE ts > '2026-01-01' {HALVES}", "write TIMESTAMP '2026-01-31 12:00:00'"),
    ("SELECT * FROM events LIMIT 5", "There is no window … [RANGE 1 HOUR SLIDE 1 MINUTE]"),
    ("SELECT MAX(load) FROM events GROUP BY date_trunc('hour', ts)", "write GROUP BY window(ts, '1 hour')"),
    ("SELECT COUNT(*) FROM events e JOIN plugs p ON e.plug = p.plug", "JOIN … write WINDOW JOIN"),
    ("SELECT COUNT(*) FROM (SELECT * FROM events) x", "WITH name AS (SELECT …)"),
    (f"SELECT MAX(load) FROM events {HALVES} UNION SELECT 1 FROM events", "UNION … several SELECTs with ;"),
    (f"SELECT plug, MAX(load) FROM events {HALVES}", "'plug' is neither a key nor in an aggregate: add GROUP BY plug"),
    (f"SELECT load::int FROM events {HALVES}", "write CAST(x AS type)"),
    (f"SELECT LAG(load) FROM events {HALVES}", "LAG needs OVER"),
    (f"SELECT DENSE_RANK() {W} FROM events", "use RANK or ROW_NUMBER"),
    (f"SELECT MAX(load) {W} FROM events HAVING n > 1", "write QUALIFY"),
    (f"SELECT MAX(load) FROM events {HALVES} QUALIFY n > 1", "write HAVING"),
    (f"SELECT PERCENTILE_CONT(0.95) FROM events {HALVES}", "WITHIN GROUP (ORDER BY x)"),
    (f"SELECT MAX(CAST(load AS nubmer)) FROM events {HALVES}", "There is no type 'nubmer'"),
    (f"SELECT MAX(load) FROM events {HALVES}, upper(plug)", "compute it first, as in WITH"),
    (f"SELECT MAX(load) FROM events {HALVES} WHERE n > 1", "WHERE must be before GROUP BY"),
    (f"SELECT MAX(load) AS m FROM events WHERE m > 1 {HALVES}", "before the result 'm': write HAVING"),
    (f"SELECT MAX(load) FROM events WHERE MAX(load) > 1 {HALVES}", "write HAVING"),
    (f"SELECT *, ROW_NUMBER() {W} AS rn FROM events WHERE rn = 1", "write QUALIFY"),
    (f"SELECT * FROM events WHERE ROW_NUMBER() {W} = 1", "write QUALIFY"),
    (f"SELECT MAX(load) AS 'peak' FROM events {HALVES}", 'write "peak" in double quotes'),
    (f"SELECT MAX(load) 'peak' FROM events {HALVES}", 'write "peak" in double quotes'),
    (f"SELECT TOP 3 MAX(load) FROM events {HALVES}", "write LIMIT 3 at the end"),
    (f"SELECT MAX(load) FROM main.events {HALVES}", "write the name of the table alone"),
    (f"SELECT SUM(n) // 2 FROM events {HALVES}", "write FLOOR(a / b)"),
    (f"SELECT SUM(n) DIV 2 FROM events {HALVES}", "write FLOOR(a / b)"),
    (f"SELECT COUNT(DISTINCT plug, n) FROM events {HALVES}", "such as concat(a, '/', b)"),
    (f"SELECT STRING_AGG(plug, ',' ORDER BY ts) FROM events {HALVES}", "rows are in the order of `on`"),
    (f"SELECT EXTRACT(hour FROM window_start), MAX(n) FROM events {HALVES}", "a column of the table or of the result"),
    (f"SELECT HOUR(window_start), MAX(n) FROM events {HALVES}", "a column of the table or of the result"),
    (f"SELECT BOOL_OR(n > 1) FROM events {HALVES}", "write MAX(condition)"),
    (f"SELECT ARG_MAX(plug, n) FROM events {HALVES}", "write MAX_BY(who, x)"),
    (f"SELECT SUM_IF(n, n > 1) FROM events {HALVES}", "SUM(x) FILTER (WHERE condition)"),
    (f"SELECT MAX(n) FROM events WHERE plug ILIKE 'A' {HALVES}", "write LOWER(x) LIKE 'a%'"),
    (f"SELECT MAX(n) FROM events WHERE n > 1 & n < 3 {HALVES}", "write AND"),
    (f"SELECT MAX(n) FROM events WHERE (n > 1) = 1 {HALVES}", "write the condition alone, or NOT before it"),
    (f"SELECT ts - LAG(ts) {W} FROM events", "compute with times in the table or in the result"),
    (f"SELECT CAST(MAX(load) AS TEXT) FROM events {HALVES}", "convert the column in the table or in the result"),
    ("SELECT MAX(n) FROM events GROUP BY window(ts, 30 minutes)", "write '30 minutes'"),
    ("SELECT MAX(n) FROM events GROUP BY sliding(ts, '1 hour', '1 minute')", "write GROUP BY window(ts, '1 hour'"),
    (f"SELECT w.start, MAX(n) FROM events {HALVES} AS w", "GROUP BY has no alias … window_start and window_end"),
    (f"SELECT w.start, MAX(n) FROM events {HALVES} w", "GROUP BY has no alias … window_start and window_end"),
    (f"SELECT window(ts, '30 minutes').start, MAX(n) FROM events {HALVES}", "write window_start or window_end"),
    (f"SELECT e.*, COUNT(*) {W} AS c FROM events e", "write * alone"),
    (f"SELECT MAX(n) AS select FROM events {HALVES}", 'write "select" in double quotes'),
    (f"SELECT MAX(n) FROM events WHERE plug IS DISTINCT FROM 'a' {HALVES}", "write a <> b OR a IS NULL"),
    (f"EXPLAIN SELECT MAX(n) FROM events {HALVES}", "write sash.explain("),
    ("WITH a AS (SELECT MAX(n) AS m FROM events) SELECT MAX(m) FROM a", "has no aggregates … pass other results"),
    (f"SELECT CAST(plug AS INT) AS i, COUNT(*) {W} AS c FROM events", "TRY_CAST gives null"),
    (f"SELECT MAX(x.load) FROM events {HALVES}", "only the table of the query"),
    (f"SELECT COUNT(*) AS c FROM events {HALVES}, plug ORDER BY total", "add GROUP BY total"),
]


@pytest.mark.parametrize(("text", "column", "wanted"), WORKS, ids=[each[0] for each in WORKS])
def test_a_text_that_people_type_works(text: str, column: str, wanted: list[Any]) -> None:
    assert sash.sql(text, events=EVENTS).column(column).to_pylist() == wanted


@pytest.mark.parametrize(("text", "says"), REFUSED, ids=[each[0] for each in REFUSED])
def test_a_text_that_cannot_work_says_what_to_type(text: str, says: str) -> None:
    with pytest.raises(SashError) as refused:
        sash.sql(text, events=EVENTS)
    sentence, *_ = str(refused.value).split("\n")
    plain(sentence)
    says_all(sentence, says)


def test_columns_that_differ_only_in_case_are_named_in_quotes() -> None:
    twins = EVENTS.append_column("Load", EVENTS["n"])
    with pytest.raises(SashError, match="'LOAD' can be `load` or `Load`"):
        sash.sql(f"SELECT MAX(LOAD) FROM events {HALVES}", events=twins)
    assert sash.sql(f'SELECT MAX("Load") AS m FROM events {HALVES}', events=twins)["m"].to_pylist() == [3, 5]


def test_pandas_and_polars_get_their_own_kind() -> None:
    import pandas as pd
    import polars as pl

    text = f"SELECT n, LAG(n) {W} AS prev FROM events QUALIFY prev IS NOT NULL ORDER BY n DESC"
    frame = EVENTS.to_pandas().set_index(pd.Index(list("vwxyz")))
    assert sash.sql(text, events=frame)["n"].to_dict() == {"z": 5, "y": 4, "x": 3}
    assert sash.sql(text, events=pl.from_arrow(EVENTS))["n"].to_list() == [5, 4, 3]
    with_input = f"WITH late AS (SELECT * FROM events WHERE n > 2) SELECT n, COUNT(*) {W} AS c FROM late"
    assert list(sash.sql(with_input, events=frame).index) == ["x", "y", "z"]
    widths = f"SELECT plug AS name, MAX(n) - MIN(n) AS width FROM events {HALVES}, plug"
    for given in (frame, pl.from_arrow(EVENTS)):
        found = sash.sql(widths, events=given)
        assert type(found) is type(given)
        assert list(found["width"]) == [2, 0, 0, 0]


def test_several_selects_compute_their_own_results() -> None:
    both = f"SELECT COALESCE(MAX(load), 0) AS x FROM events {HALVES}; wide: SELECT SUM(n) * 2 AS y FROM events {HALVES}"
    rows = sash.sql(both, events=EVENTS).select(["query", "x", "y"]).to_pylist()
    assert [row for row in rows if row["query"] == "q1"] == [
        {"query": "q1", "x": 5.0, "y": None},
        {"query": "q1", "x": 8.0, "y": None},
    ]
    assert [row["y"] for row in rows if row["query"] == "wide"] == [12, 18]


def test_deep_and_wide_expressions_are_answered_or_refused_at_once() -> None:
    for text in (
        f"SELECT {'CASE ' * 150}n{' WHEN 1 THEN 2 WHEN 2 THEN 3 END' * 150} AS x, COUNT(*) {W} FROM events",
        f"SELECT {'(' * 150}MAX(n){' - MIN(n))' * 150} AS x FROM events {HALVES}",
        f"SELECT n, COUNT(*) {W} AS c FROM events QUALIFY {'NOT ' * 150} c > 1",
    ):
        try:
            sash.sql(text, events=EVENTS)
        except SashError as error:
            plain(str(error).split("\n")[0])
