"""Clocks: what they run, never how long it takes."""

import pytest

from benchmarks.timer import best_of, best_of_each, copy_seconds, counts_cycles, cycles_per_second


def test_a_contest_runs_in_turns() -> None:
    calls: list[str] = []
    times = best_of_each({name: lambda name=name: calls.append(name) for name in "ab"}, rounds=3)  # type: ignore[misc]
    assert calls == ["a", "b"] * 3
    assert {name: timing.runs for name, timing in times.items()} == {"a": 3, "b": 3}


def test_a_budget_that_is_spent_ends_the_runs() -> None:
    assert best_of(lambda: None, runs=5, budget=0.0).runs == 1


def test_copying_takes_time() -> None:
    assert copy_seconds(1 << 16) > 0


@pytest.mark.skipif(not counts_cycles(), reason="no cycle counter, or no compiler")
def test_the_counter_counts_forward() -> None:
    assert cycles_per_second() > 0
