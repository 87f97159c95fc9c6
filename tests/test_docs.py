"""What the docs print is what the code says."""

from pathlib import Path

from sash.cli.facts import facts_table

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_algorithms_is_printed_from_the_facts() -> None:
    page = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    assert facts_table().markdown().strip() in page, (
        "run: sash algorithms --markdown, and paste it into docs/algorithms.md"
    )


def test_every_picture_that_a_page_shows_is_there() -> None:
    for page in DOCS.rglob("*.md"):
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("!["):
                assert (page.parent / line.partition("(")[2].rstrip(")")).is_file(), line
