"""The commits of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Annotated

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.zones import user_zone
from apps.explorer.history import selector as history
from apps.explorer.history.chart import commits_per_day
from apps.explorer.history.form import HistoryFilter, parse_history_filter
from apps.explorer.version.page import TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion
from apps.pages.figures import Chart
from apps.pages.lists.days import day_text
from apps.pages.lists.links import Chip, without
from apps.pages.lists.paging import PageLinks, links_between
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.responses import respond_page
from apps.tables.models import Commit


@dataclass(frozen=True, kw_only=True)
class HistoryPage(TablePage):
    """Commits by a filter."""

    commits: history.CommitsOfPage
    num_matching: Annotated[int, Named("count")]
    num_commits: OnPage[int]
    links: Spread[PageLinks]
    wanted: OnPage[HistoryFilter]
    times_of: str
    times_note: str
    days: OnPage[Sequence[tuple[date, list[Commit]]]]
    today: OnPage[date]
    zone: OnPage[tzinfo]
    chips: OnPage[Sequence[Chip]]
    choices: OnPage[dict[str, list[tuple[str, int]]] | None]
    chart: OnPage[Chart | None]


def commit_list(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """List commits by a filter; htmx asks for the next page of rows alone."""
    wanted = parse_history_filter(request.GET)
    until = history.commits_until(at.table, None if at.is_latest else at.version)
    commits, next_before = history.commit_page(until, wanted)
    num_commits = until.count()
    zone = user_zone(request.user)
    is_fragment = "HX-Request" in request.headers
    page = HistoryPage(
        at=at,
        commits=commits,
        num_matching=num_commits
        if wanted.is_empty
        else history.matching_commits(until, wanted).count(),
        num_commits=num_commits,
        links=links_between(request, None, next_before, "before"),
        wanted=wanted,
        times_of=at.times_of,
        times_note=at.times_note,
        days=history.commits_by_day(commits, zone),
        today=timezone.now().astimezone(zone).date(),
        zone=zone,
        chips=_chips(request, wanted),
        choices=None if is_fragment else history.history_choices(until),
        chart=None if is_fragment or fmt != "html" else _chart(at, wanted),
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/history/commit_list.html",
        fragment="commit-rows",
        rows=history.commit_rows(until, wanted),
    )


def _chart(at: TableVersion, wanted: HistoryFilter) -> Chart | None:
    up_to = _chart_end(at, wanted)
    if up_to is None:
        return None
    days, families = history.daily_counts(at.table, up_to=up_to, wanted=wanted)
    if not days:
        return None
    which = ", commits that match" if wanted.chooses_commits else ""
    is_cut = wanted.first_day is not None and wanted.first_day < days[0]
    span = f"{'the last ' * is_cut}{len(days)} days"
    return commits_per_day(
        days,
        families,
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


table_read(
    "/versions",
    "TableVersions",
    "commit-list",
    HistoryPage,
    "List versions, the newest first.",
)
