"""Partition columns in data files as well: readers take them from the log all the same.

Source: the RFC materializePartitionColumns of delta-io/delta.
"""

from typing import Final

from deltaweb.delta.features.feature import Feature
from deltaweb.delta.protocol.actions import Metadata, Protocol

MATERIALIZED_PARTITIONS: Final = "materializePartitionColumns"
PROPERTY: Final = "delta.enableMaterializePartitionColumnsFeature"


def stores_partitions(protocol: Protocol, metadata: Metadata) -> bool:
    """Return whether files that are written have the partition columns, too."""
    is_known = MATERIALIZED_PARTITIONS in (protocol.writer_features or ())
    return is_known and metadata.configuration.get(PROPERTY, "").lower() == "true"


FEATURE: Final = Feature(MATERIALIZED_PARTITIONS, is_written=True)
