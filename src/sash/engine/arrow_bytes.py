"""Write Arrow tables to bytes, and read them back after checking untrusted bytes.

Arrow does not check what it reads: offsets may lead out of a buffer, and a small page may decompress to gigabytes. sash
writes tables without compression, so compressed ones are refused; and every batch is fully validated.
"""

import struct
from typing import Any

import pyarrow as pa

from sash.errors import InvalidState

__all__ = ["batch_of_bytes", "schema_of_bytes", "table_bytes", "table_of_bytes"]

# The limit for rows without bytes, such as rows of nulls only.
_FREE_ROWS = 1 << 20
_HEADER, _COMPRESSION, _DICTIONARY_DATA = 2, 3, 1  # numbers of fields in Arrow's Message, RecordBatch, DictionaryBatch


def table_bytes(table: pa.Table) -> bytes:
    """Return a table with its schema as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def table_of_bytes(content: Any, what: str = "one of its tables") -> pa.Table:
    """Read what `table_bytes` wrote; refuse anything else."""
    if not isinstance(content, bytes):
        raise InvalidState.damaged(f"{what} is not bytes")
    try:
        for message in pa.ipc.MessageReader.open_stream(content):
            _refuse_compressed(message)
        batches = []
        with pa.ipc.open_stream(content) as reader:
            str(reader.schema)  # fails if a name is not text
            for batch in reader:
                _check(batch, len(content))
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, EOFError, OSError, ValueError, TypeError, KeyError, struct.error) as error:
        raise InvalidState.unreadable(f"{what} cannot be read", error) from error


def batch_of_bytes(content: Any, schema: pa.Schema) -> pa.RecordBatch:
    """Read a record batch that was written without its schema, as map tasks do."""
    if not isinstance(content, bytes):
        raise InvalidState.damaged("its rows are not bytes")
    try:
        buffer = pa.py_buffer(content)
        _refuse_compressed(pa.ipc.read_message(buffer))
        batch = pa.ipc.read_record_batch(buffer, schema)
        _check(batch, len(content))
    except (pa.ArrowException, EOFError, OSError, ValueError, TypeError, struct.error) as error:
        raise InvalidState.unreadable("its rows cannot be read", error) from error
    return batch


def schema_of_bytes(content: Any) -> pa.Schema:
    """Read a schema."""
    if not isinstance(content, bytes):
        raise InvalidState.damaged("one of its schemas is not bytes")
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(content))
        str(schema)  # fails if a name is not text
        return schema
    except (pa.ArrowException, EOFError, OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidState.unreadable("one of its schemas cannot be read", error) from error


def _check(batch: pa.RecordBatch, size: int) -> None:
    batch.validate(full=True)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):  # which the batch leaves out
            column.dictionary.validate(full=True)
    if batch.num_rows > max(8 * size, _FREE_ROWS):
        raise ValueError(f"{size} bytes cannot contain {batch.num_rows} rows")


def _refuse_compressed(message: Any) -> None:
    """Refuse a compressed message; read its flatbuffer head, because Arrow does not expose the compression."""
    head = message.metadata.to_pybytes()
    (root,) = struct.unpack_from("<I", head, 0)
    header = _table_in(head, root, _HEADER)
    if message.type == "dictionary" and header is not None:
        header = _table_in(head, header, _DICTIONARY_DATA)
    if message.type in ("record batch", "dictionary") and (header is None or _table_in(head, header, _COMPRESSION)):
        raise ValueError("it is compressed")


def _table_in(head: bytes, table: int, field: int) -> int | None:
    """Return the offset of a table that is a field of a flatbuffer's table; None if it is absent."""
    (back,) = struct.unpack_from("<i", head, table)
    (length,) = struct.unpack_from("<H", head, table - back)
    if 4 + 2 * field >= length:
        return None
    (offset,) = struct.unpack_from("<H", head, table - back + 4 + 2 * field)
    if not offset:
        return None
    (forward,) = struct.unpack_from("<I", head, table + offset)
    return int(table + offset + forward)
