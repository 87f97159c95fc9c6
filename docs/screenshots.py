"""Take the screenshots of the live page: `python -m docs.screenshots`."""

import threading
import time
from pathlib import Path
from typing import Any

from tests.page.browser import Viewer, open_browser

import sash
from sash.cli.smart_home import QUERIES, readings

PICTURES = Path(__file__).parent / "pictures"
HOURS = 6.0
STEP = 24 * 20  # rows of a push: 20 seconds of the home
BEFORE = 0.4  # the share of the rows that come before the first picture
PAUSE_S = 0.1  # between two pushes, after these
RUN_S = 60  # with pauses, so that figures have a past
SETTLED_MS = 1500
WIDE = {"width": 1300, "device_scale_factor": 1.5}
# What each picture shows (an element, or the top of the page), and how the page is
# opened.
SHOTS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "page_overview": (None, WIDE),
    "page_dark": (None, {**WIDE, "color_scheme": "dark"}),
    "page_time": ("#time", WIDE),
    "page_results": ("#results", WIDE),
    "page_sharing": ("#sharing", WIDE),
    "page_narrow": (None, {"width": 360}),
}


def main() -> None:
    """Run the demo's stream, and take every picture of its page."""
    # Shorter than the demo's delay: some rows are late, revise results, or are
    # rejected.
    stream = sash.Stream(
        QUERIES,
        on="ts",
        by=["house", "plug"],
        watermark="12 seconds",
        allowed_lateness="7 seconds",
    )
    ready, done = threading.Event(), threading.Event()
    feeder = threading.Thread(target=feed, args=(stream, ready, done))
    with sash.page(stream, title="smart home") as page, open_browser() as browser:
        feeder.start()
        try:
            ready.wait()
            time.sleep(RUN_S)
            for name, (selector, options) in SHOTS.items():
                take(
                    Viewer.open(browser, page.url, **options),
                    selector,
                    PICTURES / f"{name}.png",
                )
        finally:
            done.set()
            feeder.join()


def feed(
    stream: sash.Stream, ready: threading.Event, done: threading.Event
) -> None:
    """Push readings until `done` is set; after the first part, set `ready`."""
    rows = readings(HOURS)
    for start in range(0, rows.num_rows, STEP):
        stream.push(rows.slice(start, STEP))
        if start > BEFORE * rows.num_rows:
            ready.set()
        if done.wait(PAUSE_S if ready.is_set() else 0):
            return


def take(viewer: Viewer, selector: str | None, path: Path) -> None:
    """Wait for the line, point at a window, and write the picture."""
    viewer.wait(
        "() => document.querySelector('#chart-range')"
        ".textContent.includes('results')"
    )
    viewer.tab.select_option("#choose-aggregate", "mean")
    viewer.tab.locator(
        "[aria-label='Windows of hour'] .window[data-state='open']"
    ).first.hover(force=True)
    viewer.tab.evaluate("scrollTo(0, 0)")
    viewer.tab.wait_for_timeout(SETTLED_MS)
    shown = viewer.tab if selector is None else viewer.tab.locator(selector)
    shown.screenshot(path=path)
    viewer.close()


if __name__ == "__main__":
    main()
