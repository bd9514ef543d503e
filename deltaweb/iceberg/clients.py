"""Whether the known clients of the Iceberg catalog read a version."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import COLUMN_MAPPING
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.foreign_types import TIMESTAMP_NTZ, VARIANT
from deltaweb.delta.features.known.clients import (
    CANNOT,
    ICEBERG,
    KnownClient,
    Support,
    clients_of,
)
from deltaweb.delta.features.type_widening import TYPE_WIDENING
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import MapType, StructType, types_in
from deltaweb.iceberg.schema import (
    FieldIds,
    TableColumns,
    partition_fields,
    schema_json,
)
from deltaweb.sharing.clients import ClientReading, HelpfulSetting, How, judged
from deltaweb.sharing.compatibility import Misreading, misreadings
from deltaweb.sharing.plain import (
    left_in_plain,
    needs_plain,
    plain_form,
    plain_schema,
)

IN_ICEBERG: Final = frozenset({COLUMN_MAPPING, TIMESTAMP_NTZ, TYPE_WIDENING, VARIANT})
"""The features that the schema expresses, or for which the door refuses the table."""


def iceberg_readings(
    protocol: Protocol,
    metadata: Metadata,
    schema: StructType,
    *,
    has_deletion_vectors: bool | None,
    is_plain: bool = False,
) -> list[ClientReading]:
    """Return, for each client of the Iceberg catalog, whether it reads a version.

    Args: As `misreadings`.
        is_plain: Whether recipients get plain files.
    """
    found = misreadings(
        protocol, metadata, schema, has_deletion_vectors=has_deletion_vectors
    )
    form = plain_form(protocol, metadata, schema)
    stored = _Form(found, refusal_of(metadata, schema))
    plain = _Form(left_in_plain(found), refusal_of(form.metadata, plain_schema(schema)))
    readings = []
    for client in clients_of(ICEBERG):
        by_stored, by_plain = stored.reading(client), plain.reading(client)
        if is_plain:
            is_copied = by_plain.can_read and needs_plain(found)
            reading = replace(by_plain, how=How.PLAIN) if is_copied else by_plain
        elif not by_stored.can_read and by_plain.can_read:
            reading = replace(by_stored, remedy=HelpfulSetting.PLAIN)
        else:
            reading = by_stored
        readings.append(reading)
    return readings


def without_ids(
    readings: Iterable[ClientReading], schema: StructType
) -> Iterator[ClientReading]:
    """Yield the readings of clients for files that are served without field ids."""
    for reading in readings:
        client = reading.client
        if reading.can_read and _needs_ids(client, schema):
            reason = f"{client.product} finds no columns in files without field ids."
            stopped = judged(client, {}, {}, refusal=reason)
            yield replace(stopped, used=reading.used, remedy=HelpfulSetting.IDS)
        else:
            yield reading


@dataclass(frozen=True, slots=True)
class _Form:
    """A version as stored, or as plain files.

    Attributes:
        found: Why clients may misread it.
        refusal: Why Iceberg cannot express it; "" if it can.
    """

    found: Sequence[Misreading]
    refusal: str

    def reading(self, client: KnownClient) -> ClientReading:
        used = {
            one.feature: one.reason
            for one in self.found
            if one.feature not in IN_ICEBERG
        }
        supports = {name: _support(client, name) for name in used}
        return judged(
            client, supports, used, refusal=self.refusal, response_format="iceberg"
        )


def refusal_of(metadata: Metadata, schema: StructType) -> str:
    """Return why Iceberg cannot express a version, as a sentence; "" if it can."""
    columns = TableColumns(
        schema, tuple(metadata.partition_columns), metadata.configuration
    )
    ids = FieldIds([columns])
    try:
        schema_json(columns, ids)
        partition_fields(columns, ids)
    except DeltaError as error:
        return error.message
    return ""


def _support(client: KnownClient, feature: str) -> Support:
    """Return what a client does with a feature outside the schema."""
    return client.support(feature) if feature == DELETION_VECTORS else CANNOT


def _needs_ids(client: KnownClient, schema: StructType) -> bool:
    if client.needs_ids == "maps":
        return any(isinstance(part, MapType) for part in types_in(schema))
    return client.needs_ids == "all"
