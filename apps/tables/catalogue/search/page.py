"""What the search page finds: tables, columns of tables, and what other apps have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Case, Q, QuerySet, Value, When

from apps.accounts.models import User
from apps.pages.lists.paging import Paged, paged
from apps.tables.catalogue.facets import labels_hold, with_tag
from apps.tables.catalogue.search.found import ColumnHits, TableHits
from apps.tables.extension.search_kinds import Hit, SearchKind, kinds_for
from apps.tables.models import Table, TableColumn, name_holds

HITS_SHOWN = 12  # of each kind above the columns when all kinds are shown
CSV_CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found of a kind: some of it, and how much there is."""

    kind: SearchKind
    hits: list[Hit]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindLink:
    """A kind that can be chosen, and how much of it was found; None for all."""

    key: str
    label: str
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """What was found: some of every kind and a page of columns, or a page of one kind.

    Attributes:
        num_tables, num_columns: How many there are, shown or not.
        others: Of each further kind that the user may look for.
    """

    q: str
    kind: str
    tables: list[Table]
    columns: list[TableColumn]
    others: list[Found]
    num_tables: int
    num_columns: int
    paged: Paged

    @property
    def first_others(self) -> list[Found]:
        """What stands before tables and columns."""
        return [one for one in self.others if one.kind.order < 0]

    @property
    def later_others(self) -> list[Found]:
        """What stands after them."""
        return [one for one in self.others if one.kind.order >= 0]

    @property
    def kinds(self) -> list[KindLink]:
        return [
            KindLink(key="", label="All", count=None),
            KindLink(key="table", label="Tables", count=self.num_tables),
            KindLink(key="column", label="Columns", count=self.num_columns),
            *(
                KindLink(key=one.kind.key, label=one.kind.label, count=one.count)
                for one in self.others
            ),
        ]

    @property
    def count(self) -> int:
        """How much was found of the kinds that are shown."""
        return sum(
            one.count for one in self.kinds if one.count and self.kind in {"", one.key}
        )


def search_keys(user: User | AnonymousUser) -> list[str]:
    """Return the values of `?kind=` that `user` may ask for."""
    return ["", "table", "column", *(kind.key for kind in kinds_for(user))]


def search_page(
    user: User | AnonymousUser, *, q: str, kind: str = "", page: int = 1
) -> SearchPage:
    """Find what `user` may see."""
    kinds = kinds_for(user)
    found: dict[str, Any] = {}
    if q:
        found = {
            "table": TableHits.of(_tables(user, q)),
            "column": ColumnHits.of(user, q),
            **{one.key: one.find(user, q) for one in kinds},
        }
    counts = {key: _count(one) for key, one in found.items()}
    place = paged(counts.get(kind or "column", 0), page)

    def shown(key: str) -> list[Any]:
        if key not in found or kind not in {"", key}:
            return []
        is_paged = kind or key == "column"
        return list(found[key][place.rows if is_paged else slice(0, HITS_SHOWN)])

    return SearchPage(
        q=q,
        kind=kind,
        tables=shown("table"),
        columns=shown("column"),
        others=[
            Found(
                kind=one,
                hits=[one.hit(each) for each in shown(one.key)],
                count=counts[one.key],
            )
            for one in kinds
            if one.key in found
        ],
        num_tables=counts.get("table", 0),
        num_columns=counts.get("column", 0),
        paged=place,
    )


def search_csv(
    user: User | AnonymousUser, *, q: str, kind: str = ""
) -> Iterator[Sequence[object]]:
    """Yield a header and everything that was found."""
    yield ("kind", "name", "column", "type", "description")
    if not q:
        return
    if kind in {"", "table"}:
        for table in _tables(user, q).iterator(chunk_size=CSV_CHUNK):
            yield ("table", table.full_name, "", "", table.about)
    if kind in {"", "column"}:
        for column in _columns(user, q).iterator(chunk_size=CSV_CHUNK):
            name = column.table.full_name
            yield ("column", name, column.path, column.type_text, "")
    for one in kinds_for(user):
        if kind in {"", one.key}:
            for each in one.find(user, q):
                hit = one.hit(each)
                yield (one.key, hit.name, "", "", hit.about)


def _tables(user: User | AnonymousUser, q: str) -> Any:  # noqa: ANN401 (annotated rows)
    words = name_holds(q) | Q(description__icontains=q) | Q(comment__icontains=q)
    labelled = with_tag(Table.objects.visible_to(user))
    found = labelled.filter(words | labels_hold(q)).defer("summary")
    found = found.select_related("owned_by")
    return found.order_by(_best_first("name", q), "namespace", "name")


def _columns(user: User | AnonymousUser, q: str) -> QuerySet[TableColumn]:
    found = TableColumn.objects.visible_to(user).holding(q)
    ordered = found.order_by(
        _best_first("path", q), "table__namespace", "table__name", "position"
    )
    return ordered.select_related("table").defer("table__summary")


def _count(
    found: TableHits | ColumnHits | QuerySet[Any] | Sequence[Any],
) -> int:
    if isinstance(found, TableHits | ColumnHits):
        return found.count
    return found.count() if isinstance(found, QuerySet) else len(found)


def _best_first(name: str, q: str) -> Case:
    """Order what is called so first, then what begins so, then the rest."""
    return Case(
        When(**{f"{name}__iexact": q}, then=Value(0)),
        When(**{f"{name}__istartswith": q}, then=Value(1)),
        default=Value(2),
    )
