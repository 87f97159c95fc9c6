"""What the page sends to the browser: the events of `/events` and the answers of `/api/…`, as they are serialised.

Paths (GET only; each but `/static/…` needs the token, as `?token=…` or as the cookie that `/` sets):

    /                       the HTML page
    /static/…               its scripts and styles
    /events                 server-sent events; `event:` is a name of `PANELS`, `data:` is one line of JSON.
                            First all panels, then each panel when it changes; `bye` is the last event
    /api/series             `SeriesList`; `?query=…&search=…` lists the keys of one query that contain a text
    /api/m4                 `M4`: `?query&key&aggregate&from&to&width`
    /api/sharing            `Sharing` of one key: `?key=…`
    /metrics                figures for Prometheus

Positions (times of rows, edges of windows, watermarks) are numbers. If `Time.unit` is "time", they are seconds since
1970, with fractions. If it is "number", they are in the unit of the column `on`. `clock_s` is the clock of the machine
in seconds since 1970. A key is the text of the values of the columns `by`, separated by " / "; it is "" without `by`.
Every text can contain what users wrote: put it into text nodes, never into HTML.
"""

from typing import Literal, TypedDict

__all__ = [
    "M4",
    "PANELS",
    "Batch",
    "BusyBucket",
    "BusyKey",
    "Bye",
    "Figure",
    "Keys",
    "LateRow",
    "Lateness",
    "Now",
    "QueryWindows",
    "Results",
    "Revised",
    "Series",
    "SeriesList",
    "Sharing",
    "Slice",
    "Time",
    "WindowBar",
]

# The names of events, in the order in which a new viewer receives them.
PANELS = ("now", "time", "results", "sharing", "batches", "keys", "late", "bye")


class Figure(TypedDict):
    """One figure, with its last 15 minutes."""

    name: str  # of `sash.progress`, such as "rows_per_second"
    label: str
    value: float | None
    text: str  # the value as people read it, with its unit
    alarm: str | None  # a sentence, if an alarm of docs/operations.md holds: then show it red
    history: list[tuple[float, float]]  # (clock_s, value), oldest first, at most 90


class Now(TypedDict):
    """Event `now`: what the stream does, and why it waits."""

    title: str
    state: Literal["running", "stopped", "failed"]
    why: str
    figures: list[Figure]
    notes: dict[str, str]  # sentences about what panels show of this stream, by panel


class WindowBar(TypedDict):
    """One window, for all keys that have it."""

    start: float
    end: float
    keys: int | None  # how many keys have rows in it; None: not known
    state: Literal["open", "closed", "revised"]
    waits: str  # one sentence: what it waits for, or since when it is closed


class QueryWindows(TypedDict):
    """The windows of one query: open ones and the last closed ones, by start."""

    name: str
    text: str
    windows: list[WindowBar]


# Rows that came between `from` and `to` behind the newest row, in the unit of positions. `from` is a keyword.
Lateness = TypedDict("Lateness", {"from": float, "to": float, "rows": int})


class Time(TypedDict):
    """Event `time`: arrivals, watermark and windows on the axis of positions."""

    unit: Literal["time", "number"]
    newest: float | None
    watermark: float | None  # None before there is one, and at the end of the stream
    delay: float | None  # of the watermark behind the newest row; None: the user moves the watermark
    allowed_lateness: float
    arrivals: list[tuple[float, int]]  # (start, rows) of buckets of positions
    bucket: float  # the length of one bucket
    queries: list[QueryWindows]
    lateness: list[Lateness]
    covering_delay: float | None  # the delay that would have covered 99.9 % of the rows
    covering_text: str


class Revised(TypedDict):
    """A window that was emitted again."""

    key: str
    start: float
    end: float


class Results(TypedDict):
    """Event `results`: what is new of one query's results; each query has its own events."""

    query: str
    count: int  # results that the page keeps
    dropped: int  # older results that it no longer keeps
    latest: float | None  # the newest end of a window
    revised: list[Revised]  # windows that were emitted again since the last event: flash them; at most 100


class Slice(TypedDict):
    """One slice of a key."""

    start: float
    end: float
    rows: int | None
    cut_by: list[str]  # queries that have an edge at its end


class Sharing(TypedDict):
    """Event `sharing`, and the answer of `/api/sharing`: what the queries have in common."""

    key: str
    slices: list[Slice]
    note: str  # a sentence about the slices; it can be empty
    fields: list[str]  # partial fields that are kept once, such as "sum(load)"
    combines_per_row: float | None
    without_sharing: float | None  # combines per row if each query had slices and fields of its own


class Batch(TypedDict):
    """One micro-batch on Spark, or about half a second of pushes of a `sash.Stream`."""

    number: int
    rows: int
    phases: dict[str, float]  # milliseconds by name
    written_bytes: int
    restarted: bool  # whether it is the first after a restart


class BusyKey(TypedDict):
    """One of the busiest keys."""

    key: str
    rows: int  # or slices
    bucket: int | None


class BusyBucket(TypedDict):
    """One of the busiest buckets of keys."""

    bucket: int
    rows: int


class Keys(TypedDict):
    """Event `keys`."""

    counted: Literal["rows", "slices"]
    keys: list[BusyKey]
    buckets: list[BusyBucket]  # empty if the stream has none


class LateRow(TypedDict):
    """One of the last 100 rejected rows; they are sent in the order of arrival."""

    row: str  # its columns as text
    position: float | None
    watermark: float | None  # when it came
    reason: str


class Bye(TypedDict):
    """Event `bye`: the last one; do not connect again."""

    message: str


class Series(TypedDict):
    """What can be drawn of one query."""

    name: str
    aggregates: list[str]
    keys: list[str]  # the first 100 that contain the text of `?search=`
    unit: Literal["time", "number"]


class SeriesList(TypedDict):
    """The answer of `/api/series`."""

    queries: list[Series]


# One answer of `/api/m4`. A column is (pixel, first_t, first, last_t, last, min_t, min, max_t, max); columns without
# results are left out. Draw the four points of each column in the order of their times. `count` is how many results
# the columns contain; `bounds` are the first and last position of the whole series, None if it is empty.
M4 = TypedDict(
    "M4",
    {
        "from": float,
        "to": float,
        "width": int,
        "columns": list[tuple[int, float, float, float, float, float, float, float, float]],
        "count": int,
        "bounds": tuple[float, float] | None,
    },
)
