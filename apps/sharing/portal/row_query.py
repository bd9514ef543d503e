"""Which rows of a shared table an address asks for, by what the recipient sees."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.http import QueryDict

from apps.jobs.waiting import GLANCE_S
from apps.pages.request.parameters import QueryError
from apps.sharing.access.grants.rules import TableRule, rule_for
from apps.sharing.answers.awaited import once_prepared
from apps.sharing.answers.changed_rows import FEED
from apps.sharing.answers.opening import open_shared, terms_of
from apps.sharing.answers.rows import readable_columns, selected_bytes
from apps.sharing.answers.versions import open_shared_version
from apps.sharing.models import PreparedVersion, Recipient, SharedTable
from apps.sharing.portal.conditions import (
    Condition,
    comparable,
    compiled,
    parse_conditions,
    sql_of,
)
from apps.sharing.portal.reading import ReadRows
from deltaweb.delta.feed.row_schema import COMMIT_VERSION
from deltaweb.delta.protocol.schema import StructType
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.table_query import TableQuery

PAGE_LENGTH: Final = 50
BLOCK_LENGTH: Final = 500  # rows of one job: ten pages of one reading
MAX_PAGE: Final = 20_000
MAX_NEEDLE: Final = 200


@dataclass(frozen=True, slots=True)
class SeenTable:
    """A shared table in the newest version that a recipient is offered."""

    shared: SharedTable
    recipient: Recipient
    rule: TableRule
    version: SharedVersion

    @property
    def schema(self) -> StructType:
        return self.version.schema

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values are read."""
        return readable_columns(self.schema)

    def num_rows(self) -> int | None:
        """Return how many rows the recipient sees; None if that is not known."""
        version = self.version.version
        if self.rule.is_whole:
            table = self.shared.table
            return table.num_records if table.version == version else None
        ready = PreparedVersion.objects.filter(
            shared_table=self.shared, rule=self.rule.digest, version=version
        ).first()
        return None if ready is None else ready.num_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """Which rows are asked for.

    Attributes:
        sort: A column, with - in front for the reverse order; "" for none.
        page: From 1.
        columns: A text that the columns which are shown have in name or comment.
    """

    conditions: list[Condition]
    sort: str = ""
    page: int = 1
    columns: str = ""

    @property
    def sql(self) -> str:
        return sql_of(self.conditions)

    @property
    def text(self) -> str:
        """The conditions as people read them."""
        return " and ".join(one.text for one in self.conditions)

    @property
    def sort_text(self) -> str:
        """The order as people read it."""
        name = self.sort.removeprefix("-")
        return name if name == self.sort else f"{name}, descending"

    @property
    def offset(self) -> int:
        """The first row of the block that has the page."""
        before = (self.page - 1) * PAGE_LENGTH
        return before // BLOCK_LENGTH * BLOCK_LENGTH

    @property
    def first_row(self) -> int:
        """The number of the first row of the page, from 1."""
        return (self.page - 1) * PAGE_LENGTH + 1


def seen_table(
    shared: SharedTable, recipient: Recipient, *, now: datetime
) -> SeenTable:
    """Open a shared table as a recipient sees it, without reading its rows."""
    rule = rule_for(shared, recipient)
    version = once_prepared(
        shared,
        lambda: open_shared_version(
            shared, open_shared(shared), TableQuery(), rule, now=now
        ),
        now=now,
        wait_s=GLANCE_S,  # its page asks again
    )
    return SeenTable(shared, recipient, rule, version)


def parse_row_query(seen: SeenTable, query: QueryDict) -> RowQuery:
    """Read `f` (repeatable), `sort`, `page` and `columns` of an address or a form.

    Raises:
        QueryError: If one of them names no column, or does not fit it.
    """
    sort = query.get("sort", "")
    if sort and sort.removeprefix("-") not in comparable(seen.schema):
        raise QueryError(
            part="sort",
            message="There is no such column to sort by.",
            hint="Choose a column of the list.",
        )
    return RowQuery(
        conditions=parse_conditions(seen.schema, query.getlist("f")),
        sort=sort,
        page=parse_page(query),
        columns=parse_columns(query),
    )


def parse_columns(query: QueryDict) -> str:
    """Read `columns` of an address."""
    return query.get("columns", "").strip()[:MAX_NEEDLE]


def parse_page(query: QueryDict) -> int:
    """Read `page` of an address."""
    page = query.get("page", "") or "1"
    if not (page.isascii() and page.isdigit() and 1 <= int(page[:9]) <= MAX_PAGE):
        raise QueryError(part="page", expected=f"a page from 1 to {MAX_PAGE:,}")
    return int(page[:9])


def page_of(seen: SeenTable, query: RowQuery) -> ReadRows:
    """Return the reading of the block that has a page."""
    return _reading(seen, query, limit=BLOCK_LENGTH, offset=query.offset)


def all_of(seen: SeenTable, query: RowQuery, *, file: str = "") -> ReadRows:
    """Return the reading of every row that conditions are true for.

    Args:
        file: What the job writes as well; see `ReadRows`.
    """
    return replace(_reading(seen, query, limit=None, offset=0), file=file)


def changes_of(seen: SeenTable, first: int, query: RowQuery) -> ReadRows:
    """Return the reading of changed rows, the newest first, that has a page.

    Its last column has the values before an update; its name is that of no column.
    """
    before = "before"
    while before in seen.columns:
        before += "_"
    return replace(
        _reading(seen, query, limit=BLOCK_LENGTH, offset=query.offset),
        columns=(*FEED, *seen.columns, before),
        sort=f"-{COMMIT_VERSION}",
        changes_from=first,
    )


def counted_bytes(seen: SeenTable, query: RowQuery) -> int:
    """Return what a download of these rows counts: the size of the files it reads."""
    return selected_bytes(seen.version, compiled(query.sql, seen.schema))


def form_filter(query: Mapping[str, str]) -> str:
    """Return what the parts of the form of a filter are as a condition; "" for none."""
    parts = [query.get(name, "") for name in ("fc", "fo", "fv")]
    return ":".join(parts) if parts[0] else ""


def _reading(
    seen: SeenTable, query: RowQuery, *, limit: int | None, offset: int
) -> ReadRows:
    return ReadRows(
        shared_table=str(seen.shared.id),
        recipient=str(seen.recipient.id),
        terms=terms_of(seen.shared, seen.rule),
        version=seen.version.version,
        columns=seen.columns,
        condition=query.sql,
        sort=query.sort,
        limit=limit,
        offset=offset,
    )
