"""Random streams against the oracle, after every push: any windows, any disorder, saved and restored anywhere."""

import itertools
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from sash.engine import batch
from sash.engine.options import CallOptions
from sash.limits import LIMITS, Limits
from tests.engine.descriptions import Query, calls, parse
from tests.engine.oracle import Oracle, Sent
from tests.engine.transcripts import Event, Frame, Transcript, difference, key_columns, subjects
from tests.limits import restored

# A kernel is compiled for each distinct set, so sets are few; windows cost nothing.
ORDERED = ("first(x), last(x), collect(x)", "turns(x), count(), sum(x)", "argmax(x, t), last(y), range(x)")
COMMUTATIVE = ("count(), sum(x), max(x)", "mean(y), min(y), count(y), count()", "median(x), count_distinct(x), max(y)")

PROFILE = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,  # the same examples in every run; campaigns look for others
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
MANY = 1000
MOST_EVENTS = 12
TYPES = {"k": pa.string(), "new": pa.bool_(), "x": pa.int64(), "y": pa.float64()}

KEYS: list[list[str | None]] = [["a"], ["a"], ["a", "b"], ["a", "b", None]]
SMALL = st.integers(1, 12)
XS = st.none() | st.integers(-4, 4)
# Quarters: any sum of them is exact, in any order.
YS = st.none() | st.integers(-8, 8).map(lambda quarters: quarters / 4) | st.just(math.nan)


@st.composite
def windows(draw: st.DrawFn, in_floats: bool) -> str:
    kinds = ["tumbling", "sliding", "session", "rows", "cumulative", "landmark", "punctuated"]
    kind = draw(st.sampled_from(kinds if in_floats else [*kinds, "multi"]))
    size, every, offset = draw(SMALL), draw(SMALL), draw(st.integers(-15, 15))
    if kind == "cumulative":
        return f"cumulative {every * draw(st.integers(1, 4))} every {every}"
    return {
        "tumbling": f"tumbling {size} offset {offset}",
        "sliding": f"sliding {size} every {every} offset {offset}",
        "session": f"session gap {size}",
        "rows": f"sliding rows {size} every {every}",
        "landmark": f"landmark start {offset} end {offset + size}",
        "punctuated": "punctuated new",
        "multi": f"sliding rows {size} every {every}us offset {offset}us",
    }[kind]


@st.composite
def query_sets(draw: st.DrawFn, in_floats: bool) -> dict[str, str]:
    """Commutative aggregates alone take other ways through the engine than ordered ones: half of the sets are so."""
    sets = draw(st.sampled_from([COMMUTATIVE, ORDERED, ORDERED + COMMUTATIVE, COMMUTATIVE]))
    count = draw(st.integers(1, 4))
    return {f"q{k}": f"{draw(st.sampled_from(sets))} over {draw(windows(in_floats))}" for k in range(count)}


@st.composite
def wandering(draw: st.DrawFn) -> Transcript:
    """A stream that moves on by and by, in which rows stray around where it is."""
    in_floats = draw(st.integers(0, 4)) == 0
    in_order = draw(st.integers(0, 3)) == 0
    delay = draw(st.none() | st.integers(0, 6)) if not in_order else None
    scale = 0.5 if in_floats else 1
    keys = draw(st.sampled_from(KEYS))
    stray = draw(st.sampled_from([0, 2, 8]))
    now = draw(st.integers(-20, 5))
    events = []
    for _ in range(draw(st.integers(1, 6))):
        rows: list[Mapping[str, Any]] = []
        for _ in range(draw(st.integers(0, 8))):
            now += draw(st.sampled_from([0, 0, 1, 1, 2, 9]))
            rows.append(
                {
                    "t": (now - draw(st.integers(0, stray))) * scale if draw(st.integers(0, 30)) else None,
                    "k": draw(st.sampled_from(keys)),
                    "new": draw(st.sampled_from([True, False, False, None])),
                    "x": draw(XS),
                    "y": draw(YS),
                }
            )
        ahead = draw(st.none() | st.integers(-8, 3))
        events.append(_event(tuple(rows), None if ahead is None else (now + ahead) * scale))
    events.append(_event((), math.inf))
    return Transcript(
        name="random",
        columns=("t", "k", "new", "x", "y"),
        queries={name: parse(text) for name, text in draw(query_sets(in_floats)).items()},
        events=tuple(events),
        by=("k",) if len(keys) > 1 else (),
        lateness=draw(st.sampled_from([0, 0, 3, 10, 100])) if not in_order else 0,
        delay=delay,
        in_order=in_order,
        emit=draw(st.sampled_from(["final", "final", "final", "updates"])),
        types={"t": pa.float64() if in_floats else pa.int64(), **TYPES},
    )


@st.composite
def lengths(draw: st.DrawFn, query: Query, scale: float) -> int:
    """How far from a row a window of the query may begin or end, in steps of `scale`."""
    words = [int(value / scale) for _, value in query.window.words if isinstance(value, int)]
    return draw(st.sampled_from([0, *words]))


@st.composite
def pointed(draw: st.DrawFn, aggregates: tuple[str, ...] = ()) -> Transcript:
    """A stream that moves in small steps, with rows and watermarks where windows are decided: at the watermark, at the
    oldest position that is accepted, at a window's length from a row or from one of these, and one beside each.
    """
    in_floats = draw(st.integers(0, 4)) == 0
    scale = 0.5 if in_floats else 1
    keys = draw(st.sampled_from(KEYS))
    kinds = draw(st.sampled_from(["any", "session", "punctuated", "both", "both"]))
    sets = aggregates or draw(st.sampled_from([COMMUTATIVE, ORDERED, ORDERED + COMMUTATIVE]))
    texts = {
        "any": windows(in_floats),
        "session": st.integers(1, 8).map(lambda gap: f"session gap {gap}"),
        "punctuated": st.just("punctuated new"),
        "both": st.sampled_from(["punctuated new", "session gap 2", "session gap 5", "sliding 12 every 4 offset 3"]),
    }[kinds]
    queries = {
        f"q{k}": parse(f"{draw(st.sampled_from(sets))} over {draw(texts)}") for k in range(draw(st.integers(1, 3)))
    }
    lateness = draw(st.integers(0, 14) | st.just(40))
    opens = st.sampled_from([True, False] if kinds == "punctuated" else [True, False, False, False, None])
    mark, newest, told = draw(st.integers(-9, 3)), 0, [0]
    events = []
    for _ in range(draw(st.integers(2, MOST_EVENTS - 1))):
        rows: list[Mapping[str, Any]] = []
        for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2, 3, 5]))):
            query = queries[draw(st.sampled_from(sorted(queries)))]
            near = draw(st.sampled_from([mark, mark - lateness, mark - lateness, newest, *told[-4:]]))
            away = draw(lengths(query, scale)) * draw(st.sampled_from([-1, 1])) + draw(
                st.sampled_from([-1, 0, 0, 0, 1])
            )
            at = max(near + away, mark - lateness - draw(st.sampled_from([0, 0, 0, 1])))
            told.append(at)
            newest = max(newest, at)
            rows.append(
                {"t": at * scale, "k": draw(st.sampled_from(keys)), "new": draw(opens), "x": draw(XS), "y": draw(YS)}
            )
        moves = draw(st.sampled_from(["not", "one", "some", "row", "length"]))
        ahead = {
            "not": 0,
            "one": 1,
            "some": draw(st.integers(0, 6)),
            "row": max(0, newest - mark),
            "length": max(0, told[-1] + draw(lengths(queries["q0"], scale)) + draw(st.integers(0, 1)) - mark),
        }[moves]
        mark += ahead
        events.append(_event(tuple(rows), mark * scale))
    events.append(_event((), math.inf))
    return Transcript(
        name="random",
        columns=("t", "k", "new", "x", "y"),
        queries=queries,
        events=tuple(events),
        by=("k",) if len(keys) > 1 else (),
        lateness=lateness * scale if in_floats else lateness,
        emit=draw(st.sampled_from(["final", "final", "updates"])),
        types={"t": pa.float64() if in_floats else pa.int64(), **TYPES},
    )


def transcripts() -> st.SearchStrategy[Transcript]:
    return wandering() | pointed()


def _event(rows: tuple[Mapping[str, Any], ...], watermark: Any) -> Event:
    return Event(rows=rows, watermark=watermark, expect=(), late=0, add={}, remove=None)


# --- checking --------------------------------------------------------------------------------------


def check(transcript: Transcript, saves: list[bool], limits: Limits = LIMITS) -> None:
    """The stream sends what the oracle does after every push, and a table has what holds in the end."""
    told = list(written_down(transcript))
    oracle, stream = transcript.oracle(), transcript.stream(late="keep", limits=limits)
    for at, (event, save) in enumerate(zip(transcript.events, saves[: len(transcript.events)], strict=True)):
        wanted = oracle.push(event.rows, event.watermark)
        told.append(line(transcript, event, wanted, save))
        if save:
            stream = restored(stream, subjects(transcript.queries), limits)
        found = transcript.read(stream.push(transcript.table(event.rows), watermark=event.watermark))
        wrong = difference(found, wanted)
        assert not wrong, "\n".join([*told, f"event {at}", wrong])
        assert stream.late_count == len(oracle.late), "\n".join(told)
    late = [[row[name] for name in transcript.columns] for row in stream.late().to_pylist()]
    wrong = difference(late, [[row[name] for name in transcript.columns] for row in oracle.late])
    assert not wrong, "\n".join([*told, "late", wrong])
    if oracle.rows:
        rows = [row.columns for row in oracle.rows]
        wrong = difference(*as_table(transcript, rows, partial=saves[0], limits=limits))
        assert not wrong, "\n".join([*told, f"table, partial={saves[0]}", wrong])


def as_table(
    transcript: Transcript, rows: list[Mapping[str, Any]], *, partial: bool, limits: Limits = LIMITS
) -> tuple[list[Sent], list[Sent]]:
    """What sash and the oracle say of the rows as one table."""
    oracle = Oracle(transcript.queries, transcript.on, transcript.by, partial=partial)
    given = CallOptions(transcript.on, key_columns(transcript.by), partial=partial, limits=limits)
    found = batch.aggregate(pa.table(transcript.table(rows)), subjects(transcript.queries), given)
    return transcript.read(found, has_revisions=False), oracle.push(rows, math.inf)


def written_down(transcript: Transcript) -> Iterator[str]:
    """A transcript as one could keep it."""
    yield f"\ncolumns: [{', '.join(transcript.columns)}]"
    if transcript.by:
        yield f"by: [{', '.join(transcript.by)}]"
    for name in ("lateness", "delay", "in_order", "emit"):
        if getattr(transcript, name) not in (0, None, False, "final"):
            yield f"{name}: {getattr(transcript, name)}"
    yield "queries:"
    yield from (f"  {name}: {query.text}" for name, query in transcript.queries.items())
    yield "events:"


def line(transcript: Transcript, event: Event, expect: list[Sent], save: bool) -> str:
    rows = [[row[name] for name in transcript.columns] for row in event.rows]
    several, revised = len(transcript.queries) > 1, transcript.has_revisions
    results = [
        [*[sent.query][: 1 * several], *sent.key, sent.start, sent.end, *sent.values, *[sent.revision][: 1 * revised]]
        for sent in expect
    ]
    after = "  # after save and restore" if save else ""
    return f"  - {{rows: {spelled(rows)}, watermark: {spelled(event.watermark)}, expect: {spelled(results)}}}{after}"


def spelled(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"
    return "~" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


SAVES = st.lists(st.sampled_from([False, False, False, True]), min_size=MOST_EVENTS, max_size=MOST_EVENTS)


@PROFILE
@given(transcript=transcripts(), saves=SAVES)
def test_random_streams_agree_with_the_oracle(transcript: Transcript, saves: list[bool]) -> None:
    check(transcript, saves)


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    keys = draw(st.sampled_from(KEYS))
    row = st.fixed_dictionaries({"t": st.integers(-5, 9), "k": st.sampled_from(keys), "x": XS, "y": YS})
    by_count = draw(st.booleans())
    return Frame(
        name="random",
        columns=("t", "k", "x", "y"),
        calls=calls(draw(st.sampled_from(ORDERED + COMMUTATIVE))),
        rows=tuple(draw(st.lists(row, min_size=1, max_size=12))),
        expect=(),
        by=("k",) if len(keys) > 1 else (),
        count=draw(st.integers(1, 6)) if by_count else None,
        width=None if by_count else draw(st.integers(1, 8)),
        closed=draw(st.sampled_from(["both", "right"])) if not by_count else "both",
        min_samples=draw(st.sampled_from([1, 1, 2, 3])),
        types={"t": pa.int64(), **TYPES},
    )


@PROFILE
@given(frame=frames())
def test_random_frames_agree_with_the_oracle(frame: Frame) -> None:
    assert not (wrong := difference([frame.found()], [frame.wanted()])), wrong


def campaign(seconds: float, first_seed: int = 0, limits: Limits = LIMITS) -> int:
    """Random streams for so long; how many there were. A failure names its seed and shows the shortest stream."""
    until, streams = time.monotonic() + seconds, 0

    def counted(transcript: Transcript, saves: list[bool]) -> None:
        nonlocal streams
        streams += 1
        check(transcript, saves, limits)

    for each in itertools.count(first_seed):
        if time.monotonic() > until:
            break
        try:
            seed(each)(settings(PROFILE, derandomize=False, max_examples=MANY)(given(transcripts(), SAVES)(counted)))()
        except AssertionError as error:
            error.add_note(f"repeat: tests.engine.test_random.campaign(1, first_seed={each})")
            raise
    return streams


@pytest.mark.fuzz
def test_campaign_of_random_streams_agrees_with_the_oracle(request: pytest.FixtureRequest) -> None:
    if "fuzz" not in request.config.option.markexpr:
        pytest.skip("a long campaign: pytest -m fuzz, or make fuzz")
    assert campaign(600) > 0
