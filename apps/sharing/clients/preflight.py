"""Which clients can read tables as they are shared, from what is indexed of them.

The newest protocol and metadata of each table decide. Whether a file of it has a
deletion vector is not indexed, so that is said to be unknown.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import OuterRef, Subquery

from apps.sharing.models import Recipient, SharedTable
from apps.tables.models import MetadataVersion, ProtocolVersion, Table
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.registry import required_features
from deltaweb.delta.feed.versions import is_feed_on
from deltaweb.delta.protocol.schema import StructType
from deltaweb.iceberg.clients import iceberg_readings, without_ids
from deltaweb.sharing.clients import (
    ClientReading,
    HelpfulSetting,
    client_readings,
)
from deltaweb.sharing.compatibility import Misreading, misreadings
from deltaweb.sharing.narrowed import narrowed
from deltaweb.sharing.plain import IN_COPIES
from deltaweb.sharing.wire import delta

NOT_INDEXED = "It is not indexed yet, so its features are not known."
VECTORS_UNSEEN = (
    "Every client can read it until a file has a deletion vector. Each query checks "
    "this."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """What a table would be like for those who read it through a share.

    Attributes:
        misreadings: What the queries of clients of the parquet format are refused for.
        idle_features: Reader features that its protocol has and nothing uses.
        note: What is not known, as a sentence, or nothing.
        is_known: Whether anything is known; without, the other parts are empty.
    """

    clients: tuple[ClientReading, ...] = ()
    misreadings: tuple[Misreading, ...] = ()
    idle_features: tuple[str, ...] = ()
    note: str = ""
    is_known: bool = True

    @property
    def is_clean(self) -> bool:
        return self.is_known and all(client.can_read for client in self.clients)

    @property
    def num_reading(self) -> int:
        return sum(1 for client in self.clients if client.can_read)

    @property
    def is_read_in_delta(self) -> bool:
        """Whether a client reads it in the delta format."""
        return any(client.response_format == delta.NAME for client in self.clients)

    @property
    def blocking(self) -> str:
        """The features that stand in the way, by name."""
        return ", ".join(misreading.feature for misreading in self.misreadings)

    @property
    def remedies(self) -> list[tuple[HelpfulSetting, list[str]]]:
        """The settings that help, each with the clients that it helps."""
        found = [
            (remedy, [one.name for one in self.clients if one.remedy is remedy])
            for remedy in (HelpfulSetting.PLAIN, HelpfulSetting.IDS)
        ]
        return [(remedy, names) for remedy, names in found if names]

    @property
    def state(self) -> str:
        """`unknown`, `clean`, `partly` or `refused`."""
        if not self.is_known:
            return "unknown"
        if self.is_clean:
            return "clean"
        return "partly" if self.num_reading else "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The form in which recipients get a table.

    Attributes:
        columns: The columns that they see; None for all. No other column is named.
        is_plain: Whether files are copied until they are plain.
        has_ids: Whether the Iceberg catalog serves files with field ids.
    """

    columns: Collection[str] | None = None
    is_plain: bool = False
    has_ids: bool = True


AS_STORED: Final = Served()


def served(shared: SharedTable, recipient: Recipient | None = None) -> Served:
    """Return how recipients of a shared table get it.

    Args:
        shared: The table.
        recipient: One recipient; None for all.
    """
    return Served(
        columns=shared.columns or None,
        is_plain=shared.is_plain or (recipient is not None and recipient.plain),
        has_ids=shared.share.with_field_ids,
    )


@dataclass(frozen=True, slots=True)
class IndexedTable:
    """The newest protocol and metadata of a table; None if it is not indexed."""

    metadata: MetadataVersion | None
    protocol: ProtocolVersion | None

    @property
    def has_feed(self) -> bool:
        """Whether the newest version keeps the changes of rows."""
        return self.metadata is not None and is_feed_on(self.metadata.configuration)

    def preflight(self, how: Served = AS_STORED) -> Preflight:
        """Return what the table is like for recipients who get it in some way."""
        if self.metadata is None or self.protocol is None:
            return Preflight(note=NOT_INDEXED, is_known=False)
        return _preflight(self.metadata, self.protocol, how)


def preflights(table_ids: Collection[UUID]) -> dict[UUID, Preflight]:
    """Return the pre-flight of each table as a whole, by three queries."""
    return {key: one.preflight() for key, one in indexed_tables(table_ids).items()}


def preflights_of(
    shared: Iterable[SharedTable], recipient: Recipient | None = None
) -> dict[UUID, Preflight]:
    """Return the pre-flight of each shared table by its id, by three queries.

    Args:
        shared: The tables.
        recipient: As in `served`.
    """
    rows = list(shared)
    known = indexed_tables({row.table_id for row in rows})
    return {
        row.id: known[row.table_id].preflight(served(row, recipient)) for row in rows
    }


def indexed_tables(table_ids: Collection[UUID]) -> dict[UUID, IndexedTable]:
    """Return what is indexed of each table, by three queries."""
    newest = {
        model: Subquery(
            model._default_manager.filter(table=OuterRef("id"))  # noqa: SLF001 (Django's documented name)
            .order_by("-version")
            .values("id")[:1]
        )
        for model in (MetadataVersion, ProtocolVersion)
    }
    rows = Table.objects.filter(id__in=table_ids).values_list(
        "id", newest[MetadataVersion], newest[ProtocolVersion]
    )
    wanted = list(rows)
    metadata = MetadataVersion.objects.in_bulk([row[1] for row in wanted if row[1]])
    protocols = ProtocolVersion.objects.in_bulk([row[2] for row in wanted if row[2]])
    return {
        table_id: IndexedTable(metadata.get(metadata_id), protocols.get(protocol_id))
        for table_id, metadata_id, protocol_id in wanted
    }


def preflight(table: Table) -> Preflight:
    """Return the pre-flight of one table."""
    return preflights([table.id])[table.id]


def preflight_data(found: Preflight) -> dict[str, object]:
    """Return a pre-flight as the JSON forms show it."""
    return {
        "known": found.is_known,
        "note": found.note or None,
        "refused_for": [
            {"feature": misreading.feature, "reason": misreading.reason}
            for misreading in found.misreadings
        ],
        "supported_but_unused": list(found.idle_features),
        "clients": [
            {
                "client": client.name,
                "by": client.client.about,
                "can_read": client.can_read,
                "reading": client.how.value,
                "reason": client.reason or None,
                "remedy": client.remedy.value or None,
                "minimum_version": client.minimum_version or None,
                "response_format": client.response_format or None,
                "source": client.client.source,
                "known_on": client.client.on.isoformat(),
            }
            for client in found.clients
        ],
    }


def _preflight(
    metadata_row: MetadataVersion, protocol_row: ProtocolVersion, how: Served
) -> Preflight:
    protocol, metadata = protocol_row.as_action(), metadata_row.as_action()
    try:
        schema = metadata_row.schema()
        if how.columns is not None:
            shown = tuple(field for field in schema.fields if field.name in how.columns)
            schema = StructType(shown)
            metadata = narrowed(metadata, metadata_row.schema(), schema.names)
    except DeltaError as error:
        return Preflight(note=error.message, is_known=False)
    facts = (protocol, metadata, schema)
    refused = misreadings(*facts, has_deletion_vectors=None)
    used = {misreading.feature for misreading in refused}
    readings, by_iceberg = (
        read(*facts, has_deletion_vectors=None, is_plain=how.is_plain)
        for read in (client_readings, iceberg_readings)
    )
    return Preflight(
        clients=(
            *readings,
            *(by_iceberg if how.has_ids else without_ids(by_iceberg, schema)),
        ),
        misreadings=tuple(
            one for one in refused if not (how.is_plain and one.feature in IN_COPIES)
        ),
        idle_features=tuple(
            name for name in required_features(protocol) if name not in used
        ),
        note=VECTORS_UNSEEN if used == {DELETION_VECTORS} and not how.is_plain else "",
    )
