"""Rows of both versions in buckets that fit in memory: equal rows share a bucket.

Rows stay in memory as long as they fit. Beyond that they are spread by a hash over
files of a temporary folder; a bucket that is still too large is spread again.
"""

import errno
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

import pyarrow as pa

from deltaweb.delta.changes.errors import RowDiffTooLargeError
from deltaweb.delta.changes.row_codes import dealt, row_hashes
from deltaweb.delta.errors import StorageFullError

NUM_BUCKETS: Final = 32
MAX_DEPTH: Final = 3
NUM_SIDES: Final = 2
MIB: Final = 1 << 20

Bucket = tuple[pa.Table, pa.Table]
"""Rows of the first and of the second version."""


@dataclass(frozen=True)
class RowLimits:
    """What comparing rows may take.

    Attributes:
        memory_bytes: Rows of both versions that are held before they are spread.
        bucket_bytes: Rows that are held at most where spreading them does not help,
            since they are equal or share a key.
        disk_bytes: Rows that are spread over files at most.
    """

    memory_bytes: int = 192 * MIB
    bucket_bytes: int = 512 * MIB
    disk_bytes: int = 16 << 30


class RowBuckets:
    """Takes rows of both versions and gives them back bucket by bucket.

    Args:
        depth: How often the rows were spread before.
    """

    def __init__(
        self,
        schema: pa.Schema,
        columns: Sequence[str],
        limits: RowLimits,
        *,
        folder: Path | None = None,
        depth: int = 0,
    ) -> None:
        self._schema = schema
        self._columns = columns
        self._limits = limits
        self._parent = folder
        self._depth = depth
        self._stack = ExitStack()
        self._held: list[list[pa.Table]] = [[], []]
        self._held_bytes = 0
        self._written_bytes = 0
        self._files: _BucketFiles | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what went to files."""
        self._stack.close()

    @property
    def is_spread(self) -> bool:
        """Whether rows went to files."""
        return self._files is not None

    def add(self, side: int, rows: pa.Table) -> None:
        """Take rows of the first (0) or the second (1) version."""
        self._held[side].append(rows)
        self._held_bytes += rows.nbytes
        if self._depth == MAX_DEPTH:
            if self._held_bytes > self._limits.bucket_bytes:
                raise RowDiffTooLargeError(limit_bytes=self._limits.bucket_bytes)
        elif self._held_bytes > self._limits.memory_bytes:
            self._spread()

    def buckets(self) -> Iterator[Bucket]:
        """Yield each bucket once; no rows can be added after."""
        if self._files is None:
            before, after = (self._concat(tables) for tables in self._held)
            self._held = [[], []]
            yield before, after
            return
        self._spread()
        self._files.close()
        for number in range(NUM_BUCKETS):
            if self._files.bucket_bytes(number) > self._limits.memory_bytes:
                yield from self._smaller(self._files, number)
            else:
                yield (
                    pa.Table.from_batches(self._files.read(0, number), self._schema),
                    pa.Table.from_batches(self._files.read(1, number), self._schema),
                )

    def _concat(self, tables: list[pa.Table]) -> pa.Table:
        return pa.concat_tables([self._schema.empty_table(), *tables])

    def _spread(self) -> None:
        self._written_bytes += self._held_bytes
        if self._written_bytes > self._limits.disk_bytes:
            raise RowDiffTooLargeError(limit_bytes=self._limits.disk_bytes)
        try:
            if self._files is None:
                name = tempfile.TemporaryDirectory(
                    prefix="rows-", dir=self._parent, ignore_cleanup_errors=True
                )
                folder = Path(self._stack.enter_context(name))
                self._files = _BucketFiles(folder, self._schema)
                self._stack.callback(self._files.close)
            for side, tables in enumerate(self._held):
                if tables:
                    self._write(self._files, side, self._concat(tables))
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                place = str(self._parent or tempfile.gettempdir())
                reason = "the disk is full"
                raise StorageFullError(location=place, reason=reason) from error
            raise
        self._held = [[], []]
        self._held_bytes = 0

    def _write(self, files: "_BucketFiles", side: int, rows: pa.Table) -> None:
        hashes = row_hashes(rows, self._columns, seed=self._depth)
        for number, some in dealt(rows, hashes, NUM_BUCKETS):
            files.write(side, number, some)

    def _smaller(self, files: "_BucketFiles", number: int) -> Iterator[Bucket]:
        """Spread a bucket that is too large over smaller ones."""
        limits = replace(
            self._limits, disk_bytes=self._limits.disk_bytes - self._written_bytes
        )
        with RowBuckets(
            self._schema,
            self._columns,
            limits,
            folder=self._parent,
            depth=self._depth + 1,
        ) as inner:
            for side in range(NUM_SIDES):
                for batch in files.read(side, number):
                    inner.add(side, pa.Table.from_batches([batch], self._schema))
            yield from inner.buckets()


class _BucketFiles:
    """One file a side and bucket, in a folder that goes with the diff."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder = folder
        self._schema = schema
        self._writers: dict[tuple[int, int], pa.RecordBatchStreamWriter] = {}
        self._bytes = [0] * NUM_BUCKETS
        self._is_open = True

    def write(self, side: int, number: int, rows: pa.Table) -> None:
        writer = self._writers.get((side, number))
        if writer is None:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            path = str(self._path(side, number))
            writer = pa.ipc.new_stream(path, self._schema, options=options)
            self._writers[side, number] = writer
        writer.write_table(rows)
        self._bytes[number] += rows.nbytes

    def bucket_bytes(self, number: int) -> int:
        return self._bytes[number]

    def read(self, side: int, number: int) -> Iterator[pa.RecordBatch]:
        if (side, number) not in self._writers:
            return
        path = str(self._path(side, number))
        with pa.OSFile(path) as file, pa.ipc.open_stream(file) as reader:
            yield from reader

    def close(self) -> None:
        """Finish the files; nothing is written after."""
        if self._is_open:
            self._is_open = False
            for writer in self._writers.values():
                writer.close()

    def _path(self, side: int, number: int) -> Path:
        return self._folder / f"{side}-{number}.arrows"
