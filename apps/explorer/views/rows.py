"""The rows of a table."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.users import signed_in_user
from apps.explorer import services
from apps.explorer.forms import parse_row_query
from apps.explorer.selectors import rows
from apps.explorer.selectors.row_filters import OPERATORS
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.views.job_errors import check_job
from apps.explorer.zones import user_zone
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.links import Chip, changed, without
from apps.pages.responses import respond
from apps.tables.selectors.results import JobRows
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.schema import parse_schema, read_columns

NEW_FILTER = ("fc", "fo", "fv")  # the filter form's parts, before they are one `f`


@require_safe
def row_list(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Preview rows of a version; a worker reads them, the page shows its result."""
    if request.GET.get("fc"):
        return HttpResponseRedirect(_with_filter(request))
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    plan, problem = _plan(request, at)
    job: Job | None = None
    result: JobRows | None = None
    if plan is not None and at.version is not None:
        find = services.export_job if fmt == "csv" else services.rows_job
        job, result = find(
            at.table,
            version=at.version,
            plan=plan,
            requested_by=signed_in_user(request),
            now=timezone.now(),
        )
    zone = user_zone(request.user)
    page = (
        rows.row_page(plan, result.rows, result.facts, zone)
        if plan and result and fmt != "csv"
        else None
    )
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and result is None:
        raise _not_ready(at, job, problem)
    next_url = changed(request, page=page.next_page) if page and page.next_page else ""
    return respond(
        request,
        fmt,
        template="explorer/row_list.html",
        fragment="rows",
        context={
            "at": at,
            "head": at.head,
            "table": at.table,
            "plan": plan,
            "problem": problem,
            "job": job,
            "page": page,
            "operators": OPERATORS,
            "request_columns": request.GET.getlist("col"),
            "chips": _chips(request, plan),
            "all_columns_url": without(request, "col"),
            "next_url": next_url,
            "previous_url": changed(request, page=page.previous_page)
            if page and page.previous_page
            else "",
        },
        data=_data(request, at, plan, job, result, page, problem, next_url),
        rows=rows.row_lines(plan, result.rows) if plan and result else None,
        status=202 if job and result is None and fmt == "json" else 200,
    )


def _plan(request: HttpRequest, at: TableVersion) -> tuple[rows.RowPlan | None, str]:
    """Return what to read, or why nothing can be read."""
    query = parse_row_query(request.GET)
    if at.metadata is None:
        return None, ""
    if at.unreadable_reason:
        return None, at.unreadable_reason
    try:
        schema = parse_schema(at.metadata.schema_string)
    except SchemaError as error:
        return None, error.message
    if schema.fields and not read_columns(schema).fields:
        return None, "No column of this version is of a type that is read."
    return rows.row_plan(schema, query, user_zone(request.user)), ""


def _data(  # noqa: PLR0913, PLR0917 (each is one part of the answer)
    request: HttpRequest,
    at: TableVersion,
    plan: rows.RowPlan | None,
    job: Job | None,
    result: JobRows | None,
    page: rows.RowPage | None,
    problem: str,
    next_url: str,
) -> dict[str, Any]:
    return {
        **at.describe(),
        "count": page.num_read if page else None,
        "more": page.more if page else None,
        "next": request.build_absolute_uri(next_url) if next_url else None,
        "problem": problem or None,
        "job": {"id": job.id, "state": job.state, "error": job.error or None}
        if job
        else None,
        "files_scanned": page.files_scanned if page else None,
        "files_total": page.files_total if page else None,
        "columns": [
            {
                "name": column.name,
                "type": column.type_text,
                "not_read": column.unread or None,
            }
            for column in page.columns
        ]
        if page
        else [],
        "rows": rows.row_objects(plan, result.rows) if plan and result else [],
    }


def _not_ready(at: TableVersion, job: Job | None, problem: str) -> PageError:
    if job is None:
        unindexed = f"{at.table.full_name} is not indexed yet."
        message = problem or at.table.error or unindexed
        hint = "Metadata and history can be shown all the same."
        return PageError(status=409, code="rows-unreadable", message=message, hint=hint)
    return PageError(
        status=409,
        code="still-reading",
        message=f"The rows of version {at.version} are still being read.",
        hint=f"Ask again when job {job.id} is done.",
    )


def _with_filter(request: HttpRequest) -> str:
    """Return the page's address with the filter form's parts as one more filter."""
    query: QueryDict = request.GET.copy()
    parts = [query.get(name, "") for name in NEW_FILTER]
    for name in (*NEW_FILTER, "page"):
        query.pop(name, None)
    query.appendlist("f", ":".join(parts if parts[2] else parts[:2]))
    return f"{request.path}?{query.urlencode()}"


def _chips(request: HttpRequest, plan: rows.RowPlan | None) -> list[Chip]:
    if plan is None:
        return []
    return [
        Chip(text=wanted.text, url=without(request, "f", wanted.raw))
        for wanted in plan.filters
    ]
