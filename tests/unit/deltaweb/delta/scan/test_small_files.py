"""Small files that are read together have the rows that each has by itself."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileError
from deltaweb.delta.protocol.schema import PrimitiveType
from deltaweb.delta.scan.data_file import HELD_BYTES, MAX_BATCH_ROWS
from deltaweb.delta.scan.rows import RowSource, read_rows
from deltaweb.delta.scan.small_files import packed_rows
from tests.support import cases
from tests.support.tables.row_tables import LONG, STRING, TIMESTAMP, Table, schema_of

SCHEMA = schema_of(a=LONG, p=STRING, b=STRING, at=TIMESTAMP)
AT = pa.timestamp("us", "UTC")
Add = Callable[[Table], object]


def rows(*numbers: int) -> pa.Table:
    return pa.table(
        {
            "a": pa.array(numbers, pa.int64()),
            "b": pa.array([f"b{number}" for number in numbers], pa.string()),
            "at": pa.array(numbers, AT),
        }
    )


def sized(table: Table) -> RowSource:
    """Return what rows are read from, with the sizes of files."""
    files = table.source.files
    sizes = [(table.folder / path).stat().st_size for path in files["path"].to_pylist()]
    return replace(table.source, files=files.append_column("size", pa.array(sizes)))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    table = Table(tmp_path, SCHEMA, ["p"])
    table.add(rows(1, 2), {"p": "x"})
    table.add(rows(3), {"p": "x"})
    return table


def test_they_are_one_batch(table: Table) -> None:
    (batch,) = packed_rows(sized(table))

    assert batch.column("a").to_pylist() == [1, 2, 3]
    assert batch.column("p").to_pylist() == ["x"] * 3
    assert sorted(table.opened) == ["0.parquet", "1.parquet"]


def test_there_may_be_none(table: Table) -> None:
    source = sized(table)

    assert [*packed_rows(replace(source, files=source.files.slice(0, 0)))] == []


@cases(
    "add",
    {
        "one lacks a column": lambda table: table.add(
            rows(4).drop_columns("b"), {"p": "x"}
        ),
        "one has them in another order and case": lambda table: table.add(
            rows(4).select(["b", "at", "a"]).rename_columns(["B", "at", "A"]),
            {"p": "x"},
        ),
        "one has smaller numbers": lambda table: table.add(
            rows(4).set_column(0, "a", pa.array([4], pa.int32())), {"p": "x"}
        ),
        "one has old times": lambda table: table.add(
            rows(4), {"p": "x"}, use_deprecated_int96_timestamps=True
        ),
        "one is of the old calendar": lambda table: table.add(
            pa.table(
                rows(-(10**17)).columns,
                schema=rows().schema.with_metadata(
                    {"org.apache.spark.version": "2.4.0"}
                ),
            ),
            {"p": "x"},
        ),
        "one is larger": lambda table: table.add(
            rows(*range(MAX_BATCH_ROWS)), {"p": "x"}
        ),
        "one has no row": lambda table: table.add(rows(), {"p": "x"}),
    },
)
def test_any_file_may_be_among_them(table: Table, add: Add) -> None:
    add(table)
    table.add(rows(5), {"p": "x"})
    source = sized(table)

    found = pa.Table.from_batches(packed_rows(source))

    assert found.equals(read_rows(source))


def test_together_they_are_no_more_than_a_batch(tmp_path: Path) -> None:
    table = Table(tmp_path, schema_of(a=LONG))
    many = pa.table({"a": pa.repeat(pa.scalar(1, pa.int64()), MAX_BATCH_ROWS - 1)})
    for _ in range(3):
        table.add(many)
    source = sized(table)
    assert max(source.files["size"].to_pylist()) < HELD_BYTES

    assert [batch.num_rows for batch in packed_rows(source)] == [many.num_rows] * 3


def test_a_damaged_file_is_named(table: Table) -> None:
    (table.folder / "1.parquet").write_bytes(b"PAR1 no more PAR1")

    with pytest.raises(DataFileError, match=r"1\.parquet"):
        [*packed_rows(sized(table))]


def test_a_file_with_a_text_that_is_none_is_named(tmp_path: Path) -> None:
    table = Table(tmp_path, schema_of(b=PrimitiveType("string")))
    for bytes_of_it in (b"fine", b"\xff"):
        text = pa.array([bytes_of_it], pa.binary()).view(pa.string())
        table.add(pa.table({"b": text}))

    with pytest.raises(DataFileError, match=r"1\.parquet"):
        [*packed_rows(sized(table))]
