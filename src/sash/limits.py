"""The sizes at which sash changes its ways: when a tree pays, when to sweep, how much a Spark task holds.

Results do not depend on them, and no saved state holds them. They travel in the options of a plan. Tests pass small
ones, so that a few rows take every path that a large stream takes.
"""

from dataclasses import dataclass

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Every limit, with its default and the reason for it.

    >>> Limits(tree_slices=3).tree_slices, Limits().tree_slices
    (3, 16)
    """

    # --- plan ---

    # Slices of a window from which a tree over them is worth its upkeep. Measured by the benchmark slicing, experiment
    # finish: a thousand windows of 8 slices take 78 ns each by folding and 99 by a tree, of 16 slices 139 and 114, of
    # 1,024 7,260 and 133. Sliding (two_stacks_lite) took 194 to 262: fewer combines pay only where a combine is dear.
    tree_slices: int = 16
    # Windows of Python objects that overlap more often than this are slid over rather than folded one by one.
    slide_overlaps: int = 8

    # --- engine ---

    # Slices are swept when there are more than twice those of the last sweep, and this many more.
    sweep_slices: int = 256
    # Slices of an ordered stream are merged where only windows end when there are this share and this many more than
    # after the last time. With 1,000 rows per push, merging after each push took a sixth of the time.
    merge_share: float = 0.5
    merge_slices: int = 64
    # Keys from which a push is sorted by key first: what is known of so many does not stay in the nearest memory.
    sort_keys: int = 2048
    # A sorted array of edges is made for a stretch of at least so many, and used again for later batches within it.
    edges_ahead: int = 256

    # The distance between the labels of neighbouring strings. Between any two, at least 32 more get a label, even if
    # each is next to the last one, before all are labelled anew.
    label_gap: int = 1 << 32
    # Strings are swept when there are more than twice those of the last sweep, and this many more.
    sweep_strings: int = 1024

    # --- a Python task of Spark ---

    task_rows: int = 4_000_000  # of the buckets that a task answers together
    task_results: int = 4_000_000  # about how many results of a group are held at once …
    watermark_steps: int = 10_000  # … and the most steps of the watermark that keep to that
    packed_rows: int = 1_000_000  # that a map task gathers before it sends them
    packed_bytes: int = 128 << 20
    piece_rows: int = 65_536
    sent_rows: int = 262_144  # of one bucket in a piece, on streams

    # --- hot keys of Spark tables ---

    small_bytes: int = 16 << 20  # in a smaller table no key is large enough to be cut
    probed_rows: int = 20_000  # first rows among which hot keys are looked for
    hot_candidates: int = 4
    hot_rows: int = 1_000_000  # that make a key hot
    chunk_rows: int = 250_000  # a chunk has no fewer
    chunk_quantiles: int = 512  # of positions, among which chunks are cut
    halo_share: float = 0.5  # of all rows that halos may repeat

    # --- state of Spark streams ---

    held_bytes: int = 1 << 30  # of state that a worker holds between micro-batches
    log_ratio: int = 2  # a log with more times the bytes of the state is replaced by a snapshot …
    small_log_bytes: int = 1 << 16  # … unless it is smaller than this
    part_bytes: int = 4 << 20  # of a snapshot in one entry of the store


LIMITS = Limits()
