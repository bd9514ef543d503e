"""The pages of lakes: the list, one, and the form that adds one."""

from dataclasses import replace
from typing import Final

from django import forms
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.permissions import editor_required, signed_in
from apps.jobs.waiting import wait_a_glance
from apps.pages.changes.html import change_form
from apps.pages.lists.paging import page_links
from apps.pages.request.changes import ChangeForm
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond, respond_page
from apps.tables.catalogue.lakes.changes import SCAN_NEW, UPDATE
from apps.tables.catalogue.lakes.keys import SCAN_WITH_KEYS
from apps.tables.catalogue.lakes.listing import lake_csv, lake_list, lake_page
from apps.tables.catalogue.lakes.services import LAKE_SCHEDULES
from apps.tables.models import Lake
from apps.tables.models.schedules import SCHEDULES, schedule_words
from apps.tables.storage.roots import roots_for

FIRST_SCHEDULE: Final = "1h"
MAX_PAGE = 1_000_000


def lake_schedules() -> list[tuple[str, str]]:
    """Return the name of each schedule with the words that a list of them shows."""
    return [
        (name, schedule_words(SCHEDULES[name]).capitalize()) for name in LAKE_SCHEDULES
    ]


class LakeListForm(forms.Form):
    """The page of the list."""

    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)


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
    """Show the form that adds a lake; that of an administrator takes keys."""
    change = SCAN_WITH_KEYS if signed_in(request).is_admin else SCAN_NEW
    return _new_page(request, fmt, change_form(change, schedule=FIRST_SCHEDULE))


def lake_new_again(request: HttpRequest, _: None, form: ChangeForm) -> HttpResponseBase:
    """Show the form that adds a lake with its errors."""
    return _new_page(request, "html", form)


def lake_detail(
    request: HttpRequest, lake: Lake, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show a lake, and the form that changes how it is scanned."""
    page = lake_page(lake)
    wait_a_glance(page.job)
    if page.job and not page.job.is_active:
        page = lake_page(lake)  # its counts are those of the scan that has just ended
    resource = page.row.resource
    shown = form or change_form(
        UPDATE, namespace=resource.namespace, schedule=resource.schedule
    )
    return respond(
        request,
        fmt,
        template="tables/catalogue/lake_detail.html",
        context={
            "page": page,
            "lake": page.row.lake,
            "row": page.row,
            "form": shown,
            "schedules": lake_schedules(),
        },
        data=page,
        status=shown.status if shown.errors else 200,
    )


def _new_page(request: HttpRequest, fmt: str, form: ChangeForm) -> HttpResponseBase:
    roots = roots_for(signed_in(request))
    return respond(
        request,
        fmt,
        template="tables/catalogue/lake_new.html",
        context={"form": form, "roots": roots, "schedules": lake_schedules()},
        data={"allowed_roots": roots},
        status=form.status if form.errors else 200,
    )
