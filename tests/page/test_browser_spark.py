"""The page of the demo on Spark, in a real browser."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.page.browser import Viewer, open_browser

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.long]

FIRST_PICTURE_S = 10.0  # after the query has started
HAS_BATCH = """least => /Micro-batch (\\d+)/.exec(document.querySelector('#batches').textContent)?.[1] >= least"""
HAS_STOPPED = "() => document.querySelector('#state').textContent === 'stopped'"


def address_in(log: Path, demo: "subprocess.Popen[bytes]", seconds: float = 120) -> str:
    """Wait for the address that the demo prints."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and demo.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", log.read_text())
        if found:
            return found.group()
        time.sleep(0.05)
    pytest.fail(log.read_text())


def test_the_demo_on_spark_is_shown_from_its_start_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = ["sash", "demo", "--page", "--hours", "1", "--no-compare", "--folder", str(tmp_path / "demo")]
    with log.open("wb") as file:
        demo = subprocess.Popen([sys.executable, "-m", *command], stdout=file, stderr=subprocess.STDOUT)
    try:
        with open_browser() as browser:
            url = address_in(log, demo)
            begin = time.monotonic()
            viewer = Viewer.open(browser, url)
            viewer.wait("() => document.querySelector('.figure .value')")
            assert time.monotonic() - begin < FIRST_PICTURE_S
            for least in (0, 2):
                viewer.tab.wait_for_function(HAS_BATCH, arg=least, timeout=120_000)
            assert viewer.tab.locator("#batches .legend li").count() >= 3  # phases
            viewer.tab.wait_for_function(HAS_STOPPED, timeout=180_000)
            viewer.wait("() => document.querySelector('#chart-range').textContent.includes('results')")
            assert viewer.tab.locator("#timeline .window[data-state='closed']").count() > 10
            viewer.close()
            demo.send_signal(signal.SIGINT)
            assert demo.wait(60) == 0, log.read_text()
    finally:
        demo.kill()
        demo.wait()
