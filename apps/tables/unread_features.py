"""The features for which a version that is indexed is not read."""

from apps.tables.models import MetadataVersion, ProtocolVersion
from deltaweb.delta.actions import Metadata, Protocol
from deltaweb.delta.table_features import refused_features


def unread_features(protocol: ProtocolVersion, metadata: MetadataVersion) -> list[str]:
    """Return them by their names; none where something else is the reason.

    Args:
        protocol: That in force.
        metadata: That in force.
    """
    asked = Protocol(
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        reader_features=protocol.reader_features,
        writer_features=protocol.writer_features,
    )
    properties = metadata.configuration or {}
    return refused_features(asked, Metadata(id=None, configuration=properties))
