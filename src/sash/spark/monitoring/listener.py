"""Call a function with the progress of each micro-batch."""

from collections.abc import Callable

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from sash.errors import InvalidInput
from sash.spark.monitoring.progress import Progress, of_report

__all__ = ["Listener"]


class Listener(StreamingQueryListener):
    """After every micro-batch of a query of sash, call a function with the name and the progress of the query.

    A query without a name is given by its id.
    """

    def __init__(self, tell: Callable[[str, Progress], None]) -> None:
        if not callable(tell):
            raise InvalidInput.option("tell", tell, "a function of a query's name and its progress")
        self._tell = tell

    def onQueryStarted(self, event: QueryStartedEvent) -> None: ...

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        now = of_report(event.progress)
        if now is not None:
            self._tell(event.progress.name or str(event.progress.id), now)

    def onQueryIdle(self, event: QueryIdleEvent) -> None: ...

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None: ...
