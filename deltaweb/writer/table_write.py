"""What every write of rows has in common: the table as read, and rows let in."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from deltaweb.delta.errors import (
    LocationNotFoundError,
    TableNotFoundError,
    VersionNotFoundError,
)
from deltaweb.delta.features.clustering import clustering_columns, is_clustered
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.features.row_tracking import kept_row_ids
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import (
    StructType,
    format_schema,
    parse_schema,
    schema_of_arrow,
)
from deltaweb.delta.row_tracking.logged_fields import load_domains
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.delta.writing.operations.mapped_columns import (
    with_known_mapping,
    with_mapping,
)
from deltaweb.delta.writing.operations.new_protocol import type_features
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.writer.files.data_files import DataFileWriter, FileLayout
from deltaweb.writer.rows.identity_numbers import IdentityNumbers
from deltaweb.writer.rows.row_checks import RowChecks
from deltaweb.writer.rows.row_schema import RowSchema, merged_schema


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class WrittenRows:
    """What the data files of a write add up to, whichever engine wrote them.

    Attributes:
        added: The files, in the columns of `ADDED_FILES`.
        num_copied: Rows of these that the table had before.
    """

    added: pa.Table
    num_rows: int
    num_bytes: int
    num_copied: int = 0


@dataclass(frozen=True, eq=False)
class TableWrite:
    """A write to a version of a table.

    Attributes:
        target_bytes: About how large a file is to be; None for what the table says.
    """

    store: TableStore
    base: Definition
    metadata: Metadata
    target_bytes: int | None = None
    is_new: bool = False
    time_zone: str = UTC_ZONE

    @cached_property
    def schema(self) -> StructType:
        return parse_schema(self.metadata.schema_string or "")

    @cached_property
    def numbers(self) -> IdentityNumbers:
        """The numbers that new rows get: it counts on with every row let in."""
        return IdentityNumbers.of(self.base.protocol, self.schema)

    @property
    def new_metadata(self) -> Metadata | None:
        """The metadata where it is another than the base's, once the rows are in."""
        metadata = self.numbers.noted(self.metadata)
        return None if metadata == self.base.metadata else metadata

    def open_files(self, *, keeps_ids: bool = False) -> DataFileWriter:
        """Return what writes the table's data files.

        Args:
            keeps_ids: Whether rows may keep ids, where the table tracks rows: then
                they come with two columns more.
        """
        layout = FileLayout.of_table(
            self.base.protocol, self.metadata, self.target_bytes
        ).with_statistics_of(self._clustering_columns())
        if self.is_new:
            layout = replace(layout, first_of=self.metadata.id or "")
        columns = kept_row_ids(self.base.protocol, self.metadata)
        if keeps_ids and columns is not None:
            layout = layout.of_kept_rows(columns.fields)
        return DataFileWriter(self.store, layout)

    def _clustering_columns(self) -> list[ColumnPath]:
        """Return the columns that the table is clustered by: they get statistics."""
        if not is_clustered(self.base.protocol):
            return []
        schema = table_schema(self.base.protocol, self.metadata)
        # A table that is only made has no log yet, and no such columns.
        with suppress(TableNotFoundError, LocationNotFoundError, VersionNotFoundError):
            domains = load_domains(self.store, self.base.version)
            return clustering_columns(domains, schema)[0]
        return []

    def open_change_files(self) -> DataFileWriter:
        """Return what writes the files of the table's change data feed."""
        layout = FileLayout.of_table(
            self.base.protocol, self.metadata, self.target_bytes
        )
        return DataFileWriter(self.store, layout.of_changes())

    def accept(
        self, rows: pa.RecordBatchReader, more: Sequence[RowConstraint] = ()
    ) -> Iterator[pa.RecordBatch]:
        zone = self.time_zone
        checks = RowChecks(self.metadata, self.schema, more, time_zone=zone)
        fit = RowSchema(self.schema, rows.schema, self.numbers, zone)
        for batch in rows:
            fitted = fit.fit(batch)
            checks.check(fitted)
            yield fitted


def evolved(
    base: Definition,
    incoming: pa.Schema,
    *,
    merge: bool = False,
    replaces: bool = False,
) -> Metadata:
    """Return the metadata with which rows of a schema are written."""
    metadata = base.metadata
    if not (merge or replaces):
        return metadata
    schema = parse_schema(metadata.schema_string or "")
    found = schema_of_arrow(incoming)
    if replaces:
        new = with_known_mapping(found, schema)
    else:
        new = merged_schema(schema, found)
    if new == schema:
        return metadata
    misfits = {
        name: "is a partition column, and missing"
        for name in metadata.partition_columns
        if name not in new.names
    }
    known = writer_features(base.protocol)
    for column in new.fields:
        lacking = [
            name for name in type_features(column.data_type) if name not in known
        ]
        if lacking:
            misfits[column.name] = f"needs {lacking[0]}, which the table lacks"
    if misfits:
        raise SchemaMismatchError(misfits=misfits)
    parse_schema(format_schema(new))
    grown = replace(metadata, schema_string=format_schema(new))
    return with_mapping(base.protocol, grown, before=metadata)
