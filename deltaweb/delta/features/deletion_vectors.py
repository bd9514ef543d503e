"""Deletion vectors: rows of a data file that are marked as deleted beside it.

Source: delta_protocol.md, "Deletion Vectors".
"""

from typing import Final

from deltaweb.delta.features.feature import Configuration, Feature, LogWriting

DELETION_VECTORS: Final = "deletionVectors"
DELETION_VECTORS_PROPERTY: Final = "delta.enableDeletionVectors"


def writes_vectors(configuration: Configuration) -> bool:
    """Return whether rows that go are to be marked, and their files to stay."""
    return configuration.get(DELETION_VECTORS_PROPERTY, "").lower() == "true"


FEATURE: Final = Feature(
    DELETION_VECTORS, log_writing=LogWriting.CARRIED, is_written=True
)
