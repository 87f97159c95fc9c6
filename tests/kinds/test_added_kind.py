"""A kind of window is one class and one line of the catalog: the one that CONTRIBUTING.md shows is added here."""

import re
from pathlib import Path
from typing import Any

import pytest

import sash
from sash.errors import InvalidWindow
from sash.kinds import catalog

PAGE = Path(__file__).parent.parent.parent / "CONTRIBUTING.md"


@pytest.fixture
def shown() -> dict[str, Any]:
    (code,) = re.findall(r"```python\n(.*?class .*?Kind\(.*?)```", PAGE.read_text("utf-8"), re.S)
    names: dict[str, Any] = {"__name__": "shown"}
    exec(compile(code, PAGE.name, "exec", dont_inherit=True), names)  # our own page
    return names


def test_a_description_without_a_kind_is_refused_by_name(shown: dict[str, Any]) -> None:
    with pytest.raises(InvalidWindow, match="is a Shifts, which is not a known kind of window"):
        sash.aggregate({"t": [1]}, sash.query("q", shown["Shifts"](8, 16), n=sash.count()), on="t")


def test_the_kind_of_the_page_is_added_by_one_line(shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "KINDS", (*catalog.KINDS, shown["ShiftsKind"]))
    shifts = sash.query("shifts", shown["Shifts"](8, 16), n=sash.count(), last=sash.last("t"))
    rows = {"t": [1, 7, 8, 23, 24, 31, 60, -1], "k": list("aabbaaba")}
    found = sash.aggregate(rows, shifts, on="t", by="k").to_pylist()
    assert sorted((each["k"], each["window_start"], each["window_end"], each["n"]) for each in found) == [
        ("a", -16, 0, 1),
        ("a", 0, 8, 2),
        ("a", 24, 32, 2),
        ("b", 8, 24, 2),
        ("b", 56, 72, 1),
    ]
    stream = sash.Stream(shifts, on="t", by="k", allowed_lateness=10)
    assert stream.push({"t": [1, 9], "k": ["a", "a"]}, watermark=8).column("n").to_pylist() == [1]
    stream = sash.Stream.restore(stream.save(), [shifts, sash.query("tens", sash.tumbling(10), n=sash.count())])
    corrected = stream.push({"t": [7], "k": ["a"]}).to_pylist()
    assert [(each["query"], each["window_start"], each["n"], each["revision"]) for each in corrected] == [
        ("shifts", 0, 2, 1)
    ]
    assert stream.finish().select(["query", "window_start", "n"]).to_pylist() == [
        {"query": "shifts", "window_start": 8, "n": 1},
        {"query": "tens", "window_start": 0, "n": 3},
    ]
