"""Query text: CQL, window table functions and OVER, parsed into queries and frames."""

from sash.text.request import Request, request_of
from sash.text.select import Select, parse, queries

__all__ = ["Request", "Select", "parse", "queries", "request_of"]
