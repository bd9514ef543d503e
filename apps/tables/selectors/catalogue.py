"""The catalogue's list: filters, facets, order and pages, from the database alone."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When

from apps.accounts.models import User
from apps.tables.badges import Badge, badges_of
from apps.tables.models import Commit, Table, TableColumn

PAGE_LENGTH = 50
MATCHES_SHOWN = 4  # columns named in a row of the list
ORDERS: Mapping[str, tuple[Any, ...]] = {
    "": ("namespace", "name"),
    "name": ("namespace", "name"),
    "commit": (F("committed_at").desc(nulls_last=True), "namespace", "name"),
    "rows": (F("num_records").desc(nulls_last=True), "namespace", "name"),
    "size": (F("size_bytes").desc(nulls_last=True), "namespace", "name"),
    "files": (F("num_files").desc(nulls_last=True), "namespace", "name"),
}
STATUS = Case(
    When(state=Table.State.FAILED, then=Value("failed")),
    When(state=Table.State.NEW, then=Value("new")),
    When(state=Table.State.UNSUPPORTED, then=Value("unsupported")),
    When(~Q(error_code=""), then=Value("unreachable")),
    default=Value("indexed"),
)
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
    sort: str = ""
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        """Whether something else than the whole catalogue is asked for."""
        return bool(self.q or self.namespace or self.status)


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
class Facet:
    """One value of a facet and how many tables have it under the other filters."""

    value: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CataloguePage:
    """A page of the catalogue.

    Attributes:
        rows: The tables of the page.
        count: How many tables the filter holds; `size_bytes` what they hold, None
            where that is known of none of them.
        page: Which page, from 1; `num_pages` is at least 1.
        first, last: Place of the first and last row in the list, from 1.
        namespaces, statuses: Facets, each under the other filters.
        num_visible: How many tables the search finds without the facets.
    """

    query: CatalogueQuery
    rows: list[CatalogueRow]
    count: int
    size_bytes: int | None
    page: int
    num_pages: int
    first: int
    last: int
    namespaces: list[Facet] = field(default_factory=list)
    statuses: list[Facet] = field(default_factory=list)
    num_visible: int = 0

    @property
    def next_page(self) -> int | None:
        """The number of the next page, or None."""
        return self.page + 1 if self.page < self.num_pages else None

    @property
    def previous_page(self) -> int | None:
        """The number of the page before, or None."""
        return self.page - 1 if self.page > 1 else None

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
    found = _search(Table.objects.visible_to(user), query.q)
    groups = list(
        found.order_by()
        .values("namespace", "status")
        .annotate(tables=Count("id"), bytes=Sum("size_bytes"))
    )
    matching = [group for group in groups if _matches(group, query)]
    count = sum(group["tables"] for group in matching)
    num_pages = max(1, -(-count // length))
    page = min(query.page, num_pages)
    start = (page - 1) * length
    filtered = _filtered(found, query).order_by(*ORDERS[query.sort])
    ids = list(filtered.values_list("id", flat=True)[start : start + length])
    rows = _rows(ids, query.q, badges_of(user, ids))
    return CataloguePage(
        query=query,
        rows=rows,
        count=count,
        size_bytes=_sum_of_known(group["bytes"] for group in matching),
        page=page,
        num_pages=num_pages,
        first=start + 1 if rows else 0,
        last=start + len(rows),
        namespaces=_facet(groups, "namespace", status=query.status),
        statuses=_facet(groups, "status", namespace=query.namespace),
        num_visible=sum(group["tables"] for group in groups),
    )


def catalogue_csv(
    user: User | AnonymousUser, query: CatalogueQuery
) -> Iterator[tuple[object, ...]]:
    """Yield a header and every table of the filter."""
    yield CSV_HEADER
    found = _filtered(_search(Table.objects.visible_to(user), query.q), query)
    ordered = found.order_by(*ORDERS[query.sort]).defer("summary")
    for table in ordered.iterator(chunk_size=500):
        yield (
            table.full_name,
            table.location,
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


def _search(tables: QuerySet[Table], text: str) -> Any:  # noqa: ANN401 (annotated rows)
    """Keep tables whose name, comment or columns hold `text`."""
    annotated = tables.annotate(status=STATUS)
    if not text:
        return annotated
    namespace, dot, name = text.rpartition(".")
    by_name = Q(name__icontains=text) | Q(namespace__icontains=text)
    if dot and namespace and name:
        by_name |= Q(namespace__iendswith=namespace, name__istartswith=name)
    columns = TableColumn.objects.filter(path__icontains=text).values("table_id")
    by_text = Q(description__icontains=text) | Q(comment__icontains=text)
    return annotated.filter(by_name | by_text | Q(id__in=columns))


def _filtered(tables: Any, query: CatalogueQuery) -> Any:  # noqa: ANN401 (as above)
    if query.namespace:
        tables = tables.filter(namespace=query.namespace)
    if query.status:
        tables = tables.filter(status=query.status)
    return tables


def _matches(group: Mapping[str, Any], query: CatalogueQuery) -> bool:
    return query.namespace in {"", group["namespace"]} and query.status in {
        "",
        group["status"],
    }


def _facet(groups: list[dict[str, Any]], name: str, **others: str) -> list[Facet]:
    """Count the values of a facet, the largest first, under the other facets."""
    counts: dict[str, int] = {}
    for group in groups:
        if all(value in {"", group[other]} for other, value in others.items()):
            counts[group[name]] = counts.get(group[name], 0) + group["tables"]
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Facet(value=value, count=count) for value, count in ordered]


def _sum_of_known(sizes: Iterable[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None


def _rows(
    ids: list[UUID], text: str, badges: Mapping[UUID, list[Badge]]
) -> list[CatalogueRow]:
    """Load the rows of a page; what the list draws, not the whole summaries."""
    tables = Table.objects.filter(id__in=ids).annotate(
        status=STATUS,
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
