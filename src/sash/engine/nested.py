"""Nested fields: a path such as "meta.device" is a column, unless a column has this very name.

Rule      The column with the exact name wins, then the longest name of a column that the path starts with; the rest of
          the path are fields of structs, in the same way. A null struct has null fields.
Results   A nested key has the name of its last field in the results, as in Spark: "meta.device" becomes `device`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sash.errors import InvalidInput

__all__ = ["field_at", "key_names", "paths_of", "steps_of"]


def steps_of(path: str, names: Sequence[str], fields_of: Callable[[tuple[str, ...]], Sequence[str]]) -> tuple[str, ...]:
    """Return the names of a column and of its fields that a path consists of; none if there is no such column.

    `fields_of` returns the names of the fields at some steps.

    >>> steps_of("meta.at.x", ["meta", "t"], lambda steps: {("meta",): ["at"], ("meta", "at"): ["x"]}.get(steps, []))
    ('meta', 'at', 'x')
    """
    return _steps((), path, names, fields_of)


def _steps(
    before: tuple[str, ...], path: str, names: Sequence[str], fields_of: Callable[[tuple[str, ...]], Sequence[str]]
) -> tuple[str, ...]:
    if path in names:
        return (*before, path)
    at = path.rfind(".")
    while at > 0:
        head = (*before, path[:at])
        if head[-1] in names:
            found = _steps(head, path[at + 1 :], fields_of(head), fields_of)
            if found:
                return found
        at = path.rfind(".", 0, at)
    return ()


def field_at(column: Any, fields: Sequence[str]) -> Any:
    """Return a field of an Arrow column of structs.

    >>> field_at(pa.array([{"a": {"b": 1}}, None]), ["a", "b"]).to_pylist()
    [1, None]
    """
    for name in fields:
        column = pc.struct_field(column, [name])
    return column


def paths_of(name: str, kind: Any) -> Iterator[str]:
    """Yield the paths of all fields of a column that are not structs.

    >>> list(paths_of("m", pa.struct([("a", pa.int64()), ("b", pa.struct([("c", pa.string())]))])))
    ['m.a', 'm.b.c']
    """
    if not pa.types.is_struct(kind):
        yield name
        return
    for place in range(kind.num_fields):
        each = kind.field(place)
        yield from paths_of(f"{name}.{each.name}", each.type)


def key_names(by: Sequence[str], names: Iterable[str], taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of keys in results; `names` are those of the columns, and `taken` those of other results.

    >>> key_names(["user", "meta.device"], ["user", "meta"])
    ('user', 'device')
    """
    if not any("." in name for name in by):
        return tuple(by)
    own = set(names)
    found = tuple(name if name in own else name.rpartition(".")[2] for name in by)
    used = set(taken)
    for name, path in zip(found, by, strict=True):
        if name in used:
            raise InvalidInput.key_name(path, name)
        used.add(name)
    return found
