"""The page of a file that is being made; the download starts when it is ready."""

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from apps.explorer.version.page import JobOfPage, TablePage
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.pages.page_json import OnPage
from apps.pages.responses import respond_page
from apps.tables.head.job_json import OVER_WITHOUT_RESULT

WAIT_S: Final = 3.0  # of a browser, before it shows the job
LABELS: Final = {"csv": "CSV", "parquet": "Parquet", "xlsx": "XLSX"}


@dataclass(frozen=True, kw_only=True)
class FileInTheMaking(TablePage):
    """A file and the job that makes it."""

    job: JobOfPage
    label: OnPage[str]
    is_ready: OnPage[bool]
    rows_url: OnPage[str]


def wants_page(request: HttpRequest) -> bool:
    """Whether a person waits for the file: a browser, or the page of the file."""
    return "text/html" in request.headers.get("Accept", "") or _is_part(request)


def wait_s(request: HttpRequest) -> float | None:
    """Return how long a request waits for the file; None for as long as scripts do."""
    if _is_part(request):
        return 0
    return WAIT_S if wants_page(request) else None


def shows_page(request: HttpRequest, *, is_ready: bool) -> bool:
    """Whether the answer is the page of the file, not the file."""
    return _is_part(request) or (wants_page(request) and not is_ready)


def making_page(
    request: HttpRequest, at: TableVersion, job: Job, form: str, *, is_ready: bool
) -> HttpResponseBase:
    """Show how far the file is; once it is ready, its part starts the download.

    Args:
        form: A key of `LABELS`.
    """
    rows = reverse("explorer:row-list", args=[at.table.namespace, at.table.name])
    query = request.GET.urlencode()
    page = FileInTheMaking(
        at=at,
        job=job,
        label=LABELS[form],
        is_ready=is_ready,
        rows_url=f"{rows}?{query}" if query else rows,
    )
    is_over = job.state in OVER_WITHOUT_RESULT and not _is_part(request)
    return respond_page(
        request,
        "html",
        page,
        template="explorer/rows/row_file.html",
        fragment="file",
        status=200 if is_ready else 422 if is_over else 202,
    )


def _is_part(request: HttpRequest) -> bool:
    return "HX-Request" in request.headers
