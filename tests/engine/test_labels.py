"""Streams of strings and decimals: what their state holds, and what becomes of it."""

import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash.errors import InvalidInput, InvalidState, NumberOverflow
from sash.limits import LIMITS
from sash.swag import state_bytes
from tests.limits import restored, stream_with

MAGIC = b"SASHSTR\0"
OF_STRINGS: dict[str, Any] = {
    "low": sash.min("s"),
    "high": sash.max("s"),
    "start": sash.first("s"),
    "end": sash.last("s"),
    "who": sash.argmax("x", "s"),
    "when": sash.argmin("s", "x"),
    "often": sash.max_count("s"),
    "distinct": sash.count_distinct("s"),
    "all": sash.collect("s"),
    "set": sash.collect_distinct("s"),
    "text": sash.string_agg("s", separator="-"),
    "n": sash.count("s"),
    "about": sash.hyperloglog("s"),
}
QUERIES = [
    sash.query("ten", sash.sliding(10, every=5), **OF_STRINGS),
    sash.query("visit", sash.session(gap=1), **OF_STRINGS),
    sash.query("rank", sash.sliding(rows=3, every=2), **OF_STRINGS),
]


def rows(first: int, count: int = 12) -> dict[str, Any]:
    """Rows whose strings come and go."""
    dice = random.Random(first)
    strings = [dice.choice([None, f"{dice.choice('abc')}{(first + k) // 7}", "often"]) for k in range(count)]
    return {
        "t": [first + k for k in range(count)],
        "k": [f"k{k % 2}" for k in range(count)],
        "s": pa.array(strings, pa.string()),
        "x": [dice.randrange(4) for _ in range(count)],
    }


def labels_of(stream: sash.Stream) -> dict[str, int]:
    assert stream.state is not None
    dictionary = stream.state.dictionaries["s"]
    strings = dictionary.decode(dictionary.labels, None, pa.string()).to_pylist()
    return dict(zip(strings, dictionary.labels.tolist(), strict=True))


def strings_of(stream: sash.Stream) -> list[str]:
    return list(labels_of(stream))


@pytest.mark.parametrize("options", [{}, {"allowed_lateness": 6}, {"emit": "updates"}], ids=str)
def test_labelling_anew_changes_no_result(options: dict[str, Any]) -> None:
    wide, narrow = (
        stream_with(replace(LIMITS, label_gap=gap, tree_slices=2), QUERIES, on="t", by="k", watermark=3, **options)
        for gap in (1 << 32, 1)
    )
    relabelled = 0
    for push in range(12):
        before = labels_of(narrow) if push else {}
        given = rows(8 * push)
        assert narrow.push(given).to_pylist() == wide.push(given).to_pylist()
        after = labels_of(narrow)
        relabelled += any(after[each] != before[each] for each in after.keys() & before.keys())
    assert relabelled > 5
    assert narrow.finish().to_pylist() == wide.finish().to_pylist()


def test_strings_that_no_slice_needs_are_dropped() -> None:
    limits = replace(LIMITS, sweep_slices=4, sweep_strings=8)
    stream = stream_with(limits, QUERIES, on="t", by="k", watermark=3, allowed_lateness=4)
    sizes = []
    for push in range(60):
        stream.push(rows(12 * push))
        sizes.append(len(strings_of(stream)))
    assert max(sizes[30:]) < 60 and max(sizes[30:]) <= 2 * max(sizes[:30])
    assert stream.state is not None and stream.state.dictionaries["s"].nbytes < 4000


def test_a_saved_state_has_only_strings_that_it_needs() -> None:
    stream = sash.Stream(sash.query("last", sash.tumbling(10), end=sash.last("s")), on="t", in_order=True)
    stream.push({"t": [1, 2, 3], "s": ["gone", "gone too", "kept"]})
    blob = stream.save()
    assert b"kept" in blob and b"gone" not in blob
    assert strings_of(sash.Stream.restore(blob, stream.queries)) == ["kept"]


def test_a_removed_query_frees_its_strings() -> None:
    queries = [
        sash.query("n", sash.tumbling(100), n=sash.count()),
        sash.query("top", sash.tumbling(100), s=sash.max("s")),
    ]
    stream = sash.Stream(queries, on="t")
    stream.push(rows(0))
    assert stream.state is not None and stream.state.dictionaries.keys() == {"s"}
    stream.remove("top")
    assert stream.state is not None and not stream.state.dictionaries


def test_a_failing_function_leaves_strings_as_they_were() -> None:
    def fail(x: int) -> int:
        if x == 3:
            raise ValueError("three")
        return x

    own = sash.Aggregate("own", state="O", identity=0, lift=fail, combine=lambda a, b: a + b, commutative=True)
    limits = replace(LIMITS, label_gap=1)
    stream = stream_with(limits, sash.query("q", sash.tumbling(100), own=own("x"), s=sash.max("s")), on="t")
    stream.push({"t": [1, 2], "x": [0, 1], "s": ["b", "d"]})
    before = stream.save()
    with pytest.raises(sash.SashError):
        stream.push({"t": [3], "x": [3], "s": ["c"]})
    assert stream.save() == before and strings_of(stream) == ["d"]


def test_results_of_one_name_may_be_of_several_columns() -> None:
    given = {"t": [1, 2], "s": ["b", "a"], "u": ["x", "y"]}
    queries = [
        sash.query("one", sash.tumbling(10), v=sash.max("s")),
        sash.query("other", sash.tumbling(10), v=sash.first("u")),
    ]
    assert sash.aggregate(given, queries, on="t")["v"].to_pylist() == ["b", "x"]
    stream = sash.Stream(queries, on="t")
    stream.push(given)
    assert stream.finish()["v"].to_pylist() == ["b", "x"]


def test_columns_of_strange_names_are_read() -> None:
    stream = sash.Stream(sash.query("q", sash.tumbling(10), v=sash.max("s\0labels"), w=sash.max("s")), on="t")
    stream.push({"t": [1, 2], "s": ["b", "a"], "s\0labels": ["x", "y"]})
    assert stream.finish().select(["v", "w"]).to_pylist() == [{"v": "y", "w": "b"}]


@pytest.mark.parametrize("other", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_later_strings_may_be_of_another_arrow_type(other: Any) -> None:
    stream = sash.Stream(sash.query("q", sash.tumbling(10), v=sash.max("s")), on="t")
    stream.push({"t": [1], "s": pa.array(["b"])})
    stream.push({"t": [2], "s": pa.array(["c"]).cast(other)})
    stream.push({"t": [3], "s": pa.array([None])})
    found = stream.finish()
    assert found["v"].to_pylist() == ["c"] and found.schema.field("v").type == pa.string()


@pytest.mark.parametrize("column", [[1], [b"b"], [Decimal("1.5")]], ids=repr)
def test_later_values_that_are_no_strings_are_refused(column: list[Any]) -> None:
    stream = sash.Stream(sash.query("q", sash.tumbling(10), v=sash.max("s")), on="t")
    stream.push({"t": [1], "s": ["b"]})
    with pytest.raises(InvalidInput, match=r"Column 's' held string so far, but now holds"):
        stream.push({"t": [2], "s": column})
    assert stream.finish()["v"].to_pylist() == ["b"]


def test_sums_and_their_revisions_are_exact() -> None:
    """A pair of rows that cancel changes no sum, so no window is emitted again."""
    query = sash.query("q", sash.tumbling(10), s=sash.sum("d"), m=sash.mean("d"), r=sash.range("d"))
    for kind in (pa.decimal128(10, 2), pa.decimal128(38, 2)):
        stream = sash.Stream(query, on="t", allowed_lateness=100)
        stream.push(
            {"t": [1, 2, 3], "d": pa.array([Decimal("5.00"), Decimal("-5.00"), Decimal("0.00")], kind)}, watermark=10
        )
        assert (
            stream.push({"t": [2, 3, 4], "d": pa.array([Decimal("3.25"), Decimal("-3.25"), Decimal(0)], kind)}).num_rows
            == 0
        )
        changed = stream.push({"t": [2], "d": pa.array([Decimal("0.01")], kind)}).to_pylist()
        assert [(row["s"], row["m"], row["r"], row["revision"]) for row in changed] == [
            (Decimal("0.01"), Decimal("0.001429"), Decimal("10.00"), 1)
        ]


def test_a_sum_that_overflows_on_the_way_is_exact_at_the_end() -> None:
    kind, high = pa.decimal128(38, 0), 9 * Decimal(10) ** 37
    stream = sash.Stream(sash.query("q", sash.tumbling(10), s=sash.sum("d")), on="t")
    stream.push({"t": [1, 2, 3, 4], "d": pa.array([high, high, -high, Decimal(f"-{'8' + '9' * 37}")], kind)})
    assert restored(stream, stream.queries).finish()["s"].to_pylist() == [Decimal(1)]
    stream.push({"t": [5, 6], "d": pa.array([high, high], kind)})
    with pytest.raises(NumberOverflow, match=r"'q.s' overflows decimal\(38, 0\)"):
        stream.finish()


# --- states that are none ------------------------------------------------------------------------


def forged(change: Callable[[dict[str, Any]], Any]) -> bytes:
    stream = sash.Stream(QUERIES, on="t", by="k", allowed_lateness=4)
    for push in range(3):
        stream.push(rows(8 * push), watermark=8 * push)
    content = state_bytes.unpack(stream.save(), MAGIC)
    change(content["state"])
    return state_bytes.pack(content, MAGIC)


def _numbers(state: dict[str, Any], found: str) -> Any:
    """The first saved array whose meaning has this word and that has labels."""
    for layout, saved in zip(state["layout"], state["partials"], strict=True):
        for meaning, values in zip(layout, saved, strict=True):
            own = found in meaning[1] and "s\0labels" in meaning[2] if meaning[0] != "lists" else False
            if own and meaning[-1] == (found == "argmax"):
                return values
    raise AssertionError(found)


@pytest.mark.parametrize("where", ["max", "argmax", "argmin", "first", "lists", "waiting", "emitted"])
def test_a_label_of_no_string_is_refused(where: str) -> None:
    def forge(state: dict[str, Any]) -> None:
        if where == "waiting":
            state["waiting"]["columns"]["s\0labels"][0][:] = 12345
        elif where == "emitted":
            *_, columns = state["emitted"]["ten"]
            columns[0][0][:], columns[0][1][:] = 12345, True
        elif where == "lists":
            lists = next(
                saved
                for layout, saved in zip(state["layout"], state["partials"], strict=True)
                if layout[0][0] == "lists"
            )
            lists[1][:1] = 12345
        else:
            values = _numbers(state, where)
            values[:] = [12345] * len(values)

    with pytest.raises(InvalidState):
        sash.Stream.restore(forged(forge), QUERIES)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("dictionaries"),
        lambda state: state.update(dictionaries=None),
        lambda state: state["dictionaries"].clear(),
        lambda state: state["dictionaries"].update(
            s=(np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.int64), 0)
        ),
        lambda state: state["emitted"]["ten"][4][8][0][0].__setitem__(slice(1, None), 10**9),
        lambda state: state["emitted"]["ten"][4][8][0][0].__setitem__(0, -1),
    ],
)
def test_a_state_without_its_strings_is_refused(change: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(InvalidState):
        sash.Stream.restore(forged(change), QUERIES)
