"""One data file: opened, checked and read in batches of the table's types.

Every fault of a file ends as a `DataFileError` that names it, whatever library
found it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import accumulate
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.errors import (
    NOT_READ,
    DataFileError,
    DataFileMissingError,
    DataFileRowsError,
    DataFileUnsupportedError,
    DeltaError,
)
from deltaweb.delta.protocol.schema import StructField, StructType, arrow_type
from deltaweb.delta.scan.decoded_bytes import DecodedBytes, parts
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.delta.scan.row_groups import (
    MAX_FOOTER_BYTES,
    has_every_chunk,
    select_row_groups,
)
from deltaweb.delta.scan.variant_parts import VariantPart
from deltaweb.delta.values.data_values import TYPED_VARIANT, Origin, conform
from deltaweb.delta.values.old_calendar.calendar import old_calendar
from deltaweb.delta.values.stored_columns import MismatchError, StoredColumns
from deltaweb.parquet.arrow_footer import (
    fault_reason,
    has_misread,
    open_parquet,
    parse_arrow_footer,
    plain_footer,
    read_fault,
)
from deltaweb.parquet.counts import RowGroupCounts, parse_row_group_counts
from deltaweb.parquet.errors import (
    FileEncryptedError,
    ParquetError,
    ParquetUnsupportedError,
    RowsMissingError,
)
from deltaweb.parquet.tail import read_footer
from deltaweb.parquet.values.dictionaries import StoredChunks
from deltaweb.parquet.values.verdicts import check_chunks, check_schema, explain_fault
from deltaweb.parquet.values.whole_groups import LeafColumns, WholeGroups

MIN_ROWS: Final = 10_000
"""In fewer rows finding out takes longer than it saves."""


class CodedColumns:
    """What the footer of a file says of its dictionaries."""

    def __init__(
        self, footer: bytes, metadata: pq.FileMetaData, fields: Sequence[pa.Field]
    ) -> None:
        self._footer = footer
        self._metadata = metadata
        self._fields = fields

    def among(self, names: Iterable[str], row_group: int) -> tuple[str, ...]:
        """Return which columns a row group holds as nothing but codes."""
        if self._metadata.row_group(row_group).num_rows < MIN_ROWS:
            return ()
        wanted = self._texts.intersection(names)
        if not wanted or not self._groups:
            return ()
        group = self._groups[row_group]
        try:
            return tuple(
                name
                for name in sorted(wanted)
                if name in self._leaves and group.chunk(self._leaves[name]).is_coded
            )
        except ParquetError:
            return ()

    @cached_property
    def _texts(self) -> frozenset[str]:
        # A dot in a name cannot be told from a nested column by pyarrow.
        return frozenset(
            field.name
            for field in self._fields
            if field.type in {pa.string(), pa.binary()} and "." not in field.name
        )

    @cached_property
    def _leaves(self) -> dict[str, int]:
        schema = self._metadata.schema
        return {schema.column(i).path: i for i in range(len(schema))}

    @cached_property
    def _groups(self) -> Sequence[RowGroupCounts]:
        """What is known of the row groups; none where the footer is not looked at."""
        if len(self._footer) > MAX_FOOTER_BYTES:
            return ()
        try:
            groups = parse_row_group_counts(self._footer)
        except ParquetError:
            return ()
        return groups if has_every_chunk(groups, self._metadata) else ()


BATCH_BYTES = 32 << 20
"""What a batch may take in memory, by the file's own account of its rows."""
MAX_BATCH_ROWS = 65_536
THREADED_BYTES = 1 << 20
"""Row groups of more bytes are decoded by several threads."""
HELD_BYTES = 64 << 10
"""Files up to this size are read whole at once."""

OTHER_SCHEMA: Final = (
    "Compare the schema of the file with the table's, or write its rows again."
)
"""What to do with a healthy file whose values are not those of the table."""

OpenFile = Callable[[str], pa.NativeFile]
"""Opens the data file at a path of the log."""
ChooseRows = Callable[[int, int], pa.BooleanArray | None]
"""Tells which rows are wanted from a position of the file on; None for all."""


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
        raise DataFileError(path=path, reason=reason, hint=OTHER_SCHEMA) from None
    except RowsMissingError as error:
        raise DataFileRowsError(path=path, reason=error.reason) from None
    except (ParquetUnsupportedError, FileEncryptedError) as error:
        reason = error.reason or error.message.rstrip(".")
        raise DataFileUnsupportedError(path=path, reason=reason) from error
    except ParquetError as error:
        reason = error.message.rstrip(".")
        raise DataFileError(path=path, reason=reason, hint=error.hint) from error
    except (pa.ArrowException, OSError, ValueError, MemoryError, LookupError) as error:
        reason = fault_reason(error) or "it is damaged"
        if isinstance(read_fault(error), ParquetUnsupportedError):
            raise DataFileUnsupportedError(path=path, reason=reason) from error
        if isinstance(error, OSError) and error.errno is not None:
            raise DataFileError(path=path, reason=reason, hint=NOT_READ) from error
        raise DataFileError(path=path, reason=reason) from error


class DataFile:
    """An open Parquet file of a table."""

    def __init__(self, path: str, open_file: OpenFile) -> None:
        self.path = path
        with reading(path):
            self._source = open_file(path)
            try:
                self._source = _held(self._source)
                self._footer = read_footer(self._source)
                self._chunks = chunks = StoredChunks(self._footer)
                self._parquet = _open_parquet(self._source, self._footer, chunks)
            except BaseException:
                self.close()
                raise
            self._fields = list(self._parquet.schema_arrow)
            self._calendar = old_calendar(self.metadata, self._fields)
            self._stored = StoredColumns(self._fields)
            self._found: tuple[StructType, dict[str, str]] | None = None
            self._coded = CodedColumns(self._footer, self.metadata, self._fields)
            self._decoded = DecodedBytes(
                chunks, self.metadata, self._fields, self._source
            )
            columns = LeafColumns.of(self._fields, self.metadata.num_columns)
            self._groups = WholeGroups(chunks, self.metadata, columns, self._source)
            self._readers: dict[tuple[str, ...], pq.ParquetFile] = {(): self._parquet}
            if not self.metadata.num_row_groups:  # else a row group that is read does
                _ = self._groups.num_rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what `open_file` gave."""
        self._source.close()

    @property
    def metadata(self) -> pq.FileMetaData:
        return self._parquet.metadata

    @cached_property
    def first_rows(self) -> list[int]:
        with reading(self.path):
            return list(accumulate(self._groups.num_rows, initial=0))

    def find_columns(self, schema: StructType) -> dict[str, str]:
        """The file's names of the columns of `schema` that it has."""
        if self._found is None or self._found[0] is not schema:
            with reading(self.path):
                found = {column.name: self._find(column) for column in schema.fields}
            stored = {name: at for name, at in found.items() if at is not None}
            self._found = schema, stored
        return self._found[1]

    def _find(self, column: StructField) -> str | None:
        if column.field_id is not None and not self._stored.has_ids:
            reason = "columns are mapped by id, but the file has no field ids"
            raise MismatchError(column=column.name, reason=reason)
        position = self._stored.find(column, column.name)
        if position is None:
            return None
        name: str = self._fields[position].name
        if column.field_id is not None:  # what was found by its id is read by its name
            self._stored.find(StructField(name, column.data_type), column.name)
        return name

    def check_types(self, schema: StructType) -> None:
        """Check that columns can be read as `schema` says; no value is read."""
        stored = self.find_columns(schema)
        with reading(self.path):
            check_schema(self._chunks.root, frozenset(stored.values()))
            batch = pa.RecordBatch.from_pylist([], self._parquet.schema_arrow)
            _typed(self._dated(batch), 0, schema, stored)

    def row_groups(self, schema: StructType, predicate: Predicate | None) -> list[int]:
        """Positions of the row groups that may hold a row the condition is true for."""
        with reading(self.path):
            stored = self.find_columns(schema)
            if self._calendar is not None:  # bounds are in it as well
                predicate = None
            return select_row_groups(
                self._footer, self.metadata, stored, schema, predicate
            )

    def row_group_bytes(self) -> list[int]:
        """Return the compressed bytes of each row group."""
        with reading(self.path):
            groups = parse_row_group_counts(self._footer)
        return [group.size_bytes for group in groups]

    def batches(
        self,
        schema: StructType,
        row_group: int,
        max_rows: int = MAX_BATCH_ROWS,
        choose: ChooseRows | None = None,
    ) -> Iterator[tuple[int, dict[str, pa.Array]]]:
        """Read one row group, typed as `schema` says: numbers of rows, and columns.

        Args:
            schema: The columns asked for; one that the file lacks is null.
        """
        stored = self.find_columns(schema)
        first = self.first_rows[row_group]
        with reading(self.path):
            read = frozenset(stored.values())
            check_schema(self._chunks.root, read)
            # A column that is missing may have another name in the schema alone.
            is_whole = len(stored) == len(schema.fields)
            num_rows = self._groups.num_rows[row_group]
            names = read if is_whole and read else None
            check_chunks(self._chunks, row_group, num_rows, names)
            for batch, num_rows in self._stored_batches(stored, row_group, max_rows):
                mask = None if choose is None else choose(first, num_rows)
                first += num_rows
                if mask is None:
                    yield _typed(self._dated(batch), num_rows, schema, stored)
                elif kept := mask.true_count:
                    chosen = None if batch is None else batch.filter(mask)
                    yield _typed(self._dated(chosen), kept, schema, stored)

    def _stored_batches(
        self, stored: dict[str, str], row_group: int, max_rows: int
    ) -> Iterator[tuple[pa.RecordBatch | None, int]]:
        """Yield batches of a row group, None without a column, and their rows."""
        names = list(dict.fromkeys(stored.values()))
        if not names:
            num_rows = self.metadata.row_group(row_group).num_rows
            for start in range(0, num_rows, max_rows):
                yield None, min(max_rows, num_rows - start)
            return
        rows = min(max_rows, self._batch_rows(row_group))
        coded = self._coded.among(names, row_group)
        texts = [name for name in names if name not in coded]
        rows, wide = self._decoded.rows_at_once(texts, row_group, rows)
        coded = *coded, *wide

        def read(source: pa.NativeFile) -> Iterator[pa.RecordBatch]:
            batches: Iterator[pa.RecordBatch] = self._reader(
                coded, source
            ).iter_batches(
                batch_size=rows,
                row_groups=[row_group],
                columns=names,
                use_threads=self._is_worth_threads(row_group),
            )
            return batches

        try:
            for batch in self._groups.batches(row_group, names, read):
                for part in parts(batch) if coded else (batch,):
                    yield part, part.num_rows
        except (pa.ArrowException, OSError) as error:
            explain_fault(error, self._footer, names)
            raise

    def _reader(self, coded: tuple[str, ...], source: pa.NativeFile) -> pq.ParquetFile:
        """Return what reads row groups, some columns of texts as codes."""
        if source is not self._source:
            return open_parquet(source, self.metadata, coded=coded)
        if coded not in self._readers:
            self._readers[coded] = open_parquet(
                self._source, self.metadata, coded=coded
            )
        return self._readers[coded]

    def _dated(self, batch: pa.RecordBatch | None) -> pa.RecordBatch | None:
        """Bring days and times to the calendar of tables."""
        if batch is None or self._calendar is None:
            return batch
        return self._calendar.batch(batch)

    def _is_worth_threads(self, row_group: int) -> bool:
        """Whether columns are decoded beside each other.

        Handing few rows to threads takes longer than to decode them.
        """
        return int(self.metadata.row_group(row_group).total_byte_size) > THREADED_BYTES

    def _batch_rows(self, row_group: int) -> int:
        group = self.metadata.row_group(row_group)
        row_bytes: int = max(1, group.total_byte_size // max(1, group.num_rows))
        return max(1, min(MAX_BATCH_ROWS, BATCH_BYTES // row_bytes))


def _held(source: pa.NativeFile) -> pa.NativeFile:
    """Return a small file read whole: reading its parts takes longer."""
    if isinstance(source, pa.BufferReader):
        return source
    size = source.size()
    if size > HELD_BYTES:
        return source
    with source:
        return pa.BufferReader(source.read(size))


def _open_parquet(
    source: pa.NativeFile, footer: bytes, chunks: StoredChunks
) -> pq.ParquetFile:
    """Open a file; by a plainer footer where pyarrow does not take its own."""
    try:
        if isinstance(source, pa.BufferReader):  # who cannot change, nor grow
            opened = open_parquet(source)
        else:
            opened = open_parquet(source, parse_arrow_footer(footer))
        if not has_misread(chunks.root):
            return opened
    except (pa.ArrowException, OSError):
        plain = None
        with suppress(ParquetError):
            plain = plain_footer(footer)
        if plain is None:
            raise
    else:
        plain = plain_footer(footer) or footer
    return open_parquet(source, parse_arrow_footer(plain))


def _typed(
    batch: pa.RecordBatch | None,
    num_rows: int,
    schema: StructType,
    stored: dict[str, str],
) -> tuple[int, dict[str, pa.Array]]:
    columns = {}
    typed: dict[str, pa.Array] = {}
    names = () if batch is None else batch.schema.names
    for field in schema.fields:
        if batch is None or field.name not in stored:
            columns[field.name] = pa.nulls(num_rows, arrow_type(field.data_type))
            continue
        at = stored[field.name]
        column = batch.column(names.index(at))
        if not isinstance(field, VariantPart):
            columns[field.name] = conform(
                column, field.data_type, field.name, origin=Origin.DATA_FILE
            )
            continue
        if at not in typed:  # once for all parts of a variant
            typed[at] = conform(
                column, TYPED_VARIANT, field.column, origin=Origin.DATA_FILE
            )
        columns[field.name] = field.values_of(typed[at])
    return num_rows, columns
