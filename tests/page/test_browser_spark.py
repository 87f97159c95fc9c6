"""The page of the demo on Spark, in a real browser: what it shows, and when.

`pytest -s` prints the seconds from "Starting Spark …" to the first picture, and from the commit of each micro-batch to
its appearance on the screen.
"""

import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.page.browser import Viewer, open_browser

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.long]

FIRST_PICTURE_S = 10.0  # after Spark's start, on a machine without other work: see docs/page.md
UPDATE_S = 0.5  # after a micro-batch, on such a machine
PATIENCE = 4  # other work may make everything so many times slower
PATIENCE_MS = 300_000
# Note the clock when a micro-batch first appears on the screen.
WATCH = """() => {
  window.seen = {};
  const look = () => {
    const number = /Micro-batch (\\d+)/.exec(document.querySelector("#batches").textContent)?.[1];
    if (number !== undefined) window.seen[number] ??= Date.now() / 1000;
    requestAnimationFrame(look);
  };
  look();
}"""
HAS_BATCH = """least => /Micro-batch (\\d+)/.exec(document.querySelector('#batches').textContent)?.[1] >= least"""
HAS_STOPPED = "() => document.querySelector('#state').textContent === 'stopped'"


def printed(pattern: str, log: Path, demo: "subprocess.Popen[bytes]", seconds: float = 120) -> tuple[str, float]:
    """Wait until the demo prints something; return it and the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and demo.poll() is None:
        found = re.search(pattern, log.read_text())
        if found:
            return found.group(), time.time()
        time.sleep(0.01)
    pytest.fail(log.read_text())


def test_the_demo_on_spark_is_shown_from_its_start_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = ["sash", "demo", "--page", "--hours", "1", "--no-compare", "--folder", str(tmp_path / "demo")]
    with log.open("wb") as file:
        demo = subprocess.Popen([sys.executable, "-m", *command], stdout=file, stderr=subprocess.STDOUT)
    try:
        with open_browser() as browser:
            _, begin = printed("Starting Spark", log, demo)
            url, _ = printed(r"http://127\.0\.0\.1:\d+/\?token=\S+", log, demo)
            viewer = Viewer.open(browser, url)
            viewer.tab.evaluate(WATCH)
            viewer.wait("() => document.querySelector('.figure .value')")
            first = time.time() - begin
            sys.stdout.write(f"\nSeconds from Spark's start to the first picture: {first:.1f}\n")
            viewer.tab.wait_for_function(HAS_BATCH, arg=0, timeout=PATIENCE_MS)
            rows = time.time() - begin
            viewer.tab.wait_for_function(HAS_BATCH, arg=2, timeout=PATIENCE_MS)
            sys.stdout.write(f"Seconds from Spark's start to the picture of the first micro-batch: {rows:.1f}\n")
            assert first < PATIENCE * FIRST_PICTURE_S
            assert viewer.tab.locator("#batches .legend li").count() >= 3  # phases
            viewer.tab.wait_for_function(HAS_STOPPED, timeout=PATIENCE_MS)
            viewer.wait("() => document.querySelector('#chart-range').textContent.includes('results')")
            commits = tmp_path / "demo" / "checkpoint" / "commits"
            seen = viewer.tab.evaluate("window.seen")
            delays = [seen[number] - (commits / number).stat().st_mtime for number in seen]
            shown = ", ".join(f"{each:.2f}" for each in delays)
            sys.stdout.write(f"Seconds from a micro-batch to the screen: {shown}\n")
            assert statistics.median(delays) < PATIENCE * UPDATE_S
            # What the buckets report, and the slices of the checkpoint.
            assert "99.9 %" in viewer.text("#covering") and viewer.tab.locator("#lateness .column").count() > 2
            assert viewer.tab.locator("#keys-body tbody tr").count() >= 6  # three keys of each bucket
            assert viewer.tab.locator("#buckets-body tbody tr").count() >= 2
            assert viewer.tab.locator("#sharing .costs tr").count() == 2
            assert viewer.tab.locator("#sharing .chips li").count() > 5
            viewer.tab.locator("#sharing .slice").first.wait_for()  # of the checkpoint
            assert viewer.tab.locator("#timeline .window[data-state='closed']").count() > 10
            viewer.close()
            demo.send_signal(signal.SIGINT)
            assert demo.wait(60) == 0, log.read_text()
    finally:
        demo.kill()
        demo.wait()
