"""Peers roll the same windows, or the contest would be none."""

import importlib
from typing import Any

import numpy as np
import pytest

import sash
from benchmarks.algorithms.comparison import TEMPLATES, peer_tasks
from benchmarks.algorithms.workloads import noise
from benchmarks.baselines.peers import PEERS, installed, missing
from benchmarks.settings import QUICK_ALGORITHMS as QUICK

PAIRS = [(peer, aggregate) for peer, each in PEERS.items() for aggregate in each.rolls]


@pytest.mark.long  # a kernel for each aggregate, and those of other libraries
@pytest.mark.only_compiled
@pytest.mark.parametrize(("name", "aggregate"), PAIRS)
@pytest.mark.parametrize("window", [1, 5])
def test_a_peer_gives_the_answers_of_sash(name: str, aggregate: str, window: int) -> None:
    pytest.importorskip(name)
    column = noise(40)
    values: Any = (column, np.arange(40)) if aggregate == "argmax" else column
    ours = np.ma.filled(sash.swag.slide(values, window, TEMPLATES[aggregate]()).astype(float), np.nan)
    theirs = np.ma.filled(np.ma.asarray(np.asarray(PEERS[name].rolling(aggregate, column, window)(), float)), np.nan)
    if aggregate == "stddev":  # of one value: nothing to some, zero to others
        ours, theirs = ours[1:], theirs[1:]
        if window == 1:
            return
    np.testing.assert_allclose(theirs, ours, rtol=1e-9)


def test_a_peer_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without_polars(name: str, *rest: Any) -> Any:
        if name == "polars":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without_polars)
    assert "polars" in missing()
    assert "polars" not in {peer.name for peer in installed()}
    task = next(iter(peer_tasks(QUICK)))
    records = {record.subject: record for record in task.measure()}
    assert records["polars"].value is None and records["polars"].note == "not installed"
    assert records["sash"].value is not None
