"""Keep loaded modules out of the garbage collection that Spark runs in Python workers after every task."""

import gc

__all__ = ["freeze_loaded"]

_is_frozen = False


def freeze_loaded() -> None:
    """Freeze what the first task of a worker loaded, so that Spark's gc.collect() after every task skips it.

    The next task waits for that collection: 60 to 90 ms each time with sash and its compiler loaded, and nearly nothing
    after the freeze.
    """
    global _is_frozen
    if not _is_frozen:
        _is_frozen = True
        gc.collect()
        gc.freeze()
