"""What a person would really do wrong, without Spark: each gets one sentence that tells the fix."""

import pytest

from tests.refusals import rows
from tests.refusals.calls import CALLS
from tests.refusals.case import check
from tests.refusals.engines import IN_PROCESS, TABLE, Engine, Explained, InStream
from tests.refusals.joins import JOINS

TABLES = pytest.mark.parametrize("engine", IN_PROCESS, ids=lambda engine: engine.name)


@TABLES
@pytest.mark.parametrize("name", rows.EVERY | rows.TABLES)
def test_tables_of_every_kind_refuse_a_wrong_question(engine: Engine, name: str) -> None:
    check((rows.EVERY | rows.TABLES)[name], engine)


@pytest.mark.parametrize("name", rows.EVERY | rows.STREAMS | rows.ORDERED)
def test_a_stream_refuses_a_wrong_question(name: str) -> None:
    check((rows.EVERY | rows.STREAMS | rows.ORDERED)[name], InStream("a stream", TABLE))


@pytest.mark.parametrize("name", [name for name in rows.EVERY if not name.startswith("late=")])
def test_a_plan_is_refused_as_its_results_are(name: str) -> None:
    check(rows.EVERY[name], Explained("a plan", TABLE))


@TABLES
@pytest.mark.parametrize("name", rows.FRAMES)
def test_tables_of_every_kind_refuse_wrong_frames(engine: Engine, name: str) -> None:
    check(rows.FRAMES[name], engine)


@TABLES
@pytest.mark.parametrize("name", JOINS)
def test_tables_of_every_kind_refuse_wrong_joins(engine: Engine, name: str) -> None:
    check(JOINS[name], engine)


@TABLES
@pytest.mark.parametrize("name", rows.TEXTS)
def test_tables_of_every_kind_refuse_wrong_text(engine: Engine, name: str) -> None:
    check(rows.TEXTS[name], engine)


# Only the compiler finds these before there are rows.
NEEDS_TYPES = {"own: combine of another type", "own: lift of nothing", "own: fractions in a whole number"}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.only_compiled) if each in NEEDS_TYPES else each for each in CALLS]
)
def test_a_wrong_call_is_one_sentence_with_the_fix(name: str) -> None:
    check(CALLS[name])
