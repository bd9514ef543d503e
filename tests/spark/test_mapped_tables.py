"""Tables that map columns: both engines see the same of them, by logical names."""

import json
import shutil
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.changes import RowDiffRequest
from deltaweb.index.folder.file_index import listed_files
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.spark.checkpoints.both_engines import (
    assert_same,
    built_by_spark,
    built_here,
    request_of,
)
from tests.support import matrix
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import open_index
from tests.support.tables.mapped_tables import MappedTable, field, struct, with_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOWN = struct(field("town", "string", 3, "col-3"))
OLD = [
    field("cust", "long", 1, "col-1"),
    field("home", TOWN, 2, "col-2"),
    field("day", "date", 4, "col-4"),
]
NEW = [field("customer", "long", 1, "col-1"), *OLD[1:]]
STORED = pa.schema(
    [
        with_id("col-1", pa.int64(), 1),
        with_id("col-2", pa.struct([with_id("col-3", pa.string(), 3)]), 2),
    ]
)
MODES = ["name", "id"]
AS_STRUCT = {"delta.checkpoint.writeStatsAsStruct": "true"}


@pytest.fixture
def table(mode: str, tmp_path: Path) -> Path:
    """A table of three files, one of them of before a column was renamed."""
    written = MappedTable(*OLD, mode=mode, partitions=["day"], properties=AS_STRUCT)
    for number in range(3):
        rows = [
            {"col-1": number * 10 + row, "col-2": {"col-3": f"t{row}"}}
            for row in range(4)
        ]
        low, high = number * 10, number * 10 + 3
        written.add(
            f"{number}.parquet",
            pa.Table.from_pylist(rows, STORED),
            partitionValues={"col-4": f"2026-01-0{number + 1}"},
            stats=json.dumps(
                {
                    "numRecords": 4,
                    "minValues": {"col-1": low, "col-2": {"col-3": "t0"}},
                    "maxValues": {"col-1": high, "col-2": {"col-3": "t3"}},
                    "nullCount": {"col-1": 0, "col-2": {"col-3": 0}},
                }
            ),
        )
        if number == 0:
            written.evolve(*NEW)
    return written.on_disk(tmp_path / "table")


@matrix("mode", MODES, often=["name"])
def test_are_indexed_alike(spark: "SparkSession", table: Path, tmp_path: Path) -> None:
    from deltaweb.spark.pipeline import IndexRequest, index_tables

    results: dict[int, Any] = {}
    place, there = TablePlace(str(table)), str(tmp_path / "there")
    large = IndexRequest(place=place, folder=there, max_task_bytes=0)
    index_tables(spark, [large], results.__setitem__, scratch=tmp_path / "runs")
    here = build_index(str(table), None, tmp_path / "here")

    one, other = open_index(tmp_path / "there"), open_index(tmp_path / "here")
    assert results[0].to_json() | {"folder": ""} == here.to_json() | {"folder": ""}
    assert one.files.equals(other.files)
    mins = one.files["min"].to_pylist()
    assert sorted(low["customer"] for low in mins) == [0, 10, 20]
    for folder in (one.folder, other.folder):
        listed = listed_files(folder, ["partition_values"])
        keys = {value[0][0] for value in listed["partition_values"].to_pylist()}
        assert keys == {"day"}


@matrix("mode", MODES, often=["id"])
def test_get_the_same_checkpoints(spark: "SparkSession", table: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(table, copy)
    request = request_of()

    here, there = built_here(table, request), built_by_spark(spark, copy, request)

    assert_same(table, copy, here, there)
    snapshot = DeltaTable(str(copy)).snapshot()
    assert snapshot.statistics().num_rows == snapshot.read().num_rows // 4 == 3


@matrix("mode, num_files", product(MODES, [None, 10**6]))  # listed, or replayed
def test_are_profiled_by_logical_names(spark, table, num_files):
    from deltaweb.spark.statistics import ProfileRequest, profile_column

    def profile(*column: str) -> Any:  # noqa: ANN401 (a profile)
        request = ProfileRequest(
            place=TablePlace(str(table)), version=4, column=column, num_files=num_files
        )
        return profile_column(spark, request)

    number, town, day = profile("customer"), profile("home", "town"), profile("day")

    assert (number.minimum, number.maximum, number.num_nulls) == ("0", "23", 0)
    assert dict(town.top) == {f"t{row}": 3 for row in range(4)}
    assert (day.minimum, day.maximum) == ("2026-01-01", "2026-01-03")


@matrix("mode", MODES, often=["id"])
def test_are_compared_row_by_row_alike(spark: "SparkSession", table: Path) -> None:
    from deltaweb.spark.table_changes import diff_rows

    diff = DeltaTable(str(table)).compare(1, 4)
    request = RowDiffRequest()

    here = diff.rows(request)
    there = diff.rows(request, partial(diff_rows, spark, TablePlace(str(table))))

    assert (here.inserted, here.deleted) == (there.inserted, there.deleted) == (8, 0)
    rows = [
        sample.inserted.sort_by("customer") for sample in (here.sample, there.sample)
    ]
    assert rows[0].equals(rows[1])
    assert rows[0]["customer"].to_pylist() == [*range(10, 14), *range(20, 24)]
