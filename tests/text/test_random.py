"""Random texts: nothing but a SashError comes back; what is valid means what Python would have written."""

import string
from contextlib import suppress
from typing import Any

import hypothesis.strategies as st
from hypothesis import example, given, settings

import sash
from sash import text
from sash.errors import SashError
from sash.syntax.expressions import Apply, Column, Expression, Literal
from sash.syntax.tokens import KEYWORDS, SYMBOLS
from tests.accepting import accepting

WORDS = [
    *KEYWORDS,
    *SYMBOLS,
    "TUMBLE",
    "HOP",
    "MAX",
    "COUNT",
    "t",
    "x",
    "ts",
    "1",
    "2.5",
    "'a'",
    "LAG",
    "COALESCE",
    "WINDOW",
    "`b c`",
    "HOURS",
    "--",
    "/*",
]
UNITS = ["SECONDS", "minute", "Hours", "DAY"]


@given(st.text(max_size=60))
def test_any_text_is_answered_or_refused(given_text: str) -> None:
    with suppress(SashError):
        text.parse(given_text)


def is_answered(said: str) -> bool:
    try:
        sash.sql(said, t={"ts": [1, 2], "x": [1.0, None], "k": ["a", "b"]}, on="ts")
    except SashError:
        return False
    return True


@settings(max_examples=300)
@given(st.lists(st.sampled_from(WORDS), max_size=30), st.booleans())
def test_any_words_of_the_language_are_answered_or_refused(words: list[str], is_begun: bool) -> None:
    is_answered(" ".join(["SELECT MAX(x) FROM t ["] * is_begun + words))


CLAUSES = [
    "HAVING MAX(x) > 0",
    "ORDER BY 1",
    "LIMIT 2",
    "WHERE x > 1",
    "WHERE k = 'a' OR x IS NULL",
    "GROUP BY k",
    "AND NOT x < 2",
    "-- the end",
    ";",
    "AS m",
]


@accepting(
    0.1,
    examples=150,
    window=st.sampled_from(["[ROWS 5]", "[RANGE 10 SLIDE 5]", "[SESSION GAP 5]", "[ROWS 2 SLIDE 2]", "[RANGE 10", ""]),
    clauses=st.lists(st.sampled_from(CLAUSES), max_size=3),
)
def test_clauses_in_any_order_are_answered_or_refused(window: str, clauses: list[str]) -> bool:
    return is_answered(" ".join(["SELECT MAX(x) FROM t", window, *clauses]))


VALID = [
    "SELECT k, MAX(x) AS m FROM t [RANGE 10 SLIDE 5 PARTITION BY k] WHERE x > 1 AND k IN ('a', 'b') GROUP BY k",
    "SELECT COUNT(*) FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), 5, 10)) GROUP BY window_start, window_end",
    "SELECT *, MAX(CASE WHEN x > 1 THEN x END) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM t",
    "SELECT k key, MAX(x) - MIN(x) w FROM t e GROUP BY window(ts, 9, 5), k HAVING COUNT(*) > 0 ORDER BY w LIMIT 3",
    "WITH u AS (SELECT ts, CAST(x AS INT) x FROM t) SELECT x - LAG(x) OVER (ORDER BY ts) d FROM u QUALIFY d > 1",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) p, SUM(x) FILTER (WHERE k = 'a') s FROM t [ROWS 2 SLIDE 2]",
]


@accepting(0.1, examples=400, valid=st.sampled_from(VALID), data=st.data())
def test_a_valid_text_with_a_word_changed_is_answered_or_refused(valid: str, data: Any) -> bool:
    words = valid.replace("(", " ( ").replace(")", " ) ").replace("[", " [ ").replace("]", " ] ").split()
    at = data.draw(st.integers(0, len(words) - 1))
    words[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(WORDS), max_size=2))
    return is_answered(" ".join(words))


names = st.text(string.ascii_letters + " .`'\"é_", min_size=1, max_size=8)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@st.composite
def windows(draw: st.DrawFn) -> tuple[str, Any]:
    count, step = draw(st.integers(1, 10**6)), draw(st.integers(1, 10**6))
    unit = draw(st.sampled_from(UNITS))
    return draw(
        st.sampled_from(
            [
                (f"[RANGE {count} {unit} SLIDE {step} seconds]", sash.sliding(f"{count} {unit}", every=f"{step}s")),
                (f"[RANGE {count} SLIDE {step}]", sash.sliding(count, every=step)),
                (f"[ROWS {count} SLIDE {step}]", sash.sliding(rows=count, every=step)),
                (f"[ROWS {count} SLIDE {step} {unit}]", sash.sliding(rows=count, every=f"{step} {unit}")),
                (f"[SESSION GAP {count} {unit}]", sash.session(gap=f"{count} {unit}")),
            ]
        )
    )


@given(
    windows(),
    st.dictionaries(
        names.filter(lambda each: each not in ("query", "revision", "window_start", "window_end")),
        st.tuples(st.sampled_from(["max", "sum", "first", "median", "stddev"]), names),
        min_size=1,
        max_size=4,
    ),
    st.lists(names, max_size=2, unique=True),
    st.sampled_from([str.upper, str.lower, str.title]),
)
def test_a_query_that_is_written_down_is_read_back(
    window: tuple[str, Any], results: dict[str, tuple[str, str]], keys: list[str], cased: Any
) -> None:
    items = [
        f"{cased(function)}({quoted(column)}) {cased('as')} {quoted(name)}"
        for name, (function, column) in results.items()
    ]
    group = f" {cased('group by')} {', '.join(map(quoted, keys))}" if keys else ""
    [asked] = text.parse(f"{cased('select')} {', '.join(items)} {cased('from')} t {window[0]}{group}")
    aggregates = {name: getattr(sash, function)(column) for name, (function, column) in results.items()}
    assert asked.query() == sash.query("q1", window[1], **aggregates)
    assert asked.keys == (tuple(keys) or None)


literals = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.booleans(),
)
leaves: st.SearchStrategy[Expression] = st.one_of(names.map(Column), literals.map(Literal), st.just(Literal(None)))


def applied(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pairs = st.tuples(parts, parts)
    operators = st.sampled_from(["+", "-", "*", "/", "%", "||", "=", "<>", "<", "<=", ">", ">="])
    return st.one_of(
        st.builds(Apply, operators, pairs),
        st.builds(Apply, st.sampled_from(["coalesce", "greatest", "nullif"]), pairs),
        st.builds(Apply, st.sampled_from(["abs", "upper", "length"]), st.tuples(parts)),
    )


@example(Column("FALSE"))
@given(st.recursive(leaves, applied, max_leaves=12))
def test_an_expression_that_is_written_down_is_read_back(expression: Expression) -> None:
    [asked] = text.parse(f"SELECT MAX(x) FROM t [ROWS 5] WHERE {expression}")
    assert asked.where == expression
