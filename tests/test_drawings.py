"""Pictures are what the code draws, and can be read."""

from functools import cache
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from docs.drawings.canvas import Canvas
from docs.drawings.gallery import PICTURES
from docs.drawings.spans import PI, Run

from sash.swag.catalog import ALGORITHMS
from sash.swag.facts import Needs, Sizes

DOCS = Path(__file__).parents[1] / "docs"
MARK = "{http://www.w3.org/2000/svg}"
every_picture = pytest.mark.parametrize("name", PICTURES)


@cache
def drawn(name: str) -> Canvas:
    return PICTURES[name]()


@every_picture
def test_the_picture_in_the_docs_is_what_the_code_draws(name: str) -> None:
    shown = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn(name).svg() == shown, "run: python -m docs.drawings"


@every_picture
def test_a_picture_is_drawn_the_same_twice(name: str) -> None:
    assert drawn(name).svg() == PICTURES[name]().svg()


@every_picture
def test_a_picture_is_well_formed_and_inside_its_frame(name: str) -> None:
    root = ET.fromstring(drawn(name).svg())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert root.tag == f"{MARK}svg"
    assert root.find(f"{MARK}title") is not None
    for shape in root:
        for across, down in (("x", "y"), ("x1", "y1"), ("x2", "y2"), ("cx", "cy")):
            if across in shape.attrib:
                x, y = float(shape.attrib[across]), float(shape.attrib[down])
                assert 0 <= x <= x + float(shape.attrib.get("width", 0)) <= width, shape.attrib
                assert 0 <= y <= y + float(shape.attrib.get("height", 0)) <= height, shape.attrib


@every_picture
def test_words_neither_leave_the_picture_nor_cover_each_other(name: str) -> None:
    canvas = drawn(name)
    for label in canvas.labels:
        assert label.left > 0
        assert label.right < canvas.width, label
    assert [(a.words, b.words) for a, b in combinations(canvas.labels, 2) if a.covers(b)] == []


@pytest.mark.parametrize("name", [name for name, each in ALGORITHMS.items() if each.facts.sizes is not Sizes.FIXED])
def test_the_state_that_is_drawn_is_that_of_a_right_answer(name: str) -> None:
    run = Run(name)
    fold = sum if ALGORITHMS[name].facts.needs is Needs.INVERT else max
    for _ in range(30):
        answer, parts = run.slide(1).query()
        assert answer.value == fold(PI[run.oldest : run.newest])
        assert all(part.value == fold(PI[part.start : part.end]) for part in parts)


def test_every_algorithm_has_a_picture_and_every_picture_a_page() -> None:
    how = (DOCS / "how_it_works.md").read_text(encoding="utf-8")
    pages = how + (DOCS / "windows.md").read_text(encoding="utf-8")
    assert [name for name in ALGORITHMS if f"(pictures/{name}.svg)" not in how] == []
    assert [name for name in PICTURES if f"(pictures/{name}.svg)" not in pages] == []
