"""The values of rows as the page of a recipient shows them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.bucket_diff import changed_cells
from deltaweb.delta.protocol.schema import StructField, StructType, short_type_text
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values, to_json_of
from deltaweb.words import cut

MAX_LENGTH: Final = 200  # characters of a value on a page
MAX_TYPE_LENGTH: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table, as a page names it.

    Attributes:
        comment: What the provider has written about it.
        is_read: Whether its values are shown.
        sort_url: Where the rows are sorted by it; "" if they cannot be.
    """

    name: str
    type_text: str
    comment: str
    is_number: bool
    is_read: bool
    sort_url: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value: None for NULL.

    Attributes:
        before: The value before an update that changed it.
    """

    text: str | None
    is_number: bool
    before: "Cell | None" = None


def columns_of(schema: StructType, readable: Iterable[str]) -> list[Column]:
    """Return the columns of a schema."""
    read = frozenset(readable)
    return [_column(field, is_read=field.name in read) for field in schema.fields]


def cells_of(rows: pa.Table, columns: Iterable[str]) -> list[list[Cell]]:
    """Return the values of rows, row by row; a long text is cut."""
    found = []
    for name in columns:
        column = rows[name]
        is_number = _is_number(column.type)
        values = (_text(one) for one in python_values(_shortened(column)))
        found.append([Cell(text, is_number) for text in values])
    return [list(row) for row in zip(*found, strict=True)]


def changed_cells_of(rows: pa.Table, columns: Sequence[str]) -> list[list[Cell]]:
    """Return the values of changed rows, whose last column has the values before."""
    cells = cells_of(rows, columns)
    before = rows.column(rows.num_columns - 1).combine_chunks()
    places = np.flatnonzero(before.is_valid().to_numpy(zero_copy_only=False))
    if not len(places):
        return cells
    updated = before.take(pa.array(places))
    olds = pa.table(updated.flatten(), names=[field.name for field in updated.type])
    own = olds.column_names
    is_changed = changed_cells(olds, rows.select(own).take(pa.array(places)))
    for row, place in enumerate(places):
        for column, cell in zip(own, cells_of(olds.slice(row, 1), own)[0], strict=True):
            if is_changed[column][row]:
                at = columns.index(column)
                cells[place][at] = replace(cells[place][at], before=cell)
    return cells


def csv_rows(rows: pa.Table) -> Iterator[list[object]]:
    """Yield the header, then the rows; nested values are JSON."""
    yield list(rows.column_names)
    for batch in rows.to_batches(max_chunksize=1_000):
        columns = []
        for column in batch.columns:
            values = python_values(column)
            if pa.types.is_nested(column.type):
                values = list(map(to_json_of(column.type), values))
            columns.append(values)
        yield from map(list, zip(*columns, strict=True))


def _text(value: object) -> str | None:
    return None if value is None else cut(cell_text(value), MAX_LENGTH)


def _shortened(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.utf8_slice_codeunits(column, 0, MAX_LENGTH + 1)
    return column


def _column(field: StructField, *, is_read: bool) -> Column:
    text = short_type_text(field.data_type, MAX_TYPE_LENGTH)
    number = ("byte", "short", "int", "long", "bigint", "float", "double", "decimal")
    return Column(
        name=field.name,
        type_text=text,
        comment=str(field.metadata.get("comment") or ""),
        is_number=text.startswith(number),
        is_read=is_read,
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )
