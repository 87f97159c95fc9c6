"""The smallest life that still fails, and the script that shows it.

Each try leaves something out: actions, queries, rows, aggregates, options. What still fails is taken, until nothing
more can go or the time is over.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.engine.descriptions import number
from tests.lives.life import Action, Add, Life, Push, Remove, Restore
from tests.lives.living import change, length, limits_of, oracle_of, position, rows_of

__all__ = ["script", "shrunk"]


def shrunk(life: Life, fails: Callable[[Life], bool], seconds: float = 60) -> Life:
    """A life that fails and of which nothing can be left out."""
    until = time.monotonic() + seconds
    is_smaller = True
    while is_smaller and time.monotonic() < until:
        is_smaller = False
        for candidate in _smaller(life):
            if time.monotonic() > until:
                break
            if _is_sound(candidate) and fails(candidate):
                life, is_smaller = candidate, True
                break
    return life


def _is_sound(life: Life) -> bool:
    """Whether queries that are removed are there, and a restart has one in common."""
    names = dict(life.queries)
    for action in life.actions:
        if isinstance(action, Remove):
            if names.pop(action.name, None) is None:
                return False
        elif isinstance(action, Add):
            if action.name in names:
                return False
            names[action.name] = action.query
        elif isinstance(action, Restore):
            if not action.queries or not set(names) & {name for name, _ in action.queries}:
                return False
            names = dict(action.queries)
        if not names:
            return False
    return bool(life.queries)


def _smaller(life: Life) -> Iterator[Life]:
    actions = life.actions
    size = len(actions) // 2
    while size:
        for at in range(0, len(actions), size):
            yield replace(life, actions=actions[:at] + actions[at + size :])
        size //= 2
    for name, _ in life.queries:
        yield _without_query(life, name)
    for action in actions:
        if isinstance(action, Add):
            yield _without_query(life, action.name)
        if isinstance(action, Restore):
            for name, _ in action.queries:
                yield _without_query(life, name)
    for at, action in enumerate(actions):
        for simpler in _simpler(action):
            yield replace(life, actions=(*actions[:at], simpler, *actions[at + 1 :]))
    plain: dict[str, Any] = {
        "low_limits": False,
        "emit": "final",
        "lateness": 0,
        "delay": None,
        "by": (),
        "store": "auto",
    }
    for option, value in plain.items():
        if getattr(life, option) != value:
            yield replace(life, **{option: value})
    for name, text in life.queries:
        for shorter in _shorter(text):
            yield _with_text(life, name, shorter)


def _simpler(action: Action) -> Iterator[Action]:
    if not isinstance(action, Push):
        return
    if action.watermark is not None:
        yield replace(action, watermark=None)
    for at in range(len(action.rows)):
        yield replace(action, rows=action.rows[:at] + action.rows[at + 1 :])
    plain = {"k": "k0", "g": 1, "new": False, "end": False, "x": 1, "y": 0.0, "s": "a", "b": b"a", "d": None, "w": None}
    for at, row in enumerate(action.rows):
        for name, value in plain.items():
            if row[name] is not value and row[name] != value:
                yield replace(action, rows=(*action.rows[:at], {**row, name: value}, *action.rows[at + 1 :]))


def _shorter(text: str) -> Iterator[str]:
    aggregates, _, window = text.partition(" over ")
    calls = [each + ")" for each in aggregates.rstrip(")").split("), ")]
    for at in range(len(calls)):
        if len(calls) > 1:
            yield f"{', '.join(calls[:at] + calls[at + 1 :])} over {window}"


def _with_text(life: Life, name: str, text: str) -> Life:
    def swapped(queries: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((own, text if own == name else old) for own, old in queries)

    actions = (
        replace(each, queries=swapped(each.queries))
        if isinstance(each, Restore)
        else replace(each, query=text)
        if isinstance(each, Add) and each.name == name
        else each
        for each in life.actions
    )
    return replace(life, queries=swapped(life.queries), actions=tuple(actions))


def _without_query(life: Life, name: str) -> Life:
    actions = []
    for action in life.actions:
        if isinstance(action, Add | Remove) and action.name == name:
            continue
        if isinstance(action, Restore):
            action = Restore(tuple(each for each in action.queries if each[0] != name))
        actions.append(action)
    return replace(life, queries=tuple(each for each in life.queries if each[0] != name), actions=tuple(actions))


# --- as a script -------------------------------------------------------------------------------------


def script(life: Life) -> str:
    """A program that lives it and prints what comes out, beside what should."""
    lines = [
        "import datetime, decimal, math",
        "import pyarrow as pa",
        "from sash.limits import Limits",
        "from tests.engine.transcripts import subject, written",
        "from tests.engine.descriptions import parse",
        "from tests.limits import restored, stream_with",
        "from tests.lives import living",
        "from tests.lives.life import Life",
        "Decimal, nan = decimal.Decimal, math.nan",
        "",
        f"life = Life({life.queries!r}, (), unit={life.unit!r})",
        "def queries(*given): return [subject(name, parse(text)) for name, text in given]",
        "",
        f"limits = {limits_of(life)!r}",
        f"stream = stream_with(limits, queries(*{life.queries!r}), on='t', by={list(life.by) or None!r},",
        f"    allowed_lateness=written({length(life, life.lateness)!r}),",
        f"    watermark=written({length(life, life.delay)!r}),",
        f"    in_order={life.in_order}, emit={life.emit!r}, late='keep', store={life.store!r})",
    ]
    oracle = oracle_of(life)
    for action in life.actions:
        change(oracle, action)
        if isinstance(action, Push):
            rows, mark = rows_of(life, action), position(life, action.watermark)
            wanted = oracle.push(rows, None if mark is None else number(mark))
            spelled = "math.inf" if mark == float("inf") else repr(mark)
            lines.append(f"rows = {rows!r}")
            lines.append(f"print(stream.push(living.table(life, rows), watermark={spelled}).to_pylist())")
            lines += [f"#   {each}" for each in wanted]
        elif isinstance(action, Remove):
            lines.append(f"stream.remove({action.name!r})")
        elif isinstance(action, Add):
            lines.append(f"stream.add(*queries(({action.name!r}, {action.query!r})))")
        else:
            lines.append(f"stream = restored(stream, queries(*{action.queries!r}), limits)")
    return "\n".join(lines)
