"""A Parquet file that no table has, at any place that a user may register."""

from dataclasses import dataclass
from typing import Annotated

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from apps.accounts.models import User
from apps.accounts.permissions import editor_required, signed_in
from apps.explorer.parquet_file.form import parse_file_query
from apps.explorer.parquet_file.selector import file_inside
from apps.explorer.parquet_file.view import (
    INSIDE_TEMPLATE,
    FileContents,
    fragment_of,
    parts_of,
    sent_text,
)
from apps.explorer.version.query import text_of
from apps.jobs.models import Job
from apps.jobs.results import job_rows
from apps.jobs.waiting import wait_a_glance
from apps.pages.changes.change import EDITOR
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import Named, OnPage
from apps.pages.responses import respond_page
from apps.tables.head.job_json import check_job
from apps.tables.storage.roots import roots_for
from apps.tables.work.place_look import INSPECT_PLACE, PREVIEW_PLACE
from deltaweb.delta.errors import DeltaError

MAX_LOCATION_LENGTH = 2_000


@dataclass(frozen=True, kw_only=True)
class PlacePage(FileContents):
    """The form that asks for a place, and what is in the file there."""

    location: str
    fault: Annotated[str, Named("error")]
    roots: OnPage[list[str] | None]

    @property
    def leaf(self) -> str:
        return self.location.rpartition("/")[2]


@editor_required
def place_detail(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Ask for the place of a Parquet file, and show what is in it."""
    user = signed_in(request)
    location = text_of(request.GET, "location")[:MAX_LOCATION_LENGTH].strip()
    query = parse_file_query(request.GET)
    job = rows_job = None
    fault = ""
    if location:
        now = timezone.now()
        try:
            job = INSPECT_PLACE.request(location, user, now=now, again=False)
            if query.has_rows:
                rows_job = PREVIEW_PLACE.request(location, user, now=now, again=False)
        except DeltaError as error:
            fault = str(error)
            if fmt != "html":
                raise
    if fmt != "html":
        for one in (job, rows_job):
            check_job(one)
    for one in (job, rows_job):
        wait_a_glance(one)
    found = None if job is None else job_rows(INSPECT_PLACE, job)
    inside = None if job is None or found is None else file_inside(job, found, query)
    rows = None if rows_job is None else job_rows(PREVIEW_PLACE, rows_job)
    page = PlacePage(
        location=location,
        fault=fault,
        roots=roots_for(user),
        job=job,
        **parts_of(request, inside, query, fmt),
        text_root=reverse("explorer:place-text", args=["-"]).removesuffix("-"),
        rows_job=rows_job,
        found_rows=rows,
    )
    waits = job is not None and (inside is None or (rows_job and rows is None))
    is_part = "HX-Request" in request.headers
    return respond_page(
        request,
        fmt,
        page,
        template=INSIDE_TEMPLATE
        if is_part
        else "explorer/parquet_file/place_detail.html",
        fragment=fragment_of(request),
        status=422 if fault else 202 if waits and fmt == "json" else 200,
    )


@editor_required
def place_again(request: HttpRequest) -> HttpResponseBase:
    """Inspect a file once more: another may be at its place."""
    location = text_of(request.POST, "location")[:MAX_LOCATION_LENGTH]
    inspect_again(location, signed_in(request))
    address = reverse("explorer:place-detail")
    return redirect(f"{address}?{urlencode({'location': location})}")


def inspect_again(location: str, user: User) -> Job:
    """Return the job that inspects a file, and reads the rows shown, again."""
    now = timezone.now()
    if PREVIEW_PLACE.newest(location, user) is not None:
        PREVIEW_PLACE.request(location, user, now=now, again=True)
    return INSPECT_PLACE.request(location, user, now=now, again=True)


@editor_required
def place_text(request: HttpRequest, text: str) -> HttpResponse:
    """Send a text of a footer whole: a key's value by its place, or a schema."""
    location = text_of(request.GET, "location")
    return sent_text(INSPECT_PLACE.newest(location, signed_in(request)), text)


reads.register(
    Read(
        route="parquet",
        view="ParquetFile",
        page="explorer:place-detail",
        shows=PlacePage,
        help="Inspect a Parquet file at any location.",
        waits=True,
        role=EDITOR,
    )
)
