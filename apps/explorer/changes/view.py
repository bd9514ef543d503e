"""The changes of a range of versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.accounts.zones import user_zone
from apps.explorer.changes.form import ChangeQuery, parse_change_query
from apps.explorer.changes.rows import (
    FeedRows,
    VersionRows,
    change_lines,
    change_objects,
    feed_rows,
)
from apps.explorer.changes.selector import (
    MAX_LISTED,
    MAX_VERSIONS,
    ChangePlan,
    VersionCounts,
    change_plan,
    choices,
    commits_of,
    snippets,
    sources,
    version_counts,
)
from apps.explorer.changes.span import ChangeSpan, change_span
from apps.explorer.version.page import JobOfPage, TablePage, still
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_table
from apps.pages.errors import PageError
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.responses import respond_page
from apps.pages.snippets import Snippet
from apps.tables.head.job_json import check_job
from apps.tables.versions.timeline import TimelineSpan, build_span
from apps.tables.work.changes import READ_CHANGES, VERSION_COUNTS, ChangesRead
from deltaweb.delta.errors import SchemaError


@dataclass(frozen=True, kw_only=True)
class ChangeList(TablePage):
    """The changes of a range; without `rows` a job still reads them, or nothing can."""

    first: Annotated[int | None, Named("from")]
    last: Annotated[int | None, Named("to")]
    key: Sequence[str]
    problem: str | None
    job: JobOfPage
    counts: ChangesRead | None
    versions: Sequence[VersionCounts] = ()
    changes: Sequence[dict[str, object]] = ()
    changes_are_cut: bool = False
    links: Spread[PageLinks] = field(default_factory=PageLinks)
    range: OnPage[ChangeSpan | None]
    query: OnPage[ChangeQuery]
    plan: OnPage[ChangePlan | None]
    rows: OnPage[FeedRows | None] = None
    by_version: OnPage[VersionRows] = field(default_factory=list)
    num_versions: OnPage[int] = 0
    choices: OnPage[Sequence[tuple[str, str]]] = ()
    snippets: OnPage[Sequence[Snippet]] = ()

    @property
    def span(self) -> TimelineSpan | None:
        """The first version on the timeline, beside the one that is shown."""
        timeline = self.at.head.timeline
        is_shown = self.last == self.at.version and self.first != self.last
        if timeline is None or self.first is None or not is_shown:
            return None
        return build_span(timeline, other=self.first)

    @property
    def sources(self) -> Mapping[str, int]:
        """Versions by what tells of their changes."""
        return sources(self.versions)

    @property
    def kinds(self) -> Sequence[tuple[str, str, str, int | None]]:
        found = self.counts
        return [
            ("insert", "plus", "inserted", found.inserted if found else None),
            ("update", "pencil", "updated", found.updated if found else None),
            ("delete", "minus", "deleted", found.deleted if found else None),
        ]


def change_list(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """Show the rows that each version of a range inserted, updated and deleted."""
    query = parse_change_query(request.GET, user_zone(request.user))
    span = change_span(at, query)
    plan, problem = _plan(request, at, span, query)
    job: Job | None = None
    result: JobRows[ChangesRead] | None = None
    if plan is not None:
        job, result = READ_CHANGES.answer(
            at.table,
            plan.asked,
            now=timezone.now(),
            requested_by=signed_in(request),
            waits=fmt == "csv",
        )
    if fmt != "html":
        check_job(job)
    if fmt == "csv" and result is None:
        raise _not_ready(job, problem)
    page = ChangeList(
        at=at,
        first=span.first if span else None,
        last=span.last if span else None,
        key=plan.key if plan else (),
        problem=problem or None,
        job=job,
        counts=result.facts if result else None,
        range=span,
        query=query,
        plan=plan,
        **_found(request, at, query, plan, job, result, fmt),
        snippets=snippets(at, span) if span and not problem else (),
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/changes/change_list.html",
        fragment="changes",
        rows=change_lines(result.rows) if result else None,
        status=202 if fmt == "json" and plan and result is None else 200,
    )


def _plan(
    request: HttpRequest, at: TableVersion, span: ChangeSpan | None, query: ChangeQuery
) -> tuple[ChangePlan | None, str]:
    """Return what to ask of a job, or why nothing can be."""
    if span is None:
        return None, ""
    problem = span.problem
    if at.protocol and at.protocol.unsupported_reason:
        problem = at.protocol.unsupported_reason
    if problem:
        return None, problem
    try:
        return change_plan(at, span, query, user_zone(request.user)), ""
    except SchemaError as error:
        return None, error.message


def _found(  # noqa: PLR0913, PLR0917 (the parts of a request)
    request: HttpRequest,
    at: TableVersion,
    query: ChangeQuery,
    plan: ChangePlan | None,
    job: Job | None,
    result: JobRows[ChangesRead] | None,
    fmt: str,
) -> dict[str, Any]:
    """Return what the page has of a job's result."""
    if plan is None or job is None or result is None:
        return {}
    kept = result.rows
    counts = job_table(job, VERSION_COUNTS)
    limit = MAX_LISTED if fmt == "json" else MAX_VERSIONS
    versions: list[VersionCounts] = []
    if counts is not None:
        versions, _ = version_counts(at.table, counts, limit=limit)
    rows = feed_rows(
        kept,
        result.facts,
        key=plan.key,
        shows_all=query.shows_all,
        page=query.page,
        zone=user_zone(request.user),
    )
    found: dict[str, Any] = {
        "versions": versions,
        "num_versions": counts.num_rows if counts is not None else 0,
        "rows": rows,
        "links": page_links(request, rows.paged),
    }
    if fmt == "json":
        found["changes"], found["changes_are_cut"] = change_objects(kept, query.page)
    elif fmt == "html":
        commits = commits_of(at.table, [row.version for row in rows.rows])
        found["by_version"] = rows.by_version(commits)
        found["choices"] = list(choices(plan, result.facts))
    return found


def _not_ready(job: Job | None, problem: str) -> PageError:
    if job is None:
        return PageError(
            status=409,
            code="no-changes",
            message=problem or "The table is not indexed yet.",
            hint="Choose versions at which delta.enableChangeDataFeed is true.",
        )
    return still("reading", "The changes are still being read.", job)


table_read(
    "/changes",
    "TableChanges",
    "change-list",
    ChangeList,
    "Read the rows that versions inserted, updated and deleted.",
    waits=True,
)
