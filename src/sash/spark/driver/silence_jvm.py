"""Spark without the pages that it prints whenever it plans a state operator in Python."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError

__all__ = ["silence_jvm"]


@contextmanager
def silence_jvm(session: Any) -> Iterator[None]:
    """For a while, nothing that the JVM prints on its own; its log still speaks. A session of Connect has no JVM."""
    if not hasattr(session, "_jsparkSession"):
        yield
        return
    java = session.sparkContext._jvm.java
    before = java.lang.System.err
    java.lang.System.setErr(java.io.PrintStream(java.io.OutputStream.nullOutputStream()))
    try:
        yield
    finally:
        with suppress(Py4JError, OSError):  # an interrupt may have ended the JVM, too
            java.lang.System.setErr(before)
