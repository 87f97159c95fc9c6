"""Limits of a Python task."""

from dataclasses import dataclass

__all__ = ["BUDGET", "Budget"]


@dataclass(frozen=True)
class Budget:
    """How much a Python task holds at once."""

    rows: int = 4_000_000  # of buckets that are answered together
    packed_rows: int = 1_000_000  # of a map task before it sends them on
    packed_bytes: int = 128 << 20
    piece_rows: int = 65_536
    sent_rows: int = 262_144  # of one bucket in a piece, on streams
    held_bytes: int = 1 << 30  # of the state of buckets that a worker remembers between micro-batches


BUDGET = Budget()
