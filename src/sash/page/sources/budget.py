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
    >>> budget.has_time(now=1.0)
    True
    >>> budget.spend(0.02)
    >>> budget.has_time(now=1.0), budget.has_time(now=4.0)
    (False, True)
    """

    share: float = 0.005
    most: float = 0.002  # seconds
    free: int = 2  # first readings that cost nothing: they compile kernels
    _left: float = 1e-9
    _at: float = 0.0

    def has_time(self, now: float) -> bool:
        """Return whether a reading may begin; `now` is of any clock."""
        passed = max(0.0, now - self._at) if self._at else 0.0
        self._left = min(self.most, self._left + passed * self.share)
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
