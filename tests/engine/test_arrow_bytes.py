"""Arrow tables as bytes: what Arrow would trust is checked."""

import random

import pyarrow as pa
import pytest

from sash.engine.arrow_bytes import batch_of_bytes, schema_of_bytes, table_bytes, table_of_bytes
from sash.errors import InvalidState

TABLE = pa.table(
    {
        "n": [1, 2, None],
        "word": ["x", None, "yé"],
        "kind": pa.array(["p", "q", "p"]).dictionary_encode(),
        "list": [[1], [], [2, 3]],
    }
)


def test_a_table_comes_back() -> None:
    assert table_of_bytes(table_bytes(TABLE)).equals(TABLE)
    assert table_of_bytes(table_bytes(TABLE.slice(0, 0))).equals(TABLE.slice(0, 0))
    (batch,) = TABLE.drop_columns(["kind"]).to_batches()
    assert batch_of_bytes(batch.serialize().to_pybytes(), batch.schema).equals(batch)
    assert schema_of_bytes(TABLE.schema.serialize().to_pybytes()).equals(TABLE.schema)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_table_that_would_unpack_to_more_than_it_is_is_refused(compression: str) -> None:
    zeros = pa.table({"zero": pa.array([0] * 100_000)})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, zeros.schema, options=options) as writer:
        writer.write_table(zeros)
    with pytest.raises(InvalidState, match="it is compressed"):
        table_of_bytes(sink.getvalue().to_pybytes())


def test_rows_without_bytes_are_refused_beyond_what_can_be() -> None:
    with pytest.raises(InvalidState, match="bytes cannot contain 3000000 rows"):
        table_of_bytes(table_bytes(pa.table({"none": pa.nulls(3_000_000)})))


@pytest.mark.parametrize("content", [None, "text", b"", b"x" * 50, 5])
def test_what_is_no_table_is_refused(content: object) -> None:
    for read in (table_of_bytes, schema_of_bytes, lambda content: batch_of_bytes(content, TABLE.schema)):
        if content == b"" and read is schema_of_bytes:
            continue
        with pytest.raises(InvalidState):
            read(content)  # type: ignore[no-untyped-call]


def test_bytes_of_a_table_that_changed_are_refused_or_can_be_read() -> None:
    content, rng = table_bytes(TABLE), random.Random(3)
    for _ in range(3000):
        found = bytearray(content)
        for _ in range(rng.choice((1, 2, 3))):
            found[rng.randrange(len(found))] = rng.randrange(256)
        try:
            table = table_of_bytes(bytes(found))
        except InvalidState:
            continue
        table.to_pylist()
