"""The files of a table."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.users import signed_in_user
from apps.explorer import services
from apps.explorer.forms import FileFilter, parse_file_filter
from apps.explorer.selectors import files
from apps.explorer.selectors.indexed import indexed_files
from apps.explorer.selectors.overview import sizes_chart
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.views.job_errors import check_job
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.links import Chip, changed, only, without
from apps.pages.responses import respond

MAX_PARTITIONS = 20
SORT_KEYS = (
    ("path", "Path", ""),
    ("size", "Size", "-"),
    ("rows", "Rows", "-"),
    ("modified", "Modified", "-"),
)


@require_safe
def file_list(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """List the files of a version; those of an older one come from a job."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    wanted = parse_file_filter(request.GET)
    listed, job = _listed(request, at, waits=fmt == "csv")
    columns = _partition_columns(at)
    page = None if listed is None else files.file_page(listed, wanted, columns)
    shares = files.partition_shares(at.table) if at.is_latest else []
    next_url = changed(request, page=page.next_page) if page and page.next_page else ""
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and listed is None:
        raise _not_ready(at, job)
    return respond(
        request,
        fmt,
        template="explorer/file_list.html",
        fragment="files",
        context={
            "at": at,
            "head": at.head,
            "table": at.table,
            "wanted": wanted,
            "page": page,
            "job": job,
            "chips": _chips(request, wanted),
            "headers": _headers(request, wanted),
            "next_url": next_url,
            "previous_url": changed(request, page=page.previous_page)
            if page and page.previous_page
            else "",
            "partition_columns": columns,
            "shares": [_share(request, share) for share in shares[:MAX_PARTITIONS]],
            "partitions_raw": request.GET.getlist("partition"),
            "num_partitions": at.table.summary.get("num_partitions"),
            "chart": _chart(request, at, fmt),
        },
        data={
            **at.describe(),
            "count": page.num_matching if page else None,
            "next": request.build_absolute_uri(next_url) if next_url else None,
            "job": _job(job),
            "num_files": page.num_files if page else None,
            "matching_bytes": page.matching_bytes if page else None,
            "files": [file.describe() for file in page.files] if page else [],
            "partitions": [share.describe() for share in shares],
        },
        rows=() if listed is None else files.file_rows(listed, wanted, columns),
        status=202 if job and listed is None and fmt == "json" else 200,
    )


def _listed(
    request: HttpRequest, at: TableVersion, *, waits: bool
) -> tuple[pa.Table | None, Job | None]:
    """Return the files of the version, or the job that lists them."""
    if at.version is None or at.unreadable_reason:
        return None, None
    if at.is_latest:
        listed = indexed_files(at.table)
        if listed is not None:
            return listed, None
    job, result = services.files_job(
        at.table,
        version=at.version,
        requested_by=signed_in_user(request),
        now=timezone.now(),
        waits=waits,
    )
    return (result.rows if result else None), job


def _partition_columns(at: TableVersion) -> Sequence[str]:
    return at.metadata.partition_columns if at.metadata else []


def _chart(request: HttpRequest, at: TableVersion, fmt: str) -> Any:  # noqa: ANN401 (a chart or none)
    if not at.is_latest or fmt != "html" or "HX-Request" in request.headers:
        return None
    return sizes_chart(at, height="x-plot-m")


def _job(job: Job | None) -> dict[str, object] | None:
    if job is None:
        return None
    return {"id": job.id, "state": job.state, "error": job.error or None}


def _not_ready(at: TableVersion, job: Job | None) -> PageError:
    if job is None:
        return PageError(
            status=409,
            code="not-listed",
            message=at.unreadable_reason
            or at.table.error
            or f"{at.table.full_name} is not indexed yet.",
            hint="Open the page of the table: it says why.",
        )
    return PageError(
        status=409,
        code="still-listing",
        message=f"The files of version {at.version} are still being listed.",
        hint=f"Ask again when job {job.id} is done.",
    )


def _share(request: HttpRequest, share: files.PartitionShare) -> dict[str, object]:
    """Return a partition as its row shows it, linked to its files."""
    options = [
        column if value is None else f"{column}={value}"
        for column, value in share.values
    ]
    return {
        "text": " / ".join(
            f"{column}={'null' if value is None else value}"
            for column, value in share.values
        ),
        "short": " / ".join(
            "null" if value is None else value for _, value in share.values
        ),
        "options": options,
        "url": only(request, "partition", options),
        "num_files": share.num_files,
        "average_bytes": share.average_bytes,
        "size_bytes": share.size_bytes,
        "percent": share.percent,
    }


def _headers(request: HttpRequest, wanted: FileFilter) -> list[dict[str, str]]:
    """Return the sortable headers: where a click leads and what is sorted now."""
    headers = []
    for key, label, first in SORT_KEYS:
        current = wanted.sort.removeprefix("-") == key
        descending = wanted.sort.startswith("-")
        target = f"{'' if descending else '-'}{key}" if current else f"{first}{key}"
        headers.append(
            {
                "key": key,
                "label": label,
                "url": changed(request, sort=target, page=None),
                "sort": ("descending" if descending else "ascending")
                if current
                else "",
            }
        )
    return headers


def _chips(request: HttpRequest, wanted: FileFilter) -> list[Chip]:
    chips = []
    for column, value in wanted.partitions:
        raw = column if value is None else f"{column}={value}"
        shown = f"{column} is null" if not value else raw
        chips.append(Chip(text=shown, url=without(request, "partition", raw)))
    for name, words in (("min", "at least"), ("max", "at most")):
        if text := request.GET.get(name):
            chips.append(Chip(text=f"{words} {text}", url=without(request, name)))
    return chips
