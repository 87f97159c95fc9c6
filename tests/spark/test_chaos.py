"""Drivers, executors and workers are killed, and every result is in the sink once.

The quick tests kill a few. `make chaos` kills many, by SASH_CHAOS_KILLS; SASH_CHAOS_SEED says which and when.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.campaigns.figures import record
from tests.spark.chaos.job import FILES
from tests.spark.chaos.killing import Survival, Victim, difference, survive, wanted_rows

SEED = int(os.environ.get("SASH_CHAOS_SEED", "1"))
_AT_ONCE = 6  # kills from the first row of a job to its last
_FEW_FILES = 4


def check(found: Survival, victims: Sequence[Victim], files: int = FILES) -> None:
    wrong = difference(found.rows, wanted_rows(files))
    assert not wrong, f"{wrong} ({found})"
    assert [each.victim for each in found.hits] == list(victims), found
    drivers = victims.count(Victim.DRIVER)
    assert found.lives > drivers
    assert found.lost >= len(victims) - drivers, f"Spark has not noticed ({found})"


@pytest.mark.parametrize(
    "victims",
    [[Victim.WORKER, Victim.DRIVER], pytest.param([Victim.EXECUTOR], marks=pytest.mark.long)],
    ids=["local", "cluster"],
)
def test_every_result_is_sent_once_whatever_is_killed(victims: list[Victim], tmp_path: Path) -> None:
    """Kill one of each, in a short job: JVMs and micro-batches take the time. `make chaos` kills thirty of each."""
    check(survive(tmp_path / "job", victims, SEED, _FEW_FILES), victims, _FEW_FILES)


@pytest.mark.long
def test_a_job_that_is_left_alone_answers_as_a_table_does(tmp_path: Path) -> None:
    found = survive(tmp_path / "job", (), seed=SEED)
    assert (found.lives, found.lost) == (1, 0)
    assert not difference(found.rows, wanted_rows())


@pytest.mark.long
@pytest.mark.parametrize("victim", Victim, ids=lambda victim: victim.value)
def test_every_result_is_sent_once_after_many_kills(victim: Victim, tmp_path: Path) -> None:
    kills = left = int(os.environ.get("SASH_CHAOS_KILLS", "6"))
    job = 0
    while left:
        victims = [victim] * min(left, _AT_ONCE)
        found = survive(tmp_path / f"{job}", victims, seed=1000 * SEED + job)
        sys.stdout.write(f"{victim.value}: {found}\n")  # shown by `pytest -s`
        check(found, victims)
        left, job = left - len(victims), job + 1
    figures = f"{kills} kills in {job} jobs, every result once; seed {SEED}"
    record(f"killed {victim.value}s", "make chaos", figures)
