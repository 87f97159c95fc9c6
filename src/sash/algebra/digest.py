"""Digests of functions and all that they read: equal digests mean equal machine code and compatible states.

Idea      Values are nodes of a graph, with edges to the values that they depend on (`dependencies`). The name of a node
          is a hash of its kind and of the names of its dependencies. Nodes of a cycle, such as functions that call each
          other, are renamed in rounds until a round distinguishes no more nodes. Then two nodes have the same name
          exactly if everything that they depend on is equal.
Promises  A digest is the same in every process. It does not depend on the hash seed, the order of sets and dicts, or
          how a function was sent there. A value without a definite digest raises `Undigestable`.
"""

import hashlib
import types
from collections import deque
from typing import Any

from sash.algebra.bytecode import atom, constant
from sash.algebra.dependencies import Part, Reader, Undigestable, description_of, parts_of_function

__all__ = ["Undigestable", "digest", "digests"]


def digest(*parts: Any) -> str:
    """Return a digest of functions and values, including the globals and closures that they read."""
    return _digest([Part("", each, Reader()) for each in parts])


def digests(function: Any) -> dict[str, str]:
    """Return the digest of a function's code, under the name "", and of everything that it reads, by name."""
    function = getattr(function, "py_func", function)
    if not isinstance(function, types.FunctionType):
        return {"": digest(function)}
    code, parts = parts_of_function(function)
    return {"": _hash(code)} | {name: _digest([p for p in parts if p.name == name]) for name, _, _ in parts}


class _Graph:
    """Values and their dependencies, by number; a plain constant is named by its hash at once."""

    def __init__(self, parts: list[Part]) -> None:
        self.kinds, self.is_ordered = ["parts"], [True]
        self.targets: list[list[int | str]] = [[]]
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._alive: list[Any] = []  # keeps objects alive, so that no two share an id
        self._waiting: deque[tuple[int, str, Part]] = deque()
        self.targets[0] = [self._target(part, "") for part in parts]
        while self._waiting:
            self._describe(*self._waiting.popleft())

    def _target(self, part: Part, path: str) -> int | str:
        text = atom(part.value) if part.reader.is_package else constant(part.value)
        if text is not None:
            return _hash(text)
        key = id(part.value), None if isinstance(part.value, types.FunctionType) else part.reader
        if key not in self._numbers:
            self._numbers[key] = len(self.kinds)
            self._alive.append(part.value)
            self.kinds.append("")
            self.is_ordered.append(True)
            self.targets.append([])
            self._waiting.append(
                (self._numbers[key], f"{path} → {part.name}" if path and part.name else path + part.name, part)
            )
        return self._numbers[key]

    def _describe(self, number: int, path: str, part: Part) -> None:
        try:
            kind, parts, self.is_ordered[number] = description_of(part.value, part.reader)
        except Undigestable as error:
            raise Undigestable(error.value, path) from error
        self.kinds[number] = kind
        self.targets[number] = [self._target(each, path) for each in parts]


def _digest(parts: list[Part]) -> str:
    graph = _Graph(parts)
    names: list[str | None] = [None] * len(graph.kinds)
    _name_acyclic(graph, names)
    circular = [number for number, name in enumerate(names) if name is None]
    if circular:
        _refine(graph, names, circular)
    return _hash(str(names[0]), *sorted({str(names[number]) for number in circular}))


def _name_acyclic(graph: _Graph, names: list[str | None]) -> None:
    """Name the nodes that lead to no circle, from the ends on."""
    sources: list[list[int]] = [[] for _ in names]
    missing = [0] * len(names)
    for number, targets in enumerate(graph.targets):
        for target in {each for each in targets if isinstance(each, int)}:
            sources[target].append(number)
            missing[number] += 1
    ready = [number for number, count in enumerate(missing) if not count]
    while ready:
        number = ready.pop()
        names[number] = _name(graph, names, number)
        for source in sources[number]:
            missing[source] -= 1
            if not missing[source]:
                ready.append(source)


def _refine(graph: _Graph, names: list[str | None], circular: list[int]) -> None:
    for number in circular:
        names[number] = _hash(graph.kinds[number])
    before, apart = 0, len({names[number] for number in circular})
    while apart > before:
        for number, name in [(number, _name(graph, names, number)) for number in circular]:
            names[number] = name
        before, apart = apart, len({names[number] for number in circular})


def _name(graph: _Graph, names: list[str | None], number: int) -> str:
    targets = [each if isinstance(each, str) else str(names[each]) for each in graph.targets[number]]
    return _hash(graph.kinds[number], *(targets if graph.is_ordered[number] else sorted(targets)))


def _hash(text: str, *names: str) -> str:
    return hashlib.sha256(f"{len(text)} {text} {' '.join(names)}".encode(errors="surrogatepass")).hexdigest()[:32]
