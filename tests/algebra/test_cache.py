"""The cache of kernels serves, heals itself, and stays private."""

import hashlib
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sash.algebra import cache
from sash.algebra.cache import cache_directory
from sash.algebra.compiler import JIT_DISABLED
from tests.sample import sample

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parents[2]
compiled_only = pytest.mark.skipif(JIT_DISABLED, reason="NUMBA_DISABLE_JIT is set: nothing is compiled, nothing cached")

SLIDE = """
import sash
from sash.algebra.cache import cache_directory
from tests.algebra.templates import answers, bound, folded
print([value for value, _ in answers(bound(sash.max(), "i8", False, compiled=True), [[3, 1, 2]], 2)])
stats = [each.stats for each in folded._dispatchers.values()]
print(sum(sum(each.cache_hits.values()) for each in stats), sum(sum(each.cache_misses.values()) for each in stats))
print(cache_directory())
"""


def run(script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, **environment},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )


def slide(folder: Path | str) -> tuple[int, int]:
    """Slides in a process of its own: how many kernels came from the cache and how many were compiled."""
    lines = run(SLIDE, {"SASH_CACHE_DIR": str(folder)}).stdout.splitlines()
    assert lines[0] == "[3, 3, 2]"
    hits, misses = lines[1].split()
    return int(hits), int(misses)


def kernels_in(folder: Path) -> Path:
    """The folder that sash makes in `SASH_CACHE_DIR`."""
    return folder / f"sash-kernels-{os.getuid()}"


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that one process has filled."""
    folder = tmp_path_factory.mktemp("warm") / "cache"
    assert slide(folder) == (0, 1)
    return kernels_in(folder)


@pytest.fixture
def copied(warm: Path, tmp_path: Path) -> Path:
    """A private copy of a warm cache, to be spoilt."""
    folder = kernels_in(tmp_path)
    folder.mkdir(mode=0o700)
    for entry in warm.iterdir():
        (folder / entry.name).write_bytes(entry.read_bytes())
        (folder / entry.name).chmod(0o600)
    return folder


@compiled_only
def test_a_second_process_loads_instead_of_compiling(warm: Path) -> None:
    entries = {entry.name: entry.stat().st_mtime_ns for entry in warm.iterdir()}
    assert len(entries) == 1
    assert slide(warm.parent) == (1, 0)
    assert {entry.name: entry.stat().st_mtime_ns for entry in warm.iterdir()} == entries


@compiled_only
def test_the_cache_is_private_to_its_user(warm: Path) -> None:
    assert stat.S_IMODE(warm.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(entry.stat().st_mode) == 0o600 for entry in warm.iterdir())


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "a bit flipped at the end": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "a bit flipped": lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:],
    "foreign": lambda content: b"not a kernel",
    "well-formed junk": lambda content: cache._MAGIC + hashlib.sha256(b"junk").digest() + b"junk",
}


@compiled_only
@pytest.mark.parametrize("how", sample(SPOILT, ["a bit flipped", "well-formed junk"]))
def test_a_spoilt_entry_is_compiled_anew_and_replaced(copied: Path, how: str) -> None:
    (entry,) = copied.iterdir()
    spoilt = SPOILT[how](entry.read_bytes())
    entry.write_bytes(spoilt)
    assert slide(copied.parent) == (0, 1)
    (entry,) = copied.iterdir()
    content = entry.read_bytes()
    start = len(cache._MAGIC)
    assert content != spoilt and content[start : start + 32] == hashlib.sha256(content[start + 32 :]).digest()


@compiled_only
def test_an_entry_that_was_replaced_is_loaded(copied: Path) -> None:
    (entry,) = copied.iterdir()
    entry.write_bytes(b"")
    assert [slide(copied.parent), slide(copied.parent)] == [(0, 1), (1, 0)]


@compiled_only
def test_an_entry_that_others_could_have_written_is_not_run(copied: Path) -> None:
    (entry,) = copied.iterdir()
    entry.chmod(0o666)
    assert slide(copied.parent) == (0, 1)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    if os.getuid() == 0:
        os.chown(entry, 12345, -1)
        assert slide(copied.parent) == (0, 1)


@compiled_only
def test_nothing_is_kept_when_the_cache_is_off(tmp_path: Path) -> None:
    script = SLIDE + "assert cache_directory() is None\n"
    run(script, {"SASH_CACHE_DIR": "off", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
    assert not list(tmp_path.iterdir())


@compiled_only
def test_a_folder_that_cannot_be_written_costs_a_compilation_and_nothing_else(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert slide(blocked / "kernels") == (0, 1)


@pytest.fixture
def fresh() -> Iterator[None]:
    cache_directory.cache_clear()
    yield
    cache_directory.cache_clear()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o755, 0o700])
def test_a_folder_that_the_user_names_stays_as_it_is(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    monkeypatch.setenv("SASH_CACHE_DIR", str(folder))
    assert cache_directory() == kernels_in(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == mode
    assert stat.S_IMODE(kernels_in(folder).stat().st_mode) == 0o700


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("mode", [0o777, 0o750, 0o701])
def test_kernels_are_not_kept_where_others_can_look_or_write(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels_in(tmp_path).mkdir()
    kernels_in(tmp_path).chmod(mode)
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path))
    assert cache_directory() is None
    assert stat.S_IMODE(kernels_in(tmp_path).stat().st_mode) == mode


@pytest.mark.usefixtures("fresh")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("is_link", [False, True], ids=["folder", "link"])
def test_a_folder_or_a_link_of_someone_else_is_not_used(
    is_link: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = kernels_in(tmp_path)
    if is_link:
        (tmp_path / "mine").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "mine")
    else:
        folder.mkdir(mode=0o700)
    os.chown(folder, 12345, -1, follow_symlinks=False)
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path))
    assert cache_directory() is None


@pytest.mark.usefixtures("fresh")
def test_a_user_without_a_home_keeps_kernels_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SASH_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 987654)  # as in a container: no line in /etc/passwd
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_directory() is None  # made by this user, so it is of someone else to that one
    assert (tmp_path / "sash-987654").is_dir()


@pytest.mark.usefixtures("fresh")
def test_the_folder_is_under_the_users_own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SASH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "sash"
    assert stat.S_IMODE((tmp_path / "sash").stat().st_mode) == 0o700


# --- the package in an archive -----------------------------------------------------------------------------

IN_ARCHIVE = """
import sash, sash.swag
from sash.algebra.cache import KernelCache
compiled = []
save = KernelCache.save_overload
KernelCache.save_overload = lambda self, *given: (compiled.append(self._function.__qualname__), save(self, *given))
assert ".zip" in sash.__file__, sash.__file__
print(sash.swag.slide([3.0, 1.0, 2.0], 2, sash.max()))
print(len(compiled))
"""


def archive(folder: Path, **changed: str) -> Path:
    """The package as an archive; `changed` files have a line more."""
    target = folder / "sash.zip"
    package = ROOT / "src" / "sash"
    with zipfile.ZipFile(target, "w") as file:
        for path in sorted(package.rglob("*.py")):
            file.writestr(f"sash/{path.relative_to(package)}", path.read_text() + changed.get(path.stem, ""))
    return target


def compiled_from(package: Path, folder: Path) -> int:
    """How many kernels a process compiles that imports sash from an archive."""
    given = {"SASH_CACHE_DIR": str(folder), "PYTHONPATH": str(package)}
    lines = run(IN_ARCHIVE, given).stdout.splitlines()
    assert lines[0] == "[3.0, 3.0, 2.0]"
    return int(lines[1])


@compiled_only
def test_kernels_of_a_package_in_an_archive_are_kept(tmp_path: Path) -> None:
    package = archive(tmp_path)
    assert compiled_from(package, tmp_path / "cache") > 0
    assert compiled_from(package, tmp_path / "cache") == 0
    (tmp_path / "elsewhere").mkdir()
    assert compiled_from(package.rename(tmp_path / "elsewhere" / "other.zip"), tmp_path / "cache") == 0


@compiled_only
def test_kernels_of_another_version_in_an_archive_are_compiled_anew(tmp_path: Path) -> None:
    compiled = compiled_from(archive(tmp_path), tmp_path / "cache")
    assert compiled_from(archive(tmp_path, ring="\n# changed\n"), tmp_path / "cache") == compiled > 0


@compiled_only
def test_an_archive_with_kernels_serves_without_compiling(warm: Path, tmp_path: Path) -> None:
    archive = tmp_path / "sash.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for path in sorted((ROOT / "src" / "sash").rglob("*")):
            if path.suffix in (".py", ".lark", ".json"):
                target.write(path, str(path.relative_to(ROOT / "src")))
        for entry in warm.glob("*.kernel"):
            target.write(entry, f"sash/{cache.SHIPPED}/{entry.name}")
    environment = {"PYTHONPATH": os.pathsep.join([str(archive), str(ROOT)])}
    for folder in (str(tmp_path), "off"):
        lines = run(SLIDE, {**environment, "SASH_CACHE_DIR": folder}).stdout.splitlines()
        assert lines[0] == "[3, 3, 2]" and lines[1] == "1 0"


@compiled_only
def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", SLIDE]
    environment = {**os.environ, "SASH_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    lines = [each.communicate()[0].splitlines() for each in both]
    assert [each[0] for each in lines] == ["[3, 3, 2]"] * 2
    assert sorted(each[1] for each in lines) == ["0 1", "1 0"]
    assert [each.suffix for each in kernels_in(tmp_path).iterdir()] == [".kernel"]
