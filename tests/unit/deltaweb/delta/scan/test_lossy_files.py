"""A file gives all of its rows, or an error that names it: never fewer."""

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileError, DataFileRowsError
from deltaweb.delta.protocol.schema import StructType, schema_of_arrow
from deltaweb.delta.scan.data_file import MAX_BATCH_ROWS, DataFile
from tests.support import cases
from tests.support.files.lossy_files import (
    CUT_TO,
    column_cut,
    empty_first_pages,
    nested_files,
    with_empty_page,
    written,
)

NESTED = nested_files()
FLIPS = 120
"""Bits of each file that are flipped, one after the other."""


def batches(data: bytes, schema: StructType, max_rows: int) -> Iterator[pa.RecordBatch]:
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        for row_group in file.row_groups(schema, None):
            for _, columns in file.batches(schema, row_group, max_rows):
                yield pa.RecordBatch.from_pydict(columns)


def read(data: bytes, rows: pa.Table, max_rows: int = MAX_BATCH_ROWS) -> pa.Table:
    found = batches(data, schema_of_arrow(rows.schema), max_rows)
    return pa.Table.from_batches(found, rows.schema)


class TestEmptyPages:
    @cases("max_rows", {"at once": MAX_BATCH_ROWS, "by one": 1, "by three": 3})
    def test_a_first_page_without_values_is_passed_over(self, max_rows: int) -> None:
        rows = pa.table({"id": range(4), "l": [[i, i + 1] for i in range(4)]})

        assert read(empty_first_pages(rows), rows, max_rows).equals(rows)

    def test_columns_are_read_alone_and_together(self) -> None:
        rows = pa.table({"id": [7], "l": [[1, 2]], "m": [[3]]})
        data = empty_first_pages(rows)

        for names in (["l"], ["id"], ["id", "m"]):
            assert read(data, rows.select(names)).equals(rows.select(names))

    @cases(
        "before, after", {"a batch": (CUT_TO, 1_000), "less": (300, 70), "two": (2, 1)}
    )
    def test_a_page_without_values_within_a_column(
        self, before: int, after: int
    ) -> None:
        rows = pa.table({"1": range(before + after)})

        assert read(with_empty_page(before, after), rows).equals(rows)


class TestDamage:
    def test_a_column_with_fewer_values_is_an_error_that_counts_them(self) -> None:
        names = pa.schema([("a", pa.int64()), ("b", pa.int64())])

        with pytest.raises(DataFileRowsError) as caught:
            read(column_cut(), names.empty_table())

        assert caught.value.code == "data-file-rows-missing"
        assert "row group 0 has 70,000 rows, but its pages have 65,536" in str(
            caught.value
        )

    def test_first_rows_are_read_all_the_same(self) -> None:
        schema = StructType(schema_of_arrow(pa.schema([("a", pa.int64())])).fields)
        some = batches(column_cut(), schema, 10)

        assert next(some)["a"].to_pylist() == [*range(10)]

    def test_levels_that_divide_a_row_are_noticed(self) -> None:
        rows = pa.table({"l": [[1, 2], [3, 4], [5, 6]]})
        data = written(rows, use_dictionary=False, compression="none")
        found = set()
        for damaged in flipped(data, range(4, len(data) - 8)):
            try:
                assert read(damaged, rows).num_rows == rows.num_rows
            except DataFileError as error:
                found.add(error.reason)

        assert any("values, but its rows have" in reason for reason in found)

    def test_a_footer_that_contradicts_itself_is_refused(self) -> None:
        rows = pa.table({"a": [1] * 1_000})
        data = written(rows)
        footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        # A number is twice as large in it, and the first is that of the file.
        at = data.index(b"\xd0\x0f", footer)
        damaged = data[:at] + b"\xd2\x0f" + data[at + 2 :]

        with pytest.raises(DataFileRowsError, match="the footer says 1,001 rows"):
            read(damaged, rows)

    @pytest.mark.parametrize("name", NESTED)
    def test_a_file_that_is_whole_has_its_rows(self, name: str) -> None:
        data, rows = NESTED[name]

        assert read(data, rows).equals(rows)
        assert read(data, rows, 7).equals(rows)

    @cases("name", {"lists of lists": "lists of lists", "structs": "structs"})
    def test_a_truncated_file_is_refused(self, name: str) -> None:
        data, rows = NESTED[name]

        for size in range(len(data)):
            with pytest.raises(DataFileError):
                read(data[:size], rows)

    @pytest.mark.parametrize("name", NESTED)
    def test_a_flipped_bit_never_takes_a_row_away(self, name: str) -> None:
        data, rows = NESTED[name]
        chosen = random.Random(name).sample(range(4, len(data) - 8), FLIPS)

        outcomes, named = set(), True
        for damaged in flipped(data, chosen):
            try:
                outcomes.add(read(damaged, rows).num_rows)
            except DataFileError as error:
                named = named and bool(error.reason)

        assert named
        assert outcomes == {rows.num_rows}


def flipped(data: bytes, places: list[int] | range) -> Iterator[bytes]:
    """Yield a file with one bit of some bytes flipped, a byte after the other."""
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        yield bytes(damaged)
