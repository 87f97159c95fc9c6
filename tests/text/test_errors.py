"""A wrong text gets one sentence, the line, and a mark under the place."""

import time
from contextlib import suppress
from typing import Any

import pytest

import sash
from sash.errors import InvalidText, SashError

TABLE = {"ts": [1, 2, 3], "plug": ["a", "b", "a"], "load": [1.5, None, 2.5], "n": [1, 2, 3]}
WINDOW = "FROM t [RANGE 10 SLIDE 10]"
TVF = "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), 10))"
EDGES = "GROUP BY window_start, window_end"

# A text, the word under which the mark stands (the last of its kind), and a part of the sentence.
WRONG: list[tuple[str, str, str]] = [
    ("SELECT MAX(load FROM t [ROWS 5]", "FROM", "Expected ), a comma or an operator, but found FROM."),
    ("SELECT MAX(load) FORM t [ROWS 5]", "FORM", "Did you mean FROM?"),
    ("SELECT MAX(load) t [ROWS 5]", "t [", "Expected AS, FROM, OVER, a comma or an operator, but found t."),
    ("SELECT FROM t", "FROM", "an expression, but found FROM."),
    ("SELECT MAX(load) FROM t [RANGE 10 SLIDE]", "]", "Expected INTERVAL, a number or a text in single quotes"),
    ("SELECT MAX(load) FROM t [RANGE 10 SLID 2]", "SLID", "'SLID' is no unit of time"),
    ("SELECT MAX(load) FROM t [RANGE 1 MONTH]", "1 MONTH", "months and years have no fixed length"),
    ("SELECT MAX(load) FROM t [SESSION GAP 1 MONTH]", "1 MONTH", "months and years have no fixed length"),
    ("SELECT MAX(load) FROM t [RANGE 1 DAY SLIDE 1 DAY ZONE 'Berlin']", "RANGE", "must be a time zone such as"),
    ("SELECT MAX(load) FROM t [RANGE 1 DAY ZONE 'UTC']", "RANGE", "A ZONE is for windows that slide"),
    ("SELECT MAX(load) FROM t [RANGE 0 SLIDE 2]", "RANGE", "more than 0"),
    ("SELECT MAX(load) FROM t [ROWS 0]", "ROWS", "at least 1"),
    ("SELECT MAX(load) FROM t [ROWS 2.5 SLIDE 2]", "ROWS", "whole number"),
    ("SELECT MAX(load) FROM t [RANGE 10s]", "10s", "must separate a number from its unit"),
    ("SELECT MAX(load) FROM t", "t", "There is no window"),
    ("SELECT MAX(load) FROM t [UNBOUNDED SLIDE 5]", "5", "An unbounded window has no slide"),
    ("SELECT MAX(load) FROM t [RANGE 5 OFFSET 1]", "1", "OFFSET moves a grid"),
    ("SELECT DSTREAM(MAX(load)) FROM t [ROWS 5]", "DSTREAM", "DSTREAM is not part of the language"),
    (f"SELECT MAX(lod) {WINDOW}", "lod", "There is no column 'lod'. Did you mean 'load'? The known ones: load, n"),
    (f"SELECT MAX(load) {WINDOW} WHERE lod > 1", "lod", "There is no column 'lod'"),
    (f"SELECT plug, MAX(load) {WINDOW}", "plug", "neither a key nor in an aggregate"),
    (f"SELECT plug AS p, MAX(load) {WINDOW} GROUP BY plug", "p,", "AS names results"),
    (f"SELECT MAX(load) {WINDOW} GROUP BY plg", "plg", "Did you mean 'plug'?"),
    ("SELECT MAX(load) FROM x [ROWS 5]", "x", "There is no table 'x'. The known ones: t."),
    (f"SELECT MXA(load) {WINDOW}", "MXA", "There is no function 'MXA'"),
    (f"SELECT MAX(load, n) {WINDOW}", "MAX", "MAX needs 1 argument, but got 2."),
    (f"SELECT MAX() {WINDOW}", "MAX", "MAX needs 1 argument, but got 0."),
    (f"SELECT QUANTILE(load) {WINDOW}", "QUANTILE", "needs 2 arguments, but got 1."),
    (f"SELECT QUANTILE(load, 2) {WINDOW}", "2)", "a number from 0 to 1"),
    (f"SELECT QUANTILE(load, n) {WINDOW}", "n)", "takes a number or a text here"),
    (f"SELECT SUM(DISTINCT load) {WINDOW}", "SUM", "DISTINCT in SUM is not part of the language"),
    (f"SELECT MAX(*) {WINDOW}", "MAX", "* in MAX"),
    (f"SELECT MAX(load) - MIN(load) AS width {WINDOW}", "-", "no computing with them"),
    (f"SELECT MAX(MIN(load)) {WINDOW}", "MIN", "computed of one row"),
    (f"SELECT MAX(FOO(load)) {WINDOW}", "FOO", "There is no function 'FOO'"),
    (f"SELECT MAX(load) {WINDOW} WHERE MAX(load) > 3", "MAX", "computed of one row"),
    (f"SELECT MAX(load) AS a, MIN(load) AS a {WINDOW}", "a FROM", "Two results are named 'a'"),
    (f"SELECT MAX(load) AS query {WINDOW}", "query", "cannot be the name of a result"),
    (f"SELECT * {WINDOW}", "*", "* has no meaning over a window"),
    (f"SELECT plug {WINDOW} GROUP BY plug", "plug FROM", "computes nothing"),
    (f"_x: SELECT MAX(load) {WINDOW}", "_x", "must not start with _"),
    ("SELECT MAX(load) FROM t [ROWS 5 PARTITION BY plug] GROUP BY n", "n", "but is n and plug"),
    (f"SELECT MAX(load) {WINDOW} HAVING n > 3", "HAVING", "filter the result"),
    (f"SELECT MAX(load) {WINDOW} LIMIT 3", "LIMIT", "cut the result"),
    (f"SELECT MAX(load) {WINDOW} ORDER BY n", "ORDER", "sort the result"),
    ("SELECT MAX(load) FROM (SELECT * FROM t) [ROWS 5]", "(SELECT", "give its result as a table"),
    (f"SELECT MAX(t.load) {WINDOW}", ".load", "A name with a dot must be between backticks"),
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
    (f"SELECT MAX(load) {WINDOW} WHERE n IN (n)", "n)", "write them out"),
    (f"SELECT MAX(load) {WINDOW} WHERE plug LIKE plug", "plug", "LIKE takes a pattern"),
    (f"SELECT MAX(load) {TVF}", "TUMBLE", "GROUP BY must hold window_start and window_end"),
    (f"SELECT MAX(load) {TVF} GROUP BY window_start", "window_start", "must hold"),
    (f"SELECT MAX(load) FROM TUMBEL(TABLE t, DESCRIPTOR(ts), 10) {EDGES}", "TUMBEL", "Did you mean 'TUMBLE'?"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts)) {EDGES}", "TUMBLE", "TUMBLE lacks SIZE"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), 1, 2, 3) {EDGES}", "3)", "ZONE is a text"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), 1, 2, 3, 4) {EDGES}", "4)", "3 to 5 arguments, but got 6"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), GAP => 3) {EDGES}", "GAP", "There is no argument 'GAP'"),
    (f"SELECT MAX(load) FROM TUMBLE(TABLE t, 5, 3) {EDGES}", "5", "write DESCRIPTOR(ts)"),
    (f"SELECT MAX(load) FROM TUMBLE(5, 5, 3) {EDGES}", "5, 5", "write such as TABLE t"),
    (
        f"SELECT MAX(load) FROM CUMULATE(TABLE t, DESCRIPTOR(ts), 3, 10) {EDGES}",
        "CUMULATE",
        "size must be a whole multiple of every",
    ),
    (f"SELECT MAX(load) FROM SESSION(TABLE t, DESCRIPTOR(ts), 3) {EDGES}, plug", "plug", "keys of SESSION"),
    ("SELECT *, MAX(load) OVER (ROWS 5 PRECEDING) FROM t", "OVER", "write ORDER BY ts in it"),
    ("SELECT *, MAX(load) OVER w FROM t", "w FROM", "There is no window 'w'"),
    ("SELECT *, MAX(load) OVER (ORDER BY ts DESC) FROM t", "DESC", "frames look back"),
    ("SELECT *, n OVER (ORDER BY ts) FROM t", "n OVER", "OVER follows an aggregate"),
    (
        "SELECT *, MAX(load) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t",
        "1 FOLLOWING",
        "a frame ends at its row, so write",
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


@pytest.mark.parametrize(("wrong", "under", "says"), WRONG, ids=[each[0] for each in WRONG])
def test_a_wrong_text_is_refused_at_its_place(wrong: str, under: str, says: str) -> None:
    with pytest.raises(InvalidText) as refused:
        asked(wrong)
    sentence, line, mark = str(refused.value).split("\n")
    assert says in sentence
    assert sentence.endswith(("?", ".")) or "known ones" in sentence
    assert line == f"    {wrong}"
    assert mark == " " * (4 + wrong.rindex(under)) + "^"
    assert refused.value.__cause__ is None


def test_the_line_of_several_is_shown() -> None:
    with pytest.raises(InvalidText, match=r"^Line 3: Expected .*\n    FORM t \[ROWS 5\]\n    \^$"):
        asked("SELECT\n  MAX(load)\nFORM t [ROWS 5]\n;")


def test_a_long_line_is_cut_around_the_place() -> None:
    with pytest.raises(InvalidText) as refused:
        asked("SELECT MAX(load) FROM t [ROWS 5] WHERE" + " n = 1 OR" * 500 + " n = ?" + " OR n = 1" * 500)
    _, line, mark = str(refused.value).split("\n")
    assert len(line) < 140
    assert line[len(mark) - 1] == "?"


@pytest.mark.parametrize("nothing", ["", "  ", "-- a comment", ";", None, 5, b"SELECT"])
def test_what_is_no_query_is_refused(nothing: Any) -> None:
    with pytest.raises(InvalidText):
        sash.sql(nothing, t=TABLE)


def test_what_text_and_python_say_must_agree() -> None:
    over = "SELECT *, MAX(load) OVER (PARTITION BY plug ORDER BY ts) AS m FROM t"
    assert sash.sql(over, t=TABLE, on="ts", by="plug").num_rows == 3
    with pytest.raises(
        InvalidText, match="What advances must be the same in the whole text and the call, but is n and ts"
    ):
        sash.sql(over, t=TABLE, on="n")
    with pytest.raises(InvalidText, match="but is n and plug"):
        sash.sql(over, t=TABLE, by="n")
    for wrong in ({"by": 5}, {"on": 5}, {"functions": [sash.max("n")]}, {"functions": {"gm": 5}}, {"on": "x"}):
        with pytest.raises(SashError):
            sash.sql("SELECT MAX(load) FROM t [ROWS 5]", **{"t": TABLE, "on": "ts", **wrong})  # type: ignore[call-overload]
    with pytest.raises(SashError, match="on must be the name of the column that advances"):
        sash.sql(f"SELECT MAX(load) {WINDOW}", t=TABLE)
    with pytest.raises(InvalidText, match=r"pass it by its name, as in sash.sql\(text, t=rows\)"):
        sash.sql(f"SELECT MAX(load) {WINDOW}", on="ts")


def million(unit: str) -> str:
    return f"SELECT MAX(load) FROM t [ROWS 5] WHERE n = {unit * (999_000 // len(unit))} 1"


HUGE = {
    "parentheses": f"SELECT MAX({'(' * 100_000}n{')' * 100_000}) FROM t [ROWS 5]",
    "open parentheses": "(" * 100_000,
    "calls": f"SELECT {'MAX(' * 100_000}n{')' * 100_000} FROM t [ROWS 5]",
    "signs": f"SELECT MAX({'- ' * 100_000}n) FROM t [ROWS 5]",
    "negations": f"SELECT MAX(n) FROM t [ROWS 5] WHERE {'NOT ' * 9_000}TRUE",
    "a sum": f"SELECT MAX(n{' + n' * 4_900}) FROM t [ROWS 5]",
    "conditions": f"SELECT MAX(n) FROM t [ROWS 5] WHERE n = 1{' OR n = 1' * 2_400}",
    "cases": f"SELECT MAX({'CASE WHEN TRUE THEN ' * 3_000} 1 {'END ' * 3_000}) FROM t [ROWS 5]",
    "members": f"SELECT MAX(n) FROM t [ROWS 5] WHERE n IN (1{', 1' * 4_900})",
    "many selects": "SELECT MAX(n) FROM t [ROWS 5];" * 700,
    "wrong at the end": f"SELECT MAX(n) FROM t [ROWS 5] WHERE n IN (1{', 1' * 4_900}",
    "a megabyte of members": million("1, "),
    "a megabyte of operators": million("1 + "),
    "a megabyte of quotes": million("'"),
    "a megabyte of text": f"SELECT MAX(n) FROM t [ROWS 5] WHERE plug = '{'x' * 999_000}'",
    "a megabyte of comment": f"SELECT MAX(n) FROM t [ROWS 5] /*{'*' * 999_000}",
    "a megabyte of digits": million("7"),
    "two megabytes": "x" * 2_000_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_text_is_answered_or_refused_at_once(name: str) -> None:
    asked("SELECT MAX(n) FROM t [ROWS 5]")  # compiled, and the parser made
    start = time.perf_counter()
    with suppress(SashError):
        asked(HUGE[name])
    taken = time.perf_counter() - start
    assert taken < 5, f"{taken:.2f} s"
