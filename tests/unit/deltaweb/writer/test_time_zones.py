"""What a table of a zone writes, fills in and refuses is what Spark would in it."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.errors import TimestampInvalidError
from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.table import DeltaTable
from tests.support.tables.zoned_tables import (
    MIDNIGHT,
    NEW_YORK,
    ROWS,
    ids,
    write_zoned_table,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_zoned_table(tmp_path / "events")
    return tmp_path / "events"


@pytest.fixture
def table(folder: Path) -> DeltaTable:
    return DeltaTable(str(folder), time_zone=NEW_YORK)


def test_rows_of_the_zone_go(table: DeltaTable, folder: Path) -> None:
    table.delete(MIDNIGHT)

    assert ids(folder) == [1]


def test_new_values_are_of_the_zone(table: DeltaTable) -> None:
    table.update({"ts": "TIMESTAMP '2024-03-10 12:00:00'"}, "hour(ts) = 8")

    assert table.snapshot().read(["ts"], "id = 2")["ts"].to_pylist() == [
        datetime(2024, 3, 10, 16, tzinfo=UTC)
    ]


def test_rows_replace_those_of_the_zone_and_have_to_be_of_it(table, folder):
    late = ROWS.slice(1).set_column(0, "id", pa.array([7], pa.int64()))

    with pytest.raises(ConstraintViolatedError):
        table.overwrite(ROWS, where=MIDNIGHT)
    table.overwrite(late, where=MIDNIGHT)

    assert ids(folder) == [1, 7]


def test_rows_are_merged_by_conditions_and_values_of_the_zone(table: DeltaTable):
    table.merge(ROWS, on="t.id = s.id").when_matched_update(
        {"ts": "CAST(CAST(s.ts AS DATE) AS TIMESTAMP)"}, "hour(s.ts) = 8"
    ).execute()

    assert table.snapshot().read()["ts"].to_pylist() == [
        datetime(2024, 3, 10, 2, tzinfo=UTC),
        datetime(2024, 3, 10, 5, tzinfo=UTC),
    ]


def test_a_constraint_is_of_the_zone_of_who_writes(table: DeltaTable, folder: Path):
    table.delete("id = 1")
    table.add_constraint("late", MIDNIGHT, upgrade=True)

    with pytest.raises(ConstraintViolatedError):
        table.append(ROWS)
    DeltaTable(str(folder)).append(ROWS)  # in UTC both are late


def test_changes_and_versions_are_asked_for_by_its_clocks(table, folder):
    assert table.snapshot(timestamp="2999-01-01 12:00").version == 1
    with pytest.raises(TimestampInvalidError, match="say its zone"):
        DeltaTable(str(folder)).snapshot(timestamp="2999-01-01 12:00")
    with pytest.raises(TimestampInvalidError):
        DeltaTable(str(folder)).changes(start_timestamp="2000-01-01 12:00")
