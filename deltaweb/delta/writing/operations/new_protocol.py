"""Which features a table's definition needs, and the protocol that a new one gets.

Source: delta_protocol.md, "Protocol Evolution" and "Table Features".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from deltaweb.delta.features.identity_columns import IDENTITY_COLUMNS
from deltaweb.delta.features.registry import (
    BY_WRITER_VERSION,
    FEATURES_READER_VERSION,
    FEATURES_WRITER_VERSION,
)
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.protocol.schema import DataType, PrimitiveType, StructType, types_in
from deltaweb.delta.protocol.schema.field_keys import DEFAULT, GENERATION, IDENTITY
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX
from deltaweb.delta.writing.operations.properties import needed_features

CHECK_CONSTRAINTS: Final = "checkConstraints"
LOCAL_TIME_FEATURE: Final = "timestampNtz"
OF_TYPES: Final[Mapping[str, str]] = {
    "timestamp_ntz": LOCAL_TIME_FEATURE,
    "variant": "variantType",
}
"""The features that types need."""
OF_READERS: Final = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "typeWidening",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        *OF_TYPES.values(),
    }
)
"""Features that readers must know, too."""
NEW_WRITER_VERSION: Final = 2
"""What a new table asks of writers at least: append-only tables and invariants."""
CHECKPOINT_PREFIX: Final = "delta.checkpoint.writeStats"
"""Properties that writers keep from version 3 on."""


def type_features(data_type: DataType) -> list[str]:
    """Return the table features that a type needs, at any depth; once each."""
    found = [
        OF_TYPES[inside.name]
        for inside in types_in(data_type)
        if isinstance(inside, PrimitiveType) and inside.name in OF_TYPES
    ]
    return [*dict.fromkeys(found)]


def column_features(schema: StructType) -> Iterator[str]:
    """Yield the table features that the metadata of columns needs."""
    said = {key for column in schema.fields for key in column.metadata}
    if GENERATION in said:
        yield "generatedColumns"
    if DEFAULT in said:
        yield "allowColumnDefaults"
    if any(key.startswith(IDENTITY) for key in said):
        yield IDENTITY_COLUMNS


def new_protocol(
    schema: StructType, configuration: Mapping[str, str], features: Iterable[str] = ()
) -> Protocol:
    """Return the lowest protocol that a table of a definition asks for."""
    has_rules = any(
        name.startswith((CONSTRAINT_PREFIX, CHECKPOINT_PREFIX))
        for name in configuration
    )
    needed = [
        *type_features(schema),
        *column_features(schema),
        *needed_features(configuration),
        *([CHECK_CONSTRAINTS] if has_rules else ()),
        *features,
    ]
    return lowest_protocol(needed)


def lowest_protocol(features: Iterable[str]) -> Protocol:
    """Return the lowest protocol for new tables that has some features.

    By its version alone where that is enough; else it lists them, and with them what
    any new table has.
    """
    wanted = [*dict.fromkeys(features)]
    known: list[str] = []
    for version, names in BY_WRITER_VERSION.items():
        known.extend(names)
        if version < NEW_WRITER_VERSION or not set(wanted) <= set(known):
            continue
        if set(wanted) & OF_READERS:
            break  # versions of readers below 3 do not list it
        return Protocol(min_reader_version=1, min_writer_version=version)
    first = BY_WRITER_VERSION[NEW_WRITER_VERSION]
    of_readers = [name for name in wanted if name in OF_READERS]
    return Protocol(
        min_reader_version=FEATURES_READER_VERSION if of_readers else 1,
        min_writer_version=FEATURES_WRITER_VERSION,
        reader_features=of_readers or None,
        writer_features=[*dict.fromkeys([*wanted, *first])],
    )
