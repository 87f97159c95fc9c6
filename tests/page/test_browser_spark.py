"""The page of the demo on Spark, in a real browser."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.page.browser import Viewer, open_browser

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.long]

FIRST_PICTURE_S = 10.0  # after the start of Spark
HAS_BATCH = """least => /Micro-batch (\\d+)/.exec(document.querySelector('#batches').textContent)?.[1] >= least"""
HAS_STOPPED = "() => document.querySelector('#state').textContent === 'stopped'"


def test_the_demo_on_spark_is_shown_from_its_start_to_its_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sash", "demo", "--page", "--hours", "1", "--folder", str(tmp_path)]
    demo = subprocess.Popen(
        [*command, "--no-compare"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert demo.stdout is not None
    lines: list[str] = []
    try:
        with open_browser() as browser:
            for line in demo.stdout:
                lines.append(line)
                found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
                if found:
                    break
            else:
                pytest.fail("".join(lines))
            threading.Thread(target=lines.extend, args=(demo.stdout,), daemon=True).start()
            begin = time.monotonic()
            viewer = Viewer.open(browser, found.group())
            viewer.wait("() => document.querySelector('.figure .value')")
            assert time.monotonic() - begin < FIRST_PICTURE_S
            for least in (0, 2):
                viewer.tab.wait_for_function(HAS_BATCH, arg=least, timeout=120_000)
            assert viewer.tab.locator("#batches .legend li").count() >= 3  # phases
            viewer.tab.wait_for_function(HAS_STOPPED, timeout=180_000)
            viewer.wait("() => document.querySelector('#chart-range').textContent.includes('results')")
            assert viewer.tab.locator("#timeline .window[data-state='closed']").count() > 10
            assert viewer.tab.locator("#keys tbody tr").count() > 0
            viewer.close()
            demo.send_signal(signal.SIGINT)
            assert demo.wait(60) == 0, "".join(lines)
    finally:
        demo.kill()
        demo.wait()
