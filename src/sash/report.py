"""What people read of objects in terminals and notebooks: reports of named lines, and calls."""

import html
from abc import ABC, abstractmethod

__all__ = ["Call", "Report"]


class Report(ABC):
    """A report of lines, each with a name."""

    @abstractmethod
    def lines(self) -> list[tuple[str, str]]:
        """Return names and lines."""

    def __str__(self) -> str:
        return "\n".join(f"{name:<8}{text}" for name, text in self.lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return an HTML table for a notebook."""
        rows = "".join(
            f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self.lines()
        )
        return f"<table>{rows}</table>"


class Call:
    """An object whose repr is the call that makes it."""

    def _repr_html_(self) -> str:
        """Return HTML for notebooks."""
        return f"<code>{html.escape(repr(self))}</code>"
