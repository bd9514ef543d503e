"""Commits of earlier releases that may have lost or exchanged nested values."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.index.file_check import check_files
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.tables.nested_changes import MAPPED, made_by, make_table


def found(table: DeltaTable) -> list[tuple[int, str]]:
    return [(one.version, one.operation) for one in check_files(table).nested_changes]


@cases(
    "properties, changes",
    {
        "of a table that maps columns": (
            MAPPED,
            [(4, "MERGE"), (3, "DELETE"), (2, "UPDATE")],
        ),
        "of another": ({}, [(4, "MERGE"), (2, "UPDATE")]),
    },
)
def test_changes_of_earlier_releases_are_found_newest_first(
    tmp_path: Path, properties, changes
):
    table = make_table(tmp_path / "t", **properties)
    for version in (1, 2, 3, 4):
        made_by(table, version, "deltaweb/0.8.3")

    assert found(table) == changes


@pytest.mark.parametrize(
    "engine",
    ["deltaweb/0.8.4", "deltaweb/1.0.0", "Apache-Spark/4.1.0 Delta/4.4.0"],
)
def test_changes_of_others_are_not(tmp_path: Path, engine: str):
    table = make_table(tmp_path / "t", **MAPPED)
    for version in (2, 3, 4):
        made_by(table, version, engine)
    made_by(table, 3, "deltaweb/0.7.12")

    assert found(table) == [(3, "DELETE")]


def test_nor_those_of_tables_without_structs(tmp_path: Path):
    schema = pa.schema({"id": pa.int64(), "n": pa.int32(), "l": pa.list_(pa.int32())})
    table = make_table(tmp_path / "t", schema, **MAPPED)
    for version in (2, 3, 4):
        made_by(table, version, "deltaweb/0.8.3")

    assert found(table) == []


def test_the_repair_takes_the_columns_of_the_version_before(tmp_path: Path):
    table = make_table(tmp_path / "t", **MAPPED)
    for version, engine in ((2, "deltaweb/0.8.3"), (3, "x"), (4, "x")):
        made_by(table, version, engine)

    (change,) = check_files(table).nested_changes

    assert change.repair("/lake/t") == (
        "MERGE INTO delta.`/lake/t` AS t "
        "USING (SELECT * FROM delta.`/lake/t` VERSION AS OF 1) AS s "
        "ON t.KEY = s.KEY WHEN MATCHED THEN UPDATE SET "
        "t.`st` = s.`st`, t.`odd ``ar` = s.`odd ``ar`"
    )
    assert change.sentence == (
        "v2: UPDATE by deltaweb/0.8.3 wrote 1 file of 4 rows. Where Spark evaluated "
        "it, fields in st, odd `ar may be lost"
    )


def test_without_the_version_before_there_is_no_repair(tmp_path: Path):
    table = make_table(tmp_path / "t", **MAPPED)
    for version, engine in ((2, "deltaweb/0.8.3"), (3, "deltaweb/0.8.3"), (4, "x")):
        made_by(table, version, engine)
    first = table.snapshot(version=1).files["path"][0].as_py()
    (Path(table.root) / first).unlink()

    later, earlier = check_files(table).nested_changes

    assert (later.version, earlier.version) == (3, 2)
    assert later.repair(table.root) is not None
    assert earlier.repair(table.root) is None
