"""Which rows two versions do not share, from the files that they do not share.

Rows are compared as multisets of whole rows: a row that is there three times before
and once after was deleted twice. With key columns, a deleted and an inserted row of
one key are an update. Counts are exact, however many rows there are; see `buckets`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from deltaweb.delta.changes.bucket_diff import diff_bucket
from deltaweb.delta.changes.buckets import RowBuckets
from deltaweb.delta.changes.common_type import CommonSchema, common_schema
from deltaweb.delta.changes.errors import RowDiffKeyError
from deltaweb.delta.changes.row_changes import RowChanges, RowDiffRequest
from deltaweb.delta.changes.tally import Tally
from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.schema import StructType, arrow_schema, check_read
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.values.data_values import Origin, conform
from deltaweb.delta.values.python_values import as_text

NoteFiles = Callable[[int], None]
"""Called with the files that were opened so far."""


@dataclass(frozen=True)
class ComparedRows:
    """What rows are compared in and matched by."""

    columns: CommonSchema
    key: tuple[str, ...]

    @classmethod
    def of(
        cls, before: StructType, after: StructType, key: Sequence[str]
    ) -> "ComparedRows":
        """Find the columns of two schemas, and the key in them."""
        for column in (*before.fields, *after.fields):
            check_read(column)
        columns = common_schema(before, after)
        return cls(columns, _check_key(key, before, after, columns))

    @property
    def schema(self) -> pa.Schema:
        """The schema that rows of both versions are brought to."""
        return arrow_schema(self.columns.schema)

    @property
    def spread_by(self) -> Sequence[str]:
        """The columns that decide about a row's bucket."""
        names: Sequence[str] = self.columns.schema.names
        return self.key or names


def diff_rows(
    before: RowSource, after: RowSource, request: RowDiffRequest | None = None
) -> RowChanges:
    """Compare the rows of files of one version with those of another.

    Args:
        before: Files of the first version that the second does not have.
        after: Files of the second version that the first does not have.
        request: How; by whole rows for None.
    """
    request = request or RowDiffRequest()
    compared = ComparedRows.of(before.schema, after.schema, request.key)
    tally = Tally(compared.columns, compared.key, request)
    if request.begin is not None:
        request.begin(tally.schema)
    with RowBuckets(
        compared.schema, compared.spread_by, request.limits, folder=request.folder
    ) as buckets:
        total = before.files.num_rows + after.files.num_rows
        for side, source in enumerate((before, after)):
            note = partial(tally.note_files, total=total, before=tally.num_files_read)
            for rows in common_rows(source, compared.columns, note):
                tally.num_rows_read += rows.num_rows
                buckets.add(side, rows)
        note = partial(tally.note_files, total, total=total)
        compare_buckets(buckets, compared, tally, note)
    return tally.result()


def compare_buckets(
    buckets: RowBuckets,
    compared: ComparedRows,
    tally: Tally,
    on_bucket: Callable[[], None] | None = None,
) -> None:
    columns = compared.columns
    for olds, news in buckets.buckets():
        if on_bucket is not None:
            on_bucket()
        tally.take(diff_bucket(olds, news, key=compared.key, as_text=columns.as_text))


def common_rows(
    source: RowSource, columns: CommonSchema, note: NoteFiles | None = None
) -> Iterator[pa.Table]:
    """Read the rows of one version, brought to the common schema."""
    if not source.files.num_rows:
        return
    schema = arrow_schema(columns.schema)
    scan = iter_rows(source)
    for batch in scan:
        if note is not None:
            note(scan.files_scanned)
        arrays = [
            _common_values(batch, name, columns, schema.field(name).type)
            for name in schema.names
        ]
        yield pa.Table.from_arrays(arrays, schema=schema)
    if note is not None:
        note(scan.files_scanned)


def _check_key(
    key: Sequence[str], before: StructType, after: StructType, columns: CommonSchema
) -> tuple[str, ...]:
    names = columns.schema.names
    for name in key:
        if name not in names:
            raise ColumnNotFoundError(column=name, columns=names)
        if name not in before.names or name not in after.names:
            raise RowDiffKeyError(
                column=name, reason="one of the versions does not have it"
            )
        if name in columns.as_text:
            raise RowDiffKeyError(column=name, reason="its type has changed")
    return tuple(dict.fromkeys(key))


def _common_values(
    batch: pa.RecordBatch, name: str, columns: CommonSchema, target: pa.DataType
) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, target)
    values = batch.column(name)
    if name in columns.as_text:
        return as_text(values)
    if values.type.equals(target):
        return values
    field_type = columns.schema.fields[columns.schema.names.index(name)].data_type
    return conform(values, field_type, name, origin=Origin.PARTIAL_ROWS)
