"""Windows as they are written: every spelling that is taken, every one that is refused."""

import datetime as dt
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash.errors import InvalidInput, InvalidWindow, SashError
from sash.windows.duration import Duration
from sash.windows.lengths import LONGEST, length_on
from sash.windows.measure import Measure
from sash.windows.window import Context, Window
from tests.accepting import accepting, mostly

TIME = Measure.of(pa.timestamp("us"))
INTEGER = Measure.of(pa.int64())
FLOAT = Measure.of(pa.float64())
SECOND = 1_000_000


class Tens(sash.ContextFreeWindow):
    def next_edge(self, position: Any) -> Any:
        return position // 10 * 10 + 10

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        return []


class NothingYet(sash.ForwardFreeWindow):
    reads = ("x",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        pass


class Nothing(sash.ContextAwareWindow):
    reads = ("x", "y")

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        pass


# --- what is taken ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "text", "context", "by_count"),
    [
        (sash.tumbling(10), "tumbling 10", Context.FREE, False),
        (sash.tumbling("10 minutes"), "tumbling 10m", Context.FREE, False),
        (sash.tumbling("PT90M", offset="-15s"), "tumbling 1h30m offset -15s", Context.FREE, False),
        (sash.tumbling(dt.timedelta(seconds=2)), "tumbling 2s", Context.FREE, False),
        (sash.tumbling(rows=7), "tumbling 7 rows", Context.FREE, True),
        (sash.tumbling(2.5), "tumbling 2.5", Context.FREE, False),
        (sash.sliding("1 hour", every="1 minute"), "sliding 1h every 1m", Context.FREE, False),
        (sash.sliding(10, every=4, offset=1), "sliding 10 every 4 offset 1", Context.FREE, False),
        (sash.sliding(4, every=4), "tumbling 4", Context.FREE, False),
        (sash.sliding(rows=10, every=4), "sliding 10 rows every 4", Context.FREE, True),
        (sash.sliding(rows=4, every=4), "tumbling 4 rows", Context.FREE, True),
        (sash.sliding(rows=10, every="5 seconds"), "last 10 rows every 5s", Context.FORWARD_AWARE, False),
        (sash.sliding(rows=1, every="5s", offset="1s"), "last 1 rows every 5s offset 1s", Context.FORWARD_AWARE, False),
        (sash.sliding("5 seconds", every_rows=10), "last 5s every 10 rows", Context.FORWARD_AWARE, True),
        (sash.sliding(2.5, every_rows=1), "last 2.5 every 1 rows", Context.FORWARD_AWARE, True),
        (sash.cumulative("1 day", every="1 hour"), "cumulative 1d every 1h", Context.FREE, False),
        (sash.cumulative(10, every=5, offset=1), "cumulative 10 every 5 offset 1", Context.FREE, False),
        (sash.session(gap="30 seconds"), "session gap 30s", Context.FORWARD_FREE, False),
        (sash.session(gap=3), "session gap 3", Context.FORWARD_FREE, False),
        (sash.punctuated("new"), "punctuated by new", Context.FORWARD_FREE, False),
        (sash.punctuated("new", "end"), "punctuated by new, end", Context.FORWARD_FREE, False),
        (sash.landmark(start=0, end=9), "landmark 0 to 9", Context.FREE, False),
        (Tens(), "Tens()", Context.FREE, False),
        (NothingYet(), "NothingYet()", Context.FORWARD_FREE, False),
        (Nothing(), "Nothing()", Context.FORWARD_AWARE, False),
    ],
    ids=lambda each: str(each) if isinstance(each, Window) else "",
)
def test_each_kind_reads_well_and_knows_its_context(window: Any, text: str, context: Context, by_count: bool) -> None:
    assert str(window) == text
    assert window.context is context
    assert window.by_count is by_count
    assert isinstance(window, Window)


@pytest.mark.parametrize(
    "same",
    [
        ("1 hour", "60 minutes", "PT1H", "1h", dt.timedelta(hours=1), np.timedelta64(1, "h"), Duration(3600 * SECOND)),
        (5, np.int64(5), np.int32(5)),
        (2.5, np.float64(2.5), np.float32(2.5)),
    ],
    ids=["durations", "integers", "floats"],
)
def test_spellings_of_one_length_make_equal_windows(same: tuple[Any, ...]) -> None:
    makers: list[Any] = [
        sash.tumbling,
        lambda each: sash.session(gap=each),
        lambda each: sash.sliding(each, every=each),
    ]
    for make in makers:
        made = [make(each) for each in same]
        assert len(set(made)) == 1
        assert all(each == made[0] and hash(each) == hash(made[0]) and str(each) == str(made[0]) for each in made)


def test_windows_of_other_numbers_or_kinds_differ() -> None:
    windows = [
        sash.tumbling(10),
        sash.tumbling(11),
        sash.tumbling(10, offset=1),
        sash.tumbling(rows=10),
        sash.sliding(10, every=5),
        sash.cumulative(10, every=5),
        sash.session(gap=10),
        sash.landmark(start=0, end=10),
        sash.punctuated("a"),
        sash.punctuated("b"),
    ]
    assert len(set(windows)) == len(windows)


def test_windows_are_frozen() -> None:
    with pytest.raises(AttributeError):
        sash.tumbling(10).size = 11  # type: ignore[attr-defined]


@pytest.mark.parametrize(("offset", "kept"), [(-16, 4), (-6, 4), (4, 4), (14, 4), (0, 0), (10, 0), (-10, 0)])
def test_offsets_that_differ_by_whole_slides_are_one(offset: int, kept: int) -> None:
    for window in (sash.tumbling(10, offset=offset), sash.sliding(30, every=10, offset=offset)):
        assert window.on(INTEGER).offset == kept  # type: ignore[attr-defined]
    assert sash.cumulative(10, every=5, offset=offset).on(INTEGER).offset == kept  # type: ignore[attr-defined]
    multi = sash.sliding(rows=2, every=dt.timedelta(microseconds=10), offset=dt.timedelta(microseconds=offset))
    assert multi.on(INTEGER).offset == kept  # type: ignore[attr-defined]


@given(size=st.integers(1, 100), every=st.integers(1, 100), offset=st.integers(-1000, 1000))
def test_offset_in_positions_is_the_smallest_that_is_not_negative(size: int, every: int, offset: int) -> None:
    window: Any = sash.sliding(size, every=every, offset=offset).on(INTEGER)
    assert 0 <= window.offset < every
    assert (window.offset - offset) % every == 0


def test_durations_are_microseconds_on_times_and_on_integers() -> None:
    for measure in (TIME, INTEGER):
        window: Any = sash.sliding("10s", every="2s", offset="1s").on(measure)
        assert (window.size, window.every, window.offset) == (10 * SECOND, 2 * SECOND, SECOND)
    assert sash.session(gap="1s").on(TIME).gap == SECOND  # type: ignore[attr-defined]


def test_whole_numbers_pass_on_every_numeric_measure() -> None:
    assert sash.tumbling(4.0).on(INTEGER).size == 4  # type: ignore[attr-defined]
    assert sash.tumbling(4).on(FLOAT).size == 4.0  # type: ignore[attr-defined]
    assert isinstance(sash.tumbling(4).on(FLOAT).size, float)  # type: ignore[attr-defined]


def test_a_landmark_takes_times_in_any_spelling() -> None:
    first, last = dt.datetime(2024, 1, 1), np.datetime64("2024-01-02")
    window: Any = sash.landmark(start=first, end=last).on(TIME)
    assert window.end - window.start == 86_400 * SECOND


def test_only_punctuations_and_users_windows_name_columns() -> None:
    assert sash.punctuated("new").columns == ("new",)
    assert sash.punctuated("new", "end").columns == sash.punctuated("new", "end").flags == ("new", "end")
    assert Nothing().columns == ("x", "y") and NothingYet().columns == ("x",)
    assert sash.tumbling(1).columns == sash.session(gap=1).columns == ()


# --- what is refused ---------------------------------------------------------------------------------------

MAKERS: dict[str, Any] = {
    "size of a tumbling": sash.tumbling,
    "size of a sliding": lambda value: sash.sliding(value, every=1),
    "every of a sliding": lambda value: sash.sliding(1, every=value),
    "gap of a session": lambda value: sash.session(gap=value),
    "size of a cumulative": lambda value: sash.cumulative(value, every=1),
    "every of a cumulative": lambda value: sash.cumulative(1, every=value),
}
NO_LENGTHS = [0, -1, -0.5, 0.0, math.nan, math.inf, -math.inf, LONGEST, "0s", "-1s", dt.timedelta(0), np.float64("nan")]


@pytest.mark.parametrize("what", MAKERS)
@pytest.mark.parametrize("value", NO_LENGTHS, ids=repr)
def test_a_length_that_is_not_positive_is_refused_with_the_value(what: str, value: Any) -> None:
    with pytest.raises(InvalidWindow, match=what) as caught:
        MAKERS[what](value)
    assert repr(value) in str(caught.value)
    assert "more than 0" in str(caught.value)


@pytest.mark.parametrize("what", MAKERS)
@pytest.mark.parametrize("value", [True, False, "soon", "10", "1 fortnight", b"10s", [1], {}, object], ids=repr)
def test_a_length_of_another_type_is_refused(what: str, value: Any) -> None:
    with pytest.raises((InvalidInput, InvalidWindow), match=r"not a valid duration|must be"):
        MAKERS[what](value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sash.tumbling(), "needs size"),
        (lambda: sash.tumbling(None), "needs size"),
        (lambda: sash.sliding(10), "needs every"),
        (lambda: sash.sliding(every=1), "needs size"),
        (lambda: sash.sliding(rows=5), "needs every"),
        (lambda: sash.session(gap=None), "needs gap"),
        (lambda: sash.cumulative(10, every=None), "needs every"),
        (lambda: sash.cumulative(None, every=10), "needs size"),
        (lambda: sash.landmark(start=None, end=3), "needs start"),
        (lambda: sash.landmark(start=3, end=None), "needs end"),
        (lambda: sash.tumbling(10, rows=10), "leave one of them out"),
        (lambda: sash.sliding(10, rows=10, every=1), "leave one of them out"),
        (lambda: sash.tumbling(rows=10, offset=1), "leave it out"),
        (lambda: sash.sliding(rows=10, every=1, offset=1), "leave it out"),
        (lambda: sash.punctuated(""), "name of a boolean column"),
        (lambda: sash.punctuated(3), "name of a boolean column"),  # type: ignore[arg-type]
        (lambda: sash.cumulative(10, every=4), "10 cannot grow by 4"),
        (lambda: sash.cumulative("10s", every="4s"), "10s cannot grow by 4s"),
        (lambda: sash.cumulative(1, every=2), "1 cannot grow by 2"),
        (lambda: sash.query("q", 10, n=sash.count()), "Expected a window"),  # type: ignore[arg-type]
        (lambda: sash.query("q", "tumbling 10", n=sash.count()), "Expected a window"),  # type: ignore[arg-type]
    ],
)
def test_what_is_missing_or_too_much_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidWindow, match=message):
        make()


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "3", math.nan, 2**61, [2]], ids=repr)
def test_a_count_of_rows_that_is_none_is_refused_with_the_value(value: Any) -> None:
    makers: list[Any] = [lambda: sash.tumbling(rows=value), lambda: sash.sliding(rows=value, every=1)]
    for make in makers:
        with pytest.raises(InvalidWindow, match="whole number of at least 1") as caught:
            make()
        assert repr(value) in str(caught.value)


@pytest.mark.parametrize("offset", [math.nan, math.inf, True, "later", None], ids=repr)
def test_an_offset_that_is_none_is_refused(offset: Any) -> None:
    with pytest.raises(SashError, match=r"offset|duration"):
        sash.tumbling(10, offset=offset)


ALL = [
    lambda value: sash.tumbling(value),
    lambda value: sash.sliding(value, every=value),
    lambda value: sash.session(gap=value),
    lambda value: sash.cumulative(value, every=value),
]


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("value", [10, 2.5])
def test_a_bare_number_on_a_time_is_refused_with_the_unit_to_say(make: Any, value: Any) -> None:
    with pytest.raises(
        InvalidWindow, match=f"a number without a unit, but `on` is a time: add the unit, as in '{value} seconds'"
    ):
        make(value).on(TIME)


def test_a_bare_offset_on_a_time_is_refused_unless_it_is_nought() -> None:
    assert sash.tumbling("10s", offset=0).on(TIME).offset == 0  # type: ignore[attr-defined]
    with pytest.raises(InvalidWindow, match="offset of a tumbling window is 3, a number without a unit"):
        sash.tumbling("10s", offset=3).on(TIME)


@pytest.mark.parametrize("make", ALL)
def test_a_fraction_on_an_integer_is_refused(make: Any) -> None:
    with pytest.raises(InvalidWindow, match=r"2\.5, but `on` is an integer"):
        make(2.5).on(INTEGER)


@pytest.mark.parametrize("make", ALL)
def test_a_duration_on_a_float_is_refused(make: Any) -> None:
    with pytest.raises(InvalidWindow, match="duration '10s', but `on` is a float"):
        make("10s").on(FLOAT)


def test_multi_measure_on_a_float_is_refused() -> None:
    with pytest.raises(InvalidWindow, match="duration '10s', but `on` is a float"):
        sash.sliding(rows=2, every="10s").on(FLOAT)


@pytest.mark.parametrize(("start", "end"), [(5, 5), (6, 5), (math.inf, math.inf)])
def test_a_landmark_that_is_empty_is_refused(start: Any, end: Any) -> None:
    with pytest.raises(InvalidWindow, match="start must be before end"):
        sash.landmark(start=start, end=end).on(INTEGER)


@pytest.mark.parametrize(
    ("start", "measure"), [("soon", TIME), (True, INTEGER), (1.5, INTEGER), (dt.datetime(2024, 1, 1), INTEGER)]
)
def test_a_landmark_of_another_type_than_on_is_refused(start: Any, measure: Measure) -> None:
    with pytest.raises(InvalidInput, match="landmark start must be"):
        sash.landmark(start=start, end=10**18).on(measure)


def test_a_cumulative_window_of_mixed_units_is_checked_when_on_is_known() -> None:
    assert sash.cumulative("10us", every=5).on(INTEGER).every == 5  # type: ignore[attr-defined]
    with pytest.raises(InvalidWindow, match="cannot grow by"):
        sash.cumulative("10us", every=4).on(INTEGER)


# --- lateness and delay ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "value", "position"),
    [
        (TIME, "10s", 10 * SECOND),
        (TIME, 0, 0),
        (INTEGER, 7, 7),
        (INTEGER, 7.0, 7),
        (INTEGER, "1ms", 1000),
        (FLOAT, 2.5, 2.5),
        (FLOAT, "0s", 0.0),
    ],
)
def test_lateness_is_a_length_in_positions(measure: Measure, value: Any, position: Any) -> None:
    assert length_on(measure, "allowed_lateness", value) == position


@pytest.mark.parametrize(
    ("measure", "value", "message"),
    [
        (TIME, 5, "allowed_lateness is 5, a number without a unit"),
        (INTEGER, 2.5, r"allowed_lateness is 2\.5"),
        (FLOAT, "5s", "allowed_lateness is the duration '5s'"),
        (INTEGER, -1, "not negative"),
        (INTEGER, "-1s", "not negative"),
        (FLOAT, math.nan, "not negative"),
        (FLOAT, math.inf, "less than"),
        (INTEGER, True, "not a valid duration"),
        (INTEGER, None, "not a valid duration"),
    ],
)
def test_a_lateness_that_makes_no_sense_is_refused(measure: Measure, value: Any, message: str) -> None:
    with pytest.raises(SashError, match=message):
        length_on(measure, "allowed_lateness", value)


# --- windows of users' own -----------------------------------------------------------------------------------


def test_users_windows_must_say_where_they_are() -> None:
    class Unfinished(sash.ContextFreeWindow):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()  # type: ignore[abstract]


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.binary(max_size=3), st.just([1])
)


NUMBERS, DURATIONS = st.integers(1, 12), st.sampled_from(["10s", "1 minute", "1h"])
TIMES = st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2030, 1, 1))
FROM_ANYTHING: dict[str, Any] = {
    "tumbling": lambda size, every, offset, rows: sash.tumbling(size, rows=rows, offset=offset),
    "sliding": lambda size, every, offset, rows: sash.sliding(size, every=every, rows=rows, offset=offset),
    "cumulative": lambda size, every, offset, rows: sash.cumulative(size, every=every, offset=offset),
    "session": lambda size, every, offset, rows: sash.session(gap=size),
    "landmark": lambda size, every, offset, rows: sash.landmark(start=size, end=every),
}


@pytest.mark.parametrize("maker", FROM_ANYTHING)
@pytest.mark.parametrize("measure", [TIME, INTEGER, FLOAT], ids=lambda measure: measure.kind.value)
def test_whatever_is_given_makes_a_window_or_a_sentence(maker: str, measure: Measure) -> None:
    usual = NUMBERS if measure is not TIME else TIMES if maker == "landmark" else DURATIONS
    lengths = mostly(usual, ANYTHING)

    share = 0.05 if maker == "landmark" else 0.3  # half of them end before they start

    @accepting(
        share, size=lengths, every=lengths, offset=mostly(st.just(0), ANYTHING), rows=mostly(st.none(), ANYTHING)
    )
    def is_made(**given_: Any) -> bool:
        try:
            FROM_ANYTHING[maker](**given_).on(measure)
        except SashError:
            return False
        return True

    is_made()
