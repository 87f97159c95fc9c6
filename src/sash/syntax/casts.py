"""The types of CAST, by the names that SQL gives them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sash.errors import InvalidText

__all__ = ["CastType", "type_of"]

_NAMES = {
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("tinyint", "byte", "int1"), "tinyint"),
    **dict.fromkeys(("smallint", "short", "int2"), "smallint"),
    **dict.fromkeys(("int", "integer", "int4"), "int"),
    **dict.fromkeys(("bigint", "long", "int8", "signed"), "bigint"),
    **dict.fromkeys(("float", "real", "float4"), "float"),
    **dict.fromkeys(("double", "double precision", "float8"), "double"),
    **dict.fromkeys(("decimal", "numeric", "dec"), "decimal"),
    **dict.fromkeys(("string", "varchar", "text", "char", "character varying"), "string"),
    "date": "date",
    **dict.fromkeys(("timestamp", "datetime"), "timestamp"),
}
_MOST_DIGITS = 38


@dataclass(frozen=True)
class CastType:
    """A type by its name in Spark; a decimal has a number of digits, and of those after the point."""

    name: str
    digits: tuple[int, int] | None = None

    def __str__(self) -> str:
        return self.name if self.digits is None else f"decimal({self.digits[0]}, {self.digits[1]})"


def type_of(name: str, numbers: Sequence[int | float], place: int) -> CastType:
    """Return a type by the name and the numbers in parentheses that a text has.

    >>> print(type_of("VARCHAR", [20], 0), type_of("NUMERIC", [10, 2], 0))
    string decimal(10, 2)
    """
    found = _NAMES.get(name.lower())
    if found is None:
        raise InvalidText.unknown(place, "type", name, {*_NAMES.values()})
    if found != "decimal":
        if len(numbers) > (found == "string"):
            raise InvalidText.meaning(place, f"{name} takes no numbers", "leave them out")
        return CastType(found)
    digits, scale = (*numbers, *(10, 0)[len(numbers) :])[:2]
    fits = isinstance(digits, int) and isinstance(scale, int) and 0 <= scale <= digits and 1 <= digits <= _MOST_DIGITS
    if not fits or len(numbers) > 2:
        what = f"{name} takes up to {_MOST_DIGITS} digits, and how many of them are after the point"
        raise InvalidText.meaning(place, what, "write for example DECIMAL(10, 2)")
    assert isinstance(digits, int) and isinstance(scale, int)
    return CastType("decimal", (digits, scale))
