"""One column of a table, and the profile of its values on request."""

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.users import signed_in_user
from apps.explorer import distribution_charts
from apps.explorer.selectors.column import ColumnPage, column_page, profile_job
from apps.explorer.selectors.column_profile import shown_profile
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.views.listed import described_job
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.responses import respond
from apps.tables.services import request_profile


@require_safe
def column_detail(
    request: HttpRequest, namespace: str, name: str, column: str, fmt: str
) -> HttpResponseBase:
    """Show a column: what files tell, how it came about, and its profile if asked."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    if not at.is_indexed:
        return _answer(request, at, None, None, column, fmt)
    try:
        page = column_page(at, column)
    except PageError:
        if fmt != "json":
            raise
        # The page of a column whose own name ends so.
        page, fmt = column_page(at, f"{column}.json"), "html"
    return _answer(request, at, page, profile_job(at, page.column), column, fmt)


@require_POST
def column_profile(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Queue the profile of a column; the page shows it when it is done."""
    at = table_version(request.user, namespace, name, request.POST.get("v", ""))
    if at.version is None:
        raise PageError(
            status=409,
            code="not-indexed",
            message=f"{at.table.full_name} is not indexed yet.",
            hint="Ask again when it is.",
        )
    page = column_page(at, request.POST.get("column", ""))
    if at.unreadable_reason or not page.can_be_profiled:
        raise PageError(
            status=409,
            code="not-profiled",
            message=at.unreadable_reason
            or f"The values of {page.column.path} cannot be read on their own.",
            hint="Choose another version or another column.",
        )
    request_profile(
        at.table,
        version=at.version,
        column=page.column.names,
        requested_by=signed_in_user(request),
        now=timezone.now(),
    )
    return HttpResponseRedirect(f"{column_url(at, page.column.address)}#profile")


def column_url(at: TableVersion, address: str) -> str:
    """Return the page of a column, at the version that is shown."""
    table = at.table
    names = [table.namespace, table.name, address]
    return f"{reverse('explorer:column-detail', args=names)}{at.pin}"


def _answer(  # noqa: PLR0913, PLR0917 (each is one part of the page)
    request: HttpRequest,
    at: TableVersion,
    page: ColumnPage | None,
    job: Job | None,
    address: str,
    fmt: str,
) -> HttpResponseBase:
    profile = shown_profile(job)
    strip = page.ranges.strip if page and page.ranges else None
    return respond(
        request,
        fmt,
        template="explorer/column_detail.html",
        fragment="profile",
        context={
            "at": at,
            "head": at.head,
            "table": at.table,
            "address": address,
            "page": page,
            "column": page.column if page else None,
            "ranges": page.ranges if page else None,
            "children": [
                (child, column_url(at, child.address)) for child in page.children
            ]
            if page
            else [],
            "chart": distribution_charts.file_ranges(strip, page.column.type_text)
            if strip and page
            else None,
            "job": job,
            "profile": profile,
        },
        data={
            **at.describe(),
            **(page.describe() if page else {}),
            "profile": job.result if job and profile else None,
            "job": described_job(job),
        },
    )
