"""Every kind of the catalog against the oracle: lateness, revisions, restarts, changed queries, inspection."""

import random
from typing import Any

import pytest

import sash
from sash.engine.inspection import next_end, open_count, open_windows
from sash.kinds.catalog import KINDS
from sash.kinds.kind import Kind
from tests.engine.descriptions import Row, parse
from tests.engine.extents import Now, extents
from tests.engine.transcripts import subject
from tests.lives.campaign import outcome
from tests.lives.life import PALETTES, drawn
from tests.lives.living import run

# What random lives call the windows of each kind.
LIVED: dict[str, tuple[str, ...]] = {
    "Sliding": ("tumbling", "sliding"),
    "Cumulative": ("cumulative",),
    "Landmark": ("landmark",),
    "Session": ("session",),
    "Punctuated": ("punctuated",),
    "Rows": ("rows",),
    "LastRows": ("last_rows",),
    "LastTime": ("last_time",),
    "Calendar": ("berlin_days", "berlin_weeks", "months", "growing_days"),
    "Listed": ("listed",),
    "ContextFreeWindow": ("weeks",),
    "ForwardFreeWindow": ("parities", "echoes"),
    "MarkedWindow": ("switches",),
    "ContextAwareWindow": ("elevens",),
}
# Windows whose edges are known while they are open.
OPEN = (
    "tumbling 10 offset 3",
    "sliding 10 every 3 offset -1",
    "sliding 3 every 7",
    "cumulative 12 every 4",
    "landmark start 5 end 25",
    "session gap 4",
    "weeks",
)
SEEDS = range(20)  # `make fuzz` lives more


def test_every_kind_of_the_catalog_is_lived() -> None:
    assert {kind.describes.__name__ for kind in KINDS} == set(LIVED)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.describes.__name__)
def test_a_kind_sends_what_the_oracle_sends(kind: type[Kind]) -> None:
    for seed in SEEDS:
        life = drawn(seed, palettes=PALETTES[:1], kinds=LIVED[kind.describes.__name__])
        wrong = outcome(life, run)
        assert wrong is None, f"seed {seed}\n{wrong}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.describes.__name__)
def test_lives_of_a_kind_hold_lateness_updates_and_changes(kind: type[Kind]) -> None:
    lives = [drawn(seed, palettes=PALETTES[:1], kinds=LIVED[kind.describes.__name__]) for seed in SEEDS]
    assert any(life.lateness for life in lives) and any(life.emit == "updates" for life in lives)
    done = {type(action).__name__ for life in lives for action in life.actions}
    assert done == {"Push", "Add", "Remove", "Restore"}


@pytest.mark.parametrize("text", OPEN)
@pytest.mark.parametrize("seed", range(6))
def test_inspection_shows_the_windows_that_the_oracle_holds_open(text: str, seed: int) -> None:
    dice = random.Random(seed)
    positions = sorted(dice.randint(-10, 40) for _ in range(dice.randint(1, 12)))
    watermark = dice.choice([positions[0], positions[len(positions) // 2], positions[-1] + 1])
    query = parse(f"count() over {text}")
    rows = [Row(position, place, (), {}) for place, position in enumerate(positions)]
    now = Now(watermark, watermark, positions[-1])
    wanted = [(each.start, each.end) for each in extents(query.window, rows, now) if not each.due and each.rows]
    if "session" in text:  # one whose end is the watermark is open still, but no window ends there any more
        wanted = [(start, end) for start, end in wanted if end is not None and end > watermark]
    plan, state = held(subject("q", query), positions, watermark)
    shown = open_windows(plan, state)
    assert sorted(zip(shown["window_start"].to_pylist(), shown["window_end"].to_pylist(), strict=True)) == wanted
    ends = [end for _, end in wanted]
    assert next_end(plan, state) in (None, min((end for end in ends if end is not None), default=None))
    on_a_grid = text.startswith(("tumbling", "sliding", "cumulative"))  # others count one for each key
    assert open_count(plan, state) >= (len(wanted) if on_a_grid else min(1, len(wanted)))


def held(query: Any, positions: list[int], watermark: int) -> tuple[Any, Any]:
    stream = sash.Stream(query, on="t")
    stream.push({"t": positions})
    stream.push({}, watermark=watermark)
    assert stream.plan is not None and stream.state is not None
    return stream.plan, stream.state
