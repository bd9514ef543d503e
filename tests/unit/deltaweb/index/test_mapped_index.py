"""The index of a table that maps columns: by logical names, whatever the log says."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.index.build.full import index_table
from deltaweb.index.folder.file_index import listed_files, open_files
from tests.support.tables.mapped_tables import MappedTable, field

ID = field("id", "long", 1, "col-1")
DAY = field("day", "date", 2, "col-2")
MONDAY = "2026-01-05"


def stats(value: int) -> str:
    bounds = {"minValues": {"col-1": value}, "maxValues": {"col-1": value}}
    return json.dumps({"numRecords": 1, **bounds, "nullCount": {"col-1": 0}})


@pytest.fixture
def written() -> MappedTable:
    table = MappedTable(ID, DAY, partitions=["day"])
    for number, day in enumerate((MONDAY, "2026-01-06")):
        rows = pa.table({"col-1": [number]})
        table.add(
            f"{number}", rows, partitionValues={"col-2": day}, stats=stats(number)
        )
    return table


def columns(folder: Path) -> list[dict[str, Any]]:
    rows = open_files(folder).sort_by("path")
    picked = rows.select(["partition", "min", "null_count", "num_records"])
    found: list[dict[str, Any]] = picked.to_pylist()
    return found


def test_types_statistics_and_partition_values_by_logical_names(written, tmp_path):
    index_table(written.table, tmp_path / "index")

    first, second = columns(tmp_path / "index")

    assert str(first["partition"]["day"]) == MONDAY
    assert (first["min"], second["min"]) == ({"id": 0}, {"id": 1})
    assert first["null_count"] == {"id": 0}
    assert first["num_records"] == 1


def test_lists_files_by_the_names_of_partition_columns(written, tmp_path):
    index_table(written.table, tmp_path / "index")

    files = listed_files(tmp_path / "index", ["path", "partition_values", "none"])

    assert files.sort_by("path")["partition_values"].to_pylist() == [
        [("day", MONDAY)],
        [("day", "2026-01-06")],
    ]


def test_adds_up_partitions_by_their_names(written: MappedTable, tmp_path: Path):
    result = index_table(written.table, tmp_path / "index")

    values = [partition["values"] for partition in result.summary["partitions"]]
    assert sorted(value["day"] for value in values) == [MONDAY, "2026-01-06"]
    assert result.summary["num_partitions"] == 2


def test_goes_on_after_a_column_was_renamed_as_if_made_anew(written, tmp_path):
    index_table(written.table, tmp_path / "old")
    written.evolve(field("key", "long", 1, "col-1"), DAY)

    index_table(written.table, tmp_path / "new", base=tmp_path / "old")

    first, second = columns(tmp_path / "new")
    assert (first["min"], second["min"]) == ({"key": 0}, {"key": 1})


def test_of_metadata_that_contradicts_itself_types_nothing(tmp_path: Path) -> None:
    table = MappedTable(ID, field("day", "date", 1, "col-2"))
    table.add("0", pa.table({"col-1": [1]}), stats=stats(1))

    result = index_table(table.table, tmp_path / "index")

    assert result.num_files == 1
    assert open_files(tmp_path / "index")["min"].type.num_fields == 0
