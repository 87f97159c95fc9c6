"""Query text: what is asked, from CQL, window table functions or OVER."""

from sash.text.asked import Asked, parse, queries
from sash.text.request import Request, request_of

__all__ = ["Asked", "Request", "parse", "queries", "request_of"]
