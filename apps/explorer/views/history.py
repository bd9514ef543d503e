"""The commits of a table."""

from datetime import datetime

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.explorer import charts
from apps.explorer.forms import HistoryFilter, parse_history_filter
from apps.explorer.selectors import history
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.zones import user_zone
from apps.pages.days import day_text
from apps.pages.figures import Chart
from apps.pages.links import Chip, changed, without
from apps.pages.responses import respond
from apps.tables.times_note import TIMES_OF


@require_safe
def commit_list(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """List commits by a filter; htmx asks for the next page of rows alone."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    wanted = parse_history_filter(request.GET)
    until = history.commits_until(at.table, None if at.is_latest else at.version)
    page = history.commit_page(until, wanted)
    next_url = changed(request, before=page.next_before) if page.next_before else ""
    is_fragment = "HX-Request" in request.headers
    return respond(
        request,
        fmt,
        template="explorer/commit_list.html",
        fragment="commit-rows",
        context={
            "at": at,
            "head": at.head,
            "table": at.table,
            "wanted": wanted,
            "page": page,
            "times_note": at.times_note,
            "days": history.commits_by_day(page.commits, user_zone(request.user)),
            "today": timezone.now().astimezone(user_zone(request.user)).date(),
            "next_url": next_url,
            "zone": user_zone(request.user),
            "chips": _chips(request, wanted),
            "choices": None if is_fragment else history.history_choices(until),
            "chart": None if is_fragment or fmt != "html" else _chart(at, wanted),
        },
        data={
            **at.describe(),
            "count": page.num_matching,
            "times_of": TIMES_OF,
            "times_note": at.times_note,
            "next": (next_url and request.build_absolute_uri(next_url)) or None,
            "commits": [history.commit_data(commit) for commit in page.commits],
        },
        rows=history.commit_rows(until, wanted),
    )


def _chart(at: TableVersion, wanted: HistoryFilter) -> Chart | None:
    up_to = _chart_end(at, wanted)
    if up_to is None:
        return None
    counts = history.daily_counts(at.table, up_to=up_to, wanted=wanted)
    if not counts.days:
        return None
    which = ", commits that match" if wanted.chooses_commits else ""
    is_cut = wanted.first_day is not None and wanted.first_day < counts.days[0]
    span = f"{'the last ' * is_cut}{len(counts.days)} days"
    return charts.commits_per_day(
        counts.days,
        counts.families,
        note=f"{span}, in UTC{which}",
        height="x-plot-xs",
    )


def _chart_end(at: TableVersion, wanted: HistoryFilter) -> datetime | None:
    """Return where the chart ends: at the newest commit, or the last day asked for."""
    newest = at.commit.committed_at if at.commit else at.table.committed_at
    if newest is None or wanted.last_day is None:
        return newest
    return min(newest, history.end_of(wanted.last_day))


def _chips(request: HttpRequest, wanted: HistoryFilter) -> list[Chip]:
    chips = [
        Chip(text=operation, url=without(request, "op", operation))
        for operation in wanted.operations
    ]
    if wanted.user_name:
        chips.append(Chip(text=f"by {wanted.user_name}", url=without(request, "user")))
    if wanted.first_day:
        text = f"from {day_text(wanted.first_day)}"
        chips.append(Chip(text=text, url=without(request, "from")))
    if wanted.last_day:
        text = f"to {day_text(wanted.last_day)}"
        chips.append(Chip(text=text, url=without(request, "to")))
    if wanted.text:
        chips.append(Chip(text=f"“{wanted.text}”", url=without(request, "q")))
    return chips
