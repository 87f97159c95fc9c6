"""The targets of the suite matrix."""

from collections.abc import Callable, Iterator

from benchmarks.bars.target import Target, at_least, at_most, of_sash, pick_of
from benchmarks.matrix.records import GROWTH
from benchmarks.matrix.records import TIME as ROW_TIME
from benchmarks.matrix.tables import GROWS, LIMITS, above, cell_name, worst
from benchmarks.records import Report

__all__ = ["MATRIX"]

_GROUPS = {
    "plain": (("plain",), "aggregates"),
    "collecting": (("sketch", "collecting"), "sketches and collecting aggregates"),
}


def _worst_cell(engine: str, metric: str, groups: tuple[str, ...]) -> Callable[[Report], str]:
    def remark(report: Report) -> str:
        found = [each for each in worst(report.select(engine), metric) if each.get("group") in groups]
        count = sum(map(above, found))
        return f"{count} of {len(found)} are above it; the worst: {cell_name(found[0])}" if found else ""

    return remark


def _cells(engine: str) -> Iterator[Target]:
    """Limit the time of every cell of an engine, and its growth with the window."""
    for group, (groups, name) in _GROUPS.items():
        pick = of_sash(metric=ROW_TIME, group=groups)
        remark = _worst_cell(engine, ROW_TIME, groups)
        name = f"{engine}: {name}, the slowest cell"
        yield at_most(engine, name, LIMITS[group], pick, unit="ns per row", reduce=max, remark=remark)
    groups = ("plain", "sketch")
    pick, remark = of_sash(metric=GROWTH, group=groups), _worst_cell(engine, GROWTH, groups)
    yield at_most(engine, f"{engine}: growth with the window, the worst cell", GROWS, pick, reduce=max, remark=remark)


def _frame(aggregate: str, kind: str, peer: str, required: float) -> Target:
    """Compare a frame of rows by key with a peer."""
    shape = {"metric": ROW_TIME, "aggregate": aggregate, "type": kind}
    name = f"frame of rows by key, {aggregate} of {kind}: times as fast as {peer}"
    return at_least("frames", name, required, pick_of(peer, **shape), of_sash(**shape))


MATRIX = (
    *(
        _frame(aggregate, "float64", *bar)
        for aggregate in ("median", "quantile")
        for bar in (("polars", 0.5), ("pandas", 3.0))
    ),
    _frame("count_distinct", "string", "duckdb", 20.0),
    *_cells("table"),
    *_cells("stream"),
)
