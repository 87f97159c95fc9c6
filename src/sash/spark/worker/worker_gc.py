"""Python workers, settled: Spark has each collect its garbage after every task, and most of what a collector looks at
then is code that was loaded to stay.
"""

import gc

__all__ = ["freeze_loaded"]

_is_settled = False


def freeze_loaded() -> None:
    """At the end of a worker's first task: what is there by now is not looked at again.

    Spark's worker collects between two tasks of a micro-batch, while the next one waits: 60 to 90 ms each time with
    sash and its compiler loaded, and nothing of it afterwards.
    """
    global _is_settled
    if not _is_settled:
        _is_settled = True
        gc.collect()
        gc.freeze()
