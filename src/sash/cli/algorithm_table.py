"""The tables of algorithms, printed from their facts; each fits a terminal of 80 columns."""

from collections.abc import Callable

from sash.cli.table import Table
from sash.swag import ALGORITHMS
from sash.swag.facts import Cost, Facts

__all__ = ["facts_tables", "markdown_tables"]


def facts_tables() -> tuple[Table, ...]:
    """Return what every algorithm of the catalog needs, costs and keeps, and its paper."""
    return (
        _table("What each algorithm needs", ("needs", "windows", "runs"), _needs),
        _table(
            "Combines per operation on a window of n rows: average; worst case", ("insert", "evict", "query"), _costs
        ),
        _table("Room for a window of n rows", ("partials", "positions"), _room),
        _table("Combines per slide for all ranges: average; worst case", ("all ranges", "their partials"), _ranges),
        _table("Papers", ("paper",), lambda facts: (facts.paper,)),
    )


def markdown_tables() -> str:
    """Return the tables as Markdown, each below its title."""
    return "\n\n".join(f"**{table.title}**\n\n{table.markdown()}" for table in facts_tables())


def _table(title: str, headings: tuple[str, ...], cells: Callable[[Facts], tuple[str, ...]]) -> Table:
    rows = tuple((name, *cells(algorithm.facts)) for name, algorithm in ALGORITHMS.items())
    return Table(title, ("algorithm", *headings), rows)


def _needs(facts: Facts) -> tuple[str, ...]:
    runs = "plain Python" if not facts.compiled else f"{facts.threads} threads" if facts.threads > 1 else "compiled"
    return facts.needs.value, facts.sizes.value, runs


def _costs(facts: Facts) -> tuple[str, ...]:
    return _cost(facts.insert), _cost(facts.evict), _cost(facts.query)


def _room(facts: Facts) -> tuple[str, ...]:
    return str(facts.space), facts.space.positions_text


def _ranges(facts: Facts) -> tuple[str, ...]:
    every = facts.all_ranges
    return ("no", "no") if every is None else (_cost(every.slide), str(every.space))


def _cost(cost: Cost) -> str:
    return f"{cost.average}; {cost.worst}"
