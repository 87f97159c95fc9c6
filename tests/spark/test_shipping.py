"""The package goes to executors whole, and nothing of it stays behind on the driver."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIP = """
import sys, zipfile
import sash.spark

class Session:
    def addArtifacts(self, path, pyfile):
        assert pyfile
        shipped.append((path, open(path, "rb").read()))

shipped = []
for _ in range(2):
    sash.spark.ship(Session())
(path, first), (_, second) = shipped
assert first == second
assert zipfile.ZipFile(path).testzip() is None
print(*sorted(zipfile.ZipFile(path).namelist()), sep="\\n")
with open(sys.argv[1], "wb") as copy:
    copy.write(first)
"""


def shipped(copy: Path, folder: Path, path: Path) -> list[str]:
    """What a process ships that imports sash from `path` and has `folder` for its temporary files."""
    folder.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", SHIP, str(copy)],
        env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(path), "SASH_CACHE_DIR": "off"},
        cwd=copy.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.splitlines()


@pytest.mark.only_compiled
def test_the_package_is_shipped_whole_and_leaves_nothing_behind(tmp_path: Path) -> None:
    source = ROOT / "src"
    names = shipped(tmp_path / "sash.zip", tmp_path / "temporary", source)
    whole = (each for each in (source / "sash").rglob("*") if each.is_file() and each.suffix != ".pyc")
    assert names == sorted(str(each.relative_to(source)) for each in whole)
    assert "sash/syntax/grammar.lark" in names  # workers parse the conditions of aggregates and query text
    assert not list((tmp_path / "temporary").iterdir())

    again = shipped(tmp_path / "again.zip", tmp_path / "temporary again", tmp_path / "sash.zip")
    assert again == names
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "sash.zip").read_bytes()
    assert not list((tmp_path / "temporary again").iterdir())
