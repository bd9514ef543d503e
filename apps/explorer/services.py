"""The jobs whose results a page shows: found again, or queued."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

import pyarrow as pa
from django.utils import timezone

from apps.accounts.models import User
from apps.explorer.selectors.row_plan import BLOCK_LENGTH, RowPlan
from apps.explorer.selectors.version import TableVersion
from apps.jobs.models import Job
from apps.jobs.selectors import is_attended
from apps.tables.missing_files import missing_files_of
from apps.tables.models import Table
from apps.tables.selectors.results import JobRows, preview_result, version_files_result
from apps.tables.services import request_preview, request_version_files, work_key

PREVIEW_KIND = "tables.preview_rows"
FILES_KIND = "tables.list_version_files"
WAIT_S: Final = 20.0  # a download waits for its rows, so that one request does
POLL_S: Final = 0.1


def rows_job(
    table: Table, *, version: int, plan: RowPlan, requested_by: User, now: datetime
) -> tuple[Job, JobRows | None]:
    """Return the job that reads a page's rows, and its result once it is done.

    A job that failed stays the answer until somebody retries it, so that a page that
    is reloaded does not fail again and again.
    """
    return _rows_job(
        table,
        version=version,
        plan=plan,
        limit=BLOCK_LENGTH,
        offset=plan.offset,
        requested_by=requested_by,
        now=now,
    )


def export_job(
    table: Table, *, version: int, plan: RowPlan, requested_by: User, now: datetime
) -> tuple[Job, JobRows | None]:
    """Return the job that reads every row of a plan, and its result once it is done.

    It waits for the job a while, unless nobody is there to do it.
    """
    first = newest_job(table, PREVIEW_KIND, _wanted(version, plan, BLOCK_LENGTH, 0))
    result = preview_result(first) if first else None
    if first and result and not result.facts.get("more"):
        return first, result  # a page has read them all
    job, result = _rows_job(
        table,
        version=version,
        plan=plan,
        limit=None,
        offset=0,
        requested_by=requested_by,
        now=now,
    )
    wait_for(job)
    return job, result or preview_result(job)


def wait_for(job: Job) -> None:
    """Wait a while for a job to end, as long as a worker is there to do it."""
    deadline_s = time.monotonic() + WAIT_S
    while job.state in Job.ACTIVE_STATES and time.monotonic() < deadline_s:
        if not is_attended(job, now=timezone.now()):
            return
        time.sleep(POLL_S)
        job.refresh_from_db()


def _wanted(
    version: int, plan: RowPlan, limit: int | None, offset: int
) -> dict[str, object]:
    columns = plan.read_columns
    return {
        "version": version,
        "columns": None if columns == plan.all_columns else list(columns),
        "predicate": plan.predicate,
        "limit": limit,
        "offset": offset,
    }


def _rows_job(  # noqa: PLR0913 (each is one part of what is asked)
    table: Table,
    *,
    version: int,
    plan: RowPlan,
    limit: int | None,
    offset: int,
    requested_by: User,
    now: datetime,
) -> tuple[Job, JobRows | None]:
    wanted = _wanted(version, plan, limit, offset)
    columns = plan.read_columns
    return result_job(
        table,
        kind=PREVIEW_KIND,
        wanted=wanted,
        result_of=preview_result,
        request=lambda: request_preview(
            table,
            version=version,
            columns=None if columns == plan.all_columns else columns,
            predicate=plan.predicate,
            limit=limit,
            offset=offset,
            requested_by=requested_by,
            now=now,
        ),
    )


def files_job(
    table: Table, *, version: int, requested_by: User, now: datetime, waits: bool
) -> tuple[Job, JobRows | None]:
    """Return the job that lists the files of an older version, and its result.

    With `waits` it waits for the job a while, as an export does.
    """
    job, result = result_job(
        table,
        kind=FILES_KIND,
        wanted={"version": version},
        result_of=version_files_result,
        request=lambda: request_version_files(
            table, version=version, requested_by=requested_by, now=now
        ),
    )
    if waits:
        wait_for(job)
    return job, result or version_files_result(job)


def known_files(at: TableVersion) -> pa.Table | None:
    """Return files that the index lacks, where a job has listed them already."""
    has_index = at.is_latest and at.table.state != Table.State.UNSUPPORTED
    if at.version is None or has_index:
        return None
    job = newest_job(at.table, FILES_KIND, {"version": at.version})
    found = version_files_result(job) if job is not None else None
    return None if found is None else found.rows


def result_job(
    table: Table,
    *,
    kind: str,
    wanted: Mapping[str, object],
    result_of: Callable[[Job], JobRows | None],
    request: Callable[[], Job],
) -> tuple[Job, JobRows | None]:
    """Return the newest job that did this work, or one that is asked for now.

    Args:
        table: The table that the job is about.
        kind: The task's name.
        wanted: The parameters that the job has.
        result_of: Reads a finished job's result.
        request: Asks for the work.
    """
    job = newest_job(table, kind, wanted)
    if job is not None and job.state != Job.State.DONE:
        return job, None
    if job is not None:
        if (result := result_of(job)) is not None or is_still_missing(table, job):
            return job, result
        # The result was cleaned up: the job no longer stands for its work.
        Job.objects.filter(id=job.id).update(key="")
    job = request()
    return job, result_of(job)


def is_still_missing(table: Table, job: Job) -> bool:
    """Whether a job met a missing file, and nobody has found it since."""
    if not (isinstance(job.result, dict) and job.result.get("missing")):
        return False
    version = job.parameters["version"]
    return bool(missing_files_of(table, [version]))


def newest_job(table: Table, kind: str, wanted: Mapping[str, object]) -> Job | None:
    """Return the newest job that does this very work; None without one."""
    key = work_key(kind, table, wanted)
    jobs = Job.objects.filter(kind=kind, subject_id=table.id, key=key)
    return jobs.defer("log", "error_detail").order_by("-created_at").first()
