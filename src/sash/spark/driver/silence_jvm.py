"""Silence the pages that the JVM prints whenever Spark plans a Python state operator."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError

__all__ = ["silence_jvm"]


@contextmanager
def silence_jvm(session: Any) -> Iterator[None]:
    """Discard what the JVM prints to stderr, but not its log; do nothing for Spark Connect, which has no JVM here."""
    if not hasattr(session, "_jsparkSession"):
        yield
        return
    java = session.sparkContext._jvm.java
    before = java.lang.System.err
    java.lang.System.setErr(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
    try:
        yield
    finally:
        with suppress(Py4JError, OSError):  # an interrupt may have ended the JVM as well
            java.lang.System.setErr(before)
