"""The jobs that read the rows of a page, or every row to be downloaded."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from apps.accounts.models import User
from apps.explorer.rows.plan import RowPlan
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_rows
from apps.jobs.waiting import wait_a_glance
from apps.tables.models import Table
from apps.tables.work.count_rows import COUNT, CountRows
from apps.tables.work.export_rows import Export, export_file
from apps.tables.work.preview import PREVIEW, Preview, RowsRead


def rows_job(  # noqa: PLR0913 (a page's, and how variants come)
    table: Table,
    *,
    version: int,
    plan: RowPlan,
    requested_by: User,
    now: datetime,
    typed_variants: bool = False,
    meanwhile: Callable[[], object] | None = None,
) -> tuple[Job, JobRows[RowsRead] | None]:
    """Return the job that reads a page's rows, and its result once it is done.

    Args:
        meanwhile: Work for the time in which the job runs.
    """
    asked = _asked(version, plan, plan.block_length, plan.offset)
    asked = replace(asked, typed_variants=typed_variants)
    return PREVIEW.answer(
        table, asked, requested_by=requested_by, now=now, meanwhile=meanwhile
    )


def export_job(  # noqa: PLR0913 (as above)
    table: Table,
    *,
    version: int,
    plan: RowPlan,
    requested_by: User,
    now: datetime,
    wait_s: float | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> tuple[Job, JobRows[RowsRead] | None]:
    """Return the job that reads every row of a plan, and its result once it is done.

    It waits for the job a while, unless nobody is there to do it.

    Args:
        wait_s: How long it waits; None as long as downloads do.
        meanwhile: Work for the time in which the job runs.
    """
    first = PREVIEW.newest(table, _asked(version, plan, plan.block_length, 0))
    result = job_rows(PREVIEW, first) if first else None
    if first and result and not result.facts.more:
        return first, result  # a page has read them all
    asked = _asked(version, plan, None, 0)
    return PREVIEW.answer(
        table,
        asked,
        requested_by=requested_by,
        now=now,
        waits=True,
        wait_s=wait_s,
        meanwhile=meanwhile,
    )


def rows_file(  # noqa: PLR0913 (as above)
    table: Table,
    *,
    version: int,
    plan: RowPlan,
    form: str,
    requested_by: User,
    now: datetime,
    wait_s: float | None = None,
) -> tuple[Job, Path | None]:
    """Return the job that writes every row of a plan to a file, and the file if done.

    Args:
        form: A key of `apps.tables.work.export_rows.FORMS`.
        wait_s: How long it waits; None as long as downloads do.
    """
    asked = Export(
        version=version,
        columns=None if plan.columns == plan.all_columns else tuple(plan.columns),
        predicate=plan.predicate,
        time_zone=plan.zone_name,
        sort=plan.sort,
        form=form,
    )
    return export_file(table, asked, requested_by=requested_by, now=now, wait_s=wait_s)


def count_job(  # noqa: PLR0913 (as above)
    table: Table,
    *,
    version: int,
    plan: RowPlan,
    starts: bool,
    requested_by: User,
    now: datetime,
) -> tuple[Job | None, int | None]:
    """Return the job that counts the rows of a plan, and their number once it is done.

    Args:
        starts: Whether to queue the job if it does not exist yet.
    """
    asked = CountRows(
        version=version, predicate=plan.predicate, time_zone=plan.zone_name
    )
    job = COUNT.newest(table, asked)
    if job is None and starts:
        job = COUNT.start(table, asked, requested_by=requested_by, now=now)
        wait_a_glance(job)
    found = COUNT.found(job) if job is not None else None
    return job, found.num_rows if found else None


def _asked(version: int, plan: RowPlan, limit: int | None, offset: int) -> Preview:
    columns = plan.read_columns
    return Preview(
        version=version,
        columns=None if columns == plan.all_columns else tuple(columns),
        predicate=plan.predicate,
        time_zone=plan.zone_name,
        limit=limit,
        offset=offset,
    )
