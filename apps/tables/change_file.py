"""Every changed row of a comparison, in one Parquet file."""

from dataclasses import replace
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.table_changes import RowDiffRequest


class ChangeFile:
    """Writes changed rows to a Parquet file; nothing is there until all of them are.

    The first column is `_change_type`, in the words of the change data feed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._partial = path.with_name(f".{path.name}.partial")
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
        if kind is None and self._writer is not None:
            self._partial.replace(self._path)
        else:
            self._partial.unlink(missing_ok=True)

    def joined(self, request: RowDiffRequest) -> RowDiffRequest:
        """Return the request with this file as what gets the rows."""
        return replace(request, begin=self._begin, write=self._write)

    def _begin(self, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(self._partial, schema, compression="zstd")

    def _write(self, changes: pa.Table) -> None:
        if self._writer is not None:
            self._writer.write_table(changes)
