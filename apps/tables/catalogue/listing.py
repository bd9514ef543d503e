"""The catalogue's list: filters, facets, order and pages, from the database alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, F, Min, Q
from django.db.models.expressions import OrderBy
from django.utils import timezone

from apps.accounts.models import User
from apps.pages.lists.fields import WordField
from apps.pages.lists.paging import PAGE_LENGTH, Paged, paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.request.list_page import ListPage, ListQuery
from apps.tables.catalogue import facets as catalogue_facets
from apps.tables.catalogue.forms import STATUSES
from apps.tables.extension.marks import Badge, badges_of
from apps.tables.head.shapes import TableResource, table_resource
from apps.tables.models import (
    Commit,
    StoredFinding,
    Table,
    TableColumn,
    name_holds,
)

MATCHES_SHOWN = 4  # columns named in a row of the list
CSV_CHUNK = 500
FINDING_DOTS: Final[Mapping[int | None, str]] = {
    StoredFinding.Severity.ACT_NOW: "gone",
    StoredFinding.Severity.COSTS: "part",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRow:
    """One table of the list, with its newest commit and what a search found in it."""

    table: OnPage[Table]
    resource: Spread[TableResource]
    user_name: Annotated[str | None, Named("user")]
    operation: str | None
    commits_30d: list[int]
    matched_columns: list[str]
    more_matches: OnPage[int]
    badges: OnPage[list[Badge]] = field(default_factory=list)
    num_findings: OnPage[int] = 0
    worst_finding: OnPage[int | None] = None

    @property
    def finding_dot(self) -> str:
        """The class of the dot beside the number of findings."""
        return FINDING_DOTS.get(self.worst_finding, "")

    @property
    def status(self) -> str:
        """How the table is, in one word."""
        return self.resource.status


@dataclass(frozen=True, slots=True, kw_only=True)
class CataloguePage:
    """A page of the catalogue.

    Attributes:
        paged: Where the page stands among the tables that the filter holds.
        size_bytes: Bytes of those whose size is known; None where none is.
        num_unsized: How many of them have an unknown size.
        facets: By name, each counted under the other filters.
        num_visible: How many tables the search finds without the facets.
    """

    rows: list[CatalogueRow]
    paged: Paged
    size_bytes: int | None
    num_unsized: int
    facets: dict[str, catalogue_facets.Facet] = field(default_factory=dict)
    num_visible: int = 0

    @property
    def namespaces(self) -> list[catalogue_facets.FacetValue]:
        return self.facets["namespace"].values

    @property
    def statuses(self) -> list[catalogue_facets.FacetValue]:
        return self.facets["status"].values

    @property
    def tree(self) -> list[catalogue_facets.FacetValue]:
        """The namespaces by name, for the tree."""
        return sorted(self.namespaces, key=lambda one: one.value)

    @property
    def other_facets(self) -> list[catalogue_facets.Facet]:
        """The useful facets that stand below the tree of namespaces."""
        return [facet for facet in self.useful_facets if facet.name != "namespace"]

    @property
    def useful_facets(self) -> list[catalogue_facets.Facet]:
        """The facets that leave some tables out, or do so now."""
        return [facet for facet in self.facets.values() if facet.is_useful]

    @property
    def chosen_facets(self) -> list[tuple[str, str]]:
        """The filters that are set: name and words."""
        chosen = ((facet, facet.chosen) for facet in self.facets.values())
        return [(facet.name, facet.words_of(value)) for facet, value in chosen if value]

    @property
    def has_unsettled(self) -> bool:
        """Whether a row of the page waits for its first index."""
        return any(row.status == "new" for row in self.rows)


def catalogue_page(
    user: User | AnonymousUser,
    query: ListQuery,
    now: datetime | None = None,
    *,
    length: int = PAGE_LENGTH,
) -> CataloguePage:
    """Return a page of the tables that `user` may see, by five queries at most.

    Queries of other apps for their badges come on top. A page beyond the last one is
    the last one.
    """
    found, chosen = _search(user, query["q"]), _chosen(query)
    groups = catalogue_facets.grouped(found)
    matching = catalogue_facets.matching(groups, chosen)
    count = sum(group["tables"] for group in matching)
    num_sized = sum(group["sized"] for group in matching)
    place = paged(count, query.page, length=length)
    filtered = catalogue_facets.filtered(found, chosen).order_by(*_order(query))
    ids = list(filtered.values_list("id", flat=True)[place.rows])
    return CataloguePage(
        rows=_rows(user, ids, query["q"], now or timezone.now()),
        paged=place,
        size_bytes=sum(group["bytes"] for group in matching) if num_sized else None,
        num_unsized=count - num_sized,
        facets=catalogue_facets.facets_of(groups, chosen),
        num_visible=sum(group["tables"] for group in groups),
    )


def catalogue_tables(
    user: User | AnonymousUser, query: ListQuery, _now: datetime | None = None
) -> Iterator[TableResource]:
    """Yield every table of the filter."""
    found = matching_tables(user, query)
    ordered = found.order_by(*_order(query)).defer("summary")
    ordered = ordered.select_related("owned_by")
    yield from map(table_resource, ordered.iterator(chunk_size=CSV_CHUNK))


def matching_tables(
    user: User | AnonymousUser, filters: ListQuery | Mapping[str, str]
) -> Any:  # noqa: ANN401 (annotated rows)
    """Return the tables that `user` may see and that the filters hold."""
    return catalogue_facets.filtered(_search(user, filters["q"]), _chosen(filters))


def _chosen(query: ListQuery | Mapping[str, str]) -> dict[str, str]:
    """Return the value of each facet that is asked for, or nothing."""
    return {name: query[name] for name in catalogue_facets.NAMES}


def _search(user: User | AnonymousUser, text: str) -> Any:  # noqa: ANN401 (annotated rows)
    """Return the visible tables whose name, comment or columns hold `text`."""
    annotated = catalogue_facets.described(Table.objects.visible_to(user), user)
    if not text:
        return annotated
    columns = TableColumn.objects.filter(path__icontains=text).values("table_id")
    by_text = Q(description__icontains=text) | Q(comment__icontains=text)
    by_label = catalogue_facets.labels_hold(text)
    return annotated.filter(name_holds(text) | by_text | by_label | Q(id__in=columns))


def _order(query: ListQuery) -> list[OrderBy]:
    return ordering(COLUMNS, query.sort, ties=("namespace", "name"))


def _rows(
    user: User | AnonymousUser, ids: list[UUID], text: str, now: datetime
) -> list[CatalogueRow]:
    """Load the rows of a page; what the list draws, not the whole summaries."""
    badges = badges_of(user, ids)
    tables = (
        Table.objects.with_privacy()
        .filter(id__in=ids)
        .annotate(
            runs=F("summary__readable_runs"),
            days=F("summary__commits_30d"),
        )
    )
    tables = tables.defer("summary").select_related("owned_by")
    by_id: dict[UUID, Any] = {table.id: table for table in tables}
    newest = {
        commit.table_id: commit
        for commit in Commit.objects.filter(
            table__in=ids, version=F("table__version")
        ).only("table_id", "user_name", "operation")
    }
    matches = _matched_columns(ids, text) if text else {}
    findings = StoredFinding.objects.visible_to(user).listed(now).order_by()
    of_tables = findings.filter(table__in=ids).values_list("table")
    counted = {
        table_id: (count, worst)
        for table_id, count, worst in of_tables.annotate(Count("id"), Min("severity"))
    }
    rows = []
    for table_id in ids:
        table = by_id.get(table_id)
        if table is None:  # removed since the page was counted
            continue
        table.summary = {"readable_runs": table.runs}
        commit = newest.get(table_id)
        matched = matches.get(table_id, [])
        num_findings, worst_finding = counted.get(table_id, (0, None))
        rows.append(
            CatalogueRow(
                table=table,
                resource=table_resource(table),
                commits_30d=table.days if isinstance(table.days, list) else [],
                user_name=(commit and commit.user_name) or None,
                operation=(commit and commit.operation) or None,
                matched_columns=matched[:MATCHES_SHOWN],
                more_matches=max(0, len(matched) - MATCHES_SHOWN),
                badges=badges.get(table_id, []),
                num_findings=num_findings,
                worst_finding=worst_finding,
            )
        )
    return rows


def _matched_columns(ids: list[UUID], text: str) -> dict[UUID, list[str]]:
    columns = TableColumn.objects.filter(table__in=ids, path__icontains=text)
    matches: dict[UUID, list[str]] = {}
    for table_id, path in columns.order_by("position").values_list("table_id", "path"):
        matches.setdefault(table_id, []).append(path)
    return matches


COLUMNS: Final = (
    Column("name", "Table", "namespace name", word="Name", never_null=True),
    Column("owner", "Owner", "owner", css="dw-cat-owner"),
    Column("commit", "Last commit", "committed_at", begins_descending=True),
    Column("", "Versions", css="dw-only-w"),
    Column("rows", "Rows", "num_records", begins_descending=True, css="dw-r dw-only-w"),
    Column("size", "Size", "size_bytes", begins_descending=True, css="dw-r"),
    Column("files", "Files", "num_files", begins_descending=True, is_shown=False),
    Column("", "30 days", css="dw-only-w"),
    Column("state", "State", "status"),
)
TABLES: Final = ListPage(
    entries="tables",
    template="tables/catalogue/table_list.html",
    fragment="table-rows",
    columns=COLUMNS,
    default_sort="name",
    filters={
        "q": forms.CharField(max_length=200, required=False),
        "namespace": forms.CharField(max_length=200, required=False),
        "status": WordField(STATUSES),
        "owner": forms.CharField(max_length=150, required=False),
        "tag": forms.CharField(max_length=50, required=False),
        "mark": forms.CharField(max_length=50, required=False),
        "feature": forms.CharField(max_length=200, required=False),
        "writer": forms.CharField(max_length=300, required=False),
    },
    page=catalogue_page,
    entry=TableResource,
    every=catalogue_tables,
)
