"""The time that a source may take from its stream."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Budget"]


@dataclass
class Budget:
    """Time for reading a stream: a share of all time, saved up to a limit.

    Readings whose cost grows with the state (open windows, bytes) become less frequent, instead of slower pushes.

    >>> budget = Budget(share=0.01, most=0.05, free=0)
    >>> budget.has_time()
    True
    >>> budget.spend(1.0)
    >>> budget.has_time()
    False
    """

    share: float = 0.01
    most: float = 0.05  # seconds
    free: int = 3  # first readings that cost nothing: they compile kernels
    _left: float = 0.0
    _at: float = -1e9

    def has_time(self) -> bool:
        """Return whether a reading may begin."""
        now = time.monotonic()
        self._left = min(self.most, self._left + (now - self._at) * self.share)
        self._at = now
        return self._left > 0

    def spend(self, seconds: float) -> None:
        """Subtract what a reading took."""
        self.free -= 1
        if self.free < 0:
            self._left -= seconds

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Subtract the time that the block computes; on a busy machine, it waits for longer, but takes no more."""
        begin = time.thread_time()
        try:
            yield
        finally:
            self.spend(time.thread_time() - begin)
