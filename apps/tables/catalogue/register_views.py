"""Register one table, or load the samples."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.http import url_has_allowed_host_and_scheme

from apps.accounts.permissions import editor_required, signed_in
from apps.jobs.models import Job
from apps.jobs.waiting import wait_a_glance
from apps.pages.actions import stamp_of
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond
from apps.tables.catalogue.checks import CHECK_LOCATION, request_check
from apps.tables.catalogue.forms import RegisterForm, RegisterQueryForm
from apps.tables.catalogue.names import name_from_path
from apps.tables.catalogue.registration import register_table
from apps.tables.catalogue.samples import request_samples
from apps.tables.head.job_json import described
from apps.tables.models import Table
from apps.tables.storage.roots import roots_for
from deltaweb.delta.errors import DeltaError


@editor_required
def table_register(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the form and what a check found; a POST registers the table."""
    if request.method == "POST":
        return _register(request)
    return _register_page(request, fmt)


@editor_required
def location_check(request: HttpRequest) -> HttpResponseBase:
    """Queue a look at a location, then show how it goes."""
    form = RegisterForm(request.POST)
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


def _register(request: HttpRequest) -> HttpResponseBase:
    """Register what a finished check of this user found."""
    form = RegisterForm(request.POST)
    if not form.is_valid():
        return _register_page(request, "html", form=form, status=422)
    values = form.cleaned_data
    job = _own_job(request, values["check"], kind=CHECK_LOCATION.name)
    if job is None or job.state != Job.State.DONE:
        return location_check(request)
    try:
        table = register_table(
            name=values["name"],
            location=job.parameters["location"],
            description=values["description"],
            restricted=values["restricted"],
            created_by=signed_in(request),
            stamp=stamp_of(request),
        )
    except DeltaError as error:
        form.add_error("name", str(error))
        return _register_page(request, "html", form=form, job=job, status=422)
    messages.success(request, f"{table.full_name} is registered.")
    return redirect(table)


def _register_page(
    request: HttpRequest,
    fmt: str,
    *,
    form: RegisterForm | None = None,
    job: Job | None = None,
    status: int = 200,
) -> HttpResponseBase:
    values = cleaned(RegisterQueryForm(request.GET))
    job = job or _own_job(request, values["check"], kind=CHECK_LOCATION.name)
    wait_a_glance(job)
    location = job.parameters["location"] if job else values["location"]
    found = CHECK_LOCATION.found(job)
    name = values["name"] or _suggested_name(location)
    if form is None:
        form = RegisterForm(initial={"location": location, "name": name})
    return respond(
        request,
        fmt,
        template="tables/catalogue/table_register.html",
        context={
            "form": form,
            "job": job,
            "found": found,
            "found_at": parse_datetime(found.timestamp) if found else None,
            "known": Table.objects.filter(location=location).defer("summary")[:3]
            if found
            else [],
            "is_empty": not Table.objects.exists(),
            "roots": roots_for(signed_in(request)),
        },
        data={"check": described(job)},
        status=status,
    )


def _own_job(request: HttpRequest, job_id: UUID | None, *, kind: str) -> Job | None:
    """Return a job that this user asked for; another's job is not one."""
    if job_id is None:
        return None
    jobs = Job.objects.filter(id=job_id, kind=kind, requested_by=signed_in(request))
    return jobs.first()


def _suggested_name(location: str) -> str:
    parts = [part for part in location.split("/") if part]
    return str(name_from_path((parts[-1],))) if parts else ""
