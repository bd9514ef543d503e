"""The pages of the catalogue: list, search, register, settings."""

from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from apps.accounts.models import User
from apps.accounts.permissions import editor_required
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.responses import json_response, respond
from apps.tables import selectors, services
from apps.tables.forms import (
    KINDS,
    SORTS,
    STATUSES,
    CatalogueForm,
    RegisterForm,
    RegisterQueryForm,
    RemoveForm,
    ScanForm,
    SearchForm,
    SettingsForm,
)
from apps.tables.models import Table
from apps.tables.names import name_from_path
from deltaweb.delta.errors import DeltaError

# === The list ===


@require_GET
def table_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the catalogue; htmx asks for the list alone."""
    values = _cleaned(CatalogueForm(request.GET))
    query = selectors.CatalogueQuery(
        q=values["q"],
        namespace=values["namespace"],
        status=values["status"],
        sort=values["sort"],
        page=values["page"] or 1,
    )
    page = selectors.catalogue_page(_user(request), query)
    return respond(
        request,
        fmt,
        template="tables/table_list.html",
        context={
            "page": page,
            "query": query,
            "sorts": SORTS,
            "statuses": STATUSES,
            "next_url": _page_url(request, page.next_page),
            "previous_url": _page_url(request, page.previous_page),
            "here": request.get_full_path(),
        },
        data={
            "count": page.count,
            "next": _page_url(request, page.next_page),
            "tables": [_row_json(row) for row in page.rows],
        },
        rows=selectors.catalogue_csv(_user(request), query) if fmt == "csv" else None,
        fragment="table-rows",
    )


@require_GET
def search(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the tables and columns that hold a word."""
    values = _cleaned(SearchForm(request.GET))
    q, kind = values["q"], values["kind"]
    user = _user(request)
    page = selectors.search_page(user, q=q, kind=kind, page=values["page"] or 1)
    return respond(
        request,
        fmt,
        template="tables/search.html",
        context={
            "page": page,
            "kinds": KINDS,
            "next_url": _page_url(request, page.next_page),
            "previous_url": _page_url(request, page.previous_page),
        },
        data={
            "q": q,
            "count": page.count,
            "next": _page_url(request, page.next_page),
            "tables": [_table_json(table) for table in page.tables],
            "columns": [
                {
                    "table": column.table.full_name,
                    "column": column.path,
                    "type": column.type_text,
                }
                for column in page.columns
            ],
        },
        rows=selectors.search_csv(user, q=q, kind=kind) if fmt == "csv" else None,
    )


# === Register ===


@require_http_methods(["GET", "POST"])
@editor_required
def table_register(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the form and what a check found; a POST registers the table."""
    if request.method == "POST":
        return _register(request)
    return _register_page(request, fmt)


@require_POST
@editor_required
def location_check(request: HttpRequest) -> HttpResponseBase:
    """Queue a look at a location, then show how it goes."""
    form = RegisterForm(request.POST)
    if not form.is_valid():
        return _register_page(request, "html", form=form, status=422)
    location, name = form.cleaned_data["location"], form.cleaned_data["name"]
    try:
        job = services.request_check(
            location=location, now=timezone.now(), requested_by=_user(request)
        )
    except DeltaError as error:
        form.add_error("location", str(error))
        return _register_page(request, "html", form=form, status=422)
    query = {"check": job.id, "location": location, "name": name}
    return redirect(f"{reverse('tables:table-register')}?{urlencode(query)}")


@require_POST
@editor_required
def table_scan(request: HttpRequest) -> HttpResponseBase:
    """Queue the registration of the tables below a folder, then show how it goes."""
    form = ScanForm(request.POST)
    if form.is_valid():
        try:
            job = services.request_scan(
                root=form.cleaned_data["root"],
                now=timezone.now(),
                requested_by=_user(request),
            )
        except DeltaError as error:
            form.add_error("root", str(error))
        else:
            return redirect(f"{reverse('tables:table-register')}?scan={job.id}")
    return _register_page(request, "html", scan_form=form, status=422)


@require_POST
@editor_required
def load_samples(request: HttpRequest) -> HttpResponseBase:
    """Make and register the sample tables, then show them in the catalogue."""
    tables = services.load_samples(now=timezone.now(), created_by=_user(request))
    messages.success(request, f"{len(tables)} sample tables are in the catalog.")
    return redirect("tables:table-list")


def _register(request: HttpRequest) -> HttpResponseBase:
    """Register what a finished check of this user found."""
    form = RegisterForm(request.POST)
    if not form.is_valid():
        return _register_page(request, "html", form=form, status=422)
    values = form.cleaned_data
    job = _own_job(request, values["check"], kind="tables.check_location")
    if job is None or job.state != Job.State.DONE:
        return location_check(request)
    try:
        table = services.register_table(
            name=values["name"],
            location=job.parameters["location"],
            description=values["description"],
            restricted=values["restricted"],
            created_by=_user(request),
            now=timezone.now(),
        )
    except DeltaError as error:
        form.add_error("name", str(error))
        return _register_page(request, "html", form=form, job=job, status=422)
    messages.success(request, f"{table.full_name} is registered.")
    return redirect(table)


def _register_page(  # noqa: PLR0913 (each is one part of the page)
    request: HttpRequest,
    fmt: str,
    *,
    form: RegisterForm | None = None,
    scan_form: ScanForm | None = None,
    job: Job | None = None,
    status: int = 200,
) -> HttpResponseBase:
    values = _cleaned(RegisterQueryForm(request.GET))
    job = job or _own_job(request, values["check"], kind="tables.check_location")
    scan_job = _own_job(request, values["scan"], kind="tables.scan_root")
    location = job.parameters["location"] if job else values["location"]
    found = job.result if job and job.state == Job.State.DONE else None
    name = values["name"] or _suggested_name(location)
    if form is None:
        form = RegisterForm(initial={"location": location, "name": name})
    scanned = scan_job.result if scan_job else None
    return respond(
        request,
        fmt,
        template="tables/table_register.html",
        context={
            "form": form,
            "scan_form": scan_form or ScanForm(),
            "job": job,
            "found": found,
            "found_at": parse_datetime(found["timestamp"]) if found else None,
            "scan_job": scan_job,
            "scanned": scanned,
            "known": Table.objects.filter(location=location).defer("summary")[:3]
            if found
            else [],
            "is_empty": not Table.objects.exists(),
            "roots": services.roots_for(_user(request)),
        },
        data={"check": _job_json(job), "scan": _job_json(scan_job)},
        status=status,
    )


def _own_job(request: HttpRequest, job_id: UUID | None, *, kind: str) -> Job | None:
    """Return a job that this user asked for; another's job is none."""
    if job_id is None:
        return None
    jobs = Job.objects.filter(id=job_id, kind=kind, requested_by=_user(request))
    return jobs.first()


def _suggested_name(location: str) -> str:
    parts = [part for part in location.split("/") if part]
    return str(name_from_path((parts[-1],))) if parts else ""


# === One table ===


@require_http_methods(["GET", "POST"])
@editor_required
def table_settings(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show and change a table's name, description and who sees it."""
    table = selectors.get_table(_user(request), namespace, name)
    form = SettingsForm(
        request.POST or None,
        initial={
            "name": table.full_name,
            "description": table.description,
            "restricted": table.restricted,
        },
    )
    if request.method == "POST" and form.is_valid():
        try:
            services.rename_table(table, name=form.cleaned_data["name"])
        except DeltaError as error:
            form.add_error("name", str(error))
        else:
            services.describe_table(
                table,
                description=form.cleaned_data["description"],
                restricted=form.cleaned_data["restricted"],
            )
            messages.success(request, "Saved.")
            return redirect("tables:table-settings", table.namespace, table.name)
    return _settings_page(request, table, fmt, form=form)


@require_POST
@editor_required
def table_remove(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Take a table out of the catalogue once its name has been typed again."""
    table = selectors.get_table(_user(request), namespace, name)
    form = RemoveForm(request.POST)
    if form.is_valid():
        if form.cleaned_data["confirm"] != table.full_name:
            form.add_error("confirm", f"Type {table.full_name} to remove it.")
        else:
            try:
                services.remove_table(table, now=timezone.now())
            except DeltaError as error:
                form.add_error("confirm", str(error))
            else:
                text = f"{table.full_name} is removed; its files were not touched."
                messages.success(request, text)
                return redirect("tables:table-list")
    return _settings_page(request, table, "html", remove_form=form)


@require_POST
def table_refresh(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Queue an index of the table and go back to the page that asked."""
    user = _user(request)
    table = selectors.get_table(user, namespace, name)
    services.refresh_table(table, now=timezone.now(), requested_by=user)
    return redirect(table)


@require_GET
def table_state(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Say whether the index has moved on; if so the page fetches itself."""
    table = selectors.get_table(_user(request), namespace, name)
    head = selectors.table_head(table)
    now_at = str(int(table.indexed_at.timestamp())) if table.indexed_at else ""
    moved_on = now_at != request.GET.get("since", "") or head.index_job is None
    if moved_on:
        response = HttpResponse(status=204)
        trigger_client_event(response, "page-moved-on", {})
        return response
    return render(request, "tables/_index_watch.html", {"table": table, "head": head})


@require_GET
def version_tip(
    request: HttpRequest, namespace: str, name: str, version: str
) -> HttpResponseBase:
    """Say who made a version and when: the tip of the version timeline."""
    table = selectors.get_table(_user(request), namespace, name)
    number = selectors.requested_version(table, version)
    commit = None if number is None else table.commits.filter(version=number).first()
    return json_response(
        {
            "version": number,
            "operation": commit.operation if commit else None,
            "user": commit.user_name if commit else None,
            "committed_at": commit.committed_at if commit else None,
        }
    )


def _settings_page(
    request: HttpRequest,
    table: Table,
    fmt: str,
    *,
    form: SettingsForm | None = None,
    remove_form: RemoveForm | None = None,
) -> HttpResponseBase:
    failed = any(bound and bound.errors for bound in (form, remove_form))
    if form is None:
        form = SettingsForm(
            initial={
                "name": table.full_name,
                "description": table.description,
                "restricted": table.restricted,
            }
        )
    table = Table.objects.get(id=table.id)  # as stored: a refused name is not its name
    return respond(
        request,
        fmt,
        template="tables/table_settings.html",
        context={
            "head": selectors.table_head(table),
            "table": table,
            "form": form,
            "remove_form": remove_form or RemoveForm(),
        },
        data=_table_json(table),
        status=422 if failed else 200,
    )


# === Shapes ===


def _user(request: HttpRequest) -> User:
    """Return who is signed in: the middleware lets nobody else come here."""
    return cast("User", request.user)


def _cleaned(form: forms.Form) -> dict[str, Any]:
    """Return a query string's values; a hand-edited one that makes no sense is a 400.

    Raises:
        PageError: 400, naming the parameters and what is wrong with each.
    """
    if not form.is_valid():
        faults = (
            f"{name}: {' '.join(str(text) for text in texts)}"
            for name, texts in form.errors.items()
        )
        raise PageError(
            status=400,
            code="query-invalid",
            message=f"The address asks for something odd: {'; '.join(faults)}",
            hint="Correct the address, or start again from the catalog.",
        )
    return form.cleaned_data


def _page_url(request: HttpRequest, page: int | None) -> str | None:
    """Return the address of another page of the same list, or None."""
    if page is None:
        return None
    query = request.GET.copy()
    query["page"] = str(page)
    return f"{request.path}?{query.urlencode()}"


def _table_json(table: Table) -> dict[str, Any]:
    return {
        "name": table.full_name,
        "namespace": table.namespace,
        "table": table.name,
        "location": table.location,
        "description": table.about,
        "restricted": table.restricted,
        "state": table.state,
        "version": table.version,
        "committed_at": table.committed_at,
        "indexed_at": table.indexed_at,
        "num_records": table.num_records,
        "num_files": table.num_files,
        "size_bytes": table.size_bytes,
        "num_columns": table.num_columns,
        "partition_columns": table.partition_columns,
        "error": table.error or None,
        "url": table.get_absolute_url(),
    }


def _row_json(row: selectors.CatalogueRow) -> dict[str, Any]:
    return _table_json(row.table) | {
        "status": row.status,
        "user": row.user_name or None,
        "operation": row.operation or None,
        "commits_30d": row.commits_30d,
        "matched_columns": row.matched_columns,
    }


def _job_json(job: Job | None) -> dict[str, Any] | None:
    if job is None:
        return None
    return {
        "job": job.id,
        "state": job.state,
        "step": job.step,
        "result": job.result,
        "error": job.error or None,
        "error_code": job.error_code or None,
        "hint": job.error_hint or None,
    }
