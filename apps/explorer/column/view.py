"""One column of a table, and the profile of its values on request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Annotated, Any, Final

import plotly.graph_objects as go
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from apps.accounts.models import User
from apps.accounts.permissions import signed_in
from apps.explorer.column.histogram import histogram_chart
from apps.explorer.column.selector import ColumnPage, column_page, profile_of
from apps.explorer.columns.ranges import ColumnRanges, RangeBar, RangeStrip
from apps.explorer.columns.tree import SchemaColumn
from apps.explorer.drawing import MAX_TICK, as_written, plain_figure
from apps.explorer.files.chart import MAX_TABLE_ROWS
from apps.explorer.grid import cell
from apps.explorer.version.page import JobOfPage, TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_version
from apps.jobs.models import Job
from apps.jobs.waiting import wait_a_glance
from apps.pages.errors import PageError
from apps.pages.figures import ACCENT, GRID, MIN_BARS, Chart, percent, ticks_at
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.responses import respond_page
from apps.tables.head.job_json import NotIndexedError
from apps.tables.work.profile import PROFILE, Profile
from deltaweb.delta.profile.described import ColumnProfile

MAX_TOP: Final = 10  # most frequent values
MAX_VALUE: Final = 60  # characters of a value
_DAY_MS: Final = 86_400_000
_DATES: Final = (  # as all pages write them, by how far ticks are apart
    {"dtickrange": [None, _DAY_MS - 1], "value": "%H:%M\n%-d %b %Y"},
    {"dtickrange": [_DAY_MS, "M1"], "value": "%-d %b\n%Y"},
    {"dtickrange": ["M1", None], "value": "%b %Y"},
)


def file_ranges(strip: RangeStrip, type_text: str) -> Chart:
    """Draw from where to where each file, or each few files, reach."""
    bars = strip.bars
    texts = [_range_text(bar) for bar in bars]
    widths = [bar.high - bar.low for bar in bars]
    trace = go.Bar(
        orientation="h",
        y=list(range(len(bars))),
        base=[bar.low for bar in bars],
        x=widths,
        customdata=[as_written(text) for text in texts],
        marker={
            "color": ACCENT,
            "opacity": 0.75,
            "line": {"width": 1, "color": ACCENT},
        },
        hovertemplate="%{customdata}<extra></extra>",
    )
    xaxis: dict[str, Any] = {"nticks": 6, "showgrid": True, "gridcolor": GRID}
    if strip.scale == "time":
        xaxis |= {"type": "date", "tickformatstops": _DATES}
    elif strip.scale == "order":
        xaxis |= _order_ticks(bars)
    figure = plain_figure(
        [trace],
        xaxis=xaxis,
        yaxis={
            "title": {"text": f"{strip.num_files:,} files", "standoff": 4},
            "showticklabels": False,
            "showgrid": False,
            "autorange": "reversed",
        },
        margin={"l": 24, "r": 4, "t": 8, "b": 36 if strip.scale == "time" else 22},
        bargap=0.1,
    )
    is_binned = any(bar.num_files > 1 for bar in bars)
    notes = [
        f"a bar is about {bars[0].num_files:,} files" if is_binned else "a bar a file",
        "in order, not to scale" if strip.scale == "order" else "",
        f"{strip.sampled:,} files sampled" if strip.sampled else "",
        "in UTC" if type_text == "timestamp" else "",
    ]
    return Chart(
        name="file-ranges",
        label=f"Smallest and largest {type_text} of {strip.num_files:,} files",
        figure=figure,
        header=("Range", "Files"),
        rows=[(text, bar.num_files) for text, bar in zip(texts, bars, strict=True)][
            :MAX_TABLE_ROWS
        ],
        note=", ".join(note for note in notes if note),
        height="x-plot-l",
        words=f"One file has a range: {texts[0]}." if len(bars) < MIN_BARS else "",
    )


def _range_text(bar: RangeBar) -> str:
    low, high = (
        cell(value, UTC).text[:MAX_VALUE] for value in (bar.minimum, bar.maximum)
    )
    files = f", {bar.num_files:,} files" if bar.num_files > 1 else ""
    return f"{low} to {high}{files}"


def _order_ticks(bars: Sequence[RangeBar]) -> dict[str, Any]:
    """Return the values at some places of the order."""
    ends = {bar.low: bar.minimum for bar in bars} | {
        bar.high: bar.maximum for bar in bars
    }
    places = sorted(ends)
    step = max(-(-len(places) // 5), 1)
    chosen = places[::step]
    texts = (cell(ends[place], UTC).text[:MAX_TICK] for place in chosen)
    return ticks_at(chosen, map(as_written, texts))


PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentValue:
    """A value and how often it is there.

    `percent` is of the rows, `share` of the most frequent value's count.
    """

    text: str
    count: int
    percent: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownProfile:
    """A profile ready to render; None is unknown for this type.

    Attributes:
        facts: Label and value: extremes, mean, lengths.
    """

    num_rows: int
    num_nulls: int
    null_percent: float
    num_distinct: int | None
    distinct_percent: float | None
    facts: tuple[tuple[str, str], ...]
    quantiles: tuple[tuple[str, str], ...]
    top: tuple[FrequentValue, ...]
    top_error: int
    num_nan: int | None
    chart: Chart | None


def shown_profile(found: ColumnProfile) -> ShownProfile:
    """Return a profile as the page shows it."""
    rows, nulls, distinct = found.num_rows, found.num_nulls, found.num_distinct
    present = rows - nulls
    most = max((count for _, count in found.top), default=0)
    return ShownProfile(
        num_rows=rows,
        num_nulls=nulls,
        null_percent=percent(nulls, rows, digits=2),
        num_distinct=distinct,
        distinct_percent=None
        if distinct is None
        else percent(distinct, present, digits=2),
        facts=_facts(found),
        quantiles=tuple((_share(share), value) for share, value in found.quantiles),
        top=tuple(
            FrequentValue(
                text=text,
                count=count,
                percent=percent(count, rows, digits=2),
                share=percent(count, most, digits=2),
            )
            for text, count in found.top[:MAX_TOP]
        ),
        top_error=found.top_error,
        num_nan=found.num_nan,
        chart=histogram_chart(found),
    )


def _facts(found: ColumnProfile) -> tuple[tuple[str, str], ...]:
    facts = [
        (label, text or '""')
        for label, text in (("Smallest", found.minimum), ("Largest", found.maximum))
        if text is not None
    ]
    facts += [
        (label, f"{number:.6g}")
        for label, number in (
            ("Mean", found.mean),
            ("Standard deviation", found.deviation),
        )
        if number is not None
    ]
    if found.max_length is not None:
        reach = f"{found.min_length:,} to {found.max_length:,}"
        facts.append(("Length", f"{reach}, {found.mean_length:.4g} on average"))
    facts += [
        (label, f"{count:,}")
        for label, count in (("Empty", found.num_empty), ("NaN", found.num_nan))
        if count
    ]
    return tuple(facts)


def _share(share: float) -> str:
    names = {0.0: "least", 0.5: "median", 1.0: "most"}
    return names.get(share, f"{share * PERCENT:.0f} %")


@dataclass(frozen=True, kw_only=True)
class Column(TablePage):
    """A column; without `page` nothing is indexed."""

    page: Spread[ColumnPage | None]
    result: Annotated[object, Named("profile")]
    job: JobOfPage
    address: OnPage[str]
    profile: OnPage[ShownProfile | None]

    @property
    def column(self) -> SchemaColumn | None:
        return self.page.column if self.page else None

    @property
    def ranges(self) -> ColumnRanges | None:
        """What files tell of it."""
        return self.page.ranges if self.page else None

    @property
    def children(self) -> Sequence[tuple[SchemaColumn, str]]:
        """The columns right below, and their pages."""
        below = self.page.children if self.page else ()
        return [(child, column_url(self.at, child.address)) for child in below]

    @property
    def chart(self) -> Chart | None:
        """From where to where the files reach."""
        strip = self.ranges.strip if self.ranges else None
        return (
            file_ranges(strip, self.column.type_text) if strip and self.column else None
        )


def column_detail(
    request: HttpRequest, at: TableVersion, column: str, fmt: str
) -> HttpResponseBase:
    """Show a column: what files tell, how it came about, and its profile if asked."""
    if not at.is_indexed:
        return _answer(request, at, None, column, fmt)
    try:
        page = column_page(at, column)
    except PageError:
        if fmt != "json":
            raise
        # The page of a column whose own name ends so.
        page, fmt = column_page(at, f"{column}.json"), "html"
    return _answer(request, at, page, column, fmt)


def column_profile(request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
    """Ask for the profile of a column; the page shows it, or how far it is.

    The page that asked is shown again, if it gives its address as `next`.
    """
    user, wanted = signed_in(request), request.POST.get("v", "")
    column, asked_on = request.POST.get("column", ""), request.POST.get("next", "")
    job, url = request_profile(user, namespace, name, wanted, column)
    wait_a_glance(job)
    if url_has_allowed_host_and_scheme(asked_on, allowed_hosts=None):
        return HttpResponseRedirect(asked_on)
    return HttpResponseRedirect(f"{url}#profile")


def request_profile(
    user: User, namespace: str, name: str, version: str, column: str
) -> tuple[Job, str]:
    """Queue the profile of a column; return the job and the page of the column."""
    at = table_version(user, namespace, name, version)
    if at.version is None:
        raise NotIndexedError(table=at.table.full_name)
    page = column_page(at, column)
    if at.unreadable_reason or not page.can_be_profiled:
        raise PageError(
            status=409,
            code="not-profiled",
            message=at.unreadable_reason
            or f"The values of {page.column.path} cannot be read on their own.",
            hint="Choose another version or another column.",
        )
    asked = Profile(version=at.version, column=page.column.names)
    job = PROFILE.request(at.table, asked, requested_by=user, now=timezone.now())
    return job, column_url(at, page.column.address)


def column_url(at: TableVersion, address: str) -> str:
    """Return the page of a column, at the version that is shown."""
    table = at.table
    names = [table.namespace, table.name, address]
    return f"{reverse('explorer:column-detail', args=names)}{at.pin}"


def _answer(
    request: HttpRequest,
    at: TableVersion,
    found: ColumnPage | None,
    address: str,
    fmt: str,
) -> HttpResponseBase:
    job, profile = profile_of(at, found.column) if found else (None, None)
    page = Column(
        at=at,
        page=found,
        result=profile,
        job=job,
        address=address,
        profile=shown_profile(profile) if profile else None,
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/column/column_detail.html",
        fragment="profile",
    )


table_read(
    "/schema/<path:column>",
    "TableColumn",
    "column-detail",
    Column,
    "Get the statistics, history and profile of a column.",
)
