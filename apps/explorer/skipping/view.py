"""The files that a condition reads or skips, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

from apps.accounts.zones import user_zone_name
from apps.explorer.skipping.coverage import ColumnCoverage, coverage_of
from apps.explorer.skipping.selector import (
    Funnel,
    SkippingQuery,
    file_lines,
    funnel_of,
    parse_skipping_query,
)
from apps.explorer.version.page import TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_columns
from apps.pages.errors import PageError
from apps.pages.lists.links import changed
from apps.pages.lists.paging import PageLinks, page_links
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.parameters import QueryError
from apps.pages.responses import respond_page
from apps.tables.index.explained import IndexedFiles, explained
from deltaweb.delta.errors import DeltaError
from deltaweb.index.query.funnel import READ, SKIPPED, Explanation


@dataclass(frozen=True, kw_only=True)
class SkippingPage(TablePage):
    """A condition and the files that it reads; without `funnel` none was explained.

    Attributes:
        problem: Why a condition is not explained, in a sentence.
        wrong: Why the condition is refused; None if it is not.
    """

    asked: OnPage[SkippingQuery]
    where: str | None
    funnel: Spread[Funnel | None]
    problem: str | None
    wrong: OnPage[PageError | None]
    columns: Sequence[ColumnCoverage]
    links: Spread[PageLinks]
    better_url: OnPage[str]
    shown_urls: OnPage[Sequence[tuple[str, str, bool]]]
    zone_name: OnPage[str]

    @property
    def num_covered(self) -> int:
        """How many columns have statistics in some file."""
        return sum(bool(column.num_known) for column in self.columns)


def skipping_detail(
    request: HttpRequest, at: TableVersion, fmt: str
) -> HttpResponseBase:
    """Show which files of the newest version a condition reads, and why."""
    asked = parse_skipping_query(request.GET)
    problem, wrong, found = _problem(at), None, None
    if asked.where and not problem:
        try:
            found = _explained(request, at, asked.where)
        except DeltaError as error:
            wrong = QueryError(part="where", message=error.message, hint=error.hint)
            if fmt != "html":
                raise wrong from None
        if found is None and wrong is None:
            problem = (
                "The index of a table with this many files has no statistics of a"
                " column of this condition."
            )
    if fmt == "csv" and found is None:
        message = problem or "No condition is given."
        hint = "Give it as 'where', or use 'deltaweb table explain'."
        raise PageError(status=409, code="not-explained", message=message, hint=hint)
    funnel = funnel_of(*found, asked) if found and fmt != "csv" else None
    schema = table_columns(at)
    partitions = at.metadata.partition_columns if at.metadata else []
    has_columns = at.is_latest and schema is not None and fmt != "csv"
    page = SkippingPage(
        at=at,
        asked=asked,
        where=asked.where or None,
        funnel=funnel,
        problem=problem or None,
        wrong=wrong,
        columns=coverage_of(at.table, schema, partitions)
        if has_columns and schema
        else (),
        links=page_links(request, funnel.place if funnel else None),
        better_url=changed(
            request, where=funnel.suggestion, group=None, page=None, show=None
        )
        if funnel and funnel.suggestion
        else "",
        shown_urls=_shown_urls(request, asked, funnel),
        zone_name=user_zone_name(request.user),
    )
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/skipping/skipping_detail.html",
        fragment="skipping",
        rows=file_lines(*found) if found else (),
        status=wrong.status if wrong and "HX-Request" not in request.headers else 200,
    )


def _problem(at: TableVersion) -> str:
    """Return why no condition can be explained, or nothing."""
    if not at.is_indexed:
        return "The table is not indexed yet."
    if at.unreadable_reason:
        return at.unreadable_reason
    if not at.is_latest:
        return "Statistics of files are indexed for the newest version only."
    return ""


def _explained(
    request: HttpRequest, at: TableVersion, where: str
) -> tuple[Explanation, IndexedFiles] | None:
    schema = table_columns(at)
    if schema is None:
        return None
    return explained(at.table, at.version, schema, where, user_zone_name(request.user))


def _shown_urls(
    request: HttpRequest, asked: SkippingQuery, funnel: Funnel | None
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
    "Explain which files of the newest version a condition reads, and why.",
)
