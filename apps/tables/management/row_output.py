"""Rows of a table as text, CSV and JSON: exact, whatever their types.

In JSON a long and a decimal are text, for many readers of JSON round them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from apps.pages.lists.csv_lines import csv_line
from apps.tables.management.text_output import aligned
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values, to_json_of

BATCH_ROWS = 1024


def row_lines(rows: pa.Table) -> Iterator[str]:
    """Yield an aligned table for people; a null is NULL."""
    cells = (
        ["NULL" if value is None else cell_text(value) for value in row]
        for row in _tuples(rows)
    )
    yield from aligned(rows.column_names, cells)


def csv_lines(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """Yield CSV lines, the header first, then those of each batch as it comes.

    A null is nothing, and an empty text is quoted.
    """
    yield csv_line(schema.names)
    for batch in batches:
        for row in _tuples(pa.Table.from_batches([batch])):
            yield csv_line(None if value is None else cell_text(value) for value in row)


def json_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """Return the rows as JSON objects by column name; a map is pairs."""
    columns = [
        (field.name, to_json_of(field.type, maps_are_pairs=True))
        for field in rows.schema
    ]
    return [
        {
            name: to_json(value)
            for (name, to_json), value in zip(columns, row, strict=True)
        }
        for row in _tuples(rows)
    ]


def _tuples(rows: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield rows as tuples, a batch at a time; names may repeat."""
    for batch in rows.to_batches(max_chunksize=BATCH_ROWS):
        columns = [python_values(column) for column in batch.columns]
        yield from zip(*columns, strict=True)
