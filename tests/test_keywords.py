"""Unknown keywords of public calls are refused as keywords, with what to write."""

import inspect
from typing import Any

import pytest

import sash
from sash.errors import UnknownKeyword

S: Any = sash  # what is wrong on purpose is wrong to a type checker, too
EVENTS = {"ts": [1, 2, 3], "x": [1.0, 2.0, 3.0], "k": ["a", "b", "a"]}
QUERY = sash.query("q", sash.tumbling(10), n=sash.count())
# Classes that users derive from, use as annotations or get from a call.
NOT_CALLED = {"ContextFreeWindow", "ForwardFreeWindow", "ContextAwareWindow", "MarkedWindow", "Template", "Window"}
NOT_CALLED |= {"FixedWindow", "Frame", "Lookback", "Plan", "Query", "SashError"}


def public_calls() -> list[Any]:
    rooms = [(sash, sash.__all__), (sash.swag, sash.swag.__all__), (sash.laws, sash.laws.__all__)]
    found = [getattr(room, name) for room, names in rooms for name in names if name not in NOT_CALLED]
    return [each for each in found if callable(each) and each is not sash.laws.Counterexample]


@pytest.mark.parametrize("call", public_calls(), ids=lambda call: f"{call.__module__}.{call.__name__}")
def test_every_public_call_refuses_an_unknown_keyword(call: Any) -> None:
    parameters = inspect.signature(call).parameters.values()
    needed: list[Any] = ["x", sash.tumbling(10)] if call is sash.query else [EVENTS] if call is sash.lookback else []
    given: dict[str, Any] = {"rows": 2} if call is sash.frame else {}
    if call in (sash.rolling, sash.join, sash.sql, sash.windowed):
        text = "SELECT MAX(x) AS m FROM t [RANGE 10 SLIDE 10]"
        needed = [{sash.sql: text, sash.windowed: QUERY}.get(call, EVENTS)]
        given = {"on": "ts"}
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
    with pytest.raises(sash.SashError, match=r"no keyword 'no_such'|no option of that name") as error:
        call(*needed, **given, no_such=3)
    assert takes_any or isinstance(error.value, UnknownKeyword)
    assert isinstance(error.value, TypeError)  # what a caller would catch


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: S.aggregate(EVENTS, QUERY, on="ts", key="k"), "no keyword 'key'. Write by='name of a column'"),
        (lambda: S.join(EVENTS, on="ts", lookback="1 hour"), "sash.lookback(events, range='1 hour'"),
        (lambda: S.Stream(QUERY, on="ts", size=5), "in the window of a query, such as sash.query("),
        (lambda: S.sliding(period="1 hour"), "Write rows=100 or size='1 hour'"),
        (lambda: S.aggregate(EVENTS, QUERY, on="ts", window="1 hour"), "in the window of a query"),
        (lambda: S.tumbling(window="1h"), "no keyword 'window'. Write rows=100 or size='1 hour'."),
        (lambda: S.string_agg("x", sep=","), "no keyword 'sep'. Write separator=','."),
        (lambda: S.hyperloglog("x", p=12), "no keyword 'p'. Write precision=12."),
        (lambda: S.tumbling(hours=1), "no keyword 'hours'. Write size='1 hour'."),
        (lambda: S.session(minutes=5), "no keyword 'minutes'. Write gap='30 minutes'."),
        (lambda: S.tumbling(10, every=5), "Write sash.sliding('1 hour', every='1 minute')"),
        (lambda: S.sliding("1 hour", "1 minute"), "but got 2. Pass the others by name: every=…"),
        (lambda: S.session("30 minutes"), "takes no arguments by position, but got 1. Pass them by name: gap=…"),
        (lambda: S.aggregate(EVENTS, QUERY), "needs on: write on='name of a column'"),
        (lambda: S.rolling(table=EVENTS, on="ts"), "pass it first, without a name"),
        (lambda: S.max("x", wher="x > 0"), "Did you mean 'where'?"),
        (lambda: S.swag.slide([1], window=3), "Write size=…"),
        (lambda: S.aggregate(EVENTS, QUERY, on="ts", zzz=1), "It has these: rows, queries, on, by"),
        (lambda: S.why(zzz=1), "It has these: query."),
    ],
)
def test_wrong_arguments_are_refused_with_what_to_write(call: Any, message: str) -> None:
    with pytest.raises(UnknownKeyword) as error:
        call()
    assert message in str(error.value)


def test_type_error_of_a_users_function_is_not_taken_for_a_wrong_call() -> None:
    def lift(x: Any) -> Any:
        return len(x)

    strange = sash.Aggregate("strange", state=("O",), identity=(0,), lift=lift, combine=lambda a, b: a)
    with pytest.raises(sash.errors.InvalidAggregate, match="strange"):
        sash.aggregate({"ts": [1], "x": ["a"]}, sash.query("q", sash.tumbling(10), n=strange("x")), on="ts")
