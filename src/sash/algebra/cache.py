"""The disk cache of compiled kernels: readable by its user only, written atomically, and never stale."""

import functools
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

from sash.algebra.numba_parts import CacheBase, CompileResult, dump_code

if sys.platform != "win32":
    import fcntl

__all__ = ["SHIPPED", "KernelCache", "cache_directory"]

SHIPPED = "shipped_kernels"  # the folder of kernels in an archive of the package that a driver made

_MAGIC = b"sash-kernel-1\n"
_PATIENCE = 30.0  # seconds to wait for another process; the largest kernel compiles in 4 s on a busy machine


@functools.cache
def source_digest(kernel_file: str, module: str) -> str | None:
    """Return a digest of the source of the packages that kernels call and of the kernel's own package.

    So a changed helper invalidates all kernels. None if there is no source: versions cannot be told apart.
    """
    package, _, _ = __name__.rpartition(".")
    root, _, _ = package.rpartition(".")
    rooms = {package, f"{root}.swag"}
    if module.startswith(f"{root}."):
        rooms.add(module.rpartition(".")[0])
    try:
        paths = (path for room in rooms for path in files(room).iterdir() if path.name.endswith(".py"))
        sources = [(path.name, path.read_bytes()) for path in paths]
        sources.append((Path(kernel_file).name, _source(kernel_file, module)))
    except (OSError, AttributeError):
        return None
    hasher = hashlib.sha256()
    for name, source in sorted(sources):
        hasher.update(name.encode() + b"\0" + source + b"\0")
    return hasher.hexdigest()


def _source(kernel_file: str, module: str) -> bytes:
    """Return the text of a kernel's file, which may be inside an archive."""
    if Path(kernel_file).exists():
        return Path(kernel_file).read_bytes()
    loader: Any = getattr(sys.modules.get(module), "__loader__", None)
    content: bytes = loader.get_data(kernel_file)
    return content


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == _user()


def _is_private(folder: Path) -> bool:
    status = folder.stat()
    is_ours = _is_ours(status) and _is_ours(folder.lstat())  # a link could be turned elsewhere by its owner
    return is_ours and stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077


@functools.cache
def cache_directory() -> Path | None:
    """Return the folder of compiled kernels, which only this user can read or write.

    It is created in the folder `SASH_CACHE_DIR`; `SASH_CACHE_DIR=off` disables the cache. A folder that another user
    owns or can access is not used, since code from the folder is run.
    """
    named = os.environ.get("SASH_CACHE_DIR")
    if named == "off":
        return None
    for folder in [Path(named) / f"sash-kernels-{_user()}"] if named else _unnamed():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_private(folder):
                return folder
        except OSError:
            continue
    return None


def _unnamed() -> Iterator[Path]:
    own = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  # Path.home() may raise
    if not own.startswith("~"):  # in a container, a user may have no home
        yield Path(own) / "sash"
    yield Path(tempfile.gettempdir()) / f"sash-{_user()}"


def _read_private(path: Path) -> bytes | None:
    """Return the content of an entry that nobody else can have written."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not _is_ours(status) or status.st_mode & 0o022:  # left in a folder that was once open to others
                return None
            return file.read()
    except OSError:
        return None


def _read_shipped(name: str) -> bytes | None:
    """Return the content of an entry that a driver sent with the package: it is as trusted as the package itself."""
    package, _, _ = __name__.partition(".")
    try:
        return (files(package) / SHIPPED / name).read_bytes()
    except (OSError, KeyError):
        return None


class _Turn:
    """The right to compile a kernel: workers that need the same one wait for the first, and do not all compile it.

    The operating system ends the turn of a process that dies. A process has one turn at most, since Numba compiles one
    function at a time. A turn that did not end, because a kernel does not compile, ends with the next one.
    """

    def __init__(self) -> None:
        self._file: Any = None
        self._path: Path | None = None

    def take(self, kernel: Path) -> bool:
        """Return True if this process is to compile a kernel, and False if another process has done it meanwhile."""
        self.end()
        if sys.platform == "win32":
            return True  # two processes may compile the same kernel
        path, until = kernel.with_suffix(".turn"), time.monotonic() + _PATIENCE
        try:
            file = path.open("wb")
        except OSError:
            return True
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() < until:
                    time.sleep(0.01)
                    continue
                file.close()
                return not kernel.exists()
            self._file, self._path = file, path
            if kernel.exists():
                self.end()
                return False
            return True

    def end(self) -> None:
        """Let another process compile the kernel."""
        if self._file is not None and self._path is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()
        self._file = self._path = None


_turn = _Turn()


class KernelCache(CacheBase):  # type: ignore[misc]  # numba is untyped
    """One file per kernel and signature, named by everything that its machine code depends on.

    Numba's own cache looks only at the kernel's file, and has an index that concurrent writers can
    damage. Here an entry is written atomically and checked by a digest when it is read. Any fault
    is a cache miss.
    """

    def __init__(self, function: Callable[..., Any], heap: bool) -> None:
        self._function = function
        self._heap = heap
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(cache_directory())

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def _name(self, signature: object, context: Any) -> str | None:
        """Return the name of an entry, which tells all that its code depends on; None if versions have no names."""
        source = source_digest(self._function.__code__.co_filename, self._function.__module__)
        if source is None:  # as of a kernel that was typed into a prompt
            return None
        codegen = context.codegen()
        name = "\0".join(
            (
                source,
                f"{self._function.__module__}.{self._function.__qualname__}",
                f"heap {self._heap}",
                str(signature),
                str(codegen.magic_tuple()),
                sys.version,
                numba.__version__,
                llvmlite.__version__,
                np.__version__,
            )
        )
        return f"{self._function.__name__}-{hashlib.sha256(name.encode()).hexdigest()[:40]}.kernel"

    def has(self, signature: object, target_context: Any) -> bool:
        """Return whether there is an entry of a kernel, right or wrong."""
        name, folder = self._name(signature, target_context), cache_directory()
        if name is None or not self._enabled:
            return False
        return (folder is not None and (folder / name).exists()) or _read_shipped(name) is not None

    def is_being_compiled(self, signature: object, target_context: Any) -> bool:
        """Return whether another process, or thread, has the turn to compile the kernel."""
        name, folder = self._name(signature, target_context), cache_directory()
        if name is None or folder is None or not self._enabled or sys.platform == "win32":
            return False
        try:
            with (folder / name).with_suffix(".turn").open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def load_overload(self, signature: object, target_context: Any) -> object:
        name, folder = self._name(signature, target_context), cache_directory()
        if name is None or not self._enabled:
            return None
        target_context.refresh()
        path = None if folder is None else folder / name
        found = None if path is None else self._load(_read_private(path), target_context)
        if found is None:
            found = self._load(_read_shipped(name), target_context)
        if found is None and path is not None and not _turn.take(path):
            found = self._load(_read_private(path), target_context)  # another process has compiled it meanwhile
        return found

    def _load(self, content: bytes | None, target_context: Any) -> object:
        if content is None:
            return None
        try:
            head, payload = content[: len(_MAGIC) + 32], content[len(_MAGIC) + 32 :]
            if head != _MAGIC + hashlib.sha256(payload).digest():
                return None
            # A cache of machine code in a folder private to its user; state is never read this way.
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # whatever is wrong with an entry, compile again
            return None

    def save_overload(self, signature: object, data: Any) -> None:
        name, folder = self._name(signature, data.target_context), cache_directory()
        if name is None or folder is None or not self._enabled or data.lifted or data.library.has_dynamic_globals:
            return
        path = folder / name
        try:
            payload = dump_code(data._reduce())
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(payload).digest() + payload)
            Path(temporary).replace(path)
        except OSError:  # a full or read-only disk costs a compilation next time, nothing else
            return
        finally:
            _turn.end()
