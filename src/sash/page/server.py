"""The application behind the checks: the HTML page, its files, events, and answers in JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sash.page.contract import M4, SeriesList, Sharing
from sash.page.guards import Guards
from sash.page.viewers import Viewers

__all__ = ["Answers", "application"]

STATIC = Path(__file__).parent / "static"
MOST_TEXT = 1000  # characters of a parameter


class Answers(Protocol):
    """What the application asks of the page; called in worker threads."""

    def series(self, query: str | None, search: str) -> SeriesList:
        """Return what can be drawn."""

    def m4(self, query: str, key: str, aggregate: str, start: float | None, end: float | None, width: int) -> M4:
        """Return the M4 of a range; without an end, up to the ends of the series."""

    def sharing(self, key: str) -> Sharing:
        """Return the slices of one key."""

    def metrics(self) -> bytes:
        """Return all figures for Prometheus."""


class _BadRequest(Exception):
    """A parameter is missing or wrong; the text says which."""


def application(answers: Answers, viewers: Viewers, token: str, cookie: str, host: str) -> Guards:
    """Return the whole application."""

    async def home(request: Request) -> Response:
        response = FileResponse(STATIC / "index.html", media_type="text/html")
        response.set_cookie(cookie, token, httponly=True, samesite="strict", path="/")
        return response

    def answer(make: Callable[[Request], Any]) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                found = await run_in_threadpool(make, request)
            except _BadRequest as error:
                return Response(f"{error}\n", 400, media_type="text/plain")
            return Response(json.dumps(found, allow_nan=False), media_type="application/json")

        return endpoint

    def series(request: Request) -> SeriesList:
        return answers.series(request.query_params.get("query"), _text(request, "search", ""))

    def m4(request: Request) -> M4:
        start, end = _number(request, "from"), _number(request, "to")
        width = _number(request, "width", 800.0)
        if width is None or not 1 <= width <= 10_000:
            raise _BadRequest("width must be between 1 and 10000.")
        names = [_text(request, name) for name in ("query", "key", "aggregate")]
        return answers.m4(names[0], names[1], names[2], start, end, int(width))

    def sharing(request: Request) -> Sharing:
        return answers.sharing(_text(request, "key", ""))

    async def metrics(request: Request) -> Response:
        return Response(await run_in_threadpool(answers.metrics), media_type="text/plain; version=0.0.4; charset=utf-8")

    routes = [
        Route("/", home),
        Route("/api/series", answer(series)),
        Route("/api/m4", answer(m4)),
        Route("/api/sharing", answer(sharing)),
        Route("/metrics", metrics),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    inner = Starlette(routes=routes)

    async def with_events(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/events":
            await viewers.follow(scope, receive, send)
        else:
            await inner(scope, receive, send)

    return Guards(with_events, token, cookie, host)


def _text(request: Request, name: str, default: str | None = None) -> str:
    found = request.query_params.get(name, default)
    if found is None or len(found) > MOST_TEXT:
        raise _BadRequest(f"The parameter {name} is missing or too long.")
    return found


def _number(request: Request, name: str, default: float | None = None) -> float | None:
    text = request.query_params.get(name, "")
    if not text:
        return default
    try:
        found = float(text)
    except ValueError:
        raise _BadRequest(f"{name} must be a number.") from None
    if not abs(found) < 1e300:
        raise _BadRequest(f"{name} must be a finite number.")
    return found
