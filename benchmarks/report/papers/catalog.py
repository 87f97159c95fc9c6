"""The papers behind sash, by year."""

from benchmarks.report.papers import boundary, daba, reactive_aggregator, slick_deque
from benchmarks.report.papers.stream_slicing import paper as stream_slicing

__all__ = ["PAPERS"]

PAPERS = tuple(each.PAPER for each in (reactive_aggregator, daba, slick_deque, stream_slicing, boundary))
