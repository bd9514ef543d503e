"""The jobs whose results the compare page shows: found again, queued or started."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from apps.accounts.models import User
from apps.explorer.selectors.compare import Comparison
from apps.explorer.services import newest_job, result_job, wait_for
from apps.jobs.models import Job
from apps.tables.selectors.results import (
    JobRows,
    all_changed_rows,
    file_diff_result,
    row_diff_result,
)
from apps.tables.services import request_file_diff, request_row_diff

FILES_KIND: Final = "tables.diff_files"
ROWS_KIND: Final = "tables.diff_rows"


def file_diff_job(
    found: Comparison, *, requested_by: User, now: datetime, waits: bool = False
) -> tuple[Job, JobRows | None]:
    """Return the job that compares files, queued if need be, and its result.

    With `waits` it waits for the job a while, as a download does.
    """
    parameters = found.file_parameters()
    job, result = result_job(
        found.table,
        kind=FILES_KIND,
        wanted=parameters,
        result_of=file_diff_result,
        request=lambda: request_file_diff(
            found.table, parameters=parameters, requested_by=requested_by, now=now
        ),
    )
    if waits:
        wait_for(job)
    return job, result or file_diff_result(job)


def known_file_diff(found: Comparison) -> JobRows | None:
    """Return what a comparison of files has found before, without asking for one."""
    job = newest_job(found.table, FILES_KIND, found.file_parameters())
    return file_diff_result(job) if job else None


def row_diff_job(
    found: Comparison, key: Sequence[str]
) -> tuple[Job | None, JobRows | None]:
    """Return the job that compares rows, if somebody has started it, and its result."""
    parameters = found.job_parameters(key=list(key))
    job = newest_job(found.table, ROWS_KIND, parameters)
    if job is None:
        return None, None
    result = row_diff_result(job)
    is_cleaned = result is None and job.state == Job.State.DONE
    return (None, None) if is_cleaned else (job, result)


def start_row_diff(
    found: Comparison, key: Sequence[str], *, requested_by: User, now: datetime
) -> Job:
    """Start comparing rows; work that is done or under way is not begun again."""
    parameters = found.job_parameters(key=list(key))
    job = newest_job(found.table, ROWS_KIND, parameters)
    if job and job.state == Job.State.DONE and row_diff_result(job) is None:
        # The result was cleaned up: the job no longer stands for its work.
        Job.objects.filter(id=job.id).update(key="")
    return request_row_diff(
        found.table, parameters=parameters, requested_by=requested_by, now=now
    )


def all_rows_file(job: Job | None) -> Path | None:
    """Return the file of every changed row; None while it is not there."""
    return all_changed_rows(job) if job else None
