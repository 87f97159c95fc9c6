"""What a stream of one process waits for, in sentences."""

import datetime as dt
import math
from typing import Any

from sash.engine.inspection import next_end, open_count
from sash.engine.stream import Stream

__all__ = ["why"]


def why(stream: Stream, now: dt.datetime) -> str:
    """Return what a stream waits for; the caller passes the clock, because the engine reads none.

    >>> import sash
    >>> stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t", watermark=0)
    >>> _ = stream.push({"t": [3]})
    >>> why(stream, dt.datetime(2026, 1, 1))
    'The watermark is 3. About 1 window is open; the next ends at 10, and closes when the watermark reaches it.'
    """
    state, plan = stream.state, stream.plan
    if state is None or plan is None:
        return "No row has come yet."
    mark = stream.watermark
    if mark == math.inf:
        return "The stream is finished: everything is closed, and rows that still come are late."
    parts = ["There is no watermark yet." if mark is None else f"The watermark is {mark}."]
    if isinstance(mark, dt.datetime) and (ahead := _ahead(mark, now)) is not None:
        parts.append(
            f"It is {ahead} ahead of the clock, so that rows of the present are late. Filter rows with such times out "
            "before push(); sash.aggregate of a Spark stream has max_future for this."
        )
    count = open_count(plan, state)
    end: Any = next_end(plan, state)
    if count:
        is_one = count == 1
        ends = "their ends depend on further rows"
        if end is not None:
            at = plan.measure.to_arrow([end])[0]
            ends = f"the next ends at {at}, and closes when the watermark reaches it"
        parts.append(f"About {count:,} window{' is' if is_one else 's are'} open; {ends}.")
    else:
        parts.append("No window is open.")
    if stream.late_count:
        rows = "1 row was" if stream.late_count == 1 else f"{stream.late_count:,} rows were"
        parts.append(f"{rows} rejected: too late, or without a position.")
    return " ".join(parts)


def _ahead(mark: dt.datetime, now: dt.datetime) -> dt.timedelta | None:
    """Return how far a time is ahead of the clock; None if it is not, also in the zone that is furthest ahead."""
    if mark.tzinfo is None:
        now = now.replace(tzinfo=None) + dt.timedelta(hours=14)
    elif now.tzinfo is None:
        now = now.replace(tzinfo=dt.UTC)
    return mark - now if mark > now + dt.timedelta(minutes=1) else None
