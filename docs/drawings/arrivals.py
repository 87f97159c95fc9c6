"""Rows that come out of order: what the watermark, lateness and revisions do, drawn from a stream."""

from dataclasses import dataclass
from typing import Any

from docs.drawings.canvas import Canvas
from docs.drawings.timeline import NUDGE, Bar, Timeline

import sash

__all__ = ["PICTURES"]


@dataclass(frozen=True)
class Push:
    """Rows that come together, by position, each with the value one, and the watermark that follows them."""

    rows: tuple[int, ...]
    watermark: int | None


def told(title: str, stream: sash.Stream, pushes: tuple[Push, ...], lateness: int) -> Canvas:
    """A line for each push: its rows, where the watermark stood, and what was sent."""
    line = Timeline(title, 0, 30)
    line.axis((), "positions")
    line.y += 10
    before: Any = None
    for k, push in enumerate(pushes):
        table = {"t": list(push.rows), "x": [1] * len(push.rows)}
        sent = stream.push(table, watermark=push.watermark).to_pylist()
        late = {row["t"] for row in stream.late().to_pylist()}
        assert stream._state is not None
        y = line.y
        line.canvas.text(16, y + 8, f"push {k + 1}", 12, anchor="start", bold=True)
        line.canvas.text(16, y + 24, f"then the watermark is {stream._state.watermark}", 11, "blue", "start")
        for row in push.rows:
            behind = before is not None and row < before
            color = "red" if row in late else "amber" if behind else "ink"
            line.dot(row, y + 8, color, hollow=row in late)
            line.canvas.text(line.x(row + NUDGE), y - 6, str(row), 11, color)
        if before is not None:
            line.canvas.line((line.x(before), y - 10), (line.x(before), y + 20), "blue", 2)
            if lateness:
                edge = line.x(max(before - lateness, 0))
                line.canvas.line((edge, y - 10), (edge, y + 20), "amber", 2, dashed=True)
        for row in sent:
            revision = f", revision {row['revision']}" if "revision" in row else ""
            words = f"emitted: [{row['window_start']}, {row['window_end']}) rows {row['total']}{revision}"
            line.bar(Bar(row["window_start"], row["window_end"], words), y + 26, "green")
        before = stream._state.watermark
        line.y += 68 if sent else 50
    return line.canvas


def watermark() -> Canvas:
    query = sash.query("ten", sash.tumbling(10), total=sash.sum("x"))
    stream = sash.Stream([query], on="t", watermark=5, late="keep")
    pushes = (Push((3, 8, 6), None), Push((12, 7, 15), None), Push((14, 9), None), Push((26, 17), None))
    canvas = told("watermark=5: five behind the newest row", stream, pushes, 0)
    canvas.text(
        16, canvas.height, "blue line: the watermark before the push · red: late, rejected", 12, "grey", "start"
    )
    return canvas


def revision() -> Canvas:
    query = sash.query("ten", sash.tumbling(10), total=sash.sum("x"))
    stream = sash.Stream([query], on="t", allowed_lateness=5, late="keep")
    pushes = (Push((3, 7), 8), Push((12, 6), 12), Push((9, 15), 14), Push((2, 16), 21))
    canvas = told("allowed_lateness=5: late rows within 5 are accepted", stream, pushes, 5)
    words = "amber: late, within five of the watermark: accepted · red: later than that, rejected"
    canvas.text(16, canvas.height + 4, words, 12, "grey", "start")
    return canvas


PICTURES = {"watermark": watermark, "revision": revision}
