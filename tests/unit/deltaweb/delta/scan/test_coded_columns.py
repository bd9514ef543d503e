"""Texts that a file stores as codes: read as such, and no different for it."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.scan.data_file import MIN_ROWS, CodedColumns
from deltaweb.parquet.tail import read_footer
from tests.support import cases
from tests.support.logs.roaring_bitmaps import inline_vector
from tests.support.tables.row_tables import LONG, STRING, Table, schema_of

NUMBERS = range(MIN_ROWS)
FEW = [None if n % 7 == 0 else f"text {n % 5}" for n in NUMBERS]
MANY = [f"text {n}" for n in NUMBERS]


def coded_in(path: Path, row_group: int = 0) -> tuple[str, ...]:
    with pa.OSFile(str(path)) as file:
        footer = read_footer(file)
        parquet = pq.ParquetFile(file)
        columns = CodedColumns(footer, parquet.metadata, list(parquet.schema_arrow))
        return columns.among(parquet.schema_arrow.names, row_group)


@cases(
    "few, options, coded",
    {
        "a dictionary that holds all": (FEW, {}, ("few",)),
        "compressed": (FEW, {"compression": "zstd"}, ("few",)),
        "newer pages": (FEW, {"data_page_version": "2.0"}, ("few",)),
        "too few rows to be worth it": (FEW[1:], {}, ()),
        "one that was given up": (MANY, {"dictionary_pagesize_limit": 1_000}, ()),
        "none": (FEW, {"use_dictionary": False}, ()),
    },
)
def test_a_column_is_read_by_codes_where_it_is_nothing_but_these(
    tmp_path: Path,
    few: list[str | None],
    options: dict[str, Any],  # of the Parquet writer
    coded: tuple[str, ...],
) -> None:
    table = Table(tmp_path, schema_of(n=LONG, few=STRING))
    rows = pa.table({"n": range(len(few)), "few": few})
    path = table.add(rows, vector=inline_vector(range(0, len(few), 3)), **options)

    assert coded_in(tmp_path / path) == coded
    read = table.read()
    assert [row["few"] for row in read] == [text for n, text in enumerate(few) if n % 3]
    assert [row["n"] for row in read] == [n for n in range(len(few)) if n % 3]


def test_nested_texts_and_names_with_dots_are_read_as_texts(tmp_path: Path) -> None:
    rows = pa.table({"a": [{"b": text} for text in FEW], "a.b": FEW})
    pq.write_table(rows, tmp_path / "a.parquet")

    assert coded_in(tmp_path / "a.parquet") == ()


def test_a_code_beyond_the_dictionary_names_file_and_column(tmp_path: Path) -> None:
    table = Table(tmp_path, schema_of(few=STRING))
    texts = ["a"] * MIN_ROWS + ["b", "c"]
    path = table.add(
        pa.table({"few": texts}), compression="none", write_statistics=False
    )
    data = (tmp_path / path).read_bytes()
    run = bytes([2, 0x80 | MIN_ROWS * 2 & 0x7F, 0x80 | MIN_ROWS * 2 >> 7 & 0x7F, 1])
    at = data.index(run + b"\0") + len(run)
    (tmp_path / path).write_bytes(data[:at] + b"\3" + data[at + 1 :])

    with pytest.raises(DataFileError, match=rf"{path}.*'few'.*dictionary is invalid"):
        table.read()
