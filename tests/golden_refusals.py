"""Which recorded tables are refused for features that are not read."""

from deltaweb.delta.errors import DeltaError, UnsupportedFeatureError
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable

UNREAD = frozenset(
    {
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening-preview",
        "v2Checkpoint",
        "variantShredding-preview",
        "variantType",
    }
)


def snapshot_or_refusal(
    table: DeltaTable, version: int | None = None
) -> Snapshot | DeltaError:
    """Return a version of a recorded table, or why it is not read."""
    try:
        return table.snapshot(version)
    except DeltaError as error:
        return error


def is_of_unread_features(found: Snapshot | DeltaError) -> bool:
    """Return whether a table is refused, and for features known to be unread alone."""
    return isinstance(found, UnsupportedFeatureError) and {*found.features} <= UNREAD
