"""The fields of a table through all versions of its schema."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

from apps.explorer.column_history.drawing import DrawnHistory, Scale, drawn
from apps.explorer.column_history.selector import (
    JSON_LENGTH,
    PAGE_LENGTH,
    ColumnFilter,
    SchemaCommit,
    counts,
    event_lines,
    history_data,
    matching_fields,
    own_events,
    parse_column_filter,
    schema_commits,
)
from apps.explorer.columns.stored_history import table_histories
from apps.explorer.version.page import TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion
from apps.pages.lists.paging import Paged, PageLinks, page_links, paged
from apps.pages.page_json import OnPage, Spread
from apps.pages.responses import respond_page


@dataclass(frozen=True, kw_only=True)
class ColumnHistoryPage(TablePage):
    """Fields, and what versions did to them, as a list."""

    first_version: int | None
    mapped_since: int | None
    is_cut: bool
    definitions_unknown: int
    count: int
    lanes: Sequence[dict[str, object]]
    links: Spread[PageLinks]
    wanted: OnPage[ColumnFilter]
    paged: OnPage[Paged]
    rows: OnPage[Sequence[DrawnHistory]]
    guides: OnPage[Sequence[float]]
    commits: OnPage[Sequence[SchemaCommit]]
    num_columns: OnPage[int]
    num_dropped: OnPage[int]
    num_changes: OnPage[int]
    num_versions: OnPage[int]
    num_breaking: OnPage[int]

    @property
    def num_unlisted(self) -> int:
        return self.num_versions - len(self.commits)


def column_history(
    request: HttpRequest, at: TableVersion, fmt: str
) -> HttpResponseBase:
    """Show each field through all versions of the schema up to the one shown."""
    wanted = parse_column_filter(request.GET)
    last = -1 if at.version is None else at.version
    found = table_histories(at.table, last)
    length = JSON_LENGTH if fmt == "json" else PAGE_LENGTH
    fields = matching_fields(found.fields, wanted)
    place = paged(len(fields), wanted.page, length=length)
    shown = fields[place.rows]
    events = own_events(fields)
    scale = Scale(first=found.first or 0, last=max(last, 0))
    num_columns, num_dropped = counts(found)
    is_html = fmt == "html"
    return respond_page(
        request,
        fmt,
        ColumnHistoryPage(
            at=at,
            first_version=found.first,
            mapped_since=found.mapped_since,
            is_cut=found.is_cut,
            definitions_unknown=found.num_unknown,
            count=place.count,
            lanes=[history_data(one) for one in shown] if fmt == "json" else [],
            links=page_links(request, place),
            wanted=wanted,
            paged=place,
            rows=[drawn(one, scale, is_tree=wanted.is_empty) for one in shown]
            if is_html
            else [],
            guides=scale.guides(found.changed_versions) if is_html else [],
            commits=schema_commits(at.table, events) if is_html else [],
            num_columns=num_columns,
            num_dropped=num_dropped,
            num_changes=len(events),
            num_versions=len({event.version for event in events}),
            num_breaking=sum(1 for event in events if event.is_breaking),
        ),
        template="explorer/column_history/column_history.html",
        rows=event_lines(events),
    )


table_read(
    "/schema-lanes",
    "TableLanes",
    "column-history",
    ColumnHistoryPage,
    "Get the history of each column.",
)
