"""What the data files of a version really hold, by their footers: added up in process.

Spark's tasks do the same with their share of them: `deltaweb.spark.data_files.survey`.
"""

from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import (
    DataType,
    StructField,
    StructType,
    parts_of,
    schema_json,
)
from deltaweb.delta.scan.data_file import OpenFile, reading
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.inspection.differences import SurveyedColumn
from deltaweb.parquet.inspection.nodes import type_word
from deltaweb.parquet.inspection.survey import Survey
from deltaweb.parquet.loading import load_footer


def surveyed_columns(
    schema: StructType, partition_columns: Sequence[str]
) -> tuple[SurveyedColumn, ...]:
    """Return the columns of a version as its files are held against them."""
    return tuple(
        _field(column, is_partition=column.name in partition_columns)
        for column in schema.fields
    )


def _field(column: StructField, *, is_partition: bool = False) -> SurveyedColumn:
    return SurveyedColumn(
        name=column.name,
        stored_name=column.stored_name,
        field_id=column.field_id,
        type_word=type_word(schema_json(column.data_type)),
        is_partition=is_partition,
        parts=_parts(column.data_type),
    )


def _parts(data_type: DataType) -> tuple[SurveyedColumn, ...]:
    return tuple(map(_field, parts_of(data_type)))


def survey_files(
    survey: Survey,
    paths: Iterable[str],
    open_file: OpenFile,
    on_file: Callable[[int], None] | None = None,
) -> None:
    """Add up the files at some paths; one that does not read is added up as such.

    Args:
        on_file: Called with how many are done; what it raises ends the work.
    """
    for done, path in enumerate(paths, 1):
        try:
            with reading(path), open_file(path) as source:
                _add(survey, path, source)
        except DataFileError as error:
            survey.add_unreadable(path, 0, error.code, error.message)
        if on_file is not None:
            on_file(done)


def _add(survey: Survey, path: str, source: pa.NativeFile) -> None:
    size_bytes = source.size()
    try:
        survey.add(path, size_bytes, load_footer(source))
    except ParquetError as error:
        survey.add_unreadable(path, size_bytes, error.code, error.message)
