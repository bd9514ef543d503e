"""Whether the known clients of the Iceberg catalog read a version."""

from dataclasses import replace
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
from deltaweb.sharing.clients import ClientReading, HelpfulSetting, judged
from deltaweb.sharing.compatibility import misreadings

IN_ICEBERG: Final = frozenset({COLUMN_MAPPING, TIMESTAMP_NTZ, TYPE_WIDENING, VARIANT})
"""The features that the schema expresses, or for which the door refuses the table."""


def iceberg_readings(
    protocol: Protocol,
    metadata: Metadata,
    schema: StructType,
    *,
    has_deletion_vectors: bool | None,
    has_ids: bool,
) -> list[ClientReading]:
    """Return, for each client of the Iceberg catalog, whether it reads a version.

    Args: As `misreadings`.
        has_ids: Whether data files are served with field ids.
    """
    used = {
        one.feature: one.reason
        for one in misreadings(
            protocol, metadata, schema, has_deletion_vectors=has_deletion_vectors
        )
        if one.feature not in IN_ICEBERG
    }
    refusal = refusal_of(metadata, schema)
    readings = []
    for client in clients_of(ICEBERG):
        supports = {name: _support(client, name) for name in used}
        found = judged(
            client, supports, used, refusal=refusal, response_format="iceberg"
        )
        if found.can_read and not has_ids and _needs_ids(client, schema):
            without = f"{client.product} finds no columns in files without field ids."
            stopped = judged(client, supports, used, refusal=without)
            found = replace(stopped, remedy=HelpfulSetting.IDS)
        readings.append(found)
    return readings


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
