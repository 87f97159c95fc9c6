"""The results that a SELECT asks the engine for: aggregates of a window or of frames, and the columns they read."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sash.algebra.aggregate import Template
from sash.engine.frame import Frame
from sash.errors import InvalidText
from sash.syntax.expressions import Apply, Call, Column, Expression, Literal
from sash.text.functions import Functions, filter_of
from sash.text.windows import frame_of

__all__ = ["Results", "default_name"]

Extent = Mapping[str, Any]  # options of `sash.frame`


class Results:
    """Aggregates by the names of their results; those in expressions have names of their own."""

    def __init__(self, functions: Functions, suffix: str) -> None:
        self.functions = functions
        self.suffix = suffix  # of the names of results that only expressions read
        self.computed: dict[str, Expression] = {}  # arguments of aggregates that are no bare columns, by name
        self.columns: list[Column] = []  # all that are read
        self.aggregates: dict[str, Template] = {}  # over the window
        self._frames: dict[str, tuple[Extent, int, dict[str, Template]]] = {}
        self._names: set[str] = set()  # in lower case: Spark does not distinguish upper and lower case
        self._known: dict[tuple[str, str], str] = {}

    def reserve(self, names: Iterable[str]) -> None:
        """Take names that no result can have: those of columns beside them."""
        self._names |= {each.lower() for each in names}

    def add(self, call: Call, extent: Extent | None, name: str | None) -> Column:
        """Return the column of the result of a call over an extent (None: the window), under a name if it is free."""
        template = self.template_of(call)
        return self.add_template(template, extent, name, str(call), call.place)

    def add_template(
        self, template: Template, extent: Extent | None, name: str | None, words: str, place: int
    ) -> Column:
        """Return the column of the result of an aggregate; without a free name, it has one made of `words`."""
        key = (str(extent), words)
        if name is None or name.lower() in self._names:
            if key in self._known:
                return Column(self._known[key], place)
            name = words + self.suffix
            while name.lower() in self._names:
                name += "'"
        self._names.add(name.lower())
        self._known.setdefault(key, name)
        if extent is None:
            self.aggregates[name] = template
        else:
            self._frames.setdefault(str(extent), (extent, place, {}))[2][name] = template
        return Column(name, place)

    def frames(self, place: int | None = None) -> tuple[Frame, ...]:
        """Return all frames; errors are at the place of their first aggregate if there is no other."""
        return tuple(
            frame_of(dict(extent), aggregates, own if place is None else place)
            for extent, own, aggregates in self._frames.values()
        )

    def names(self) -> tuple[str, ...]:
        """Return the names of all results."""
        return (*self.aggregates, *(name for _, _, aggregates in self._frames.values() for name in aggregates))

    def template_of(self, call: Call) -> Template:
        """Return the aggregate of a call, with its FILTER."""
        for each in call.arguments:
            self.check_scalar(each, f"An argument of {call.name}")
        template = self.functions.template_of(call, self.column)
        condition = filter_of(call)
        return template if condition is None else self._filtered(template, condition)

    def _filtered(self, template: Template, condition: Expression) -> Template:
        """Return an aggregate of a column that is null where a condition is not true (`sash.engine.conditions`)."""
        self.check_scalar(condition, "FILTER")
        value: Expression = Literal(1)
        if template.columns:
            value = self.computed.get(template.columns[0], Column(template.columns[0]))
        filtered = self.column(Apply("filter", (condition, value), condition.place))
        return replace(template, columns=(filtered, *template.columns[1:]), arity=max(1, template.arity))

    def check_scalar(self, expression: Expression, where: str) -> None:
        """Refuse an aggregate where only functions of a row are allowed."""
        for call in expression.calls():
            if not self.functions.knows(call.name):
                self.functions.template_of(call, str)  # says which functions there are
            fix = f"{call.name} is an aggregate"
            if where == "WHERE":
                fix += f", so write {'HAVING' if call.over is None else 'QUALIFY'}"
            raise InvalidText.meaning(call.place, f"{where} is computed from one row", fix)

    def column(self, expression: Expression) -> str:
        """Return the name of the column that an expression is computed into: its own, or the text of the expression."""
        self.columns += expression.columns()
        name = expression.column_name
        if name is None:
            name = str(expression)
            while any(each != name and each.lower() == name.lower() for each in self.computed):
                name += "'"  # Spark does not distinguish upper and lower case
            self.computed[name] = expression
        return name


def default_name(expression: Expression) -> str:
    """Return a name for a result without one: max_load, count, max_load_min_load."""
    if isinstance(expression, Call):
        words = [expression.name.lower(), *(["distinct"] if expression.is_distinct else [])]
        words += [str(each.expression) for each in expression.within]
        words += map(str, expression.arguments)
    else:
        words = [str(expression)]
    return re.sub(r"\W+", "_", "_".join(words)).strip("_")[:_LONGEST] or "result"


_LONGEST = 60  # letters of a name that is made of an expression
