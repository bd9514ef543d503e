"""The catalogue's list: filters, facets, order and pages, from the database alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import F, Q

from deltaweb.web.accounts.models import User
from deltaweb.web.pages.lists.sorting import ordering
from deltaweb.web.pages.paging import PAGE_LENGTH, Paged, paged
from deltaweb.web.pages.request.server_paths import cut_place
from deltaweb.web.tables.catalogue import facets as catalogue_facets
from deltaweb.web.tables.catalogue.forms import COLUMNS
from deltaweb.web.tables.extension.badges import Badge, badges_of
from deltaweb.web.tables.models import Commit, Table, TableColumn, name_holds

MATCHES_SHOWN = 4  # columns named in a row of the list
DEFAULT_SORT = "name"
SORT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "name": ("namespace", "name"),
    "commit": ("committed_at",),
    "rows": ("num_records",),
    "size": ("size_bytes",),
    "files": ("num_files",),
    "state": ("status",),
}
CSV_HEADER = (
    "name",
    "location",
    "description",
    "status",
    "version",
    "committed_at",
    "indexed_at",
    "rows",
    "size_bytes",
    "files",
    "columns",
    "restricted",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueQuery:
    """What the list is asked for; empty texts filter nothing."""

    q: str = ""
    namespace: str = ""
    status: str = ""
    mark: str = ""
    feature: str = ""
    writer: str = ""
    sort: str = ""
    page: int = 1

    @property
    def chosen(self) -> dict[str, str]:
        """The value of each facet that is asked for, or nothing."""
        return {name: getattr(self, name) for name in catalogue_facets.NAMES}

    @property
    def is_filtered(self) -> bool:
        """Whether something else than the whole catalogue is asked for."""
        return bool(self.q) or any(self.chosen.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueRow:
    """One table of the list."""

    table: Table
    status: str
    commits_30d: list[int]
    user_name: str
    operation: str
    matched_columns: list[str]
    more_matches: int
    badges: list[Badge] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CataloguePage:
    """A page of the catalogue.

    Attributes:
        rows: The tables of the page.
        paged: Where the page stands among the tables that the filter holds.
        size_bytes: Bytes of those whose size is known; None where none is.
        num_unsized: How many of them have an unknown size.
        facets: By name, each counted under the other filters.
        num_visible: How many tables the search finds without the catalogue_facets.
    """

    query: CatalogueQuery
    rows: list[CatalogueRow]
    paged: Paged
    size_bytes: int | None
    num_unsized: int
    facets: dict[str, catalogue_facets.Facet] = field(default_factory=dict)
    num_visible: int = 0

    @property
    def namespaces(self) -> list[catalogue_facets.FacetValue]:
        """The namespaces under the other filters."""
        return self.facets["namespace"].values

    @property
    def statuses(self) -> list[catalogue_facets.FacetValue]:
        """The states under the other filters."""
        return self.facets["status"].values

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
    user: User | AnonymousUser, query: CatalogueQuery, *, length: int = PAGE_LENGTH
) -> CataloguePage:
    """Return a page of the tables that `user` may see, by four queries at most.

    Queries of other apps for their badges come on top. A page beyond the last one is
    the last one.
    """
    found = _search(user, query.q)
    groups = catalogue_facets.grouped(found)
    matching = catalogue_facets.matching(groups, query.chosen)
    count = sum(group["tables"] for group in matching)
    num_sized = sum(group["sized"] for group in matching)
    place = paged(count, query.page, length=length)
    filtered = catalogue_facets.filtered(found, query.chosen).order_by(*_order(query))
    ids = list(filtered.values_list("id", flat=True)[place.rows])
    rows = _rows(user, ids, query.q)
    return CataloguePage(
        query=query,
        rows=rows,
        paged=place,
        size_bytes=sum(group["bytes"] for group in matching) if num_sized else None,
        num_unsized=count - num_sized,
        facets=catalogue_facets.facets_of(groups, query.chosen),
        num_visible=sum(group["tables"] for group in groups),
    )


def catalogue_csv(
    user: User | AnonymousUser, query: CatalogueQuery
) -> Iterator[tuple[object, ...]]:
    """Yield a header and every table of the filter."""
    sees_paths = getattr(user, "is_editor", False)
    yield CSV_HEADER
    found = catalogue_facets.filtered(_search(user, query.q), query.chosen)
    ordered = found.order_by(*_order(query)).defer("summary")
    for table in ordered.iterator(chunk_size=500):
        yield (
            table.full_name,
            table.location if sees_paths else cut_place(table.location),
            table.about,
            table.status,
            table.version,
            table.committed_at,
            table.indexed_at,
            table.num_records,
            table.size_bytes,
            table.num_files,
            table.num_columns,
            table.restricted,
        )


def _search(user: User | AnonymousUser, text: str) -> Any:  # noqa: ANN401 (annotated rows)
    """Return the visible tables whose name, comment or columns hold `text`."""
    annotated = catalogue_facets.described(Table.objects.visible_to(user), user)
    if not text:
        return annotated
    columns = TableColumn.objects.filter(path__icontains=text).values("table_id")
    by_text = Q(description__icontains=text) | Q(comment__icontains=text)
    return annotated.filter(name_holds(text) | by_text | Q(id__in=columns))


def _order(query: CatalogueQuery) -> list[Any]:
    sort = query.sort or DEFAULT_SORT
    names = SORT_FIELDS[DEFAULT_SORT]
    return ordering(COLUMNS, SORT_FIELDS, sort, ties=names, never_null=names)


def _rows(user: User | AnonymousUser, ids: list[UUID], text: str) -> list[CatalogueRow]:
    """Load the rows of a page; what the list draws, not the whole summaries."""
    badges = badges_of(user, ids)
    tables = catalogue_facets.with_status(Table.objects.filter(id__in=ids)).annotate(
        runs=F("summary__readable_runs"),
        days=F("summary__commits_30d"),
    )
    by_id: dict[UUID, Any] = {table.id: table for table in tables.defer("summary")}
    newest = {
        commit.table_id: commit
        for commit in Commit.objects.filter(
            table__in=ids, version=F("table__version")
        ).only("table_id", "user_name", "operation")
    }
    matches = _matched_columns(ids, text) if text else {}
    rows = []
    for table_id in ids:
        table = by_id.get(table_id)
        if table is None:  # removed since the page was counted
            continue
        table.summary = {"readable_runs": table.runs}
        commit = newest.get(table_id)
        matched = matches.get(table_id, [])
        rows.append(
            CatalogueRow(
                table=table,
                status=table.status,
                commits_30d=table.days if isinstance(table.days, list) else [],
                user_name=commit.user_name if commit else "",
                operation=commit.operation if commit else "",
                matched_columns=matched[:MATCHES_SHOWN],
                more_matches=max(0, len(matched) - MATCHES_SHOWN),
                badges=badges.get(table_id, []),
            )
        )
    return rows


def _matched_columns(ids: list[UUID], text: str) -> dict[UUID, list[str]]:
    columns = TableColumn.objects.filter(table__in=ids, path__icontains=text)
    matches: dict[UUID, list[str]] = {}
    for table_id, path in columns.order_by("position").values_list("table_id", "path"):
        matches.setdefault(table_id, []).append(path)
    return matches
