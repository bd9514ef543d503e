"""Rows as an XLSX file, written row by row.

Text is always text: no value becomes a formula or a link.
Source: ECMA-376 part 1, 18.3 (worksheets), and the limits of Excel.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import xlsxwriter

from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values, to_json_of
from deltaweb.exports.errors import (
    MAX_CELL_LENGTH,
    MAX_SHEET_COLUMNS,
    MAX_SHEET_ROWS,
    SheetCellError,
    SheetColumnsError,
    SheetRowsError,
)

XLSX_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
BATCH_ROWS: Final = 1024
BATCH_BYTES: Final = 8 << 20
FIRST_DAY: Final = date(1900, 3, 1)  # Excel counts a day before it that never was
DAY_LOOK: Final = "yyyy-mm-dd"
TIME_LOOK: Final = "yyyy-mm-dd hh:mm:ss.000"
MAX_INTEGER: Final = 10**15  # a spreadsheet keeps 15 digits
_MILLISECOND_US: Final = 1_000
_DAY_US: Final = 86_400_000_000
_EPOCH: Final = date(1970, 1, 1)
_DAYS_US: Final = range(
    (FIRST_DAY - _EPOCH).days * _DAY_US, ((date.max - _EPOCH).days + 1) * _DAY_US
)

_Put: TypeAlias = Callable[[int, int, Any], object]
"""Writes a value that is not null into (row, column) of the sheet."""


def check_sheet(rows: pa.Table) -> None:
    """Raise if a sheet cannot hold these rows; nothing is written.

    Raises:
        SheetRowsError: There are more rows than a sheet has.
        SheetColumnsError: There are more columns than a sheet has.
        SheetCellError: A value has more characters than a cell.
    """
    if rows.num_rows >= MAX_SHEET_ROWS:
        raise SheetRowsError(rows=rows.num_rows)
    if rows.num_columns > MAX_SHEET_COLUMNS:
        raise SheetColumnsError(columns=rows.num_columns)
    start = 0
    for batch in _batches(_decoded(rows)):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            _check_lengths(name, column, start)
        start += batch.num_rows


def write_xlsx(
    path: Path,
    rows: pa.Table,
    *,
    on_progress: Callable[[int], None] = lambda _rows: None,
) -> None:
    """Write rows to a new XLSX file, after `check_sheet`.

    The first row has the names of the columns. A null is an empty cell, and an empty
    text is a cell with a text of no characters. Whole numbers of up to 15 digits and
    finite doubles are numbers; longer ones, decimals, NaN and infinity are text. Dates
    and times are those of spreadsheets, in UTC; a column with a time that these cannot
    hold exactly (microseconds, or before March 1900) is text as in CSV. Binary is
    hexadecimal, and nested values are JSON.

    Args:
        path: A new file. The rows wait beside it until the file is complete.
        rows: May be mapped: a batch at a time is held as Python values.
        on_progress: Is given the number of rows that are written.
    """
    rows = _decoded(rows)
    check_sheet(rows)
    options = {"constant_memory": True, "tmpdir": str(path.parent), "use_zip64": True}
    with xlsxwriter.Workbook(str(path), options) as book:
        sheet = book.add_worksheet("Rows")
        sheet.freeze_panes(1, 0)
        cells = _Cells(sheet, book.add_format())
        bold = book.add_format({"bold": True})
        for place, name in enumerate(rows.column_names):
            cells.put_text(0, place, name, bold)
        writers = [_writer(book, cells, column) for column in rows.columns]
        row = 1
        for batch in _batches(rows):
            columns = [python_values(column) for column in batch.columns]
            for values in zip(*columns, strict=True):
                for place, value in enumerate(values):
                    if value is not None:
                        writers[place](row, place, value)
                row += 1
            on_progress(row - 1)


def _decoded(rows: pa.Table) -> pa.Table:
    """Return the rows with the values in place of the numbers of dictionaries."""
    schema = pa.schema(
        field.with_type(field.type.value_type)
        if pa.types.is_dictionary(field.type)
        else field
        for field in rows.schema
    )
    return rows if schema == rows.schema else rows.cast(schema)


def _batches(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    average_bytes = max(rows.nbytes // max(rows.num_rows, 1), 1)
    length = max(min(BATCH_ROWS, BATCH_BYTES // average_bytes), 1)
    yield from rows.to_batches(max_chunksize=length)


# === Lengths ===


def _check_lengths(name: str, column: pa.Array, start: int) -> None:
    """Raise if a value of a batch that begins at row `start` is too long for a cell."""
    kind = column.type
    if pa.types.is_nested(kind):
        to_json = to_json_of(kind)
        texts: list[str | None] = [
            None if value is None else cell_text(to_json(value))
            for value in python_values(column)
        ]
    elif _is_text(kind) or _is_binary(kind):
        # A character has at least as many bytes of UTF-8 as it has units of UTF-16.
        factor = 1 if _is_text(kind) else 2
        if (pc.max(pc.binary_length(column)).as_py() or 0) * factor <= MAX_CELL_LENGTH:
            return
        texts = [
            None if value is None else cell_text(value)
            for value in python_values(column)
        ]
    else:
        return
    for place, text in enumerate(texts):
        length = _utf16_length(text or "")
        if length > MAX_CELL_LENGTH:
            raise SheetCellError(column=name, row=start + place + 1, length=length)


def _utf16_length(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


# === Cells ===


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a sheet.

    Attributes:
        sheet: The library's sheet.
        plain: The look of text that has no other.
    """

    sheet: Any
    plain: Any

    def put(self, row: int, place: int, value: object) -> None:
        """Write a value without parts that is not null."""
        match value:
            case bool():
                self.sheet.write_boolean(row, place, value)
            case int() if abs(value) < MAX_INTEGER:
                self.sheet.write_number(row, place, value)
            case float() if isfinite(value):
                self.sheet.write_number(row, place, value)
            case _:
                self.put_text(row, place, cell_text(value))

    def put_text(self, row: int, place: int, text: str, look: Any = None) -> None:  # noqa: ANN401 (a library without types)
        """Write a text as it is.

        The library takes a text of the form `<r>…</r>` for its own markup and does not
        escape it. Such a text is written in two parts, which the library escapes.
        """
        if text.startswith("<r>") and text.endswith("</r>"):
            parts = (text[:1], self.plain, text[1:])
            self.sheet.write_rich_string(row, place, *parts, look or self.plain)
        else:
            self.sheet.write_string(row, place, text, look)

    def put_time(self, row: int, place: int, value: date, look: Any) -> None:  # noqa: ANN401 (as above)
        """Write a date or a time, in UTC."""
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        self.sheet.write_datetime(row, place, value, look)


def _writer(book: Any, cells: _Cells, column: pa.ChunkedArray) -> _Put:  # noqa: ANN401 (as above)
    """Return the function that writes the values of a column."""
    kind = column.type
    if pa.types.is_nested(kind):
        to_json = to_json_of(kind)
        return lambda row, place, value: cells.put_text(
            row, place, cell_text(to_json(value))
        )
    is_day, is_time = pa.types.is_date(kind), pa.types.is_timestamp(kind)
    if (is_day or is_time) and _are_of_calendar(column):
        look = book.add_format({"num_format": DAY_LOOK if is_day else TIME_LOOK})
        return partial(cells.put_time, look=look)
    return cells.put


def _are_of_calendar(column: pa.ChunkedArray) -> bool:
    """Whether a spreadsheet has each date or time of a column exactly."""
    if pa.types.is_date(column.type):
        days = pc.min_max(column.cast(pa.date32()).cast(pa.int32()))
        return _is_between(days, _DAYS_US, _DAY_US)
    moments = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    whole = pc.multiply(pc.divide(moments, _MILLISECOND_US), _MILLISECOND_US)
    are_whole = pc.all(pc.equal(whole, moments)).as_py() is not False
    return are_whole and _is_between(pc.min_max(moments), _DAYS_US, 1)


def _is_between(ends: pa.StructScalar, limits: range, unit_us: int) -> bool:
    """Whether the least and the most value are in a range of microseconds."""
    return all(end is None or end * unit_us in limits for end in ends.as_py().values())
