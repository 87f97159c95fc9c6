"""Limits of a Python task."""

from dataclasses import dataclass

__all__ = ["BUDGET", "Budget"]


@dataclass(frozen=True)
class Budget:
    """How much a Python task holds at once."""

    rows: int = 4_000_000  # of the buckets that a task answers together
    packed_rows: int = 1_000_000  # that a map task gathers before it sends them
    packed_bytes: int = 128 << 20
    piece_rows: int = 65_536
    sent_rows: int = 262_144  # of one bucket in a piece, on streams
    held_bytes: int = 1 << 30  # of state that a worker holds between micro-batches


BUDGET = Budget()
