"""The contract of a technique, and the list of techniques that benchmarks and tests read.

A technique is a module with `FACTS` and an `Operator`. All operators are used in the same way:

    operator = TECHNIQUES["tuple_buffer"].start(aggregate, (Window.time(10, 4), Window.session(3)))
    results = operator.push(positions, values, watermark)      # the windows that have ended since
    operator.size_bytes()                                      # rows, partials and metadata that it holds

The aggregate is a monoid bound to the columns that are pushed. Bind it as invertible if rows are removed from
slices again (count windows of slices_on_rows).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.baselines import aggregate_buckets, aggregate_tree, slices_on_rows, tuple_buckets, tuple_buffer
from benchmarks.baselines.operator import Facts, Operator, Results
from benchmarks.baselines.windows import Kind, Layout, Window
from sash.algebra.monoid import Monoid
from sash.errors import UnsupportedAggregate, UnsupportedWindow

__all__ = ["TECHNIQUES", "Facts", "Kind", "Operator", "Results", "Technique", "Window"]


@dataclass(frozen=True)
class Technique:
    """An entry of the list: a name, the facts, and how to start it."""

    name: str
    facts: Facts
    make: Callable[[Monoid, Layout], Operator] = field(repr=False)

    def answers(self, window: Window) -> bool:
        """Return whether it can answer windows of this kind."""
        facts = self.facts
        can = {Kind.COUNT: facts.counts, Kind.SESSION: facts.sessions, Kind.PUNCTUATED: facts.punctuated}
        return can.get(window.kind, True)

    def admits(self, aggregate: Monoid) -> bool:
        """Return whether it can answer this aggregate if rows are late."""
        return self.facts.ordered or aggregate.commutative

    def start(self, aggregate: Monoid, windows: tuple[Window, ...]) -> Operator:
        """Start the technique on a new stream."""
        for window in windows:
            if not self.answers(window):
                instead = [each.name for each in TECHNIQUES.values() if each.answers(window)]
                raise UnsupportedWindow.by(self.name, window.kind.value, instead)
        if not self.admits(aggregate):
            instead = [each.name for each in TECHNIQUES.values() if each.admits(aggregate)]
            raise UnsupportedAggregate.lacks("commutative", self.name, aggregate.name, instead)
        return self.make(aggregate, Layout(windows))


TECHNIQUES: Mapping[str, Technique] = {
    each.name: each
    for each in (
        Technique("tuple_buffer", tuple_buffer.FACTS, tuple_buffer.TupleBuffer),
        Technique("aggregate_tree", aggregate_tree.FACTS, aggregate_tree.AggregateTree),
        Technique("aggregate_buckets", aggregate_buckets.FACTS, aggregate_buckets.AggregateBuckets),
        Technique("tuple_buckets", tuple_buckets.FACTS, tuple_buckets.TupleBuckets),
        Technique("slices_on_rows", slices_on_rows.FACTS, slices_on_rows.SlicesOnRows),
    )
}
