"""Show work that takes more than two seconds, on stderr: in terminals and notebooks, and not elsewhere.

`SASH_PROGRESS=off` shows nothing, and `SASH_PROGRESS=on` shows it also if stderr is a file. A Python worker of Spark
never shows anything. A thread looks at the open steps twice a second, and ends when there are none.
"""

import os
import sys
import threading
import time
from typing import Any

from sash import activity
from sash.activity import Step
from sash.algebra.compiler import on_compile
from sash.worker_process import is_spark_worker

__all__ = ["Display", "text_of"]

SWITCH = "SASH_PROGRESS"
_AFTER_S, _EVERY_S, _IN_FILES_S = 2.0, 0.5, 10.0


def text_of(steps: list[Step], now: float) -> str:
    """Return what the steps do, and for how long.

    >>> step = Step("aggregating", {"x": [1, 2, 3]})
    >>> step.began = 10.0
    >>> text_of([step], 13.2)
    'sash: aggregating 3 rows, 3 s'
    """
    first, last = steps[0], steps[-1]
    rows = _row_count(first.table)
    size = "" if rows is None else f" {rows:,} rows"
    detail = "" if last is first else f": {last.what}"
    return f"sash: {first.what}{size}, {now - first.began:.0f} s{detail}"


class Display:
    """Watches the steps, and shows them while they take long."""

    def __init__(self, after_s: float = _AFTER_S, every_s: float = _EVERY_S) -> None:
        self._after_s, self._every_s = after_s, every_s
        self._thread: threading.Thread | None = None
        self._next_check = 0.0
        self._shown: Any = None
        self._lock = threading.Lock()

    def watch(self, begins: bool) -> None:
        """Start to look at the steps, or remove what is shown."""
        if not begins:
            if self._shown is not None:
                self._hide()
            return
        now = time.monotonic()
        if now >= self._next_check:  # short calls that follow each other do not check again
            self._next_check = now + self._every_s
            if (self._thread is None or not self._thread.is_alive()) and is_on():
                self._thread = threading.Thread(target=self._look, name="sash progress", daemon=True)
                self._thread.start()

    def _look(self) -> None:
        idle = 0
        while True:
            time.sleep(self._every_s)
            with self._lock:
                found = list(activity.steps)
                if not is_on():
                    return
                if not found:
                    idle += 1
                    if idle > 2:  # longer than calls skip the check
                        return
                    continue
                idle = 0
                now = time.monotonic()
                if now - found[0].began >= self._after_s:
                    self._show(text_of(found, now))

    def _show(self, text: str) -> None:
        if self._shown is None:
            self._shown = _Line() if _is_notebook() or not sys.stderr.isatty() else _terminal()
        self._shown.update(text)

    def _hide(self) -> None:
        with self._lock:
            if self._shown is not None:
                self._shown.stop()
                self._shown = None


class _Line:
    """A line of plain text; a notebook replaces it, and a file gets a line every ten seconds."""

    def __init__(self) -> None:
        self._is_replaced, self._width, self._written = _is_notebook(), 0, -_IN_FILES_S

    def update(self, text: str) -> None:
        if self._is_replaced:
            sys.stderr.write(f"\r{text:<{self._width}}")
            self._width = len(text)
        elif time.monotonic() - self._written >= _IN_FILES_S:
            sys.stderr.write(f"{text}\n")
            self._written = time.monotonic()
        sys.stderr.flush()

    def stop(self) -> None:
        if self._is_replaced:
            sys.stderr.write(f"\r{'':<{self._width}}\r")
            sys.stderr.flush()


def _terminal() -> Any:
    """Return a line with a spinner."""
    from rich.console import Console
    from rich.status import Status

    status = Status("sash", console=Console(stderr=True))
    status.start()
    return status


def is_on() -> bool:
    """Return whether work is shown in this process."""
    switch = os.environ.get(SWITCH, "").lower()
    if switch in ("off", "0", "false", "no") or is_spark_worker():
        return False
    return switch in ("on", "1", "true", "yes") or _is_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _is_notebook() -> bool:
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _row_count(table: Any) -> int | None:
    """Return the number of rows of a table in this process; None if it is not known."""
    if isinstance(table, dict):
        table = next(iter(table.values()), [])
    for name in ("num_rows", "height"):
        count = getattr(table, name, None)
        if isinstance(count, int):
            return count
    is_frame = hasattr(table, "iloc") or isinstance(table, list)
    return len(table) if is_frame and not type(table).__module__.startswith("pyspark.") else None


_compiling: list[Step] = []


def _show_compiling(kernel: str, seconds: float | None) -> None:
    if seconds is None:
        _compiling.append(activity.doing(f"compiling {kernel} (once; sash keeps it on disk)"))
        _compiling[-1].__enter__()
    elif _compiling:
        _compiling.pop().__exit__(None, None, None)


activity.watchers.append(Display().watch)
on_compile.append(_show_compiling)
