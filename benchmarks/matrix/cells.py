"""The cells of the matrix, in an order in which the first ones cover the most: a run may end before the last one.

Layers    0    every aggregate, every type and every window at least once
          1    every pair of them, where a type with nulls counts as the type
          2 …  every pair of those that are left, until none is left
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, repeat

import sash
from benchmarks.algorithms.workloads import SEED
from benchmarks.matrix.aggregates import AGGREGATES, OWN, group_of
from benchmarks.matrix.columns import COLUMNS, ColumnKind, table_of
from benchmarks.matrix.windows import Shape, shapes
from benchmarks.settings import Size
from sash.algebra.aggregate import Template
from sash.errors import SashError, UnknownName

__all__ = ["PATHS", "SPARK", "STREAM", "TABLE", "Cell", "Selection", "all_cells", "layered", "refusals"]

TABLE, STREAM, SPARK = "table", "stream", "spark"
JVM, PACKED, FRAMES = "jvm", "packed", "frames"
PATHS = (JVM, PACKED, FRAMES)  # of Spark
FEW = Size(20, 2)


@dataclass(frozen=True)
class Cell:
    """An aggregate of a column over a window, on one engine."""

    engine: str
    aggregate: str
    column: str
    window: str
    path: str = ""  # on Spark

    @property
    def template(self) -> Template:
        """Return the aggregate."""
        return AGGREGATES[self.aggregate]

    @property
    def kind(self) -> ColumnKind:
        """Return the kind of its column."""
        return COLUMNS[self.column]

    @property
    def shape(self) -> Shape:
        """Return the window or frame."""
        return _shapes()[self.window]

    @property
    def group(self) -> str:
        """Return the group of the aggregate; each has a limit of its own."""
        return group_of(self.aggregate)

    @property
    def needs_near_one(self) -> bool:
        """Return whether large values would overflow."""
        return self.aggregate == "product"

    def __str__(self) -> str:
        path = f", {self.path}" if self.path and self.path != FRAMES else ""
        return f"{self.aggregate} of {self.column}, {self.window}{path}"


@cache
def _shapes() -> dict[str, Shape]:
    return {each.name: each for each in shapes()}


@cache
def refusals() -> dict[tuple[str, str], str]:
    """Return why sash refuses an aggregate of a column, by both; nothing is computed for that."""
    window = sash.tumbling(10)
    found = {}
    for name, template in AGGREGATES.items():
        for label, kind in COLUMNS.items():
            table = table_of(kind, FEW, _shapes()["tumbling"], 10).drop(["t"]).append_column("t", [[*range(FEW.rows)]])
            try:
                sash.explain(table, sash.query("q", window, answer=template), on="t", by="k")
            except SashError as error:
                found[name, label] = str(error).partition(": ")[2] or str(error)
            if name == OWN and not kind.name.startswith(("int", "float", "bool")):
                found[name, label] = "The example reads numbers."
    return found


def all_cells(engines: Iterable[str] = (TABLE, STREAM, SPARK)) -> Iterator[Cell]:
    """Yield every cell that sash does not refuse while planning."""
    refused = refusals()
    for engine in engines:
        for name in AGGREGATES:
            for label in COLUMNS:
                if (name, label) not in refused:
                    yield from _windows(engine, name, label)


def _windows(engine: str, aggregate: str, column: str) -> Iterator[Cell]:
    for shape in _shapes().values():
        if engine == SPARK:
            for path in (FRAMES,) if shape.is_frame else (JVM, PACKED):
                yield Cell(engine, aggregate, column, shape.name, path)
        elif engine == TABLE or not shape.is_frame:  # a stream in this process has no frames
            yield Cell(engine, aggregate, column, shape.name)


# --- layers ------------------------------------------------------------------------------------------


Parts = Callable[[Cell], list[tuple[str, ...]]]


def _values(cell: Cell) -> list[tuple[str, ...]]:
    return [("aggregate", cell.aggregate), ("column", cell.kind.name), ("window", cell.window), ("path", cell.path)]


def _pairs(cell: Cell) -> list[tuple[str, ...]]:
    names = (cell.aggregate, cell.kind.name, f"{cell.window} {cell.path}")
    return [(str(k), *pair) for k, pair in enumerate(combinations(names, 2))]


def _all_pairs(cell: Cell) -> list[tuple[str, ...]]:
    names = (cell.aggregate, cell.column, f"{cell.window} {cell.path}")
    return [(str(k), *pair) for k, pair in enumerate(combinations(names, 2))]


def layered(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells of one engine layer by layer; the order within a layer is random, and always the same."""
    left = list(cells)
    random.Random(SEED).shuffle(left)  # noqa: S311  # an order, no secret
    ways = chain((_values, _pairs), repeat(_all_pairs))
    while left:
        layer, left = _cover(left, next(ways))
        if layer:
            yield layer


def _cover(cells: Sequence[Cell], parts: Parts) -> tuple[list[Cell], list[Cell]]:
    """Return cells that together have all parts, and the others; those with more new parts are taken first."""
    seen: set[tuple[str, ...]] = set()
    taken, left = [], [(cell, parts(cell)) for cell in cells]
    for wanted in range(max((len(own) for _, own in left), default=0), 0, -1):
        others = []
        for cell, own in left:
            if sum(each not in seen for each in own) >= wanted:
                seen.update(own)
                taken.append(cell)
            else:
                others.append((cell, own))
        left = others
    return taken, [cell for cell, _ in left]


# --- a part of the matrix ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Selection:
    """Wanted values by axis; an axis without any has all of them."""

    engines: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    windows: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[str], engines: Iterable[str]) -> "Selection":
        """Sort names of engines, aggregates, types, windows and Spark's paths into their axes.

        >>> Selection.of(["sum", "median", "string", "table"], ["table", "stream"]).engines
        frozenset({'table'})
        """
        types = {each.name for each in COLUMNS.values()}
        axes = (set(engines), set(AGGREGATES), {*types, *COLUMNS}, set(_shapes()), set(PATHS))
        found: list[set[str]] = [set() for _ in axes]
        for name in names:
            places = [k for k, axis in enumerate(axes) if name in axis]
            if not places:
                raise UnknownName.of("part of the matrix", name, sorted(set().union(*axes) - set(COLUMNS) | types))
            found[places[0]].add(name)
        return cls(*map(frozenset, found))

    @property
    def is_part(self) -> bool:
        """Return whether it names more than engines."""
        return bool(self.aggregates or self.columns or self.windows or self.paths)

    def has(self, cell: Cell) -> bool:
        """Return whether a cell is wanted."""
        return (
            (not self.aggregates or cell.aggregate in self.aggregates)
            and (not self.columns or bool({cell.column, cell.kind.name} & self.columns))
            and (not self.windows or cell.window in self.windows)
            and (not self.paths or cell.path in self.paths)
        )
