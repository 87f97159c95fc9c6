"""Windows of users' own: right where they are right, and one sentence where they are not."""

import math
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.errors import BrokenStream, InvalidWindow, SashError
from sash.limits import LIMITS
from tests.limits import stream_with

# One set for all: a kernel is compiled for each.
VALUES = {"n": sash.count(), "s": sash.sum("x"), "m": sash.max("x")}
Row = tuple[int, str, int]
Result = tuple[str, str, Any, Any, int, int, int]


class Squares(sash.ContextFreeWindow):
    """[k², (k + 1)²) for k ≥ 0."""

    def next_edge(self, position: Any) -> Any:
        return 0 if position < 0 else (math.isqrt(position) + 1) ** 2

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        first = math.isqrt(max(after, 0))
        return [(k * k, (k + 1) ** 2) for k in range(first, math.isqrt(max(until, 0))) if after < (k + 1) ** 2 <= until]


class Lapped(sash.ContextFreeWindow):
    """[10k, 10k + 15): overlapping, and never longer than 15."""

    reach = 15

    def next_edge(self, position: Any) -> Any:
        return position // 5 * 5 + 5

    def ended(self, after: Any, until: Any) -> list[tuple[Any, Any]]:
        return [(k * 10, k * 10 + 15) for k in range(after // 10 - 2, until // 10 + 1) if after < k * 10 + 15 <= until]


class Rises(sash.ContextAwareWindow):
    """From a row above 5 to the next that is not."""

    reads = ("x",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position, x in zip(positions, columns["x"], strict=True):
            since = context.memory.get("since")
            if x > 5 and since is None:
                context.memory["since"] = position
            elif x <= 5 and since is not None:
                if position > since:
                    context.add(since, position)
                context.memory["since"] = None


class Around(sash.ContextAwareWindow):
    """Three before a row to three after it, for rows whose value is a multiple of four; one at a time."""

    reads = ("x",)
    reach = 10

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position, x in zip(positions, columns["x"], strict=True):
            if x % 4 == 0 and (position - 3, position + 3) not in context.windows:
                context.add(position - 3, position + 3)


class Plateaus(sash.ForwardFreeWindow):
    """From each row whose x is another multiple of three than the row before, to the next; sash closes the last."""

    reads = ("x",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position, x in zip(positions.tolist(), columns["x"].tolist(), strict=True):
            if x // 3 != context.memory.get("height"):
                context.close(position)
                context.open(position)
            context.memory["height"] = x // 3


class Alarms(sash.ForwardFreeWindow):
    """Six from each row with a multiple of five: edges that lie ahead, and windows that overlap."""

    reads = ("x",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in np.unique(positions[columns["x"] % 5 == 0]).tolist():
            if position != context.memory.get("last"):
                context.add(position, position + 6)
            context.memory["last"] = position


def queries(*windows: Any) -> list[sash.Query]:
    return [sash.query(type(each).__name__, each, **VALUES) for each in windows]


def table(rows: Iterable[Row]) -> dict[str, Any]:
    columns = list(zip(*rows, strict=True))
    return dict(zip("tkx", map(list, columns), strict=True)) if columns else {}


def read(results: Any) -> list[Result]:
    names = ("query", "k", "window_start", "window_end", "n", "s", "m")
    return [tuple(row[name] for name in names) for row in results.to_pylist()]  # type: ignore[misc]


def as_set(results: Iterable[Result]) -> Counter[Result]:
    """What was sent, in any order, each as often as it was; a window may have no end."""
    return Counter(results)


def folded(query: str, key: str, start: Any, end: Any, rows: list[Row]) -> Result | None:
    xs = [x for t, k, x in rows if k == key and start <= t and (end is None or t < end)]
    return (query, key, start, end, len(xs), sum(xs), max(xs)) if xs else None


def rises(rows: list[Row]) -> list[tuple[int, int]]:
    found, since = [], None
    for t, _, x in rows:
        if x > 5 and since is None:
            since = t
        elif x <= 5 and since is not None:
            found += [(since, t)] if t > since else []
            since = None
    return found


def plateaus(rows: list[Row]) -> list[tuple[int, int | None]]:
    heights = [x // 3 for _, _, x in rows]
    starts = sorted({row[0] for row, now, was in zip(rows, heights, [-1, *heights], strict=False) if now != was})
    return list(zip(starts, [*starts[1:], None], strict=True))


def wanted(rows: list[Row], until: Any = math.inf) -> list[Result]:
    """By brute force: all windows of all keys that hold a row and end by then."""
    found: list[Result | None] = []
    for key in {k for _, k, _ in rows}:
        own = sorted((row for row in rows if row[1] == key), key=lambda row: row[0])
        bands: dict[str, list[tuple[Any, Any]]] = {
            "Squares": [(k * k, (k + 1) ** 2) for k in range(40)],
            "Lapped": [(k * 10, k * 10 + 15) for k in range(-3, 100)],
            "Rises": rises(own),
            "Around": sorted({(t - 3, t + 3) for t, _, x in own if x % 4 == 0}),
            "Plateaus": [(start, end) for start, end in plateaus(own) if end is not None or until == math.inf],
            "Alarms": sorted({(t, t + 6) for t, _, x in own if x % 5 == 0}),
        }
        for name, windows in bands.items():
            found += [folded(name, key, start, end, rows) for start, end in windows if end is None or end <= until]
    return [each for each in found if each is not None]


def drawn(seed: int, count: int, keys: int, disorder: int) -> list[Row]:
    dice = random.Random(seed)
    return [
        (max(0, k // 2 - dice.randrange(disorder + 1)), f"k{dice.randrange(keys)}", dice.randrange(12))
        for k in range(count)
    ]


FREE = [Squares(), Lapped()]
FORWARD = [Plateaus(), Alarms()]
AWARE = [Rises(), Around()]
SETS = [FREE, FORWARD, AWARE, FREE + FORWARD + AWARE]
NAMES = ["free", "forward", "aware", "all"]


@pytest.mark.parametrize("windows", SETS, ids=NAMES)
@pytest.mark.parametrize("keys", [1, 40])
def test_a_table_has_the_windows_that_brute_force_finds(windows: list[Any], keys: int) -> None:
    rows = drawn(7, 300, keys, 9)
    found = read(sash.aggregate(table(rows), queries(*windows), on="t", by="k"))
    names = {type(each).__name__ for each in windows}
    # The last square ends beyond the last row; Lapped and Around end within their reach of it.
    assert as_set(found) == as_set(each for each in wanted(rows) if each[0] in names)


@pytest.mark.parametrize("windows", SETS, ids=NAMES)
@pytest.mark.parametrize("saves", [False, True])
def test_a_stream_sends_each_window_once_when_it_is_due(windows: list[Any], saves: bool) -> None:
    rows = drawn(3, 240, 5, 9)
    asked = queries(*windows)
    names = {type(each).__name__ for each in windows}
    stream = sash.Stream(asked, on="t", by="k")
    sent: list[Result] = []
    for begin in range(0, len(rows), 20):
        mark = max(0, begin // 2 - 1)
        sent += read(stream.push(table(rows[begin : begin + 20]), watermark=mark))
        assert stream.late_count == 0
        due = [each for each in wanted(rows[: begin + 20], mark) if each[0] in names]
        assert as_set(sent) == as_set(due)
        if saves:
            stream = sash.Stream.restore(stream.save(), asked)
    sent += read(stream.finish())
    assert as_set(sent) == as_set(each for each in wanted(rows) if each[0] in names)


@pytest.mark.parametrize("windows", SETS[:3], ids=NAMES[:3])
def test_a_late_row_within_lateness_corrects_a_users_window(windows: list[Any]) -> None:
    rows = drawn(11, 200, 3, 12)
    names = {type(each).__name__ for each in windows}
    stream = sash.Stream(queries(*windows), on="t", by="k", allowed_lateness=20)
    last: dict[tuple[Any, ...], Result] = {}
    for begin in range(0, len(rows), 10):
        for each in read(stream.push(table(rows[begin : begin + 10]), watermark=begin // 2)):
            last[each[:4]] = each
    for each in read(stream.finish()):
        last[each[:4]] = each
    assert stream.late_count == 0
    right = {each[:4]: each for each in wanted(rows) if each[0] in names}
    assert {key: last.get(key) for key in right} == right


class Visits(sash.ContextAwareWindow):
    """Sessions of gap 4, as a user would write them; one longer than built in, so that they fire at the same time."""

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in positions:
            first, last = context.memory.get("visit", (position, position))
            if position - last > 4:
                first = last = position
            if (first, last + 5) in context.windows:
                context.remove(first, last + 5)
            context.memory["visit"] = first, position
            context.add(first, position + 5)


class Trips(sash.ContextAwareWindow):
    """Punctuated by odd values of x, as a user would write it."""

    reads = ("x",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position, x in zip(positions, columns["x"], strict=True):
            start = context.memory.setdefault("start", position)
            if x % 2 and start < position:
                context.add(start, position)
                context.memory["start"] = position


class Laps(sash.ForwardFreeWindow):
    """The same, told by edges."""

    reads = ("x",)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        if not context.memory:
            context.open(positions[0])
            context.memory["has_begun"] = True
        for position in positions[columns["x"] % 2 == 1]:
            context.close(position)
            context.open(position)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("written", "built_in"),
    [(Visits(), sash.session(gap=4)), (Trips(), sash.punctuated("odd")), (Laps(), sash.punctuated("odd"))],
)
def test_a_users_window_is_revised_as_the_one_that_is_built_in(seed: int, written: Any, built_in: Any) -> None:
    dice = random.Random(seed)
    lateness, longer = dice.randrange(1, 15), isinstance(written, Visits)
    asked = [sash.query("mine", written, **VALUES), sash.query("theirs", built_in, **VALUES)]
    stream = sash.Stream(asked, on="t", by="k", allowed_lateness=lateness)
    mark = 0
    for at in range(15):
        rows = [
            (mark + dice.randrange(-lateness, 10), dice.choice("ab"), dice.randrange(6))
            for _ in range(dice.choice([1, 1, 2]))
        ]
        mark += dice.choice([0, 1, 2, 7])
        pushed = {**table(rows), "odd": [x % 2 == 1 for _, _, x in rows]}
        sent: dict[str, list[Any]] = {"mine": [], "theirs": []}
        for row in stream.push(pushed, watermark=mark).to_pylist():
            end = row["window_end"] - (longer and row["query"] == "mine")
            sent[row["query"]].append((row["k"], row["window_start"], end, row["s"], row["revision"]))
        assert sorted(sent["mine"]) == sorted(sent["theirs"]), f"push {at}"
        if dice.random() < 0.2:
            stream = sash.Stream.restore(stream.save(), asked)


@pytest.mark.parametrize("pushes", [1, 10])
def test_forward_free_windows_have_as_many_slices_as_edges(pushes: int) -> None:
    """A thousand rows with one change are two slices: a context-aware window would keep each row."""
    stream = sash.Stream(sash.query("q", Plateaus(), last=sash.last("x"), n=sash.count()), on="t")
    rows = [(at, "a", 0 if at < 600 else 3) for at in range(1000)]
    for begin in range(0, 1000, 1000 // pushes):
        stream.push(table(rows[begin : begin + 1000 // pushes]), watermark=begin + 1000 // pushes)
    assert stream.state is not None
    assert stream.state.slices.used == 2
    assert [(row["window_start"], row["n"]) for row in stream.finish().to_pylist()] == [(600, 400)]


def test_slices_of_closed_windows_are_dropped() -> None:
    stream = sash.Stream(queries(*FORWARD), on="t", by="k")
    sizes = []
    for begin in range(0, 40_000, 1000):
        rows = [(begin + 2 * k, "a", k % 7) for k in range(500)]
        stream.push(table(rows), watermark=begin)
        sizes.append(stream.state_bytes)
    assert sizes[-1] <= 1.5 * sizes[len(sizes) // 3]


def test_a_forward_free_window_gets_arrays_and_none_for_null() -> None:
    seen: list[Any] = []

    class Looks(sash.ForwardFreeWindow):
        reads = ("x", "s")

        def notify(self, context: Any, positions: Any, columns: Any) -> None:
            seen.append((positions.dtype.kind, columns["x"].dtype.kind, columns["x"].tolist(), columns["s"].tolist()))

    stream = sash.Stream(sash.query("q", Looks(), n=sash.count()), on="t")
    stream.push({"t": [1, 2], "x": [1, 2], "s": ["a", None]}, watermark=2)
    stream.push({"t": [3, 4], "x": [3, None], "s": ["b", "c"]}, watermark=4)
    assert seen == [("i", "i", [1, 2], ["a", None]), ("i", "O", [3, None], ["b", "c"])]


class Hops(sash.ContextAwareWindow):
    """The twenty before each multiple of ten that has a row: windows that overlap."""

    reach = 20

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in positions:
            if position % 10 == 0:
                context.add(position - 20, position)


def test_users_windows_that_overlap_are_not_taken_for_each_other() -> None:
    stream = sash.Stream(sash.query("q", Hops(), n=sash.count()), on="t", allowed_lateness=25)
    sent = []
    for mark, positions in [(20, [2, 10, 20]), (30, [15, 30]), (40, [40]), (40, [17]), (60, [50, 60])]:
        found = stream.push({"t": positions}, watermark=mark).to_pylist()
        sent.append(sorted((row["window_start"], row["n"], row["revision"]) for row in found))
    assert sent == [
        [(-10, 1, 0), (0, 2, 0)],
        [(0, 3, 1), (10, 3, 0)],
        [(20, 2, 0)],
        [(0, 4, 2), (10, 4, 1)],
        [(30, 2, 0), (40, 2, 0)],
    ]


class Hindsight(sash.ContextAwareWindow):
    """A multiple of ten that has a row tells of a window that ended long before it."""

    reach = 20

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in positions:
            if position % 10 == 0:
                context.add(position - 20, position - 12)


def test_a_window_that_a_waiting_row_tells_of_is_sent_once() -> None:
    stream = sash.Stream(sash.query("q", Hindsight(), n=sash.count()), on="t", allowed_lateness=5)
    found = [stream.push({"t": [at, at + 1]}, watermark=at).to_pylist() for at in range(0, 60, 2)]
    sent = [(row["window_start"], row["revision"]) for results in found for row in results]
    assert sent == [(0, 0), (10, 0), (20, 0), (30, 0)]
    assert stream.state is not None and len(stream.state.emitted["q"]) <= 2


def test_contexts_are_saved_and_restored_in_the_middle_of_a_window() -> None:
    stream = sash.Stream(queries(Rises()), on="t", by="k")
    stream.push(table([(1, "a", 9), (2, "b", 1)]), watermark=3)
    blob = stream.save()
    for each in (stream, sash.Stream.restore(blob, queries(Rises()))):
        assert each.save() == blob
        assert read(each.push(table([(5, "a", 2), (6, "b", 8)]), watermark=9)) == [("Rises", "a", 1, 5, 1, 9, 9)]


def test_a_window_with_reach_forgets_what_is_older() -> None:
    stream = sash.Stream(queries(Lapped()), on="t", by="k")
    sizes = []
    for begin in range(0, 60_000, 1000):
        rows = [(begin + 2 * k, "a", k % 7) for k in range(500)]
        stream.push(table(rows), watermark=begin)
        sizes.append(stream.state_bytes)
    assert sizes[-1] <= 1.5 * sizes[len(sizes) // 3]


# --- bad ones ----------------------------------------------------------------------------------------------


class BadFree(sash.ContextFreeWindow):
    """Tumbling by ten, until told to go wrong for positions from 100 on."""

    def __init__(self, edge: Any = None, ended: Any = None) -> None:
        object.__setattr__(self, "_edge", edge)
        object.__setattr__(self, "_ended", ended)

    def next_edge(self, position: Any) -> Any:
        if self._edge is not None and 100 <= position < 200:  # type: ignore[attr-defined]
            return self._edge(position)  # type: ignore[attr-defined]
        return position // 10 * 10 + 10

    def ended(self, after: Any, until: Any) -> Any:
        if self._ended is not None and 100 <= until < 200:  # type: ignore[attr-defined]
            return self._ended(after, until)  # type: ignore[attr-defined]
        return [(end - 10, end) for end in range(after // 10 * 10 + 10, until + 1, 10)]

    def __str__(self) -> str:
        return "BadFree"


def fails(*_: Any) -> Any:
    raise KeyError("boo")


BAD_EDGES: dict[str, Any] = {
    "goes back": lambda position: position - 1,
    "stays": lambda position: position,
    "gives None": lambda position: None,
    "gives a string": lambda position: "soon",
    "gives NaN": lambda position: math.nan,
    "gives a bool": lambda position: True,
    "gives more than 64 bits": lambda position: 2**70,
    "raises": fails,
}
BAD_ENDED: dict[str, Any] = {
    "outside": lambda after, until: [(until, until + 10)],
    "before": lambda after, until: [(after - 10, after)],
    "empty": lambda after, until: [(until, until)],
    "backwards": lambda after, until: [(until + 5, until)],
    "no pairs": lambda after, until: [until],
    "three": lambda after, until: [(after, until, until)],
    "a number": lambda after, until: 5,
    "None": lambda after, until: None,
    "strings": lambda after, until: [("a", "b")],
    "half None": lambda after, until: [(None, until)],
    "raises": fails,
}
GOOD = sash.query("good", sash.tumbling(10), **VALUES)


def refused(window: Any, bad: Iterable[Row], mark: int, name: str, **options: Any) -> None:
    """The push is refused in one sentence, changes nothing, and the stream goes on as if it had never been."""
    stream = sash.Stream([sash.query("bad", window, **VALUES), GOOD], on="t", by="k", **options)
    stream.push(table([(91, "a", 1), (93, "b", 2)]), watermark=90)
    before = stream.save()
    with pytest.raises(SashError, match=name) as caught:
        stream.push(table(bad), watermark=mark)
    assert isinstance(caught.value, InvalidWindow)
    assert "\n" not in str(caught.value)
    assert stream.save() == before
    found = [each for each in read(stream.push(table([(205, "a", 3)]), watermark=210)) if each[0] == "good"]
    assert found == [("good", "a", 90, 100, 1, 1, 1), ("good", "a", 200, 210, 1, 3, 3), ("good", "b", 90, 100, 1, 2, 2)]


@pytest.mark.parametrize("wrong", BAD_EDGES)
def test_an_edge_that_is_none_is_refused_and_changes_nothing(wrong: str) -> None:
    refused(BadFree(edge=BAD_EDGES[wrong]), [(95, "c", 1), (101, "c", 2)], 99, "BadFree.*next_edge")


@pytest.mark.parametrize("wrong", BAD_ENDED)
def test_ends_that_are_none_are_refused_and_change_nothing(wrong: str) -> None:
    refused(BadFree(ended=BAD_ENDED[wrong]), [(95, "c", 1), (101, "c", 2)], 110, "BadFree.*ended")


def test_ends_in_any_order_are_taken() -> None:
    def backwards(after: Any, until: Any) -> Any:
        return [(end - 10, end) for end in range(after // 10 * 10 + 10, until + 1, 10)][::-1]

    stream = sash.Stream(sash.query("bad", BadFree(ended=backwards), **VALUES), on="t", by="k")
    stream.push(table([(91, "a", 1), (105, "a", 2)]))
    assert read(stream.push({}, watermark=110)) == [("bad", "a", 90, 100, 1, 1, 1), ("bad", "a", 100, 110, 1, 2, 2)]


def test_a_window_that_never_ends_sends_nothing() -> None:
    window = BadFree(ended=lambda after, until: [])
    stream = sash.Stream([sash.query("bad", window, **VALUES), GOOD], on="t", by="k")
    found = read(stream.push(table([(101, "a", 1)]), watermark=120))
    assert [each[0] for each in found] == ["good"]


class BadAware(sash.ContextAwareWindow):
    """Does something wrong when it sees a row from 100 on."""

    reads = ("x",)

    def __init__(self, wrong: Any) -> None:
        object.__setattr__(self, "_wrong", wrong)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in positions:
            if 100 <= position < 200:
                self._wrong(context, position)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return "BadAware"


BAD_NOTIFY: dict[str, Any] = {
    "empty": lambda context, position: context.add(position, position),
    "backwards": lambda context, position: context.add(position, position - 1),
    "NaN": lambda context, position: context.add(position, math.nan),
    "None": lambda context, position: context.add(None, position),
    "strings": lambda context, position: context.add("a", "b"),
    "removes what is not there": lambda context, position: context.remove(1, 2),
    "raises": fails,
    "windows that are none": lambda context, position: setattr(context, "windows", 5),
}


class BadForward(sash.ForwardFreeWindow):
    """Does something wrong when it sees a row from 100 on."""

    def __init__(self, wrong: Any) -> None:
        object.__setattr__(self, "_wrong", wrong)

    def notify(self, context: Any, positions: Any, columns: Any) -> None:
        for position in positions.tolist():
            context.memory["seen"] = position
            if 100 <= position < 200:
                self._wrong(context, position)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return "BadForward"


BAD_FORWARD: dict[str, Any] = {
    "empty": lambda context, position: context.add(position, position),
    "backwards": lambda context, position: context.add(position + 2, position + 1),
    "NaN": lambda context, position: context.add(position, math.nan),
    "None": lambda context, position: context.open(None),
    "no end": lambda context, position: (context.open(position), context.close(None)),
    "strings": lambda context, position: context.add("a", "b"),
    "among rows read before": lambda context, position: context.open(91),
    "long before them": lambda context, position: context.add(5, position),
    "raises": fails,
    "open windows that are none": lambda context, position: setattr(context, "opened", 5),
}


@pytest.mark.parametrize("wrong", BAD_FORWARD)
@pytest.mark.parametrize("lateness", [0, 30])
def test_edges_that_are_not_forward_free_are_refused_and_change_nothing(wrong: str, lateness: int) -> None:
    stream = sash.Stream(
        [sash.query("bad", BadForward(BAD_FORWARD[wrong]), **VALUES), GOOD], on="t", allowed_lateness=lateness
    )
    stream.push({"t": [91], "x": [1]}, watermark=90)
    stream.push({"t": [92], "x": [1]}, watermark=91 + lateness)
    before = stream.save()
    with pytest.raises(SashError, match="BadForward"):
        stream.push({"t": [95 + lateness, 101 + lateness], "x": [1, 2]}, watermark=150 + lateness)
    assert stream.save() == before
    found = stream.push({"t": [205], "x": [3]}, watermark=250).to_pylist()
    assert [(row["window_start"], row["n"]) for row in found if row["query"] == "good"][-1] == (200, 1)


class Spans(sash.MarkedWindow):
    """From a row whose word is `on` to the next whose word is `off`; or what a test says."""

    reads = ("word",)

    def __init__(self, wrong: Any = None) -> None:
        object.__setattr__(self, "_wrong", wrong)

    def mark(self, rows: Any) -> Any:
        if self._wrong is not None and rows.positions.max() >= 100:  # type: ignore[attr-defined]
            return self._wrong(rows)  # type: ignore[attr-defined]
        return rows.columns["word"] == "on", rows.columns["word"] == "off"

    def __str__(self) -> str:
        return "Spans"


def spans(*pushes: list[tuple[int, str, str | None]]) -> list[tuple[Any, ...]]:
    """Push rows of (t, k, word), save and restore after each push, and return (key, start, end, count)."""
    query = sash.query("spans", Spans(), n=sash.count())
    stream, found = sash.Stream(query, on="t", by="k", in_order=True), []
    for rows in pushes:
        columns = list(zip(*rows, strict=True))
        given = {"t": list(columns[0]), "k": list(columns[1]), "word": pa.array(columns[2], pa.string())}
        found += stream.push(given).to_pylist()
        stream = sash.Stream.restore(stream.save(), query)
    found += stream.finish().to_pylist()
    return [(row["k"], row["window_start"], row["window_end"], row["n"]) for row in found]


def test_marks_of_many_keys_open_and_close_windows() -> None:
    first = [(1, "a", "on"), (1, "b", None), (2, "a", None), (2, "b", "on"), (3, "a", "off"), (3, "b", "on")]
    second = [(4, "a", None), (5, "b", "off"), (5, "a", "on"), (6, "a", None)]
    assert sorted(spans(first, second), key=str) == [
        ("a", 1, 3, 2), ("a", 5, None, 2), ("b", 2, 3, 1), ("b", 3, 5, 1),
    ]  # fmt: skip


def test_a_start_and_an_end_at_one_position_start_a_window_also_across_pushes() -> None:
    together = [(1, "a", "on"), (4, "a", "off"), (4, "a", "on"), (6, "a", None)]
    expected = [("a", 1, 4, 1), ("a", 4, None, 3)]
    assert spans(together) == expected
    assert spans(together[:1], together[1:]) == expected
    assert spans([(1, "a", "on"), (4, "a", "on")], [(4, "a", "off"), (6, "a", None)]) == expected


def test_previous_rows_are_those_of_the_same_key_also_of_earlier_pushes() -> None:
    read = []

    class Reads(sash.MarkedWindow):
        reads = ("x", "word")

        def mark(self, rows: Any) -> Any:
            read.append((rows.previous("x").tolist(), rows.previous("word").tolist(), rows.is_first.tolist()))
            return rows.is_first

    stream = sash.Stream(sash.query("q", Reads(), n=sash.count()), on="t", by="k", in_order=True)
    stream.push({"t": [1, 1, 2], "k": ["a", "b", "a"], "x": [1, 2, 3], "word": ["p", None, "q"]})
    stream.push({"t": [3, 3, 4], "k": ["c", "a", "b"], "x": [4, 5, 6], "word": ["r", "s", None]})
    assert read[0] == ([1, 1, 2], ["p", "p", None], [True, False, True])
    # The keys follow each other in the order in which they first came: a, b, c.
    assert read[1] == ([3, 2, 4], ["q", None, "r"], [False, False, True])


BAD_MARKS: dict[str, Any] = {
    "too few": lambda rows: rows.is_first[:-1],
    "numbers": lambda rows: rows.positions,
    "nothing": lambda rows: None,
    "three arrays": lambda rows: (rows.is_first,) * 3,
    "raises": lambda rows: 1 / 0,
    "writes": lambda rows: rows.positions.fill(0),
}


@pytest.mark.parametrize("wrong", BAD_MARKS)
@pytest.mark.parametrize("lateness", [0, 30])
def test_marks_that_are_none_are_refused_and_change_nothing(wrong: str, lateness: int) -> None:
    stream = sash.Stream(sash.query("bad", Spans(BAD_MARKS[wrong]), n=sash.count()), on="t", allowed_lateness=lateness)
    stream.push({"t": [91, 92], "word": ["on", "off"]}, watermark=92 + lateness)
    before = stream.save()
    with pytest.raises(SashError, match="Spans"):
        stream.push({"t": [95 + lateness, 101 + lateness], "word": ["on", "off"]}, watermark=150 + lateness)
    assert stream.save() == before


@pytest.mark.parametrize("wrong", BAD_NOTIFY)
@pytest.mark.parametrize("lateness", [0, 30])
def test_a_context_that_is_none_is_refused_and_changes_nothing(wrong: str, lateness: int) -> None:
    stream = sash.Stream(
        [sash.query("bad", BadAware(BAD_NOTIFY[wrong]), **VALUES), GOOD], on="t", allowed_lateness=lateness
    )
    stream.push({"t": [91], "x": [1]}, watermark=90)
    before = stream.save()
    with pytest.raises(SashError, match="BadAware"):
        stream.push({"t": [95, 101], "x": [1, 2]}, watermark=150)
    assert stream.save() == before
    found = stream.push({"t": [205], "x": [3]}, watermark=250).to_pylist()
    assert [(row["window_start"], row["n"]) for row in found if row["query"] == "good"] == [(90, 1), (200, 1)]


def test_a_memory_that_cannot_be_saved_is_named() -> None:
    def remembers(context: Any, position: Any) -> None:
        context.memory["what"] = object()

    stream = sash.Stream(sash.query("bad", BadAware(remembers), **VALUES), on="t")
    stream.push({"t": [101], "x": [1]}, watermark=150)
    with pytest.raises(SashError, match="cannot be saved"):
        stream.save()


def test_a_function_that_fails_after_new_strings_and_keys_changes_nothing() -> None:
    """The strings of the failing push lie between known ones, so all labels change before the function is called."""
    answers: dict[str, Any] = {"least": sash.min("s"), "kinds": sash.count_distinct("s")}
    limits = replace(LIMITS, label_gap=1)
    stream = stream_with(limits, sash.query("bad", BadAware(fails), **answers), on="t", by="k")
    stream.push({"t": [1, 2], "k": [1, 2], "s": ["a", "c"], "x": [1, 2]}, watermark=50)
    before = stream.save()
    keys = list(range(40))
    with pytest.raises(SashError, match="BadAware"):
        stream.push({"t": [101] * 40, "k": keys, "s": ["b"] * 40, "x": keys}, watermark=150)
    assert stream.save() == before
    assert stream.push({"t": [300], "k": [1], "s": ["b"], "x": [1]}).num_rows == 0


def test_a_push_that_fails_after_rows_were_placed_breaks_a_stream_with_own_windows() -> None:
    class Pairs(sash.ContextAwareWindow):
        def notify(self, context: Any, positions: Any, columns: Any) -> None:
            context.add(positions[0], positions[-1] + 1)

    stream = sash.Stream(sash.query("pairs", Pairs(), total=sash.sum("x")), on="t", watermark=0)
    stream.push({"t": [1], "x": [1]})
    with pytest.raises(SashError):
        stream.push({"t": [5, 6, 9], "x": [2**62, 2**62, 2**62]}, watermark=20)
    with pytest.raises(BrokenStream):
        stream.push({"t": [30], "x": [1]})
