"""The state of a bucket, without a cluster: Spark's own tester holds the store, and workers come and go.

An attempt is a task of Spark: a processor of its own over what the store had committed. What a worker remembers between
its attempts is its own.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

import sash
from sash.engine.frame import frame
from sash.engine.options import options_of
from sash.engine.results import schema_of
from sash.engine.rolling import plan_frames
from sash.engine.tables import read_rows
from sash.errors import InvalidInput, InvalidState
from sash.limits import LIMITS, Limits
from sash.plan.query import Query
from sash.spark.state.bucket import MicroBatch, Work
from sash.spark.state.frame_bucket import FrameWork
from sash.spark.state.processor import BucketProcessor
from sash.spark.state.snapshot_log import HEAD, INITIAL, LOG, SNAPSHOT, STATE_VARIABLE, Head, SnapshotLog, WorkerMemory
from sash.spark.state.window_bucket import WindowWork
from sash.spark.wire.buckets import bucket_ids
from sash.spark.wire.recipe import Recipe
from sash.spark.wire.results import as_results
from sash.spark.worker.packing import SendTask
from tests.campaigns.buckets import buckets
from tests.campaigns.cases import mutation
from tests.campaigns.subjects import Subject
from tests.spark.chaos.job import DELAY_S, FILES, QUERIES, ROWS, chaos_rows

(BUCKET,) = bucket_ids(1)
NOTE = "-" * 200
SCHEMA = pa.schema([("t", pa.int64()), ("k", pa.string()), ("x", pa.float64()), ("note", pa.string())])


def windows(queries: list[Query], schema: pa.Schema, on: str, delay: Any) -> WindowWork:
    options = options_of(on, "k", 0, delay, False, "final")
    recipe = Recipe(tuple(queries), options, schema)
    return WindowWork(recipe, schema, as_results(schema_of(recipe.plan())), False)


def some_windows() -> Work:
    queries = [
        sash.query("sliding", sash.sliding(20, every=5), most=sash.max("x"), last=sash.last("x")),
        sash.query("visit", sash.session(gap=4), total=sash.sum("x"), notes=sash.count("note")),
        sash.query("ranks", sash.sliding(rows=7, every=3), last=sash.last("x")),
    ]
    return windows(queries, SCHEMA, "t", 5)


def some_frames() -> Work:
    frames = (frame(range=12, total=sash.sum("x"), before=sash.first("x")),)
    plan = plan_frames(read_rows(SCHEMA.empty_table()), frames, "t", ["k"])
    added = [pa.field(name, kind) for name, kind in plan.results()]
    return FrameWork(plan, 5, SCHEMA, pa.schema([*SCHEMA, *added]), False)


WORKS = pytest.mark.parametrize("make", [some_windows, some_frames])
Make = Callable[[], Work]


def some_rows(batches: int, seed: int = 3) -> list[pa.Table]:
    """Micro-batches of ten seconds each, mixed within those that may be late."""
    rng = random.Random(seed)
    times = sorted((rng.randrange(10 * batches) for _ in range(40 * batches)), key=lambda t: t + rng.uniform(0, 4.9))
    table = pa.table(
        [
            times,
            [rng.choice("abcde") for _ in times],
            [float(rng.randrange(-50, 50)) for _ in times],
            [NOTE] * len(times),
        ],
        schema=SCHEMA,
    )
    return [table.slice(40 * each, 40) for each in range(batches)]


@dataclass(frozen=True)
class Store:
    """What Spark has committed."""

    entries: dict[Any, Any] = field(default_factory=dict)

    @property
    def known(self) -> Head:
        return Head.from_bytes(*self.entries[HEAD, 0])

    def of(self, kind: str) -> dict[int, Any]:
        return {number: entry for (own, number), entry in self.entries.items() if own == kind}

    def without(self, *entry: Any) -> "Store":
        return Store({each: own for each, own in self.entries.items() if each != entry})

    def check(self) -> None:
        """L1, L2: every part and log entry is there once, with its own nonce, and nothing is left of older ones."""
        head, steps = self.known, self.of(LOG)
        assert sorted(self.of(SNAPSHOT)) == list(range(head.parts))
        assert sorted(steps) == list(range(head.snapshot + 1, head.version + 1))
        nonces = [steps[version][0] for version in sorted(steps)]
        assert len(set(nonces)) == len(nonces) and nonces[-1:] in ([], [head.nonce])
        assert sum(len(data) for _, data in steps.values()) == head.log_bytes


class Worker:
    """A Python process of Spark."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.memory, self.limits = WorkerMemory(), limits

    def attempt(self, store: Store, work: Work, rows: pa.Table, buckets: int = 1) -> tuple[Store, list[Any]]:
        """A micro-batch: what the store has if it is committed, and the results."""
        tester = TwsTester(BucketProcessor(work, "stream", buckets, self.limits, memory=self.memory))
        if store.entries:
            tester.updateMapState(STATE_VARIABLE[0], BUCKET, store.entries)
        answers = tester.test(BUCKET, list(sent(work, rows)))
        return Store(tester.peekMapState(STATE_VARIABLE[0], BUCKET)), results_in(work, answers)


def results_in(work: Work, answers: Iterable[Any]) -> list[Any]:
    found = [pa.ipc.read_record_batch(pa.py_buffer(each["data"]), work.results) for each in answers if each["data"]]
    return [row for batch in found for row in batch.to_pylist()]


def sent(work: Work, rows: pa.Table) -> Iterator[Row]:
    on = "t" if "t" in rows.schema.names else "ts"
    task = SendTask(on, ("k",), work.measure, work.schema, LIMITS, (BUCKET,))
    for batch in task.run(iter(rows.combine_chunks().to_batches())):
        yield from (Row(**line) for line in batch.to_pylist())


def alone(work: Work, batches: list[pa.Table]) -> list[list[Any]]:
    """The results of one worker that nothing happens to."""
    store, worker, results = Store(), Worker(), []
    for rows in batches:
        store, found = worker.attempt(store, work, rows)
        results.append(found)
    assert sum(map(len, results)) > 100
    return results


# Snapshots are written after a few micro-batches, in several parts.
OFTEN = Limits(log_ratio=1, small_log_bytes=15_000, part_bytes=700)


# --- workers come and go ------------------------------------------------------------------------------


@WORKS
def test_a_worker_that_missed_micro_batches_replays_them(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    work, batches = make(), some_rows(6)
    wanted = alone(work, batches)
    store, one, other = Store(), Worker(), Worker()
    for number, worker in enumerate([one, one, other, other, other]):
        store, found = worker.attempt(store, work, batches[number])
        assert found == wanted[number]
    assert store.known.snapshot == 0

    def refuse(self: Work, snapshot: bytes) -> Any:
        raise AssertionError("the whole state is read again")

    monkeypatch.setattr(type(work), "restore", refuse)
    assert one.attempt(store, work, batches[5])[1] == wanted[5]
    with pytest.raises(AssertionError, match="read again"):
        Worker().attempt(store, work, batches[5])


@WORKS
def test_what_a_failed_attempt_left_in_a_worker_is_dropped(make: Make) -> None:
    work, batches = make(), some_rows(6)
    wanted = alone(work, batches)
    store, one, other = Store(), Worker(), Worker()
    store, _ = one.attempt(store, work, batches[0])
    one.attempt(store, work, batches[5])  # rows from ahead: were they kept, all others would be late
    again, found = one.attempt(store, work, batches[1])
    assert found == wanted[1]
    one.attempt(again, work, batches[5])
    for number in (2, 3):
        again, found = other.attempt(again, work, batches[number])
        assert found == wanted[number]
    assert one.attempt(again, work, batches[4])[1] == wanted[4]


@WORKS
@pytest.mark.parametrize("seed", range(4))
def test_results_are_those_of_one_worker_whatever_fails(make: Make, seed: int) -> None:
    rng = random.Random(seed)
    work, batches = make(), some_rows(20, seed)
    wanted = alone(work, batches)
    store, workers = Store(), [Worker(OFTEN) for _ in range(3)]
    snapshots = set()
    for number, rows in enumerate(batches):
        while rng.random() < 0.4:
            rng.choice(workers).attempt(store, work, rng.choice([rows, rows, *batches]))
        if rng.random() < 0.1:
            workers[rng.randrange(3)] = Worker(OFTEN)
        store, found = rng.choice(workers).attempt(store, work, rows)
        assert found == wanted[number]
        store.check()
        snapshots.add(store.known.snapshot)
    assert len(snapshots) > 2


# --- snapshots --------------------------------------------------------------------------------------------


@WORKS
def test_a_snapshot_is_written_when_the_log_outweighs_it(make: Make) -> None:
    work, batches = make(), some_rows(30)
    store, worker = Store(), Worker(OFTEN)
    heads = []
    for rows in batches:
        store, _ = worker.attempt(store, work, rows)
        store.check()
        (held,) = worker.memory
        heads.append(store.known)
        step = rows.nbytes + 4096  # an entry has a schema and a head, too
        assert heads[-1].log_bytes <= max(held.bucket.nbytes, 15_000) + step, "L3"
    assert [each.version for each in heads] == list(range(1, 31))
    written = [new for old, new in pairwise(heads) if new.snapshot > old.snapshot]
    assert written and all(each.snapshot == each.version and each.log_bytes == 0 for each in written)
    assert len({each.parts for each in heads}) > 1, "parts come and go"


def test_rows_of_the_kill_tests_make_snapshots_and_logs() -> None:
    table = chaos_rows(FILES)
    work = windows(QUERIES, table.schema, "ts", f"{DELAY_S} seconds")
    store, worker, snapshots = Store(), Worker(), []
    for number in range(FILES):
        rows = table.slice(number * ROWS, ROWS)
        rows = rows.filter(pa.compute.equal(pa.compute.bit_wise_and(rows.column("k"), 1), 0))  # two buckets share them
        store, _ = worker.attempt(store, work, rows)
        snapshots.append(store.known.snapshot)
    assert len(set(snapshots)) > 2 and len(store.of(LOG)) + snapshots[-1] == FILES
    assert snapshots != list(range(1, FILES + 1))


# --- what is refused ----------------------------------------------------------------------------------


@WORKS
def test_another_number_of_buckets_is_refused(make: Make) -> None:
    work, batches = make(), some_rows(2)
    store, _ = Worker().attempt(Store(), work, batches[0])
    with pytest.raises(InvalidState, match="written with 1 shuffle partitions, but the session now has 2"):
        Worker().attempt(store, work, batches[1], buckets=2)


@WORKS
def test_a_store_with_a_hole_is_refused(make: Make) -> None:
    work, batches = make(), some_rows(4)
    store, worker = Store(), Worker()
    for rows in batches[:3]:
        store, _ = worker.attempt(store, work, rows)
    with pytest.raises(InvalidState, match="damaged: part 0 of its snapshot is missing"):
        Worker().attempt(store.without(SNAPSHOT, 0), work, batches[3])
    with pytest.raises(InvalidState, match="damaged: micro-batch 2 of its log is missing"):
        Worker().attempt(store.without(LOG, 2), work, batches[3])


@WORKS
@pytest.mark.parametrize("what", ["snapshot", "log"])
def test_damaged_bytes_are_refused(make: Make, what: str) -> None:
    work, batches = make(), some_rows(4)
    live = work.new_bucket()
    step = MicroBatch(batches[-1], 39)
    for rows in batches:
        live.push(MicroBatch(rows, max(rows.column("t").to_pylist())))
    read: Callable[[bytes], Any]
    data = live.snapshot() if what == "snapshot" else step.to_bytes()
    read = work.restore if what == "snapshot" else lambda data: MicroBatch.from_bytes(data, live.measure)
    read(data)
    rng = random.Random(5)
    for _ in range(100):
        at, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
        with pytest.raises(InvalidState):
            read(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
        with pytest.raises(InvalidState):
            read(data[: rng.randrange(len(data))])
    with pytest.raises(InvalidState):
        read(data + b"\0")


# Only names, because the states themselves need kernels: other parts of the tests collect this module, too.
SAVED = [f"{what} of {kind}" for kind in ("windows", "frames") for what in ("bucket", "micro-batch", "initial rows")]
SAVED += ["head of a bucket"]


@pytest.fixture(scope="module")
def saved() -> dict[str, Subject]:
    return {subject.name: subject for subject in buckets()}


def test_every_saved_state_is_changed(saved: dict[str, Subject]) -> None:
    assert [*saved] == SAVED


@pytest.mark.parametrize("name", SAVED)
def test_changes_under_a_right_checksum_are_refused_or_harmless(saved: dict[str, Subject], name: str) -> None:
    for case in range(60):
        assert not mutation(saved[name], f"fixed.{case}").faults


@WORKS
def test_damage_in_the_store_is_told_by_the_query(make: Make) -> None:
    work, batches = make(), some_rows(3)
    store, worker = Store(), Worker()
    for rows in batches[:2]:
        store, _ = worker.attempt(store, work, rows)
    for entry in ((LOG, 2), (HEAD, 0)):
        nonce, data = store.entries[entry]
        for damaged, told in ((data[:-1], "bytes were written"), (data[:-1] + b"\xff", "checksum")):
            spoilt = Store({**store.entries, entry: (nonce, damaged)})
            with pytest.raises(InvalidState, match=f"The saved state is damaged: .*{told}"):
                Worker().attempt(spoilt, work, batches[2])


class StrictMap(dict[Any, Any]):
    """A map of Spark's state, without the value of a missing key, for which Spark logs a warning."""

    def getMapState(self, *_: Any) -> "StrictMap":  # noqa: N802
        return self

    def containsKey(self, key: Any) -> bool:  # noqa: N802
        return key in self

    def getValue(self, key: Any) -> Any:  # noqa: N802
        return self[key]

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self[key] = value


@WORKS
def test_a_new_bucket_reads_no_value_that_the_store_lacks(make: Make) -> None:
    work = make()
    log = SnapshotLog(StrictMap(), work, "stream", 1, LIMITS, WorkerMemory())
    _, head, _ = log.read(0)
    assert head.version == 0 and log.take_initial(SCHEMA) == []


# --- what was before the stream ------------------------------------------------------------------------------


def before(work: Work, history: pa.Table) -> TwsTester:
    """A first task that is given history."""
    lines = [(BUCKET, line) for line in sent(work, history)]
    return TwsTester(BucketProcessor(work, "stream", 1, LIMITS), initialStateRow=lines)


@WORKS
def test_history_waits_for_rows(make: Make) -> None:
    """Spark gives it in the first micro-batch, which may have no rows, and never again."""
    work, (history, *batches) = make(), some_rows(4)
    tester = before(work, history)
    wanted = results_in(work, tester.test(BUCKET, list(sent(work, batches[0]))))
    store = Store(before(work, history).peekMapState(STATE_VARIABLE[0], BUCKET))
    assert store.of(INITIAL) and not store.of(HEAD)
    store, found = Worker().attempt(store, work, batches[0])
    assert found == wanted
    assert not store.of(INITIAL) and store.known.version == 2
    store, _ = Worker().attempt(store, work, batches[1])
    assert store.known.version == 3


@WORKS
def test_rows_of_history_that_are_in_no_window_are_counted_with_those_of_the_first_micro_batch(make: Make) -> None:
    work, (history, rows) = make(), some_rows(2)
    nowhere = pa.table([[None], ["a"], [1.0], [NOTE]], schema=SCHEMA)
    answers = before(work, pa.concat_tables([history, nowhere])).test(
        BUCKET, list(sent(work, pa.concat_tables([rows, nowhere])))
    )
    assert [each["late"] for each in answers if each["late"] is not None] == [2]


@WORKS
def test_a_micro_batch_in_two_parts_is_refused(make: Make) -> None:
    """Rows of the second would be judged by the watermark of the first."""
    work, batches = make(), some_rows(2)
    tester = before(work, batches[0])
    lines = list(sent(work, batches[1]))
    tester.test(BUCKET, lines[:1])
    with pytest.raises(InvalidInput, match="maxRecordsPerBatch"):
        tester.test(BUCKET, lines[1:])
