"""The jobs whose results a page shows: found again, or queued."""

from collections.abc import Callable, Mapping
from datetime import datetime

from apps.accounts.models import User
from apps.explorer.selectors.rows import BLOCK_LENGTH, RowPlan
from apps.jobs.models import Job
from apps.tables.models import Table
from apps.tables.selectors.results import JobRows, preview_result, version_files_result
from apps.tables.services import request_preview, request_version_files

MAX_JOBS_COMPARED = 50
PREVIEW_KIND = "tables.preview_rows"
FILES_KIND = "tables.list_version_files"


def rows_job(
    table: Table, *, version: int, plan: RowPlan, requested_by: User, now: datetime
) -> tuple[Job, JobRows | None]:
    """Return the job that reads the rows of a plan, and its result once it is done.

    A job that failed stays the answer until somebody retries it, so that a page that
    is reloaded does not fail again and again.
    """
    columns = None if plan.columns == plan.all_columns else list(plan.columns)
    wanted = {
        "version": version,
        "columns": columns,
        "predicate": plan.predicate,
        "limit": BLOCK_LENGTH,
        "offset": plan.offset,
    }
    return _result_job(
        table,
        kind=PREVIEW_KIND,
        wanted=wanted,
        result_of=preview_result,
        request=lambda: request_preview(
            table,
            version=version,
            columns=columns,
            predicate=plan.predicate,
            limit=BLOCK_LENGTH,
            offset=plan.offset,
            requested_by=requested_by,
            now=now,
        ),
    )


def files_job(
    table: Table, *, version: int, requested_by: User, now: datetime
) -> tuple[Job, JobRows | None]:
    """Return the job that lists the files of an older version, and its result."""
    return _result_job(
        table,
        kind=FILES_KIND,
        wanted={"version": version},
        result_of=version_files_result,
        request=lambda: request_version_files(
            table, version=version, requested_by=requested_by, now=now
        ),
    )


def _result_job(
    table: Table,
    *,
    kind: str,
    wanted: Mapping[str, object],
    result_of: Callable[[Job], JobRows | None],
    request: Callable[[], Job],
) -> tuple[Job, JobRows | None]:
    job = _newest_job(table, kind, wanted)
    if job is not None and job.state != Job.State.DONE:
        return job, None
    if job is not None:
        if (result := result_of(job)) is not None:
            return job, result
        # The result was cleaned up: the job no longer stands for its work.
        Job.objects.filter(id=job.id).update(key="")
    job = request()
    return job, result_of(job)


def _newest_job(table: Table, kind: str, wanted: Mapping[str, object]) -> Job | None:
    jobs = Job.objects.filter(kind=kind, subject_id=table.id).order_by("-created_at")
    for job in jobs.defer("log", "error_detail")[:MAX_JOBS_COMPARED]:
        if wanted.items() <= dict(job.parameters).items():
            return job
    return None
