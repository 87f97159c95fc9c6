"""Print tables and progress: in colour and with a progress bar on a terminal, as plain text elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import click

from sash.cli.table import Table

__all__ = ["can_print", "progress", "show"]

SECONDS_BETWEEN_LINES = 15.0


def show(table: Table) -> None:
    """Print a table."""
    if not sys.stdout.isatty():
        click.echo(table.text() + "\n")
        return
    from rich.console import Console

    console = Console()
    console.print(table.rich())
    console.print()


def can_print(text: str) -> bool:
    """Return whether the encoding of the output has these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar that advances with each call; without a terminal, print a line every 15 seconds."""
    begun = count()
    if not sys.stderr.isatty():
        said = time.monotonic()

        def mention(label: str) -> None:
            nonlocal said
            done = next(begun)
            if time.monotonic() - said > SECONDS_BETWEEN_LINES:
                click.echo(f"{title}: {done} of {total}, {label}", err=True)
                said = time.monotonic()

        yield mention
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda label: bar.update(task, completed=next(begun), description=f"{title}: {label}")
