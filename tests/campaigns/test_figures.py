"""The table of docs/reliability.md is what campaigns recorded."""

from pathlib import Path

import pytest

from tests.campaigns import figures


def test_a_recorded_campaign_takes_the_place_of_its_line_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "RECORDS", tmp_path / "records")
    page = tmp_path / "page.md"
    old = [figures.HEAD, "| lives | `old` | never | none |", "| kills | `make chaos` | once | 90 |"]
    page.write_text("\n".join(["before", figures.BEGIN, *old, figures.END, "after\n"]), "utf-8")
    figures.record("lives", "make fuzz", "200,000 lives, 0 differ")
    assert figures.write(page, tmp_path / "records") == 1
    lines = page.read_text("utf-8").splitlines()
    assert lines[0] == "before" and lines[-1] == "after" and lines[5] == old[2]
    assert lines[4].startswith("| lives | `make fuzz` | 2") and lines[4].endswith("| 200,000 lives, 0 differ |")


def test_the_page_has_a_line_for_every_campaign() -> None:
    table = figures.PAGE.read_text("utf-8").split(figures.BEGIN)[1].split(figures.END)[0]
    names = [line.split("|")[1].strip() for line in table.strip().splitlines()[2:]]
    assert len(names) == len(set(names)) >= 6
