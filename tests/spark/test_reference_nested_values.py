"""Nested values that both implementations store, refuse and take back alike."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.index.file_check import check_files
from deltaweb.table import DeltaTable
from tests.spark.settings_cases import NEW_YORK, settings
from tests.support import cases, matrix
from tests.support.peers.reference_implementation import RefusedError, zone_of
from tests.support.tables.nested_changes import made_by

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.peers.reference_implementation import Reference

XY = pa.struct({"x": pa.int32(), "y": pa.int32()})
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "st": pa.struct({"in": XY, "n": pa.int16()}),
        "ar": pa.list_(XY),
        "mp": pa.map_(pa.string(), XY),
        "ts": pa.timestamp("us", "UTC"),
    }
)


def row(number: int) -> dict[str, Any]:
    xy = {"x": number, "y": number * 10}
    return {
        "id": number,
        "st": {"in": xy, "n": number},
        "ar": [xy, None],
        "mp": [("k", xy), ("n", None)],
        "ts": None,
    }


NULLS = {"id": 3, **dict.fromkeys(["st", "ar", "mp", "ts"])}
ROWS = [row(1), row(2), NULLS]
SOURCE = (
    "SELECT id, named_struct('n', id, 'in', named_struct('y', id * 7, 'X', id)) st, "
    "array(named_struct('y', id * 7, 'x', id), NULL) ar, "
    "map('k', named_struct('Y', id * 7, 'x', id)) mp, "
    "TIMESTAMP '2024-03-10 04:30:00' ts "
    "FROM VALUES (1L), (3L), (5L) v(id)"
)
SETS = {
    "another order": {"ar": "array(named_struct('y', 9L, 'X', 8L), NULL)"},
    "structs in structs": {
        "st": "named_struct('n', 4L, 'in', named_struct('y', st.in.x, 'x', st.in.y))"
    },
    "a map": {"mp": "map('q', named_struct('y', 1, 'x', 2), 'n', NULL)"},
    "a time of a zone": {"ts": "TIMESTAMP '2024-03-10 04:30:00'"},
    "NULL": {"st": "NULL", "ar": "NULL", "mp": "NULL"},
    "another name": {"ar": "array(named_struct('x', 1, 'why', 2))"},
    "one that is missing": {"ar": "array(named_struct('x', 1))"},
    "an overflow": {"ar": "array(named_struct('x', 3000000000L, 'y', 1))"},
    "an overflow of a key": {"st": "named_struct('in', NULL, 'n', 70000)"},
    "text": {"ar": "array(named_struct('x', 'a', 'y', 1))"},
    "a boolean": {"ar": "array(named_struct('x', true, 'y', 1))"},
}


@pytest.fixture
def pair(tmp_path: Path, mapping: str) -> tuple[Path, Path]:
    """Two tables that are alike."""
    properties = {} if mapping == "none" else {"delta.columnMapping.mode": mapping}
    here = tmp_path / "here"
    table = DeltaTable.create(str(here), SCHEMA, properties=properties)
    table.append(pa.Table.from_pylist(ROWS, SCHEMA))
    shutil.copytree(here, tmp_path / "there")
    return here, tmp_path / "there"


@pytest.fixture
def sessions(
    spark: "SparkSession",
    reference: "Reference",
    zone: str,
    ansi: bool,  # noqa: FBT001  # a parameter
) -> "Iterator[tuple[SparkSession, Reference]]":
    """Our session, and that of the reference, in one zone."""
    with settings(spark, time_zone=zone, ansi=ansi), zone_of(reference, zone):
        yield spark, reference


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        DeltaTable(str(folder)).snapshot().read().sort_by("id").to_pylist()
    )
    return rows


def outcome(folder: Path, change: Callable[[], object]) -> list[dict[str, Any]] | None:
    """Return the rows after a change; None where it is refused."""
    before = rows_of(folder)
    try:
        change()
    except (DeltaError, RefusedError):
        assert rows_of(folder) == before
        return None
    return rows_of(folder)


@matrix("mapping", ["none", "name", "id"], often=["name"])
@matrix("zone, ansi", [("UTC", True), (NEW_YORK, False)], often=[(NEW_YORK, False)])
class TestBothImplementations:
    @cases("sets", SETS)
    def test_store_or_refuse_what_an_update_sets(self, sessions, pair, sets):
        from deltaweb.spark import update_rows

        spark, reference = sessions
        here, there = pair
        assigned = ", ".join(f"{name} = {sql}" for name, sql in sets.items())
        where = "id < 3 AND hash(id) = hash(id)"
        sql = f"UPDATE {{t}} SET {assigned} WHERE {where}"  # noqa: S608  # ours

        ours = outcome(here, lambda: update_rows(spark, str(here), sets, where))
        theirs = outcome(there, lambda: reference.sql(sql, there))

        assert ours == theirs

    def test_delete_and_keep_the_others(self, sessions, pair):
        from deltaweb.spark import delete_rows

        spark, reference = sessions
        here, there = pair
        where = "hash(st.in.x) = hash(1)"

        delete_rows(spark, str(here), where)
        reference.sql(f"DELETE FROM {{t}} WHERE {where}", there)  # noqa: S608  # ours

        assert rows_of(here) == rows_of(there) == [row(2), NULLS]

    def test_merge_a_source_of_another_order(self, sessions, pair):
        from deltaweb.spark import merge_rows

        spark, reference = sessions
        here, there = pair

        merge = merge_rows(spark, str(here), spark.sql(SOURCE), "t.id = s.id")
        merge.when_matched_update().when_not_matched_insert().execute()
        reference.sql(
            f"MERGE INTO {{t}} t USING ({SOURCE}) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
            there,
        )

        assert rows_of(here) == rows_of(there)
        assert rows_of(here)[0]["ar"] == [{"x": 1, "y": 7}, None]


@pytest.mark.parametrize("mapping", ["name"])
def test_the_repair_that_check_files_prints_takes_the_values_back(
    spark: "SparkSession", reference: "Reference", pair: tuple[Path, Path]
):
    from deltaweb.spark import update_rows

    folder, _ = pair
    nothing = "named_struct('x', NULL, 'y', NULL)"
    lost = {
        "st": f"named_struct('in', {nothing}, 'n', NULL)",
        "ar": f"array({nothing}, NULL)",
        "mp": f"map('k', {nothing}, 'n', NULL)",
    }
    update_rows(spark, str(folder), lost)
    table = DeltaTable(str(folder))
    made_by(table, 2, "deltaweb/0.8.3")
    assert rows_of(folder)[0]["st"] == {"in": {"x": None, "y": None}, "n": None}

    (change,) = check_files(table).nested_changes
    repair = change.repair(table.root)

    assert repair is not None
    reference.sql(repair.replace("KEY", "id"), folder)
    assert rows_of(folder) == ROWS
