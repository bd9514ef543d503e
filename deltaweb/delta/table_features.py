"""What a protocol asks of readers and writers, and what we answer.

One registry says what is done with each feature that is known: when the table is
read, and when its log is written, which a checkpoint and a clean-up are. A feature
that is absent from it is refused by its name, whatever the version numbers are: a
reader feature for both, a writer feature for writing alone.

Source: delta_protocol.md, "Protocol Evolution".
"""

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from deltaweb.delta.actions import Metadata, Protocol
from deltaweb.delta.errors import (
    CommitTimesError,
    DeltaError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
    UnsupportedWriterError,
    UnsupportedWriterFeatureError,
)
from deltaweb.delta.table_properties import (
    CHECKPOINT_POLICY,
    has_in_commit_timestamps,
)

MAPPING_READER_VERSION: Final = 2  # brought column mapping, by its number
FEATURES_READER_VERSION: Final = 3  # lists its features by name
MAPPING_MODE: Final = "delta.columnMapping.mode"
NO_MAPPING: Final = "none"
COLUMN_MAPPING: Final = "columnMapping"
IN_COMMIT_TIMESTAMP: Final = "inCommitTimestamp"
DELETION_VECTORS: Final = "deletionVectors"
V2_CHECKPOINT: Final = "v2Checkpoint"
CHECKPOINT_PROTECTION: Final = "checkpointProtection"
UNLISTED_FEATURES: Final = "a reader version 3 without a list of features"
UNLISTED_WRITER_FEATURES: Final = "a writer version 7 without a list of features"
FEATURES_WRITER_VERSION: Final = 7
CLASSIC_POLICY: Final = "classic"
WITHOUT_FILES: Final = ("icebergNativeV4", "icebergNativeV4-preview")
"""Features of writers in name: files are listed in Iceberg's manifests, not in the log.

Read without them a table would have no files at all.
Source: the RFC icebergNativeV4 of delta-io/delta.
"""


class Reading(Enum):
    """What a feature in the list of reader features means for reading."""

    UNCHANGED = "reads as any table of reader version 1"
    REFUSED = "is not read"
    UNLESS_MAPPED = "is read while no column is mapped"


class LogWriting(Enum):
    """What a feature means for a checkpoint, and for a clean-up of the log."""

    UNCHANGED = "a checkpoint holds what it always does"
    CARRIED = "a checkpoint holds fields or actions of it, as the log has them"
    REFUSED = "no checkpoint is made, and none is deleted"


class Answer(NamedTuple):
    """What is done with a feature."""

    reading: Reading
    log_writing: LogWriting


_FOR_ROWS: Final = Answer(Reading.UNCHANGED, LogWriting.UNCHANGED)
_CARRIED: Final = Answer(Reading.UNCHANGED, LogWriting.CARRIED)
_NOT_WRITTEN: Final = Answer(Reading.UNCHANGED, LogWriting.REFUSED)
_REFUSED: Final = Answer(Reading.REFUSED, LogWriting.REFUSED)

FEATURES: Final[Mapping[str, Answer]] = {
    # Rules for those who write rows, or for what a commit says of itself.
    "allowColumnDefaults": _FOR_ROWS,
    "appendOnly": _FOR_ROWS,
    "changeDataFeed": _FOR_ROWS,
    "checkConstraints": _FOR_ROWS,
    "generatedColumns": _FOR_ROWS,
    "identityColumns": _FOR_ROWS,
    IN_COMMIT_TIMESTAMP: _FOR_ROWS,
    "invariants": _FOR_ROWS,
    "vacuumProtocolCheck": _FOR_ROWS,
    # Fields and actions that have to outlive a checkpoint.
    "clustering": _CARRIED,
    "domainMetadata": _CARRIED,
    "rowTracking": _CARRIED,
    # Rules for writers that are not kept here.
    CHECKPOINT_PROTECTION: _NOT_WRITTEN,
    "icebergCompatV1": _NOT_WRITTEN,
    "icebergCompatV2": _NOT_WRITTEN,
    # Rules for readers.
    COLUMN_MAPPING: Answer(Reading.UNLESS_MAPPED, LogWriting.UNCHANGED),
    "catalogManaged": _REFUSED,
    DELETION_VECTORS: _REFUSED,
    "timestampNtz": _REFUSED,
    "typeWidening": _REFUSED,
    "typeWidening-preview": _REFUSED,
    V2_CHECKPOINT: _REFUSED,
    **dict.fromkeys(WITHOUT_FILES, _REFUSED),
    "variantShredding": _REFUSED,
    "variantShredding-preview": _REFUSED,
    "variantType": _REFUSED,
    "variantType-preview": _REFUSED,
}
READING: Final[Mapping[str, Reading]] = {
    name: answer.reading for name, answer in FEATURES.items()
}
BY_WRITER_VERSION: Final[Mapping[int, Sequence[str]]] = {
    2: ("appendOnly", "invariants"),
    3: ("checkConstraints",),
    4: ("changeDataFeed", "generatedColumns"),
    5: (COLUMN_MAPPING,),
    6: ("identityColumns",),
}
"""The features that a writer version brings, besides those of lower ones."""


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
    refused = refused_features(protocol, metadata)
    if not refused:
        return None
    return UnsupportedFeatureError(root=root, version=version, features=refused)


def refused_features(protocol: Protocol, metadata: Metadata) -> list[str]:
    """Return the features for which a version may not be read, by their names."""
    return [
        name
        for name in _required_features(protocol)
        if _is_refused(name, metadata.configuration)
    ]


def log_writing_refusal(
    protocol: Protocol, metadata: Metadata, *, root: str, version: int, operation: str
) -> DeltaError | None:
    """Return why the log of a version may not be written, None when it may.

    What may not be read may not be written either.

    Args:
        protocol: The protocol in force.
        metadata: The metaData in force.
        root: The table's root, for the error.
        version: The version.
        operation: What is not made, such as `no checkpoint`.
    """
    refusal = reading_refusal(protocol, metadata, root=root, version=version)
    if refusal is not None:
        return refusal
    writer_version = protocol.min_writer_version
    if writer_version > FEATURES_WRITER_VERSION:
        return UnsupportedWriterError(
            root=root,
            version=version,
            min_writer_version=writer_version,
            supported=FEATURES_WRITER_VERSION,
            operation=operation,
        )
    refused = [
        name
        for name in _writer_features(protocol)
        if FEATURES.get(name, _REFUSED).log_writing is LogWriting.REFUSED
    ]
    if metadata.configuration.get(CHECKPOINT_POLICY, CLASSIC_POLICY) != CLASSIC_POLICY:
        refused.append(V2_CHECKPOINT)
    if not refused:
        return None
    return UnsupportedWriterFeatureError(
        root=root,
        version=version,
        features=dict.fromkeys(refused),
        operation=operation,
    )


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
    return keeps_commit_times(protocol.writer_features or (), metadata.configuration)


def keeps_commit_times(
    writer_features: Collection[str], configuration: Mapping[str, str]
) -> bool:
    """Tell the same by the parts of a protocol and a metaData that say it."""
    return IN_COMMIT_TIMESTAMP in writer_features and has_in_commit_timestamps(
        configuration
    )


def commit_times_refusal(
    protocol: Protocol, metadata: Metadata, *, root: str, version: int
) -> DeltaError | None:
    """Return why no time of the table means a version, None where times do.

    Args:
        protocol: The protocol of the newest version.
        metadata: The metaData of it.
        root: The table's root, for the error.
        version: The newest version.
    """
    if not has_commit_timestamps(protocol, metadata):
        return None
    return CommitTimesError(root=root, version=version, feature=IN_COMMIT_TIMESTAMP)


def _required_features(protocol: Protocol) -> list[str]:
    """Return the features that a reader must know, by list or by version."""
    features = list(protocol.reader_features or ())
    features += [
        name for name in protocol.writer_features or () if name in WITHOUT_FILES
    ]
    if protocol.min_reader_version == MAPPING_READER_VERSION:
        features.append(COLUMN_MAPPING)
    if (
        protocol.min_reader_version == FEATURES_READER_VERSION
        and protocol.reader_features is None
    ):
        features.append(UNLISTED_FEATURES)
    return list(dict.fromkeys(features))


def _writer_features(protocol: Protocol) -> list[str]:
    """Return the features that a writer must know, by list or by version."""
    features = [*(protocol.reader_features or ()), *(protocol.writer_features or ())]
    if protocol.min_writer_version < FEATURES_WRITER_VERSION:
        for version, names in BY_WRITER_VERSION.items():
            if version <= protocol.min_writer_version:
                features.extend(names)
    elif protocol.writer_features is None:
        features.append(UNLISTED_WRITER_FEATURES)
    return list(dict.fromkeys(features))


def _is_refused(feature: str, configuration: Mapping[str, str]) -> bool:
    reading = FEATURES.get(feature, _REFUSED).reading
    if reading is Reading.UNLESS_MAPPED:
        return mapping_mode(configuration) != NO_MAPPING
    return reading is Reading.REFUSED
