"""Rows of the files of which the log does not say how many they have.

A manifest has to say it, and readers count rows by that: so it is read from the file
itself, of a few files; a table of many such files is refused.
"""

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.scan.data_file import OpenFile
from deltaweb.iceberg.errors import InexpressibleError
from deltaweb.parquet.counts import parse_row_group_counts
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.tail import open_source, read_footer

MAX_FOOTERS: Final = 64
RECORDS: Final = "num_records"


def with_row_counts(rows: pa.Table, open_file: OpenFile) -> pa.Table:
    """Return files with their count of rows, as far as that can be known."""
    is_unknown = pc.is_null(rows[RECORDS]).combine_chunks()
    num_unknown = is_unknown.true_count
    if not num_unknown:
        return rows
    if num_unknown > MAX_FOOTERS:
        reason = "the log does not say of every file how many rows it has"
        raise InexpressibleError(reason=reason)
    paths = rows["path"].filter(is_unknown).to_pylist()
    counts = pa.array([_count(path, open_file) for path in paths], pa.int64())
    known = rows[RECORDS].combine_chunks()
    filled = pc.replace_with_mask(known, is_unknown, counts)
    return rows.set_column(rows.schema.get_field_index(RECORDS), RECORDS, filled)


def _count(path: str, open_file: OpenFile) -> int:
    try:
        with open_file(path) as file, open_source(file) as source:
            groups = parse_row_group_counts(read_footer(source))
    except ParquetError as error:
        raise InexpressibleError(reason=f"a file is not Parquet: {error}") from error
    return sum(group.num_rows for group in groups)
