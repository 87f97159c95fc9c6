"""A description that travels to the workers, and runs there on the batches of a partition."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from sash.errors import SashError
from sash.spark.worker.worker_gc import freeze_loaded

__all__ = ["RESULT_ROWS", "Batches", "Task", "as_function"]

Batches = Iterable[pa.RecordBatch]
# Rows of one batch of results: Spark holds a whole batch outside its heap.
RESULT_ROWS = 65_536


class Task(ABC):
    """A description that travels to the workers, and what it does there."""

    @abstractmethod
    def run(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Batches of one partition in, batches of results out."""


def as_function(task: Task) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """A task as Spark wants it. What it refuses is said in its own words, without the way it came."""

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            yield from task.run(batches)
        except SashError as error:
            raise error.with_traceback(None) from None
        finally:
            freeze_loaded()

    return run
