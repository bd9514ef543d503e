"""Which recorded tables are refused for features that are not read."""

from deltaweb.delta.errors import DeltaError, UnsupportedFeatureError
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable

UNREAD = frozenset(
    {
        # The specification widens them to decimals of ten digits and more.
        "typeWidening of byte_decimal from tinyint to decimal(4,1)",
        "typeWidening of short_decimal from smallint to decimal(6,1)",
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


def has_vectors(found: Snapshot | DeltaError) -> bool:
    """Return whether a file of a version has a deletion vector."""
    if isinstance(found, DeltaError):
        return False
    return bool(found.files["deletion_vector"].null_count < found.num_files)


def is_of_unread_features(found: Snapshot | DeltaError) -> bool:
    """Return whether a table is refused, and for features known to be unread alone."""
    return isinstance(found, UnsupportedFeatureError) and {*found.features} <= UNREAD
