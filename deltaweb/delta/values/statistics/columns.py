"""Statistics of files: JSON or structs of the log to typed columns.

`read_statistics` gives one table whatever the log held, row for row with the files:

    num_records  int64: rows of the file
    min          struct of the columns asked for that have an order, typed as they are
    max          the same; a bound may be cut, see `deltaweb.delta.scan.skipping`
    null_count   struct of the columns asked for, int64

What is missing, malformed or of a wrong type is null, which means unknown. Nested
columns are nested structs. Arrays, maps and binary columns have null counts alone.

Source: PROTOCOL.md, "Per-file Statistics".
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.statistics.lines import parse_lines
from deltaweb.delta.values.statistics.shape import StatisticsShape, statistics_shape
from deltaweb.delta.values.statistics.struct import extract_statistics


def read_statistics(
    stats: pa.ChunkedArray | None,
    stats_parsed: pa.ChunkedArray | None,
    schema: StructType,
    columns: Iterable[str | Sequence[str]] | None = None,
) -> pa.Table:
    """Read statistics from what a log holds of them.

    Args:
        stats: The JSON texts of the log; None only where `stats_parsed` is given.
        stats_parsed: The struct column of a checkpoint, row for row with `stats`, or
            None. It is preferred; a row that has no number of records there falls
            back to JSON, since some writers fill what is absent with nulls.
        schema: The table's schema; it knows the names that the log has for columns.

    Returns:
        The table that this module's docstring describes.
    """
    shape = statistics_shape(schema, columns)
    return _renamed(_read(stats, stats_parsed, shape.stored), shape)


def _read(
    stats: pa.ChunkedArray | None,
    stats_parsed: pa.ChunkedArray | None,
    shape: StatisticsShape,
) -> pa.Table:
    if stats_parsed is None:
        return parse_lines(stats, shape)
    table = extract_statistics(stats_parsed, shape)
    if stats is None:
        return table
    wanted = pc.and_(pc.is_null(table["num_records"]), pc.is_valid(stats))
    if not pc.any(wanted).as_py():
        return table
    mask = wanted.combine_chunks().to_numpy(zero_copy_only=False)
    positions = np.arange(len(mask))
    positions[mask] = len(mask) + np.arange(mask.sum())
    both = pa.concat_tables([table, parse_lines(stats.filter(wanted), shape)])
    return both.take(pa.array(positions))


def parse_statistics(
    stats: pa.ChunkedArray,
    schema: StructType,
    columns: Iterable[str | Sequence[str]] | None = None,
) -> pa.Table:
    """Parse the JSON statistics of files, row for row; see `read_statistics`."""
    return read_statistics(stats, None, schema, columns)


def _renamed(table: pa.Table, shape: StatisticsShape) -> pa.Table:
    """Return statistics by the logical names of the columns; no value is copied."""
    wanted = shape.arrow
    if table.schema.equals(wanted):
        return table
    columns = [
        pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)
        for column, kind in zip(table.columns, wanted.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=wanted)
