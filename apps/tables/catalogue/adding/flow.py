"""The pages that add data: asked, looked at, agreed to, done; then the table is opened.

A page of this kind belongs to nobody but who asked: its jobs are found by their id and
by the person.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from apps.accounts.permissions import editor_required
from apps.jobs.models import Job
from apps.pages.actions import actor_of
from apps.pages.responses import json_response, respond
from apps.tables.errors import OperationOutdatedError
from apps.tables.head.shapes import signed_in
from apps.tables.head.table_head import get_table
from apps.tables.models import Table
from apps.tables.operations.looks import is_look
from apps.tables.operations.operation import Operation
from apps.tables.operations.requests import request_look, request_operation
from apps.tables.storage.roots import roots_for
from deltaweb.delta.errors import DeltaError

P = TypeVar("P")
OPTIONS: Final = {
    "file_format": "Format",
    "delimiter": "Delimiter",
    "header": "First row holds",
    "null_text": "Text of null",
    "decimal_sign": "Decimal sign",
    "day_order": "Dates",
    "time_zone": "Times are in",
}
"""How a file is written, as the page asks for it."""
TEMPLATE: Final = "tables/table_adding.html"


class ShownForm(forms.Form):
    """Which job the page shows, and which look somebody agrees to."""

    job = forms.UUIDField(required=False)
    seen = forms.UUIDField(required=False)


@dataclass(frozen=True, kw_only=True)
class AddingPage(Generic[P]):
    """What a page says of its operation.

    Attributes:
        operation: The operation.
        slug: By which its parts of the template are found, and its tab.
        form: What is asked before the look.
        heading: What it does, as a title.
        about: A sentence or two of it.
        failed: The title where a job failed.
        read: Makes parameters of the form and the request; it may raise `DeltaError`.
        shows: The reverse, for the form of a page that shows a job.
        context: What else the template gets, by the parameters and the look.
    """

    operation: Operation[P, Any]
    slug: str
    form: type[forms.Form]
    heading: str
    about: str
    failed: str
    read: Callable[[HttpRequest, Mapping[str, Any], Table | None], P]
    shows: Callable[[P], Mapping[str, Any]]
    context: Callable[[HttpRequest, P | None, Mapping[str, Any] | None], dict[str, Any]]

    @property
    def form_part(self) -> str:
        """The template of what is asked."""
        return f"tables/adding/_{self.slug}_form.html"

    @property
    def look_part(self) -> str:
        """The template of what would happen."""
        return f"tables/adding/_{self.slug}_look.html"

    def address(self, table: Table | None, job_id: UUID | None = None) -> str:
        """Return where the page is."""
        names = [table.namespace, table.name] if table else []
        name = f"tables:table-{self.slug if table else f'new-{self.slug}'}"
        query = f"?job={job_id}" if job_id else ""
        return reverse(name, args=names) + query

    @property
    def view(self) -> Callable[..., HttpResponseBase]:
        """The view of the page, for the URL configuration."""

        @require_http_methods(["GET", "HEAD", "POST"])
        @editor_required
        def view(
            request: HttpRequest, fmt: str, namespace: str = "", name: str = ""
        ) -> HttpResponseBase:
            table = get_table(request.user, namespace, name) if name else None
            if request.method == "POST":
                return _asked(request, self, table, fmt)
            return _page(request, self, table, fmt)

        return view


def _asked(
    request: HttpRequest, page: AddingPage[P], table: Table | None, fmt: str
) -> HttpResponseBase:
    given = ShownForm(request.POST)
    seen = given.cleaned_data["seen"] if given.is_valid() else None
    if seen is not None:
        return _agreed(request, page, table, seen, fmt)
    form = page.form(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, page, table, fmt, form=form)
    try:
        asked = page.read(request, form.cleaned_data, table)
    except DeltaError as error:
        form.add_error(None, f"{error.message} {error.hint}".strip())
        return _page(request, page, table, fmt, form=form)
    job = request_look(
        page.operation,
        table,
        asked,
        requested_by=signed_in(request),
        now=timezone.now(),
    )
    return _queued(page, table, job, fmt)


def _agreed(
    request: HttpRequest,
    page: AddingPage[P],
    table: Table | None,
    seen: UUID,
    fmt: str,
) -> HttpResponseBase:
    look = _own_job(request, page, table, seen)
    if look is None:
        return redirect(page.address(table))
    try:
        job = request_operation(
            page.operation,
            table,
            page.operation.asked(look),
            seen=look,
            actor=actor_of(request),
            requested_by=signed_in(request),
            now=timezone.now(),
        )
    except OperationOutdatedError as error:
        if fmt == "json":
            raise
        messages.error(request, f"{error.message} {error.hint}")
        return redirect(page.address(table))
    return _queued(page, table, job, fmt)


def _queued(
    page: AddingPage[P], table: Table | None, job: Job, fmt: str
) -> HttpResponseBase:
    if fmt == "json":
        return json_response({"job": _job_json(job)}, status=202)
    return redirect(page.address(table, job.id))


def _own_job(
    request: HttpRequest, page: AddingPage[P], table: Table | None, job_id: UUID | None
) -> Job | None:
    """Return a job that this person asked for; another's is none."""
    if job_id is None:
        return None
    jobs = Job.objects.filter(
        id=job_id,
        kind=page.operation.kind,
        requested_by=signed_in(request),
        subject_id=table.id if table else None,
    )
    return jobs.first()


def _page(
    request: HttpRequest,
    page: AddingPage[P],
    table: Table | None,
    fmt: str,
    *,
    form: forms.Form | None = None,
) -> HttpResponseBase:
    given = ShownForm(request.GET)
    job_id = given.cleaned_data["job"] if given.is_valid() else None
    job = None if form else _own_job(request, page, table, job_id)
    is_done = job is not None and job.state == Job.State.DONE
    result = job.result if job is not None and is_done else None
    if job is not None and result and not is_look(job) and fmt == "html":
        return _opened(request, result, table)
    asked = page.operation.asked(job) if job is not None else None
    if form is None:
        initial = {} if asked is None else page.shows(asked)
        form = page.form(initial={**request.GET.dict(), **initial})
    return respond(
        request,
        fmt,
        template=TEMPLATE,
        fragment="live",
        context={
            "page": page,
            "table": table,
            "address": page.address(table),
            "form": form,
            "options": [
                (label, form[name])
                for name, label in OPTIONS.items()
                if name in form.fields
            ],
            "job": job,
            "look": result,
            "looked_at": parse_datetime(result["at"]) if result else None,
            "roots": roots_for(signed_in(request)),
            **page.context(request, asked, result),
        }
        if fmt == "html"
        else {},
        data={"job": _job_json(job), "errors": form.errors or None},
        status=422 if form.errors else 200,
    )


def _opened(
    request: HttpRequest, result: Mapping[str, Any], table: Table | None
) -> HttpResponseBase:
    """Open the table that was made, or has new rows."""
    if table is None:
        table = Table.objects.filter(
            namespace=result["namespace"], name=result["name"]
        ).first()
    address = table.get_absolute_url() if table else reverse("tables:table-list")
    version = f" as version {result['version']}" if result.get("version") else ""
    messages.success(request, f"Done{version}.")
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": address})
    return redirect(address)


def _job_json(job: Job | None) -> dict[str, Any] | None:
    if job is None:
        return None
    return {
        "id": job.id,
        "state": job.state,
        "step": job.step,
        "result": job.result,
        "error": job.error_code or None,
        "message": job.error or None,
        "hint": job.error_hint or None,
    }
