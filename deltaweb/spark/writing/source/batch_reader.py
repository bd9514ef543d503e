"""Rows of a version, as the data source reads them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType as SparkStruct

from deltaweb import writer
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.expressions.session.settings import UNKNOWN, SessionSettings
from deltaweb.spark.data_files.shares import deal_out
from deltaweb.spark.writing.file_rows import FileReading, reading_of
from deltaweb.spark.writing.spark_types import spark_schema
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable


class FilesPartition(InputPartition):
    """Files that one task reads."""

    def __init__(self, files: pa.Table) -> None:
        super().__init__(files)


class BatchReader(DataSourceReader):
    """Reads the rows of a version.

    Args:
        files_where: Files that hold no row that this SQL is true for are left out;
            None for none.
    """

    def __init__(
        self,
        place: TablePlace,
        version: int,
        columns: SparkStruct,
        files_where: str | None = None,
        settings: SessionSettings = UNKNOWN,
    ) -> None:
        self._place = place
        self._version = version
        self._files_where = files_where
        self._settings = settings
        snapshot = self._snapshot()
        self._reading = reading_of_columns(snapshot.state.definition, place, columns)

    def _snapshot(self) -> Snapshot:
        return DeltaTable.from_store(self._place.open()).snapshot(self._version)

    def partitions(self) -> Sequence[InputPartition]:
        """Deal the files out to tasks."""
        snapshot = self._snapshot()
        if self._files_where is None:
            return dealt_out(snapshot.files)
        found = writer.matching.find_matches(  # what parses SQL is large
            snapshot,
            self._files_where,
            is_evaluated_here=False,
            settings=self._settings,
        )
        return dealt_out(pa.concat_tables([found.whole, found.partly]))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is not None:  # Spark's own, where a table has no file
            yield from self._reading.rows(partition.value)


def dealt_out(files: pa.Table) -> list[InputPartition]:
    """Return files in shares, one a task."""
    if not files.num_rows:
        return []
    shares = deal_out(files, at_least=os.cpu_count() or 1)
    return [FilesPartition(share) for share in shares]


def reading_of_columns(
    definition: Definition, place: TablePlace, columns: SparkStruct
) -> FileReading:
    reading = reading_of(definition, place)
    there = {
        field.name: field.dataType for field in spark_schema(reading.schema).fields
    }
    misfits = {}
    for field in columns.fields:
        if field.name not in there:
            misfits[field.name] = "is not a column of the table"
        elif there[field.name] != field.dataType:
            kind = there[field.name].simpleString()
            misfits[field.name] = f"is {kind} in the table"
    if misfits:
        raise SchemaMismatchError(misfits=misfits)
    return replace(reading, columns=tuple(columns.names))
