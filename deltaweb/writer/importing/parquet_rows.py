"""Parquet files as batches, by the types of their footers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np

from deltaweb.delta.errors import DataFileError, DataFileUnsupportedError
from deltaweb.delta.protocol.schema import StructField, StructType, parse_schema
from deltaweb.delta.scan.data_file import DataFile, reading
from deltaweb.parquet.conversion.delta import problems_text
from deltaweb.parquet.conversion.stored import convert_file
from deltaweb.parquet.loading import load_footer
from deltaweb.writer.importing.batches import SourceBatch
from deltaweb.writer.importing.options import ImportFileError
from deltaweb.writer.importing.source_file import SourceFile


def parquet_schema(file: SourceFile) -> StructType:
    """Return the columns of a file as a table has them."""
    shown = file.shown
    try:
        with reading(shown), closing(file.open()) as source:
            conversion = convert_file(load_footer(source))
    except DataFileError as error:
        raise _fault(shown, error) from None
    if conversion.nullable is None:
        reason = problems_text(conversion.problems)[:2_000]
        raise ImportFileError(path=shown, reason=reason)
    return parse_schema(json.dumps(conversion.nullable))


def read_parquet(file: SourceFile, names: Sequence[str]) -> Iterator[SourceBatch]:
    """Yield the rows of a file, some at a time; a row's line is its number."""
    own: Mapping[str, StructField] = {
        column.name: column for column in parquet_schema(file).fields
    }
    schema = StructType(tuple(own[name] for name in names if name in own))
    number = 1
    try:
        with DataFile(file.shown, lambda _: file.open()) as opened:
            for row_group in range(opened.metadata.num_row_groups):
                for num_rows, columns in opened.batches(schema, row_group):
                    lines = np.arange(number, number + num_rows, dtype=np.int64)
                    number += num_rows
                    yield SourceBatch(columns, lines)
    except DataFileError as error:
        raise _fault(file.shown, error) from None


def _fault(shown: str, error: DataFileError) -> ImportFileError:
    reason = getattr(error, "reason", "") or error.message.rstrip(".")
    if isinstance(error, DataFileUnsupportedError):  # it is a Parquet file
        return ImportFileError(path=shown, reason=reason, hint=error.hint)
    return ImportFileError(path=shown, reason=reason)
