"""How the `table` commands answer with what a log says."""

from collections.abc import Iterator, Sequence
from typing import Any

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.in_commit_timestamps import OwnTimes, own_times
from deltaweb.delta.log.commits.partition_keys import with_logical_partitions
from deltaweb.delta.protocol.actions import CommitInfo, Metadata, Protocol
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from deltaweb.web.tables.versions.times_note import times_of


def protocol_json(protocol: Protocol) -> dict[str, Any]:
    """Return the protocol; a list of features that the log leaves out is null."""
    return {
        "min_reader_version": protocol.min_reader_version,
        "min_writer_version": protocol.min_writer_version,
        "reader_features": _optional_list(protocol.reader_features),
        "writer_features": _optional_list(protocol.writer_features),
    }


def metadata_json(metadata: Metadata) -> dict[str, Any]:
    """Return the metadata with the protocol's names in snake case."""
    return {
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "format": {
            "provider": metadata.format.provider,
            "options": dict(metadata.format.options),
        },
        "schema_string": metadata.schema_string,
        "partition_columns": list(metadata.partition_columns),
        "configuration": dict(metadata.configuration),
        "created_time": metadata.created_time,
    }


def snapshot_json(
    snapshot: Snapshot, *, name: str | None, location: str, files: bool
) -> dict[str, Any]:
    """Return a version of a table as `table show --json` shows it.

    Sizes of a version that may not be read are null; its files are an error.

    Raises:
        DeltaError: If `files` are asked for and the version may not be read.
    """
    refusal = snapshot.refusal
    if refusal is not None and files:
        raise refusal
    shown: dict[str, Any] = {
        "name": name,
        "location": location,
        "version": snapshot.version,
        "timestamp": snapshot.timestamp,
        "protocol": protocol_json(snapshot.protocol),
        "metadata": metadata_json(snapshot.metadata),
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


def commit_json(commit: CommitInfo, own: OwnTimes | None) -> dict[str, Any]:
    """Return one commit as `table history --json` shows it.

    Args:
        commit: The commit.
        own: Which commits of its table carry their own times.
    """
    return {
        "version": commit.version,
        "timestamp": commit.timestamp,
        "timestamp_of": times_of(own, commit.version),
        "operation": commit.operation,
        "parameters": dict(commit.parameters),
        "metrics": dict(commit.metrics),
        "engine_info": commit.engine_info,
        "user": commit.user,
    }


def own_times_of_table(table: DeltaTable) -> OwnTimes | None:
    """Return which commits carry the times that the history of a table shows."""
    try:
        newest = table.definition()
    except DeltaError:
        return None
    return own_times(newest.protocol, newest.metadata)


def _optional_list(features: Sequence[str] | None) -> list[str] | None:
    return None if features is None else list(features)
