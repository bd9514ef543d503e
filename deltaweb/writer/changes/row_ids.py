"""What rows are known by, read beside them, so that it can be written with them again.

All live rows of a file are read in its order, so the next ids are those of the next
rows that live.

Source: delta_protocol.md, "Reader Requirements for Row Tracking".
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.features.row_tracking import RowIdColumns, kept_row_ids
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.row_tracking.logged_fields import (
    BASE_ROW_ID,
    ROW_VERSION,
    LoggedFields,
    load_logged_fields,
)
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.delta.scan.rows import RowSource, read_rows
from deltaweb.delta.snapshot import Snapshot
from deltaweb.writer.changes.file_marks import FileMarks

Places = npt.NDArray[np.int64]


class RowIds(NamedTuple):
    """What some rows are known by.

    Attributes:
        versions: That inserted or changed each row last; null for the one to come.
    """

    ids: pa.Array
    versions: pa.Array

    def take(self, places: Places) -> "RowIds":
        chosen = pa.array(places, pa.int64())
        return RowIds(self.ids.take(chosen), self.versions.take(chosen))

    def changed(self, holds: pa.BooleanArray) -> "RowIds":
        """Return them with the rows of a mask changed by the version to come."""
        nothing = pa.scalar(None, pa.int64())
        return RowIds(self.ids, pc.if_else(holds, nothing, self.versions))

    def beside(self, rows: pa.RecordBatch | pa.Table) -> pa.Table:
        """Return the rows with what they are known by in two last columns."""
        columns = [*rows.columns, self.ids, self.versions]
        names = [f"{place}" for place in range(len(columns))]  # those of the file count
        return pa.Table.from_arrays(columns, names)


class KeptRowIds:
    """Reads what the rows of a version are known by.

    Args:
        columns: Where rows that were written again keep it.
    """

    def __init__(
        self, store: TableStore, snapshot: Snapshot, columns: RowIdColumns
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._columns = columns

    @classmethod
    def of(cls, store: TableStore, snapshot: Snapshot) -> Self | None:
        """Return what reads them; None where rows keep nothing."""
        columns = kept_row_ids(snapshot.protocol, snapshot.metadata)
        return None if columns is None else cls(store, snapshot, columns)

    @cached_property
    def _logged(self) -> LoggedFields:
        return load_logged_fields(self._store, self._snapshot.version)

    def of_files(self, files: pa.Table) -> RowIds:
        """Read those of all live rows of some files, in the order of these."""
        found = [self._of_file(files.slice(at, 1)) for at in range(files.num_rows)]
        nothing = pa.array([], pa.int64())
        return RowIds(
            pa.concat_arrays([nothing, *(ids for ids, _ in found)]),
            pa.concat_arrays([nothing, *(versions for _, versions in found)]),
        )

    def _of_file(self, file: pa.Table) -> RowIds:
        (path,) = file["path"].to_pylist()
        (said,) = self._logged.of(file["path"]).to_pylist()
        if said[BASE_ROW_ID] is None or said[ROW_VERSION] is None:
            reason = f"the rows of {path} have no ids, and the table tracks rows"
            raise LogCorruptError(path=f"{self._store.root}/_delta_log", reason=reason)
        places = FileMarks(self._store, file).live_places
        ids = pa.array(places + said[BASE_ROW_ID], pa.int64())
        versions = pa.repeat(pa.scalar(said[ROW_VERSION], pa.int64()), len(ids))
        kept = self._kept(file, path)
        if kept is None:
            return RowIds(ids, versions)
        mine = (column.combine_chunks() for column in kept.columns)
        return RowIds(*map(pc.coalesce, mine, (ids, versions)))

    def _kept(self, file: pa.Table, path: str) -> pa.Table | None:
        """Read what rows of a file keep; None where it has no column for that."""
        fields = self._columns.fields
        with DataFile(path, self._store.open_data_file) as opened:
            names = {*opened.metadata.schema.to_arrow_schema().names}
        if not names & {field.name for field in fields}:
            return None
        source = RowSource(
            schema=StructType(fields),
            partition_columns=(),
            files=file,
            open_file=self._store.open_data_file,
        )
        return read_rows(source)


class NextRowIds:
    """What the rows of some files are known by, some rows after the other."""

    def __init__(self, ids: RowIds) -> None:
        self._ids = ids
        self._next = 0

    def take(self, count: int) -> RowIds:
        start, self._next = self._next, self._next + count
        return RowIds(*(column.slice(start, count) for column in self._ids))


def places_of(mask: pa.BooleanArray) -> Places:
    """Return the places where a mask is true."""
    found: Places = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
    return found


def joined_places(some: Iterable[Any]) -> Places:
    return np.concatenate([np.empty(0, np.int64), *some]).astype(np.int64)
