"""Who may read the page: the token, the Host header, methods, and the headers of every answer."""

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

__all__ = ["Guards", "host_name"]

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Any, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# A notebook on this machine may show the page in a frame.
_FRAMES = "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*"
HEADERS = (
    (b"content-security-policy", f"default-src 'self'; base-uri 'none'; form-action 'none'; {_FRAMES}".encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True)
class Guards:
    """An application behind all checks; each request that fails one gets a short text, and reaches nothing else."""

    app: App
    token: str
    cookie: str  # its name
    host: str  # that the page listens on

    async def __call__(self, scope: Scope, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
            return
        status, text = refusal
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
        if status == 405:
            headers.append((b"allow", b"GET"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text.encode()})

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the text of a refusal; None if the request is allowed."""
        if scope["method"] != "GET":
            return 405, "The page answers GET only.\n"
        headers = scope["headers"]
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._knows(host_name(hosts[0])):
            return 421, "Open the page under the address that it printed.\n"
        if not scope["path"].startswith("/static/") and not self._has_token(scope):
            return 403, "The token is missing or wrong. Open the page under the address that it printed.\n"
        return None

    def _knows(self, name: str) -> bool:
        """Return whether a Host header can be ours: DNS rebinding needs a name, so other names are refused."""
        if self.host in LOOPBACK:
            return name in LOOPBACK
        return name in LOOPBACK or name == self.host.lower() or _is_address(name)

    def _has_token(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        for name, value in scope["headers"]:
            if name == b"cookie":
                given += _cookie_values(value.decode("latin-1"), self.cookie)
        return any(hmac.compare_digest(each.encode(), self.token.encode()) for each in given)


def host_name(header: str) -> str:
    """Return the name or address of a Host header, without its port.

    >>> host_name("localhost:8000"), host_name("[::1]:80"), host_name("Example.com")
    ('localhost', '::1', 'example.com')
    """
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookie_values(header: str, name: str) -> list[str]:
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return []
    return [cookies[name].value] if name in cookies else []


def _with_headers(send: Send) -> Send:
    async def with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return with_headers
