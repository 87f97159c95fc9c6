"""One hostile state: refused at once, or harmless."""

import math
import random
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sash.errors import InvalidState, SashError
from tests.campaigns.mutations import flipped, mutated
from tests.campaigns.subjects import Subject

__all__ = ["AT_ONCE", "Outcome", "flips", "mutation"]

AT_ONCE = 0.05  # seconds that a refusal may take


@dataclass
class Outcome:
    """What became of some cases."""

    refused: int = 0
    harmless: int = 0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)
    ended: dict[str, int] = field(default_factory=dict)  # workers, and by what

    def add(self, other: "Outcome") -> None:
        self.refused += other.refused
        self.harmless += other.harmless
        self.slowest = max(self.slowest, other.slowest)
        self.faults += other.faults


def _refusal(subject: Subject, blob: bytes) -> tuple[float, BaseException | None, Any]:
    begin = time.thread_time()  # of this thread: others may keep the machine busy
    try:
        found = subject.restore(blob)
    except BaseException as error:
        return time.thread_time() - begin, error, None
    return time.thread_time() - begin, None, found


def _timed(subject: Subject, blob: bytes, within: float) -> tuple[float, BaseException | None, Any]:
    """At its fastest, so that a pause of the interpreter is not taken for the restore's."""
    taken, error, found = _refusal(subject, blob)
    for _ in range(5):
        if taken > within:
            taken = min(taken, _refusal(subject, blob)[0])
    return taken, error, found


def flips(subject: Subject, bits: Iterable[int], within: float = math.inf) -> Outcome:
    """Bits turned over: the checksum tells."""
    outcome = Outcome()
    for bit in bits:
        taken, error, _ = _timed(subject, flipped(subject.blob, bit), within)
        outcome.slowest = max(outcome.slowest, taken)
        if isinstance(error, InvalidState) and taken <= within:
            outcome.refused += 1
        else:
            outcome.faults.append(f"{subject.name}, bit {bit}: {error!r} after {1e3 * taken:.0f} ms")
    return outcome


def mutation(subject: Subject, seed: str, within: float = math.inf) -> Outcome:
    """One change under a right checksum."""
    blob = mutated(subject.blob, random.Random(f"{seed} {subject.name}"))
    taken, error, found = _timed(subject, blob, within)
    if taken > within:
        return Outcome(faults=[f"{subject.name}, case {seed}: restore took {1e3 * taken:.0f} ms"])
    if error is not None:
        if isinstance(error, InvalidState):
            return Outcome(refused=1, slowest=taken)
        return Outcome(faults=[f"{subject.name}, case {seed}: restore raised {error!r}"])
    try:
        subject.use(found)
    except SashError:
        pass
    except BaseException as foreign:
        return Outcome(faults=[f"{subject.name}, case {seed}: {foreign!r} in use"])
    return Outcome(harmless=1, slowest=taken)
