"""Results of a Spark query that its sink holds: Parquet files that were committed, or a table in memory."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["FileSink", "MemorySink", "sink_of"]


class FileSink:
    """Parquet files on this machine; Spark's log in `_spark_metadata` says which are complete."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._batch = -1  # the last that was read
        self._seen = 0  # entries of the log that were read

    def read(self) -> list[pa.Table]:
        """Return the results of micro-batches that were committed since the last call, oldest first."""
        log = self._folder / "_spark_metadata"
        numbers = sorted({int(each.name.partition(".")[0]) for each in log.glob("[0-9]*")} if log.is_dir() else ())
        files: list[Path] = []
        for number in numbers:
            if number > self._batch:
                files += self._files(log, number)
                self._batch = number
        found: list[pa.Table] = []
        for path in reversed(files):  # the newest first, up to the limit
            if sum(each.num_rows for each in found) >= self._most:
                break
            if path.suffix == ".parquet" and path.exists():
                found.append(pq.read_table(path, partitioning=None))
        return found[::-1]

    def _files(self, log: Path, number: int) -> list[Path]:
        """Return the new files of one micro-batch; a compact log has those of all earlier ones before them."""
        plain, compact = log / str(number), log / f"{number}.compact"
        if not plain.exists() and not compact.exists():
            return []
        entries = [json.loads(line) for line in (plain if plain.exists() else compact).read_text().splitlines()[1:]]
        new = entries if plain.exists() else entries[self._seen :]
        self._seen += len(new)
        return [_path(each["path"]) for each in new if each["action"] == "add"]


class MemorySink:
    """A table in the memory of the driver, under the name of the query."""

    def __init__(self, session: Any, name: str) -> None:
        self._session, self._name = session, name
        self._seen = 0

    def read(self) -> list[pa.Table]:
        """Return the results since the last call."""
        found = self._session.table(self._name).offset(self._seen).toArrow()
        self._seen += found.num_rows
        return [found] if found.num_rows else []


def sink_of(description: str, session: Any, name: str | None, most: int) -> FileSink | MemorySink | None:
    """Return the sink that a report of Spark describes; None for one that cannot be read.

    >>> sink_of("FileSink[file:/data/windows]", None, None, 10)._folder.as_posix()
    '/data/windows'
    >>> sink_of("ForeachBatchSink", None, None, 10)
    """
    kind, _, rest = description.partition("[")
    if kind == "FileSink":
        url = urlparse(rest.rstrip("]"))
        return FileSink(Path(unquote(url.path)), most) if url.scheme in ("", "file") else None
    if kind.startswith("MemorySink") and name is not None and session is not None:
        return MemorySink(session, name)
    return None


def _path(url: str) -> Path:
    return Path(unquote(urlparse(url).path))
