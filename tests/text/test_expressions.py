"""What is computed of a row, on Arrow tables: nulls, NaN, zeros and texts as Spark has them."""

import datetime as dt
import math
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash.errors import InvalidText
from sash.syntax.arrow_expressions import FUNCTIONS
from sash.syntax.expressions import SCALARS

NAN, INF = math.nan, math.inf
TABLE = pa.table(
    {
        "i": pa.array([7, -7, None, 0], pa.int64()),
        "j": pa.array([2, 2, 2, 0], pa.int64()),
        "f": pa.array([1.5, NAN, None, -2.5], pa.float64()),
        "s": pa.array([" Ab", "b", None, ""], pa.string()),
        "b": pa.array([True, False, None, True], pa.bool_()),
        "t": pa.array([dt.datetime(2026, 1, 1 + day, 12) for day in range(4)], pa.timestamp("us", "Europe/Paris")),
        "d": pa.array([dt.date(2026, 1, 1 + day) for day in range(4)], pa.date32()),
    }
)

# An expression, and what it is in each row.
VALUES: list[tuple[str, list[Any]]] = [
    ("i + j * 2", [11, -3, None, 0]),
    ("(i + j) * 2", [18, -10, None, 0]),
    ("i - j - 1", [4, -10, None, -1]),
    ("i / j", [3.5, -3.5, None, None]),
    ("i % j", [1, -1, None, None]),
    ("f % 2", [1.5, NAN, None, -0.5]),
    ("-i", [-7, 7, None, 0]),
    ("- - +i", [7, -7, None, 0]),
    ("f > 1", [True, True, None, False]),
    ("f = f", [True, True, None, True]),
    ("f <= 1.5", [True, False, None, True]),
    ("f <> 1.5", [False, True, None, True]),
    ("i < f", [False, True, None, False]),
    ("i >= f", [True, False, None, True]),
    ("b AND i > 0", [True, False, None, False]),
    ("b OR i > 0", [True, False, None, True]),
    ("NOT b", [False, True, None, False]),
    ("NOT i = 7 AND b", [False, False, None, True]),
    ("i = 7 OR i = 0 AND b", [True, False, None, True]),
    ("i IS NULL", [False, False, True, False]),
    ("i IS NOT NULL", [True, True, False, True]),
    ("i = NULL", [None, None, None, None]),
    ("i IN (0, 7)", [True, False, None, True]),
    ("i NOT IN (0, 7.0)", [False, True, None, False]),
    ("s IN ('b', '')", [False, True, None, True]),
    ("i BETWEEN -7 AND 0", [False, True, None, True]),
    ("i NOT BETWEEN j AND 9", [False, True, None, False]),
    ("s LIKE '%b'", [True, True, None, False]),
    ("s NOT LIKE '_A%'", [False, True, None, True]),
    ("s || '!'", [" Ab!", "b!", None, "!"]),
    ("upper(trim(s))", ["AB", "B", None, ""]),
    ("LOWER(s)", [" ab", "b", None, ""]),
    ("length(s)", [3, 1, None, 0]),
    ("abs(i)", [7, 7, None, 0]),
    ("coalesce(i, j)", [7, -7, 2, 0]),
    ("coalesce(f, i, 1)", [1.5, NAN, 1.0, -2.5]),
    ("nullif(i, 0)", [7, -7, None, None]),
    ("greatest(i, j, 1)", [7, 2, 2, 1]),
    ("least(i, f)", [1.5, -7.0, None, -2.5]),
    ("greatest(i, f)", [7.0, NAN, None, 0.0]),
    ("round(f)", [2.0, NAN, None, -3.0]),
    ("round(1.25, 1)", [1.3] * 4),
    ("sqrt(j * 2)", [2.0, 2.0, 2.0, 0.0]),
    ("ln(i)", [math.log(7), None, None, None]),
    ("exp(i * 0)", [1.0, 1.0, None, 1.0]),
    ("power(j, 3)", [8.0, 8.0, 8.0, 0.0]),
    ("sign(i)", [1.0, -1.0, None, 0.0]),
    ("CASE WHEN i > 0 THEN 'up' WHEN i < 0 THEN 'down' ELSE s END", ["up", "down", None, ""]),
    ("CASE WHEN i > 0 THEN j END", [2, None, None, None]),
    ("t >= TIMESTAMP '2026-01-02 13:00:00'", [False, True, True, True]),
    ("t >= TIMESTAMP '2026-01-02 13:00:00+00:00'", [False, False, True, True]),
    ("t < DATE '2026-01-02'", [True, False, False, False]),
    ("d = DATE '2026-01-02'", [False, True, False, False]),
    ("'it''s' = 'it''s'", [True] * 4),
    ("1", [1] * 4),
    ("TRUE", [True] * 4),
]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and bool(one == other)


def computed(expression: str) -> list[Any]:
    """Its value in each row: the last one of a frame of one."""
    numbered = TABLE.append_column("row", pa.array(range(4)))
    asked = f"SELECT COLLECT({expression}) OVER (ORDER BY row ROWS CURRENT ROW) AS found FROM t"
    lists = sash.sql(asked, t=numbered).column("found").to_pylist()
    return [each[0] if each else None for each in lists]


@pytest.mark.parametrize(("expression", "wanted"), VALUES, ids=[each[0] for each in VALUES])
def test_an_expression_has_its_value_in_each_row(expression: str, wanted: list[Any]) -> None:
    found = computed(expression)
    assert all(map(same, found, wanted)), found


@pytest.mark.parametrize(("expression", "wanted"), [each for each in VALUES if isinstance(each[1][0], bool)])
def test_where_keeps_the_rows_for_which_it_is_true(expression: str, wanted: list[Any]) -> None:
    numbered = TABLE.append_column("row", pa.array(range(4)))
    kept = sash.sql(f"SELECT *, COUNT(*) OVER (ORDER BY row) AS n FROM t WHERE {expression}", t=numbered)
    assert kept.column("row").to_pylist() == [row for row, each in enumerate(wanted) if each]


def test_every_scalar_function_has_a_meaning_on_arrow() -> None:
    assert set(SCALARS) <= set(FUNCTIONS)


@pytest.mark.parametrize(
    "wrong", ["i + s", "NOT i", "i AND b", "s > 1", "b > 1", "upper(i)", "t > 1", "coalesce(i, s)", "s + s"]
)
def test_unlike_types_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidText, match="does not accept"):
        computed(wrong)


@pytest.mark.parametrize(
    ("local", "hour"),
    [("2026-11-01 01:30:00", 5), ("2026-03-08 02:30:00", 7), ("2026-07-01 12:30:00", 16)],
    ids=["twice: the earlier", "never: as if the clock had not moved", "once"],
)
def test_a_time_is_that_of_the_zone_when_its_clock_changes(local: str, hour: int) -> None:
    instant = dt.datetime.fromisoformat(local).replace(hour=hour, tzinfo=dt.UTC)
    times = pa.array([instant - dt.timedelta(seconds=1), instant], pa.timestamp("us", "America/New_York"))
    text = f"SELECT COUNT(*) AS n FROM t [RANGE 1 HOUR SLIDE 1 HOUR] WHERE ts >= TIMESTAMP '{local}'"
    assert sash.sql(text, t=pa.table({"ts": times}), on="ts").column("n").to_pylist() == [1]
