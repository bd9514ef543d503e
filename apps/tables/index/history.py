"""The history that an index holds, mapped: commits, metadata and protocols."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.index.folder.file_index import HISTORY_SCHEMAS
from deltaweb.index.folder.parts import map_batches
from deltaweb.index.folder.result import IndexResult

ROWS_A_BATCH: Final = 4096


@dataclass(frozen=True, slots=True, eq=False)
class IndexedHistory:
    """What an index holds of a table's past; rows ascend by version.

    Attributes:
        result: The facts of its newest version.
        commits: `commits.arrow`.
        metadata: `metadata.arrow`.
        protocols: `protocols.arrow`.
    """

    result: IndexResult
    commits: pa.Table
    metadata: pa.Table
    protocols: pa.Table

    @property
    def first_kept(self) -> int:
        """The oldest commit whose file the log holds; behind all where it has none."""
        first = self.result.first_commit
        return (self.result.version or 0) + 1 if first is None else first

    def commits_after(
        self, version: int, limit: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the commits after a version, the oldest `limit` of them."""
        newer = rows_after(self.commits, version)
        wanted = newer if limit is None else newer.slice(0, limit)
        yield from wanted.to_batches(max_chunksize=ROWS_A_BATCH)

    def count_after(self, version: int) -> int:
        """Count the commits after a version."""
        return int(rows_after(self.commits, version).num_rows)

    def commit(self, version: int) -> dict[str, Any] | None:
        """Return one commit; None where the index does not hold it."""
        rows = rows_after(self.commits, version - 1).slice(0, 1).to_pylist()
        return rows[0] if rows and rows[0]["version"] == version else None

    def metadata_id(self, version: int) -> str:
        """The metaData.id in force at a version; the first one where that is later."""
        position = _count_until(self.metadata, version) - 1
        if not self.metadata.num_rows:
            return self.result.delta_id
        return str(self.metadata["metadata_id"][max(position, 0)].as_py())


def open_history(folder: Path, result: IndexResult) -> IndexedHistory:
    """Map the history of an index."""
    tables = [
        pa.Table.from_batches(map_batches(folder, name, schema), schema)
        for name, schema in HISTORY_SCHEMAS.items()
    ]
    return IndexedHistory(result, *tables)


def rows_after(table: pa.Table, version: int) -> pa.Table:
    """Return the rows after a version, without a copy."""
    return table.slice(_count_until(table, version))


def _count_until(table: pa.Table, version: int) -> int:
    """Count the rows up to a version."""
    return int(pc.sum(pc.less_equal(table["version"], version)).as_py() or 0)
