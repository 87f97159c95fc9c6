"""Figures for Prometheus."""

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from sash.page.figures import FIGURES
from sash.page.records import Figures, StreamFacts

__all__ = ["exposition"]


def exposition(facts: StreamFacts, figures: Figures) -> bytes:
    """Return all figures in the text format of Prometheus."""
    registry = CollectorRegistry()
    for each in FIGURES:
        gauge = Gauge(f"sash_{each.name}", each.help, ["stream"], registry=registry)
        value = each.value(figures)
        if value is not None:
            gauge.labels(facts.title).set(value)
    return generate_latest(registry)
