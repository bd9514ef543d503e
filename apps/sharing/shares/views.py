"""The pages of shares: the list, one share, and what can be changed of it."""

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.changes.html import change_form
from apps.pages.lists.paging import page_links
from apps.pages.page_json import json_with
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond
from apps.sharing.access.grants.plain_cost import PlainCost, plain_cost
from apps.sharing.access.grants.preparing import preparation_to_show
from apps.sharing.access.requests import key_of, what_approval_gives
from apps.sharing.activity.charts import use_charts
from apps.sharing.clients.preflight import preflight
from apps.sharing.clients.snippets import TableName, snippets
from apps.sharing.models import Share, SharedTable
from apps.sharing.names import find_share
from apps.sharing.shares import detail as share_pages
from apps.sharing.shares.forms import ListForm
from apps.sharing.shares.grants import Pair
from apps.sharing.shares.listing import SHARES
from apps.sharing.shares.switching import urls_end_text
from apps.sharing.shares.tables.changes import ADD_BY_PAGE, UPDATE
from apps.tables.access.requested import AccessRequestResource, request_resources
from apps.tables.models import AccessRequest, Table

PROFILE_FILE_NAME = "profile.share"


@admin_required
def share_list(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """Show the shares; htmx asks for the list alone."""
    return SHARES.answer(request, fmt)


@admin_required
def share_detail(request: HttpRequest, *, name: str, fmt: str) -> HttpResponseBase:
    """Show a share; `?edit=` opens the form of one of its tables, `?add=` another."""
    return _share_page(request, find_share(name), fmt)


# === Tables ===


def add_again(request: HttpRequest, share: Share, form: forms.Form) -> HttpResponseBase:
    """Show the page with the form of a new table and its errors."""
    return _share_page(request, share, "html", add_form=form)


def edit_again(
    request: HttpRequest, shared: SharedTable, form: forms.Form
) -> HttpResponseBase:
    """Show the page with the form of a table and its errors."""
    return _share_page(
        request, find_share(shared.share.name), "html", edit=shared.id, edit_form=form
    )


@admin_required
def table_options(request: HttpRequest) -> HttpResponse:
    """Suggest tables by a part of their name, as the options of a list."""
    q = request.GET.get("table", "")[:200].replace("\x00", "")
    tables, _ = share_pages.table_choices(q=q, page=1)
    return render(request, "sharing/shares/_table_options.html", {"tables": tables})


def grant_again(request: HttpRequest, pair: Pair, form: forms.Form) -> HttpResponseBase:
    """Show the page with the form of a grant and its errors."""
    return _share_page(request, pair.share, "html", grant_form=form)


# === Parts ===


def _share_page(  # noqa: PLR0913 (each is one form of the page)
    request: HttpRequest,
    share: Share,
    fmt: str,
    *,
    add_form: forms.Form | None = None,
    edit: UUID | None = None,
    edit_form: forms.Form | None = None,
    grant_form: forms.Form | None = None,
) -> HttpResponseBase:
    bound = (add_form, edit_form, grant_form)
    failed = any(form is not None and form.errors for form in bound)
    page = cleaned(ListForm(request.GET))["page"] or 1
    detail = share_pages.share_detail(share, now=timezone.now(), page=page)
    links = page_links(request, detail.paged)
    editing = share_pages.edited_table(share, str(edit or request.GET.get("edit", "")))
    adding = share_pages.find_table(
        add_form.data.get("table", "") if add_form else request.GET.get("add", "")
    )
    return respond(
        request,
        fmt,
        template="sharing/shares/share_detail.html",
        context={
            "share": share,
            "detail": detail,
            "preparation": preparation_to_show(share) if detail.has_rules else None,
            "urls_end": urls_end_text(share, now=timezone.now()),
            "charts": use_charts(detail.use.days),
            "snippets": _snippets(share, detail),
            "snippet_key": request.GET.get("lang", "pandas"),
            "links": links,
            "is_adding": add_form is not None or "add" in request.GET,
            "adding": adding,
            "adding_preflight": preflight(adding) if adding else None,
            "plain_cost": _plain_cost(editing, adding),
            "add_form": add_form or _add_form(adding),
            "editing": editing,
            "edit_form": edit_form or _edit_form(editing),
            "grant_form": grant_form,
            "choices": share_pages.ungranted_recipients(share, q=""),
            "tables": share_pages.table_choices(q="", page=1)[0],
            "requests": _open_requests(share),
            "gives": what_approval_gives(share),
        }
        if fmt == "html"
        else {},
        data=json_with(detail, next=links.next) if fmt == "json" else {},
        status=422 if failed else 200,
    )


def _open_requests(share: Share) -> list[AccessRequestResource]:
    now = timezone.now()
    found = AccessRequest.objects.open(now).filter(other=key_of(share)).order_by("id")
    return list(request_resources(found, now=now))


def _plain_cost(
    editing: share_pages.SharedTableRow | None, adding: Table | None
) -> PlainCost | None:
    """Return the cost of plain files of the table whose form is shown."""
    table = editing.shared_table.table if editing else adding
    return plain_cost([table]) if table else None


def _edit_form(row: share_pages.SharedTableRow | None) -> forms.Form | None:
    return None if row is None else change_form(UPDATE, **row.shared_table.offer)


def _add_form(adding: Table | None) -> forms.Form:
    table = adding.full_name if adding else ""
    return change_form(ADD_BY_PAGE, **SharedTable().offer, table=table)


def _snippets(share: Share, detail: share_pages.ShareDetail) -> list[Any]:
    tables = [
        TableName(
            share=share.name, schema=row.shared_table.schema, name=row.shared_table.name
        )
        for row in sorted(detail.tables, key=lambda row: not row.preflight.is_clean)
    ]
    if not tables:
        return []
    return snippets(
        endpoint=f"{settings.PUBLIC_URL}/delta-sharing/",
        profile_file_name=PROFILE_FILE_NAME,
        tables=tables,
    )
