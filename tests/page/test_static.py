"""The files that the browser gets: vendored ones are as published, and own ones make no HTML of text."""

import hashlib
import re
from pathlib import Path

import pytest

import sash

STATIC = Path(sash.__file__).parent / "page" / "static"
OWN = sorted(path for path in STATIC.rglob("*") if path.is_file() and "vendor" not in path.parts)
UPLOT = STATIC / "vendor" / "uplot"


def test_uplot_is_as_published_and_has_its_licence() -> None:
    pairs = [line.split() for line in (UPLOT / "SHA256SUMS").read_text().splitlines()]
    known = {name: digest for digest, name in pairs}
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in UPLOT.iterdir()}
    del files["SHA256SUMS"]
    assert files == known
    assert (UPLOT / "LICENSE").read_text().startswith("The MIT License")


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_no_file_reaches_out_or_makes_html_of_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    addresses = set(re.findall(r"(?:https?:)?//[\w.]+\.\w{2,}[^\s\"']*", text)) - {"http://www.w3.org/2000/svg"}
    assert not addresses
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
        assert way not in text
    if path.suffix == ".html":
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\ssrc=)", text)  # what the CSP forbids


def test_the_page_refers_to_files_that_exist() -> None:
    named = re.findall(r"(?:src|href)=\"(static/[^\"]+)\"", (STATIC / "index.html").read_text(encoding="utf-8"))
    scripts = [path for path in OWN if path.suffix == ".js"]
    imported = [(path, name) for path in scripts for name in re.findall(r"from \"(\./[^\"]+)\"", path.read_text())]
    assert len(named) >= 4 and len(imported) >= 10
    assert [name for name in named if not (STATIC.parent / name).is_file()] == []
    assert [name for path, name in imported if not (path.parent / name).is_file()] == []
    used = {(path.parent / name).name for path, name in imported} | {Path(name).name for name in named}
    assert {path.name for path in scripts} == {name for name in used if name.endswith(".js")} - {"uPlot.esm.js"}
