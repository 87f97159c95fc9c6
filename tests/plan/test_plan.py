"""What queries share, and what a plan says of itself; nothing is compiled here."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

import sash
from sash.algebra.compiler import JIT_DISABLED
from sash.errors import InvalidInput, InvalidQuery, UnknownName
from sash.plan.plan import Plan

compiled = pytest.mark.skipif(JIT_DISABLED, reason="without the compiler all partials are Python objects")

ROWS: dict[str, list[Any]] = {"t": [0], "k": ["a"], "x": [1], "y": [0.5], "s": ["w"], "new": [True]}


def plan(*queries: sash.Query, **options: Any) -> Plan:
    explained: Plan = sash.explain(ROWS, list(queries), on="t", **options)
    return explained


def fields(planned: Plan) -> list[str]:
    return [each.code for group in planned.groups for each in group.fields]


def over(name: str, window: Any, **aggregates: Any) -> sash.Query:
    return sash.query(name, window, **aggregates)


# --- sharing -------------------------------------------------------------------------------------------


def test_aggregates_of_one_column_are_one_set_of_fields_over_all_queries() -> None:
    spread = plan(over("a", sash.tumbling(10), d=sash.stddev("x")))
    shared = plan(
        over("a", sash.tumbling(10), d=sash.stddev("x")),
        over("b", sash.sliding(10, every=2), m=sash.mean("x")),
        over("c", sash.session(gap=5), s=sash.sum("x"), n=sash.count("x")),
    )
    alone = sum(
        len(fields(plan(over("q", sash.tumbling(10), v=each))))
        for each in (sash.stddev("x"), sash.mean("x"), sash.sum("x"), sash.count("x"))
    )
    assert len(fields(shared)) < alone
    assert len(shared.groups) == 1
    names = [component.name for component in shared.groups[0].components]
    assert len(set(names)) == len(names), "a component is kept twice"
    assert len(fields(spread)) <= len(fields(shared))


def test_asking_for_the_same_aggregate_twice_keeps_it_once() -> None:
    once = plan(over("a", sash.tumbling(10), m=sash.max("x"), s=sash.sum("y")))
    twice = plan(
        over("a", sash.tumbling(10), m=sash.max("x"), s=sash.sum("y"), again=sash.max("x")),
        over("b", sash.tumbling(20), other=sash.sum("y"), peak=sash.max("x")),
    )
    assert fields(once) == fields(twice)
    assert once.bytes_per_slice() == twice.bytes_per_slice()
    assert [each.key for each in once.groups] == [each.key for each in twice.groups], "kernels are compiled twice"


def test_another_column_is_another_field() -> None:
    one = plan(over("a", sash.tumbling(10), m=sash.max("x")))
    both = plan(over("a", sash.tumbling(10), m=sash.max("x"), o=sash.max("y")))
    assert len(fields(both)) > len(fields(one))


@pytest.mark.compiled
@compiled
def test_numbers_and_objects_are_kept_apart() -> None:
    joined = sash.Aggregate("joined", state="O", identity="", lift=str, combine=lambda a, b: a + b)
    both = plan(over("a", sash.tumbling(10), m=sash.max("x"), w=joined("s")))
    assert [group.is_compiled for group in both.groups] == [True, False]
    assert not both.tree.choice


# --- edges -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("windows", "grids"),
    [
        ([sash.tumbling(2), sash.tumbling(4)], [(2, 0)]),
        ([sash.tumbling(4), sash.tumbling(2, offset=1)], [(2, 1), (4, 0)]),
        ([sash.tumbling(4), sash.tumbling(2, offset=-2)], [(2, 0)]),
        ([sash.sliding(10, every=2), sash.tumbling(2)], [(2, 0)]),
        ([sash.sliding(10, every=4)], [(4, 0), (4, 2)]),
        ([sash.cumulative(12, every=3), sash.tumbling(6)], [(3, 0)]),
        ([sash.tumbling(10, offset=-16), sash.tumbling(10, offset=-6), sash.tumbling(10, offset=4)], [(10, 4)]),
        ([sash.session(gap=3), sash.tumbling(rows=3)], []),
    ],
    ids=lambda each: "; ".join(map(str, each)),
)
def test_edges_that_another_window_has_are_left_out(windows: list[Any], grids: list[tuple[int, int]]) -> None:
    edges = plan(*(over(f"q{k}", each, n=sash.count()) for k, each in enumerate(windows))).edges
    assert list(zip(edges.step.tolist(), edges.phase.tolist(), strict=True)) == grids


def test_a_landmark_has_two_fixed_edges() -> None:
    edges = plan(over("q", sash.landmark(start=5, end=9), n=sash.count())).edges
    assert edges.points.tolist() == [5, 9]


# --- what it says of itself --------------------------------------------------------------------------------


def test_explain_says_what_is_kept_and_why() -> None:
    text = str(
        plan(
            over("hourly", sash.sliding(60, every=1), peak=sash.max("x"), mean=sash.mean("x")),
            over("recent", sash.sliding(rows=10, every=5), last=sash.last("x")),
            over("visits", sash.session(gap=7), n=sash.count()),
            over("shifts", sash.punctuated("new"), n=sash.count()),
            by="k",
            allowed_lateness=5,
        )
    )
    lines = dict(line.split(maxsplit=1) for line in text.splitlines() if not line.startswith(" "))
    assert lines["stream"] == "on t (integer), by k, any order, lateness 5"
    assert "bytes per slice" in lines["fields"] and "max" in lines["fields"]
    for part in ("by rank, every 5", "more than 7 apart", "where new is true"):
        assert part in lines["slices"]
    assert "wait in order" in lines["rows"] and "because an aggregate does not commute" in lines["rows"]
    assert "because" in lines["store"] and lines["store"].startswith(("lazy", "eager"))
    assert "slices per key" in lines["state"] and "bytes" in lines["state"]
    for name in ("hourly: sliding 60 every 1", "recent: sliding 10 rows every 5", "visits: session gap 7"):
        assert f"query   {name}" in text
    assert text.count("computed by") == 4
    assert "context-free" in text and "forward-context-free" in text


def test_explain_of_a_plain_sum_says_that_rows_are_not_kept() -> None:
    text = str(plan(over("q", sash.tumbling(10), s=sash.sum("x"))))
    assert "not kept, because every aggregate commutes" in text
    assert "lazy" in text and "folding its slices" in text


@pytest.mark.compiled
@compiled
def test_explain_of_windows_with_many_slices_takes_a_tree() -> None:
    text = str(plan(over("q", sash.sliding(6000, every=1), s=sash.sum("x"))))
    assert "eager" in text and "FlatFAT" in text


def test_explain_of_an_ordered_stream_says_so() -> None:
    text = str(plan(over("q", sash.tumbling(10), s=sash.last("x")), in_order=True))
    assert "in order" in text and "not kept" in text


def test_explain_as_html_is_well_formed_and_escapes_names() -> None:
    rows = {"<t>&": [0], "x'\"<b>": [1]}
    query = sash.query("a<script>&", sash.tumbling(10), m=sash.max("x'\"<b>"))
    found = sash.explain(rows, query, on="<t>&")
    html = found._repr_html_()
    table = ET.fromstring(html)
    assert table.tag == "table"
    assert "<script>" not in html
    cells = ["".join(cell.itertext()) for cell in table.iter("td")]
    assert any(cell.startswith("a<script>&: tumbling 10") for cell in cells)
    assert len(cells) == len(str(found).splitlines())


# --- results of one name -----------------------------------------------------------------------------------


def test_results_of_one_name_have_a_type_that_holds_both() -> None:
    mixed = plan(over("a", sash.tumbling(10), v=sash.sum("x")), over("b", sash.tumbling(20), v=sash.mean("x")))
    assert [(name, str(kind)) for name, kind in mixed.results] == [("v", "double")]
    whole = plan(over("a", sash.tumbling(10), v=sash.sum("x")), over("b", sash.tumbling(20), v=sash.count()))
    assert [(name, str(kind)) for name, kind in whole.results] == [("v", "int64")]


def test_results_of_one_name_that_no_type_holds_are_refused() -> None:
    with pytest.raises(InvalidQuery, match="Two queries have a result 'v', one of type string, one of type int64"):
        plan(over("a", sash.tumbling(10), v=sash.max("s")), over("b", sash.tumbling(20), v=sash.count()))


# --- what makes no sense is refused while planning -----------------------------------------------------------


def test_a_punctuation_column_must_be_there_and_boolean() -> None:
    with pytest.raises(UnknownName, match=r"no column 'nw'\. Did you mean 'new'"):
        plan(over("q", sash.punctuated("nw"), n=sash.count()))
    with pytest.raises(InvalidInput, match="'x' of a punctuated window must be boolean, but is"):
        plan(over("q", sash.punctuated("x"), n=sash.count()))


def test_a_result_is_not_named_as_a_key() -> None:
    with pytest.raises(InvalidQuery, match="'k' cannot be the name of a result"):
        plan(over("q", sash.tumbling(10), k=sash.count()), by="k")


@pytest.mark.parametrize("name", ["query", "window_start", "window_end", "revision"])
def test_a_key_is_not_named_as_a_column_of_every_result(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{name}' cannot be in `by`"):
        sash.explain({"t": [0], name: [1]}, over("q", sash.tumbling(10), n=sash.count()), on="t", by=name)


def test_plans_of_the_same_queries_have_one_fingerprint_and_others_another() -> None:
    one, same = (plan(over("q", sash.tumbling(10), n=sash.count())) for _ in range(2))
    assert one.fingerprint == same.fingerprint
    others = [
        plan(over("q", sash.tumbling(11), n=sash.count())),
        plan(over("q", sash.tumbling(10), n=sash.max("x"))),
        plan(over("q", sash.tumbling(10), n=sash.count()), by="k"),
        plan(over("q", sash.tumbling(10), n=sash.count()), allowed_lateness=1),
        plan(over("q", sash.tumbling(10), n=sash.count()), emit="updates"),
    ]
    assert len({one.fingerprint, *(each.fingerprint for each in others)}) == 6


def test_a_plan_of_built_in_parts_is_made_once() -> None:
    def plan(window: Any, rows: Any, **options: Any) -> Any:
        return sash.explain(rows, sash.query("q", window, n=sash.sum("x")), on="t", **options)

    whole, real = {"t": [0], "x": [1]}, {"t": [0], "x": [1.0]}
    first = plan(sash.tumbling(10), whole)
    assert plan(sash.tumbling(10), whole) is first
    assert plan(sash.tumbling(10.0), whole).queries[0].text == "q: tumbling 10.0: n=sum('x')"
    assert plan(sash.tumbling(10), real).columns != first.columns
    assert plan(sash.tumbling(10), {"t": [0.0], "x": [1]}).measure != first.measure
    assert plan(sash.tumbling(10), whole, allowed_lateness=5).lateness == 5


def test_a_plan_with_a_users_function_is_made_anew() -> None:
    def plan() -> Any:
        mine = sash.Aggregate("mine", state="f8", identity=0.0, lift=lambda x: x, combine=lambda a, b: a + b)
        return sash.explain({"t": [0], "x": [1.0]}, sash.query("q", sash.tumbling(10), n=mine("x")), on="t")

    assert plan() is not plan()
