"""Arrow tables as bytes, and back: bytes that came from elsewhere are checked before anything reads a value.

Arrow trusts what it reads: offsets that lead out of a buffer, or a page that unpacks to gigabytes. Tables are written
without compression, so a compressed one is none of ours; and every batch is validated in full.
"""

import struct
from typing import Any

import pyarrow as pa

from sash.errors import InvalidState

__all__ = ["batch_of_bytes", "schema_of_bytes", "table_bytes", "table_of_bytes"]

# Rows of columns that take no bytes, such as those of nulls: more than this are not justified by anything written.
_FREE_ROWS = 1 << 20
_HEADER, _COMPRESSION, _DICTIONARY_DATA = 2, 3, 1  # numbers of fields in Arrow's Message, RecordBatch, DictionaryBatch


def table_bytes(table: pa.Table) -> bytes:
    """A table with its schema."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def table_of_bytes(content: Any, what: str = "a table of it") -> pa.Table:
    """What `table_bytes` wrote; anything else is refused."""
    if not isinstance(content, bytes):
        raise InvalidState.damaged(f"{what} is not bytes")
    try:
        for message in pa.ipc.MessageReader.open_stream(content):
            _refuse_compressed(message)
        batches = []
        with pa.ipc.open_stream(content) as reader:
            str(reader.schema)  # names that are no text are found when they are read
            for batch in reader:
                _check(batch, len(content))
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, EOFError, OSError, ValueError, TypeError, KeyError, struct.error) as error:
        raise InvalidState.unreadable(f"{what} cannot be read", error) from error


def batch_of_bytes(content: Any, schema: pa.Schema) -> pa.RecordBatch:
    """A record batch without its schema, as map tasks send them."""
    if not isinstance(content, bytes):
        raise InvalidState.damaged("rows of it are not bytes")
    try:
        buffer = pa.py_buffer(content)
        _refuse_compressed(pa.ipc.read_message(buffer))
        batch = pa.ipc.read_record_batch(buffer, schema)
        _check(batch, len(content))
    except (pa.ArrowException, EOFError, OSError, ValueError, TypeError, struct.error) as error:
        raise InvalidState.unreadable("rows of it cannot be read", error) from error
    return batch


def schema_of_bytes(content: Any) -> pa.Schema:
    """A schema alone."""
    if not isinstance(content, bytes):
        raise InvalidState.damaged("a schema of it is not bytes")
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(content))
        str(schema)  # names that are no text are found when they are read
        return schema
    except (pa.ArrowException, EOFError, OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidState.unreadable("a schema of it cannot be read", error) from error


def _check(batch: pa.RecordBatch, size: int) -> None:
    batch.validate(full=True)
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):  # which the batch leaves out
            column.dictionary.validate(full=True)
    if batch.num_rows > max(8 * size, _FREE_ROWS):
        raise ValueError(f"{size} bytes claim to be {batch.num_rows} rows")


def _refuse_compressed(message: Any) -> None:
    """Look into the head of a message, which is a flatbuffer: Arrow has verified it, and tells nobody what it says."""
    head = message.metadata.to_pybytes()
    (root,) = struct.unpack_from("<I", head, 0)
    header = _table_in(head, root, _HEADER)
    if message.type == "dictionary" and header is not None:
        header = _table_in(head, header, _DICTIONARY_DATA)
    if message.type in ("record batch", "dictionary") and (header is None or _table_in(head, header, _COMPRESSION)):
        raise ValueError("it is compressed")


def _table_in(head: bytes, table: int, field: int) -> int | None:
    """Where a field of a flatbuffer's table leads that is itself a table."""
    (back,) = struct.unpack_from("<i", head, table)
    (length,) = struct.unpack_from("<H", head, table - back)
    if 4 + 2 * field >= length:
        return None
    (offset,) = struct.unpack_from("<H", head, table - back + 4 + 2 * field)
    if not offset:
        return None
    (forward,) = struct.unpack_from("<I", head, table + offset)
    return int(table + offset + forward)
