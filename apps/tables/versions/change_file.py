"""Every changed row of a comparison, in one Parquet file."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.changes import RowDiffRequest
from deltaweb.storage.write_faults import write_fault

ROWS_A_GROUP: Final = 65_536


class ChangeFile:
    """Writes changed rows to a Parquet file; nothing is there until all of them are.

    The first column is `_change_type`, in the words of the change data feed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Another worker may be at the same job.
        mark = secrets.token_hex(4)
        self._partial = path.with_name(f".{path.name}.{mark}.partial")
        self._writer: pq.ParquetWriter | None = None
        self._held: list[pa.Table] = []
        self._held_rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._writer is not None:
                if kind is None:
                    self._flush(self._writer)
                self._writer.close()
                if kind is None:
                    self._partial.replace(self._path)
        except OSError as error:
            if kind is None:
                raise write_fault(error, place=str(self._path.parent)) from error
        finally:
            self._partial.unlink(missing_ok=True)

    def joined(self, request: RowDiffRequest) -> RowDiffRequest:
        """Return the request with this file as what gets the rows."""
        return replace(request, begin=self._begin, write=self._write)

    def _begin(self, schema: pa.Schema) -> None:
        try:
            self._writer = pq.ParquetWriter(self._partial, schema, compression="zstd")
        except OSError as error:
            raise write_fault(error, place=str(self._path.parent)) from error

    def _write(self, changes: pa.Table) -> None:
        self._held.append(changes)
        self._held_rows += changes.num_rows
        if self._writer is None or self._held_rows < ROWS_A_GROUP:
            return
        try:
            self._flush(self._writer)
        except OSError as error:
            raise write_fault(error, place=str(self._path.parent)) from error

    def _flush(self, writer: pq.ParquetWriter) -> None:
        """Write what is held: buckets may have few rows each, row groups have many."""
        if self._held:
            writer.write_table(pa.concat_tables(self._held))
        self._held, self._held_rows = [], 0
