"""The errors of files that other programs open."""

from typing import Final

from deltaweb.delta.errors import DeltaError

MAX_SHEET_ROWS: Final = 1_048_576  # with the row of names
MAX_SHEET_COLUMNS: Final = 16_384
MAX_CELL_LENGTH: Final = 32_767  # code units of UTF-16, as spreadsheets count


class SheetError(DeltaError, code="sheet-too-large"):
    """Base of the limits of an XLSX sheet; nothing is written then."""

    status = 422


class SheetRowsError(SheetError, code="sheet-too-many-rows"):
    rows: int
    message = (
        "An XLSX sheet holds {_most:,} rows below the names of the columns;"
        " these are {rows:,}."
    )
    hint = "Filter further, or download CSV or Parquet, which have no such limit."

    @property
    def _most(self) -> int:
        return MAX_SHEET_ROWS - 1


class SheetColumnsError(SheetError, code="sheet-too-many-columns"):
    columns: int
    message = "An XLSX sheet holds {_most:,} columns; these are {columns:,}."
    hint = "Choose fewer columns, or download CSV or Parquet."

    @property
    def _most(self) -> int:
        return MAX_SHEET_COLUMNS


class SheetCellError(SheetError, code="sheet-cell-too-long"):
    column: str
    row: int
    length: int
    message = (
        "A cell of an XLSX sheet holds {_most:,} characters; row {row:,} of the"
        " column {column:q} has {length:,}."
    )
    hint = "Leave the column out, or download CSV or Parquet."

    @property
    def _most(self) -> int:
        return MAX_CELL_LENGTH
