"""How the `table` commands answer with what a log says."""

from collections.abc import Iterator
from typing import Any

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.in_commit_timestamps import OwnTimes, own_times
from deltaweb.delta.log.commits.partition_keys import with_logical_partitions
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable


def snapshot_json(
    snapshot: Snapshot, *, name: str | None, location: str, files: bool
) -> dict[str, Any]:
    """Return a version of a table as `table show --json` shows it.

    Sizes of a version that may not be read are null; its files are an error.
    """
    refusal = snapshot.refusal
    if refusal is not None and files:
        raise refusal
    shown: dict[str, Any] = {
        "name": name,
        "location": location,
        "version": snapshot.version,
        "timestamp": snapshot.timestamp,
        "protocol": snapshot.protocol,
        "metadata": snapshot.metadata,
        "num_files": None if refusal else snapshot.num_files,
        "size_bytes": None if refusal else snapshot.size_bytes,
        "partition_columns": list(snapshot.metadata.partition_columns),
        "warning": refusal.message if refusal else None,
    }
    if files:
        shown["files"] = [
            row | {"partition_values": dict(row["partition_values"] or ())}
            for row in with_logical_partitions(
                snapshot.files, snapshot.protocol, snapshot.metadata
            ).to_pylist()
        ]
    return shown


def file_lines(shown: dict[str, Any]) -> Iterator[str]:
    """Yield a line a file: its size in bytes and its path as the log has it."""
    yield ""
    for entry in shown["files"]:
        yield f"{entry['size']:>14}  {entry['path']}"


def own_times_of_table(table: DeltaTable) -> OwnTimes | None:
    """Return which commits carry the times that the history of a table shows."""
    try:
        newest = table.definition()
    except DeltaError:
        return None
    return own_times(newest.protocol, newest.metadata)
