"""Rows of a command as a file: CSV, JSON, Parquet or XLSX."""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from apps.pages.responses import to_json
from apps.tables.management import row_output
from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.exports.errors import MAX_SHEET_ROWS, SheetRowsError
from deltaweb.exports.xlsx import write_xlsx
from deltaweb.storage.write_faults import write_fault

BINARY_FORMATS: Final = ("parquet", "xlsx")
FILE_FORMATS: Final = ("csv", "json", *BINARY_FORMATS)
ROWS_A_GROUP: Final = 65_536


def write_rows(
    path: Path, form: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> int:
    """Write rows to a file, which is there as a whole or not at all.

    Args:
        form: One of `FILE_FORMATS`.

    Returns:
        The number of rows.

    Raises:
        SheetError: If an XLSX sheet cannot hold the rows.
        StorageError: If the file cannot be written.
        LocationUnreachableError: If the rows cannot be read.
    """
    batches = _read(batches)
    with _whole(path) as beside:
        if form == "csv":
            return _write_csv(beside, schema, batches)
        if form == "parquet":
            return _write_parquet(beside, schema, batches)
        if form == "xlsx":
            batches = _for_sheet(batches)
        rows = pa.Table.from_batches(batches, schema)
        if form == "xlsx":
            write_xlsx(beside, rows)
        else:
            text = to_json(row_output.json_rows(rows), indent=2)
            beside.write_text(f"{text}\n", encoding="utf-8")
        return int(rows.num_rows)


def _read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; a fault of reading is not reported as a fault of the file."""
    try:
        yield from batches
    except OSError as error:
        reason = error.strerror or str(error)
        raise LocationUnreachableError(location="The table", reason=reason) from error


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path, which becomes the file when the block ends."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        beside.touch()  # fails at once if the folder cannot be written
        yield beside
        beside.replace(path)
    except OSError as error:
        raise write_fault(error, place=str(path.parent)) from error
    finally:
        beside.unlink(missing_ok=True)


def _for_sheet(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches until they are more than a sheet holds."""
    num_rows = 0
    for batch in batches:
        num_rows += batch.num_rows
        if num_rows >= MAX_SHEET_ROWS:
            raise SheetRowsError(rows=num_rows)
        yield batch


def _write_csv(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    num_lines = 0
    with path.open("w", encoding="utf-8") as sink:
        for line in row_output.csv_lines(schema, batches):
            sink.write(f"{line}\n")
            num_lines += 1
    return num_lines - 1


def _write_parquet(
    path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> int:
    num_rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for rows in _groups(batches):
            writer.write_table(rows, row_group_size=rows.num_rows)
            num_rows += rows.num_rows
    return num_rows


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield rows so that a group of the file has many of them."""
    held: list[pa.RecordBatch] = []
    num_rows = 0
    for batch in batches:
        held.append(batch)
        num_rows += batch.num_rows
        if num_rows >= ROWS_A_GROUP:
            yield pa.Table.from_batches(held)
            held, num_rows = [], 0
    if num_rows:
        yield pa.Table.from_batches(held)
