"""The tables and columns that a search finds; their rows wait until a page shows them.

A search reads the texts of all tables, so each kind reads them once: for the order, the
first keys and the number of all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.tables.catalogue.listing import first_of
from apps.tables.models import ColumnWords, Table, TableColumn
from apps.tables.models.rights import VIEW, allowed
from apps.tables.models.words import SEPARATOR

EXACT, BEGINS, HOLDS = range(3)
RANKS: Final = (EXACT, BEGINS, HOLDS)


@dataclass(frozen=True, slots=True)
class TableHits:
    """Tables in the order of a query.

    Attributes:
        ordered: The query.
        first: The ids of the first tables.
        count: The number of all.
    """

    ordered: QuerySet[Table]
    first: list[UUID]
    count: int

    @classmethod
    def of(cls, ordered: QuerySet[Table]) -> "TableHits":
        """Run the query."""
        return cls(ordered, *first_of(ordered))

    def __getitem__(self, rows: slice) -> list[Table]:
        if rows.stop > len(self.first) < self.count:
            return list(self.ordered[rows])
        ids = self.first[rows]
        found = Table.objects.defer("summary").select_related("owned_by").in_bulk(ids)
        return [found[key] for key in ids if key in found]


@dataclass(frozen=True, slots=True)
class ColumnHits:
    """Columns: those of a name, those that begin so, the others; each by their tables.

    Attributes:
        q: The text, in small letters.
        tables: For each rank, the tables by name, and how many columns each has of it.
    """

    q: str
    tables: tuple[list[tuple[UUID, int]], ...]

    @classmethod
    def of(cls, user: User | AnonymousUser, q: str) -> "ColumnHits":
        """Read the paths of the columns of all tables that a user may see."""
        lower = q.lower()
        visible = ColumnWords.objects.filter(allowed(user, VIEW, "table__"))
        ordered = visible.order_by("table__namespace", "table__name")
        texts = ordered.holding(lower).values_list("table", "paths")
        tables: tuple[list[tuple[UUID, int]], ...] = ([], [], [])
        for key, paths in texts.iterator(chunk_size=5_000):
            counts = [0, 0, 0]
            for path in paths.split(SEPARATOR):
                if lower in path:
                    counts[_rank(path, lower)] += 1
            for rank in RANKS:
                if counts[rank]:
                    tables[rank].append((key, counts[rank]))
        return cls(lower, tables)

    @property
    def count(self) -> int:
        """The number of columns."""
        return sum(count for _, count in chain(*self.tables))

    def __getitem__(self, rows: slice) -> list[TableColumn]:
        wanted = list(self._tables_of(rows))
        columns = TableColumn.objects.filter(table__in={key for _, key, _ in wanted})
        paths = columns.order_by("position").values_list("table", "path", "id")
        of_place: dict[tuple[int, UUID], list[int]] = {}
        for table, path, key in paths:
            if self.q in (lower := path.lower()):
                of_place.setdefault((_rank(lower, self.q), table), []).append(key)
        ids = [
            key
            for rank, table, shown in wanted
            for key in of_place.get((rank, table), [])[shown]
        ]
        found = columns.select_related("table").defer("table__summary").in_bulk(ids)
        return [found[key] for key in ids if key in found]

    def _tables_of(self, rows: slice) -> Iterator[tuple[int, UUID, slice]]:
        """Yield the ranks and tables of some rows, and which of their columns."""
        at = 0
        for rank in RANKS:
            for key, count in self.tables[rank]:
                first, last = max(0, rows.start - at), min(count, rows.stop - at)
                if first < last:
                    yield rank, key, slice(first, last)
                at += count
                if at >= rows.stop:
                    return


def _rank(path: str, q: str) -> int:
    if path == q:
        return EXACT
    return BEGINS if path.startswith(q) else HOLDS
