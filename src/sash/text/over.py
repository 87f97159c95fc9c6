"""Functions with OVER: aggregates of frames, and LAG, LEAD, ROW_NUMBER, RANK, FIRST_VALUE, LAST_VALUE as such."""

from collections.abc import Callable
from dataclasses import replace

from sash.algebra import extremes, sums
from sash.errors import InvalidText
from sash.syntax.expressions import Apply, Call, Expression, Literal
from sash.syntax.tree import FrameSpec
from sash.text.results import Results
from sash.text.windows import extent_of

__all__ = ["result_over"]

_TO_ROW = {"rows": (None, 0)}


def result_over(call: Call, spec: FrameSpec, results: Results, name: str | None) -> Expression:
    """Return the result of a call with OVER as an expression of results of frames."""
    special = _SPECIAL.get(call.name.lower())
    if special is None or call.name.lower() in results.functions.own:
        if call.ignores_nulls is False:
            raise InvalidText.unsupported(call.place, f"RESPECT NULLS of {call.name}", "aggregates leave out nulls")
        return results.add(call, extent_of(spec), name)
    return special(call, spec, results, name)


def _beside(sign: int) -> Callable[[Call, FrameSpec, Results, str | None], Expression]:
    """Return LAG or LEAD: the value of the row that is some rows before or after; the frame clause does not matter."""

    def beside(call: Call, spec: FrameSpec, results: Results, name: str | None) -> Expression:
        _check_plain(call, 1, 3)
        if call.ignores_nulls:
            instead = "write LAST_VALUE(x) IGNORE NULLS with ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
            raise InvalidText.unsupported(call.place, f"IGNORE NULLS of {call.name}", instead)
        value, *options = call.arguments
        steps = options[0] if options else Literal(1)
        default = options[1] if len(options) > 1 else None
        number = steps.value if isinstance(steps, Literal) else None
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InvalidText.meaning(steps.place, f"{call.name} needs a whole number of rows", "write for example 1")
        extent = {"rows": (sign * number, sign * number)}
        found = results.add(replace(call, name="first", arguments=(value,)), extent, None if default else name)
        if default is None:
            return found
        results.check_scalar(default, f"The default of {call.name}")
        results.columns += default.columns()
        rows = results.add_template(sums.count(), extent, None, f"rows of {call}", call.place)
        return Apply("case", (Apply("=", (rows, Literal(0))), default, found), call.place)

    return beside


def _row_number(call: Call, spec: FrameSpec, results: Results, name: str | None) -> Expression:
    _check_plain(call, 0, 0)
    return results.add_template(sums.count(), _TO_ROW, name, str(call), call.place)


def _rank(call: Call, spec: FrameSpec, results: Results, name: str | None) -> Expression:
    """Return RANK: one more than the number of rows before the peers."""
    _check_plain(call, 0, 0)
    before = results.add_template(sums.count(), {"groups": (None, -1)}, None, str(call), call.place)
    return Apply("+", (before, Literal(1)), call.place)


def _end(is_first: bool) -> Callable[[Call, FrameSpec, Results, str | None], Expression]:
    """Return FIRST_VALUE or LAST_VALUE: with nulls, as in SQL, unless IGNORE NULLS is written."""

    def end(call: Call, spec: FrameSpec, results: Results, name: str | None) -> Expression:
        if call.ignores_nulls:
            short = replace(call, name="first" if is_first else "last")
            return results.add(short, extent_of(spec), name)
        _check_plain(call, 1, 1)
        results.check_scalar(call.arguments[0], f"An argument of {call.name}")
        make = extremes.argmin if is_first else extremes.last_row  # of a constant: the first row on ties, or the last
        template = make(results.column(Literal(1)), results.column(call.arguments[0]))
        return results.add_template(template, extent_of(spec), name, str(call), call.place)

    return end


def _check_plain(call: Call, least: int, most: int) -> None:
    if not least <= len(call.arguments) <= most or call.of_rows:
        words = f"{least} to {most} arguments" if least < most else f"{least} argument{'s' if least != 1 else ''}"
        raise InvalidText.arguments(call.place, call.name, words, len(call.arguments))
    if call.is_distinct or call.filter is not None:
        what = "DISTINCT" if call.is_distinct else "FILTER"
        raise InvalidText.unsupported(call.place, f"{what} of {call.name}", "only aggregates take it")


_SPECIAL: dict[str, Callable[[Call, FrameSpec, Results, str | None], Expression]] = {
    "lag": _beside(-1),
    "lead": _beside(1),
    "row_number": _row_number,
    "rank": _rank,
    "first_value": _end(True),
    "last_value": _end(False),
}
