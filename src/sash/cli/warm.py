"""`sash warm`: compile kernels into the cache, with progress."""

import time
from collections.abc import Sequence

import click

from sash.algebra.cache import cache_directory
from sash.algebra.compiler import on_compile
from sash.cli.arguments import aggregate_named
from sash.cli.terminal import progress
from sash.warming import steps

__all__ = ["warm_with_progress"]


def warm_with_progress(names: Sequence[str], types: Sequence[str], spark: bool) -> None:
    """Compile kernels of the named aggregates, and print how many there were."""
    todo = list(steps([aggregate_named(name) for name in names], types, spark))
    seconds: list[float] = []

    def note(_kernel: str, took: float | None) -> None:
        if took is not None:
            seconds.append(took)

    on_compile.append(note)
    begin = time.perf_counter()
    try:
        with progress("sash warm", len(todo)) as mention:
            for label, run in todo:
                mention(label)
                run()
    finally:
        on_compile.remove(note)
    folder = cache_directory()
    where = f"in {folder}" if folder is not None else "in no cache: SASH_CACHE_DIR is off, or no folder is private"
    click.echo(f"{len(seconds)} kernels compiled in {time.perf_counter() - begin:.1f} s, {where}.")
