"""What a protocol asks of readers and writers, and what is answered.

One registry has every feature that is known; each says in its own module what is done
when the table is read, and when its log is written, which a checkpoint and a clean-up
do. A feature that is absent from it is refused by its name, whatever the version
numbers are: a reader feature for both, a writer feature for writing alone.

Source: delta_protocol.md, "Protocol Evolution".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from deltaweb.delta.errors import (
    DeltaError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
    UnsupportedWriterError,
    UnsupportedWriterFeatureError,
)
from deltaweb.delta.features import (
    change_feed,
    checkpoint_protection,
    clustering,
    column_mapping,
    deletion_vectors,
    elsewhere,
    foreign_types,
    identity_columns,
    in_commit_timestamps,
    materialized_partitions,
    row_tracking,
    type_widening,
    v2_checkpoints,
)
from deltaweb.delta.features.column_mapping import (
    COLUMN_MAPPING,
    MAPPING_READER_VERSION,
)
from deltaweb.delta.features.elsewhere import WITHOUT_FILES
from deltaweb.delta.features.feature import Feature, LogWriting, refused
from deltaweb.delta.protocol.actions import Metadata, Protocol


def _turned_on(name: str) -> Callable[[Metadata], bool]:
    return lambda metadata: metadata.configuration.get(name, "").lower() == "true"


_FOR_WRITERS: Final = (
    # Rules for writers alone: a reader has nothing to do.
    # For those who write rows, or for what a commit says of itself.
    Feature("allowColumnDefaults", is_written=True),
    Feature("appendOnly", is_written=True),
    Feature("checkConstraints", is_written=True),
    Feature("generatedColumns", is_written=True),
    Feature("icebergCompatV1", asks_writers=_turned_on("delta.enableIcebergCompatV1")),
    Feature("icebergCompatV2", asks_writers=_turned_on("delta.enableIcebergCompatV2")),
    Feature("invariants", is_written=True),
    Feature("vacuumProtocolCheck", is_written=True),
    # Fields and actions that have to outlive a checkpoint.
    Feature("domainMetadata", log_writing=LogWriting.CARRIED, is_written=True),
)
FEATURES_READER_VERSION: Final = 3  # lists its features by name
FEATURES_WRITER_VERSION: Final = 7
UNLISTED_FEATURES: Final = "a reader version 3 without a list of features"
UNLISTED_WRITER_FEATURES: Final = "a writer version 7 without a list of features"
FEATURES: Final[Mapping[str, Feature]] = {
    feature.name: feature
    for feature in (
        change_feed.FEATURE,
        checkpoint_protection.FEATURE,
        clustering.FEATURE,
        column_mapping.FEATURE,
        deletion_vectors.FEATURE,
        identity_columns.FEATURE,
        in_commit_timestamps.FEATURE,
        materialized_partitions.FEATURE,
        row_tracking.FEATURE,
        type_widening.FEATURE,
        type_widening.PREVIEW,
        v2_checkpoints.FEATURE,
        *elsewhere.FEATURES,
        *foreign_types.FEATURES,
        *_FOR_WRITERS,
    )
}
BY_WRITER_VERSION: Final[Mapping[int, Sequence[str]]] = {
    2: ("appendOnly", "invariants"),
    3: ("checkConstraints",),
    4: ("changeDataFeed", "generatedColumns"),
    5: (COLUMN_MAPPING,),
    6: ("identityColumns",),
}
"""The features that a writer version brings, besides those of lower ones."""


def find_feature(name: str) -> Feature:
    """Return a feature; one that is not known is refused."""
    return FEATURES.get(name) or refused(name)


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
    unread = refused_features(protocol, metadata)
    unread += type_widening.unknown_type_changes(protocol, metadata)
    if not unread:
        return None
    return UnsupportedFeatureError(root=root, version=version, features=(*unread,))


def refused_features(protocol: Protocol, metadata: Metadata) -> list[str]:
    """Return the features for which a version may not be read, by their names."""
    return [
        name
        for name in required_features(protocol)
        if find_feature(name).refuses_reading(metadata.configuration)
    ]


def log_writing_refusal(
    protocol: Protocol, metadata: Metadata, *, root: str, version: int, operation: str
) -> DeltaError | None:
    """Return why the log of a version may not be written, None when it may.

    What may not be read may not be written either.

    Args:
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
    unwritten = [
        name
        for name in writer_features(protocol)
        if find_feature(name).refuses_log(metadata.configuration, version)
    ]
    unwritten += [
        feature.name
        for feature in FEATURES.values()
        if feature.claims_log and feature.claims_log(metadata.configuration)
    ]
    if not unwritten:
        return None
    return UnsupportedWriterFeatureError(
        root=root,
        version=version,
        features=tuple(dict.fromkeys(unwritten)),
        operation=operation,
    )


def required_features(protocol: Protocol) -> list[str]:
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


def writer_features(protocol: Protocol) -> list[str]:
    """Return the features that a writer must know, by list or by version."""
    features = [*(protocol.reader_features or ()), *(protocol.writer_features or ())]
    if protocol.min_writer_version < FEATURES_WRITER_VERSION:
        for version, names in BY_WRITER_VERSION.items():
            if version <= protocol.min_writer_version:
                features.extend(names)
    elif protocol.writer_features is None:
        features.append(UNLISTED_WRITER_FEATURES)
    return list(dict.fromkeys(features))
