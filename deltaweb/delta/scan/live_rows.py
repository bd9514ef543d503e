"""The live rows of a data file: those that no deletion vector deletes.

Rows are told by their position in the file, whatever columns of them are read, so
a vector chooses the rows of a batch before anything else looks at their values.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa

from deltaweb.delta.deletion_vectors.deleted_rows import DeletedRows
from deltaweb.delta.deletion_vectors.reading import read_deleted_rows, vector_faults
from deltaweb.delta.deletion_vectors.roaring import Flags
from deltaweb.delta.scan.data_file import DataFile, OpenFile

Fields = Mapping[str, Any]
"""The descriptor of a deletion vector as the log has it."""


def as_mask(marks: Flags) -> pa.BooleanArray:
    """Return marks as Arrow holds them, which takes `pa.array` ten times as long."""
    bits = pa.py_buffer(np.packbits(marks, bitorder="little"))
    return pa.BooleanArray.from_buffers(pa.bool_(), len(marks), [None, bits])


class LiveRows:
    """Tells the rows of one file that are left."""

    def __init__(self, file: DataFile, fields: Fields, deleted: DeletedRows) -> None:
        self._path = file.path
        self._fields = fields
        self._deleted = deleted

    @classmethod
    def of(
        cls,
        file: DataFile,
        fields: Fields | None,
        open_file: OpenFile,
        deleted_by: Fields | None = None,
    ) -> "Self | AllRows | RowsBetween":
        """Read the vector of a file; None for one that has none.

        Args:
            deleted_by: The descriptor of another vector of the file: only live rows
                that this one deletes are wanted then.
        """
        live = AllRows() if fields is None else cls._read(file, fields, open_file)
        if deleted_by is None:
            return live
        return RowsBetween(live, cls._read(file, deleted_by, open_file))

    @classmethod
    def _read(cls, file: DataFile, fields: Fields, open_file: OpenFile) -> Self:
        deleted = read_deleted_rows(
            file.path, fields, file.metadata.num_rows, open_file
        )
        return cls(file, fields, deleted)

    def wanted(self, first: int, num_rows: int) -> pa.BooleanArray | None:
        """Return which rows from one on are live; None where all of them are."""
        marks = self.deleted(first, num_rows)
        return None if marks is None else as_mask(np.logical_not(marks, out=marks))

    def deleted(self, first: int, num_rows: int) -> Flags | None:
        """Return which rows from one on are deleted; None where none of them is."""
        with vector_faults(self._path, self._fields):
            return self._deleted.marks(first, num_rows)


class RowsBetween:
    """The rows of a file that are live by one vector, and deleted by another.

    Args:
        live: By the one; all rows where there is none.
    """

    def __init__(self, live: "LiveRows | AllRows", gone: LiveRows) -> None:
        self._live = live
        self._gone = gone

    def wanted(self, first: int, num_rows: int) -> pa.BooleanArray:
        gone = self._gone.deleted(first, num_rows)
        if gone is None:
            return as_mask(np.zeros(num_rows, np.bool_))
        dead = self._live.deleted(first, num_rows)
        return as_mask(gone if dead is None else gone & ~dead)


class AllRows:
    """The rows of a file without a vector."""

    def deleted(self, first: int, num_rows: int) -> None:  # of LiveRows
        """Return that none is."""

    def wanted(self, first: int, num_rows: int) -> None:  # of LiveRows
        """Return that all are."""
