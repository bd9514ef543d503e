"""Where an answer about files begins and ends, and the tokens that say so.

A token names the version and what the first page was answered with, so that all pages
are of one answer: it is refused where the table is not shared on the same terms any
more, or its protocol or metadata would be told otherwise.

Source: delta_sharing_protocol_2026.md, "EndStreamAction"; sharing_wire.md, M16 to M18.
"""

from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, Self, TypeVar

from apps.sharing.access.grants.rules import TableRule
from apps.sharing.answers.opening import terms_of
from apps.sharing.answers.signed_lines import SigningPlan
from apps.sharing.models import SharedTable
from apps.tables.index.folders import index_folders
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.index.folder.held import hold_index
from deltaweb.index.query.change_selection import ChangePlace
from deltaweb.index.query.file_pages import PagePlace
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.errors import QueryTokenEndedError
from deltaweb.sharing.page_token import PageScope
from deltaweb.sharing.query_tokens import (
    MAX_REFRESHED,
    PAGE_LIFETIME,
    REFRESH_MARGIN,
    TokenMaker,
    query_digest,
)
from deltaweb.sharing.table_query import ChangesQuery, PageAsked, TableQuery
from deltaweb.sharing.wire.lines import EndAction

NONE = ""


class PageStart(Protocol):
    """What a page's token says."""

    @property
    def head(self) -> str:
        """What tells the first lines of the answer from others."""

    def values(self) -> list[object]:
        """Return what the token says of it."""

    @classmethod
    def of(cls, values: tuple[str, ...]) -> Self:
        """Return what a token says."""


Start = TypeVar("Start", bound=PageStart)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotStart:
    """Where a page of a version's files begins.

    Attributes:
        limit: How many rows of the limit are missing still; None without one.
        head: What tells the first lines of the answer from others.
    """

    version: int
    place: PagePlace
    limit: int | None
    head: str

    def values(self) -> list[object]:
        """Return what the token says of it."""
        index, row, rank = astuple(self.place)
        return [self.head, self.version, index, _text(row), rank, _text(self.limit)]

    @classmethod
    def of(cls, values: tuple[str, ...]) -> Self:
        """Return what a token says."""
        head, version, index, row, rank, limit = values
        return cls(
            version=int(version),
            place=PagePlace(index, _number(row), int(rank)),
            limit=_number(limit),
            head=head,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesStart:
    """Where a page of the changes of a range begins.

    Attributes:
        place: The first file of the page.
        has_deletion_vectors: Whether a file of the range has a deletion vector.
        head: What tells the first lines of the answer from others.
    """

    first: int
    last: int
    shown: int
    place: ChangePlace
    has_deletion_vectors: bool
    head: str

    def values(self) -> list[object]:
        """Return what the token says of it."""
        place, has_vectors = astuple(self.place), int(self.has_deletion_vectors)
        return [self.head, self.first, self.last, self.shown, *place, has_vectors]

    @classmethod
    def of(cls, values: tuple[str, ...]) -> Self:
        """Return what a token says."""
        head, *numbers = values
        first, last, shown, version, offset, has_vectors = map(int, numbers)
        return cls(
            first=first,
            last=last,
            shown=shown,
            place=ChangePlace(version, offset),
            has_deletion_vectors=bool(has_vectors),
            head=head,
        )


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a token says whose files are wanted again."""

    version: int
    begun_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """Makes and reads the tokens of one query's answer.

    Attributes:
        refreshes: Of refreshed URLs.
        lifetime: How long URLs are good at most.
    """

    asked: PageAsked
    pages: TokenMaker
    refreshes: TokenMaker
    lifetime: timedelta
    shared: SharedTable
    capabilities: Capabilities

    def end(
        self,
        following: PageStart | None,
        *,
        refreshes: int | None = None,
        refreshed: Refreshed | None = None,
        expires_at: datetime | None = None,
    ) -> EndAction | None:
        """Return what the answer says at its end; None where nobody asks for that.

        Args:
            following: Where the next page begins; None after the last one.
            refreshes: The version whose URLs may be refreshed; None for none.
            refreshed: What refreshed these URLs; None for those of a first answer.
            expires_at: When the first URL expires; None without any.
        """
        if not (self.asked.needs_end or self.capabilities.wants_end):
            return None
        refresh_token = None
        if refreshes is not None and self.asked.with_refresh_token:
            refresh_token = self._refresh_token(refreshes, refreshed)
        return EndAction(
            refresh_token=refresh_token,
            next_page_token=None if following is None else self._next_page(following),
            min_expiration_ms=None if expires_at is None else to_ms(expires_at),
        )

    def _next_page(self, start: PageStart) -> str:
        """Return the token of the page that begins there."""
        if isinstance(start, SnapshotStart) and start.place.index:
            hold_index(index_folders(self.shared.table_id) / start.place.index)
        return self.pages.make(start.values(), ends_at=self.pages.now + PAGE_LIFETIME)

    def start(self, kind: type[Start]) -> Start | None:
        """Return where the page begins that is asked for; None for the first one."""
        if not self.asked.page_token:
            return None
        return kind.of(self.pages.read(self.asked.page_token))

    def check_head(self, start: PageStart | None, head: str) -> None:
        """Refuse a page whose first lines would not be those of the page before."""
        if start is not None and start.head != head:
            raise QueryTokenEndedError(
                name=self.pages.scope.field,
                reason="the table has changed meanwhile",
            )

    def _refresh_token(self, version: int, refreshed: Refreshed | None) -> str:
        """Return the token that gives the files of a version fresh URLs."""
        now = self.refreshes.now
        begun_at = now if refreshed is None else refreshed.begun_at
        ends_at = min(now + self.lifetime + REFRESH_MARGIN, begun_at + MAX_REFRESHED)
        values = [version, int(begun_at.timestamp())]
        return self.refreshes.make(values, ends_at=ends_at)

    def refreshed(self) -> Refreshed | None:
        """Return whose files are wanted again; None where none are."""
        if not self.asked.refresh_token:
            return None
        version, begun_s = map(int, self.refreshes.read(self.asked.refresh_token))
        return Refreshed(version, datetime.fromtimestamp(begun_s, tz=UTC))


def paging_of(
    shared: SharedTable,
    rule: TableRule,
    query: TableQuery | ChangesQuery,
    *,
    capabilities: Capabilities,
    signing: SigningPlan,
) -> Paging:
    """Return what makes and reads the tokens of a query's answer.

    A token that refreshes is good for the table's files, whatever hints come with it:
    some clients leave them out then.
    """
    table = terms_of(shared, rule)
    recipient = str(signing.token.recipient_id)
    names = (*table, *capabilities.names, query_digest(query))
    page = PageScope("query", recipient, names, giver="query")
    refresh = PageScope("refresh", recipient, table, "refreshToken", "table")
    pages, refreshes = (
        TokenMaker(scope=scope, keys=signing.token_keys, now=signing.now)
        for scope in (page, refresh)
    )
    return Paging(
        asked=query.page,
        pages=pages,
        refreshes=refreshes,
        lifetime=timedelta(seconds=signing.lifetime_s),
        shared=shared,
        capabilities=capabilities,
    )


def _text(number: int | None) -> str:
    return NONE if number is None else str(number)


def _number(text: str) -> int | None:
    return None if text == NONE else int(text)
