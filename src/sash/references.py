"""Names of columns, given as text or as references to columns of Spark or Polars."""

import re
import sys
from typing import Any

from sash.errors import InvalidInput

__all__ = ["name_of", "names_of"]

# F.col("x"), F.col("meta.x"), df["meta.x"], which Spark shows with an alias, and df.meta.x.
_PLAIN_COLUMN = re.compile(r"Column<'((?:[\w`]+\.)*`?([^\W\d]\w*)`?)((?:\['?[^\W\d]\w*'?\])*)(?: AS \2)?'>")


def name_of(value: Any) -> Any:
    """Return the name of a plain reference to a column, such as `pl.col("x")`; refuse other expressions.

    Anything else is returned as it is, and checked by the caller.

    >>> name_of("load"), name_of(5)
    ('load', 5)
    """
    if isinstance(value, str):
        return value
    package, name = type(value).__module__.partition(".")[0], type(value).__name__
    if package == "polars" and name == "Expr":
        roots = value.meta.root_names()
        if len(roots) == 1:
            root, last = sys.modules["polars"].col(roots[0]), value.meta.output_name(raise_if_undetermined=False)
            if value.meta.eq(root):
                return roots[0]
            if last is not None and value.meta.eq(root.struct.field(last)):
                return f"{roots[0]}.{last}"
        raise InvalidInput.expression(value)
    if package == "pyspark" and name == "Column":
        found = _PLAIN_COLUMN.fullmatch(str(value))
        if found is None:
            raise InvalidInput.expression(value)
        fields = re.findall(r"\w+", found[3])
        return ".".join((found[1].replace("`", ""), *fields))
    return value


def names_of(values: Any) -> Any:
    """Return the names of one or of several references; a list stays a list."""
    if isinstance(values, list | tuple):
        return type(values)(map(name_of, values))
    return name_of(values)
