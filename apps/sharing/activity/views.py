"""The record of what recipients asked and what people changed."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import admin_required
from apps.pages.changes.change import ADMIN
from apps.pages.changes.read import Read, reads
from apps.pages.figures import Chart
from apps.pages.lists.days import day_text
from apps.pages.lists.links import Chip, without
from apps.pages.request.list_page import ListPage, ListQuery
from apps.sharing.activity import charts
from apps.sharing.activity import selectors as activity
from apps.sharing.activity.action_words import action_words
from apps.sharing.activity.event_rows import EventResource
from apps.sharing.activity.forms import FILTERS, KINDS, STATUSES, ActivityFilter
from apps.sharing.activity.selectors import ActivityPage
from apps.sharing.activity.use_spans import Use, use_of


@admin_required
def activity_list(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """List events by a filter; htmx asks for the next page of them alone."""
    return ACTIVITY.answer(request, fmt)


def _page(_user: object, query: ListQuery, _now: datetime) -> ActivityPage:
    return activity.activity_page(ActivityFilter.of(query))


def _more(request: HttpRequest, page: ActivityPage) -> dict[str, object]:
    wanted, now = page.wanted, timezone.now()
    is_page = "HX-Request" not in request.headers
    use = use_of(wanted, now=now) if is_page and wanted.before is None else None
    return {
        "wanted": wanted,
        "use": use,
        "today": now.astimezone(UTC).date(),
        "charts": _charts(use),
        "chips": _chips(request, wanted),
        "actions": activity.action_choices() if is_page else [],
        "kinds": KINDS,
        "statuses": STATUSES,
    }


def _charts(use: Use | None) -> list[Chart]:
    if use is None or use.is_empty:
        return []
    drawn = [charts.requests_per_day(use.days, note=use.note)]
    if use.size_bytes:
        drawn.append(charts.bytes_per_day(use.days))
    # The first event belongs on the first screen: the pictures above it are low.
    return [replace(chart, height="x-plot-xs") for chart in drawn]


def _chips(request: HttpRequest, wanted: ActivityFilter) -> list[Chip]:
    texts = {
        "recipient": wanted.recipient,
        "share": wanted.share and f"share {wanted.share}",
        "table": wanted.table and f"table {wanted.table}",
        "action": wanted.action and action_words(wanted.action),
        "kind": wanted.kind and KINDS[wanted.kind],
        "who": wanted.who and f"by {wanted.who}",
        "status": wanted.status and STATUSES[wanted.status],
        "from": wanted.first_day and f"from {day_text(wanted.first_day)}",
        "to": wanted.last_day and f"to {day_text(wanted.last_day)}",
        "q": wanted.text and f"“{wanted.text}”",
    }
    return [
        Chip(text=text, url=without(request, name))
        for name, text in texts.items()
        if text
    ]


ACTIVITY: Final = ListPage(
    entries="events",
    template="sharing/activity/activity_list.html",
    fragment="event-rows",
    is_keyset=True,
    filters=FILTERS,
    page=_page,
    entry=EventResource,
    every=lambda _user, query, _now: activity.activity_rows(ActivityFilter.of(query)),
    more=_more,
)
reads.register(
    Read(
        route="activity",
        view="Activity",
        page="sharing:activity-list",
        shows=ACTIVITY,
        help="List requests of recipients and changes by users, the newest first.",
        role=ADMIN,
    )
)
