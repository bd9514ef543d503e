"""The page of an operation: asked, looked at, agreed to, done.

A POST without `seen` asks for a look; one with it agrees to that look. What becomes of
either is a job, and the page shows the job: what would happen has the one button that
lets it happen. The pages of a table's upkeep and those that add data are each a kind of
this one; they differ in where they are, whose jobs they show and what they do at the
end.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods

from deltaweb.delta.errors import DeltaError
from deltaweb.web.accounts.permissions import editor_required
from deltaweb.web.jobs.kind import to_json
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.waiting import wait_a_glance
from deltaweb.web.pages.actions import actor_of
from deltaweb.web.pages.responses import json_response, respond
from deltaweb.web.tables.errors import OperationOutdatedError
from deltaweb.web.tables.head.job_json import described, names_of, result_of
from deltaweb.web.tables.head.shapes import cleaned, signed_in
from deltaweb.web.tables.head.table_head import get_table
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.operations.looks import is_look
from deltaweb.web.tables.operations.operation import Operation
from deltaweb.web.tables.operations.requests import request_look, request_operation

P = TypeVar("P")


class ShownForm(forms.Form):
    """Which job the page shows, and which look somebody agrees to; none looks."""

    job = forms.UUIDField(required=False)
    seen = forms.UUIDField(required=False)


@dataclass(frozen=True, slots=True)
class ShownJobs:
    """The job that a page shows, and the one that was refused before it."""

    job: Job | None = None
    outdated: Job | None = None


@dataclass(frozen=True, kw_only=True)
class AgreementPage(ABC, Generic[P]):
    """What a page says of its operation.

    Attributes:
        operation: The operation.
        form: What is asked before the look.
        choice: What is chosen after the look, of the parameters.
        heading: What it does, as a title.
        about: What it does, in a sentence or two.
        failed: The title where a job failed.
        shows: Makes values of the form from parameters.
    """

    template: ClassVar[str]
    parts: ClassVar[str]
    """The folder of the templates of what is asked, shown and done."""

    operation: Operation[P, Any]
    form: type[forms.Form]
    heading: str
    about: str
    failed: str
    choice: type[forms.Form] | None = None
    shows: Callable[[P], Mapping[str, Any]] = to_json

    @property
    def name(self) -> str:
        """By which its parts of the template are found."""
        return self.operation.name

    @property
    def form_part(self) -> str:
        """The template of the fields."""
        return f"{self.parts}/_{self.name}_form.html"

    @property
    def look_part(self) -> str:
        """The template of what would happen."""
        return f"{self.parts}/_{self.name}_look.html"

    @property
    def takes(self) -> list[str | type[forms.Form]]:
        """The parameters of its address: the head's, which job, values of its forms."""
        return ["v", ShownForm, self.form, *([self.choice] if self.choice else ())]

    @abstractmethod
    def address(self, table: Table | None) -> str:
        """Return where the page is."""

    @abstractmethod
    def read_form(
        self, request: HttpRequest, values: Mapping[str, Any], table: Table | None
    ) -> P:
        """Return the parameters of a form's values.

        Raises:
            DeltaError: If they ask for what is refused at once.
        """

    @abstractmethod
    def jobs(self, request: HttpRequest, table: Table | None) -> QuerySet[Job]:
        """Return the jobs that the page may show, the newest first."""

    @abstractmethod
    def context(
        self,
        request: HttpRequest,
        table: Table | None,
        asked: P | None,
        result: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """Return what else the template gets, by the job that is shown."""

    def admit(self, table: Table | None) -> None:
        """Refuse whatever is asked of a table, by its state."""

    def shown(self, request: HttpRequest, table: Table | None) -> ShownJobs:
        """Return what the page shows: the job that the address names."""
        wanted = named_job(request)
        return ShownJobs(
            self.jobs(request, table).filter(id=wanted).first() if wanted else None
        )

    def leave(
        self, request: HttpRequest, table: Table | None, result: Mapping[str, Any]
    ) -> HttpResponseBase | None:
        """Go where what was done leads to; None stays and tells it."""

    @cached_property
    def view(self) -> Callable[..., HttpResponseBase]:
        """The view of the page, for the URL configuration."""

        @require_http_methods(["GET", "HEAD", "POST"])
        @editor_required
        def view(
            request: HttpRequest, fmt: str, namespace: str = "", name: str = ""
        ) -> HttpResponseBase:
            table = get_table(request.user, namespace, name) if name else None
            visit = _Visit(self, request, table, fmt)
            return visit.asked() if request.method == "POST" else visit.page()

        return view


def named_job(request: HttpRequest) -> UUID | None:
    """Return the job that the address names."""
    form = ShownForm(request.GET)
    return form.cleaned_data["job"] if form.is_valid() else None


@dataclass(frozen=True, slots=True)
class _Visit(Generic[P]):
    """One request for a page."""

    on: AgreementPage[P]
    request: HttpRequest
    table: Table | None
    fmt: str

    # === What is asked ===

    def asked(self) -> HttpResponseBase:
        """Queue a look, or what was looked at."""
        on, request, table = self.on, self.request, self.table
        on.admit(table)
        agreed = ShownForm(request.POST)
        if agreed.is_valid() and agreed.cleaned_data["seen"] is not None:
            return self._agreed(agreed.cleaned_data["seen"])
        form = on.form(request.POST, request.FILES)
        if not form.is_valid():
            return self.page(form)
        try:
            wanted = on.read_form(request, form.cleaned_data, table)
        except DeltaError as error:
            form.add_error(None, f"{error.message} {error.hint}".strip())
            return self.page(form)
        now, user = timezone.now(), signed_in(request)
        return self._queued(
            request_look(on.operation, table, wanted, now=now, requested_by=user)
        )

    def _agreed(self, seen: UUID) -> HttpResponseBase:
        on, request, table = self.on, self.request, self.table
        look = on.jobs(request, table).filter(id=seen).first()
        if look is None:
            name = table.full_name if table else on.operation.words
            return self._refused(OperationOutdatedError(name=name))
        wanted = on.operation.asked(look)
        if on.choice is not None:
            chosen = cleaned(on.choice(request.POST))
            wanted = replace(wanted, **chosen)  # type: ignore[type-var]  # a dataclass
        try:
            job = request_operation(
                on.operation,
                table,
                wanted,
                seen=look,
                actor=actor_of(request),
                requested_by=signed_in(request),
                now=timezone.now(),
            )
        except OperationOutdatedError as error:
            return self._refused(error)
        return self._queued(job)

    def _refused(self, error: OperationOutdatedError) -> HttpResponseBase:
        """Answer who agreed to what is no look, or none that is done."""
        if self.fmt == "json":
            raise error
        messages.error(self.request, f"{error.message} {error.hint}")
        return redirect(self.on.address(self.table))

    def _queued(self, job: Job) -> HttpResponseBase:
        if self.fmt == "json":
            return json_response({**self._names, "job": described(job)}, status=202)
        return redirect(f"{self.on.address(self.table)}?job={job.id}")

    @property
    def _names(self) -> dict[str, Any]:
        return names_of(self.table) if self.table else {}

    # === What is shown ===

    def page(self, form: forms.Form | None = None) -> HttpResponseBase:
        """Show the job, or a form with what is wrong in it."""
        on, request, table, fmt = self.on, self.request, self.table, self.fmt
        shown = ShownJobs() if form else on.shown(request, table)
        job = shown.job
        if wait_a_glance(job) and table is not None:
            table.refresh_from_db()
        result = result_of(job)
        look = result if job is not None and result and is_look(job) else None
        done = None if look else result
        if done and fmt == "html":
            there = on.leave(request, table, done)
            if there is not None:
                return there
        asked = on.operation.asked(job) if job is not None else None
        if form is None:
            given = {
                name: request.GET[name]
                for name in on.form.base_fields
                if name in request.GET
            }
            known = {} if asked is None else on.shows(asked)
            form = on.form(initial={**known, **given})
        return respond(
            request,
            fmt,
            template=on.template,
            fragment="live",
            context={
                "table": table,
                "page": on,
                "address": on.address(table),
                "form": form,
                "job": job,
                "look": look,
                "done": done,
                "looked_at": parse_datetime(look["at"]) if look else None,
                "outdated": shown.outdated,
                **on.context(request, table, asked, result),
            }
            if fmt == "html"
            else {},
            data={
                **self._names,
                "operation": on.name,
                "job": described(job),
                "outdated": described(shown.outdated),
                "errors": form.errors or None,
            },
            status=422 if form.errors else 200,
        )
