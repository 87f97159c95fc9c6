import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import InvalidInput
from sash.windows.duration import Duration, duration
from tests.accepting import accepting

MS, S, M, H, D = 1_000, 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000

READINGS = [
    ("1 hour", H),
    ("90s", 90 * S),
    ("1h30m", 90 * M),
    ("10 minutes", 10 * M),
    ("250 milliseconds", 250 * MS),
    ("15 us", 15),
    ("15 µs", 15),
    ("1 day 2 hours", 26 * H),
    ("2 weeks", 14 * D),
    ("1.5 hours", 90 * M),
    ("0.1s", 100 * MS),
    ("3000ns", 3),
    ("  5  MINUTES ", 5 * M),
    ("-15 seconds", -15 * S),
    ("-1h30m", -90 * M),
    ("+1h", H),
    ("0s", 0),
    ("PT1H", H),
    ("P1DT12H", 36 * H),
    ("PT0.5S", 500 * MS),
    ("PT0,5S", 500 * MS),
    ("PT1M", M),
    ("P2W", 14 * D),
    ("-PT15M", -15 * M),
    ("INTERVAL 1 HOUR", H),
    ("interval '1' hour", H),
    ("INTERVAL '1 day 2 hours'", 26 * H),
    ("INTERVAL -5 SECONDS", -5 * S),
    (dt.timedelta(hours=1, microseconds=1), H + 1),
    (dt.timedelta(microseconds=-1), -1),
    (np.timedelta64(5, "m"), 5 * M),
    (np.timedelta64(2, "W"), 14 * D),
    (np.timedelta64(7000, "ns"), 7),
    (np.timedelta64(3 * 10**6, "ps"), 3),
    (pd.Timedelta("1h30m"), 90 * M),
    (Duration(9), 9),
]

REFUSALS = [
    ("1 month", "no fixed length"),
    ("2y", "no fixed length"),
    ("1M", "no fixed length"),
    ("P1Y", "no fixed length"),
    ("P1M", "no fixed length"),
    ("INTERVAL 1 MONTH", "no fixed length"),
    (np.timedelta64(1, "M"), "no fixed length"),
    ("0.5us", "finer than a microsecond"),
    ("1 ns", "finer than a microsecond"),
    (np.timedelta64(1, "ns"), "finer than a microsecond"),
    (pd.Timedelta(1, "ns"), "finer than a microsecond"),
    (10, "no unit"),
    (1.5, "no unit"),
    (np.int64(3), "no unit"),
    ("10", "no unit"),
    (np.timedelta64(1), "no unit"),
    (np.timedelta64("NaT"), "missing"),
    (pd.NaT, "missing"),
    (None, "missing"),
    ("", "does not read"),
    ("soon", "does not read"),
    ("1h and a bit", "does not read"),
    ("P", "does not read"),
    ("PT", "does not read"),
    ("1 fortnight", "'fortnight' is no unit"),
    ("-1 hour 30 minutes", "one part or all"),
    ("1 hour -30 minutes", "does not read"),
    ("--1h", "does not read"),
    ("1" * 5000 + "s", "does not read"),
    ("١ hour", "does not read"),
    ("9999999999 days", "longer than"),
    ([1], "its type is list"),
]


@pytest.mark.parametrize(("given_", "microseconds"), READINGS, ids=str)
def test_reads_what_people_write(given_: object, microseconds: int) -> None:
    assert duration(given_) == Duration(microseconds)


@pytest.mark.parametrize(("given_", "reason"), REFUSALS, ids=lambda each: str(each)[:30])
def test_refuses_with_the_reason_and_examples(given_: object, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason) as refusal:
        duration(given_)
    assert "'1h30m'" in str(refusal.value)
    assert len(str(refusal.value)) < 300


@given(st.integers(-(2**62), 2**62))
def test_text_reads_back_as_the_same_duration(microseconds: int) -> None:
    assert duration(str(Duration(microseconds))) == Duration(microseconds)


AMOUNTS = st.builds("{}{}{}".format, st.integers(0, 99), st.sampled_from(["", " "]), st.sampled_from("dhmsxy"))


@accepting(
    0.1,
    examples=200,
    text=st.text(alphabet="-+ 0123456789.,PTWDHMSphmsudwinterval'µ", max_size=20)
    | st.text(max_size=20)
    | st.lists(AMOUNTS, max_size=3).map(" ".join),
)
def test_any_text_is_read_or_refused_but_never_a_crash(text: str) -> bool:
    try:
        read = duration(text)
    except InvalidInput:
        return False
    assert duration(str(read)) == read
    return True


CENTURIES = dt.timedelta(days=10**7)


@given(st.timedeltas(-CENTURIES, CENTURIES))
def test_a_timedelta_is_its_microseconds(value: dt.timedelta) -> None:
    assert dt.timedelta(microseconds=duration(value).microseconds) == value


@given(st.integers(0, 10**6), st.sampled_from(["ms", "s", "minutes", "HOURS", "day"]), st.sampled_from(["", " ", "  "]))
def test_amounts_add_up_over_parts(amount: int, unit: str, space: str) -> None:
    once = duration(f"{amount}{space}{unit}").microseconds
    assert duration(f"{amount}{space}{unit} {amount}{space}{unit}").microseconds == 2 * once
    assert duration(f"-{amount}{space}{unit}").microseconds == -once
