"""Grids on floats: every row is in its windows, whatever its position and wherever the watermark stands."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sash
from sash.errors import InvalidInput, InvalidWindow
from tests.engine.descriptions import parse
from tests.engine.test_random import COMMUTATIVE, KEYS, ORDERED, PROFILE, SAVES, TYPES, XS, YS, check
from tests.engine.transcripts import Event, Transcript

SIZES = {0.1: "1/10", 0.2: "1/5", 0.3: "3/10", 0.7: "7/10", 0.01: "1/100", 1 / 3: "1/3", 1.1: "11/10", 0.05: "1/20"}
QUIET = settings(derandomize=True, database=None, max_examples=60)


def counted(window: Any, name: str = "q") -> Any:
    return sash.query(name, window, n=sash.count(), s=sash.sum("x"))


def around(edges: Any) -> Any:
    """Each of these positions, and its neighbours among floats."""
    edges = np.asarray(edges, np.float64)
    return np.sort(np.concatenate([np.nextafter(edges, -np.inf), edges, np.nextafter(edges, np.inf)]))


def windows_of(positions: Any, window: Any) -> list[list[tuple[float, float]]]:
    """The windows of each row, alone under its key."""
    rows = {"t": np.asarray(positions), "k": np.arange(len(positions)), "x": np.ones(len(positions), np.int64)}
    found = sash.aggregate(rows, counted(window), on="t", by="k").to_pydict()
    held: list[list[tuple[float, float]]] = [[] for _ in positions]
    for key, start, end, n in zip(found["k"], found["window_start"], found["window_end"], found["n"], strict=True):
        assert n == 1
        held[key].append((start, end))
    return [sorted(each) for each in held]


# --- every row is in its windows ------------------------------------------------------------------------


def test_a_row_at_an_edge_is_in_the_window_that_starts_there() -> None:
    assert windows_of([0.6, 0.3, 0.7], sash.tumbling(0.1)) == [[(0.6, 0.7)], [(0.3, 0.4)], [(0.7, 0.8)]]


@pytest.mark.compiled
@pytest.mark.parametrize("size", SIZES)
def test_rows_around_every_edge_are_in_one_tumbling_window(size: float) -> None:
    meant = Fraction(SIZES[size])
    for edges in ([float(k * meant) for k in range(-300, 301)], [k * size for k in range(-300, 301)]):
        for position, held in zip(around(edges).tolist(), windows_of(around(edges), sash.tumbling(size)), strict=True):
            ((start, end),) = held
            k = round(Fraction(start) / meant)
            assert (start, end) == (float(k * meant), float((k + 1) * meant))
            assert start <= position < end


LENGTHS = st.one_of(
    st.sampled_from(list(SIZES)),
    st.integers(1, 400).map(lambda n: n / 100),
    st.integers(1, 40).map(lambda n: n / 7),
    st.floats(1e-3, 50.0),
    st.sampled_from([math.pi, math.e, 1e-9, 0.1 + 0.2, 1e6, float(np.float32(0.1))]),
)
OFFSETS = st.just(0.0) | st.integers(-50, 50).map(lambda n: n / 10) | st.floats(-10.0, 10.0)
PLACES = st.lists(
    st.integers(-(10**6), 10**6) | st.integers(-20, 20) | st.integers(-(2**50), 2**50), min_size=1, max_size=8
)


@QUIET
@given(LENGTHS, OFFSETS, PLACES)
def test_any_tumbling_window_holds_its_rows_and_ends_where_the_next_one_starts(
    size: float, offset: float, numbers: list[int]
) -> None:
    window = sash.tumbling(size, offset=offset)
    rows = around([offset + k * size for k in numbers if abs(offset + k * size) < size * 2**51])
    found = [only for (only,) in windows_of(rows, window)]
    for position, (start, end) in zip(rows.tolist(), found, strict=True):
        assert start <= position < end
        assert math.isclose(end - start, size, rel_tol=1e-9, abs_tol=8 * math.ulp(position))
    before = windows_of([math.nextafter(start, -math.inf) for start, _ in found], window)
    after = windows_of([end for _, end in found], window)
    assert [end for ((_, end),) in before] == [start for start, _ in found]
    assert [start for ((start, _),) in after] == [end for _, end in found]


@QUIET
@given(LENGTHS, st.integers(1, 12), OFFSETS, PLACES)
def test_a_row_is_in_as_many_sliding_windows_as_slides_make_a_size(
    every: float, times: int, offset: float, numbers: list[int]
) -> None:
    edges = [offset + k * every for k in numbers if abs(k) < 2**40]
    window = sash.sliding(times * every, every=every, offset=offset)
    for position, held in zip(around(edges).tolist(), windows_of(around(edges), window), strict=True):
        assert len(held) == times
        assert all(start <= position < end for start, end in held)
        assert [start for start, _ in held[1:]] == sorted({start for start, _ in held[1:]})


@QUIET
@given(LENGTHS, st.floats(1.0, 6.0), OFFSETS, PLACES)
def test_a_size_that_is_no_multiple_leaves_no_row_out(
    every: float, ratio: float, offset: float, numbers: list[int]
) -> None:
    size = every * ratio
    edges = [offset + k * every + more for k in numbers if abs(k) < 2**40 for more in (0.0, size)]
    for position, held in zip(
        around(edges).tolist(), windows_of(around(edges), sash.sliding(size, every=every, offset=offset)), strict=True
    ):
        assert math.floor(ratio) <= len(held) <= math.floor(ratio) + 1 or abs(ratio - round(ratio)) < 1e-9
        assert held and all(start <= position < end for start, end in held)


# --- cumulative windows -----------------------------------------------------------------------------------


def test_a_cumulative_window_grows_by_tenths() -> None:
    (held,) = windows_of([0.3], sash.cumulative(1.0, every=0.1))
    assert held == [(0.0, k / 10) for k in range(4, 11)]
    (held,) = windows_of([-0.1], sash.cumulative(0.3, every=0.1, offset=0.2))
    assert held == [(-0.1, 0.0), (-0.1, 0.1), (-0.1, 0.2)]


def test_growth_that_does_not_divide_is_refused() -> None:
    with pytest.raises(InvalidWindow, match=r"1\.0 cannot grow by 0\.3: size must be a whole multiple of every"):
        sash.cumulative(1.0, every=0.3)
    with pytest.raises(InvalidWindow, match=r"0\.1 cannot grow by 1\.0"):
        sash.cumulative(0.1, every=1.0)


@QUIET
@given(LENGTHS, st.integers(1, 9), OFFSETS, PLACES)
def test_cumulative_windows_of_a_row_share_their_start_and_end_at_every_step_after_it(
    every: float, steps: int, offset: float, numbers: list[int]
) -> None:
    edges = [offset + k * every for k in numbers if abs(k) < 2**40]
    window = sash.cumulative(steps * every, every=every, offset=offset)
    for position, held in zip(around(edges).tolist(), windows_of(around(edges), window), strict=True):
        (start,) = {start for start, _ in held}
        ends = [end for _, end in held]
        assert start <= position < ends[0] and 1 <= len(ends) <= steps and ends == sorted(set(ends))
        assert math.isclose(ends[-1] - start, steps * every, rel_tol=1e-9, abs_tol=8 * math.ulp(position))


# --- streams ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        sash.tumbling,
        lambda size: sash.sliding(3 * size, every=size),
        lambda size: sash.cumulative(4 * size, every=size),
    ],
    ids=["tumbling", "sliding", "cumulative"],
)
@pytest.mark.parametrize("size", [0.1, 0.7, 1 / 3])
@pytest.mark.parametrize("saves", [False, True])
def test_row_by_row_with_watermarks_around_edges_gives_what_a_table_gives(make: Any, size: float, saves: bool) -> None:
    rows = around([k * size for k in range(-12, 40)]).tolist()
    query = counted(make(size))
    wanted = sash.aggregate({"t": rows, "x": [1] * len(rows)}, query, on="t").to_pylist()
    held = [len(each) for each in windows_of(rows, make(size))]
    assert all(held) and sum(row["n"] for row in wanted) == sum(held)
    stream = sash.Stream(query, on="t")
    found = []
    for position in rows:
        found += stream.push({"t": [position], "x": [1]}, watermark=position).to_pylist()
        assert all(row["window_end"] <= position for row in found)
        if saves:
            stream = sash.Stream.restore(stream.save(), [query])
    found += stream.finish().to_pylist()
    assert stream.late_count == 0
    assert sorted(map(str, found)) == sorted(map(str, wanted))


def test_a_late_row_at_an_edge_revises_its_own_window_alone() -> None:
    stream = sash.Stream(counted(sash.tumbling(0.1)), on="t", allowed_lateness=10.0)
    stream.push({"t": [0.55, 0.6, 0.75], "x": [1, 1, 1]}, watermark=0.9)
    found = stream.push({"t": [0.6, math.nextafter(0.6, 0)], "x": [10, 100]}).to_pylist()
    assert [(row["window_start"], row["window_end"], row["s"], row["revision"]) for row in found] == [
        (0.5, 0.6, 101, 1),
        (0.6, 0.7, 11, 1),
    ]


def test_a_row_one_float_before_the_watermark_is_late_and_one_at_it_is_not() -> None:
    stream = sash.Stream(counted(sash.tumbling(0.1)), on="t")
    stream.push({"t": [0.55], "x": [1]}, watermark=0.6)
    stream.push({"t": [math.nextafter(0.6, 0), 0.6], "x": [1, 1]})
    assert stream.late_count == 1
    assert stream.finish().column("window_start").to_pylist() == [0.6]


def test_what_a_long_stream_keeps_stays_flat_and_loses_nothing() -> None:
    query = [counted(sash.sliding(0.3, every=0.1), "s"), counted(sash.cumulative(1.0, every=0.1), "c")]
    stream = sash.Stream(query, on="t", allowed_lateness=0.5)
    rows, total = around([k / 10 for k in range(4000)]), 0
    for part in np.array_split(rows, 100):
        for row in stream.push({"t": part, "x": np.ones(len(part), np.int64)}, watermark=part[-1]).to_pylist():
            total += row["n"] if row["query"] == "s" and row["revision"] == 0 else 0
    total += sum(row["n"] for row in stream.finish().to_pylist() if row["query"] == "s")
    assert total == 3 * len(rows)
    assert stream.late_count == 0


def test_the_last_rows_are_told_at_the_float_that_a_grid_has() -> None:
    query = sash.query("q", sash.sliding(rows=1, every=0.1, offset=0.2), n=sash.count())
    found = sash.aggregate({"t": [0.55, 0.6, 0.85]}, query, on="t")
    assert found.column("window_end").to_pylist() == [0.6, 0.7, 0.8, 0.9]
    assert found.column("window_start").to_pylist() == [0.55, 0.6, 0.6, 0.85]


# --- random streams ---------------------------------------------------------------------------------------------

GRAINS = {name: Fraction(name) for name in ("1/10", "3/10", "7/10", "1/3", "11/10", "1/100", "1/2", "1/7")}
PUSHES = st.lists(st.tuples(st.sampled_from([0, 0, 1, 1, 2, 9]), st.integers(0, 6), st.integers(-1, 1)), max_size=8)


@st.composite
def float_windows(draw: st.DrawFn, grain: Fraction) -> str:
    """A window whose lengths are so many grains, each as the nearest float."""
    size, every, times = draw(st.integers(1, 12)), draw(st.integers(1, 12)), draw(st.integers(1, 4))
    offset = draw(st.integers(-15, 15))
    whole, step, growth, moved = (float(n * grain) for n in (size, every, every * times, offset))
    return draw(
        st.sampled_from(
            [
                f"tumbling {whole} offset {moved}",
                f"sliding {whole} every {step} offset {moved}",
                f"sliding {times * step} every {step} offset {moved}",  # a multiple as it is computed
                f"cumulative {growth} every {step} offset {moved}",
                f"cumulative {times * step} every {step}",
                f"session gap {whole}",
                f"landmark start {moved} end {float((offset + size) * grain)}",
                f"sliding rows {size} every {step} offset {moved}",
            ]
        )
    )


@st.composite
def float_transcripts(draw: st.DrawFn) -> Transcript:
    """A stream whose rows and watermarks stand at edges, or are the floats next to them."""
    grain = GRAINS[draw(st.sampled_from(sorted(GRAINS)))]
    keys = draw(st.sampled_from(KEYS))
    in_order = draw(st.integers(0, 3)) == 0
    now, events = draw(st.integers(-20, 5)), []

    def place(number: int, toward: int) -> float:
        at = float(number * grain)
        return math.nextafter(at, toward * math.inf) if toward else at

    for pushed in draw(st.lists(PUSHES, min_size=1, max_size=6)):
        rows = []
        for ahead, back, toward in pushed:
            now += ahead
            columns = {"new": None, "x": draw(XS), "y": draw(YS), "k": draw(st.sampled_from(keys))}
            rows.append({"t": place(now - (0 if in_order else back), toward), **columns})
        mark = draw(st.none() | st.tuples(st.integers(-8, 3), st.integers(-1, 1)))
        watermark = None if mark is None else place(now + mark[0], mark[1])
        events.append(Event(rows=tuple(rows), watermark=watermark, expect=(), late=0, add={}, remove=None))
    events.append(Event(rows=(), watermark=math.inf, expect=(), late=0, add={}, remove=None))
    sets = draw(st.sampled_from([COMMUTATIVE, ORDERED]))
    texts = [f"{draw(st.sampled_from(sets))} over {draw(float_windows(grain))}" for _ in range(draw(st.integers(1, 3)))]
    return Transcript(
        name="random",
        columns=("t", "k", "new", "x", "y"),
        queries={f"q{k}": parse(text) for k, text in enumerate(texts)},
        events=tuple(events),
        by=("k",) if len(keys) > 1 else (),
        lateness=0 if in_order else float(draw(st.sampled_from([0, 0, 3, 10])) * grain),
        in_order=in_order,
        emit=draw(st.sampled_from(["final", "final", "updates"])),
        types={"t": pa.float64(), **TYPES},
    )


@settings(PROFILE, max_examples=60)
@given(float_transcripts(), SAVES)
def test_random_streams_on_floats_agree_with_the_oracle(transcript: Transcript, saves: list[bool]) -> None:
    check(transcript, saves)


@pytest.mark.fuzz
def test_campaign_of_streams_on_floats_agrees_with_the_oracle(request: pytest.FixtureRequest) -> None:
    if "fuzz" not in request.config.option.markexpr:
        pytest.skip("a long campaign: pytest -m fuzz, or make fuzz")
    settings(PROFILE, derandomize=False, max_examples=10_000)(given(float_transcripts(), SAVES)(check))()


# --- sessions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_row_exactly_at_the_end_of_a_session_joins_it(order: tuple[int, int]) -> None:
    # 0.1 + 0.2 is more than 0.3, and less 0.1 it is more than 0.2
    rows = [0.1, 0.1 + 0.2]
    query = counted(sash.session(gap=0.2))
    assert sash.aggregate({"t": [rows[k] for k in order], "x": [1, 1]}, query, on="t").column("n").to_pylist() == [2]
    stream = sash.Stream(query, on="t")
    stream.push({"t": [rows[0]], "x": [1]}, watermark=rows[1])
    stream.push({"t": [rows[1]], "x": [1]}, watermark=rows[1] + 0.2)
    assert stream.finish().column("n").to_pylist() == [2]


@QUIET
@given(
    st.sampled_from([0.1, 0.2, 0.3, 0.7, 1 / 3]),
    st.lists(st.tuples(st.integers(-40, 40), st.integers(-1, 1)), min_size=1, max_size=20),
)
def test_sessions_of_a_table_and_of_a_stream_are_the_same(gap: float, places: list[tuple[int, int]]) -> None:
    rows = [math.nextafter(k * gap, toward * math.inf) if toward else k * gap for k, toward in places]
    rows = [row + 0.0 for row in rows]
    query = counted(sash.session(gap=gap))
    wanted = sash.aggregate({"t": rows, "x": [1] * len(rows)}, query, on="t")
    sessions: list[list[float]] = []
    for row in sorted(rows):
        if sessions and row <= sessions[-1][-1] + gap:
            sessions[-1].append(row)
        else:
            sessions.append([row])
    found = zip(*(wanted.column(name).to_pylist() for name in ("window_start", "window_end", "n")), strict=True)
    assert sorted(found) == [(each[0], each[-1] + gap, len(each)) for each in sessions]
    stream = sash.Stream(query, on="t")
    parts = [stream.push({"t": [row], "x": [1]}, watermark=row) for row in sorted(rows)]
    told = pa.concat_tables([part for part in [*parts, stream.finish()] if part.num_rows])
    assert sorted(map(str, told.to_pylist())) == sorted(map(str, wanted.to_pylist()))


# --- positions too far from zero -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "window"),
    [
        (1e300, sash.tumbling(0.1)),
        (-1e300, sash.sliding(1.0, every=0.25)),
        (1e17, sash.cumulative(1.0, every=0.5)),
        (-1e17, sash.session(gap=0.5)),
        (0.5, sash.tumbling(1e-300)),
        (1.0, sash.sliding(rows=3, every=1e-17)),
        (2**62, sash.tumbling(0.5)),
        (2**62, sash.tumbling(10)),
        (-(2**61) - 1, sash.session(gap=10)),
        (2**63 - 1, sash.tumbling(rows=10)),
    ],
    ids=str,
)
def test_a_row_too_far_for_its_windows_is_refused_in_a_table_and_set_aside_in_a_stream(
    position: Any, window: Any
) -> None:
    dtype = np.float64 if isinstance(position, float) or "0.5" in str(window) else np.int64
    near = np.array([0, position], np.int64 if isinstance(position, int) else np.float64)
    query = sash.query("q", window, n=sash.count())
    rows = {"t": pa.array(near).cast(pa.from_numpy_dtype(dtype), safe=False), "x": [1, 1]}
    with pytest.raises(
        InvalidInput, match=r"Column 't' holds .*, but positions of these windows must lie within .* of zero"
    ):
        sash.aggregate(rows, query, on="t")
    stream = sash.Stream(query, on="t", late="keep", watermark=0)
    stream.push(rows)
    assert stream.late_count == 1 and stream.late().column("x").to_pylist() == [1]
    stream.push({"t": rows["t"][:1], "x": [1]})  # the far row has not moved the watermark
    assert stream.late_count == 1


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_a_time_more_than_73_000_years_from_1970_is_refused_in_a_table(unit: str) -> None:
    query = sash.query("q", sash.tumbling("1 day"), n=sash.count())
    far = pa.table({"t": pa.array([0, 2**63 - 1], pa.timestamp(unit))})
    with pytest.raises(InvalidInput, match=r"'t' holds 9223372036854775807, .* within 73,000 years of 1970"):
        sash.aggregate(far, query, on="t")


def test_rows_without_a_position_are_still_passed_over() -> None:
    query = sash.query("q", sash.tumbling(1.0), n=sash.count())
    rows = {"t": [None, math.nan, math.inf, -math.inf, 0.5]}
    assert sash.aggregate(rows, query, on="t").column("n").to_pylist() == [1]


@pytest.mark.parametrize(
    "window", [sash.landmark(start=0.0, end=1e300), sash.tumbling(rows=1), sash.punctuated("new")], ids=str
)
def test_windows_that_compute_no_edge_take_any_float(window: Any) -> None:
    query = sash.query("q", window, n=sash.count())
    assert sum(sash.aggregate({"t": [1e17, 1e299], "new": [True, True]}, query, on="t").column("n").to_pylist()) == 2


@pytest.mark.parametrize("size", [0.1, 1 / 3, math.pi, 1e-300, 5e-324, 1e15])
def test_rows_as_far_as_positions_go_are_in_one_window(size: float) -> None:
    reach = size * 2.0**52
    rows = [-reach, math.nextafter(-reach, 0), -reach / 3, reach / 3, math.nextafter(reach, 0), reach]
    for position, held in zip(rows, windows_of(rows, sash.tumbling(size)), strict=True):
        ((start, end),) = held
        assert start <= position < end


def test_a_lateness_beyond_all_positions_is_no_lateness_at_all() -> None:
    stream = sash.Stream(counted(sash.tumbling(1e-6)), on="t", allowed_lateness=1e18)
    found = [stream.push({"t": [k / 10**6], "x": [1]}, watermark=k / 10**6).num_rows for k in range(600)]
    assert sum(found) + stream.finish().num_rows == 600


def test_a_query_too_fine_for_the_rows_that_are_there_is_refused() -> None:
    stream = sash.Stream(counted(sash.tumbling(1.0)), on="t")
    stream.push({"t": [1e12], "x": [1]}, watermark=1e12)
    blob = stream.save()
    fine = counted(sash.tumbling(1e-9), "fine")
    with pytest.raises(InvalidWindow, match=r"1e\+12.*within 4\.5036e\+06 of zero"):
        stream.add(fine)
    with pytest.raises(InvalidWindow, match=r"1e\+12.*within 4\.5036e\+06 of zero"):
        sash.Stream.restore(blob, [*stream.queries, fine])
    assert [query.name for query in stream.queries] == ["q"]
    assert stream.push({"t": [1e12 + 0.5], "x": [1]}, watermark=1e12 + 1).column("n").to_pylist() == [2]
