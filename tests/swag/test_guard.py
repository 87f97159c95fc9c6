"""One call at a time, of many threads and of functions that a call calls."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

import sash
from sash.errors import CallWithinCall, InvalidAggregate
from sash.swag.catalog import ALGORITHMS

pytestmark = pytest.mark.only_compiled

THREADS = 4


def in_threads(work: Callable[[int], None]) -> None:
    """Run it in some threads at once; what one of them raises is raised."""
    raised: list[BaseException] = []
    ready = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            ready.wait()
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for error in raised:
        raise error


@pytest.mark.parametrize("algorithm", ["two_stacks_lite", "daba_lite", "flat_fat", "fiba"])
def test_threads_that_share_a_window_lose_no_value(algorithm: str) -> None:
    assert algorithm in ALGORITHMS
    window = sash.swag.open(algorithm, sash.sum())
    window.insert(0)

    def work(number: int) -> None:
        for _ in range(200):
            window.insert_many([1, 2, 3])
            window.insert(4)
            window.evict(2)
            window.query()
            window.save()

    in_threads(work)
    assert len(window) == 1 + 2 * 200 * THREADS
    before = window.query()
    window.insert(5)
    assert window.query() == before + 5
    window.evict(len(window) - 1)
    assert window.query() == 5


def test_a_function_that_a_window_calls_cannot_use_it() -> None:
    window: Any = None

    def joined(a: list[Any], b: list[Any]) -> list[Any]:
        window.query()
        return a + b

    window = sash.swag.open(
        "two_stacks_lite", sash.Aggregate("mine", state="O", identity=[], lift=lambda x: [x], combine=joined), dtype="O"
    )
    with pytest.raises(
        InvalidAggregate, match=r"called query\(\) of a window while insert\(\) of the same window was running"
    ) as told:
        window.insert("a")
    assert isinstance(told.value.__cause__, CallWithinCall)
