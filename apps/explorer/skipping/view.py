"""The files that a condition reads or skips, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

from apps.accounts.permissions import signed_in
from apps.accounts.zones import user_zone, user_zone_name
from apps.explorer.skipping.coverage import ColumnCoverage, coverage_of
from apps.explorer.skipping.found import (
    ExplainedFilter,
    explained_filter,
    row_groups_of,
)
from apps.explorer.skipping.overlap import ColumnOverlap, overlaps_of
from apps.explorer.skipping.selector import (
    ShownFunnel,
    SkippingQuery,
    file_lines,
    parse_skipping_query,
    shown_funnel,
)
from apps.explorer.version.page import JobOfPage, TablePage, still
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.jobs.models import Job
from apps.jobs.results import JobRows
from apps.pages.errors import PageError
from apps.pages.lists.links import changed
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.parameters import QueryError
from apps.pages.responses import respond_page
from apps.tables.head.job_json import check_job
from apps.tables.work.explain_filter import ExplainFilter
from deltaweb.delta.errors import DeltaError
from deltaweb.index.left_row_groups import (
    MAX_FOOTERS,
    LeftRowGroups,
    TooManyFootersError,
)
from deltaweb.index.query.funnel import READ, SKIPPED


@dataclass(frozen=True, kw_only=True)
class SkippingPage(TablePage):
    """A condition and the files that it reads; without `funnel` none was explained.

    Attributes:
        problem: Why a condition is not explained, in a sentence.
        wrong: Why the condition is refused; None if it is not.
        job: What is still at it, or has failed; None without one.
        overlaps: The ranges of files in each column of the condition.
        columns: What the statistics of each column can skip, at the newest version.
        max_footers: Row groups are counted if so many files are left, or fewer.
    """

    asked: OnPage[SkippingQuery]
    where: str | None
    funnel: Spread[ShownFunnel | None]
    problem: str | None
    wrong: OnPage[PageError | None]
    job: JobOfPage
    overlaps: Sequence[ColumnOverlap]
    columns: Sequence[ColumnCoverage]
    links: Spread[PageLinks]
    better_url: OnPage[str]
    shown_urls: OnPage[Sequence[tuple[str, str, bool]]]
    row_groups_url: OnPage[str]
    max_footers: OnPage[int]
    time_zone: OnPage[str]

    @property
    def num_covered(self) -> int:
        """How many columns have statistics in some file."""
        return sum(bool(column.num_known) for column in self.columns)

    @property
    def statistics_bytes(self) -> int:
        """About how many bytes of the log the statistics of columns take."""
        return sum(column.log_bytes or 0 for column in self.columns)

    @property
    def is_too_much(self) -> bool:
        """Whether too many files are left to count their row groups."""
        left = self.funnel.files.after_statistics if self.funnel else 0
        return (left or 0) > self.max_footers


def skipping_detail(
    request: HttpRequest, at: TableVersion, fmt: str
) -> HttpResponseBase:
    """Show which files of a version a condition reads, and why."""
    asked = parse_skipping_query(request.GET)
    problem, wrong, found = _problem(at), None, None
    if asked.where and not problem:
        try:
            found = _explained(request, at, asked, waits=fmt == "csv")
        except DeltaError as error:
            wrong = QueryError(part="where", message=error.message, hint=error.hint)
            if fmt != "html":
                raise wrong from None
    job, counts = _counted(request, at, asked, found)
    if fmt != "html":
        check_job(job)
        _check_left(asked, found)
    if fmt == "csv" and (found is None or found.funnel is None):
        raise _not_ready(job, problem)
    funnel = None
    if found and found.funnel and found.files and fmt != "csv":
        funnel = shown_funnel(found.funnel, found.files, asked, counts)
    page = SkippingPage(
        at=at,
        asked=asked,
        where=asked.where or None,
        funnel=funnel,
        problem=problem or None,
        wrong=wrong,
        job=None if counts else job,
        overlaps=_overlaps(request, at, asked, found) if funnel else (),
        columns=_coverage(at) if fmt != "csv" else (),
        links=page_links(request, funnel.place if funnel else None),
        better_url=changed(
            request,
            where=funnel.suggestion,
            group=None,
            page=None,
            show=None,
            row_groups=None,
        )
        if funnel and funnel.suggestion
        else "",
        shown_urls=_shown_urls(request, asked, funnel),
        row_groups_url=changed(request, row_groups=1),
        max_footers=MAX_FOOTERS,
        time_zone=user_zone_name(request.user),
    )
    is_waiting = fmt == "json" and page.job is not None
    status = wrong.status if wrong and "HX-Request" not in request.headers else 200
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/skipping/skipping_detail.html",
        fragment="skipping",
        rows=file_lines(found.funnel, found.files)
        if found and found.funnel and found.files
        else (),
        status=202 if is_waiting else status,
    )


def _problem(at: TableVersion) -> str:
    """Return why no condition can be explained, or nothing."""
    if not at.is_indexed:
        return "The table is not indexed yet."
    return at.unreadable_reason


def _of_job(request: HttpRequest, at: TableVersion, where: str) -> ExplainFilter:
    zone_name = user_zone_name(request.user)
    return ExplainFilter(version=at.version or 0, where=where, time_zone=zone_name)


def _explained(
    request: HttpRequest, at: TableVersion, asked: SkippingQuery, *, waits: bool
) -> ExplainedFilter | None:
    of_job = _of_job(request, at, asked.where)
    return explained_filter(at, of_job, signed_in(request), waits=waits)


def _counted(
    request: HttpRequest,
    at: TableVersion,
    asked: SkippingQuery,
    found: ExplainedFilter | None,
) -> tuple[Job | None, JobRows[LeftRowGroups] | None]:
    """Return the job that the page waits for, and the row groups that are left."""
    if found is None:
        return None, None
    if found.funnel is None:
        return found.job, None
    if not asked.row_groups:
        return None, None
    of_job = _of_job(request, at, asked.where)
    return row_groups_of(at, of_job, found.funnel, signed_in(request))


def _check_left(asked: SkippingQuery, found: ExplainedFilter | None) -> None:
    """Refuse to count row groups of too many files; a page says so in its place."""
    if found is None or found.funnel is None or not asked.row_groups:
        return
    num_files = found.funnel.after_statistics.num_files
    if num_files > MAX_FOOTERS:
        raise TooManyFootersError(num_files=num_files, limit=MAX_FOOTERS)


def _not_ready(job: Job | None, problem: str) -> PageError:
    if job is not None:
        return still("reading", "The condition is still being explained.", job)
    return PageError(
        status=409,
        code="not-explained",
        message=problem or "No condition is given.",
        hint="Give it as 'where', or use 'deltaweb table explain'.",
    )


def _overlaps(
    request: HttpRequest,
    at: TableVersion,
    asked: SkippingQuery,
    found: ExplainedFilter | None,
) -> Sequence[ColumnOverlap]:
    if found is None:
        return ()
    key = _of_job(request, at, asked.where)
    return overlaps_of(found, key, user_zone(request.user))


def _coverage(at: TableVersion) -> Sequence[ColumnCoverage]:
    """Return what each column can skip; only the index of the newest version knows."""
    schema = table_columns(at)
    if schema is None or at.metadata is None or not at.is_latest:
        return ()
    return coverage_of(at.table, schema, at.metadata.partition_columns)


def _shown_urls(
    request: HttpRequest, asked: SkippingQuery, funnel: ShownFunnel | None
) -> list[tuple[str, str, bool]]:
    """Return the links to all files, those that are read and those that are skipped."""
    if funnel is None:
        return []
    num_read = funnel.files.after_statistics or 0
    numbers = {
        "": ("All", funnel.files.total or 0),
        READ: ("Read", num_read),
        SKIPPED: ("Skipped", funnel.num_skipped),
    }
    return [
        (
            f"{word} {count:,}",
            changed(request, show=shown or None, group=None, page=None),
            asked.shown == shown and asked.group is None,
        )
        for shown, (word, count) in numbers.items()
    ]


table_read(
    "/skipping",
    "TableSkipping",
    "skipping-detail",
    SkippingPage,
    "Explain which files of a version a condition reads, and why.",
    waits=True,
)
