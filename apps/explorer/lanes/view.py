"""The fields of a table through all versions of its schema."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

from deltaweb.delta.changes.lanes import SchemaLanes
from deltaweb.web.explorer.columns.stored_lanes import table_lanes
from deltaweb.web.explorer.lanes.drawing import DrawnLane, Scale, drawn
from deltaweb.web.explorer.lanes.selector import (
    JSON_LENGTH,
    PAGE_LENGTH,
    LaneFilter,
    SchemaCommit,
    counts,
    event_lines,
    lane_data,
    lane_page,
    own_events,
    parse_lane_filter,
    schema_commits,
)
from deltaweb.web.explorer.version.page import TablePage
from deltaweb.web.explorer.version.table_version import TableVersion
from deltaweb.web.pages.page_json import OnPage, Spread
from deltaweb.web.pages.paging import Paged, PageLinks, page_links
from deltaweb.web.pages.responses import respond_page


@dataclass(frozen=True, kw_only=True)
class Lanes(TablePage):
    """Lanes of fields, and what versions did to them, as a list."""

    first_version: int | None
    mapped_since: int | None
    is_cut: bool
    definitions_unknown: int
    count: int
    lanes: Sequence[dict[str, object]]
    links: Spread[PageLinks]
    wanted: OnPage[LaneFilter]
    paged: OnPage[Paged]
    rows: OnPage[Sequence[DrawnLane]]
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


def lanes_detail(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """Show a lane a field through all versions of the schema up to the one shown."""
    wanted = parse_lane_filter(request.GET)
    is_known = at.version is not None
    found = table_lanes(at.table, at.version or 0) if is_known else SchemaLanes()
    length = JSON_LENGTH if fmt == "json" else PAGE_LENGTH
    page = lane_page(found.lanes, wanted, length=length)
    events = own_events(page.matching)
    scale = Scale(first=found.first or 0, last=at.version or 0)
    num_columns, num_dropped = counts(found)
    is_html = fmt == "html"
    return respond_page(
        request,
        fmt,
        Lanes(
            at=at,
            first_version=found.first,
            mapped_since=found.mapped_since,
            is_cut=found.is_cut,
            definitions_unknown=found.num_unknown,
            count=page.paged.count,
            lanes=[lane_data(lane) for lane in page.lanes] if fmt == "json" else [],
            links=page_links(request, page.paged),
            wanted=wanted,
            paged=page.paged,
            rows=[drawn(lane, scale, is_tree=wanted.is_empty) for lane in page.lanes]
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
        template="explorer/lanes/lanes_detail.html",
        rows=event_lines(events),
    )
