"""All rows of a sweep as one table, in the order of the rows, whatever the order they were made in."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import SweepError
from .shards import Receipt, Store

__all__ = ["merge", "read_table"]

# Rows of a group of the merged file.
_GROUP_ROWS = 65536


def _read_shard(store: Store, receipt: Receipt) -> pa.Table:
    """A shard, compared with its receipt."""
    contents = store.shard(receipt.chunk).read_bytes()
    if hashlib.sha256(contents).hexdigest() != receipt.sha256:
        raise SweepError(f"{store.shard(receipt.chunk)}: is not what its receipt says (torn or changed): resume the "
                         "sweep, which makes it again")  # fmt: skip
    return pq.read_table(io.BytesIO(contents)).replace_schema_metadata(None)


def _schema(store: Store, receipts: list[Receipt]) -> pa.Schema:
    """Columns of all shards; a type that is wider in some is so in all."""
    schemas: dict[pa.Schema, None] = {}
    for receipt in receipts:
        schemas[pq.read_schema(store.shard(receipt.chunk)).remove_metadata()] = None
    try:
        return pa.unify_schemas(list(schemas), promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SweepError(f"chunks gave columns of types that do not go together: {error}") from None


def _tables(store: Store, receipts: list[Receipt], schema: pa.Schema) -> Iterator[pa.Table]:
    for receipt in receipts:
        table = _read_shard(store, receipt)
        columns = []
        for field in schema:
            k = table.schema.get_field_index(field.name)
            columns.append(table.column(k).cast(field.type) if k >= 0 else pa.nulls(table.num_rows, field.type))
        yield pa.table(columns, schema=schema)


def read_table(store: Store, receipts: list[Receipt]) -> pa.Table:
    """The rows that are done, in memory."""
    if not receipts:
        raise SweepError(f"{store.folder}: no chunk is done yet")
    ordered = sorted(receipts, key=lambda r: r.chunk)
    schema = _schema(store, ordered)
    return pa.concat_tables(_tables(store, ordered, schema)).combine_chunks()


def merge(store: Store, about: dict[bytes, bytes], receipts: list[Receipt], file: Path) -> None:
    """Writes the rows that are done as one Parquet file, a shard at a time. The bytes depend on the manifest and on
    which chunks are done, on nothing else. `about` is its metadata."""
    from .shards import write_whole

    if not receipts:
        raise SweepError(f"{store.folder}: no chunk is done yet")
    ordered = sorted(receipts, key=lambda r: r.chunk)
    schema = _schema(store, ordered)

    def fill(path: Path) -> None:
        held: list[pa.Table] = []
        rows = 0
        with pq.ParquetWriter(path, schema.with_metadata(about), compression="zstd") as writer:
            for table in _tables(store, ordered, schema):
                held.append(table)
                rows += table.num_rows
                while rows >= _GROUP_ROWS:
                    whole = pa.concat_tables(held)
                    writer.write_table(whole.slice(0, _GROUP_ROWS).combine_chunks(), row_group_size=_GROUP_ROWS)
                    held, rows = [whole.slice(_GROUP_ROWS)], rows - _GROUP_ROWS
            if rows:
                writer.write_table(pa.concat_tables(held).combine_chunks(), row_group_size=_GROUP_ROWS)

    write_whole(file, fill)
