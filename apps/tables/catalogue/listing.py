"""The catalogue's list: filters, facets, order and pages, from the database alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final
from uuid import UUID

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, F, Min, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from apps.accounts.models import User
from apps.pages.lists.fields import WordField
from apps.pages.lists.paging import PAGE_LENGTH, Paged, paged
from apps.pages.lists.sorting import Column, ordering
from apps.pages.page_json import Named, OnPage, Spread
from apps.pages.request.list_page import ListPage, ListQuery
from apps.tables.catalogue.facets import (
    FEW,
    NAMES,
    Counts,
    Facet,
    FacetValue,
    described,
    filtered,
    labels_hold,
    with_owner,
    word_of,
)
from apps.tables.catalogue.forms import STATUSES
from apps.tables.extension.marks import Badge, badges_of
from apps.tables.head.shapes import TableResource, table_resource
from apps.tables.models import (
    ColumnWords,
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


@dataclass(frozen=True, kw_only=True)
class CataloguePage:
    """A page of the catalogue. A form of it counts only the values that it shows.

    Attributes:
        paged: Where the page stands among the tables that the filter holds.
        counts: The facets, and the sizes of these tables.
    """

    rows: list[CatalogueRow]
    paged: Paged
    counts: OnPage[Counts]

    @property
    def size_bytes(self) -> int | None:
        """Bytes of the tables of known size; None if no size is known."""
        return self.counts.sizes[0]

    @property
    def num_unsized(self) -> int:
        """How many tables have an unknown size."""
        return self.counts.sizes[1]

    @cached_property
    def has_some(self) -> bool:
        """Whether the search finds a table without the facets."""
        return bool(self.paged.count) or self.counts.found.exists()

    @cached_property
    def facets(self) -> list[Facet] | None:
        """The useful facets other than the namespace; None to load them later."""
        return self.counts.others if self.counts.are_few else None

    @property
    def namespaces(self) -> list[FacetValue]:
        return self.counts.namespace.values

    @property
    def tree(self) -> list[FacetValue]:
        """The namespaces by name, for the tree."""
        return sorted(self.namespaces, key=lambda one: one.value)

    @property
    def num_in_tree(self) -> int:
        """How many tables the namespaces of the tree have."""
        return self.counts.namespace.total

    @property
    def chosen_facets(self) -> list[tuple[str, str]]:
        """The filters that are set: name and words."""
        chosen = self.counts.chosen.items()
        return [(name, word_of(name, value)) for name, value in chosen if value]

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
    """Return a page of the tables that `user` may see, by four queries at most.

    The badges of other apps need more queries, and so do the counts that a form of the
    page shows. A page beyond the last one is the last one.
    """
    counts = catalogue_counts(user, query)
    found = filtered(counts.found, counts.chosen)
    ordered = _ordered(found, query)
    first, count = first_of(ordered) if query["q"] else ([], found.count())
    if first and len(first) == count and not any(counts.chosen.values()):
        few = Table.objects.visible_to(user).filter(id__in=first)
        counts = replace(counts, found=described(few, user))
    place = paged(count, query.page, length=length)
    is_known = place.last <= len(first)
    ids = first[place.rows] if is_known else _ids(ordered, place)
    return CataloguePage(
        rows=_rows(user, ids, query["q"], now or timezone.now()),
        paged=place,
        counts=replace(counts, num_matching=count),
    )


def first_of(ordered: QuerySet[Table]) -> tuple[list[UUID], int]:
    """Return the first ids and the number of all tables that a search finds.

    A search reads the texts of all tables, so few tables are counted by their ids.
    """
    first = list(ordered.values_list("id", flat=True)[: FEW + 1])
    count = len(first) if len(first) <= FEW else ordered.order_by().count()
    return first, count


def catalogue_counts(user: User | AnonymousUser, query: ListQuery) -> Counts:
    """Return the facets of the tables that `user` may see and that the search finds."""
    return Counts(found=_search(user, query["q"]), chosen=_chosen(query))


def _ids(ordered: Any, place: Paged) -> list[UUID]:  # noqa: ANN401 (annotated rows)
    """Return the ids of a page; pages of the second half are read from the end."""
    ids = ordered.values_list("id", flat=True)
    if place.first <= place.count // 2:
        return list(ids[place.rows])
    after = place.count - place.last
    return list(ids.reverse()[after : after + place.last - place.start])[::-1]


def catalogue_tables(
    user: User | AnonymousUser, query: ListQuery, _now: datetime | None = None
) -> Iterator[TableResource]:
    """Yield every table of the filter."""
    found = matching_tables(user, query)
    ordered = _ordered(found, query).defer("summary").select_related("owned_by")
    yield from map(table_resource, ordered.iterator(chunk_size=CSV_CHUNK))


def matching_tables(
    user: User | AnonymousUser, filters: ListQuery | Mapping[str, str]
) -> Any:  # noqa: ANN401 (annotated rows)
    """Return the tables that `user` may see and that the filters hold."""
    return filtered(_search(user, filters["q"]), _chosen(filters))


def _chosen(query: ListQuery | Mapping[str, str]) -> dict[str, str]:
    """Return the value of each facet that is asked for, or nothing."""
    return {name: query[name] for name in NAMES}


def _search(user: User | AnonymousUser, text: str) -> Any:  # noqa: ANN401 (annotated rows)
    """Return the visible tables whose name, comment or columns hold `text`."""
    annotated = described(Table.objects.visible_to(user), user)
    if not text:
        return annotated
    columns = ColumnWords.objects.holding(text).order_by().values("table")
    by_text = Q(description__icontains=text) | Q(comment__icontains=text)
    by_label = labels_hold(text)
    return annotated.filter(name_holds(text) | by_text | by_label | Q(id__in=columns))


def _ordered(found: Any, query: ListQuery) -> Any:  # noqa: ANN401 (annotated rows)
    order = ordering(COLUMNS, query.sort, ties=("namespace", "name"))
    if query.sort in {"owner", "-owner"}:
        found = with_owner(found)
    return found.order_by(*order)


def _rows(
    user: User | AnonymousUser, ids: list[UUID], text: str, now: datetime
) -> list[CatalogueRow]:
    """Load the rows of a page; what the list draws, not the whole summaries."""
    badges = badges_of(user, ids)
    newest = Commit.objects.filter(table=OuterRef("pk"), version=OuterRef("version"))
    tables = (
        Table.objects.with_privacy()
        .filter(id__in=ids)
        .annotate(
            runs=F("summary__readable_runs"),
            days=F("summary__commits_30d"),
            operation=Subquery(newest.values("operation")[:1]),
        )
    )
    tables = tables.defer("summary").select_related("owned_by")
    by_id: dict[UUID, Any] = {table.id: table for table in tables}
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
        matched = matches.get(table_id, [])
        num_findings, worst_finding = counted.get(table_id, (0, None))
        rows.append(
            CatalogueRow(
                table=table,
                resource=table_resource(table),
                commits_30d=table.days if isinstance(table.days, list) else [],
                user_name=table.last_writer or None,
                operation=table.operation or None,
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
