"""The pages of lakes: the list, one, and the form that adds one."""

from dataclasses import replace
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from apps.accounts.permissions import editor_required, signed_in
from apps.jobs.waiting import wait_a_glance
from apps.pages.actions import stamp_of
from apps.pages.lists.paging import page_links
from apps.pages.request.changes import ChangeForm
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond, respond_page
from apps.tables.catalogue.lakes.listing import lake_csv, lake_list, lake_page
from apps.tables.catalogue.lakes.scan_job import request_scan
from apps.tables.catalogue.lakes.services import (
    LAKE_SCHEDULES,
    change_lake,
    get_lake,
    remove_lake,
)
from apps.tables.models import Lake
from apps.tables.models.schedules import (
    SCHEDULES,
    schedule_name,
    schedule_words,
)
from apps.tables.storage.locations import MAX_LENGTH as MAX_LOCATION_LENGTH
from apps.tables.storage.roots import roots_for
from deltaweb.delta.errors import DeltaError

MAX_PAGE = 1_000_000


def lake_schedules() -> list[tuple[str, str]]:
    """Return the name of each schedule with the words that a list of them shows."""
    return [
        (name, schedule_words(SCHEDULES[name]).capitalize()) for name in LAKE_SCHEDULES
    ]


class LakeListForm(forms.Form):
    """The page of the list."""

    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)


class LakeRuleForm(ChangeForm):
    """How the tables of a lake are named, and how often it is scanned."""

    namespace = forms.CharField(max_length=200, required=False)
    schedule = forms.ChoiceField(
        choices=lake_schedules,
        required=False,
        initial="1h",
        error_messages={"invalid_choice": "Choose one of the listed schedules."},
    )


class ScanForm(LakeRuleForm):
    """A folder or URL to be scanned for tables."""

    root = forms.CharField(
        max_length=MAX_LOCATION_LENGTH,
        error_messages={"required": "Give a folder or URL to scan."},
    )


@editor_required
def lakes(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the lakes."""
    page = lake_list(cleaned(LakeListForm(request.GET))["page"] or 1)
    page = replace(page, links=page_links(request, page.paged))
    return respond_page(
        request,
        fmt,
        page,
        template="tables/catalogue/lake_list.html",
        rows=lake_csv() if fmt == "csv" else None,
        fragment="lake-rows",
    )


@editor_required
def lake_new(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the form that adds a lake."""
    return _new_page(request, fmt, ScanForm())


@editor_required
def table_scan(request: HttpRequest) -> HttpResponseBase:
    """Queue a scan of a lake, added if it is not one, then show how it goes."""
    form = ScanForm(request.POST)
    if form.is_valid():
        values = form.changes
        try:
            job = request_scan(
                values["root"],
                namespace=values["namespace"],
                schedule=values["schedule"],
                stamp=stamp_of(request),
            )
        except DeltaError as error:
            form.add_error("root", str(error))
        else:
            return redirect(Lake.objects.get(url=job.parameters["root"]))
    return _new_page(request, "html", form, status=422)


@editor_required
def lake_detail(request: HttpRequest, lake_id: UUID, fmt: str) -> HttpResponseBase:
    """Show a lake; a POST changes how it is scanned."""
    lake = get_lake(lake_id)
    present = {
        "namespace": lake.namespace,
        "schedule": schedule_name(lake.scan_interval_s),
    }
    form = LakeRuleForm(request.POST or None, initial=present)
    if request.method == "POST" and form.is_valid():
        try:
            change_lake(
                lake,
                **form.changes,
                stamp=stamp_of(request),
            )
        except DeltaError as error:
            form.add_error("namespace", str(error))
        else:
            messages.success(request, "Saved.")
            return redirect(lake)
    page = lake_page(lake)
    wait_a_glance(page.job)
    if page.job and not page.job.is_active:
        page = lake_page(lake)  # its counts are those of the scan that has just ended
    return respond(
        request,
        fmt,
        template="tables/catalogue/lake_detail.html",
        context={"page": page, "lake": page.row.lake, "row": page.row, "form": form},
        data=page,
        status=422 if form.errors else 200,
    )


@editor_required
def lake_scan(request: HttpRequest, lake_id: UUID) -> HttpResponseBase:
    """Queue a scan of a lake."""
    lake = get_lake(lake_id)
    try:
        request_scan(lake.url, stamp=stamp_of(request))
    except DeltaError as error:
        messages.error(request, str(error))
    return redirect(lake)


@editor_required
def lake_remove(request: HttpRequest, lake_id: UUID) -> HttpResponseBase:
    """Forget a lake; its tables stay."""
    lake = get_lake(lake_id)
    remove_lake(lake, stamp=stamp_of(request))
    messages.success(request, f"{lake.url} is no longer scanned; its tables stay.")
    return redirect("tables:lake-list")


def _new_page(
    request: HttpRequest, fmt: str, form: ScanForm, status: int = 200
) -> HttpResponseBase:
    roots = roots_for(signed_in(request))
    return respond(
        request,
        fmt,
        template="tables/catalogue/lake_new.html",
        context={"form": form, "roots": roots},
        data={"allowed_roots": roots},
        status=status,
    )
