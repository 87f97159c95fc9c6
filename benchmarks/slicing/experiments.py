"""The suite slicing: its experiments in the order in which they run."""

from collections.abc import Iterator

from benchmarks import plots
from benchmarks.bars.slicing import SLICING
from benchmarks.settings import QUICK_SLICING, SlicingSettings
from benchmarks.slicing import features, memory, own_windows, pushes, stores, throughput
from benchmarks.suite import Experiment, Suite, by_name

__all__ = ["EXPERIMENTS", "SUITE"]

# What findings of papers need comes first, because a run ends when its time is used up.
EXPERIMENTS = by_name(
    Experiment("concurrent", "How many rows per second, by concurrent windows?", throughput.concurrent_tasks),
    Experiment("constrained", "The same, with late rows and a session?", throughput.constrained_tasks),
    Experiment("disorder_fraction", "What do more late rows cost?", throughput.fraction_tasks),
    Experiment("disorder_delay", "What do later rows cost?", throughput.delay_tasks),
    Experiment("measures", "How many rows per second, by measure?", throughput.measure_tasks),
    Experiment("aggregates", "How many rows per second, by aggregate?", throughput.aggregate_tasks),
    Experiment("median", "How many rows per second of a median?", throughput.median_tasks),
    Experiment("memory_by_slices", "How much memory, by slices?", memory.by_slices_tasks),
    Experiment("memory_by_rows", "How much memory, by rows?", memory.by_rows_tasks),
    Experiment("output_latency", "How long does one window take, by kind of store?", stores.output_tasks),
    Experiment("splits", "What does a split cost?", stores.split_tasks),
    Experiment("one_row", "How many pushes of one row per second?", pushes.one_row_tasks),
    Experiment("five_rows", "How long does a table of five rows take?", pushes.five_row_tasks),
    Experiment("keys", "How many rows per second of many keys?", pushes.key_tasks),
    Experiment("frames", "How many rows per second, by the position of a frame?", features.frame_tasks),
    Experiment("joins", "How many rows per second, by the window of a join?", features.join_tasks),
    Experiment("own_windows", "How many rows per second, of windows that users write?", own_windows.own_window_tasks),
    Experiment("flat", "Does memory stay constant while keys come and go?", memory.flat_tasks),
    Experiment("finish", "What is the fastest way to compute a window from its slices?", stores.finish_tasks),
)


def _notes(names: set[str]) -> Iterator[str]:
    yield "Ratios in brackets: 1 is np.copyto of the values (float64) in the same run. Everything runs on one thread."
    if names & {"concurrent", "constrained", "disorder_fraction", "disorder_delay", "measures", "aggregates", "median"}:
        yield "A subject gets ten times the rows while that fits into its time; the notes in report.json say how many."


SUITE = Suite(
    "slicing",
    "Run the experiments of general stream slicing, and compare with buffers, trees and buckets.",
    EXPERIMENTS,
    SlicingSettings(),
    QUICK_SLICING,
    SLICING,
    plots.SLICING,
    _notes,
    ("sash", "numba", "llvmlite", "numpy", "pyarrow"),
)
