"""What the search page finds: tables, and columns of tables."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.tables.models import Table, TableColumn

PAGE_LENGTH = 50
TABLES_SHOWN = 12  # tables above the columns when both kinds are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """What was found: some tables and a page of columns, or a page of one kind."""

    q: str
    kind: str
    tables: list[Table]
    columns: list[TableColumn]
    num_tables: int
    num_columns: int
    page: int
    num_pages: int

    @property
    def count(self) -> int:
        """How much was found of the kinds that are shown."""
        by_kind = {"table": self.num_tables, "column": self.num_columns}
        return by_kind.get(self.kind, self.num_tables + self.num_columns)

    @property
    def next_page(self) -> int | None:
        """The number of the next page, or None."""
        return self.page + 1 if self.page < self.num_pages else None

    @property
    def previous_page(self) -> int | None:
        """The number of the page before, or None."""
        return self.page - 1 if self.page > 1 else None


def search_page(
    user: User | AnonymousUser, *, q: str, kind: str = "", page: int = 1
) -> SearchPage:
    """Find tables and columns that `user` may see, by four queries at most."""
    if not q:
        return SearchPage(
            q=q,
            kind=kind,
            tables=[],
            columns=[],
            num_tables=0,
            num_columns=0,
            page=1,
            num_pages=1,
        )
    tables, columns = _tables(user, q), _columns(user, q)
    num_tables, num_columns = tables.count(), columns.count()
    paged = num_tables if kind == "table" else num_columns
    num_pages = max(1, -(-paged // PAGE_LENGTH))
    page = min(page, num_pages)
    rows = slice((page - 1) * PAGE_LENGTH, page * PAGE_LENGTH)
    tables_shown = rows if kind == "table" else slice(0, TABLES_SHOWN)
    return SearchPage(
        q=q,
        kind=kind,
        tables=[] if kind == "column" else list(tables[tables_shown]),
        columns=[] if kind == "table" else list(columns[rows]),
        num_tables=num_tables,
        num_columns=num_columns,
        page=page,
        num_pages=num_pages,
    )


def search_csv(
    user: User | AnonymousUser, *, q: str, kind: str = ""
) -> Iterator[tuple[object, ...]]:
    """Yield a header and everything that was found."""
    yield ("kind", "table", "column", "type", "description")
    if not q:
        return
    if kind != "column":
        for table in _tables(user, q).iterator(chunk_size=500):
            yield ("table", table.full_name, "", "", table.about)
    if kind != "table":
        for column in _columns(user, q).iterator(chunk_size=500):
            name = column.table.full_name
            yield ("column", name, column.path, column.type_text, "")


def _tables(user: User | AnonymousUser, q: str) -> QuerySet[Table]:
    words = Q(name__icontains=q) | Q(namespace__icontains=q)
    words |= Q(description__icontains=q) | Q(comment__icontains=q)
    namespace, dot, name = q.rpartition(".")
    if dot and namespace and name:
        words |= Q(namespace__iendswith=namespace, name__istartswith=name)
    return Table.objects.visible_to(user).filter(words).defer("summary")


def _columns(user: User | AnonymousUser, q: str) -> QuerySet[TableColumn]:
    found = TableColumn.objects.visible_to(user).filter(path__icontains=q)
    ordered = found.order_by("table__namespace", "table__name", "position")
    return ordered.select_related("table").defer("table__summary")
