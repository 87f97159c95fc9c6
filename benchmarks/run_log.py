"""The records of a run as lines of JSON, written after each task, so that an interrupted run loses nothing."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from benchmarks.records import Record, parameters

__all__ = ["RunLog"]

NAME = "records.jsonl"


class RunLog:
    """The tasks that are done, and their records."""

    def __init__(self, file: TextIO, known: dict[tuple[str, str], list[Record]]) -> None:
        self._file = file
        self._known = known

    @classmethod
    @contextmanager
    def open(cls, folder: Path, title: str, resume: bool) -> Iterator["RunLog"]:
        """Open the log of a folder; keep what a run of the same title wrote if `resume`, else begin anew."""
        path = folder / NAME
        known = dict(_read(path, title)) if resume and path.exists() else {}
        with path.open("w", encoding="utf-8") as file:
            log = cls(file, {})
            log._write({"title": title})
            for (experiment, label), records in known.items():
                log.add(experiment, label, records)
            yield cls(file, known)

    def find(self, experiment: str, label: str) -> list[Record] | None:
        """Return the records of a task that is done, or None."""
        return self._known.get((experiment, label))

    def add(self, experiment: str, label: str, records: Iterable[Record]) -> None:
        """Write the records of a task."""
        lines = [{**asdict(each), "parameters": dict(each.parameters)} for each in records]
        self._write({"experiment": experiment, "label": label, "records": lines})

    def _write(self, content: dict[str, Any]) -> None:
        self._file.write(json.dumps(content, ensure_ascii=False) + "\n")
        self._file.flush()


def _read(path: Path, title: str) -> Iterator[tuple[tuple[str, str], list[Record]]]:
    """Yield the tasks of a log; a last line that was cut off ends it, and a log of another run has none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        if not lines or json.loads(lines[0]) != {"title": title}:
            return
        for line in lines[1:]:
            content = json.loads(line)
            found = [Record(**{**each, "parameters": parameters(**each["parameters"])}) for each in content["records"]]
            yield (content["experiment"], content["label"]), found
    except json.JSONDecodeError:
        return
