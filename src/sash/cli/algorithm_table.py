"""The table of algorithms, printed from their facts."""

from sash.cli.table import Table
from sash.swag import ALGORITHMS
from sash.swag.facts import Cost

__all__ = ["facts_table"]


def facts_table() -> Table:
    """Return every algorithm of the catalog: what it needs, what it costs, and its paper."""
    operations = (f"{step} (average; worst)" for step in ("insert", "evict", "query"))
    headings = (
        "algorithm",
        "needs",
        *operations,
        "partials",
        "positions",
        "all ranges",
        "partials of all ranges",
        "windows",
        "runs",
        "paper",
    )
    rows = []
    for name, algorithm in ALGORITHMS.items():
        facts = algorithm.facts
        runs = "plain Python" if not facts.compiled else f"{facts.threads} threads" if facts.threads > 1 else "compiled"
        costs = (_cost(cost) for cost in (facts.insert, facts.evict, facts.query))
        every = facts.all_ranges
        many = ("no", "no") if every is None else (_cost(every.slide), str(every.space))
        room = (str(facts.space), facts.space.positions_text)
        rows.append((name, facts.needs.value, *costs, *room, *many, facts.sizes.value, runs, facts.paper))
    return Table("Combines per operation and room, for a window of n rows", headings, tuple(rows))


def _cost(cost: Cost) -> str:
    return f"{cost.average}; {cost.worst}"
