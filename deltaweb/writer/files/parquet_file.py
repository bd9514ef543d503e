"""One Parquet file of a table while it is written, row group by row group.

Which columns have bounds in its footer is said when it is begun, by its first rows:
rows with a NaN where those had none go to another file.
"""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deltaweb.delta.errors import DeltaError, LocationNotWritableError
from deltaweb.delta.log.store import DataStore, PendingFile
from deltaweb.delta.protocol.table_properties import DEFAULT_CODEC
from deltaweb.delta.values.footer_bounds import leaves_with_nan, leaves_without
from deltaweb.writer.files.file_shape import FileShape
from deltaweb.writer.files.statistics import FileStatistics

FIRST_OF: Final = "deltaweb.first-of"
"""The key of a footer by which a file of a table that was never made is known."""
SAMPLE_ROWS: Final = 20_000
MAX_DISTINCT: Final = 0.75
"""Distinct values of a sample, as a share, from which a dictionary does not pay."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that is whole: what the log says of it."""

    path: str
    size: int
    num_rows: int
    stats: str


@dataclass(eq=False)
class OpenParquetFile:
    """A file that nobody sees yet.

    Attributes:
        dictionaries: The columns that get one, by the file's names, or whether all do.
        first_of: The id of a table that does not exist before this file; else empty.
        unbounded: The leaf columns without bounds in its footer, by the file's paths:
            those that begin with a NaN, and any that are given.
        is_small: Whether its bytes wait in memory, and go to storage all at once.
    """

    store: DataStore
    path: str
    statistics: FileStatistics
    dictionaries: list[str] | bool = True
    first_of: str = ""
    unbounded: frozenset[str] = frozenset()
    codec: str = DEFAULT_CODEC
    is_small: bool = False
    _writer: pq.ParquetWriter | None = None

    def __post_init__(self) -> None:
        self._pending: PendingFile = (
            _SmallFile(self.store, self.path)
            if self.is_small
            else self.store.begin_data_file(self.path)
        )

    @property
    def size(self) -> int:
        """Bytes so far, without the footer."""
        return int(self._pending.sink.tell())

    def write(self, rows: pa.Table, *, has_nan: bool = True) -> bool:
        """Write rows, in the columns of files, as one row group.

        Args:
            has_nan: False where it is known that no value is a NaN.

        Returns:
            Whether they were: not where they have a NaN in a column with bounds.
        """
        with_nan = leaves_with_nan(rows) if has_nan else frozenset[str]()
        if self._writer is None:
            self.unbounded |= with_nan
        elif not with_nan <= self.unbounded:
            return False
        self.statistics.add(rows, has_nan=bool(with_nan))
        try:
            if self._writer is None:
                self._writer = pq.ParquetWriter(
                    self._pending.sink,
                    rows.schema,
                    compression=self.codec,
                    use_dictionary=self.dictionaries,
                    store_schema=False,
                    write_statistics=leaves_without(rows.schema, self.unbounded),
                )
            self._writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        except OSError as error:
            raise self._pending.fault(error) from None
        return True

    def finish(self) -> WrittenFile:
        """Write the footer and give the file its name; rows were written to it."""
        try:
            if self._writer is not None:
                if self.first_of:
                    self._writer.add_key_value_metadata({FIRST_OF: self.first_of})
                self._writer.close()
        except OSError as error:
            raise self._pending.fault(error) from None
        size = self._pending.finish()
        self._pending.commit()
        statistics = self.statistics
        return WrittenFile(
            self.path, size, statistics.num_records, statistics.to_json()
        )

    def discard(self) -> None:
        self._pending.discard()


class _SmallFile:
    """A pending file that storage only sees when its bytes are whole."""

    def __init__(self, store: DataStore, path: str) -> None:
        self.name = path
        self.sink: pa.NativeFile = pa.BufferOutputStream()
        self._store = store
        self._pending: PendingFile | None = None

    def finish(self) -> int:
        """Write the bytes with one call, make them durable, and return their count."""
        self._pending = pending = self._store.begin_data_file(self.name)
        try:
            pending.sink.write(self.sink.getvalue())
        except OSError as error:
            raise pending.fault(error) from None
        return pending.finish()

    def commit(self) -> None:
        if self._pending is not None:
            self._pending.commit()

    def discard(self) -> None:
        if self._pending is not None:
            self._pending.discard()

    def fault(self, error: OSError) -> DeltaError:
        """Return the error of ours that a fault of the memory means."""
        return LocationNotWritableError(location=self.name, reason=str(error))


def dictionaries_of(shape: FileShape, rows: pa.Table) -> list[str] | bool:
    """Return the columns of a file that get a dictionary: whose values come again.

    Inside of nested columns names are paths of the file: there all get one.
    """
    if any(pa.types.is_nested(kind) for kind in shape.plain):
        return True
    columns = rows.select(shape.names)
    repeating = [f.name for f in columns.schema if _repeats(columns.column(f.name))]
    return shape.stored_names(repeating) or False


def _repeats(column: pa.ChunkedArray) -> bool:
    if pa.types.is_boolean(column.type):
        return False
    sample = column.slice(0, SAMPLE_ROWS)
    return bool(pc.count_distinct(sample).as_py() < MAX_DISTINCT * len(sample))
