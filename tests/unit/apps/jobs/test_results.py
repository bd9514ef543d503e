from pathlib import Path

import pyarrow as pa
import pytest
from django.conf import settings

from apps.jobs.models import Job
from apps.jobs.results import job_rows
from apps.tables.work.preview import PREVIEW, Preview
from tests.support.pages.factories import NOW, new_table

pytestmark = pytest.mark.django_db


def done_preview() -> Job:
    job = PREVIEW.request(new_table("orders"), Preview(version=2), now=NOW)
    job.state = Job.State.DONE
    job.result = {"rows": 2, "files_scanned": 1, "files_total": 3, "more": False}
    job.save()
    return job


def write_rows(job: Job, rows: pa.Table) -> Path:
    path = Path(settings.HOME) / "results" / f"{job.id}.arrow"
    path.parent.mkdir(exist_ok=True)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as out:
        out.write_table(rows)
    return path


def test_reads_what_a_job_has_left() -> None:
    job = done_preview()
    rows = pa.table({"id": [1, 2**60]})
    write_rows(job, rows)

    result = job_rows(PREVIEW, job)

    assert result is not None
    assert result.rows.equals(rows)
    assert result.facts.files_total == 3


def test_a_result_that_was_swept_away_is_none() -> None:
    assert job_rows(PREVIEW, done_preview()) is None


def test_a_torn_result_is_none() -> None:
    job = done_preview()
    write_rows(job, pa.table({"id": [1]})).write_bytes(b"ARROW1")

    assert job_rows(PREVIEW, job) is None


def test_a_job_that_is_not_done_has_no_result() -> None:
    job = PREVIEW.request(new_table("orders"), Preview(version=2), now=NOW)

    assert job_rows(PREVIEW, job) is None
