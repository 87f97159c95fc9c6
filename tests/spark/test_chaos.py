"""Drivers, executors and workers are killed, and every result is in the sink once.

The quick tests kill a few. `make chaos` kills many, by SASH_CHAOS_KILLS; SASH_CHAOS_SEED says which and when.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.spark.chaos.killing import Survival, Victim, difference, survive, wanted_rows

VICTIMS = pytest.mark.parametrize("victim", Victim, ids=lambda victim: victim.value)
SEED = int(os.environ.get("SASH_CHAOS_SEED", "1"))
_AT_ONCE = 6  # kills from the first row of a job to its last


def check(found: Survival, victim: Victim, kills: int) -> None:
    wrong = difference(found.rows, wanted_rows())
    assert not wrong, f"{wrong} ({found})"
    assert len(found.hits) == kills, found
    if victim is Victim.DRIVER:
        assert found.lives == kills + 1
    else:
        assert found.lost >= kills, f"Spark has not noticed ({found})"


@VICTIMS
def test_every_result_is_sent_once_whatever_is_killed(victim: Victim, tmp_path: Path) -> None:
    check(survive(tmp_path / "job", victim, kills=3, seed=SEED), victim, kills=3)


@pytest.mark.long
def test_a_job_that_is_left_alone_answers_as_a_table_does(tmp_path: Path) -> None:
    found = survive(tmp_path / "job", Victim.WORKER, kills=0, seed=SEED)
    assert (found.lives, found.lost) == (1, 0)
    assert not difference(found.rows, wanted_rows())


@pytest.mark.long
@VICTIMS
def test_every_result_is_sent_once_after_many_kills(victim: Victim, tmp_path: Path) -> None:
    left = int(os.environ.get("SASH_CHAOS_KILLS", "6"))
    job = 0
    while left:
        kills = min(left, _AT_ONCE)
        found = survive(tmp_path / f"{job}", victim, kills, seed=1000 * SEED + job)
        sys.stdout.write(f"{victim.value}: {found}\n")  # shown by `pytest -s`
        check(found, victim, kills)
        left, job = left - kills, job + 1
