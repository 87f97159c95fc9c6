"""Refusals of query text: with the place of the mistake, and by what a person would write by mistake."""

from collections.abc import Callable
from typing import Any

import sash
from sash.errors import InvalidAggregate, InvalidInput, InvalidText
from tests.refusals.case import Case

__all__ = ["TABLE", "TEXTS", "WINDOW", "WRONG", "asked"]

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
TABLE = {"ts": [1, 2, 3], "plug": ["a", "b", "a"], "load": [1.5, None, 2.5], "n": [1, 2, 3]}
WINDOW = "FROM t [RANGE 10 SLIDE 10]"
TVF = "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), 10))"
EDGES = "GROUP BY window_start, window_end"

# A text, the word under which the mark stands (the last of its kind), and a part of the sentence.
WRONG: list[tuple[str, str, str]] = [
    ("SELECT MAX(load FROM t [ROWS 5]", "FROM", "Expected ), a comma or an operator, but found FROM."),
    ("SELECT MAX(load) FORM t [ROWS 5]", "FORM", "Did you mean FROM?"),
    ("SELECT MAX(load) t [ROWS 5]", "[", "Expected FROM or a comma, but found [."),
    ("SELECT FROM t", "FROM", "an expression, but found FROM."),
    ("SELECT MAX(load) FROM t [RANGE 10 SLIDE]", "]", "Expected INTERVAL, a number or a text in single quotes"),
    ("SELECT MAX(load) FROM t [RANGE 10 SLID 2]", "SLID", "'SLID' is no unit of time"),
    ("SELECT MAX(load) FROM t [RANGE 1 MONTH]", "1 MONTH", "months and years have no fixed length"),
    ("SELECT MAX(load) FROM t [SESSION GAP 1 MONTH]", "1 MONTH", "months and years have no fixed length"),
    ("SELECT MAX(load) FROM t [RANGE 1 DAY SLIDE 1 DAY ZONE 'Berlin']", "RANGE", "must be a time zone such as"),
    ("SELECT MAX(load) FROM t [RANGE 1 DAY ZONE 'UTC']", "RANGE", "ZONE needs a SLIDE"),
    ("SELECT MAX(load) FROM t [RANGE 0 SLIDE 2]", "RANGE", "more than 0"),
    ("SELECT MAX(load) FROM t [ROWS 0]", "ROWS", "at least 1"),
    ("SELECT MAX(load) FROM t [ROWS 2.5 SLIDE 2]", "ROWS", "whole number"),
    ("SELECT MAX(load) FROM t [RANGE 10s]", "10s", "must separate a number from its unit"),
    ("SELECT MAX(load) FROM t", "t", "There is no window"),
    ("SELECT MAX(load) FROM t [UNBOUNDED SLIDE 5]", "5", "An unbounded window has no slide"),
    ("SELECT MAX(load) FROM t [RANGE 5 OFFSET 1]", "1", "OFFSET needs a SLIDE"),
    ("SELECT DSTREAM(MAX(load)) FROM t [ROWS 5]", "DSTREAM", "DSTREAM is not part of the language"),
    (f"SELECT MAX(lod) {WINDOW}", "lod", "There is no column 'lod'. Did you mean 'load'? The known ones: load, n"),
    (f"SELECT MAX(load) {WINDOW} WHERE lod > 1", "lod", "There is no column 'lod'"),
    (f"SELECT plug, MAX(load) {WINDOW}", "plug", "neither a key nor in an aggregate"),
    ("SELECT plug AS p, MAX(load) FROM t [ROWS 5] GROUP BY plug", "p,", "AS cannot rename a column here"),
    (f"SELECT MAX(load) {WINDOW} GROUP BY plg", "plg", "Did you mean 'plug'?"),
    ("SELECT MAX(load) FROM x [ROWS 5]", "x", "There is no table 'x'. The known ones: t."),
    (f"SELECT MXA(load) {WINDOW}", "MXA", "There is no function 'MXA'"),
    (f"SELECT MAX(load, n) {WINDOW}", "MAX", "MAX needs 1 argument, but got 2."),
    (f"SELECT MAX() {WINDOW}", "MAX", "MAX needs 1 argument, but got 0."),
    (f"SELECT QUANTILE(load) {WINDOW}", "QUANTILE", "needs 2 arguments, but got 1."),
    (f"SELECT QUANTILE(load, 2) {WINDOW}", "2)", "a number from 0 to 1"),
    (f"SELECT QUANTILE(load, n) {WINDOW}", "n)", "needs a constant here"),
    (f"SELECT SUM(DISTINCT load) {WINDOW}", "SUM", "DISTINCT in SUM is not part of the language"),
    (f"SELECT MAX(*) {WINDOW}", "MAX", "* in MAX"),
    (f"SELECT MAX(load) - n AS width {WINDOW}", "n AS", "neither a key nor in an aggregate"),
    (f"SELECT MAX(MIN(load)) {WINDOW}", "MIN", "computed from one row"),
    (f"SELECT MAX(FOO(load)) {WINDOW}", "FOO", "There is no function 'FOO'"),
    (f"SELECT MAX(load) {WINDOW} WHERE MAX(load) > 3", "MAX", "computed from one row"),
    (f"SELECT MAX(load) AS a, MIN(load) AS a {WINDOW}", "a FROM", "Two results are named 'a'"),
    (f"SELECT MAX(load) AS query {WINDOW}", "query", "cannot be the name of a result"),
    (f"SELECT * {WINDOW}", "*", "* is not allowed over a window"),
    (f"SELECT plug {WINDOW}", "plug", "has no aggregate"),
    (f"_x: SELECT MAX(load) {WINDOW}", "_x", "must not start with _"),
    ("SELECT MAX(load) FROM t [ROWS 5 PARTITION BY plug] GROUP BY n", "n", "two are given: n and plug"),
    (f"SELECT MAX('load') {WINDOW}", "'load'", 'for the column of that name, write MAX("load").'),
    (f'SELECT MAX("Load") {WINDOW}', '"Load"', "Did you mean 'load'?"),
    (f"SELECT LAG(load) {WINDOW}", "LAG", "LAG needs OVER"),
    ("SELECT LAG(load, -1) OVER (ORDER BY ts) FROM t", "-1", "LAG needs a whole number of rows"),
    ("SELECT MAX(load) OVER (ORDER BY ts), COUNT(*) FROM t", "COUNT", "write OVER after each aggregate"),
    ("SELECT MAX(load) OVER (ORDER BY ts) AS m FROM t HAVING m > 1", "> 1", "write QUALIFY"),
    ("SELECT DISTINCT MAX(load) OVER (ORDER BY ts) FROM t", "MAX", "DISTINCT is for the keys of windows"),
    (f"SELECT MAX(load) {WINDOW} QUALIFY n > 1", "> 1", "write HAVING"),
    (f"SELECT MAX(load) AS m {WINDOW} HAVING m", "MAX", "HAVING or QUALIFY takes a condition, and this is double"),
    (f"SELECT MAX(CAST(n AS nubmer)) {WINDOW}", "nubmer", "There is no type 'nubmer'"),
    (f"SELECT MAX(CAST(plug AS INT)) {WINDOW}", "CAST", "TRY_CAST gives null instead"),
    (f"SELECT MAX(CAST(load AS VARCHAR)) {WINDOW}", "CAST", "CAST to string does not accept double"),
    (f"SELECT PERCENTILE_CONT(0.5) {WINDOW}", "PERCENTILE_CONT", "WITHIN GROUP (ORDER BY x)"),
    ("SELECT MAX(load) FROM t GROUP BY window(ts)", "window", "window needs 2 to 4 arguments, but got 1."),
    ("SELECT MAX(load) FROM t GROUP BY window(ts, plug)", "plug", "window needs a length here"),
    ("SELECT MAX(load) FROM t GROUP BY windw(ts, 5)", "windw", "Did you mean 'window'?"),
    ("SELECT MAX(load) FROM t GROUP BY window(ts, 5), upper(plug)", "upper", "GROUP BY takes columns"),
    (
        "WITH u AS (SELECT MAX(n) AS n FROM t) SELECT MAX(n) FROM u [ROWS 5]",
        "MAX(n) AS",
        "has no aggregates, such as MAX",
    ),
    (f"SELECT MAX(load) {WINDOW} ORDER BY 1; SELECT MIN(load) {WINDOW}", "t [RANGE 10 SLIDE 10] ORDER", "one SELECT"),
    (f"SELECT MAX(load) {WINDOW} HAVING n > 3", "n >", "neither a key nor in an aggregate: add GROUP BY n"),
    (f"SELECT MAX(load) {WINDOW} LIMIT 2.5", "2.5", "LIMIT and OFFSET take whole numbers"),
    (f"SELECT MAX(load) {WINDOW} ORDER BY 2", "2", "The select list has no entry 2"),
    ("SELECT MAX(load) FROM (SELECT * FROM t) [ROWS 5]", "(SELECT", "pass its result as a table"),
    (f"SELECT MAX(u.load) {WINDOW}", "u.load", "A name with a dot must be between backticks"),
    (f"SELECT MAX(load) {WINDOW} WHERE plug = 'a", "'a", "The text that begins here does not end"),
    (f"SELECT MAX(`load) {WINDOW}", "`load", "The name that begins here does not end"),
    (f"SELECT MAX(load) /* {WINDOW}", "/*", "The comment that begins here does not end"),
    (f"SELECT MAX(``) {WINDOW}", "``", "There is no name between these quotes"),
    (f"SELECT MAX(load) {WINDOW} WHERE n ? 3", "?", "'?' is not allowed here"),
    (f"SELECT MAX(load) {WINDOW} WHERE n = 19999999999999999999", "1999", "is not a number that fits 64 bits"),
    (f"SELECT MAX(load) {WINDOW} WHERE n > 1e999", "1e999", "is not a number that fits 64 bits"),
    (f"SELECT MAX(load) {WINDOW} WHERE n = DATE '2026-13-01'", "DATE", "DATE '2026-13-01' cannot be read"),
    (f"SELECT MAX(load) {WINDOW} WHERE n > 'a'", ">", "> does not accept int64 and string"),
    (f"SELECT MAX(load) {WINDOW} WHERE n", "n", "WHERE takes a condition, and this is int64"),
    (f"SELECT MAX(plug + 1) {WINDOW}", "+", "+ does not accept string and int32"),
    (f"SELECT MAX(upper(n)) {WINDOW}", "upper", "UPPER does not accept int64"),
    (f"SELECT MAX(upper(plug, n)) {WINDOW}", "upper", "upper needs 1 argument, but got 2."),
    (f"SELECT MAX(n * 9223372036854775807) {WINDOW}", "*", "cannot be computed on these rows: overflow"),
    (f"SELECT MAX(load) {WINDOW} WHERE n IN (n)", "n)", "write numbers, strings or times"),
    (f"SELECT MAX(load) {WINDOW} WHERE plug LIKE plug", "plug", "LIKE needs a pattern"),
    (f"SELECT MAX(load) {TVF}", "TUMBLE", "GROUP BY must hold window_start and window_end"),
    (f"SELECT MAX(load) {TVF} GROUP BY window_start", "window_start", "must hold"),
    (f"SELECT MAX(load) FROM TUMBEL(TABLE t, DESCRIPTOR(ts), 10) {EDGES}", "TUMBEL", "Did you mean 'TUMBLE'?"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts)) {EDGES}", "TUMBLE", "TUMBLE lacks SIZE"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), 1, 2, 3) {EDGES}", "3)", "ZONE must be a string"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), 1, 2, 3, 4) {EDGES}", "4)", "3 to 5 arguments, but got 6"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), GAP => 3) {EDGES}", "GAP", "There is no argument 'GAP'"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, 5, 3) {EDGES}", "5", "write for example DESCRIPTOR(ts)"),
    (f"SELECT MAX(load) FROM TUMBLE(5, 5, 3) {EDGES}", "5, 5", "write for example TABLE t"),
    (
        f"SELECT MAX(load) FROM CUMULATE(TABLE t, DESCRIPTOR(ts), 3, 10) {EDGES}",
        "CUMULATE",
        "size must be a whole multiple of every",
    ),
    (f"SELECT MAX(load) FROM SESSION(TABLE t, DESCRIPTOR(ts), 3) {EDGES}, plug", "plug", "keys of SESSION"),
    ("SELECT *, MAX(load) OVER (ROWS 5 PRECEDING) FROM t", "OVER", "write ORDER BY ts in it"),
    ("SELECT *, MAX(load) OVER w FROM t", "w FROM", "There is no window 'w'"),
    ("SELECT *, n OVER (ORDER BY ts) FROM t", "OVER", "OVER must follow an aggregate"),
    ("SELECT *, MAX(load) OVER (ORDER BY ts ROWS 1 FOLLOWING) FROM t", "1 FOLLOWING", "write BETWEEN"),
    (
        "SELECT *, MAX(load) OVER (ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) FROM t",
        "MAX",
        "A frame cannot end before it starts",
    ),
    (
        "SELECT *, MAX(load) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW) FROM t",
        "UNBOUNDED",
        "cannot start with UNBOUNDED FOLLOWING",
    ),
    (
        "SELECT *, MAX(load) OVER (ORDER BY ts, n RANGE 5 PRECEDING) FROM t",
        "5",
        "RANGE with a length needs one column in ORDER BY",
    ),
    (
        "SELECT *, MAX(load) OVER (ORDER BY ts) AS a, MAX(load) OVER (ORDER BY n) AS b FROM t",
        "OVER",
        "ORDER BY ts and ORDER BY n",
    ),
    ("SELECT MAX(load) OVER (ORDER BY ts) FROM t [ROWS 5]", "ROWS", "OVER has its own window"),
    ("SELECT MAX(load) OVER (ORDER BY ts) FROM t GROUP BY plug", "plug", "OVER has its own keys"),
    (f"SELECT MAX(load) {WINDOW}; SELECT MAX(load) FROM u [ROWS 5 SLIDE 5]", "u [", "t and u"),
    (f"SELECT MAX(load) {WINDOW}; SELECT MAX(load) FROM t [ROWS 5]", "t [ROWS", "make two calls"),
    ("SELECT MAX(load) FROM t [ROWS 5]; SELECT MAX(load) FROM t [ROWS 6]", "t [", "Two results are named 'max_load'"),
    (f"SELECT MAX(load) {WINDOW}; SELECT MAX(load) {WINDOW} WHERE n > 1", "t [", "WHERE of a call must be the same"),
]


def asked(text: str) -> Any:
    on = None if "OVER" in text or "TABLE t" in text else "ts"
    return sash.sql(text, on=on, t=TABLE)


def sql(text: str, **options: Any) -> Callable[[], Any]:
    return lambda: sash.sql(text, **{"on": "ts", "t": TABLE, **options})


TEXTS: dict[str, Case] = {
    "SELECT misspelt": (sql(f"SELCT MAX(load) {WINDOW}"), InvalidText, "Did you mean SELECT?"),
    "SELECT left out": (sql(f"MAX(load) {WINDOW}"), InvalidText, "Expected SELECT, but found MAX."),
    "another statement": (sql("INSERT INTO t VALUES (1)"), InvalidText, "Expected SELECT, but found INSERT."),
    "FROM left out": (sql("SELECT MAX(load) [RANGE 10 SLIDE 10]"), InvalidText, "FROM"),
    "a bracket that stays open": (sql("SELECT MAX(load) FROM t [RANGE 10 SLIDE 10"), InvalidText, "]"),
    "a window in parentheses": (sql("SELECT MAX(load) FROM t (RANGE 10)"), InvalidText, "for example [RANGE 1 HOUR]"),
    "GROUP misspelt": (sql(f"SELECT MAX(load) {WINDOW} GRUOP BY plug"), InvalidText, "Did you mean GROUP?"),
    "GROUP without BY": (sql(f"SELECT MAX(load) {WINDOW} GROUP plug"), InvalidText, "Expected BY"),
    "RANGE misspelt": (sql("SELECT MAX(load) FROM t [RNGE 10 SLIDE 5]"), InvalidText, "Did you mean RANGE?"),
    "a session without GAP": (sql("SELECT MAX(load) FROM t [SESSION 5]"), InvalidText, "Expected GAP"),
    "a unit misspelt": (
        sql("SELECT MAX(load) FROM t [RANGE 10 MINUETS SLIDE 1 MINUTE]"),
        InvalidText,
        "no unit of time, 'minutes' is",
    ),
    "a function misspelt in capitals": (sql(f"SELECT MEDAIN(load) {WINDOW}"), InvalidText, "Did you mean 'median'?"),
    "== for =": (sql(f"SELECT MAX(load) {WINDOW} WHERE plug == 'a'"), InvalidText, "write =."),
    "a text in double quotes": (sql(f'SELECT MAX(load) {WINDOW} WHERE plug = "a"'), InvalidText, "single quotes"),
    "quotes from a word processor": (
        sql(f"SELECT MAX(load) {WINDOW} WHERE plug = ‘a’"),
        InvalidText,
        "is not allowed here",
    ),
    "a comma too many": (sql(f"SELECT MAX(load), {WINDOW}"), InvalidText, "an expression, but found FROM"),
    "a table in another case": (sql("SELECT MAX(load) FROM T [ROWS 5]"), InvalidText, "Did you mean 't'?"),
    "a table that is a file": (sql(f"SELECT MAX(load) {WINDOW}", t="t.csv"), InvalidInput, "Arrow, pandas or Polars"),
    "an option of windows for a row each": (
        sql("SELECT MAX(load) FROM t [ROWS 5]", emit="updates"),
        InvalidInput,
        "leave it out",
    ),
    "a function that is no aggregate": (
        sql(f"SELECT MINE(load) {WINDOW}", functions={"mine": abs}),
        InvalidAggregate,
        "Expected an aggregate",
    ),
    "a query in the place of text": (lambda: S.sql(sash.max("load"), t=TABLE), InvalidText, "must be a string such as"),
}
