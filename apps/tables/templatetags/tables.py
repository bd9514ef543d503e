"""The tabs and links of a table's head, the version strip and the sparkline."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django import template
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.dateformat import format as date_format

from apps.accounts.zones import user_zone
from apps.jobs.models import Job
from apps.pages.lists.links import changed
from apps.pages.request.list_page import ListQuery
from apps.pages.request.prefetching import is_prefetch
from apps.tables.catalogue.facets import FacetValue
from apps.tables.catalogue.forms import STATUSES
from apps.tables.catalogue.lakes.scan_job import running_scans
from apps.tables.catalogue.organizing.pins import visit
from apps.tables.catalogue.organizing.tree import (
    Branch,
    TreeLine,
    branch_of,
    lines_of,
)
from apps.tables.extension import tabs
from apps.tables.extension.search_kinds import kinds_for
from apps.tables.head.table_head import TIMES, TableHead
from apps.tables.index.explained import newest_files_read
from apps.tables.models import Table
from apps.tables.models.news import (
    HEALTH,
    LAKES,
    TABLE,
    TABLES,
    health_revision,
    lakes_revision,
    table_revision,
    tables_revision,
)
from apps.tables.storage.received import is_received
from apps.tables.versions.timeline import Run, Tick, mini_runs
from deltaweb.delta.log import versions

register = template.Library()

OVERVIEW = "explorer:table-overview"
VERSION_PARTS = {"version", "before", "after"}  # of an address
STATE_WORDS = {
    versions.READABLE: "readable",
    versions.PARTLY: "partly readable",
    versions.FILES_GONE: "gone",
    versions.GONE: "gone",
    versions.UNSUPPORTED: "not read here",
}
STATE_DOTS = {
    versions.READABLE: "ok",
    versions.PARTLY: "part",
    versions.UNSUPPORTED: "unread",
    versions.FILES_GONE: "gone",
    versions.GONE: "gone",
}
STATUS_DOTS = {"indexed": "ok", "unsupported": "part", "behind": "part"}
KEPT_LINES: Final = 10_000  # of trees, each of less than 1 KB
KEPT_ROWS: Final = 10_000  # of the catalog, likewise
SPARK_WIDTH, SPARK_HEIGHT = 84.0, 22.0  # px
SPARK_GAP = 0.3  # of a day's width


class MiniShape(NamedTuple):
    """The class, the top and the height of a run in the small strip."""

    css: str
    top: int
    height: int


MINI_SHAPES: Final = {
    versions.READABLE: MiniShape("dw-v2", 0, 16),
    versions.PARTLY: MiniShape("dw-v1", 6, 10),
    versions.UNSUPPORTED: MiniShape("dw-vu", 3, 13),
    versions.FILES_GONE: MiniShape("dw-v0", 11, 5),
    versions.GONE: MiniShape("dw-v0", 11, 5),
}


@register.filter
def table_news(table: Table) -> str:
    """Name what a part hears of a table (`news.js`)."""
    return f"{TABLE}:{table.id}@{table_revision(table)}"


@register.simple_tag(takes_context=True)
def scans_of_lakes(context: Context) -> list[Job]:
    """Return the scans of lakes that wait or run; viewers do not see lakes."""
    return running_scans() if context["request"].user.is_editor else []


@register.simple_tag(takes_context=True)
def tables_news(context: Context) -> str:
    """Name what a part hears of all the tables that its reader may see."""
    return f"{TABLES}@{tables_revision(context['request'].user)}"


@register.simple_tag(takes_context=True)
def health_news(context: Context) -> str:
    """Name what a part hears of the findings that its reader may see."""
    return f"{HEALTH}@{health_revision(context['request'].user)}"


@register.simple_tag
def lakes_news() -> str:
    """Name what the list of lakes hears of."""
    return f"{LAKES}@{lakes_revision()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TabLink:
    """A tab as a link; it keeps the version that the page shows."""

    label: str
    url: str
    current: bool
    count: int
    counted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonLink:
    """A button of the head as a link; a page with a primary button has no second.

    `is_short` is one that stays, by its icon, where there is little room; `drawer` are
    the parts of the page's address that go with it, where it opens beside the page:
    that may have moved on since it was made.
    """

    label: str
    icon: str
    url: str
    primary: bool
    is_short: bool
    drawer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadLinks:
    """Where the head's links lead: `base_url` is the current tab without a version.

    `json_url` is the table's JSON form at the version that is shown.

    `is_pinned` tells whether the page's own address names what it shows;
    `names_version` whether its path does, as that of a commit or a comparison; `folds`
    whether the head is one line where there is little room; `is_received` whether the
    table belongs to somebody else, so that nothing is offered that would change it.
    """

    tabs: list[TabLink]
    buttons: list[ButtonLink]
    base_url: str
    json_url: str
    is_pinned: bool
    names_version: bool
    folds: bool
    is_received: bool


@register.simple_tag(takes_context=True)
def table_links(context: template.Context, head: TableHead) -> HeadLinks:
    """Return the links of the head of the page that is being rendered."""
    request = context["request"]
    match, user = request.resolver_match, request.user
    view_name = match.view_name if match else ""
    current = tabs.current_tab(view_name)
    names = {"namespace": head.table.namespace, "name": head.table.name}
    query = "" if head.is_latest else f"?v={head.version}"
    received = is_received(head.table.location)
    names_version = not VERSION_PARTS.isdisjoint(match.kwargs if match else ())
    return HeadLinks(
        tabs=[
            TabLink(
                label=tab.label,
                url=reverse(tab.url_name, kwargs=names) + query,
                current=tab is current,
                count=tab.count(user, head.table),
                counted=tab.counted,
            )
            for tab in tabs.tabs_for(user, head.table, is_received=received)
            if not tab.right or getattr(head.table, f"may_{tab.right}", False)
        ],
        buttons=[
            ButtonLink(
                label=button.label,
                icon=button.icon,
                url=_button_url(button, request, head),
                primary=button.is_primary
                and current is not None
                and current.url_name != button.url_name,
                is_short=button.is_drawer,
                drawer=" ".join(button.keeps)
                if button.is_drawer and view_name != button.url_name
                else "",
            )
            for button in tabs.buttons_for(user, is_received=received)
        ],
        base_url=reverse(_base_page(current, view_name), kwargs=names),
        json_url=reverse(f"{OVERVIEW}-json", kwargs=names) + query,
        is_pinned=bool(request.GET.get("v")) or names_version,
        names_version=names_version,
        folds=view_name != OVERVIEW,
        is_received=received,
    )


def _base_page(current: tabs.Tab | None, view_name: str) -> str:
    """Return the page that a version is picked for: the tab's, or one below it."""
    if current is None:
        return OVERVIEW
    return view_name if view_name in current.picks else current.url_name


def _button_url(button: tabs.HeadButton, request: HttpRequest, head: TableHead) -> str:
    names = {"namespace": head.table.namespace, "name": head.table.name}
    address = reverse(button.url_name, kwargs=names)
    if not button.keeps:
        return f"{address}{button.anchor}"
    query = [] if head.version is None else [("v", str(head.version))]
    query += [
        (key, value) for key in button.keeps for value in request.GET.getlist(key)
    ]
    return f"{address}{'?' * bool(query)}{urlencode(query)}{button.anchor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineDates:
    """What is written below a timeline, in the reader's time zone.

    Attributes:
        first: At its beginning; "" where that is not known, as for `last`.
        ticks: Between, none of them twice.
    """

    first: str
    last: str
    ticks: list[tuple[Tick, str]]


@register.simple_tag(takes_context=True)
def timeline_dates(context: Context, head: TableHead) -> TimelineDates:
    """Return what is written below the timeline."""
    zone = user_zone(getattr(context.get("request"), "user", AnonymousUser()))
    today = timezone.now().astimezone(zone).date()
    begins, others = head.date_formats(today=today, zone=zone)

    def text(at: datetime | None, spelling: str) -> str:
        return "" if at is None else date_format(at.astimezone(zone), spelling)

    first, last = head.first_at, head.table.committed_at
    said = {text(first, others), text(last, others)}
    ticks = []
    is_a_day = others == TIMES
    for tick in head.ticks_within_a_day(zone) if is_a_day else head.ticks:
        label = text(tick.at, others)
        if label not in said:
            said.add(label)
            ticks.append((tick, label))
    ends = f"{others} T" if is_a_day else others  # a time says its zone
    return TimelineDates(first=text(first, begins), last=text(last, ends), ticks=ticks)


@register.filter
def version_strip(table: Table) -> str:
    """Draw the small version strip of a table; return "" if it has no version."""
    runs = tuple(mini_runs(table.summary))
    return _version_strip(runs, table.version) if runs else ""


@lru_cache(maxsize=KEPT_ROWS)
def _version_strip(runs: tuple[Run, ...], version: int | None) -> str:
    context = {"runs": runs, "version": version}
    return render_to_string("tables/catalogue/_version_strip.html", context)


@register.filter
def commit_bars(counts: Sequence[object]) -> str:
    """Draw a bar for the number of commits of each day."""
    return _commit_bars(tuple(one if isinstance(one, int) else 0 for one in counts))


@lru_cache(maxsize=KEPT_ROWS)
def _commit_bars(counts: tuple[int, ...]) -> str:
    context = {"counts": counts}
    return render_to_string("tables/catalogue/_commit_bars.html", context)


@register.filter
def state_word(state: str) -> str:
    """Say the state of a version in a word."""
    return STATE_WORDS.get(state, state.lower())


@register.filter
def state_dot(state: str) -> str:
    """Return the class of the dot beside the word."""
    return STATE_DOTS.get(state, "")


@register.filter
def sparkline(counts: Sequence[object]) -> str:
    """Return the path of a bar a day, 84 px wide; a day without commits is a line."""
    numbers = [max(count, 0) if isinstance(count, int) else 0 for count in counts]
    if not numbers:
        return ""
    width, top = SPARK_WIDTH / len(numbers), max(numbers) or 1
    bars = []
    for day, number in enumerate(numbers):
        height = max(2.0, (SPARK_HEIGHT - 2) * number / top) if number else 1.0
        bars.append(
            f"M{day * width:.1f} {SPARK_HEIGHT:.0f}v{-height:.1f}"
            f"h{width * (1 - SPARK_GAP):.1f}v{height:.1f}z"
        )
    return "".join(bars)


@register.filter
def status_word(status: str) -> str:
    """Say a table's state in a word."""
    return STATUSES.get(status, status)


@register.filter
def status_dot(status: str) -> str:
    """Return the class of the dot beside the word."""
    if status == "new":
        return ""
    return STATUS_DOTS.get(status, "gone")


@register.filter
def mini_shape(run: Run) -> MiniShape:
    """Return how a run is drawn in the small strip."""
    return MINI_SHAPES[run.state]


@register.filter
def strip_title(runs: Sequence[Run]) -> str:
    """Say how many versions can be read: `93 of 413 versions readable`."""
    counts = {run.state: 0 for run in runs}
    for run in runs:
        counts[run.state] += run.last - run.first + 1
    by_word: dict[str, int] = {}
    for state, count in counts.items():
        word = STATE_WORDS[state]
        by_word[word] = by_word.get(word, 0) + count
    words = (f"{count:,} {word}" for word, count in by_word.items())
    return "Versions: " + ", ".join(words)


@register.simple_tag(takes_context=True)
def facet_url(context: Context, name: str, value: str) -> str:
    """Return the catalogue's address with a facet set to a value, or without it."""
    return changed(context["request"], **{name: value or None, "page": None})


@register.simple_tag(takes_context=True)
def opened(context: Context, table: Table) -> bool:
    """Note that the reader opened a page of a table; return whether it is pinned.

    A page that is fetched ahead is not opened yet.
    """
    if is_prefetch():
        return False
    return visit(context["request"].user, table, now=timezone.now())


@register.simple_tag(takes_context=True)
def chosen_branch(context: Context, query: ListQuery) -> Branch | None:
    """Return the tables of the namespace that the list shows; None for all."""
    if not query["namespace"]:
        return None
    return branch_of(context["request"].user, dict(query.filters))


@register.simple_tag(takes_context=True)
def tree_lines(
    context: Context, query: ListQuery, namespaces: Sequence[FacetValue]
) -> list[TreeLine]:
    """Return the namespaces that the tree of the catalog lists."""
    return lines_of(context["request"], query.filters, namespaces)


@register.filter
@lru_cache(maxsize=KEPT_LINES)
def tree_line(line: TreeLine) -> str:
    """Draw a namespace of the tree; cached, because there are hundreds."""
    return render_to_string("tables/catalogue/_tree_line.html", {"one": line})


@register.simple_tag(takes_context=True)
def search_words(context: Context, most: int | None = None) -> str:
    """Say what the search looks through, or the first of it: tables, columns."""
    user = getattr(context.get("request"), "user", None)
    kinds = kinds_for(user) if user is not None else []
    words = ["tables", "columns", *(kind.label.lower() for kind in kinds)]
    return ", ".join(words[:most])


@register.simple_tag
def samples_job() -> Job | None:
    """Return the newest job that makes the sample tables, or None."""
    jobs = Job.objects.filter(kind="tables.load_samples")
    return jobs.order_by("-created_at").first()


@register.filter
def total(counts: Sequence[object]) -> int:
    """Return the sum of what is a number."""
    return sum(count for count in counts if isinstance(count, int))


@register.inclusion_tag("tables/_files_read.html")
def files_that_match(table: Table, condition: str) -> dict[str, object]:
    """Say how many files of the newest version a condition reads, if it is known."""
    found = newest_files_read(table, condition) if condition else None
    return {"table": table, "condition": condition, "found": found}
