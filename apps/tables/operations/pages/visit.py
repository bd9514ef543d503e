"""One visit of the page of an operation: asked, looked at, agreed to, done.

A POST without `seen` asks for a preview; one with it agrees to that. What becomes of
either is a job, and the page shows the job: what would happen has the one button that
lets it happen.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.permissions import check_role, signed_in
from apps.jobs.models import Job
from apps.jobs.waiting import wait_a_glance
from apps.pages.actions import stamp_of
from apps.pages.request.parameters import cleaned
from apps.pages.responses import json_response, respond
from apps.tables.errors import OperationOutdatedError
from apps.tables.head.finding import get_own_table
from apps.tables.head.job_json import described
from apps.tables.head.shapes import names_of
from apps.tables.models import Table
from apps.tables.operations.pages.page import (
    AnyPage,
    OperationPage,
    ShownForm,
    ShownJobs,
)
from apps.tables.operations.requests import request_operation, request_preview
from deltaweb.delta.errors import DeltaError

P = TypeVar("P")
D = TypeVar("D")
R = TypeVar("R")


def view_of(on: AnyPage) -> Callable[..., HttpResponseBase]:
    """Return the view of a page, for the URL configuration."""

    def view(
        request: HttpRequest, fmt: str, namespace: str = "", name: str = ""
    ) -> HttpResponseBase:
        if not name:
            check_role(request, User.Role.EDITOR)
        table = get_own_table(request.user, namespace, name) if name else None
        visit = _Visit(on, request, table, fmt)
        return visit.asked() if request.method == "POST" else visit.page()

    return view


@dataclass(frozen=True, slots=True)
class _Visit(Generic[P, D, R]):
    """One request for a page."""

    on: OperationPage[P, D, R]
    request: HttpRequest
    table: Table | None
    fmt: str

    # === What is asked ===

    def asked(self) -> HttpResponseBase:
        """Queue a preview, or what was looked at."""
        on, request, table = self.on, self.request, self.table
        on.admit(table)
        agreed, given = ShownForm(request.POST), request.POST.copy()
        if agreed.is_valid() and agreed.cleaned_data["seen"] is not None:
            return self._agreed(agreed.cleaned_data["seen"])
        # As scripts of earlier releases ask for what is harmless, and for no preview.
        is_at_once = on.operation.is_harmless and self.fmt == "json" and "v" in given
        if is_at_once:
            given["version"] = request.POST["v"]
        form = on.form(given, request.FILES, auto_id="%s")
        if not form.is_valid():
            return self.page(form)
        try:
            wanted = on.read_form(request, form.cleaned_data, table)
        except DeltaError as error:
            form.add_error(None, f"{error.message} {error.hint}".strip())
            return self.page(form)
        if is_at_once:
            return self._queued(self._requested(wanted, None))
        now, user = timezone.now(), signed_in(request)
        return self._queued(
            request_preview(on.operation, table, wanted, now=now, requested_by=user)
        )

    def _requested(self, wanted: P, seen: Job | None) -> Job:
        return request_operation(
            self.on.operation,
            self.table,
            wanted,
            seen=seen,
            stamp=stamp_of(self.request),
            requested_by=signed_in(self.request),
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
            return self._queued(self._requested(wanted, look))
        except OperationOutdatedError as error:
            return self._refused(error)

    def _refused(self, error: OperationOutdatedError) -> HttpResponseBase:
        """Answer who agreed to what is no preview, or none that is done."""
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
        look, done = on.operation.preview_of(job), on.operation.result_of(job)
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
            picked = on.picked(request, table)
            if picked is not None:
                given.setdefault(on.picks, str(picked))
            known = {} if asked is None else on.shows(asked)
            form = on.form(initial={**known, **given}, auto_id="%s")
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
                "preview": look,
                "done": done,
                "said": on.operation.result_text(done.result)
                if done and done.result is not None
                else "",
                "outdated": shown.outdated,
                **on.context(request, table, asked, look, done),
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
