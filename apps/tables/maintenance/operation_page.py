"""The page of an operation: asked, looked at, agreed to, done.

A page says which operation it is of, its form and its words; the template has the
frame, and finds the parts of an operation by its name in `tables/operations`:
`_<name>_form.html` asks, `_<name>_look.html` shows what would happen and has the
button, `_<name>_done.html` shows what was done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from apps.accounts.permissions import editor_required
from apps.jobs.kind import to_json
from apps.jobs.models import Job
from apps.pages.actions import actor_of
from apps.pages.responses import json_response, respond
from apps.tables.errors import OperationOutdatedError
from apps.tables.head.shapes import cleaned, signed_in
from apps.tables.head.table_head import TableHead, get_table, table_head
from apps.tables.index.refresh import REFRESH
from apps.tables.maintenance.shapes import check_may, described, names_of, result_of
from apps.tables.models import Table
from apps.tables.operations.looks import is_look
from apps.tables.operations.operation import Operation
from apps.tables.operations.requests import request_look, request_operation
from deltaweb.delta.errors import DeltaError

P = TypeVar("P")
TEMPLATE: Final = "tables/table_operation.html"

More = Callable[[TableHead, Mapping[str, Any] | None], Mapping[str, Any]]
Weigh = Callable[[Mapping[str, str], Mapping[str, Any] | None], Mapping[str, Any]]


class JobForm(forms.Form):
    """Which job the page shows."""

    job = forms.UUIDField(required=False)


class AgreedForm(forms.Form):
    """The job of the look that somebody agrees to; none looks."""

    seen = forms.UUIDField(required=False)


@dataclass(frozen=True, kw_only=True)
class OperationPage(Generic[P]):
    """What a page says of its operation.

    Attributes:
        operation: The operation.
        form: What is asked before the look; its fields are the parameters' names.
        choice: What is chosen after the look, of the parameters.
        heading: What it does, as a title.
        about: What it does to the table, in a sentence or two.
        icon: Of its buttons.
        look_words: The button that looks.
        failed: The title where a job failed.
        read: Makes parameters of the form's values.
        shows: The reverse, for the form of a page that shows a job.
        below: A template of what stands below the form; none for an empty one.
        check: Refuses at once, by what the database knows, what a worker would refuse.
        more: What else the template gets, by the result of the job.
        weigh: The same of what is chosen after the look, by the query.
    """

    operation: Operation[P, Any]
    form: type[forms.Form]
    heading: str
    about: str
    icon: str
    failed: str
    look_words: str = "Show what would happen"
    below: str = ""
    choice: type[forms.Form] | None = None
    read: Callable[[Mapping[str, Any]], P] | None = None
    shows: Callable[[P], Mapping[str, Any]] = to_json
    check: Callable[[Table, P], None] = lambda _table, _asked: None
    more: More = field(default=lambda _head, _result: {})
    weigh: Weigh = field(default=lambda _query, _result: {})

    @property
    def name(self) -> str:
        """The operation's, by which its parts of the template are found."""
        return self.operation.name

    @property
    def form_part(self) -> str:
        """The template of the fields."""
        return f"tables/operations/_{self.name}_form.html"

    @property
    def look_part(self) -> str:
        """The template of what would happen."""
        return f"tables/operations/_{self.name}_look.html"

    @property
    def done_part(self) -> str:
        """The template of what was done."""
        return f"tables/operations/_{self.name}_done.html"

    def asked(self, values: Mapping[str, Any]) -> P:
        """Return the parameters of a form's values."""
        if self.read is not None:
            return self.read(values)
        return self.operation.parameters(**values)

    @cached_property
    def view(self) -> Callable[..., HttpResponseBase]:
        """The view of the page, for the URL configuration."""

        @require_http_methods(["GET", "HEAD", "POST"])
        @editor_required
        def view(
            request: HttpRequest, namespace: str, name: str, fmt: str
        ) -> HttpResponseBase:
            table = get_table(request.user, namespace, name)
            if request.method != "POST":
                return _page(request, self, table_head(table), fmt)
            check_may(table, table.version)
            return _asked(request, self, table, fmt)

        return view


# === What is asked ===


def _asked(
    request: HttpRequest, page: OperationPage[P], table: Table, fmt: str
) -> HttpResponseBase:
    agreed = AgreedForm(request.POST)
    seen = agreed.cleaned_data["seen"] if agreed.is_valid() else None
    if seen is not None:
        look = _jobs(page, table).filter(id=seen).first()
        return _agreed(request, page, table, look, fmt)
    form = page.form(request.POST)
    if not form.is_valid():
        return _page(request, page, table_head(table), fmt, form=form)
    asked = page.asked(form.cleaned_data)
    try:
        if _is_current(table):
            page.check(table, asked)
    except DeltaError as error:
        form.add_error(None, f"{error.message} {error.hint}".strip())
        return _page(request, page, table_head(table), fmt, form=form)
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
    page: OperationPage[P],
    table: Table,
    look: Job | None,
    fmt: str,
) -> HttpResponseBase:
    operation = page.operation
    if look is None:
        error = OperationOutdatedError(name=table.full_name)
        return _refused(request, page, table, error, fmt)
    asked = operation.asked(look)
    if page.choice is not None:
        chosen = cleaned(page.choice(request.POST))
        asked = replace(asked, **chosen)  # type: ignore[type-var]  # a dataclass
    try:
        job = request_operation(
            operation,
            table,
            asked,
            seen=look,
            actor=actor_of(request),
            requested_by=signed_in(request),
            now=timezone.now(),
        )
    except OperationOutdatedError as error:
        return _refused(request, page, table, error, fmt)
    return _queued(page, table, job, fmt)


def _refused(
    request: HttpRequest,
    page: OperationPage[P],
    table: Table,
    error: OperationOutdatedError,
    fmt: str,
) -> HttpResponseBase:
    """Answer who agreed to what is no look, or none that is done."""
    if fmt == "json":
        raise error
    messages.error(request, f"{error.message} {error.hint}")
    return redirect(_address(page, table, None))


def _queued(
    page: OperationPage[P], table: Table, job: Job, fmt: str
) -> HttpResponseBase:
    if fmt == "json":
        return json_response({**names_of(table), "job": described(job)}, status=202)
    return redirect(_address(page, table, job))


def _address(page: OperationPage[P], table: Table, job: Job | None) -> str:
    address = reverse(page.operation.page, args=[table.namespace, table.name])
    return f"{address}?job={job.id}" if job is not None else address


def _is_current(table: Table) -> bool:
    """Whether the database knows the newest version; else the worker alone decides."""
    jobs = Job.objects.filter(subject_id=table.id, kind=REFRESH.name)
    return not table.is_stale and not jobs.filter(state__in=Job.ACTIVE_STATES).exists()


# === What is shown ===


def _page(
    request: HttpRequest,
    page: OperationPage[P],
    head: TableHead,
    fmt: str,
    *,
    form: forms.Form | None = None,
) -> HttpResponseBase:
    table = head.table
    job, outdated = (None, None) if form else _shown(request, page, table)
    result = result_of(job)
    look = result if job is not None and result and is_look(job) else None
    form = form or _form(request, page, job)
    return respond(
        request,
        fmt,
        template=TEMPLATE,
        fragment="live",
        context={
            "head": head,
            "table": table,
            "page": page,
            "form": form,
            "job": job,
            "is_look": job is None or is_look(job),
            "look": look,
            "done": None if look else result,
            "looked_at": parse_datetime(look["at"]) if look else None,
            "outdated": outdated,
            **page.more(head, result),
            **page.weigh(request.GET, result),
        },
        data={
            **names_of(table),
            "operation": page.name,
            "job": described(job),
            "outdated": described(outdated),
            "errors": form.errors or None,
        },
        status=422 if form.errors else 200,
    )


def _form(request: HttpRequest, page: OperationPage[P], job: Job | None) -> forms.Form:
    initial = page.shows(page.operation.asked(job)) if job is not None else {}
    given = {
        name: request.GET[name] for name in page.form.base_fields if name in request.GET
    }
    return page.form(initial={**initial, **given})


def _jobs(page: OperationPage[P], table: Table) -> QuerySet[Job]:
    jobs = Job.objects.filter(subject_id=table.id, kind=page.operation.kind)
    return jobs.defer("log", "error_detail").order_by("-created_at", "-id")


def _shown(
    request: HttpRequest, page: OperationPage[P], table: Table
) -> tuple[Job | None, Job | None]:
    """Return the job that the page shows, and the one that was refused before it.

    It is the one that the address names, else the newest, unless the address brings
    parameters: then the page asks. What was refused since it was no longer what was
    shown is followed by the look at what would happen now.
    """
    asked = JobForm(request.GET)
    wanted = asked.cleaned_data["job"] if asked.is_valid() else None
    jobs = _jobs(page, table)
    if wanted is None and any(name in request.GET for name in page.form.base_fields):
        return None, None
    job = jobs.filter(id=wanted).first() if wanted else jobs.first()
    if job is None:
        return None, None
    if job.error_code == OperationOutdatedError.code:
        later = jobs.filter(created_at__gt=job.created_at)
        look = next((one for one in later.reverse() if is_look(one)), None)
        return look or job, job if look else None
    if not is_look(job):
        return job, None
    before = jobs.filter(created_at__lt=job.created_at).first()
    is_refused = before and before.error_code == OperationOutdatedError.code
    return job, before if is_refused else None
