"""The jobs that delete and update rows take Spark for large tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.models import Table
from apps.tables.operations.operation import AnyOperation
from apps.tables.operations.requests import request_operation, request_preview
from apps.tables.operations.rows.changed_rows import (
    DELETE_ROWS,
    UPDATE_ROWS,
    DeleteRows,
    UpdateRows,
)
from deltaweb.table import DeltaTable
from tests.functional.command_line import Ran
from tests.functional.table_command.commands import refusal, run_json
from tests.support import cases
from tests.support.pages.factories import NOW, new_table
from tests.support.tables.table_builder import TableBuilder
from tests.support.tables.zoned_tables import MIDNIGHT, NEW_YORK, ids, write_zoned_table

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("spark", "home"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six rows in two files."""
    TableBuilder(tmp_path / "t").rows(n=range(3)).rows(n=range(3, 6)).build()
    return tmp_path / "t"


@pytest.fixture
def table(folder: Path) -> Table:
    return new_table("t", location=str(folder), version=2)


def done(operation: AnyOperation, job: Job) -> Job:
    kinds.all_kinds()[operation.kind].work(job.id)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error_detail
    return job


def carried_out(operation: AnyOperation, table: Table, asked: object) -> Job:
    """Look at what would happen, agree, and do it."""
    look = done(operation, request_preview(operation, table, asked, now=NOW))
    job = request_operation(
        operation, table, asked, seen=look, stamp=Stamp(COMMAND_LINE, NOW)
    )
    return done(operation, job)


def numbers(folder: Path) -> list[int]:
    return sorted(DeltaTable(str(folder)).snapshot().read()["n"].to_pylist())


def test_rows_of_a_large_table_are_changed_by_tasks(table, folder, settings):
    settings.SPARK_DIFF_BYTES = 0

    deleted = carried_out(DELETE_ROWS, table, DeleteRows(where="n in (1, 5)"))
    updated = carried_out(
        UPDATE_ROWS, table, UpdateRows(assignments={"n": "n + 10"}, where="n > 2")
    )

    assert numbers(folder) == [0, 2, 13, 14]
    assert {deleted.progress_unit, updated.progress_unit} == {"tasks"}


def test_a_condition_that_only_spark_evaluates_is_its_own_to_evaluate(table, folder):
    asked = DeleteRows(where="hash(n) = hash(4L)")

    assert carried_out(DELETE_ROWS, table, asked).state == Job.State.DONE
    assert numbers(folder) == [0, 1, 2, 3, 5]


def test_rows_that_are_tracked_are_changed_in_the_worker_itself(tmp_path, settings):
    settings.SPARK_DIFF_BYTES = 0
    tracks = {"delta.enableRowTracking": "true"}
    schema = pa.schema([("n", pa.int64())])
    tracked = DeltaTable.create(str(tmp_path / "tracked"), schema, properties=tracks)
    tracked.append(pa.table({"n": range(3)}))
    table = new_table("tracked", location=tracked.root, version=1)

    job = carried_out(DELETE_ROWS, table, DeleteRows(where="n = 1"))

    assert numbers(tmp_path / "tracked") == [0, 2]
    assert job.progress_unit == "files"


def test_commands_take_spark_as_jobs_do(folder: Path, settings: "Settings") -> None:
    settings.SPARK_DIFF_BYTES = 0
    some = ("--where", "n in (1, 5) and hash(n) is not null")  # Spark's own

    told = run_json("delete", folder, *some, "--dry-run")
    gone = run_json("delete", folder, *some, "--yes")
    looked = run_json("update", folder, "--set", "n = n + 10", "--dry-run")
    changed = run_json("update", folder, "--set", "n = 9", "--where", "n = 4", "--yes")

    assert (told["version"], told["num_rows"], told["num_copied_rows"]) == (2, 2, 4)
    assert {row["n"] for row in told["before"]} == {"1", "5"}
    assert (gone["version"], gone["num_rows_deleted"]) == (3, 2)
    assert {row["n"] for row in looked["after"]} == {"10", "12", "13", "14"}
    assert (changed["version"], changed["num_rows_updated"]) == (4, 1)
    assert numbers(folder) == [0, 2, 3, 9]


@pytest.fixture
def more(tmp_path: Path) -> Path:
    """A file of two rows, of which the table has one."""
    (tmp_path / "more.csv").write_text("n\n1\n7\n")
    return tmp_path / "more.csv"


def test_rows_are_merged_into_a_large_table_by_tasks(folder, more, settings):
    settings.SPARK_DIFF_BYTES = 0
    on = ("--on", "t.n = s.n", "--insert-all", "--delete-where", "true")
    words = ("merge", folder, more, *on)

    before = sorted(folder.rglob("*"))
    told = run_json(*words, "--dry-run")
    assert sorted(folder.rglob("*")) == before
    done = run_json(*words, "--yes")

    assert told["num_deleted_rows"] == done["num_rows_deleted"] == 1
    assert told["num_inserted_rows"] == done["num_rows_inserted"] == 1
    assert told["num_files"] == done["num_removed_files"]
    assert numbers(folder) == [0, 2, 3, 4, 5, 7]
    read = DeltaTable(str(folder)).read_commit(done["version"])
    assert sum("add" in action for action in read) == 2  # one process writes one file


def test_a_merge_that_only_spark_evaluates_is_its_own(folder: Path, more: Path) -> None:
    on = ("--on", "hash(t.n) = hash(s.n)", "--delete-where", "true", "--yes")

    assert run_json("merge", folder, more, *on)["num_rows_deleted"] == 1


def test_a_command_says_who_does_it(folder: Path) -> None:
    where = ("--where", "hash(n) = hash(4L)", "--yes")

    assert "here" in refusal("delete", folder, *where, "--engine", "here")
    assert numbers(folder) == [0, 1, 2, 3, 4, 5]
    Ran("table", "delete", folder, "--where", "n = 4", "--yes", "--engine", "spark")
    assert numbers(folder) == [0, 1, 2, 3, 5]


BY_A_FUNCTION = "date_format(ts, 'HH:mm') IN ('02:00', '08:00')"


@cases(
    "zone, where, left",
    {
        "function, UTC": ("UTC", BY_A_FUNCTION, [2]),
        "function, New York": (NEW_YORK, BY_A_FUNCTION, [1]),
        "midnight, UTC": ("UTC", MIDNIGHT, []),
        "midnight, New York": (NEW_YORK, MIDNIGHT, [1]),
    },
    often={"midnight, New York"},  # that of a job without a zone is UTC, above
)
def test_spark_has_the_zone_of_who_asked(tmp_path, settings, zone, where, left):
    settings.SPARK_DIFF_BYTES = 0
    write_zoned_table(tmp_path / "events")
    table = new_table("events", location=str(tmp_path / "events"), version=1)

    carried_out(DELETE_ROWS, table, DeleteRows(where=where, time_zone=zone))

    assert ids(tmp_path / "events") == left
