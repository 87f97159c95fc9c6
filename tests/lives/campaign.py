"""Random lives for as long as one likes, on all cores.

    python -m tests.lives.campaign [--lives N] [--seed N] [--bucket] [--processes N]

Every life has a seed of its own. One that differs from the oracle is made as small as it goes and printed as a script;
`--seed N --lives 1` repeats it.
"""

import argparse
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial

from sash.algebra.compiler import JIT_DISABLED
from tests.campaigns.figures import record
from tests.lives import bucket, living
from tests.lives.life import PALETTES, Life, drawn
from tests.lives.shrinking import script, shrunk

CHUNK = 50


def outcome(life: Life, live: Callable[[Life], None]) -> str | None:
    """The end of the traceback; None if nothing is wrong."""
    try:
        live(life)
    except Exception as error:
        return "".join(traceback.format_exception(error)[-8:])
    return None


def type_of(wrong: str) -> str:
    """The kind of error, without its words."""
    last = [line for line in wrong.splitlines() if line and not line.startswith((" ", "missing", "too much"))][-1]
    return last.split(":")[0]


def _fails_alike(live: Callable[[Life], None], kind: str, life: Life) -> bool:
    wrong = outcome(life, live)
    return wrong is not None and type_of(wrong) == kind


def lived(work: tuple[int, int, bool, int]) -> tuple[int, list[str]]:
    """A stretch of seeds: how many lives there were, and a report for each that failed."""
    first, count, for_bucket, palettes = work
    live = bucket.run if for_bucket else living.run
    reports = []
    for seed in range(first, first + count):
        life = drawn(seed, for_bucket, PALETTES[:palettes])
        wrong = outcome(life, live)
        if wrong is not None:
            small = shrunk(life, partial(_fails_alike, live, type_of(wrong)))
            reports.append(f"seed {seed}: {outcome(small, live)}\n{script(small)}\n")
    return count, reports


def _stretches(first: int, lives: int, for_bucket: bool, palettes: int) -> Iterator[tuple[int, int, bool, int]]:
    for at in range(0, lives, CHUNK):
        yield first + at, min(CHUNK, lives - at), for_bucket, palettes


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lives", type=int, default=200_000)
    options.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"), help="of the first life")
    options.add_argument("--bucket", action="store_true", help="lives of a bucket on Spark, without Spark")
    options.add_argument("--palettes", type=int, default=len(PALETTES), help="sets of aggregates, from the first on")
    options.add_argument("--processes", type=int, default=os.cpu_count())
    options.add_argument("--failures", type=int, default=1, help="stop after so many")
    given = options.parse_args()
    began, lives, failures = time.perf_counter(), 0, 0
    told = began
    print(f"lives: {given.lives:,}, first seed {given.seed}", flush=True)
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for count, reports in pool.imap_unordered(
            lived, _stretches(given.seed, given.lives, given.bucket, given.palettes)
        ):
            lives += count
            for report in reports:
                failures += 1
                print(report, flush=True)
            if time.perf_counter() - told > 20:
                told = time.perf_counter()
                print(f"{lives:,} lives, {failures} differ, {lives / (told - began):.0f}/s", flush=True)
            if failures >= given.failures:
                pool.terminate()
                break
    what = "lives of buckets" if given.bucket else "lives of streams"
    how = "interpreted" if JIT_DISABLED else "compiled"
    figures = f"{lives:,} lives, {failures} differ; first seed {given.seed}"
    print(f"{what}, {how}: {figures} ({time.perf_counter() - began:.0f} s)")
    if not failures:
        record(f"{what}, {how}", "make fuzz", figures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
