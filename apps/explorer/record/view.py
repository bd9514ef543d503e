"""One row of a table as a record."""

from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.accounts.zones import user_zone
from apps.explorer.record import selector as records
from apps.explorer.record.row_key import RowKey, key_filters, row_key
from apps.explorer.rows import jobs as services
from apps.explorer.rows.filter_errors import UnknownColumnError
from apps.explorer.rows.plan import EVERY_COLUMN, NARROW_COLUMNS, RowPlan
from apps.explorer.rows.view import ColumnURLs, column_urls, row_plan_of
from apps.explorer.version.page import JobOfPage, TablePage
from apps.explorer.version.query import parse_column_page
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.jobs.results import JobRows
from apps.pages.errors import PageError
from apps.pages.page_json import OnPage, Spread, in_json
from apps.pages.request.parameters import QueryError
from apps.pages.responses import respond_page
from apps.tables.head.job_json import check_job
from apps.tables.work.preview import RowsRead


@dataclass(frozen=True, kw_only=True)
class RecordPage(TablePage):
    """A row as a record; without `record` a job still reads it.

    Attributes:
        key: The key of the row, with an address that stays; null without one.
    """

    leaf: OnPage[str]
    row: int
    plan: OnPage[RowPlan | None]
    problem: OnPage[str]
    job: JobOfPage
    result: OnPage[JobRows[RowsRead] | None]
    record: OnPage[records.Record | None]
    back_url: OnPage[str]
    previous_row_url: OnPage[str]
    next_row_url: OnPage[str]
    value_url: OnPage[str]
    parts_url: OnPage[str]
    column_urls: Spread[ColumnURLs]
    key: RowKey | None

    @in_json
    def num_columns(self) -> int | None:
        """How many columns the version has."""
        return len(self.plan.all_columns) if self.plan else None

    @in_json
    def values(self) -> dict[str, object] | None:
        """The values by name."""
        return self._values[0]

    @in_json
    def cut(self) -> list[str]:
        """The columns of which the value is only the beginning."""
        return self._values[1]

    @cached_property
    def _values(self) -> tuple[dict[str, object] | None, list[str]]:
        if self.plan is None or self.result is None:
            return None, []
        one = self.result.rows.slice(self.row - 1 - self.plan.offset, 1)
        return records.record_values(self.plan, one)


def row_detail(
    request: HttpRequest, at: TableVersion, row: int, fmt: str
) -> HttpResponseBase:
    """Show a row as a record; a worker reads its block, as for the grid."""
    plan, problem = _plan(request, at, row)
    job, result = _read(request, at, plan)
    found = (
        records.record(plan, result.rows, result.facts, row, user_zone(request.user))
        if plan and result
        else None
    )
    if fmt != "html":
        check_job(job)
    if result is not None and found is None:
        raise _no_row(at, row)
    page = RecordPage(
        at=at,
        leaf=f"Row {row:,}",
        row=row,
        plan=plan,
        problem=problem,
        job=job,
        result=result,
        record=found,
        back_url=_address(request, at, "explorer:row-list"),
        previous_row_url=_address(request, at, "explorer:row-detail", row - 1)
        if row > 1
        else "",
        next_row_url=_address(request, at, "explorer:row-detail", row + 1)
        if found and found.has_next
        else "",
        value_url=_address(request, at, "explorer:row-value", row),
        parts_url=_parts_url(request, at, plan),
        column_urls=column_urls(request, plan),
        key=row_key(request, at, plan, result.rows.slice(row - 1 - plan.offset, 1))
        if plan and result
        else None,
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/record/row_detail.html",
        fragment="record",
        status=202 if job and result is None and fmt == "json" else 200,
    )


def row_by_key(
    request: HttpRequest, at: TableVersion, key: str, fmt: str
) -> HttpResponseBase:
    """Show the row that an address names by its key."""
    query = request.GET.copy()
    query.setlist("f", [*key_filters(key), *query.getlist("f")])
    request.GET = query  # type: ignore[assignment]  # as Django makes it itself
    return row_detail(request, at, 1, fmt)


def row_value(request: HttpRequest, at: TableVersion, row: int) -> HttpResponseBase:
    """Send the whole value of one column of a row, however long, as text."""
    column = request.GET.get("column", "")
    plan, problem = _plan(request, at, row)
    if plan is None:
        raise _not_read(at, problem)
    if column not in plan.all_columns:
        raise UnknownColumnError(part="column", name=column, names=plan.all_columns)
    if column in plan.unread:
        raise QueryError(part="column", expected="a column whose values are read")
    number = plan.all_columns.index(column) // plan.page_columns + 1
    job, result = _read(request, at, replace(plan, column_page=number))
    check_job(job)
    if result is None:
        raise _not_read(at, "Its row is still being read.")
    place = row - 1 - plan.offset
    if place >= result.rows.num_rows:
        raise _no_row(at, row)
    shown = replace(plan, column_page=number)
    pieces = records.value_pieces(shown, result.rows.slice(place, 1), column)
    response = StreamingHttpResponse(pieces, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="value.txt"'
    return response


def _plan(
    request: HttpRequest, at: TableVersion, row: int
) -> tuple[RowPlan | None, str]:
    if not row:
        raise _no_row(at, row)
    plan, problem = row_plan_of(request, at)
    if plan is None:
        return None, problem
    return records.record_plan(plan, row, parse_column_page(request.GET)), problem


def _read(
    request: HttpRequest, at: TableVersion, plan: RowPlan | None
) -> tuple[Job | None, JobRows[RowsRead] | None]:
    if plan is None or at.version is None:
        return None, None
    return services.rows_job(
        at.table,
        version=at.version,
        plan=plan,
        requested_by=signed_in(request),
        now=timezone.now(),
        typed_variants=records.has_variants(plan),
    )


def _address(request: HttpRequest, at: TableVersion, name: str, *parts: int) -> str:
    """Return another page of the same version and filters."""
    url = reverse(name, args=[at.table.namespace, at.table.name, *parts])
    kept = [(key, value) for key in ("v", "f") for value in request.GET.getlist(key)]
    return f"{url}?{urlencode(kept)}" if kept else url


def _parts_url(request: HttpRequest, at: TableVersion, plan: RowPlan | None) -> str:
    """Return the rows with one column more, whose name is to follow.

    It stands beside all the others, or beside the first of a wide table.
    """
    if plan is None:
        return ""
    is_wide = len(plan.all_columns) > NARROW_COLUMNS
    url = _address(request, at, "explorer:row-list")
    beside = plan.all_columns[0] if is_wide else EVERY_COLUMN
    query = urlencode({"col": beside}, safe=EVERY_COLUMN)
    return f"{url}{'&' if '?' in url else '?'}{query}&col="


def _no_row(at: TableVersion, row: int) -> PageError:
    return PageError(
        status=404,
        code="row-not-found",
        message=f"There is no row {row:,} in version {at.version}.",
        hint="Rows are counted from 1 among those that the filters leave.",
    )


def _not_read(at: TableVersion, problem: str) -> PageError:
    return PageError(
        status=409,
        code="row-not-read",
        message=problem or f"{at.table.full_name} is not indexed yet.",
        hint="Ask again when the page of the row shows it.",
    )


table_read(
    "/rows/<int:row>",
    "TableRow",
    "row-detail",
    RecordPage,
    "Read one row of a version, with its values whole.",
    waits=True,
)
