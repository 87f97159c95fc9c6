"""What a stream waits for, in sentences: for `sash.why`, on Spark and in one process."""

import math
from typing import Any

from sash.engine.observation import Observation
from sash.engine.positions import later, position_on, shown

__all__ = ["rejected_text", "waits_of", "why_of"]


def why_of(observation: Observation) -> str:
    """Explain what a `sash.Stream` waits for."""
    plan, state = observation.plan, observation.state
    if plan is None or state is None:
        return "No row has come yet."
    found = (position_on(each, plan.measure) for each in (state.watermark, state.newest, observation.next_end))
    watermark, newest, next_end = found
    parts = waits_of(watermark, newest, observation.open_windows, next_end, plan.delay is not None)
    if observation.stream.late_count:
        parts.append(f"{rejected_text(observation.stream.late_count)} Stream(…, late='keep') keeps them.")
    return " ".join(parts)


def waits_of(watermark: Any, newest: Any, open_windows: int, next_end: Any, has_delay: bool) -> list[str]:
    """Return sentences about the watermark and open windows; without a delay, the user moves the watermark."""
    parts = []
    is_ended = watermark == math.inf
    if watermark is None:
        parts.append(
            "There is no watermark yet: no row with a position has come."
            if has_delay
            else "There is no watermark yet: push(…, watermark=…) sets it."
        )
    elif is_ended:
        parts.append("The stream was flushed: everything is closed, and rows that still come are late.")
    elif has_delay:
        late = shown(newest - watermark)
        parts.append(
            f"The watermark is {shown(watermark)}: the newest row is at {shown(newest)}, and rows may come {late} late."
        )
    else:
        parts.append(f"The watermark is {shown(watermark)}: push(…, watermark=…) moves it.")
    if open_windows and not is_ended:
        count = "About one window is" if open_windows == 1 else f"About {open_windows:,} windows are"
        parts.append(f"{count} open. {_closing(watermark, newest, next_end, has_delay)}")
    if not open_windows:
        parts.append("No window is open.")
    return parts


def _closing(watermark: Any, newest: Any, next_end: Any, has_delay: bool) -> str:
    if next_end is None or (has_delay and watermark is None):
        return "None of them has a known end: rows decide it."
    if not has_delay:
        return f"The next ends at {shown(next_end)}, and closes when the watermark reaches it."
    needs = later(next_end, newest - watermark)
    return f"The next ends at {shown(next_end)}, and closes when a row at {shown(needs)} or later comes."


def rejected_text(rows: int) -> str:
    """Return how many rows were rejected, and why."""
    count = "1 row was" if rows == 1 else f"{rows:,} rows were"
    return f"{count} rejected: too late, or without a position."
