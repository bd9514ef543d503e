"""The number of rows that the conditions of a page leave, as far as it is known."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.explorer.rows.form import parse_count
from apps.explorer.rows.jobs import count_job
from apps.explorer.rows.plan import RowPlan
from apps.explorer.rows.selector import RowPage
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.tables.index.counted import Counted


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTotal:
    """A number of rows.

    Attributes:
        rows: The number, or the least that it can be.
        is_exact: Whether it is the number.
        most: The most that it can be, if that is known and not exact.
    """

    rows: int
    is_exact: bool
    most: int | None = None


def row_total(
    at: TableVersion, plan: RowPlan, page: RowPage | None, counted: Counted | None
) -> RowTotal | None:
    """Return how many rows match; None if nothing is known.

    Args:
        page: The page, once its rows are read.
        counted: What the log says of the condition.
    """
    if page and not page.more and (page.num_read > plan.offset or not plan.offset):
        return RowTotal(rows=page.num_read, is_exact=True)
    if not plan.conditions and at.num_records is not None:
        return RowTotal(rows=at.num_records, is_exact=True)
    most = counted.num_rows if counted and plan.conditions else None
    if counted and counted.is_exact and most is not None:
        return RowTotal(rows=most, is_exact=True)
    if page is None or not page.more:
        return None
    least = page.num_read + 1
    return RowTotal(rows=least, is_exact=least == most, most=most)


def exact_total(
    request: HttpRequest,
    at: TableVersion,
    plan: RowPlan | None,
    total: RowTotal | None,
) -> tuple[Job | None, RowTotal | None]:
    """Return the job that counts the rows exactly, if any, and what is known then.

    Args:
        request: Its address says whether a job is begun (`count=exact`).
        total: What is known without a job.
    """
    is_open = plan is not None and plan.conditions and not (total and total.is_exact)
    if plan is None or at.version is None or not is_open:
        return None, total
    job, num_rows = count_job(
        at.table,
        version=at.version,
        plan=plan,
        starts=parse_count(request.GET),
        requested_by=signed_in(request),
        now=timezone.now(),
    )
    if num_rows is None:
        return job, total
    return job, RowTotal(rows=num_rows, is_exact=True)
