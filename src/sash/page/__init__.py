"""The live page: records in, HTML and events out. Nothing is imported until a page is opened."""

from typing import TYPE_CHECKING, Any

from sash.errors import MissingPackage

if TYPE_CHECKING:
    from sash.page.live import Page

__all__ = ["page"]


def page(
    watched: Any, /, *, host: str = "127.0.0.1", port: int = 0, title: str | None = None, stays: bool = False
) -> "Page":
    """Open a page that shows a stream live, and return it; `page.url` is its address, `page.close()` ends it.

    `watched` is a `sash.Stream`, or the StreamingQuery that Spark's `start()` returned.
    """
    try:
        from sash.page.live import Page
    except ImportError as error:
        raise MissingPackage.of("The page", error.name or "starlette", "page") from error
    from sash.page.sources.stream import StreamSource

    return Page(StreamSource(watched, title or "sash.Stream"), host, port, stays)
