"""A job of an operation is somebody's: what a command may read it may not."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.pages.actions import command_stamp
from apps.tables.catalogue.adding.work.import_rows import IMPORT, ImportRows
from apps.tables.operations.requests import (
    request_operation,
    request_preview,
)
from apps.tables.operations.rows.changed_rows import UPDATE_ROWS, UpdateRows
from tests.support.pages.factories import NOW, new_table
from tests.support.pages.operated import worked
from tests.support.tables.table_builder import TableBuilder


@pytest.mark.django_db(transaction=True)
def test_no_job_reads_files_as_a_command_does(tmp_path: Path, settings: Settings):
    settings.HOME = tmp_path
    secret = tmp_path / "secret.csv"
    secret.write_text("n\n1\n")
    asked = ImportRows(
        user_id=None, files=(str(secret),), name="made", location=str(tmp_path / "t")
    )

    job = request_preview(IMPORT, None, asked, now=NOW)
    kinds.do_job(IMPORT.kind, str(job.id))

    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.FAILED, "asker-gone")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("attempts", "times"), [(0, 2), (1, 1)])
def test_a_worker_that_follows_a_killed_one_does_nothing_twice(
    tmp_path: Path, settings: Settings, attempts: int, times: int
) -> None:
    settings.HOME = tmp_path
    opened = TableBuilder(tmp_path / "t").rows(n=[1]).build()
    table = new_table(location=str(tmp_path / "t"), version=1)
    asked = UpdateRows(assignments={"n": "n + 1"})
    preview = worked(request_preview(UPDATE_ROWS, table, asked, now=NOW))
    job = request_operation(
        UPDATE_ROWS, table, asked, seen=preview, stamp=command_stamp()
    )
    # Of a worker that was killed, or of somebody else: the counts are the same.
    opened.update({"n": "n + 1"})
    Job.objects.filter(id=job.id).update(attempts=attempts)

    done = worked(job)

    assert opened.snapshot().read()["n"].to_pylist() == [1 + times]
    states = (Job.State.DONE, ""), (Job.State.FAILED, "operation-outdated")
    assert (done.state, done.error_code) == states[attempts]
