"""A wrong text gets one sentence, the line, and a mark under the place."""

import time
from contextlib import suppress
from typing import Any

import pytest

import sash
from sash.errors import InvalidText, SashError
from tests.refusals.case import check
from tests.refusals.texts import TABLE, TEXTS, WINDOW, WRONG, asked


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


@pytest.mark.parametrize("name", TEXTS)
def test_a_wrong_text_is_one_sentence_with_the_fix(name: str) -> None:
    check(TEXTS[name])


@pytest.mark.parametrize("name", ["meta.load", "`meta.load`", "t.meta.load", "META.load"])
def test_nested_fields_are_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(InvalidText, match="make a column of the field first, or use sash"):
        sash.sql(f"SELECT MAX({name}) AS m FROM t [RANGE 10 SLIDE 10]", t={"ts": [1], "meta": [{"load": 1}]}, on="ts")


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
        InvalidText,
        match="The column of `on` must be the same in the whole text and in the call, but two are given: n and ts",
    ):
        sash.sql(over, t=TABLE, on="n")
    with pytest.raises(InvalidText, match="two are given: n and plug"):
        sash.sql(over, t=TABLE, by="n")
    for wrong in ({"by": 5}, {"on": 5}, {"functions": [sash.max("n")]}, {"functions": {"gm": 5}}, {"on": "x"}):
        with pytest.raises(SashError):
            sash.sql("SELECT MAX(load) FROM t [ROWS 5]", **{"t": TABLE, "on": "ts", **wrong})  # type: ignore[call-overload]
    with pytest.raises(SashError, match="on must be the name of a column of times or numbers"):
        sash.sql(f"SELECT MAX(load) {WINDOW}", t=TABLE)
    with pytest.raises(InvalidText, match=r"pass it by its name, as in sash.sql\(text, t=rows\)"):
        sash.sql(f"SELECT MAX(load) {WINDOW}", on="ts")
    with pytest.raises(InvalidText, match=r"pass a dict of tables as sash.sql\(text, \*\*tables\)"):
        sash.sql(f"SELECT MAX(load) {WINDOW}", on="ts", tables={"t": TABLE})


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
