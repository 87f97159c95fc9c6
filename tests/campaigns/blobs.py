"""Hostile states: every flip of a bit, and changes under a right checksum, must be refused at once or be harmless.

    python -m tests.campaigns.blobs [--mutations N] [--seed N] [--workers N] [--only NAME]

Every bit of ten saved states is turned over: each time `restore` must raise InvalidState. Then states of every kind are
changed at random and wrapped again with the checksum of what they are then. What `restore` does not refuse is used:
rows in, results out, saved and restored again. Numbers may be wrong then; but nothing may hang, crash, grow without
bound, or raise what is no error of sash. Workers run the cases, and are watched: a case that does not end, or ends
its worker, is named by the line that repeats it.
"""

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.campaigns.buckets import buckets
from tests.campaigns.cases import AT_ONCE, Outcome, flips, mutation
from tests.campaigns.figures import record
from tests.campaigns.subjects import Subject, streams, windows

__all__ = ["campaign", "subjects"]

PATIENCE = 60.0  # seconds after which a case hangs; a new type may have to be compiled
MOST_BYTES = 3 << 30  # of a worker
FLIPPED = (
    "daba_lite sum 45",
    "fiba scattered",
    "foa words 45",
    "stream of grids",
    "stream of rows",
    "stream with lateness",
    "stream of values",
    "stream of time",
    "stream of floats",
    "bucket of windows",
)


def subjects() -> list[Subject]:
    """All that can be saved."""
    return [*windows(), *streams(), *buckets()]


# --- workers, and who watches them -----------------------------------------------------------------


def _work(only: str, seed: str, cases: Any, done: Any, current: Any) -> None:
    known = [each for each in subjects() if only in each.name]
    for each in known:
        each.use(each.restore(each.blob))  # compiled from here on
    while True:
        begin, end = cases.get()
        outcome = Outcome()
        for case in range(begin, end):
            current[0], current[1] = case, time.monotonic()
            outcome.add(mutation(known[case % len(known)], f"{seed}.{case}", AT_ONCE))
        current[0] = -1
        done.put((begin, end, outcome))


class _Worker:
    def __init__(self, only: str, seed: str, context: Any) -> None:
        self.cases, self.done = context.SimpleQueue(), context.SimpleQueue()
        self.current = context.Array("d", [-1, 0], lock=False)
        self.process = context.Process(
            target=_work, args=(only, seed, self.cases, self.done, self.current), daemon=True
        )
        self.process.start()
        self.chunk: tuple[int, int] | None = None

    def wrong(self) -> str | None:
        """Why the case at hand does not go on."""
        if not self.process.is_alive():
            return f"crash (exit code {self.process.exitcode})"
        if self.current[0] >= 0 and time.monotonic() - self.current[1] > PATIENCE:
            return "hang"
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except OSError:
            return None
        return "memory" if 4096 * pages > MOST_BYTES else None


def campaign(mutations: int, seed: str, workers: int, only: str) -> Outcome:
    """All cases, by workers that are replaced when a case ends them."""
    context = multiprocessing.get_context("spawn")
    total, hung, begun = Outcome(), {"crash": 0, "hang": 0, "memory": 0}, time.monotonic()
    left = [(begin, min(begin + 200, mutations)) for begin in range(0, mutations, 200)][::-1]
    pool = [_Worker(only, seed, context) for _ in range(workers)]
    finished, told = 0, time.monotonic()
    while finished < mutations:
        time.sleep(0.02)
        for place, worker in enumerate(pool):
            if worker.chunk is None and left:
                worker.chunk = left.pop()
                worker.cases.put(worker.chunk)
            if worker.chunk is not None and not worker.done.empty():
                begin, end, outcome = worker.done.get()
                total.add(outcome)
                for fault in outcome.faults:
                    print(fault, flush=True)
                finished, worker.chunk = finished + end - begin, None
            wrong = worker.wrong()
            if wrong is not None:
                case = int(worker.current[0])
                if case < 0:
                    raise SystemExit(f"a worker ended before its first case: {wrong}")
                print(f"{wrong}: case {seed}.{case}", flush=True)
                total.faults.append(f"{wrong} {case}")
                hung[wrong.split()[0]] += 1
                worker.process.kill()
                pool[place] = _Worker(only, seed, context)
                if worker.chunk is not None:
                    begin, end = worker.chunk
                    finished += max(0, case - begin) + 1  # those before it in its chunk were well
                    if case + 1 < end:
                        left.append((case + 1, end))
        if time.monotonic() - told > 20:
            told = time.monotonic()
            print(f"{finished:,} of {mutations:,} in {told - begun:.0f} s", flush=True)
    for worker in pool:
        worker.process.kill()
    total.ended = hung
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="part of the name of a state")
    parser.add_argument("--case", type=int, help="one case, here and now")
    parser.add_argument("--no-flips", action="store_true")
    given = parser.parse_args()
    known = [each for each in subjects() if given.only in each.name]
    if given.case is not None:
        subject = known[given.case % len(known)]
        subject.use(subject.restore(subject.blob))
        print(subject.name, mutation(subject, f"{given.seed}.{given.case}", AT_ONCE))
        return 0
    turned = Outcome()
    for subject in known if not given.no_flips else []:
        if subject.name in FLIPPED:
            turned.add(flips(subject, range(8 * len(subject.blob)), AT_ONCE))
            print(f"{subject.name}: {8 * len(subject.blob):,} bits", flush=True)
    outcome = campaign(given.mutations, given.seed, given.workers, given.only)
    for fault in turned.faults[:20]:
        print(fault)
    slowest, wrong = max(turned.slowest, outcome.slowest), len(turned.faults) + len(outcome.faults)
    figures = (
        f"{turned.refused:,} flips, {given.mutations:,} mutations ({outcome.refused:,} refused, "
        f"{outcome.harmless:,} harmless), slowest refusal {1e3 * slowest:.0f} ms; {outcome.ended['hang']} hangs, "
        f"{outcome.ended['crash']} crashes, {outcome.ended['memory']} out of memory, {wrong} faults; seed {given.seed}"
    )
    print(f"damaged states: {figures}")
    if not wrong and not given.only and not given.no_flips:
        record("damaged states", "make fuzz", figures)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
