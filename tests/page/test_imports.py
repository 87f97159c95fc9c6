"""Without a page, nothing of it is imported; without its packages, one sentence says what to install."""

import subprocess
import sys

WITHOUT = """
import sys
import sash
stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t")
heavy = {"starlette", "uvicorn", "prometheus_client", "asyncio", "http.client", "sash.page.live", "sash.page.records"}
print(sorted(heavy & sys.modules.keys()))
sys.modules["starlette"] = None  # as if it were not installed
try:
    sash.page(stream)
except ImportError as error:
    print(error)
"""


def test_nothing_is_imported_until_a_page_is_opened_and_a_missing_package_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    imported, sentence = done.stdout.splitlines()
    assert imported == "[]"
    assert sentence == ("The page needs starlette, which is not installed. Install it with: pip install 'sash[page]'")
