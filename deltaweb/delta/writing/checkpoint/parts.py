"""The files of a checkpoint while they are written: rows to parts, parts to disk.

A file action belongs to the part that the CRC-32 of its path names, so that every
builder of a version makes the same parts, and all actions of a file, however its path
is spelled, meet in one; all other actions are in the first. Rows are collected until
they fill a row group; writing one overlaps reading the next.

Source: delta_protocol.md, "Requirements for Writers", "Checkpoints".
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.file_actions import canonical_keys, has_absolute_paths
from deltaweb.delta.log.store import LogStore, PendingFile
from deltaweb.delta.values.footer_bounds import floating_leaves, leaves_without

ROW_GROUP_ROWS: Final = 131_072
FULL_ROWS: Final = ROW_GROUP_ROWS * 7 // 8  # removed files leave fewer than come
BUFFERED_BYTES: Final = 192 << 20
COMPRESSION: Final = "zstd"
COMPRESSION_LEVEL: Final = 1
REPEATED: Final = ("key_value.key", "key_value.value", "dataChange")


class PartWriter:
    """One file of a checkpoint: rows in, row groups out."""

    def __init__(self, file: PendingFile, schema: pa.Schema) -> None:
        self.file = file
        self.num_rows = 0
        self.waiting_bytes = 0
        self._schema = schema
        self._waiting: dict[str, list[pa.StructArray]] = {}
        with self._faults():
            self._writer = pq.ParquetWriter(
                file.sink,
                schema,
                compression=COMPRESSION,
                compression_level=COMPRESSION_LEVEL,
                use_dictionary=_repeated_leaves(schema),
                store_schema=False,
                write_statistics=leaves_without(schema, floating_leaves(schema)),
            )

    def put(self, action: str, rows: pa.StructArray) -> None:
        if len(rows):
            self._waiting.setdefault(action, []).append(rows)
            self.num_rows += len(rows)
            self.waiting_bytes += rows.nbytes

    def take_full(self, *, least_rows: int = FULL_ROWS) -> list[pa.Table]:
        tables = []
        for action, some in list(self._waiting.items()):
            if sum(len(rows) for rows in some) >= least_rows:
                tables.append(self._table(action, self._waiting.pop(action)))
                self.waiting_bytes -= sum(rows.nbytes for rows in some)
        return tables

    def write_first(self, table: pa.Table) -> None:
        """Write rows of any actions, before all others."""
        self.num_rows += table.num_rows
        self.write([table])

    def write(self, tables: Sequence[pa.Table]) -> None:
        with self._faults():
            for table in tables:
                self._writer.write_table(table, row_group_size=max(1, table.num_rows))

    def finish(self) -> int:
        """Write what waits, and the footer; return the bytes of the file."""
        self.write(self.take_full(least_rows=1))
        with self._faults():
            self._writer.close()
        return self.file.finish()

    def discard(self) -> None:
        with contextlib.suppress(OSError, ValueError, pa.ArrowException):
            self._writer.close()  # into a file that goes away
        self.file.discard()

    def _table(self, action: str, some: Sequence[pa.StructArray]) -> pa.Table:
        rows = pa.chunked_array(some)
        columns = [
            rows if field.name == action else pa.nulls(len(rows), field.type)
            for field in self._schema
        ]
        return pa.Table.from_arrays(columns, schema=self._schema)

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except DeltaError:
            raise
        except OSError as error:
            raise self.file.fault(error) from None


class PartsWriter:
    """All files of a checkpoint, each written by one thread at a time."""

    def __init__(
        self, store: LogStore, names: Sequence[str], schema: pa.Schema
    ) -> None:
        self._parts: list[PartWriter] = []
        self._pool = ThreadPoolExecutor(min(len(names), os.cpu_count() or 1))
        self._writing: dict[int, Future[None]] = {}
        self._is_done = False
        try:
            for name in names:
                self._parts.append(open_part_writer(store, name, schema))
        except BaseException:
            self.discard()
            raise

    @property
    def num_rows(self) -> int:
        return sum(part.num_rows for part in self._parts)

    def put(self, action: str, rows: pa.StructArray) -> None:
        for index, mine in enumerate(split_rows(rows, len(self._parts))):
            self._parts[index].put(action, mine)
        for index in range(len(self._parts)):
            self._write(index, least_rows=FULL_ROWS)
        while sum(part.waiting_bytes for part in self._parts) > BUFFERED_BYTES:
            sizes = [part.waiting_bytes for part in self._parts]
            self._write(int(np.argmax(sizes)), least_rows=1)

    def write_first(self, table: pa.Table) -> None:
        """Write the actions without a path as one row group, before all others."""
        self._parts[0].write_first(table)

    def finish(self) -> list[int]:
        """Make every file whole and durable, none visible; return their sizes."""
        for index in list(self._writing):
            self._writing.pop(index).result()
        finishing = [self._pool.submit(part.finish) for part in self._parts]
        return [future.result() for future in finishing]

    @property
    def files(self) -> list[PendingFile]:
        return [part.file for part in self._parts]

    def discard(self) -> None:
        """Forget what is not in place, once no thread writes it any more."""
        if self._is_done:
            return
        self._is_done = True
        self._pool.shutdown(cancel_futures=True)
        for part in self._parts:
            part.discard()

    def _write(self, index: int, *, least_rows: int) -> None:
        """Write the row groups of a part that are full, after those before them."""
        tables = self._parts[index].take_full(least_rows=least_rows)
        if not tables:
            return
        if index in self._writing:
            self._writing.pop(index).result()
        self._writing[index] = self._pool.submit(self._parts[index].write, tables)


def open_part_writer(store: LogStore, name: str, schema: pa.Schema) -> PartWriter:
    """Begin a file of a checkpoint."""
    file = store.begin_file(name)
    try:
        return PartWriter(file, schema)
    except BaseException:
        file.discard()
        raise


def split_rows(rows: pa.StructArray, count: int) -> list[pa.StructArray]:
    """Split file actions into the parts that the CRC-32 of their paths names."""
    if count == 1:
        return [rows]
    paths = pc.struct_field(rows, ["path"])
    return [rows.take(mine) for mine in split_paths(paths, count)]


def split_paths(paths: pa.Array, count: int) -> list[pa.Array]:
    if has_absolute_paths(paths):
        paths = canonical_keys(paths)
    texts = paths.to_numpy(zero_copy_only=False)
    numbers = (crc32(path.encode()) % count for path in texts)
    chosen = np.fromiter(numbers, np.int64, len(texts))
    order = np.argsort(chosen, kind="stable")
    ends = np.cumsum(np.bincount(chosen, minlength=count)).tolist()
    starts = [0, *ends[:-1]]
    return [pa.array(order[start:end]) for start, end in zip(starts, ends, strict=True)]


def _repeated_leaves(schema: pa.Schema) -> list[str]:
    """Return the leaf columns of few values that repeat: dictionaries serve them."""
    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    footer = pq.read_metadata(pa.BufferReader(sink.getvalue()))
    paths = [footer.schema.column(index).path for index in range(footer.num_columns)]
    return [path for path in paths if path.endswith(REPEATED)]
