"""Texts that DuckDB can read, too: the same text gives the same rows."""

import datetime as dt
import math
import re
from typing import Any

import duckdb
import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sash

NOON = dt.datetime(2026, 1, 1, 12)
ROWS = 24
TABLE = pa.table(
    {
        "n": pa.array([each * 7 % ROWS for each in range(ROWS)], pa.int64()),
        "ts": pa.array([NOON + dt.timedelta(minutes=each * 7 % ROWS * 4) for each in range(ROWS)], pa.timestamp("us")),
        "k": pa.array(["abc"[each % 3] for each in range(ROWS)], pa.string()),
        "a": pa.array([None if each % 5 == 3 else each * 11 % 13 - 4 for each in range(ROWS)], pa.int64()),
        "b": pa.array([each * 5 % 7 - 2 for each in range(ROWS)], pa.int64()),
        "f": pa.array([None if each % 7 == 2 else each * 3 % 8 / 2 - 1 for each in range(ROWS)], pa.float64()),
        "s": pa.array([None if each % 6 == 1 else "xyZ "[each % 4] * (each % 3) for each in range(ROWS)], pa.string()),
        "digits": pa.array([str(each * each) for each in range(ROWS)], pa.string()),
    }
)
PER_KEY = "PARTITION BY k ORDER BY n"
# Texts of a result per row, which both read.
FRAMES = [
    f"SELECT n, LAG(a) OVER ({PER_KEY}) prev, LEAD(s, 2) OVER ({PER_KEY}) AS next FROM t",
    f"SELECT n, LAG(a, 2, -1) OVER ({PER_KEY}) prev, a - LAG(a, 1, b) OVER ({PER_KEY}) AS change FROM t",
    f"SELECT n, ROW_NUMBER() OVER ({PER_KEY}) AS number FROM t QUALIFY number <= 2",
    "SELECT n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS number FROM t QUALIFY number = 1",
    "SELECT n, RANK() OVER (PARTITION BY k ORDER BY b) AS place FROM t WHERE b IS NOT NULL",
    f"SELECT n, FIRST_VALUE(a) OVER w head, LAST_VALUE(a) OVER w AS last FROM t WINDOW w AS ({PER_KEY})",
    f"SELECT n, LAST_VALUE(s) OVER ({PER_KEY} ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS last FROM t",
    f"SELECT n, FIRST_VALUE(a IGNORE NULLS) OVER ({PER_KEY} ROWS 3 PRECEDING) AS first FROM t",
    f"SELECT n, LAST_VALUE(a IGNORE NULLS) OVER ({PER_KEY} ROWS 3 PRECEDING) AS last FROM t",
    f"SELECT n, SUM(a) FILTER (WHERE b > 0) OVER ({PER_KEY} ROWS 4 PRECEDING) AS total FROM t",
    f"SELECT n, MAX(a) OVER w - MIN(a) OVER w AS width, ROUND(AVG(f) OVER w, 2) mean FROM t WINDOW w AS ({PER_KEY})",
    f"SELECT n, 100 * COUNT(*) OVER w / COUNT(a) OVER w share FROM t WINDOW w AS ({PER_KEY} ROWS 5 PRECEDING)",
    f"SELECT n, CASE WHEN a > LAG(a) OVER w THEN 'up' ELSE 'down' END AS way FROM t WINDOW w AS ({PER_KEY})",
    f"SELECT n, a - AVG(a) OVER ({PER_KEY} ROWS 5 PRECEDING) AS off FROM t QUALIFY off > 0 OR off IS NULL",
    f"SELECT k AS name, n, COUNT(*) OVER ({PER_KEY}) c FROM t ORDER BY name DESC, n LIMIT 7 OFFSET 2",
    f"SELECT n, a, COUNT(*) OVER ({PER_KEY}) c FROM t ORDER BY a NULLS LAST, n DESC LIMIT 9",
    f"SELECT n, a x, SUM(b) OVER ({PER_KEY}) AS total FROM t ORDER BY 3 DESC, 1",
    f"SELECT N, COALESCE(A, 0) AS filled, sum(Coalesce(a, 0)) over ({PER_KEY}) total FROM t",
    f"SELECT n, CASE k WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 0 END code, COUNT(*) OVER ({PER_KEY}) c FROM t",
    f"SELECT n, CAST(digits AS BIGINT) d, CAST(a AS DOUBLE) / 4 q, COUNT(*) OVER ({PER_KEY}) c FROM t",
    f"SELECT n, TRY_CAST(s AS INT) d, CAST(b AS VARCHAR) || k AS text, COUNT(*) OVER ({PER_KEY}) c FROM t",
    f"SELECT n, CAST(ts AS DATE) AS day, CAST(a AS BOOLEAN) is_set, COUNT(*) OVER ({PER_KEY}) c FROM t",
    f"SELECT n, FLOOR(f) low, CEIL(f) high, MOD(b, 3) m, COUNT(*) OVER ({PER_KEY}) c FROM t",
    f"WITH good AS (SELECT n, k, a * 2 AS twice FROM t WHERE a > 0) SELECT *, SUM(twice) OVER ({PER_KEY}) x FROM good",
    (
        f"WITH one AS (SELECT * FROM t WHERE b > 0), two AS (SELECT n, k, a + 1 a1 FROM one) "
        f"SELECT n, MAX(a1) OVER ({PER_KEY}) AS m FROM two"
    ),
    "SELECT e.n, MAX(e.a) OVER (PARTITION BY e.k ORDER BY e.n) AS m FROM t e WHERE e.b > 0",
    'SELECT "n", MAX("a") OVER (PARTITION BY "k" ORDER BY "n") "the max" FROM t',
    f"SELECT n, COUNT(DISTINCT b) OVER ({PER_KEY}) d, MEDIAN(a) OVER ({PER_KEY}) m FROM t",
]
# Texts over windows of 6 by `n`, and what DuckDB says for it.
BUCKET = "n // 6 * 6"
WINDOWS = [
    ("SELECT k, MAX(a) - MIN(a) AS x", "SELECT k, MAX(a) - MIN(a) AS x", "", "k"),
    ("SELECT k key, ROUND(AVG(f), 1) x", "SELECT k AS key, ROUND(AVG(f), 1) AS x", "", "k"),
    ("SELECT k, SUM(a) x", "SELECT k, SUM(a) AS x", "HAVING COUNT(*) > 1 AND x IS NOT NULL", "k"),
    ("SELECT COUNT(DISTINCT k) x", "SELECT COUNT(DISTINCT k) AS x", "HAVING MAX(b) > 2", ""),
    ("SELECT COUNT(*) FILTER (WHERE a > 0) x", "SELECT COUNT(*) FILTER (WHERE a > 0) AS x", "", ""),
    ("SELECT COUNT_IF(a > 0) x", "SELECT COUNT_IF(a > 0) AS x", "", ""),
    *(
        (f"SELECT k, {each} x", f"SELECT k, {each} AS x", "", "k")
        for each in (
            "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY a)",
            "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY a DESC)",
            "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY f + b)",
            "MEDIAN(a)",
            "COALESCE(MAX(a), -99) + COUNT(a)",
            "CASE WHEN MAX(a) > 3 THEN 'high' ELSE 'low' END",
            "SUM(CASE WHEN a > 0 THEN a ELSE 0 END)",
            "CAST(SUM(a) AS DOUBLE) / NULLIF(COUNT(b), 0)",
            "MAX(COALESCE(a, b))",
            "UPPER(k) || '!'",
        )
    ),
]


def duck(text: str) -> list[dict[str, Any]]:
    with duckdb.connect() as connection:
        connection.register("t", TABLE)
        found: list[dict[str, Any]] = connection.sql(text).to_arrow_table().to_pylist()
        return found


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (one != one and other != other)
    return bool(one == other)


def check(found: list[dict[str, Any]], wanted: list[dict[str, Any]], text: str) -> None:
    if "ORDER BY" not in re.sub(r"\([^()]*\)", "", text):
        found, wanted = (sorted(each, key=lambda row: repr(next(iter(row.values())))) for each in (found, wanted))
    assert len(found) == len(wanted), (found, wanted)
    for one, other in zip(found, wanted, strict=True):
        assert [each.lower() for each in one] == [each.lower() for each in other]
        assert all(map(same, one.values(), other.values())), (one, other)


@pytest.mark.parametrize("text", FRAMES)
def test_a_result_per_row_is_that_of_duckdb(text: str) -> None:
    check(sash.sql(text, t=TABLE).to_pylist(), duck(text), text)


@pytest.mark.parametrize(("ours", "theirs", "having", "key"), WINDOWS, ids=[each[0][7:] for each in WINDOWS])
def test_a_result_of_windows_is_that_of_duckdb(ours: str, theirs: str, having: str, key: str) -> None:
    group = f", {key}" if key else ""
    order = f"ORDER BY window_start{group}"
    found = sash.sql(f"{ours}, window_start FROM t GROUP BY window(n, 6){group} {having} {order}", t=TABLE)
    columns = [each for each in found.column_names if each in ("k", "key", "x")]
    found = found.select([*columns, "window_start"])
    wanted = duck(f"{theirs}, {BUCKET} AS window_start FROM t GROUP BY {BUCKET}{group} {having} {order}")
    check([{**row} for row in found.to_pylist()], wanted, "FROM t ORDER BY")


# --- random expressions and select lists -----------------------------------------------------------

numbers = st.sampled_from(["a", "b", "n", "f", "1", "2", "-3", "0", "NULL", "0.5e0"])
texts = st.sampled_from(["s", "k", "'x'", "'Yy '", "NULL"])


def numeric(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, parts, st.sampled_from("+-*"), parts),
        st.builds("({} / NULLIF({}, 0))".format, parts, parts),
        st.builds("{}({}, {})".format, st.sampled_from(["COALESCE", "GREATEST", "LEAST", "NULLIF"]), parts, parts),
        st.builds("{}({})".format, st.sampled_from(["ABS", "-", "SIGN"]), parts),
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, conditions(parts), parts, parts),
        st.builds("CASE {} WHEN {} THEN {} WHEN 1 THEN 2 END".format, parts, parts, parts),
        st.builds("CAST({} AS {})".format, parts, st.sampled_from(["DOUBLE", "FLOAT8"])),
        st.builds("LENGTH({})".format, wording()),
    )


def conditions(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    plain = st.one_of(
        st.builds("{} {} {}".format, parts, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), parts),
        st.builds("{} IS {} NULL".format, parts, st.sampled_from(["", "NOT"])),
        st.builds("{} {} IN (1, 2, 5)".format, parts, st.sampled_from(["", "NOT"])),
        st.builds("{} BETWEEN {} AND {}".format, parts, parts, parts),
        st.builds("{} LIKE '%x%'".format, wording()),
    )
    return st.one_of(plain, st.builds("({}) {} (NOT {})".format, plain, st.sampled_from(["AND", "OR"]), plain))


def wording() -> st.SearchStrategy[str]:
    return st.one_of(
        texts,
        st.builds("({} || {})".format, texts, texts),
        st.builds("{}({})".format, st.sampled_from(["UPPER", "LOWER", "TRIM"]), texts),
        st.builds("COALESCE({}, {})".format, texts, texts),
    )


expressions = st.recursive(numbers, numeric, max_leaves=8)


@settings(max_examples=25)
@given(st.lists(expressions, min_size=3, max_size=3), conditions(numbers))
def test_random_expressions_are_those_of_duckdb(drawn: list[str], condition: str) -> None:
    columns = ", ".join(f"{each} AS e{place}" for place, each in enumerate(drawn))
    text = f"SELECT n, {columns}, COUNT(*) OVER (ORDER BY n) AS c FROM t WHERE {condition}"
    check(sash.sql(text, t=TABLE).to_pylist(), duck(text), text)


ends = st.sampled_from(["", "ROWS 3 PRECEDING", "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING", "ROWS UNBOUNDED PRECEDING"])
over = st.builds("OVER (PARTITION BY k ORDER BY n {})".format, ends)
framed = st.one_of(
    st.builds("{}({}) {} {}".format, st.sampled_from(["SUM", "MIN", "MAX", "COUNT", "AVG"]), st.sampled_from("abf"),
              st.sampled_from(["", "FILTER (WHERE b > 0)", "FILTER (WHERE a IS NULL OR n > 5)"]), over),
    st.builds("{}(a, {}) OVER (PARTITION BY k ORDER BY n)".format, st.sampled_from(["LAG", "LEAD"]), st.integers(0, 2)),
    st.builds("{}({}) {}".format, st.sampled_from(["FIRST_VALUE", "LAST_VALUE"]), st.sampled_from("ab"), over),
    st.sampled_from(["ROW_NUMBER() OVER (PARTITION BY k ORDER BY n)", "COUNT(*) OVER (PARTITION BY k ORDER BY n)"]),
)  # fmt: skip


@settings(max_examples=20)
@given(
    st.lists(st.recursive(st.one_of(framed, framed, numbers), numeric, max_leaves=4), min_size=2, max_size=3), framed
)
def test_random_select_lists_are_those_of_duckdb(drawn: list[str], qualified: str) -> None:
    columns = ", ".join(f"{each} e{place}" for place, each in enumerate(drawn))
    text = f"SELECT n, {columns}, COUNT(*) OVER (PARTITION BY k ORDER BY n) c FROM t QUALIFY {qualified} > 0"
    check(sash.sql(text, t=TABLE).to_pylist(), duck(text), text)
