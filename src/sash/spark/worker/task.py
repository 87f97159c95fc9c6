"""Tasks: descriptions that travel to the workers and run there."""

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from sash.errors import MissingPackage, SashError
from sash.spark.worker.loading import as_packed

__all__ = ["LACKING", "RESULT_ROWS", "Batches", "Task", "as_function", "freeze_loaded", "without_traceback"]

Batches = Iterable[pa.RecordBatch]
# Rows of one batch of results: Spark holds a whole batch outside its heap.
RESULT_ROWS = 65_536
LACKING = str(MissingPackage.in_worker("{version}", "{python}", "{reason}"))  # what a worker without sash fills in


class Task(ABC):
    """A description that travels to a worker and runs there on the batches of a partition."""

    @abstractmethod
    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Return batches of results of the batches of one partition."""


def as_function(task: Task) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Return a task as a function for Spark; it raises errors of sash without their traceback."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            with without_traceback():
                yield from task.run(batches)
        finally:
            freeze_loaded()

    return as_packed(run, LACKING)


def without_traceback() -> AbstractContextManager[None]:
    """Raise errors of sash without their traceback: Spark shows it to users, who need only the message."""
    return _WithoutTraceback()


class _WithoutTraceback(AbstractContextManager[None]):
    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, SashError):
            raise error.with_traceback(None) from None


_is_frozen = False


def freeze_loaded() -> None:
    """Freeze what the first task of a worker loaded, so that Spark's gc.collect() after every task skips it.

    The next task waits for that collection: 60 to 90 ms each time with sash and its compiler loaded, and nearly nothing
    after the freeze.
    """
    global _is_frozen
    if not _is_frozen:
        _is_frozen = True
        gc.collect()
        gc.freeze()
