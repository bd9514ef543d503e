"""One data file: opened, checked and read in batches of the table's types.

Every fault of a file ends as a `DataFileError` that names it, whatever library
found it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.data_values import MismatchError, conform, find_name
from deltaweb.delta.errors import DataFileError, DataFileMissingError, DeltaError
from deltaweb.delta.parquet_footer import FooterError, read_plain_footer
from deltaweb.delta.predicate import Predicate
from deltaweb.delta.row_groups import select_row_groups
from deltaweb.delta.schema import StructType, arrow_type

BATCH_BYTES = 32 << 20
"""What a batch may take in memory, by the file's own account of its rows."""
MAX_BATCH_ROWS = 65_536
MAX_REASON_LENGTH = 300

OpenFile = Callable[[str], pa.NativeFile]
"""Opens the data file at a path of the log."""


@dataclass(frozen=True)
class FileBatch:
    """Some rows of a data file, typed as the table's schema says.

    Attributes:
        num_rows: How many; columns may be none.
        columns: Values by logical name.
    """

    num_rows: int
    columns: dict[str, pa.Array]


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn every fault of reading the data file at `path` into a `DataFileError`."""
    try:
        yield
    except DeltaError:
        raise
    except FileNotFoundError:
        raise DataFileMissingError(path=path) from None
    except MismatchError as error:
        reason = f"column {error.column!r}: {error.reason}"
        raise DataFileError(path=path, reason=reason) from None
    except (pa.ArrowException, OSError, ValueError, MemoryError, LookupError) as error:
        reason = str(error).strip().partition("\n")[0][:MAX_REASON_LENGTH].rstrip(".")
        raise DataFileError(path=path, reason=reason or "it is damaged") from error


class DataFile:
    """An open Parquet file of a table.

    Raises:
        DataFileMissingError: The file is not in storage.
        DataFileError: The file is not Parquet.
    """

    def __init__(self, path: str, open_file: OpenFile) -> None:
        self.path = path
        with reading(path):
            self._source = open_file(path)
            try:
                self._parquet = _open_parquet(self._source)
            except BaseException:
                self.close()
                raise
            self._names = list(self._parquet.schema_arrow.names)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what `open_file` gave."""
        self._source.close()

    @property
    def metadata(self) -> pq.FileMetaData:
        """The file's footer."""
        return self._parquet.metadata

    def find_columns(self, schema: StructType) -> dict[str, str]:
        """The file's names of the columns of `schema` that it has.

        Raises:
            DataFileError: The file has a column twice.
        """
        with reading(self.path):
            found = {
                column.name: find_name(self._names, column.name, column.name)
                for column in schema.fields
            }
        return {name: stored for name, stored in found.items() if stored is not None}

    def row_groups(self, schema: StructType, predicate: Predicate | None) -> list[int]:
        """Positions of the row groups that may hold a row the condition is true for.

        Raises:
            DataFileError: The footer is damaged.
        """
        with reading(self.path):
            stored = self.find_columns(schema)
            return select_row_groups(
                self._source, self.metadata, stored, schema, predicate
            )

    def batches(
        self, schema: StructType, row_group: int, max_rows: int = MAX_BATCH_ROWS
    ) -> Iterator[FileBatch]:
        """Read one row group, typed as `schema` says.

        Args:
            schema: The columns asked for; one that the file lacks is null.
            row_group: The position of the row group.
            max_rows: The most rows that a batch may have.

        Raises:
            DataFileError: A column is of another type, or the file is damaged.
        """
        stored = self.find_columns(schema)
        with reading(self.path):
            if not stored:
                num_rows = self.metadata.row_group(row_group).num_rows
                for start in range(0, num_rows, max_rows):
                    yield _typed(None, min(max_rows, num_rows - start), schema, stored)
                return
            for batch in self._parquet.iter_batches(
                batch_size=min(max_rows, self._batch_rows(row_group)),
                row_groups=[row_group],
                columns=list(stored.values()),
            ):
                yield _typed(batch, batch.num_rows, schema, stored)

    def _batch_rows(self, row_group: int) -> int:
        group = self.metadata.row_group(row_group)
        row_bytes: int = max(1, group.total_byte_size // max(1, group.num_rows))
        return max(1, min(MAX_BATCH_ROWS, BATCH_BYTES // row_bytes))


def _open_parquet(source: pa.NativeFile) -> pq.ParquetFile:
    """Open a file; by a plainer footer where pyarrow does not take its own."""
    try:
        return _as_parquet(source, None)
    except (pa.ArrowException, OSError):
        footer = None
        with suppress(FooterError):
            footer = read_plain_footer(source)
        if footer is None:
            raise
    return _as_parquet(source, footer)


def _as_parquet(
    source: pa.NativeFile, footer: pq.FileMetaData | None
) -> pq.ParquetFile:
    # The old 96-bit timestamps reach further than nanoseconds can.
    return pq.ParquetFile(
        source,
        metadata=footer,
        coerce_int96_timestamp_unit="us",
        arrow_extensions_enabled=False,
    )


def _typed(
    batch: pa.RecordBatch | None,
    num_rows: int,
    schema: StructType,
    stored: dict[str, str],
) -> FileBatch:
    columns = {}
    for field in schema.fields:
        if batch is not None and field.name in stored:
            column = batch.column(batch.schema.names.index(stored[field.name]))
            columns[field.name] = conform(column, field.data_type, field.name)
        else:
            columns[field.name] = pa.nulls(num_rows, arrow_type(field.data_type))
    return FileBatch(num_rows, columns)
