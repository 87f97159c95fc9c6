"""The site builds without a warning, loads nothing from elsewhere, and fits wide and narrow screens."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.page.browser import open_browser
from tests.pages import DOCS

pytestmark = pytest.mark.browser  # one build of the site serves all tests

# How far the page scrolls sideways, and the blocks and tables that scroll in their own box.
TOO_WIDE = """() => {
    const page = document.documentElement;
    const boxes = document.querySelectorAll(".bd-article :is(pre, table, .pst-scrollable-table-container, dt.sig)");
    const wide = [...boxes].filter((box) => box.scrollWidth > box.clientWidth + 1);
    return [page.scrollWidth - page.clientWidth, wide.map((box) => box.textContent.trim().slice(0, 80))];
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built once."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    with open_browser() as browser:
        yield browser


def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in DOCS.rglob("*.md"):
        assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file()
    loaded = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^>]*>")
    for page in site.rglob("*.html"):
        assert not loaded.findall(page.read_text(encoding="utf-8")), page
    helped = (site / "reference" / "command_line.html").read_text(encoding="utf-8")
    assert "Usage: sash run [OPTIONS] JOB" in helped and "--dry-run" in helped


def test_no_page_scrolls_sideways_and_code_and_tables_fit_a_wide_screen(site: Path, browser: Browser) -> None:
    tab = browser.new_context(java_script_enabled=False).new_page()
    found: list[tuple[Any, ...]] = []
    for page in sorted(site.rglob("*.html")):
        tab.goto(page.as_uri(), wait_until="load")  # with its stylesheets: without them, pages are wide
        for width in (1300, 360):
            tab.set_viewport_size({"width": width, "height": 900})
            sideways, boxes = tab.evaluate(TOO_WIDE)
            if sideways > 0:
                found.append((page.name, width, sideways))
            if width == 1300:
                found += [(page.name, width, box) for box in boxes]
    tab.context.close()
    assert not found


def test_on_a_narrow_screen_examples_wrap_and_figures_stay_whole(site: Path, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 360, "height": 900})
    for page, kind in (("quick_start", "pycon"), ("reference/aggregates", "doctest")):
        tab.goto((site / f"{page}.html").as_uri())
        styles = "blocks => blocks.map((block) => getComputedStyle(block).whiteSpace)"
        assert set(tab.locator(f"div[class*='{kind}'] pre").evaluate_all(styles)) == {"pre-wrap"}, page
    tab.goto((site / "performance.html").as_uri())
    styles = "cells => cells.map((cell) => getComputedStyle(cell).overflowWrap)"
    assert set(tab.locator("td.text-right").evaluate_all(styles)) == {"normal"}
    tab.close()


def test_the_title_of_the_sidebar_fits(site: Path, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 1300, "height": 900})
    tab.goto((site / "algorithms.html").as_uri())
    rooms = """bar => {
        const words = document.createRange();
        words.selectNodeContents(bar.querySelector(".bd-links__title"));
        return [words.getBoundingClientRect().right, bar.getBoundingClientRect().right];
    }"""
    end, edge = tab.locator(".bd-sidebar-primary").evaluate(rooms)
    assert end < edge - 8
    tab.close()


def test_a_wide_page_and_a_wide_block_would_be_noticed(browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 360, "height": 900})
    tab.set_content("<p style='width: 400px'>wide</p>")
    assert tab.evaluate(TOO_WIDE)[0] > 0
    tab.set_content(f"<div class='bd-article'><pre style='overflow: auto'>{'code ' * 100}</pre></div>")
    assert tab.evaluate(TOO_WIDE) == [0, [("code " * 100)[:80]]]
    tab.close()


def test_a_copied_example_has_neither_prompts_nor_output(site: Path, browser: Browser) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto((site / "index.html").as_uri())
    block = tab.locator("div.highlight").first
    assert ">>> import sash" in block.inner_text()
    assert tab.locator("img[src*='native_against_sash']").evaluate("image => image.naturalWidth") > 600
    block.locator("button.copy-code").click(force=True)
    tab.wait_for_function("document.querySelector('button.copy-code').textContent === 'Copied'")
    copied = tab.evaluate("navigator.clipboard.readText()")
    context.close()
    assert copied.startswith("from datetime import datetime\nimport sash\n")
    assert copied.endswith("    print(*row.values())\n")
    assert len(copied.splitlines()) == 8
