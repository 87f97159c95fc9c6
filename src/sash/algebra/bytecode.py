"""Read a function's code without running it: its text, the names that it looks up, the globals that it reads."""

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Reading", "atom", "constant", "reading_of"]


def atom(value: Any) -> str | None:
    """Return the text of a plain constant; None for anything else."""
    kind = type(value)
    if value is None or value is ... or value is NotImplemented or kind in (bool, float, complex, str, bytes):
        return f"{kind.__name__} {value!r}"
    return f"int {value:x}" if kind is int else None  # in tens, Python refuses long ones


def constant(value: Any, depth: int = 20) -> str | None:
    """Return the text of a plain constant, or of a container of such, so that a large table is one node."""
    kind = type(value)
    if kind not in (tuple, list, set, frozenset, dict):
        return atom(value)
    if not depth:  # it may be inside itself
        return None
    found = []
    for item in value.items() if kind is dict else value:
        text = constant(item, depth - 1)
        if text is None:
            return None
        found.append(text)
    if kind is tuple or kind is list:
        return f"{kind.__name__} [{', '.join(found)}]"
    return f"{'dict' if kind is dict else 'set'} [{', '.join(sorted(found))}]"


class Reading(NamedTuple):
    """The text of code, and the names that it looks up."""

    text: str  # where it was written, and how it is called, does not count
    names: frozenset[str]  # of globals and attributes; those in strings included, for getattr
    globals: tuple[str, ...]
    imports: tuple[tuple[str, int], ...]  # with their levels


@functools.lru_cache(4096)
def reading_of(code: types.CodeType) -> Reading:
    """Return what a function reads.

    Of the globals of its module, only those that it loads: cloudpickle sends no others to a worker.
    """
    names, read, imported = set(), set(), set()
    for part in _codes(code):
        names |= {*part.co_names}
        names |= {text for text in part.co_consts if isinstance(text, str) and text.isidentifier()}
        steps = list(dis.get_instructions(part))
        for place, step in enumerate(steps):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
                read.add(str(step.argval))
            elif step.opname == "IMPORT_NAME":
                imported.add((str(step.argval), int(steps[place - 2].argval or 0)))
    return Reading(_text(code), frozenset(names), tuple(sorted(read)), tuple(sorted(imported)))


def _text(code: types.CodeType) -> str:
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    constants = ", ".join(_constant(each) for each in code.co_consts)
    return f"code {counts} {names} {code.co_code.hex()} {code.co_exceptiontable.hex()} [{constants}]"


def _constant(value: Any) -> str:
    return _text(value) if isinstance(value, types.CodeType) else constant(value) or f"{type(value)} {value!r}"


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a function's code and that of the functions and comprehensions inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)
