"""Register one table, or load the samples."""

from urllib.parse import urlencode

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.http import url_has_allowed_host_and_scheme

from apps.accounts.permissions import editor_required, signed_in
from apps.jobs.models import Job
from apps.jobs.waiting import wait_a_glance
from apps.pages.changes.html import change_form
from apps.pages.request.changes import ChangeForm
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond
from apps.tables.catalogue.adding.samples import request_samples
from apps.tables.catalogue.checks import CHECK_LOCATION, request_check
from apps.tables.catalogue.forms import CheckForm, RegisterQueryForm
from apps.tables.catalogue.names import name_from_path
from apps.tables.catalogue.registering import (
    REGISTER,
    Registering,
    Registration,
    own_check,
)
from apps.tables.head.job_json import described
from apps.tables.models import Table
from apps.tables.storage.roots import roots_for
from deltaweb.delta.errors import DeltaError


def table_register(
    request: HttpRequest, by: Registering, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show the form and what a check found."""
    status = form.status if form else 200
    return _register_page(request, fmt, form=form, job=by.check, status=status)


def unless_checked(request: HttpRequest, by: Registering) -> HttpResponseBase | None:
    """Check a location that was not checked, instead of registering a table there."""
    is_done = by.check is not None and by.check.state == Job.State.DONE
    return None if is_done else location_check(request)


def registered(
    request: HttpRequest, _: Registering, one: Registration, **__: str
) -> HttpResponseBase:
    """Open the table that was registered."""
    messages.success(request, REGISTER.says(one))
    return redirect(one.table.url if one.table else "tables:table-register")


@editor_required
def location_check(request: HttpRequest) -> HttpResponseBase:
    """Queue a look at a location, then show how it goes."""
    form = CheckForm(request.POST)
    if not form.is_valid():
        return _register_page(request, "html", form=form, status=422)
    location, name = form.cleaned_data["location"], form.cleaned_data["name"]
    try:
        job = request_check(
            location=location, now=timezone.now(), requested_by=signed_in(request)
        )
    except DeltaError as error:
        form.add_error("location", str(error))
        return _register_page(request, "html", form=form, status=422)
    query = {"check": job.id, "location": location, "name": name}
    return redirect(f"{reverse('tables:table-register')}?{urlencode(query)}")


@editor_required
def load_samples(request: HttpRequest) -> HttpResponseBase:
    """Queue the making of the sample tables, then show how it goes where one asked."""
    request_samples(now=timezone.now(), requested_by=signed_in(request))
    asked_on = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(asked_on, allowed_hosts=None):
        return redirect(asked_on)
    return redirect("tables:table-list")


def _register_page(
    request: HttpRequest,
    fmt: str,
    *,
    form: Form | None = None,
    job: Job | None = None,
    status: int = 200,
) -> HttpResponseBase:
    values = cleaned(RegisterQueryForm(request.GET))
    job = job or own_check(signed_in(request), values["check"])
    wait_a_glance(job)
    location = job.parameters["location"] if job else values["location"]
    found = CHECK_LOCATION.found(job)
    name = values["name"] or _suggested_name(location)
    if form is None:
        form = change_form(REGISTER, location=location, name=name)
    return respond(
        request,
        fmt,
        template="tables/catalogue/table_register.html",
        context={
            "form": form,
            "job": job,
            "found": found,
            "found_at": parse_datetime(found.timestamp) if found else None,
            "known": Table.objects.visible_to(signed_in(request))
            .filter(location=location)
            .defer("summary")[:3]
            if found
            else [],
            "is_empty": not Table.objects.exists(),
            "roots": roots_for(signed_in(request)),
        },
        data={"check": described(job)},
        status=status,
    )


def _suggested_name(location: str) -> str:
    parts = [part for part in location.split("/") if part]
    return str(name_from_path((parts[-1],))) if parts else ""
