"""The paper, with findings in the order of its figures."""

from benchmarks.report.findings import Paper
from benchmarks.report.papers.stream_slicing import alternatives, characteristics

__all__ = ["PAPER"]

PAPER = Paper(
    key="stream-slicing",
    title="Efficient Window Aggregation with General Stream Slicing",
    authors="Traub, Grulich, Rodríguez Cuéllar, Breß, Katsifodimos, Rabl, Markl",
    year=2019,
    venue="EDBT 2019",
    doi="10.5441/002/edbt.2019.10",
    names="Slicing is sash here; the other techniques have their names, all compiled and on one core.",
    findings=(*alternatives.FINDINGS, *characteristics.FINDINGS),
)
