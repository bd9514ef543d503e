"""One Parquet file of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.explorer.files.listing import listed_files
from apps.explorer.parquet_file.chart import group_bytes
from apps.explorer.parquet_file.conditions import OPERATORS
from apps.explorer.parquet_file.form import (
    LANGUAGES,
    FileQuery,
    parse_file_query,
)
from apps.explorer.parquet_file.found import FoundFile, find_file
from apps.explorer.parquet_file.selector import (
    FileInside,
    GridOfRows,
    asked_of,
    file_inside,
    grid_of_rows,
    row_objects,
    text_place,
    whole_text,
)
from apps.explorer.version.page import JobOfPage, TablePage, page_job
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.jobs.results import JobRows
from apps.pages.errors import PageError
from apps.pages.figures import Chart
from apps.pages.lists.days import moment_of
from apps.pages.lists.links import changed
from apps.pages.lists.paging import PageLinks, links_between
from apps.pages.page_json import As, Named, OnPage, Spread, in_json
from apps.pages.responses import respond_page
from apps.tables.head.drawn_head import DrawnHead
from apps.tables.head.job_json import check_job
from apps.tables.work.file_look import LookedAtFile
from apps.tables.work.inspect_file import INSPECT_FILE
from apps.tables.work.preview_file import PREVIEW_FILE, FirstRows, FirstRowsRead

INSIDE_TEMPLATE = "explorer/parquet_file/_inside.html"


def _file_facts(file: FoundFile) -> dict[str, object]:
    return {
        "path": file.path,
        "size": file.size,
        "modified_at": moment_of(file.modified),
        "partition_values": dict(file.partition),
        "num_records": file.num_records,
        "is_listed": file.is_listed,
    }


@dataclass(frozen=True, kw_only=True)
class FilePageLinks:
    """The ways to other parts of the file."""

    nodes: Spread[PageLinks]
    chunks: OnPage[PageLinks]
    groups: OnPage[PageLinks]
    bars: OnPage[PageLinks]
    next_group: OnPage[str] = ""
    previous_group: OnPage[str] = ""
    languages: OnPage[Sequence[tuple[str, str, bool]]] = ()
    operators: OnPage[Sequence[tuple[str, str]]] = tuple(OPERATORS.items())


@dataclass(frozen=True, kw_only=True)
class FileContents:
    """What is in a file, on a page about it, and its first rows if asked."""

    query: OnPage[FileQuery]
    job: JobOfPage
    inside: Spread[FileInside | None]
    links: Spread[FilePageLinks | None]
    chart: OnPage[Chart | None]
    text_root: OnPage[str]
    rows_job: Annotated[Job | None, Named("rows_job"), As(page_job)]
    found_rows: OnPage[JobRows[FirstRowsRead] | None]

    @cached_property
    def _grid(self) -> GridOfRows | None:
        return grid_of_rows(self.found_rows) if self.found_rows else None

    @property
    def grid(self) -> GridOfRows | None:
        """The first rows, where they are asked for and read."""
        return self._grid

    @in_json
    def rows(self) -> list[dict[str, Any]] | None:
        """The first rows, where they are asked for and read."""
        return row_objects(self.found_rows) if self.found_rows else None


@dataclass(frozen=True, kw_only=True)
class FilePage(FileContents, TablePage):
    """One Parquet file; without `inside` a job still reads its footer."""

    file: Annotated[FoundFile | None, As(_file_facts)]
    leaf: OnPage[str]
    listing_job: OnPage[Job | None]


def file_detail(
    request: HttpRequest, at: TableVersion, file: str, fmt: str
) -> HttpResponseBase:
    """Show what is in a Parquet file of a version; a job reads its footer."""
    query = parse_file_query(request.GET)
    found, listing_job = _found(request, at, file, query)
    drawn = DrawnHead(request=request, head=at.head, fmt=fmt)
    job, inside = _inside(request, at, found, query, drawn)
    rows_job, rows = _rows(request, at, found, query)
    if fmt != "html":
        for one in (listing_job, job, rows_job):
            check_job(one)
    is_part = "HX-Request" in request.headers
    page = FilePage(
        at=at,
        drawn_head=drawn,
        file=found,
        leaf=_shortened(file),
        listing_job=listing_job if found is None else None,
        job=job,
        **parts_of(request, inside, query, fmt),
        text_root=reverse(
            "explorer:file-text", args=[at.table.namespace, at.table.name, file, "-"]
        ).removesuffix("-"),
        rows_job=rows_job,
        found_rows=rows,
    )
    waits = inside is None or (rows_job is not None and rows is None)
    return respond_page(
        request,
        fmt,
        page,
        template=INSIDE_TEMPLATE
        if is_part
        else "explorer/parquet_file/file_detail.html",
        fragment=fragment_of(request),
        status=202 if waits and fmt == "json" and at.is_indexed else 200,
    )


def file_text(
    request: HttpRequest, at: TableVersion, file: str, text: str
) -> HttpResponseBase:
    """Send a text of a footer whole: a key's value by its place, or a schema."""
    query = parse_file_query(request.GET)
    found, _ = _found(request, at, file, query)
    job = (
        None
        if found is None
        else INSPECT_FILE.newest(at.table, asked_of(at, found, LookedAtFile))
    )
    return sent_text(job, text)


def sent_text(job: Job | None, text: str) -> HttpResponse:
    """Send a text that a job that inspects a file has left.

    Args:
        text: The place of a key, or the language of a schema.
    """
    check_job(job)
    place = int(text) if text.isdecimal() and text.isascii() else None
    if job is not None and text in LANGUAGES:
        place = text_place(job, text)
    whole = None if job is None or place is None else whole_text(job, place)
    if whole is None:
        raise PageError(
            status=404,
            code="file-text-unknown",
            message="The footer of this file has no such text.",
            hint="The page of the file lists those that it has.",
        )
    response = HttpResponse(whole, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="value.txt"'
    return response


def _found(
    request: HttpRequest, at: TableVersion, name: str, query: FileQuery
) -> tuple[FoundFile | None, Job | None]:
    listed, job = listed_files(request, at, waits=False)
    if listed is None:
        return None, job
    return find_file(listed.files, name, query), job


def _inside(
    request: HttpRequest,
    at: TableVersion,
    file: FoundFile | None,
    query: FileQuery,
    drawn: DrawnHead,
) -> tuple[Job | None, FileInside | None]:
    if file is None:
        return None, None
    asked = asked_of(at, file, LookedAtFile)
    user = signed_in(request)
    job, found = INSPECT_FILE.answer(
        at.table,
        asked,
        requested_by=user,
        now=timezone.now(),
        meanwhile=drawn.draw,
    )
    if found is None:
        return job, None
    inside = file_inside(job, found, query, at)
    if inside is None:  # a part of the result was cleaned up: it is made again
        job = INSPECT_FILE.start(
            at.table, asked, requested_by=user, now=timezone.now(), lost=job
        )
    return job, inside


def _rows(
    request: HttpRequest, at: TableVersion, file: FoundFile | None, query: FileQuery
) -> tuple[Job | None, JobRows[FirstRowsRead] | None]:
    if file is None or not query.has_rows:
        return None, None
    return PREVIEW_FILE.answer(
        at.table,
        asked_of(at, file, FirstRows),
        requested_by=signed_in(request),
        now=timezone.now(),
    )


def parts_of(
    request: HttpRequest, inside: FileInside | None, query: FileQuery, fmt: str
) -> dict[str, Any]:
    """Return what `FileContents` has of a file that is inspected.

    The picture of the row groups is of a whole page alone.
    """
    found: dict[str, Any] = {"query": query, "inside": inside}
    if inside is None:
        return {**found, "links": None, "chart": None}
    chart = None
    if inside.group is not None and fmt == "html" and fragment_of(request) == "file":
        tried = None if inside.column is None else inside.column.tried
        chart = group_bytes(inside.bins, inside.group.number, tried)
    return {**found, "links": _links(request, inside), "chart": chart}


def _links(request: HttpRequest, inside: FileInside) -> FilePageLinks:
    """Return the ways to other parts of a file."""
    nodes, group, column = inside.schema.paged, inside.group, inside.column
    none = PageLinks()
    return FilePageLinks(
        nodes=links_between(request, nodes.previous_page, nodes.next_page),
        bars=links_between(
            request,
            inside.bars_paged.previous_page,
            inside.bars_paged.next_page,
            "bars",
        ),
        chunks=none
        if group is None
        else links_between(
            request, group.paged.previous_page, group.paged.next_page, "cols"
        ),
        groups=none
        if column is None
        else links_between(
            request, column.paged.previous_page, column.paged.next_page, "groups"
        ),
        next_group=changed(request, group=group.number + 1, cols=None)
        if group is not None and group.number + 1 < inside.facts.num_row_groups
        else "",
        previous_group=changed(request, group=group.number - 1, cols=None)
        if group is not None and group.number
        else "",
        languages=[
            (words, changed(request, **{"as": language or None}), language == chosen)
            for language, words in (
                ("", "Parquet"),
                *((one, f"as {one.capitalize()}") for one in LANGUAGES),
            )
            for chosen in [inside.code.language if inside.code else ""]
        ],
    )


_FRAGMENTS = {
    "file-schema": "file-schema",
    "file-schema-rows": "file-schema",
    "file-group": "file-group",
    "file-column": "file-column",
    "file-bars": "file-bars",
    "file-rows": "file-rows",
}


def fragment_of(request: HttpRequest) -> str:
    """Return which part of the page is exchanged; the whole file where none is."""
    return _FRAGMENTS.get(request.headers.get("HX-Target", ""), "file")


def _shortened(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:17]}…{name[-8:]}"  # noqa: PLR2004


table_read(
    "/files/<str:file>",
    "TableFile",
    "file-detail",
    FilePage,
    "Inspect a Parquet file of a version.",
    waits=True,
)
