"""The record of what recipients asked and what people changed."""

from dataclasses import replace
from datetime import UTC

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.permissions import admin_required
from apps.pages.days import day_text
from apps.pages.figures import Chart
from apps.pages.links import Chip, changed, without
from apps.pages.responses import respond
from apps.sharing import charts
from apps.sharing.action_words import action_words
from apps.sharing.forms.activity import (
    KINDS,
    STATUSES,
    ActivityFilter,
    ActivityForm,
)
from apps.sharing.selectors import activity
from apps.sharing.selectors.event_rows import event_data
from apps.sharing.selectors.use_spans import Use, use_of
from apps.tables.views.shapes import cleaned


@require_safe
@admin_required
def activity_list(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """List events by a filter; htmx asks for the next page of them alone."""
    wanted = _wanted(request)
    is_page = fmt == "html" and "HX-Request" not in request.headers
    page = activity.activity_page(wanted) if fmt != "csv" else None
    next_url = (
        changed(request, before=page.next_before) if page and page.next_before else ""
    )
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
            "next_url": next_url,
        },
        data={
            "count": page.count,
            "count_is_exact": page.counted_all,
            "next": (next_url and request.build_absolute_uri(next_url)) or None,
            "events": [event_data(row.event) for row in page.rows],
        }
        if page
        else {},
        rows=activity.activity_csv(wanted) if fmt == "csv" else None,
    )


def _wanted(request: HttpRequest) -> ActivityFilter:
    values = cleaned(ActivityForm(request.GET))
    return ActivityFilter(
        recipient=values["recipient"],
        share=values["share"],
        table=values["table"],
        action=values["action"],
        kind=values["kind"],
        who=values["who"],
        status=values["status"],
        first_day=values["from"],
        last_day=values["to"],
        text=values["q"],
        before=values["before"],
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
