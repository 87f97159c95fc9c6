"""The page about the papers: its paths exist, and its tables of figures are those of the findings."""

import re
from pathlib import Path

import pytest

from benchmarks.report.findings import Paper, figure_rows
from benchmarks.report.papers.catalog import PAPERS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_each_finding_of_a_paper_is_on_its_page(paper: Paper) -> None:
    section = PAGE.partition(f"## {paper.title}\n")[2].partition("\n## ")[0]
    assert [line for line in figure_rows(paper) if line not in section.splitlines()] == []


def test_paths_on_the_page_exist() -> None:
    folder, missing = ROOT / "src" / "sash", []
    for line in PAGE.splitlines():
        room = ""
        for path in re.findall(r"`([\w/]+(?:\.py|/)|benchmarks/\w+)`", line):
            room = path.rpartition("/")[0] or room  # a name without a room is in the room of the one before it
            at = path if "/" in path else f"{room}/{path}"
            if not (ROOT / at if at.startswith("benchmarks") else folder / at).exists():
                missing.append(path)
    assert missing == []
