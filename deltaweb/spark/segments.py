"""The files of a version, and what must be in force there, as the driver finds them.

Source: delta_protocol.md, "Checkpoints" and "Action Reconciliation".
"""

from deltaweb.delta.actions import Metadata, Protocol
from deltaweb.delta.errors import (
    LogCorruptError,
    LogGapError,
    MissingMetadataError,
    MissingProtocolError,
)
from deltaweb.delta.log_path import commit_name
from deltaweb.delta.log_segment import Checkpoint, LogSegment, load_log_segment
from deltaweb.delta.log_store import FileStatus, LogStore, check_size


def find_segment(
    store: LogStore,
    version: int | None,
    unreadable: dict[Checkpoint, LogCorruptError],
) -> LogSegment:
    """Find the files that build a version, the newest one for None.

    Args:
        store: The table's log.
        version: The version.
        unreadable: Checkpoints that are passed over, and what is wrong with each.

    Raises:
        DeltaError: As `load_log_segment` does; where only a checkpoint that does not
            read would build the version, what is wrong with it.
    """
    try:
        return load_log_segment(store, version, unreadable=unreadable)
    except LogGapError:
        if unreadable:
            raise next(iter(unreadable.values())) from None
        raise


def commit_statuses(store: LogStore, segment: LogSegment) -> list[FileStatus]:
    """Return the commits of a segment with their sizes, oldest first.

    Raises:
        LogCorruptError: If one is gone since it was listed, or is too large.
    """
    if not segment.commit_versions:
        return []
    names = set(segment.commit_names)
    listed = store.list_from(segment.commit_names[0])
    found = [status for status in listed if status.name in names]
    if len(found) < len(names):
        missing = min(names.difference(status.name for status in found))
        path = f"{store.root}/_delta_log/{missing}"
        raise LogCorruptError(path=path, reason="it went away while read")
    for status in found:
        check_size(store.root, status.name, status.size)
    return found


def commit_status(store: LogStore, version: int) -> FileStatus | None:
    """Return size and time of a version's commit; None where it is gone."""
    try:
        return store.status(commit_name(version))
    except FileNotFoundError:
        return None


def in_force(
    protocol: Protocol | None, metadata: Metadata | None, *, root: str, version: int
) -> tuple[Protocol, Metadata]:
    """Return both as they are; a version without one of them is none.

    Raises:
        MissingProtocolError: Without a protocol.
        MissingMetadataError: Without a metaData.
    """
    if protocol is None:
        raise MissingProtocolError(root=root, version=version)
    if metadata is None:
        raise MissingMetadataError(root=root, version=version)
    return protocol, metadata
