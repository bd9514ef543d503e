"""Rows of data files as tasks read them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.values.data_values import relabelled
from deltaweb.spark.arrow_frames import Batches, in_small_batches, run_parts
from deltaweb.spark.data_files.shares import deal_out
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.spark_types import sent_schema, spark_schema
from deltaweb.storage.place import TablePlace

FILE_NUMBER: Final = "_deltaweb_file"
"""The column that says which of some files a row is of."""
FILE_PLACE: Final = "_deltaweb_place"
"""The column that says which of the live rows of its file a row is, from 0 on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileReading:
    """How rows of data files are read."""

    place: TablePlace
    schema: StructType
    partition_columns: tuple[str, ...]
    columns: tuple[str, ...]

    def table_rows(self, files: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield the rows of files with all columns, in the types of the table."""
        yield from iter_rows(self._source(files))

    def rows(self, files: pa.Table) -> Iterator[pa.RecordBatch]:
        columns = self.schema.select(self.columns)
        wanted = sent_schema(spark_schema(columns))
        ordered = pa.schema([wanted.field(name) for name in self.columns])
        scan = iter_rows(self._source(files), columns=self.columns)
        for batch in scan:
            yield from in_small_batches(relabelled(batch, ordered))

    def _source(self, files: pa.Table) -> RowSource:
        return RowSource(
            schema=self.schema,
            partition_columns=self.partition_columns,
            files=files,
            open_file=self.place.open().open_data_file,
        )


def reading_of(definition: Definition, place: TablePlace) -> FileReading:
    schema = table_schema(definition.protocol, definition.metadata)
    return FileReading(
        place=place,
        schema=schema,
        partition_columns=tuple(definition.metadata.partition_columns),
        columns=schema.names,
    )


@contextmanager
def numbered_rows(
    spark: SparkSession, reading: FileReading, files: pa.Table
) -> Iterator[DataFrame]:
    """Give the rows of files as a DataFrame, as long as the context lasts.

    Returns:
        The columns that are read, `FILE_NUMBER`: the row of `files`, and `FILE_PLACE`.
    """
    numbered = files.append_column(
        FILE_NUMBER, pa.array(range(files.num_rows), pa.int64())
    )
    at_least = spark.sparkContext.defaultParallelism
    parts = deal_out(numbered, at_least=at_least, more=(FILE_NUMBER,))
    columns = spark_schema(reading.schema.select(reading.columns))
    schema = sent_schema(columns)
    for name in (FILE_NUMBER, FILE_PLACE):
        schema = schema.append(pa.field(name, pa.int64()))
    with run_parts(spark, parts, partial(_numbered_part, reading), schema) as rows:
        yield rows


def _numbered_part(reading: FileReading, part: pa.Table) -> Batches:
    with faults_are_carried():
        for position in range(part.num_rows):
            file = part.slice(position, 1)
            value, start = file[FILE_NUMBER][0], 0
            for rows in reading.rows(file.drop_columns([FILE_NUMBER])):
                end = start + rows.num_rows
                numbers = pa.repeat(value, rows.num_rows)
                places = pa.array(np.arange(start, end), pa.int64())
                numbered = rows.append_column(FILE_NUMBER, numbers)
                yield numbered.append_column(FILE_PLACE, places)
                start = end


def by_file(batches: Batches) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the number of a file, and some of its rows, which stand together."""
    for batch in batches:
        numbers = batch.column(FILE_NUMBER).to_numpy()
        starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
        for start, end in zip(starts, [*starts[1:], len(numbers)], strict=True):
            yield int(numbers[start]), batch.slice(start, end - start)
