"""Every row of a filter as a file: Parquet or XLSX."""

from typing import Final

from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.explorer.rows.jobs import rows_file
from apps.explorer.rows.making import making_page, shows_page, wait_s
from apps.explorer.rows.view import not_ready, row_plan_of
from apps.explorer.version.gone import gone_version
from apps.explorer.version.table_version import TableVersion
from apps.tables.head.job_json import check_job
from apps.tables.work.export_rows import XLSX
from deltaweb.exports.errors import MAX_SHEET_ROWS, SheetRowsError
from deltaweb.exports.xlsx import XLSX_TYPE

TYPES: Final = {XLSX: XLSX_TYPE}


def row_file(request: HttpRequest, at: TableVersion, form: str) -> HttpResponseBase:
    """Send the rows of the page's filter, with its columns and order, as a file.

    Args:
        form: A key of `apps.tables.work.export_rows.FORMS`.
    """
    gone = gone_version(at)
    if gone:
        raise gone.error()
    plan, problem = row_plan_of(request, at)
    if plan is None or at.version is None:
        raise not_ready(at, None, problem)
    num_rows = at.num_records or 0
    if form == XLSX and not plan.conditions and num_rows >= MAX_SHEET_ROWS:
        raise SheetRowsError(rows=num_rows)
    job, path = rows_file(
        at.table,
        version=at.version,
        plan=plan.for_export(),
        form=form,
        requested_by=signed_in(request),
        now=timezone.now(),
        wait_s=wait_s(request),
    )
    if shows_page(request, is_ready=path is not None):
        return making_page(request, at, job, form, is_ready=path is not None)
    check_job(job)
    if path is None:
        raise not_ready(at, job, problem)
    name = f"{at.table.namespace}-{at.table.name}-v{at.version}.{form}"
    kind = TYPES.get(form, "application/vnd.apache.parquet")
    response = FileResponse(
        path.open("rb"), as_attachment=True, filename=name, content_type=kind
    )
    response["Cache-Control"] = "no-store"
    return response
