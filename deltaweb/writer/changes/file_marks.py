"""Which rows of a file are deleted, and become so while its live rows are read.

Rows are told by their place in the file. All live rows of a file are read in its
order, so the next ones that are looked at are the next ones that live.
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.deletion_vectors.reading import read_deleted_rows
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.log.store import DataStore
from deltaweb.delta.scan.data_file import DataFile

ONE_FILE: Final = 0


class FileMarks:
    """The deleted rows of one file.

    Attributes:
        had_vector: Whether some were before.
    """

    def __init__(self, store: DataStore, file: pa.Table) -> None:
        path = file["path"][ONE_FILE].as_py()
        fields = file[VECTOR][ONE_FILE].as_py()
        with DataFile(path, store.open_data_file) as opened:
            num_rows = opened.metadata.num_rows
        self.marks = np.zeros(num_rows, np.bool_)
        self.had_vector = fields is not None
        if fields is not None:
            deleted = read_deleted_rows(path, fields, num_rows, store.open_data_file)
            before = deleted.marks(0, num_rows)
            self.marks = self.marks if before is None else before
        self._live = np.flatnonzero(~self.marks)
        self._next = 0

    @property
    def num_rows(self) -> int:
        """Rows of the file, deleted ones too."""
        return len(self.marks)

    @property
    def live_places(self) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """The places in the file of the rows that lived before any was taken."""
        return self._live

    @property
    def are_all_deleted(self) -> bool:
        return bool(self.marks.all())

    def take(self, holds: pa.BooleanArray) -> None:
        """Mark those of the next live rows where a mask is true."""
        end = self._next + len(holds)
        chosen = holds.to_numpy(zero_copy_only=False).astype(np.bool_)
        self.marks[self._live[self._next : end][chosen]] = True
        self._next = end
