"""Query text: CQL, window table functions and OVER, parsed into queries and frames."""

from sash.text.inputs import NamedInput
from sash.text.joins import JoinRequest
from sash.text.outputs import Steps
from sash.text.request import Request, join_request_of, request_of
from sash.text.select import Select, parse, queries

__all__ = [
    "JoinRequest",
    "NamedInput",
    "Request",
    "Select",
    "Steps",
    "join_request_of",
    "parse",
    "queries",
    "request_of",
]
