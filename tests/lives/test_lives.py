"""Whole lives of a stream: any queries, rows, disorder, restarts and changes, in any order, against the oracle.

`make fuzz` lives others; a seed that fails there is repeated by `python -m tests.lives.campaign --seed N --lives 1`.
"""

import pytest

from sash.algebra.compiler import JIT_DISABLED
from tests.engine.oracle import Oracle
from tests.lives.campaign import lived, outcome
from tests.lives.life import PALETTES, Add, Life, Push, Remove, Restore, drawn
from tests.lives.living import Difference, run
from tests.lives.shrinking import script, shrunk

pytestmark = pytest.mark.compiled

CHUNK = 50
# Compiling takes the time: compiled, there are two sets of aggregates. `make fuzz` lives 220,000 lives.
STREAMS, BUCKETS, OF_PALETTES = (400, 100, len(PALETTES)) if JIT_DISABLED else (100, 50, 2)


@pytest.mark.parametrize("first", range(0, STREAMS, CHUNK))
def test_a_stream_sends_what_the_oracle_sends_all_its_life(first: int) -> None:
    _, reports = lived((first, CHUNK, False, OF_PALETTES))
    assert not reports, "\n".join(reports)


@pytest.mark.parametrize("first", range(1_000_000, 1_000_000 + BUCKETS, CHUNK))
def test_a_bucket_sends_what_the_oracle_sends_whatever_its_workers_do(first: int) -> None:
    _, reports = lived((first, CHUNK, True, OF_PALETTES))
    assert not reports, "\n".join(reports)


def test_lives_are_not_idle() -> None:
    """They hold every action, kind of window and option often enough to mean something."""
    lives = [drawn(seed) for seed in range(400)]
    actions = [action for life in lives for action in life.actions]
    for kind, least in ((Push, 1500), (Add, 100), (Remove, 50), (Restore, 300)):
        assert sum(isinstance(each, kind) for each in actions) > least, kind
    texts = " ".join(text for life in lives for _, text in life.queries)
    for word in ("tumbling", "session", "rows", "cumulative", "landmark", "punctuated", "weeks", "elevens", "parities"):
        assert texts.count(f"over {word}") + texts.count(f"sliding {word}") > 30, word
    assert sum(life.emit == "updates" for life in lives) > 50 < sum(life.lateness > 0 for life in lives)


def test_a_failing_life_is_made_small_and_printed_as_a_script() -> None:
    life = drawn(5)

    def fails(each: Life) -> bool:
        return any(isinstance(action, Push) and len(action.rows) > 1 for action in each.actions)

    small = shrunk(life, fails)
    (push,) = small.actions
    assert isinstance(push, Push) and len(push.rows) == 2 and len(small.queries) == 1
    assert "stream_with(limits, queries(" in script(small)
    compile(script(small), "script", "exec")


def test_a_wrong_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: of lives in which the oracle forgets a row, most differ."""
    honest = Oracle.push

    def forgetful(self: Oracle, rows, watermark=None):  # type: ignore[no-untyped-def]
        return honest(self, list(rows)[1:], watermark)

    monkeypatch.setattr(Oracle, "push", forgetful)
    wrong = [outcome(drawn(seed, palettes=PALETTES[:OF_PALETTES]), run) for seed in range(40)]
    assert sum(Difference.__name__ in (each or "") for each in wrong) > 25
