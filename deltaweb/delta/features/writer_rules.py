"""Features that are rules for writers alone: a reader has nothing to do.

Source: delta_protocol.md, "Requirements for Writers" of each feature.
"""

from collections.abc import Callable
from typing import Final

from deltaweb.delta.features.feature import Feature, LogWriting
from deltaweb.delta.protocol.actions import Metadata


def turned_on(name: str) -> Callable[[Metadata], bool]:
    """Return what tells whether a property is true."""
    return lambda metadata: metadata.configuration.get(name, "").lower() == "true"


FEATURES: Final = (
    # For those who write rows, or for what a commit says of itself.
    Feature("allowColumnDefaults", is_written=True),
    Feature("appendOnly", is_written=True),
    Feature("checkConstraints", is_written=True),
    Feature("generatedColumns", is_written=True),
    Feature("icebergCompatV1", asks_writers=turned_on("delta.enableIcebergCompatV1")),
    Feature("icebergCompatV2", asks_writers=turned_on("delta.enableIcebergCompatV2")),
    Feature("invariants", is_written=True),
    Feature("vacuumProtocolCheck", is_written=True),
    # Fields and actions that have to outlive a checkpoint.
    Feature("domainMetadata", log_writing=LogWriting.CARRIED, is_written=True),
)
