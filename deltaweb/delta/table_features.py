"""What a protocol asks of a reader, and what this reader answers.

One registry says what is done with each feature that is known; a reader feature that
is absent from it is refused by its name, whatever the version numbers are. Writer
features ask nothing of a reader.

Source: delta_protocol.md, "Protocol Evolution".
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from deltaweb.delta.actions import Metadata, Protocol
from deltaweb.delta.errors import (
    DeltaError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
)
from deltaweb.delta.table_properties import has_in_commit_timestamps

MAPPING_READER_VERSION: Final = 2  # brought column mapping, by its number
FEATURES_READER_VERSION: Final = 3  # lists its features by name
MAPPING_MODE: Final = "delta.columnMapping.mode"
NO_MAPPING: Final = "none"
COLUMN_MAPPING: Final = "columnMapping"
IN_COMMIT_TIMESTAMP: Final = "inCommitTimestamp"
DELETION_VECTORS: Final = "deletionVectors"
V2_CHECKPOINT: Final = "v2Checkpoint"
UNLISTED_FEATURES: Final = "a reader version 3 without a list of features"


class Reading(Enum):
    """What a feature in the list of reader features means for reading."""

    UNCHANGED = "reads as any table of reader version 1"
    REFUSED = "is not read"
    UNLESS_MAPPED = "is read while no column is mapped"


READING: Final[Mapping[str, Reading]] = {
    # Rules for writers alone.
    "allowColumnDefaults": Reading.UNCHANGED,
    "appendOnly": Reading.UNCHANGED,
    "changeDataFeed": Reading.UNCHANGED,
    "checkConstraints": Reading.UNCHANGED,
    "checkpointProtection": Reading.UNCHANGED,
    "clustering": Reading.UNCHANGED,
    "domainMetadata": Reading.UNCHANGED,
    "generatedColumns": Reading.UNCHANGED,
    "icebergCompatV1": Reading.UNCHANGED,
    "icebergCompatV2": Reading.UNCHANGED,
    "identityColumns": Reading.UNCHANGED,
    IN_COMMIT_TIMESTAMP: Reading.UNCHANGED,
    "invariants": Reading.UNCHANGED,
    "rowTracking": Reading.UNCHANGED,
    "vacuumProtocolCheck": Reading.UNCHANGED,
    # Rules for readers.
    COLUMN_MAPPING: Reading.UNLESS_MAPPED,
    "catalogManaged": Reading.REFUSED,
    DELETION_VECTORS: Reading.REFUSED,
    "timestampNtz": Reading.REFUSED,
    "typeWidening": Reading.REFUSED,
    "typeWidening-preview": Reading.REFUSED,
    V2_CHECKPOINT: Reading.REFUSED,
    "variantShredding": Reading.REFUSED,
    "variantShredding-preview": Reading.REFUSED,
    "variantType": Reading.REFUSED,
    "variantType-preview": Reading.REFUSED,
}


def reading_refusal(
    protocol: Protocol, metadata: Metadata, *, root: str, version: int
) -> DeltaError | None:
    """Return why a version may not be read, None when it may."""
    reader_version = protocol.min_reader_version
    if reader_version > FEATURES_READER_VERSION:
        return UnsupportedProtocolError(
            root=root,
            version=version,
            min_reader_version=reader_version,
            supported=FEATURES_READER_VERSION,
        )
    refused = [
        name
        for name in _required_features(protocol)
        if _is_refused(name, metadata.configuration)
    ]
    if not refused:
        return None
    return UnsupportedFeatureError(root=root, version=version, features=refused)


def mapping_mode(configuration: Mapping[str, str]) -> str:
    """Return the column mapping mode of a table, `none` by default."""
    return configuration.get(MAPPING_MODE, NO_MAPPING).lower()


def has_mapped_columns(protocol: Protocol, metadata: Metadata) -> bool:
    """Tell whether columns go by physical names in data files and partition values.

    The property alone means nothing: the protocol has to know of mapping.
    """
    return (
        COLUMN_MAPPING in _required_features(protocol)
        and mapping_mode(metadata.configuration) != NO_MAPPING
    )


def has_commit_timestamps(protocol: Protocol, metadata: Metadata) -> bool:
    """Tell whether commits carry their own times, which are not read here.

    As with mapping, the property alone means nothing.
    """
    features = protocol.writer_features or ()
    return IN_COMMIT_TIMESTAMP in features and has_in_commit_timestamps(
        metadata.configuration
    )


def _required_features(protocol: Protocol) -> list[str]:
    """Return the features that a reader must know, by list or by version."""
    features = list(protocol.reader_features or ())
    if protocol.min_reader_version == MAPPING_READER_VERSION:
        features.append(COLUMN_MAPPING)
    if (
        protocol.min_reader_version == FEATURES_READER_VERSION
        and protocol.reader_features is None
    ):
        features.append(UNLISTED_FEATURES)
    return list(dict.fromkeys(features))


def _is_refused(feature: str, configuration: Mapping[str, str]) -> bool:
    reading = READING.get(feature, Reading.REFUSED)
    if reading is Reading.UNLESS_MAPPED:
        return mapping_mode(configuration) != NO_MAPPING
    return reading is Reading.REFUSED
