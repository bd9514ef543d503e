"""The rows of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated
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
from django_htmx.http import trigger_client_event

from apps.accounts.permissions import signed_in
from apps.accounts.zones import user_zone, user_zone_name
from apps.explorer.columns.key import table_key
from apps.explorer.rows import jobs as services
from apps.explorer.rows.facets import (
    FacetValue,
    choosable,
    row_facets,
    suggestions,
)
from apps.explorer.rows.filters import OPERATORS
from apps.explorer.rows.form import (
    RowQuery,
    parse_choice_text,
    parse_row_query,
)
from apps.explorer.rows.making import making_page, shows_page, wait_s
from apps.explorer.rows.plan import (
    EVERY_COLUMN,
    MAX_CHOICES,
    NARROW_COLUMNS,
    PART_TYPES,
    RowPlan,
    row_plan,
)
from apps.explorer.rows.selector import (
    RowPage,
    row_lines,
    row_objects,
    row_page,
)
from apps.explorer.rows.shown_facets import ShownFacet, facets_json
from apps.explorer.rows.total import RowTotal, exact_total, row_total
from apps.explorer.version.gone import GoneVersion, gone_version
from apps.explorer.version.page import JobOfPage, TablePage, still
from apps.explorer.version.query import texts_of
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.jobs.models import Job
from apps.jobs.results import JobRows
from apps.pages.errors import Correction, PageError
from apps.pages.lists.links import Chip, address_with, changed, without
from apps.pages.lists.paging import PageLinks, links_between
from apps.pages.page_json import As, OnPage, Spread
from apps.pages.request.parameters import QueryError
from apps.pages.responses import respond, respond_page
from apps.tables.head.drawn_head import DrawnHead
from apps.tables.head.job_json import check_job
from apps.tables.index.counted import Counted, counted_rows
from apps.tables.index.explained import FilesRead, files_read
from apps.tables.work.preview import RowsRead
from apps.tables.work.profile import known_profiles
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import StructType, read_columns
from deltaweb.delta.scan.variant_parts import part_name

# The filter form's parts, before they are one `f`; a condition in SQL is one itself.
NEW_FILTER = ("fc", "fo", "fv")
MAX_COUNTED = 8  # partition columns whose values are counted
NEW_PART = ("vc", "vp", "vt")  # those of a part of a variant, before they are a `col`


@dataclass(frozen=True, kw_only=True)
class ColumnURLs:
    """Where other columns are: all, the first ones, and those beside."""

    every: OnPage[str] = ""
    first: OnPage[str] = ""
    following: OnPage[str] = ""
    previous: OnPage[str] = ""
    next_columns: str | None = None


@dataclass(frozen=True, kw_only=True)
class RowList(TablePage):
    """Rows of a version; without `page` a job still reads them, or nothing can.

    Attributes:
        operators: How a condition may compare.
        part_types: The types that a part of a variant may be shown as.
        num_columns: The number of columns of the version.
        num_chosen_columns: The number of chosen columns.
        rows: The values of each row by column; empty on the HTML page.
        cut: The places of values that are cut because they are long.
        total: The number of rows that match, as far as it is known.
        count_job: The job that counts them exactly; null without one.
        facets: The values of columns that have few, with their rows.
    """

    page: Spread[RowPage | None]
    links: Spread[PageLinks]
    problem: str | None
    job: JobOfPage
    gone: OnPage[GoneVersion | None]
    plan: OnPage[RowPlan | None]
    result: OnPage[JobRows[RowsRead] | None]
    request_columns: OnPage[Sequence[str]]
    chips: OnPage[Sequence[Chip]]
    choices: OnPage[Sequence[tuple[str, bool]]]
    choice_text: OnPage[str]
    row_query: OnPage[str]
    zone_name: OnPage[str]
    column_urls: Spread[ColumnURLs]
    operators: OnPage[Mapping[str, str]]
    part_types: OnPage[Mapping[str, str]]
    num_columns: int | None
    num_chosen_columns: int | None
    rows: Sequence[dict[str, object]]
    cut: Sequence[dict[str, object]]
    total: RowTotal | None
    count_job: JobOfPage
    facets: Annotated[Sequence[ShownFacet], As(facets_json)]
    other_facets: OnPage[Sequence[Chip]]
    files_read: OnPage[FilesRead | None] = None
    wrong: OnPage[QueryError | None] = None


def row_list(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """Preview rows of a version; a worker reads them, the page shows its result."""
    early = _early(request, at)
    if early is not None:
        return early
    gone = gone_version(at)
    plan, problem, wrong = (
        (None, "", None) if gone else _plan_and_fault(request, at, fmt)
    )
    text = parse_choice_text(request.GET)
    if plan and "find" in request.GET and "HX-Request" in request.headers:
        return render(
            request,
            "explorer/rows/row_list.html#choices",
            {"plan": plan, "choices": plan.choices(text)},
        )
    if plan is not None and fmt == "csv":
        plan = plan.for_export()
    drawn = DrawnHead(request=request, head=at.head, fmt=fmt)
    job, result = _read(request, at, plan, drawn)
    if job is not None:
        gone = gone_version(at, job)
    if gone and fmt != "html":
        raise gone.error()
    if gone and "HX-Request" in request.headers:
        return _moved_on()
    if fmt == "csv":
        return _lines(request, at, plan, job, result, problem)
    zone = user_zone(request.user)
    found = row_page(plan, result.rows, result.facts, zone) if plan and result else None
    if fmt != "html":
        check_job(job)
    rows, cut = (
        row_objects(plan, result.rows)
        if plan and result and fmt == "json"
        else ([], [])
    )
    counted = _counted(at, plan) if plan else None
    shown = _facets(request, at, plan, counted) if plan else []
    total = row_total(at, plan, found, counted) if plan else None
    count_job, total = exact_total(request, at, plan, total)
    page = RowList(
        at=at,
        drawn_head=drawn,
        page=found,
        links=links_between(
            request,
            found.previous_page if found else None,
            found.next_page if found else None,
        ),
        problem=problem or None,
        job=job,
        result=result,
        gone=gone,
        plan=plan,
        request_columns=request.GET.getlist("col")[:MAX_CHOICES],
        chips=_chips(request, plan),
        choices=plan.choices(text) if plan else [],
        choice_text=text,
        row_query=_row_query(request),
        zone_name=user_zone_name(request.user),
        column_urls=column_urls(request, plan),
        operators=OPERATORS,
        part_types=PART_TYPES,
        num_columns=len(plan.all_columns) if plan else None,
        num_chosen_columns=plan.num_chosen if plan else None,
        rows=rows,
        cut=cut,
        total=total,
        count_job=count_job,
        facets=shown,
        other_facets=_other_facets(request, plan, shown),
        files_read=_files_read(at, plan) if fmt == "html" else None,
        wrong=wrong,
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/rows/row_list.html",
        fragment="rows",
        status=_fault_status(request, wrong) or _status(gone, job, result, fmt),
    )


def _read(
    request: HttpRequest, at: TableVersion, plan: RowPlan | None, drawn: DrawnHead
) -> tuple[Job | None, JobRows[RowsRead] | None]:
    """Return the job that reads the rows of a page or of a download, and its result."""
    if plan is None or at.version is None:
        return None, None
    find = (
        partial(services.export_job, wait_s=wait_s(request))
        if drawn.fmt == "csv"
        else services.rows_job
    )
    return find(
        at.table,
        version=at.version,
        plan=plan,
        requested_by=signed_in(request),
        now=timezone.now(),
        meanwhile=drawn.draw,
    )


def _lines(  # noqa: PLR0913, PLR0917 (a page's parts)
    request: HttpRequest,
    at: TableVersion,
    plan: RowPlan | None,
    job: Job | None,
    result: JobRows[RowsRead] | None,
    problem: str,
) -> HttpResponseBase:
    """Answer with all rows as CSV, or show a browser how far they are read."""
    if job and shows_page(request, is_ready=result is not None):
        return making_page(request, at, job, "csv", is_ready=result is not None)
    check_job(job)
    if plan is None or result is None:
        raise not_ready(at, job, problem)
    lines = row_lines(plan, result.rows)
    return respond(request, "csv", template="", context={}, data=None, rows=lines)


def _files_read(at: TableVersion, plan: RowPlan | None) -> FilesRead | None:
    """Return how many files the conditions read, if the index tells."""
    schema = table_columns(at)
    if plan is None or not plan.conditions or schema is None:
        return None
    return files_read(at.table, at.version, schema, plan.predicate, plan.zone_name)


def _early(request: HttpRequest, at: TableVersion) -> HttpResponse | None:
    """Answer what needs no rows: values to suggest, and parts of a form."""
    is_part = "HX-Request" in request.headers
    if "suggest" in request.GET and is_part:
        return _suggested(request, at)
    if any(name in request.GET for name in NEW_FILTER):
        return HttpResponseRedirect(_with_filter(request))
    if "vc" in request.GET and not is_part:
        return HttpResponseRedirect(_with_part(request))
    return None


def _counted(at: TableVersion, plan: RowPlan) -> Counted | None:
    """Return what the index says of the rows that match, and of partition values."""
    schema = table_columns(at)
    if schema is None or at.metadata is None:
        return None
    columns = tuple(at.metadata.partition_columns[:MAX_COUNTED])
    return counted_rows(
        at.table, at.version, schema, plan.predicate, plan.zone_name, columns
    )


def _facets(
    request: HttpRequest, at: TableVersion, plan: RowPlan, counted: Counted | None
) -> list[ShownFacet]:
    profiles = known_profiles(at.table, at.version)
    found = row_facets(plan, counted, profiles, texts_of(request.GET, "facet"))
    return [ShownFacet.of(request, plan, one) for one in found]


def _other_facets(
    request: HttpRequest, plan: RowPlan | None, shown: Sequence[ShownFacet]
) -> list[Chip]:
    if plan is None:
        return []
    names = choosable(plan, [one.facet for one in shown])
    return [Chip(text=name, url=changed(request, facet=name)) for name in names]


def _suggested(request: HttpRequest, at: TableVersion) -> HttpResponse:
    """Answer with values for the field of a value, as an input field lists them."""
    column, text = request.GET.get("fc", ""), request.GET.get("fv", "")
    found: Sequence[FacetValue] = ()
    try:
        plan, _ = row_plan_of(request, at)
    except QueryError:
        plan = None
    if plan and column:
        profiles = known_profiles(at.table, at.version)
        counted = _counted(at, plan)
        found = suggestions(plan, counted, profiles, column, text)
    return render(
        request, "explorer/rows/row_list.html#options", {"suggestions": found}
    )


def _moved_on() -> HttpResponse:
    """Let the page that waits fetch itself again: its head has changed as well."""
    response = HttpResponse(status=204)
    trigger_client_event(response, "page-moved-on", {})
    return response


def _status(
    gone: GoneVersion | None,
    job: Job | None,
    result: JobRows[RowsRead] | None,
    fmt: str,
) -> int:
    if gone is not None:
        return 410
    return 202 if job and result is None and fmt == "json" else 200


def _fault_status(request: HttpRequest, wrong: QueryError | None) -> int | None:
    """Return the status of a page with a fault; htmx takes no part with an error."""
    return None if wrong is None or "HX-Request" in request.headers else wrong.status


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
        error.correction = _correction(request, schema, query)
        raise


def _plan_and_fault(
    request: HttpRequest, at: TableVersion, fmt: str
) -> tuple[RowPlan | None, str, QueryError | None]:
    """Return what to read, or why nothing can be, and the first fault of a condition.

    A page is read without the conditions that do not fit.
    """
    first: QueryError | None = None
    while True:
        try:
            return *row_plan_of(request, at), first
        except QueryError as error:
            if error.correction is None or fmt != "html":
                raise
            first = first or error
            query = request.GET.copy()
            wrong = error.correction.value
            query.setlist("f", [text for text in query.getlist("f") if text != wrong])
            request.GET = query  # type: ignore[assignment]  # as Django makes it itself


def _correction(
    request: HttpRequest, schema: StructType, query: RowQuery
) -> Correction | None:
    """Return the condition that does not fit, for the page of the error."""
    for text in query.filters:
        try:
            row_plan(schema, RowQuery(filters=(text,)), user_zone(request.user))
        except QueryError:
            parts = [(name, v) for name, vs in request.GET.lists() for v in vs]
            kept = [part for part in parts if part != ("f", text) and part[0] != "page"]
            return Correction(
                name="f", value=text, label="The condition", kept=tuple(kept)
            )
    return None


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


def column_urls(request: HttpRequest, plan: RowPlan | None) -> ColumnURLs:
    """Return where other columns of a plan are; nowhere without one."""
    if plan is None:
        return ColumnURLs()
    page = plan.column_page
    every = [EVERY_COLUMN, *(name for name in plan.chosen if name in plan.parts)]
    more, fewer = page < plan.num_column_pages, page > 1
    following = changed(request, cols=page + 1) if more else ""
    return ColumnURLs(
        every=changed(request, col=every, cols=None, find=None),
        first=changed(request, col=None, cols=None, find=None),
        following=following,
        previous=changed(request, cols=page - 1) if fewer else "",
        next_columns=request.build_absolute_uri(following) if following else None,
    )


def not_ready(at: TableVersion, job: Job | None, problem: str) -> PageError:
    """Return why there are no rows to send yet."""
    if job is None:
        unindexed = f"{at.table.full_name} is not indexed yet."
        message = problem or at.table.error or unindexed
        hint = "Metadata and history can still be shown."
        return PageError(status=409, code="rows-unreadable", message=message, hint=hint)
    return still(
        "reading", f"The rows of version {at.version} are still being read.", job
    )


def _with_filter(request: HttpRequest) -> str:
    """Return the page's address with the filter form's parts as one more filter."""
    query: QueryDict = request.GET.copy()
    parts = [query.get(name, "") for name in NEW_FILTER]
    for name in (*NEW_FILTER, "page", "find"):
        query.pop(name, None)
    wanted = [text for text in query.getlist("f") if text]
    if parts[0]:
        wanted.append(":".join(parts if parts[2] else parts[:2]))
    query.setlist("f", wanted)
    return address_with(request, query.urlencode())


def _with_part(request: HttpRequest) -> str:
    """Return the page's address with the form's part of a variant as a column.

    A path may leave out the `$` that it begins with.
    """
    query: QueryDict = request.GET.copy()
    column, path, type_text = (query.get(name, "").strip() for name in NEW_PART)
    for name in (*NEW_PART, "page", "find"):
        query.pop(name, None)
    if column and path:
        start = "" if path.startswith("$") else "$" if path.startswith("[") else "$."
        query.appendlist("col", part_name(column, f"{start}{path}", type_text))
    return address_with(request, query.urlencode())


def _chips(request: HttpRequest, plan: RowPlan | None) -> list[Chip]:
    if plan is None:
        return []
    return [
        Chip(text=wanted.text, url=without(request, "f", wanted.raw))
        for wanted in plan.conditions
    ]


table_read(
    "/rows",
    "TableRows",
    "row-list",
    RowList,
    "Read rows of a version.",
    waits=True,
    without="find fc fo fv vc vp vt suggest",
)
