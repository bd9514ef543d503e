"""The rows of a table."""

from typing import Any
from urllib.parse import urlencode

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from apps.accounts.users import signed_in_user
from apps.explorer import services
from apps.explorer.forms import QueryError, parse_choice_text, parse_row_query
from apps.explorer.selectors import rows
from apps.explorer.selectors.compare_key import table_key
from apps.explorer.selectors.gone_version import GoneVersion, gone_version
from apps.explorer.selectors.row_filters import OPERATORS
from apps.explorer.selectors.row_plan import (
    EVERY_COLUMN,
    MAX_CHOICES,
    NARROW_COLUMNS,
    RowPlan,
    row_plan,
)
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.views.job_errors import check_job
from apps.explorer.zones import user_zone
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.links import Chip, changed, without
from apps.pages.responses import respond
from apps.tables.selectors.results import JobRows
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.schema import StructType, read_columns

NEW_FILTER = ("fc", "fo", "fv")  # the filter form's parts, before they are one `f`


@require_safe
def row_list(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Preview rows of a version; a worker reads them, the page shows its result."""
    if request.GET.get("fc"):
        return HttpResponseRedirect(_with_filter(request))
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    gone = gone_version(at)
    plan, problem = (None, "") if gone else row_plan_of(request, at)
    text = parse_choice_text(request.GET)
    if plan and "find" in request.GET and "HX-Request" in request.headers:
        return render(
            request,
            "explorer/row_list.html#choices",
            {"plan": plan, "choices": plan.choices(text)},
        )
    job: Job | None = None
    result: JobRows | None = None
    if plan is not None and fmt == "csv":
        plan = plan.for_export()
    if plan is not None and at.version is not None:
        find = services.export_job if fmt == "csv" else services.rows_job
        job, result = find(
            at.table,
            version=at.version,
            plan=plan,
            requested_by=signed_in_user(request),
            now=timezone.now(),
        )
        gone = gone_version(at, job)
    if gone and fmt != "html":
        raise gone.error()
    if gone and "HX-Request" in request.headers:
        return _moved_on()
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
            "gone": gone,
            "plan": plan,
            "problem": problem,
            "job": job,
            "page": page,
            "operators": OPERATORS,
            "request_columns": request.GET.getlist("col")[:MAX_CHOICES],
            "chips": _chips(request, plan),
            "choices": plan.choices(text) if plan else [],
            "choice_text": text,
            "row_query": _row_query(request),
            **_column_urls(request, plan),
            "next_url": next_url,
            "previous_url": changed(request, page=page.previous_page)
            if page and page.previous_page
            else "",
        },
        data=_data(request, at, plan, job, result, page, problem, next_url)
        if fmt == "json"
        else {},
        rows=rows.row_lines(plan, result.rows) if plan and result else None,
        status=_status(gone, job, result, fmt),
    )


def _moved_on() -> HttpResponse:
    """Let the page that waits fetch itself anew: its head has changed as well."""
    response = HttpResponse(status=204)
    trigger_client_event(response, "page-moved-on", {})
    return response


def _status(
    gone: GoneVersion | None, job: Job | None, result: JobRows | None, fmt: str
) -> int:
    if gone is not None:
        return 410
    return 202 if job and result is None and fmt == "json" else 200


def row_plan_of(request: HttpRequest, at: TableVersion) -> tuple[RowPlan | None, str]:
    """Return what to read, or why nothing can be read."""
    query = parse_row_query(request.GET)
    if at.metadata is None:
        return None, ""
    if at.unreadable_reason:
        return None, at.unreadable_reason
    try:
        schema = at.metadata.schema()
    except SchemaError as error:
        return None, error.message
    if schema.fields and not read_columns(schema).fields:
        return None, "No column of this version is of a type that is read."
    leading = () if query.columns else _leading(at, schema)
    try:
        return row_plan(schema, query, user_zone(request.user), leading), ""
    except QueryError as error:
        names = [at.table.namespace, at.table.name]
        url = reverse("explorer:row-list", args=names)
        error.way_out = ("To the rows without it", f"{url}{at.pin}")
        raise


def _leading(at: TableVersion, schema: StructType) -> tuple[str, ...]:
    """Return what tells the rows of a wide table apart: partitions, and a key."""
    if len(schema.fields) <= NARROW_COLUMNS or at.metadata is None:
        return ()
    version = at.version or 0
    key = table_key(at.table, schema.names, after=-1, up_to=version)
    return (*at.metadata.partition_columns, *(key.columns if key else ()))


def _row_query(request: HttpRequest) -> str:
    """Return the part of the address that a row's own page needs: version, filters."""
    kept = [(name, value) for name in ("v", "f") for value in request.GET.getlist(name)]
    return f"?{urlencode(kept)}" if kept else ""


def _column_urls(request: HttpRequest, plan: RowPlan | None) -> dict[str, str]:
    """Return where other columns are: all, the first ones, and those beside."""
    if plan is None:
        return {}
    page = plan.column_page
    more, fewer = page < plan.num_column_pages, page > 1
    return {
        "all_columns_url": changed(request, col=EVERY_COLUMN, cols=None, find=None),
        "first_columns_url": changed(request, col=None, cols=None, find=None),
        "next_columns_url": changed(request, cols=page + 1) if more else "",
        "previous_columns_url": changed(request, cols=page - 1) if fewer else "",
    }


def _data(  # noqa: PLR0913, PLR0917 (each is one part of the answer)
    request: HttpRequest,
    at: TableVersion,
    plan: RowPlan | None,
    job: Job | None,
    result: JobRows | None,
    page: rows.RowPage | None,
    problem: str,
    next_url: str,
) -> dict[str, Any]:
    found = rows.row_objects(plan, result.rows) if plan and result else None
    more_columns = _column_urls(request, plan).get("next_columns_url")
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
        "num_columns": len(plan.all_columns) if plan else None,
        "num_chosen_columns": len(plan.chosen) if plan else None,
        "next_columns": request.build_absolute_uri(more_columns)
        if more_columns
        else None,
        "rows": found.rows if found else [],
        "cut": found.cut if found else [],
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
    for name in (*NEW_FILTER, "page", "find"):
        query.pop(name, None)
    query.appendlist("f", ":".join(parts if parts[2] else parts[:2]))
    return f"{request.path}?{query.urlencode()}"


def _chips(request: HttpRequest, plan: RowPlan | None) -> list[Chip]:
    if plan is None:
        return []
    return [
        Chip(text=wanted.text, url=without(request, "f", wanted.raw))
        for wanted in plan.filters
    ]
