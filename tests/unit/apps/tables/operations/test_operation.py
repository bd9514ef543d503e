"""A job of an operation is somebody's: what a command may read it may not."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.models import Job
from deltaweb.web.tables.catalogue.adding.work.import_rows import IMPORT, ImportRows
from deltaweb.web.tables.operations.requests import request_preview
from tests.support.pages.factories import NOW


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
