"""The live page: records in, HTML and events out. Nothing is imported until a page is opened."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sash.errors import InvalidInput, MissingPackage
from sash.keywords import checked

if TYPE_CHECKING:
    from sash.page.live import Page
    from sash.page.records import Source
    from sash.plan.query import Query

__all__ = ["page"]


@checked
def page(
    watched: Any,
    /,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    title: str | None = None,
    queries: "Sequence[Query]" = (),
    keep_results: int = 1_000_000,
    stays: bool = False,
) -> "Page":
    """Open a page that shows a stream live; `page.url` is its address with a token, `page.close()` ends it.

    `watched` is a `sash.Stream`, the StreamingQuery that Spark's `start()` returned, or what `sash.state` returned for
    a stopped query. The page listens on this machine only, unless `host` is given, and on a free port, unless `port`
    is given. It ends with the stream; with `stays=True`, it stays open until it is closed. For a query of Spark,
    `queries` are the queries of `sash.aggregate`, whose texts the page then shows. The page draws the last
    `keep_results` results. The page never changes the stream, and an error of the page never stops it.

    >>> import sash
    >>> stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t")
    >>> with sash.page(stream) as page:
    ...     page.url.partition("?")[0].rpartition(":")[0]
    'http://127.0.0.1'
    """
    if not isinstance(host, str) or not host:
        raise InvalidInput.option("host", host, "a name or an address of this machine, such as '127.0.0.1'")
    if not isinstance(port, int) or not 0 <= port <= 65_535:
        raise InvalidInput.option("port", port, "a free port, or 0 for any")
    if not isinstance(keep_results, int) or keep_results < 1:
        raise InvalidInput.option("keep_results", keep_results, "a number of results, at least 1")
    check_packages()
    from sash.page.live import Page

    return Page(_source(watched, title, queries, keep_results), host, port, stays, keep_results)


def check_packages() -> None:
    """Refuse to open a page without the packages that its process imports."""
    for package in ("starlette", "uvicorn", "prometheus_client"):
        if find_spec(package) is None:
            raise MissingPackage.of("The page", package.replace("_", "-"), "page")


def _source(watched: Any, title: str | None, queries: "Sequence[Query]", most: int) -> "Source":
    from sash.engine.stream import Stream

    if isinstance(watched, Stream):
        from sash.page.sources.stream import StreamSource

        return StreamSource(watched, title or "sash.Stream")
    if type(watched).__module__.startswith("pyspark.sql.") and type(watched).__name__ == "StreamingQuery":
        from sash.page.sources.spark import QuerySource

        return QuerySource(watched, title, queries, most)
    if type(watched).__module__ == "sash.spark.monitoring.checkpoint_state":
        from sash.page.sources.checkpoint import CheckpointSource

        return CheckpointSource(watched, title)
    raise InvalidInput.option(
        "watched", watched, "a sash.Stream, the StreamingQuery that start() returned, or the result of sash.state"
    )
