"""The record of what recipients asked and what people changed."""

from dataclasses import replace
from datetime import UTC

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from deltaweb.web.accounts.permissions import admin_required
from deltaweb.web.pages.figures import Chart
from deltaweb.web.pages.lists.days import day_text
from deltaweb.web.pages.lists.links import Chip, without
from deltaweb.web.pages.paging import links_between
from deltaweb.web.pages.request.parameters import cleaned
from deltaweb.web.pages.responses import respond
from deltaweb.web.sharing.activity import charts
from deltaweb.web.sharing.activity import selectors as activity
from deltaweb.web.sharing.activity.action_words import action_words
from deltaweb.web.sharing.activity.forms import (
    KINDS,
    STATUSES,
    ActivityFilter,
    ActivityForm,
)
from deltaweb.web.sharing.activity.use_spans import Use, use_of


@require_safe
@admin_required
def activity_list(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """List events by a filter; htmx asks for the next page of them alone."""
    wanted = ActivityFilter.of(cleaned(ActivityForm(request.GET)))
    is_page = fmt == "html" and "HX-Request" not in request.headers
    page = activity.activity_page(wanted) if fmt != "csv" else None
    links = links_between(request, None, page.next_before if page else None, "before")
    now = timezone.now()
    use = use_of(wanted, now=now) if is_page and wanted.before is None else None
    return respond(
        request,
        fmt,
        template="sharing/activity_list.html",
        fragment="event-rows",
        context={
            "wanted": wanted,
            "page": page,
            "use": use,
            "today": now.astimezone(UTC).date(),
            "charts": _charts(use),
            "chips": _chips(request, wanted),
            "actions": activity.action_choices() if is_page else [],
            "kinds": KINDS,
            "statuses": STATUSES,
            "links": links,
        },
        data={
            "count": page.count,
            "count_is_exact": page.counted_all,
            "next": links.next,
            "events": page.rows,
        }
        if page
        else {},
        rows=activity.activity_csv(wanted) if fmt == "csv" else None,
    )


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
