"""The providers, their shares, and the tables in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from apps.pages.page_json import OnPage, Spread, in_json
from apps.sharing.shares.received.services import lake_of, providers
from apps.tables.models import Lake, StorageConnection, Table
from apps.tables.storage.received import profile_fields
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.location import RECEIVED
from deltaweb.storage.received.profile import Profile

MOST_TABLES: Final = 200  # of one provider, on the page
SOON: Final = timedelta(days=14)
_COLUMNS: Final = (
    *("id", "namespace", "name", "location", "lake_id", "version", "committed_at"),
    *("size_bytes", "num_records", "vanished_at", "state", "error", "indexed_at"),
    *("fault", "fault_code", "error_code", "created_at"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedTableResource:
    """A table that a provider shares with us.

    Attributes:
        name: The name at the provider: `share.schema.table`.
        table: The name in the catalog.
        withdrawn_at: The time when the provider stopped listing it; null if it is
            listed.
    """

    name: str
    share: OnPage[str]
    schema: OnPage[str]
    own_name: OnPage[str]
    table: str
    url: str
    version: int | None
    committed_at: datetime | None
    size_bytes: int | None
    num_records: int | None
    shared_since: datetime
    withdrawn_at: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderResource:
    """A provider as lists and scripts see it; of its token the end alone.

    Attributes:
        token_end: The last characters of the token; empty for an OAuth client.
        client_id: The id of the OAuth client; null if the profile has a token.
        state: `answers`, `refused` if the last check failed, or `new`.
        looked_at: The last time the provider answered.
        num_withdrawn: The number of tables that the provider no longer shares.
    """

    name: str
    endpoint: str
    token_end: str
    client_id: str | None
    token_expires_at: datetime | None
    state: str
    num_shares: int
    num_tables: int
    num_withdrawn: int
    looked_at: datetime | None
    error: str | None
    hint: str | None
    added_at: datetime
    added_by: str | None


TablesOfSchema: TypeAlias = tuple[str, str, list[ReceivedTableResource]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow:
    """A provider with its tables.

    Attributes:
        ends_soon: Whether its token ends within a fortnight.
        is_cut: Whether it has more tables than are shown.
    """

    resource: Spread[ProviderResource]
    tables: Sequence[ReceivedTableResource]
    schemas: OnPage[Sequence[TablesOfSchema]]
    ends_soon: OnPage[bool]
    is_cut: OnPage[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedPage:
    """What others share with us."""

    received: Sequence[ProviderRow]

    @in_json
    def count(self) -> int:
        """How many providers there are."""
        return len(self.received)

    @property
    def num_tables(self) -> int:
        return sum(row.resource.num_tables for row in self.received)

    @property
    def num_shares(self) -> int:
        return sum(row.resource.num_shares for row in self.received)


def received_page(*, now: datetime) -> ReceivedPage:
    """Return the providers with their tables."""
    return ReceivedPage(received=list(provider_rows(now=now)))


def provider_rows(*, now: datetime) -> Iterator[ProviderRow]:
    """Yield the providers with their tables, by name."""
    lakes = {lake.url: lake for lake in Lake.objects.filter(url__startswith=RECEIVED)}
    for provider in providers():
        lake = lakes.get(provider.prefix)
        if lake is None:  # a storage that was added by hand
            continue
        yield _row(provider, lake, now=now)


def provider_row(provider: StorageConnection, *, now: datetime) -> ProviderRow:
    """Return one provider with its tables."""
    return _row(provider, lake_of(provider), now=now)


def _row(provider: StorageConnection, lake: Lake, *, now: datetime) -> ProviderRow:
    found = lake.tables.only(*_COLUMNS).order_by("location")
    tables = [received_table(table) for table in found[: MOST_TABLES + 1]]
    shown = tables[:MOST_TABLES]
    resource = _provider(provider, lake)
    expires_at = resource.token_expires_at
    return ProviderRow(
        resource=resource,
        tables=shown,
        schemas=list(_schemas(shown)),
        ends_soon=expires_at is not None and expires_at < now + SOON,
        is_cut=len(tables) > MOST_TABLES,
    )


def received_table(table: Table) -> ReceivedTableResource:
    """Return a registered table as one that is received."""
    names = names_of(table.location)
    return ReceivedTableResource(
        name=".".join(names),
        share=names[0],
        schema=names[1],
        own_name=names[2],
        table=table.full_name,
        url=table.get_absolute_url(),
        version=table.version,
        committed_at=table.committed_at,
        size_bytes=table.size_bytes,
        num_records=table.num_records,
        shared_since=table.created_at,
        withdrawn_at=table.vanished_at,
        error=table.error or None,
    )


def names_of(location: str) -> tuple[str, ...]:
    """Return share, schema and table of a location."""
    return tuple(map(unquote, location.removeprefix(RECEIVED).split("/")[1:]))


def _provider(provider: StorageConnection, lake: Lake) -> ProviderResource:
    locations = lake.tables.values_list("location", "vanished_at")
    present = [names_of(location) for location, gone in locations if gone is None]
    withdrawn = sum(1 for _, gone in locations if gone is not None)
    said = _profile(provider)
    return ProviderResource(
        name=provider.name,
        endpoint=said.get("endpoint", ""),
        token_end=said.get("token_end", ""),
        client_id=said.get("client_id"),
        token_expires_at=said.get("expires_at"),
        state={"scanned": "answers", "failed": "refused"}.get(lake.state, "new"),
        num_shares=len({names[0] for names in present}),
        num_tables=len(present),
        num_withdrawn=withdrawn,
        looked_at=lake.scanned_at,
        error=lake.error or said.get("error"),
        hint=lake.error_hint or None,
        added_at=provider.created_at,
        added_by=provider.created_by.username if provider.created_by else None,
    )


def _profile(provider: StorageConnection) -> dict[str, Any]:
    """Return what may be shown of a profile, or why there is nothing."""
    try:
        profile = Profile.of_texts(profile_fields(provider))
    except DeltaError as error:
        return {"error": error.message}
    return {
        "endpoint": profile.endpoint,
        "token_end": profile.token_end,
        "client_id": profile.client.client_id if profile.client else None,
        "expires_at": profile.expires_at,
    }


def _schemas(tables: Sequence[ReceivedTableResource]) -> Iterator[TablesOfSchema]:
    """Group tables by schema; they come in the order of their locations."""
    for (share, schema), some in groupby(tables, key=attrgetter("share", "schema")):
        yield share, schema, list(some)
