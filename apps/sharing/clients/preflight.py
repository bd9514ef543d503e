"""Which clients can read tables as they are shared, from what is indexed of them.

The newest protocol and metadata of each table decide. Whether a file of it has a
deletion vector is not indexed, so that is said to be unknown.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Subquery

from apps.tables.models import MetadataVersion, ProtocolVersion, Table
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.registry import required_features
from deltaweb.delta.feed.versions import is_feed_on
from deltaweb.delta.protocol.schema import StructType
from deltaweb.sharing.clients import ClientReading, client_readings
from deltaweb.sharing.compatibility import Misreading, misreadings
from deltaweb.sharing.narrowed import narrowed

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
    def blocking(self) -> str:
        """The features that stand in the way, by name."""
        return ", ".join(misreading.feature for misreading in self.misreadings)

    @property
    def state(self) -> str:
        """`unknown`, `clean`, `partly` or `refused`."""
        if not self.is_known:
            return "unknown"
        if self.is_clean:
            return "clean"
        return "partly" if self.num_reading else "refused"


@dataclass(frozen=True, slots=True)
class IndexedTable:
    """The newest protocol and metadata of a table; None if it is not indexed."""

    metadata: MetadataVersion | None
    protocol: ProtocolVersion | None

    @property
    def has_feed(self) -> bool:
        """Whether the newest version keeps the changes of rows."""
        return self.metadata is not None and is_feed_on(self.metadata.configuration)

    def preflight(self, columns: Collection[str] | None = None) -> Preflight:
        """Return what the table is like for recipients.

        Args:
            columns: The columns that they see; None for all. Nothing else is named.
        """
        if self.metadata is None or self.protocol is None:
            return Preflight(note=NOT_INDEXED, is_known=False)
        return _preflight(self.metadata, self.protocol, columns)


def preflights(table_ids: Collection[UUID]) -> dict[UUID, Preflight]:
    """Return the pre-flight of each table as a whole, by three queries."""
    return {key: one.preflight() for key, one in indexed_tables(table_ids).items()}


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
                "client": client.client,
                "can_read": client.can_read,
                "reason": client.reason or None,
                "minimum_version": client.minimum_version or None,
                "response_format": client.response_format or None,
            }
            for client in found.clients
        ],
    }


def _preflight(
    metadata_row: MetadataVersion,
    protocol_row: ProtocolVersion,
    columns: Collection[str] | None,
) -> Preflight:
    protocol, metadata = protocol_row.as_action(), metadata_row.as_action()
    try:
        schema = metadata_row.schema()
        if columns is not None:
            shown = tuple(field for field in schema.fields if field.name in columns)
            schema = StructType(shown)
            metadata = narrowed(metadata, metadata_row.schema(), schema.names)
    except DeltaError as error:
        return Preflight(note=error.message, is_known=False)
    facts = (protocol, metadata, schema)
    refused = misreadings(*facts, has_deletion_vectors=None)
    used = {misreading.feature for misreading in refused}
    return Preflight(
        clients=tuple(client_readings(*facts, has_deletion_vectors=None)),
        misreadings=tuple(refused),
        idle_features=tuple(
            name for name in required_features(protocol) if name not in used
        ),
        note=VECTORS_UNSEEN if DELETION_VECTORS in used else "",
    )
