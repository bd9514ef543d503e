"""What changed: the commits of all tables, by day."""

from collections.abc import Mapping
from typing import Final

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.explorer.what_changed.selector import (
    DAYS,
    KINDS,
    ME,
    ChangedTable,
    ChangesPage,
    changes_page,
    every_change,
)
from apps.pages.changes.change import VIEWER
from apps.pages.changes.read import Read, reads
from apps.pages.lists.days import day_text
from apps.pages.lists.fields import DayField, WordField
from apps.pages.lists.links import Chip, without
from apps.pages.request.list_page import ListPage
from apps.tables.models import Table

MAX_NAME_LENGTH: Final = 300


def what_changed(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """List the commits of all tables; htmx asks for the next page of them alone."""
    return CHANGED.answer(request, fmt)


def _more(request: HttpRequest, page: ChangesPage) -> Mapping[str, object]:
    is_page = "HX-Request" not in request.headers
    return {
        "chips": _chips(request),
        "today": timezone.now().astimezone(page.zone).date(),
        "namespaces": _namespaces(request) if is_page else [],
        "when_words": DAYS,
        "kind_words": KINDS,
    }


def _namespaces(request: HttpRequest) -> list[str]:
    tables = Table.objects.visible_to(request.user).order_by("namespace")
    return list(tables.values_list("namespace", flat=True).distinct())


def _chips(request: HttpRequest) -> list[Chip]:
    form = CHANGED.form(request.GET)
    form.is_valid()
    found = form.cleaned_data
    by, first, last = (found.get(name) for name in ("by", "from", "to"))
    texts = {
        "when": DAYS.get(found.get("when", ""), ""),
        "by": "by me" if by == ME else by and f"by {by}",
        "kind": KINDS.get(found.get("kind", ""), ""),
        "namespace": found.get("namespace"),
        "from": first and f"from {day_text(first)}",
        "to": last and f"to {day_text(last)}",
    }
    return [
        Chip(text=text, url=without(request, name))
        for name, text in texts.items()
        if text
    ]


CHANGED: Final = ListPage(
    entries="commits",
    template="explorer/what_changed/what_changed.html",
    fragment="changed-rows",
    is_keyset=True,
    filters={
        "when": WordField(DAYS),
        "by": forms.CharField(max_length=MAX_NAME_LENGTH, required=False),
        "kind": WordField(KINDS),
        "namespace": forms.CharField(max_length=MAX_NAME_LENGTH, required=False),
        "from": DayField(),
        "to": DayField(),
    },
    page=changes_page,
    entry=ChangedTable,
    every=every_change,
    more=_more,
)
reads.register(
    Read(
        route="commits",
        view="WhatChanged",
        page="explorer:what-changed",
        shows=CHANGED,
        help="List the commits of all tables, the newest first.",
        role=VIEWER,
    )
)
