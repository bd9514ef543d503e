"""Only one attempt of a task is ever committed, whatever the others have written."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.spark.writing.file_tasks import TaskFiles, write_rows
from deltaweb.spark.writing.part_commit import commit_parts
from deltaweb.spark.writing.write_plan import WritePlan, WriteRequest, plan_write
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.spark.writing import failing_attempts
from tests.spark.writing.failing_attempts import ROWS, TASKS

SCHEMA = pa.schema([("n", pa.int64())])
LATER = datetime.now(UTC) + timedelta(days=8)


def numbers(table: DeltaTable) -> list[int]:
    (column,) = table.snapshot().read().columns
    return sorted(column.to_pylist())


def data_files(location: Path) -> set[str]:
    return {path.name for path in location.glob("*.parquet")}


def live_files(table: DeltaTable) -> set[str]:
    return set(table.snapshot().files["path"].to_pylist())


@pytest.fixture
def plan(tmp_path: Path) -> WritePlan:
    DeltaTable.create(str(tmp_path / "t"), SCHEMA)
    place = TablePlace(str(tmp_path / "t"))
    found = plan_write(place, SCHEMA, WriteRequest())
    assert found is not None
    return found


def attempt(plan: WritePlan, first: int) -> TaskFiles:
    rows = pa.record_batch({"n": range(first, first + 3)}, schema=SCHEMA)
    return write_rows(plan, iter([rows]))


class TestAttempts:
    def test_at_once_have_files_of_their_own_and_one_is_committed(self, plan, tmp_path):
        counted = [attempt(plan, 0), attempt(plan, 3)]
        speculative = attempt(plan, 3)  # of the second task, and not the first to end

        commit_parts(plan, counted)

        table = DeltaTable(str(tmp_path / "t"))
        assert numbers(table) == list(range(6))
        left = {str(path) for path in speculative.added["path"].to_pylist()}
        assert data_files(tmp_path / "t") == live_files(table) | left
        assert not left & live_files(table)
        table.vacuum(dry_run=False, now=LATER)
        assert data_files(tmp_path / "t") == live_files(table)

    def test_that_failed_after_they_wrote_are_tried_again(self, tmp_path: Path) -> None:
        location = tmp_path / "t"
        script = str(failing_attempts.__file__)
        command = [sys.executable, script, str(location), str(tmp_path / "spark")]
        subprocess.run(command, check=True, capture_output=True)

        table = DeltaTable(str(location))
        assert numbers(table) == list(range(ROWS))
        assert len(live_files(table)) == TASKS
        left = data_files(location) - live_files(table)
        assert len(left) == TASKS  # of the attempts that failed
        table.vacuum(dry_run=False, now=LATER)
        assert data_files(location) == live_files(table)
        assert numbers(table) == list(range(ROWS))
