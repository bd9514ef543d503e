"""The page of one table of a recipient: its columns and its rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

import pyarrow as pa
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_file
from apps.pages.request.parameters import QueryError
from apps.sharing.access.browser import open_table
from apps.sharing.activity.budgets import check_budget
from apps.sharing.answers.row_count import RowCount
from apps.sharing.portal.cells import Cell, Column, cells_of, columns_of
from apps.sharing.portal.conditions import OPERATORS, comparable
from apps.sharing.portal.files import FORMATS, PARQUET, SHEET, FileFormat, OfferedFile
from apps.sharing.portal.offer import budget_of
from apps.sharing.portal.reading import (
    RowsRead,
    known_rows,
    refusal_of,
    rows_job,
)
from apps.sharing.portal.row_query import (
    PAGE_LENGTH,
    RowQuery,
    SeenTable,
    all_of,
    counted_bytes,
    form_filter,
    page_of,
    parse_columns,
    parse_row_query,
    seen_table,
)
from apps.sharing.portal.visit import Visit, shown, visitors_page
from deltaweb.exports.errors import MAX_SHEET_ROWS

WRONG: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRows:
    """A page of rows.

    Attributes:
        has_more: Whether other rows follow.
    """

    lines: list[list[Cell]]
    first_row: int
    has_more: bool

    @property
    def last_row(self) -> int:
        return self.first_row + len(self.lines) - 1


@visitors_page("portal.rows")
def rows(
    request: HttpRequest, visit: Visit, *, share: str, schema: str, table: str
) -> HttpResponseBase:
    """Show the columns of a table and a page of its rows, once a job has read them."""
    shared = open_table(visit.recipient, share, schema, table)
    visit.record.shared_table = shared
    if added := form_filter(request.GET):
        visit.record.is_recorded = False
        return HttpResponseRedirect(_with_filter(request, added))
    seen = seen_table(shared, visit.recipient, now=visit.now)
    visit.record.version = seen.version.version
    context = about_table(visit, seen, request)
    try:
        query = parse_row_query(seen, request.GET)
    except QueryError as error:
        visit.record.is_recorded = False  # nothing was read
        text = parse_columns(request.GET)
        context |= {"wrong": error, "query": RowQuery(conditions=[], columns=text)}
        return _answer(request, visit, context, status=WRONG)
    check_budget(visit.recipient, now=visit.now)
    job, result = rows_job(page_of(seen, query), now=visit.now)
    refusal = refusal_of(job)
    columns = _sortable(request, seen, query)
    names = [column.name for column in columns if column.is_read]
    found = shown_rows(query, result, names) if result and not refusal else None
    if found is None or result is None:
        visit.record.is_recorded = False  # until there are rows to look at
    else:
        note_rows(visit, job, result, len(found.lines))
    context |= {
        "query": query,
        "chips": _chips(request, query),
        "rows": found,
        "refusal": refusal,
        "links": _links(request, query, found),
        "columns": columns,
        "is_column_missed": not (columns and _has(columns[0], query.columns)),
        "counted_bytes": counted_bytes(seen, query),
        "files": _files(seen, query, result),
    }
    return _answer(request, visit, context)


def note_rows(visit: Visit, job: Job, result: JobRows[RowsRead], num_rows: int) -> None:
    """Record rows that are handed out; files count once for each time they are read."""
    record, facts = visit.record, result.facts
    record.rows = RowCount(total=num_rows)
    record.detail["job"] = str(job.id)
    told = AuditEvent.objects.filter(
        recipient_id=visit.recipient.id,
        action=record.action,
        at__gte=job.created_at,
        detail__job=str(job.id),
    )
    if not told.exists():
        record.num_files, record.size_bytes = facts.num_files, facts.size_bytes


def about_table(
    visit: Visit, seen: SeenTable, request: HttpRequest
) -> dict[str, object]:
    """Return what the page says of a table, apart from its rows."""
    shared = seen.shared
    names = (shared.share.name, shared.schema, shared.name)
    num_rows = seen.num_rows()
    return {
        "shared": shared,
        "is_part": not seen.rule.is_whole,
        "num_rows": num_rows,
        "columns": columns_of(seen.schema, seen.columns),
        "num_columns": len(seen.schema.fields),
        "comparable": comparable(seen.schema),
        "operators": OPERATORS,
        "budget": budget_of(visit.recipient, now=visit.now),
        "table_url": reverse("portal:table", args=names),
        "changes_url": reverse("portal:changes", args=names),
        "download_url": reverse("portal:download", args=names),
        "formats": list(FORMATS.values()),
        "too_long": [SHEET] if (num_rows or 0) >= MAX_SHEET_ROWS else [],
        "here": request.get_full_path(),
    }


def _answer(
    request: HttpRequest, visit: Visit, context: dict[str, object], *, status: int = 200
) -> HttpResponseBase:
    is_part = "HX-Request" in request.headers
    template = "rows.html#rows" if is_part else "rows.html"
    return shown(request, template, context, visit=visit, status=status)


def shown_rows(
    query: RowQuery,
    result: JobRows[RowsRead],
    columns: Sequence[str],
    cells: Callable[[pa.Table, Sequence[str]], list[list[Cell]]] = cells_of,
) -> ShownRows:
    """Return the page of rows of the block that a job has read.

    Args:
        cells: Returns the values of the columns of rows.
    """
    start = query.first_row - 1 - query.offset
    page = result.rows.slice(start, PAGE_LENGTH)
    follows = result.rows.num_rows > start + PAGE_LENGTH
    return ShownRows(
        lines=cells(page, columns),
        first_row=query.first_row,
        has_more=follows or bool(result.facts.more),
    )


def _files(
    seen: SeenTable, query: RowQuery, result: JobRows[RowsRead] | None
) -> list[OfferedFile]:
    """Return the formats of a download, each with what is known of its size."""
    num_rows = seen.num_rows()
    if query.conditions:
        is_all = result is not None and not query.offset and not result.facts.more
        num_rows = result.facts.rows if result is not None and is_all else None
    row_bytes = (result.facts.row_bytes if result is not None else None) or {}
    return [
        _file(seen, query, one, num_rows, row_bytes.get(one.key))
        for one in FORMATS.values()
    ]


def _file(
    seen: SeenTable,
    query: RowQuery,
    chosen: FileFormat,
    num_rows: int | None,
    row_bytes: float | None,
) -> OfferedFile:
    job, _ = known_rows(all_of(seen, query, file=chosen.file))
    if (path := job_file(job, chosen.suffix)) is not None:
        return OfferedFile(format=chosen, size_bytes=path.stat().st_size, is_exact=True)
    size_bytes = None
    if num_rows is not None and row_bytes is not None:
        size_bytes = chosen.empty_bytes + int(num_rows * row_bytes)
    if chosen.key == PARQUET and not query.conditions:
        size_bytes = counted_bytes(seen, query)  # of the same rows, as files
    return OfferedFile(
        format=chosen,
        size_bytes=size_bytes,
        is_begun=job is not None and job.is_active,
    )


def _with_filter(request: HttpRequest, added: str) -> str:
    parts = [("f", text) for text in (*request.GET.getlist("f"), added)]
    kept = [(name, request.GET.get(name, "")) for name in ("sort", "columns")]
    parts += [(name, text) for name, text in kept if text]
    return f"{request.path}?{urlencode(parts)}"


def _chips(request: HttpRequest, query: RowQuery) -> list[tuple[str, str]]:
    """Return each condition in words, and the address without it."""
    found = []
    for one in query.conditions:
        others = [other for other in query.conditions if other is not one]
        found.append(
            (one.text, _address(request, replace(query, conditions=others, page=1)))
        )
    return found


def _sortable(request: HttpRequest, seen: SeenTable, query: RowQuery) -> list[Column]:
    """Return the columns that are shown, with the addresses of the rows by each.

    If no column has the text that is searched for, all are shown.
    """
    names = set(comparable(seen.schema))
    found = []
    every = columns_of(seen.schema, seen.columns)
    for column in [one for one in every if _has(one, query.columns)] or every:
        name, url = column.name, ""
        if name in names:
            order = f"-{name}" if query.sort == name else name
            url = _address(request, replace(query, sort=order, page=1))
        found.append(replace(column, sort_url=url))
    return found


def _has(column: Column, text: str) -> bool:
    """Whether the name or the comment of a column has a text."""
    needle = text.casefold()
    return needle in column.name.casefold() or needle in column.comment.casefold()


def _links(
    request: HttpRequest, query: RowQuery, found: ShownRows | None
) -> dict[str, str]:
    """Return the addresses of other pages, and of other orders by column."""
    has_more = found is not None and found.has_more
    page = query.page
    return {
        "previous": _address(request, replace(query, page=page - 1))
        if page > 1
        else "",
        "next": _address(request, replace(query, page=page + 1)) if has_more else "",
        "sort": _address(request, replace(query, sort="", page=1)),
        "columns": _address(request, replace(query, columns="")),
    }


def _address(request: HttpRequest, wanted: RowQuery) -> str:
    """Return the address of a query."""
    parts = [("f", one.raw) for one in wanted.conditions]
    if wanted.sort:
        parts.append(("sort", wanted.sort))
    if wanted.columns:
        parts.append(("columns", wanted.columns))
    if wanted.page > 1:
        parts.append(("page", str(wanted.page)))
    return f"{request.path}?{urlencode(parts)}" if parts else request.path
