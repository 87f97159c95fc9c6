"""A compiled differential fuzzer: every algorithm against the oracle, a billion answers in minutes.

    python -m tests.fuzz [--seed N] [--answers N]

Each round draws a seed, moves one algorithm and `recalculate` through the same random history of
fills, slides, shrinks and drains, all inside one kernel, and compares every answer field by field.
Algorithms for whole arrays are compared over random arrays and sizes. A failure prints the line
that repeats it.
"""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sash.algebra.compiler import kernel
from sash.algebra.fields import same
from sash.algebra.monoid import Monoid, lift
from sash.swag import loops
from sash.swag.catalog import ALGORITHMS, find
from sash.swag.contract import Algorithm, evict, insert, query
from sash.swag.facts import Needs, Sizes
from tests.campaigns.figures import record
from tests.swag.monoids import TEMPLATES, bound

ROOM = 64


@kernel
def history(
    oracle: Algorithm, algorithm: Algorithm, aggregate: Monoid, truth: Any, state: Any, seed: int, steps: int, most: int
) -> int:
    """How many answers agreed before the first that did not; negative if one did not."""
    random = np.uint64(seed)
    size, answers, wish = 0, 0, 1
    for _ in range(steps):
        random ^= random << np.uint64(13)
        random ^= random >> np.uint64(7)
        random ^= random << np.uint64(17)
        draw = np.int64(random >> np.uint64(40))
        if draw % 61 == 0:
            wish = int((draw // 61) % (most + 1))  # the size to move to; often empty, often full
        if size > 0 and (size > wish or (size == wish and draw % 2 == 0)):
            evict(oracle, aggregate, truth)
            evict(algorithm, aggregate, state)
            size -= 1
        if size < max(wish, 1):
            partial = lift(aggregate, (draw % 19 - 9,))
            insert(oracle, aggregate, truth, partial)
            insert(algorithm, aggregate, state, partial)
            size += 1
        if draw % 8 != 0:
            answers += 1
            if not same(query(oracle, aggregate, truth), query(algorithm, aggregate, state)):
                return -answers
    return answers


def stepwise(algorithm: Algorithm, monoid: Monoid, seed: int, steps: int) -> int:
    oracle = find("recalculate")
    most = 1 + seed % (ROOM - 1) if seed % 3 else 1 + seed % 12
    truth, state = oracle.steps.start(monoid, ROOM, ()), algorithm.steps.start(monoid, ROOM, ())
    return history(oracle, algorithm, monoid, truth, state, seed, steps, most)


def arrays(algorithm: Algorithm, monoid: Monoid, seed: int, steps: int) -> int:
    random = np.random.default_rng(seed)
    values = random.integers(-9, 10, min(steps, 20_000))
    size = int(random.integers(1, 200))
    answers = []
    for each in (find("recalculate"), algorithm):
        results = tuple(np.zeros(len(values), output.result.dtype) for output in monoid.outputs)
        presences = tuple(np.zeros(len(values), np.uint8) for output in monoid.outputs if output.presence)
        loops.over_rows(each, monoid, (values,), size, results, presences, 1)
        answers.append((*results, *presences))
    agree = [np.array_equal(a, b) for a, b in zip(*answers, strict=True)]
    return len(values) if all(agree) else -len(values)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"), help="of the first round")
    options.add_argument("--answers", type=int, default=1_000_000_000, help="how many to check in all")
    options.add_argument("--only", help="one pair, written algorithm-aggregate")
    given = options.parse_args()
    pairs = [
        (algorithm, name)
        for algorithm in ALGORITHMS.values()
        for name, template in TEMPLATES.items()
        if name != "words" and algorithm.facts.compiled and not algorithm.facts.needs.is_of_few
        if algorithm.admits(template.invertible, template.selective)
        if given.only in (None, f"{algorithm.name}-{name}")
    ]
    share = -(-given.answers // max(1, len(pairs)))
    print(f"fuzz: {len(pairs)} pairs of algorithm and aggregate, {share:,} answers each, first seed {given.seed}")
    began, total = time.perf_counter(), 0

    def campaign(pair: tuple[Algorithm, str]) -> tuple[str, int, int]:
        algorithm, name = pair
        run = arrays if algorithm.facts.sizes is Sizes.FIXED else stepwise
        monoid = bound(name, interpreted=False, invertible=algorithm.facts.needs is Needs.INVERT)
        checked, seed = 0, given.seed
        while checked < share:
            seed += 1
            agreed = run(algorithm, monoid, seed, 2_000_000)
            if agreed <= 0:
                return f"{algorithm.name}-{name}", checked, seed
            checked += agreed
        return f"{algorithm.name}-{name}", checked, 0

    with ThreadPoolExecutor(loops.cores()) as pool:
        for done, (name, checked, failed) in enumerate(pool.map(campaign, pairs), 1):
            total += checked
            seconds = time.perf_counter() - began
            print(
                f"[{done:3}/{len(pairs)}] {name:32} {checked:>13,} agree   {total / seconds / 1e6:6.1f} million/s",
                flush=True,
            )
            if failed:
                print(f"DISAGREES: python -m tests.fuzz --only {name} --seed {failed - 1} --answers 1")
                return 1
    print(f"{total:,} answers checked in {time.perf_counter() - began:.0f} s, none differed; first seed {given.seed}")
    if given.only is None:
        figures = f"{total:,} answers of {len(pairs)} pairs of algorithm and aggregate, 0 differ; seed {given.seed}"
        record("algorithms", "make fuzz", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
