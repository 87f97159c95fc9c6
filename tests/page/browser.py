"""A real browser for tests of the page: it records every error and every request, and none may leave the machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

__all__ = ["Viewer", "chromium", "open_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",  # for root, in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    """Return the path of the browser; `make chromium` installs one."""
    found = next((path for path in map(shutil.which, NAMES) if path is not None), None)
    assert found is not None, "These tests need chromium: run `make chromium`."
    return found


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser with an empty profile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Viewer:
    """One tab that shows a page, and what it did."""

    tab: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    m4: list[Request] = field(default_factory=list)  # questions that were answered

    @classmethod
    def open(cls, browser: Browser, url: str, width: int = 1300, **options: Any) -> "Viewer":
        """Open a page in a context of its own, and wait until it shows something."""
        tab = browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
        viewer = cls(tab)
        tab.on("console", viewer._hear)
        tab.on("pageerror", lambda error: viewer.errors.append(str(error)))
        tab.on("request", lambda request: viewer.requests.append(request.url))
        tab.on("requestfinished", viewer._keep)
        tab.goto(url)
        viewer.wait("() => document.getElementById('title').textContent !== ''")
        return viewer

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _keep(self, request: Request) -> None:
        if urlsplit(request.url).path.endswith("/api/m4"):
            self.m4.append(request)

    def answers(self) -> list[tuple[dict[str, str], dict[str, Any]]]:
        """Return the parameters and the answer of every question for an M4."""
        found = []
        for request in self.m4:
            response = request.response()
            assert response is not None and response.ok
            parameters = parse_qs(urlsplit(request.url).query, keep_blank_values=True)
            found.append(({name: values[0] for name, values in parameters.items()}, response.json()))
        return found

    def text(self, selector: str) -> str:
        """Return the text of the only element."""
        return self.tab.locator(selector).inner_text()

    def wait(self, condition: str, argument: Any = None) -> None:
        """Wait until a JavaScript condition holds."""
        self.tab.wait_for_function(condition, arg=argument, timeout=30_000)

    def picture(self) -> str:
        """Return the pixels of the line chart."""
        return str(self.tab.evaluate("document.querySelector('#chart canvas').toDataURL()"))

    def close(self) -> None:
        """Close the tab, and check what it did."""
        self.tab.context.close()
        assert not self.errors
        assert self.requests
        foreign = [url for url in self.requests if urlsplit(url).hostname != "127.0.0.1"]
        assert not [url for url in foreign if not url.startswith("data:")]
