"""Rows as an XLSX file, read by another library than the one that wrote it."""

import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest

from deltaweb.exports.errors import (
    MAX_CELL_LENGTH,
    MAX_SHEET_COLUMNS,
    MAX_SHEET_ROWS,
    SheetCellError,
    SheetColumnsError,
    SheetError,
    SheetRowsError,
)
from deltaweb.exports.xlsx import check_sheet, write_xlsx

YEAR_10000_US = 253_402_300_800_000_000
ATTACKS = (
    '=HYPERLINK("https://example.org","x")',
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "https://example.org/",
    "mailto:ann@example.org",
    "{=1+1}",
    "<r><t>x</t></r>",
    '<r></is></c><c r="Z9"><f>1+1</f></c><c><is></r>',
    "_x0041_",
    "nul \x00, \x0b, \r, \ufffe and 😀",
    " blanks\t\n",
    "#REF!",
    "00042",
    "1E5",
    "TRUE",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.xlsx"


def _cells(path: Path) -> list[list[object]]:
    sheet = openpyxl.load_workbook(path)["Rows"]
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def _markup(path: Path) -> str:
    with zipfile.ZipFile(path) as book:
        return book.read("xl/worksheets/sheet1.xml").decode()


def test_text_stays_text_whatever_a_spreadsheet_takes_it_for(path: Path) -> None:
    write_xlsx(path, pa.table({"=1+1": list(ATTACKS)}))

    header, *rows = _cells(path)
    assert header == ["=1+1"]
    found = [openpyxl.utils.escape.unescape(str(row[0])) for row in rows]
    assert found == list(ATTACKS)
    assert "<f>" not in _markup(path)
    assert "<hyperlink" not in _markup(path)
    kinds = {
        cell.data_type
        for row in openpyxl.load_workbook(path)["Rows"].iter_rows()
        for cell in row
    }
    assert kinds <= {"s", "inlineStr"}


def test_numbers_are_numbers_as_far_as_a_sheet_keeps_their_digits(path: Path) -> None:
    rows = pa.table(
        {
            "whole": pa.array([999_999_999_999_999, -(10**15), 2**63 - 1], pa.int64()),
            "double": pa.array([0.1, float("nan"), float("-inf")], pa.float64()),
            "float": pa.array([0.1, 1.5, None], pa.float32()),
            "decimal": [Decimal("1.50"), Decimal("-0.01"), None],
            "is_so": [True, False, None],
        }
    )

    write_xlsx(path, rows)

    assert _cells(path)[1:] == [
        [999_999_999_999_999, 0.1, 0.1, "1.50", True],
        ["-1000000000000000", "NaN", 1.5, "-0.01", False],
        ["9223372036854775807", "-Infinity", None, None, None],
    ]


def test_null_is_no_cell_and_an_empty_text_is_one(path: Path) -> None:
    write_xlsx(path, pa.table({"a": ["x", None, ""], "b": [1, 2, 3]}))

    markup = _markup(path)
    assert 'r="A3"' not in markup
    assert '<c r="A4" t="inlineStr"><is><t></t></is></c>' in markup


def test_dates_and_times_are_those_of_a_sheet(path: Path) -> None:
    noon = datetime(2026, 11, 29, 12, 30, 1, 250_000)  # noqa: DTZ001 (timestamp_ntz)
    rows = pa.table(
        {
            "day": [date(1900, 3, 1), date(9999, 12, 31)],
            "moment": pa.array(
                [noon.replace(tzinfo=UTC), None], pa.timestamp("us", "UTC")
            ),
            "local": pa.array([noon, None], pa.timestamp("us")),
        }
    )

    write_xlsx(path, rows)

    (day, moment, local), (last, *_) = _cells(path)[1:]
    assert (day, last) == (datetime(1900, 3, 1), datetime(9999, 12, 31))  # noqa: DTZ001 (of a sheet)
    assert (moment, local) == (noon, noon)


def test_times_that_no_sheet_has_are_text_all_through_their_column(path: Path) -> None:
    precise = datetime(2026, 11, 29, 12, 0, 0, 1, tzinfo=UTC)
    rows = pa.table(
        {
            "day": [date(1900, 2, 28), date(2026, 11, 29)],
            "moment": [precise, precise.replace(microsecond=0)],
            "late": pa.array([YEAR_10000_US, 0], pa.timestamp("us")),
        }
    )

    write_xlsx(path, rows)

    assert _cells(path)[1:] == [
        ["1900-02-28", "2026-11-29T12:00:00.000001Z", "10000-01-01 00:00:00.000000"],
        ["2026-11-29", "2026-11-29T12:00:00Z", "1970-01-01T00:00:00"],
    ]


def test_nested_values_are_json_and_binary_is_hexadecimal(path: Path) -> None:
    rows = pa.table(
        {
            "tags": [["=1", None]],
            "part": [{"id": 2**60}],
            "raw": [b"\x00\xff"],
            "word": pa.array(["DE"]).dictionary_encode(),
        }
    )

    write_xlsx(path, rows)

    assert _cells(path)[1] == ['["=1", null]', f'{{"id": "{2**60}"}}', "00ff", "DE"]


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (pa.table({"n": pa.nulls(MAX_SHEET_ROWS)}), SheetRowsError),
        (
            pa.table({f"c{n}": [1] for n in range(MAX_SHEET_COLUMNS + 1)}),
            SheetColumnsError,
        ),
        (pa.table({"t": ["x", "y" * (MAX_CELL_LENGTH + 1)]}), SheetCellError),
        (pa.table({"t": ["😀" * (MAX_CELL_LENGTH // 2 + 1)]}), SheetCellError),
        (pa.table({"b": [b"x" * (MAX_CELL_LENGTH // 2 + 1)]}), SheetCellError),
        (pa.table({"l": [["y" * MAX_CELL_LENGTH]]}), SheetCellError),
    ],
    ids=["rows", "columns", "text", "pairs of UTF-16", "binary", "nested"],
)
def test_what_a_sheet_cannot_hold_is_refused_before_a_file_is_begun(
    rows: pa.Table, error: type[SheetError], path: Path
) -> None:
    with pytest.raises(error):
        write_xlsx(path, rows)

    assert list(path.parent.iterdir()) == []


def test_the_longest_values_of_a_sheet_fit(path: Path) -> None:
    text = "ä" * MAX_CELL_LENGTH

    write_xlsx(path, pa.table({"t": [text]}))

    assert _cells(path)[1] == [text]
    check_sheet(pa.table({"n": pa.nulls(MAX_SHEET_ROWS - 1)}))


def test_a_refusal_says_where_and_what_to_do() -> None:
    rows = pa.table({"note": ["x"] * 2000 + ["y" * 40_000]})

    with pytest.raises(SheetCellError) as caught:
        check_sheet(rows)

    assert str(caught.value) == (
        "A cell of an XLSX sheet holds 32,767 characters; row 2,001 of the column"
        " 'note' has 40,000. Leave the column out, or download CSV or Parquet."
    )


def test_progress_is_reported_and_no_other_file_stays(path: Path) -> None:
    seen: list[int] = []

    write_xlsx(path, pa.table({"n": range(2500)}), on_progress=seen.append)

    assert seen == [1024, 2048, 2500]
    assert list(path.parent.iterdir()) == [path]
