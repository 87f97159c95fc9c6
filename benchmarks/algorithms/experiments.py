"""The suite algorithms: its experiments in the order in which they run."""

from collections.abc import Iterator

from benchmarks import plots
from benchmarks.algorithms import (
    bulk_updates,
    comparison,
    latency,
    memory,
    parallel_latency,
    python_queues,
    ranges,
    row_streams,
    shared_queries,
    small_calls,
    throughput,
)
from benchmarks.bars.algorithms import ALGORITHMS
from benchmarks.baselines.peers import PEERS, missing
from benchmarks.settings import QUICK_ALGORITHMS, AlgorithmSettings
from benchmarks.suite import Experiment, Suite, by_name
from benchmarks.timer import counts_cycles

__all__ = ["EXPERIMENTS", "SUITE", "plan", "run"]

# What findings of papers need comes first, because a run ends when its time is used up.
EXPERIMENTS = by_name(
    Experiment("parallel", "What does a second thread bring?", comparison.parallel_tasks),
    Experiment("parallel_stream", "What does a helper thread bring to a stream?", row_streams.parallel_stream_tasks),
    Experiment("row_by_row", "How many rows per second, one by one?", row_streams.row_by_row_tasks),
    Experiment("row_slides", "The same, by slide?", row_streams.row_slide_tasks),
    Experiment("time_windows", "How many rows per second, by windows of time?", row_streams.time_window_tasks),
    Experiment(
        "parallel_latency",
        "How long do 64 answers take, with a helper thread?",
        parallel_latency.parallel_latency_tasks,
    ),
    Experiment("latency", "How long does a single answer take, at worst?", latency.latency_tasks),
    Experiment("operators", "The same, by the operators of the paper on DABA?", latency.operator_tasks),
    Experiment(
        "break_even", "From which window on is an algorithm faster than recalculation?", throughput.break_even_tasks
    ),
    Experiment("throughput", "How many rows per second, by window?", throughput.throughput_tasks),
    Experiment(
        "shared_queries", "How many slides per second, if queries share slices?", shared_queries.shared_query_tasks
    ),
    Experiment("ranges", "How fast are many ranges at once?", ranges.range_tasks),
    Experiment("bulk_updates", "How fast do many rows enter and leave at once?", bulk_updates.bulk_update_tasks),
    Experiment("python_queues", "How fast are queues as plain Python?", python_queues.python_queue_tasks),
    Experiment("memory", "How much memory does a window take?", memory.memory_tasks),
    Experiment("warm_start", "How soon does a new process answer?", comparison.warm_start_tasks),
    Experiment("small_calls", "How long does a call take that does little?", small_calls.small_call_tasks),
    Experiment("in_order", "How fast is a tree for late rows, if no row is late?", small_calls.in_order_tasks),
    Experiment("peers", "How fast is sash compared with other libraries?", comparison.peer_tasks),
    Experiment("slides", "How many rows per second, by slide?", throughput.slide_tasks),
)


def _notes(names: set[str]) -> Iterator[str]:
    yield "Ratios in brackets: 1 is np.copyto of the same bytes in the same run."
    yield "Algorithms run on one thread, `sash` and `auto` on all threads."
    if "peers" in names and missing():
        yield f"Peers not installed: {', '.join(missing())}."
    if "latency" in names and not counts_cycles():
        yield "No latency: compiled code cannot read a cycle counter on this machine."


SUITE = Suite(
    "algorithms",
    "Run the experiments of the papers on sliding windows, and compare with other libraries.",
    EXPERIMENTS,
    AlgorithmSettings(),
    QUICK_ALGORITHMS,
    ALGORITHMS,
    plots.ALGORITHMS,
    _notes,
    ("sash", "numba", "llvmlite", "numpy", *PEERS),
)
plan = SUITE.plan
run = SUITE.run
