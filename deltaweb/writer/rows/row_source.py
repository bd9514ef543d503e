"""Rows as they are handed over, as one stream of batches."""

from typing import Any, Final

import pyarrow as pa

MAX_BATCH_BYTES: Final = 32 << 20
"""What is worked on at a time; a larger batch is sliced, without a copy."""
MAX_BATCH_ROWS: Final = 1 << 20


def open_rows(rows: Any) -> pa.RecordBatchReader:  # noqa: ANN401  # any Arrow stream
    """Return rows as a stream; nothing is read of one that is a stream already.

    Args:
        rows: A pyarrow Table, RecordBatch or RecordBatchReader, or anything with
            `__arrow_c_stream__`, as a DataFrame of Polars, pandas or DuckDB has.
    """
    match rows:
        case pa.RecordBatchReader():
            return rows
        case pa.Table():
            return pa.RecordBatchReader.from_batches(rows.schema, _slices(rows))
        case pa.RecordBatch():
            return open_rows(pa.Table.from_batches([rows]))
        case _ if hasattr(rows, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(rows)
    message = (
        f"rows are an Arrow table, stream or DataFrame, not {type(rows).__name__!r}"
    )
    raise TypeError(message)


def _slices(table: pa.Table) -> Any:  # noqa: ANN401  # an iterator of batches
    row_bytes = max(1, table.nbytes // max(1, table.num_rows))
    rows = max(1, min(MAX_BATCH_ROWS, MAX_BATCH_BYTES // row_bytes))
    return iter(table.to_batches(max_chunksize=rows))
