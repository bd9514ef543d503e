"""Rows as they are handed over, as one stream of batches."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.writing.errors import SchemaMismatchError

MAX_BATCH_BYTES: Final = 32 << 20
"""What is worked on at a time; a larger batch is sliced, without a copy."""
MAX_BATCH_ROWS: Final = 1 << 20


def open_rows(rows: Any) -> pa.RecordBatchReader:  # noqa: ANN401  # any Arrow stream
    """Return rows as a stream; nothing is read of one that is a stream already.

    Args:
        rows: A pyarrow Table, RecordBatch or RecordBatchReader, or anything with
            `__arrow_c_stream__`, as a DataFrame of Polars, pandas or DuckDB has. An
            index of pandas with a name is a column. One of whole numbers without a
            name numbers the rows, and is left out.

    Raises:
        SchemaMismatchError: An index of pandas has other values and no name of its
            own, or pandas has values that no Arrow type holds.
    """
    match rows:
        case pa.RecordBatchReader():
            return _without_row_numbers(rows)
        case pa.Table():
            reader = pa.RecordBatchReader.from_batches(rows.schema, _slices(rows))
            return _without_row_numbers(reader)
        case pa.RecordBatch():
            return open_rows(pa.Table.from_batches([rows]))
        case _ if "pandas" in sys.modules and _is_pandas(rows):
            return open_rows(_table_of_pandas(rows))
        case _ if hasattr(rows, "__arrow_c_stream__"):
            return _without_row_numbers(pa.RecordBatchReader.from_stream(rows))
    message = (
        f"rows are an Arrow table, stream or DataFrame, not {type(rows).__name__!r}"
    )
    raise TypeError(message)


def _slices(table: pa.Table) -> Any:  # noqa: ANN401  # an iterator of batches
    row_bytes = max(1, table.nbytes // max(1, table.num_rows))
    rows = max(1, min(MAX_BATCH_ROWS, MAX_BATCH_BYTES // row_bytes))
    return iter(table.to_batches(max_chunksize=rows))


# === Frames of pandas ===

_INDEX: Final = re.compile(r"__index_level_[0-9]+__")


def _is_pandas(rows: Any) -> bool:  # noqa: ANN401  # any rows
    return isinstance(rows, sys.modules["pandas"].DataFrame)


def _table_of_pandas(frame: Any) -> pa.Table:  # noqa: ANN401  # pandas is optional
    """Return a frame with its index, even one that only counts the rows."""
    twice = [str(name) for name in frame.columns[frame.columns.duplicated()]]
    if twice:
        raise SchemaMismatchError(misfits=dict.fromkeys(twice, "is there twice"))
    try:
        return pa.Table.from_pandas(frame, preserve_index=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        column, reason = _fault(error)
        raise SchemaMismatchError(misfits={column: reason}) from None


def _fault(error: Exception) -> tuple[str, str]:
    """Return the column of pandas that Arrow does not take, and why."""
    said = ": ".join(str(part) for part in error.args)
    found = re.search(r"Conversion failed for column (.*) with type ", said, re.DOTALL)
    reason = f"holds values of several types ({said[:200]})"
    return (found[1] if found else "the frame"), reason


def _without_row_numbers(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Leave out what only numbers the rows of a frame of pandas."""
    schema = reader.schema
    unnamed = _unnamed_indexes(schema)
    if not unnamed:
        return reader
    faults = {
        name or field: "is the index of the frame, and "
        + ("has the name of a column" if name else "has no name")
        + ": name it, or call reset_index()"
        for field, name in unnamed.items()
        if name or not pa.types.is_integer(schema.field(field).type)
    }
    if faults:
        raise SchemaMismatchError(misfits=faults)
    kept = [field.name for field in schema if field.name not in unnamed]

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            yield batch.select(kept)

    columns = pa.schema([schema.field(name) for name in kept])
    made = columns.with_metadata(schema.metadata)
    return pa.RecordBatchReader.from_batches(made, batches())


def _unnamed_indexes(schema: pa.Schema) -> dict[str, str | None]:
    """Return the index columns that pandas has given a name, with their own names."""
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        indexes = {name for name in described["index_columns"] if type(name) is str}
        names = {one["field_name"]: one["name"] for one in described["columns"]}
    except (ValueError, LookupError, TypeError):
        return {}  # no frame of pandas, or metadata of others
    return {
        name: names.get(name)
        for name in schema.names
        if name in indexes and _INDEX.fullmatch(name)
    }
