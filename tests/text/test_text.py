"""Query text says what Python says: the same queries, the same results."""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

import sash
from sash import text
from sash.engine.frame import Frame
from sash.errors import InvalidAggregate, InvalidInput, InvalidText

NOON = dt.datetime(2026, 1, 1, 12)
ROWS = 60
EVENTS = pa.table(
    {
        "ts": [NOON + dt.timedelta(seconds=37 * (each * 7 % ROWS)) for each in range(ROWS)],
        "n": [each * 7 % ROWS for each in range(ROWS)],
        "km": [0.5 * (each * 7 % ROWS) for each in range(ROWS)],
        "plug": ["abc"[each % 3] for each in range(ROWS)],
        "house": [each % 2 for each in range(ROWS)],
        "load": [None if each % 10 == 9 else float(each * 13 % 29) for each in range(ROWS)],
        "is_start": [each % 8 == 0 for each in range(ROWS)],
        "is_end": [each % 8 == 5 for each in range(ROWS)],
    }
)
GROUPED = "GROUP BY window_start, window_end"

# A text, `on` and `by` as Python gives them beside it, and what Python would have written.
WINDOWS: list[tuple[str, str | None, Any, sash.Query]] = [
    (
        "SELECT plug, MAX(load) AS peak FROM events [RANGE 1 HOUR SLIDE 1 MINUTE] GROUP BY plug",
        "ts",
        "plug",
        sash.query("q1", sash.sliding("1 hour", every="1 minute"), peak=sash.max("load")),
    ),
    (
        (
            "select istream(max(load) as mxl, MaxCount(load) AS num, ARGMAX(load, plug) AS who) from events "
            "[range 24 hours slide 1 hour]"
        ),
        "ts",
        None,
        sash.query(
            "q1",
            sash.sliding("24 hours", every="1 hour"),
            mxl=sash.max("load"),
            num=sash.max_count("load"),
            who=sash.argmax("load", "plug"),
        ),
    ),
    (
        "SELECT COUNT(*) AS n FROM events [RANGE 3 MONTHS SLIDE 1 MONTH OFFSET 2 DAYS ZONE 'Europe/Berlin']",
        "ts",
        None,
        sash.query(
            "q1", sash.sliding("3 months", every="1 month", offset="2 days", zone="Europe/Berlin"), n=sash.count()
        ),
    ),
    (
        (
            "SELECT COUNT(*) AS n FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' DAY, ZONE => 'Asia/Tokyo') "
            + GROUPED
        ),
        None,
        None,
        sash.query("q1", sash.tumbling("1 day", zone="Asia/Tokyo"), n=sash.count()),
    ),
    (
        f"SELECT COUNT(*) AS n FROM CUMULATE(TABLE events, DESCRIPTOR(ts), '1 week', INTERVAL '1' YEAR) {GROUPED}",
        None,
        None,
        sash.query("q1", sash.cumulative("1 year", every="1 week"), n=sash.count()),
    ),
    (
        "ISTREAM(SELECT COUNT(*) FROM events [RANGE 1 HOUR 30 MINUTES SLIDE '90s' OFFSET 15 SECONDS])",
        "ts",
        None,
        sash.query("q1", sash.sliding("1h30m", every="90s", offset="15s"), count=sash.count()),
    ),
    (
        (
            "SELECT RSTREAM(AVG(load), COUNT(load), COUNT(DISTINCT load)) FROM events "
            "[RANGE 10 MINUTES SLIDE 1 MINUTE PARTITION BY plug, house]"
        ),
        "ts",
        ["plug", "house"],
        sash.query(
            "q1",
            sash.sliding("10 minutes", every="1 minute"),
            avg_load=sash.mean("load"),
            count_load=sash.count("load"),
            count_distinct_load=sash.count_distinct("load"),
        ),
    ),
    (
        "tens: SELECT RANGE(load) AS width FROM events [PARTITION BY plug ROWS 10 SLIDE 5]",
        "ts",
        "plug",
        sash.query("tens", sash.sliding(rows=10, every=5), width=sash.range("load")),
    ),
    (
        "SELECT FIRST(load) AS a, LAST(load) AS b FROM events [ROWS 10 SLIDE 5 SECONDS]",
        "ts",
        None,
        sash.query("q1", sash.sliding(rows=10, every="5 seconds"), a=sash.first("load"), b=sash.last("load")),
    ),
    (
        "SELECT FIRST(load) AS a, LAST(load) AS b FROM events [RANGE 5 SECONDS SLIDE 10 ROWS]",
        "ts",
        None,
        sash.query("q1", sash.sliding("5 seconds", every_rows=10), a=sash.first("load"), b=sash.last("load")),
    ),
    (
        (
            "SELECT STDDEV(load) AS s, STDDEV_POP(load) AS p, VARIANCE(load) AS v, VAR_POP(load) AS w FROM events "
            "[RANGE 10 SLIDE 2]"
        ),
        "n",
        None,
        sash.query(
            "q1",
            sash.sliding(10, every=2),
            s=sash.stddev("load"),
            p=sash.stddev("load", population=True),
            v=sash.variance("load"),
            w=sash.variance("load", population=True),
        ),
    ),
    (
        "SELECT MEDIAN(load) AS m, QUANTILE(load, .95) AS q, PERCENTILE(load, 1) AS p FROM t [RANGE 2.5 SLIDE .5]",
        "km",
        None,
        sash.query(
            "q1",
            sash.sliding(2.5, every=0.5),
            m=sash.median("load"),
            q=sash.quantile("load", 0.95),
            p=sash.quantile("load", 1),
        ),
    ),
    (
        (
            "SELECT STRING_AGG(plug, ';') AS all, COLLECT(house) AS c, MIN_BY(plug, load) AS w FROM events "
            "[SESSION GAP 2 MINUTES]"
        ),
        "ts",
        None,
        sash.query(
            "q1",
            sash.session(gap="2 minutes"),
            all=sash.string_agg("plug", ";"),
            c=sash.collect("house"),
            w=sash.argmin("load", "plug"),
        ),
    ),
    (
        "SELECT house, SUM(n) AS total FROM events [PUNCTUATED BY is_start] GROUP BY house",
        "ts",
        "house",
        sash.query("q1", sash.punctuated("is_start"), total=sash.sum("n")),
    ),
    (
        "SELECT house, COUNT(*) AS n FROM events [PUNCTUATED BY is_start, is_end] GROUP BY house",
        "ts",
        "house",
        sash.query("q1", sash.punctuated("is_start", "is_end"), n=sash.count()),
    ),
    (
        (
            f"SELECT window_start, window_end, plug, SUM(load) AS total FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
            f"INTERVAL '10' MINUTES)) {GROUPED}, plug;"
        ),
        None,
        "plug",
        sash.query("q1", sash.tumbling("10 minutes"), total=sash.sum("load")),
    ),
    (
        (
            f"SELECT COUNT(*) AS n FROM HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '1' HOUR, "
            f"INTERVAL '1 minute') {GROUPED}"
        ),
        None,
        None,
        sash.query("q1", sash.sliding("1 hour", every="5 minutes", offset="1 minute"), n=sash.count()),
    ),
    (
        (
            f"SELECT COUNT(*) AS n FROM TABLE(HOP(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '1h', "
            f"SLIDE => INTERVAL '5' MINUTES)) {GROUPED}"
        ),
        None,
        None,
        sash.query("q1", sash.sliding("1 hour", every="5 minutes"), n=sash.count()),
    ),
    (
        f"SELECT MIN(load) AS low FROM TABLE(CUMULATE(TABLE events, DESCRIPTOR(n), 2, 10)) {GROUPED}",
        None,
        None,
        sash.query("q1", sash.cumulative(10, every=2), low=sash.min("load")),
    ),
    (
        (
            f"SELECT plug, COUNT(*) AS n FROM TABLE(SESSION(TABLE events PARTITION BY plug, DESCRIPTOR(ts), "
            f"INTERVAL '1' MINUTE)) {GROUPED}, plug"
        ),
        None,
        "plug",
        sash.query("q1", sash.session(gap="1 minute"), n=sash.count()),
    ),
    (
        (
            f"SELECT COUNT(*) AS n FROM TABLE(SESSION(TABLE events PARTITION BY (plug, house), DESCRIPTOR(ts), "
            f"INTERVAL '1' MINUTE)) {GROUPED}, plug, house"
        ),
        None,
        ["plug", "house"],
        sash.query("q1", sash.session(gap="1 minute"), n=sash.count()),
    ),
]


@pytest.mark.parametrize(("asked", "on", "by", "wanted"), WINDOWS, ids=[each[0][:60] for each in WINDOWS])
def test_a_text_gives_the_windows_that_python_gives(asked: str, on: str | None, by: Any, wanted: sash.Query) -> None:
    assert text.queries(asked) == (wanted,)
    column = on or text.parse(asked)[0].on
    assert column is not None
    assert sash.sql(asked, events=EVENTS, t=EVENTS, on=on).equals(sash.aggregate(EVENTS, wanted, on=column, by=by))


HOUR = "PARTITION BY plug ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW"
FRAMES: list[tuple[str, str, Any, list[Frame]]] = [
    (
        "SELECT *, MAX(load) OVER (PARTITION BY plug ORDER BY ts ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS p FROM t",
        "ts",
        "plug",
        [sash.frame(rows=10, p=sash.max("load"))],
    ),
    (
        (
            f"SELECT *, MAX(load) OVER ({HOUR}) AS peak, COUNT(*) OVER w AS rows, SUM(n) OVER v FROM events "
            f"WINDOW w AS ({HOUR}), v AS (PARTITION BY plug ORDER BY ts ASC ROWS 2 PRECEDING)"
        ),
        "ts",
        "plug",
        [
            Frame("range", "-1 hour", 0, "both", None, 1, (("peak", sash.max("load")), ("rows", sash.count()))),
            sash.frame(rows=3, sum_n=sash.sum("n")),
        ],
    ),
    (
        "SELECT *, MAX(load) OVER (ORDER BY km RANGE 2.5 PRECEDING) AS peak FROM events",
        "km",
        None,
        [sash.frame(range=2.5, peak=sash.max("load"))],
    ),
    (
        "SELECT MAX(load) AS peak FROM events [RANGE 1 HOUR]",
        "ts",
        None,
        [sash.frame(range="1h", peak=sash.max("load"))],
    ),
    (
        "SELECT plug, MAX(load) AS peak FROM events [ROWS 5] GROUP BY plug",
        "ts",
        "plug",
        [sash.frame(rows=5, peak=sash.max("load"))],
    ),
    ("SELECT COUNT(*) AS c FROM events [NOW]", "ts", None, [sash.frame(range=0, c=sash.count())]),
    ("SELECT COUNT(*) AS c FROM events [UNBOUNDED]", "ts", None, [sash.frame(range="9999 days", c=sash.count())]),
    ("SELECT COUNT(*) AS c FROM events [RANGE UNBOUNDED]", "km", None, [sash.frame(range=1e9, c=sash.count())]),
    ("SELECT *, COUNT(*) OVER (ORDER BY n) AS c FROM events", "n", None, [sash.frame(range=10**9, c=sash.count())]),
    (
        "SELECT *, COUNT(*) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) AS c FROM events",
        "n",
        None,
        [sash.frame(rows=10**9, c=sash.count())],
    ),
]


@pytest.mark.parametrize(("asked", "on", "by", "frames"), FRAMES, ids=[each[0][:60] for each in FRAMES])
def test_a_text_gives_a_result_per_row_as_python_does(asked: str, on: str, by: Any, frames: list[Frame]) -> None:
    given = None if "OVER" in asked else on
    assert sash.sql(asked, events=EVENTS, t=EVENTS, on=given).equals(sash.rolling(EVENTS, *frames, on=on, by=by))


def test_over_gives_the_columns_of_the_list_in_its_order() -> None:
    table = sash.sql(
        "SELECT MAX(load * 2) OVER (ORDER BY n ROWS 1 PRECEDING) AS top, plug, n FROM events", events=EVENTS
    )
    assert table.column_names == ["top", "plug", "n"]


def test_several_selects_are_queries_of_one_call() -> None:
    both = """
        hourly: SELECT MAX(load) AS peak FROM events [RANGE 1 HOUR SLIDE 10 MINUTES] GROUP BY plug;
        SELECT COUNT(*) AS n FROM events [ROWS 5 SLIDE 5] GROUP BY plug
    """
    hourly = sash.query("hourly", sash.sliding("1 hour", every="10 minutes"), peak=sash.max("load"))
    fives = sash.query("q2", sash.tumbling(rows=5), n=sash.count())
    wanted = sash.aggregate(EVENTS, [hourly, fives], on="ts", by="plug")
    assert sash.sql(both, events=EVENTS, on="ts").equals(wanted)


def test_options_are_those_of_aggregate() -> None:
    fives = "SELECT COUNT(*) AS n FROM t [ROWS 50 SLIDE 50]"
    assert len(sash.sql(fives, t=EVENTS, on="ts")) == 1
    assert len(sash.sql(fives, t=EVENTS, on="ts", partial=True)) == 2
    with pytest.raises(InvalidInput, match="option of streams"):
        sash.sql(fives, t=EVENTS, on="ts", flush="at_end")
    with pytest.raises(InvalidInput, match="an option of windows"):
        sash.sql("SELECT COUNT(*) AS n FROM t [ROWS 50]", t=EVENTS, on="ts", partial=True)


def test_every_kind_of_table_comes_back_as_it_came() -> None:
    import pandas as pd
    import polars as pl

    small = EVENTS.select(["n", "plug", "load"])
    for where in ("", "WHERE plug <> 'c' AND load >= 3"):
        for asked in (
            f"SELECT MAX(load) AS peak FROM t [RANGE 20 SLIDE 10] {where}",
            f"SELECT *, MAX(load + 1) OVER (PARTITION BY plug ORDER BY n ROWS 3 PRECEDING) AS peak FROM t {where}",
        ):
            on = None if "OVER" in asked else "n"
            wanted = sash.sql(asked, t=small, on=on)
            assert sash.sql(asked, t=small.to_pydict(), on=on).to_pydict() == wanted.to_pydict()
            assert isinstance(sash.sql(asked, t=small.to_pandas(), on=on), pd.DataFrame)
            polars = sash.sql(asked, t=pl.from_arrow(small), on=on)
            assert isinstance(polars, pl.DataFrame)
            assert polars.to_dict(as_series=False) == wanted.to_pydict()


def test_a_registered_aggregate_is_called_by_its_name() -> None:
    doubled = sash.Aggregate("Doubled", state="i8", identity=0, lift=lambda x: 2 * x, combine=lambda a, b: a + b)
    asked = "SELECT doubled(n) AS d FROM t [RANGE 100 SLIDE 100]"
    with pytest.raises(InvalidText, match="There is no function 'doubled'"):
        sash.sql(asked, t=EVENTS, on="n")
    wanted = [2 * sum(range(ROWS))]
    assert sash.sql(asked, t=EVENTS, on="n", functions={"doubled": doubled}).column("d").to_pylist() == wanted
    assert sash.register(doubled) is doubled
    assert sash.sql(asked, t=EVENTS, on="n").column("d").to_pylist() == wanted


def test_a_builtin_name_is_not_registered() -> None:
    for name in ("Max", "upper"):
        mine = sash.Aggregate(name, state="i8", identity=0, lift=lambda x: x, combine=lambda a, b: a)
        with pytest.raises(InvalidText, match="give your aggregate another name"):
            sash.register(mine)
        with pytest.raises(InvalidText, match="give your aggregate another name"):
            sash.sql("SELECT MAX(n) FROM t [ROWS 5]", t=EVENTS, on="n", functions={name: mine})
    with pytest.raises(InvalidAggregate):
        sash.register(sash.max("x"))  # type: ignore[arg-type]


def test_names_may_be_keywords_or_anything_in_quotes() -> None:
    table = {
        "ts": [1, 2, 3],
        "range": [1, 2, 3],
        "a.b": [1, 2, 3],
        "it`s": [5, 6, 7],
        "date": [1, 1, 1],
        "end": [2, 2, 2],
    }
    tables: dict[str, Any] = {"my table": table}
    asked = """SELECT SUM(range) AS r, SUM(`a.b`) AS "d.e", MAX(`it``s`) /* not a ; */ AS i, SUM(date + end) AS slide
               FROM "my table" [RANGE 10 SLIDE 10] -- all of them"""
    [row] = sash.sql(asked, on="ts", **tables).to_pylist()
    assert (row["r"], row["d.e"], row["i"], row["slide"]) == (6, 6, 7, 9)


def test_a_checkpoint_knows_a_computed_column_by_its_expression() -> None:
    [asked] = text.parse("SELECT MAX((load + 1) / 1000) AS peak FROM t [RANGE 1 HOUR SLIDE 1 HOUR]")
    assert asked.aggregates[0][1].columns == ("(load + 1) / 1000",)


@pytest.mark.parametrize("positions", [[-1e300, 0.0, 1e300], [-(2**61), 0, 2**61], [-3.5e18, 1e18, 5e18]])
@pytest.mark.parametrize("frame", ["", "RANGE UNBOUNDED PRECEDING", "ROWS UNBOUNDED PRECEDING"])
def test_an_unbounded_frame_holds_every_row_before_however_far(positions: list[float], frame: str) -> None:
    rows = {"t": positions, "x": [1, 2, 4]}
    found = sash.sql(f"SELECT SUM(x) OVER (ORDER BY t {frame}) AS s FROM rows", rows=rows)
    assert found["s"].to_pylist() == [1, 3, 7]
