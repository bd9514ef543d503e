"""The downloads of a recipient: every row that its conditions are true for, as a file.

A download counts the size of the data files that are read for it, the same in every
format. It is refused before it begins if that is more than is left of the limit.
"""

from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from django.db import transaction
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from apps.jobs.models import Job
from apps.jobs.results import JobRows
from apps.sharing.access.browser import open_table
from apps.sharing.activity.budgets import check_budget
from apps.sharing.answers.row_count import RowCount
from apps.sharing.errors import FormatUnknownError, OverBudgetError
from apps.sharing.models import Recipient
from apps.sharing.portal.files import FORMATS, SHEET, FileFormat, file_response
from apps.sharing.portal.offer import budget_of
from apps.sharing.portal.reading import (
    ROWS,
    RowsRead,
    begun_rows,
    known_rows,
    refusal_of,
    rows_job,
)
from apps.sharing.portal.row_query import (
    RowQuery,
    SeenTable,
    all_of,
    counted_bytes,
    parse_row_query,
    seen_table,
)
from apps.sharing.portal.visit import Visit, shown, visitors_page
from deltaweb.exports.errors import MAX_SHEET_ROWS, SheetRowsError

ACTION: Final = "portal.download"


@visitors_page(ACTION, posts=True)
def download(
    request: HttpRequest, visit: Visit, *, share: str, schema: str, table: str
) -> HttpResponseBase:
    """Answer with a file; lead to the page that waits if it takes longer."""
    shared = open_table(visit.recipient, share, schema, table)
    record = visit.record
    record.shared_table = shared
    chosen = _format_of(request.POST.get("format", ""))
    seen = seen_table(shared, visit.recipient, now=visit.now)
    query = parse_row_query(seen, request.POST)
    record.version = seen.version.version
    check_budget(visit.recipient, now=visit.now)
    asked = all_of(seen, query, file=chosen.file)
    counted = counted_bytes(seen, query)
    begun = begun_rows(request.POST.get("job", ""), asked, now=visit.now)
    if begun is None:
        _check_left(visit, counted)
        _check_rows(chosen, seen, query)
        begun = rows_job(asked, now=visit.now, waits=True)
    job, result = begun
    if refusal_of(job) or result is None:
        record.is_recorded = False  # nothing was handed out
        return HttpResponseRedirect(_waiting_url(seen, query, chosen, job))
    record.version = ROWS.asked(job).version
    counted = result.facts.size_bytes or counted
    _note(visit, result)
    record.detail["format"] = chosen.key
    if query.conditions:
        record.detail["condition"] = query.sql[:1_000]
    with transaction.atomic():
        # Of downloads at once each finds what those before it have counted.
        Recipient.objects.select_for_update(no_key=True).get(id=visit.recipient.id)
        _check_left(visit, counted)
        record.save(status=HTTPStatus.OK)
    return file_response(chosen, job, result.rows, shared)


@visitors_page(ACTION)
def waiting(
    request: HttpRequest, visit: Visit, *, share: str, schema: str, table: str
) -> HttpResponseBase:
    """Show how far a file is; its button downloads it once it is there."""
    visit.record.is_recorded = False  # nothing is handed out here
    shared = open_table(visit.recipient, share, schema, table)
    chosen = _format_of(request.GET.get("format", ""))
    seen = seen_table(shared, visit.recipient, now=visit.now)
    query = parse_row_query(seen, request.GET)
    asked = all_of(seen, query, file=chosen.file)
    begun = begun_rows(request.GET.get("job", ""), asked, now=visit.now)
    job, result = begun or known_rows(asked)
    facts = None if result is None else result.facts
    names = (shared.share.name, shared.schema, shared.name)
    context: dict[str, object] = {
        "shared": shared,
        "query": query,
        "format": chosen,
        "job": job,
        "refusal": refusal_of(job) if job is not None else "",
        "result": result,
        "counted_bytes": (facts and facts.size_bytes) or counted_bytes(seen, query),
        "num_rows": None if query.conditions else seen.num_rows(),
        # Another site can lead here, but does not begin a download.
        "begins": request.headers.get("Sec-Fetch-Site") == "same-origin",
        "table_url": reverse("portal:table", args=names),
        "download_url": reverse("portal:download", args=names),
        "here": request.get_full_path(),
    }
    is_part = "HX-Request" in request.headers
    template = "download.html#file" if is_part else "download.html"
    return shown(request, template, context, visit=visit)


def _format_of(key: str) -> FileFormat:
    chosen = FORMATS.get(key)
    if chosen is None:
        raise FormatUnknownError
    return chosen


def _check_left(visit: Visit, counted: int) -> None:
    """Refuse a download that counts more bytes than are left."""
    left = budget_of(visit.recipient, now=visit.now).left_bytes
    if left is not None and counted > left:
        raise OverBudgetError(counted_bytes=counted, left_bytes=left)


def _check_rows(chosen: FileFormat, seen: SeenTable, query: RowQuery) -> None:
    """Refuse a sheet of more rows than a sheet has, before anything is read."""
    num_rows = None if query.conditions else seen.num_rows()
    if chosen.key == SHEET and num_rows is not None and num_rows >= MAX_SHEET_ROWS:
        raise SheetRowsError(rows=num_rows)


def _note(visit: Visit, result: JobRows[RowsRead]) -> None:
    facts, record = result.facts, visit.record
    record.rows = RowCount(total=facts.rows)
    record.num_files, record.size_bytes = facts.num_files, facts.size_bytes


def _waiting_url(seen: SeenTable, query: RowQuery, chosen: FileFormat, job: Job) -> str:
    shared = seen.shared
    names = (shared.share.name, shared.schema, shared.name)
    parts = [("format", chosen.key), *(("f", one.raw) for one in query.conditions)]
    if query.sort:
        parts.append(("sort", query.sort))
    parts.append(("job", str(job.id)))
    return f"{reverse('portal:waiting', args=names)}?{urlencode(parts)}"
