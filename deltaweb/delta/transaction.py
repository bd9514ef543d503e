"""A small writer of the Delta log: commits, data files and one classic checkpoint.

It writes what reader version 1 and writer version 2 know. A commit is put in place
only where no file of that version stands, so two writers never share a version.

Source: PROTOCOL.md, "Requirements for Writers".
"""

import json
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.column_statistics import collect_statistics

READER_VERSION: Final = 1
WRITER_VERSION: Final = 2
NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
PATH_SAFE: Final = "/=-_.~"  # what a path keeps unescaped besides letters and digits

Action = dict[str, object]
PartitionValues = Mapping[str, str | None]


class WritableStore(typing.Protocol):
    """What a writer asks of a table's files; every `TableStore` gives it."""

    def put_if_absent(self, name: str, data: bytes) -> None:
        """Create a file of the log, or raise `FileExistsError` and change nothing."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a file of the log atomically, over one that is there."""
        ...

    def put_data_file(self, path: str, data: bytes) -> None:
        """Create a data file at a path of the log, or raise `FileExistsError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedFile:
    """A data file as its `add` action tells of it; sizes are bytes, times are ms."""

    path: str
    partition_values: PartitionValues
    size: int
    modification_time: int
    stats: str

    def add(self, *, data_change: bool = True) -> Action:
        """The action that makes the file part of the table."""
        return {
            "add": {
                "path": self.path,
                "partitionValues": dict(self.partition_values),
                "size": self.size,
                "modificationTime": self.modification_time,
                "dataChange": data_change,
                "stats": self.stats,
            }
        }

    def remove(self, *, deletion_timestamp: int, data_change: bool = True) -> Action:
        """The action that takes the file out of the table and leaves a tombstone."""
        return {
            "remove": {
                "path": self.path,
                "deletionTimestamp": deletion_timestamp,
                "dataChange": data_change,
                "extendedFileMetadata": True,
                "partitionValues": dict(self.partition_values),
                "size": self.size,
            }
        }


def protocol_action() -> Action:
    """The protocol that every table of this writer asks for."""
    versions = {
        "minReaderVersion": READER_VERSION,
        "minWriterVersion": WRITER_VERSION,
    }
    return {"protocol": versions}


def metadata_action(  # noqa: PLR0913 (the fields of the specification)
    *,
    table_id: str,
    schema_string: str,
    created_time: int,
    partition_columns: Sequence[str] = (),
    configuration: Mapping[str, str] | None = None,
    name: str | None = None,
    description: str | None = None,
) -> Action:
    """The table's metadata; `created_time` is milliseconds since the epoch."""
    metadata = {
        "id": table_id,
        "name": name,
        "description": description,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema_string,
        "partitionColumns": list(partition_columns),
        "configuration": dict(configuration or {}),
        "createdTime": created_time,
    }
    return {"metaData": {k: v for k, v in metadata.items() if v is not None}}


def commit_info_action(  # noqa: PLR0913 (the fields of the specification's example)
    *,
    timestamp: int,
    operation: str,
    parameters: Mapping[str, object],
    metrics: Mapping[str, int],
    user_name: str,
    engine_info: str,
    read_version: int | None = None,
    is_blind_append: bool = False,
) -> Action:
    """The provenance of a commit; parameters and metrics are texts, as Spark's are."""
    info: Action = {
        "timestamp": timestamp,
        "userName": user_name,
        "operation": operation,
        "operationParameters": {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in parameters.items()
        },
        "isolationLevel": "WriteSerializable",
        "isBlindAppend": is_blind_append,
        "operationMetrics": {key: str(value) for key, value in metrics.items()},
        "engineInfo": engine_info,
    }
    if read_version is not None:
        info["readVersion"] = read_version
    return {"commitInfo": info}


def write_data_file(
    store: WritableStore,
    data: pa.Table,
    *,
    file_name: str,
    modification_time: int,
    partition_values: PartitionValues | None = None,
) -> CommittedFile:
    """Write rows as one Parquet file below the table's root.

    Args:
        store: Where the table's files are.
        data: The rows, without partition columns.
        file_name: A name that no other file of the table has.
        modification_time: Milliseconds since the epoch, for the log.
        partition_values: The serialised value of every partition column.

    Returns:
        The file with its size, its path as the log writes it (escaped) and statistics.
    """
    values = dict(partition_values or {})
    folders = [
        f"{quote(column, safe='')}={_folder_text(value)}"
        for column, value in values.items()
    ]
    path = quote("/".join([*folders, file_name]), safe=PATH_SAFE)
    sink = pa.BufferOutputStream()
    pq.write_table(data, sink, compression="snappy")
    content = sink.getvalue().to_pybytes()
    store.put_data_file(path, content)
    return CommittedFile(
        path=path,
        partition_values=values,
        size=len(content),
        modification_time=modification_time,
        stats=json.dumps(collect_statistics(data), separators=(",", ":")),
    )


def write_commit(store: WritableStore, version: int, actions: Iterable[Action]) -> None:
    """Write the commit of `version`: one action a line.

    Raises:
        FileExistsError: If another writer has made that version.
    """
    lines = [json.dumps(action, separators=(",", ":")) + "\n" for action in actions]
    store.put_if_absent(f"{version:020d}.json", "".join(lines).encode())


@dataclass(slots=True)
class TableState:
    """What a writer remembers of the table that it writes: its unreplaced actions."""

    metadata: Action = field(default_factory=dict)
    live: dict[str, Action] = field(default_factory=dict)  # add actions by path
    tombstones: dict[str, Action] = field(default_factory=dict)

    def apply(self, actions: Iterable[Action]) -> None:
        """Reconcile the actions of one commit.

        Source: PROTOCOL.md, "Action Reconciliation".
        """
        for action in actions:
            for kind, body in action.items():
                if kind == "metaData":
                    self.metadata = action
                elif kind == "add":
                    path = typing.cast("Action", body)["path"]
                    self.live[str(path)] = action
                    self.tombstones.pop(str(path), None)
                elif kind == "remove":
                    path = typing.cast("Action", body)["path"]
                    self.live.pop(str(path), None)
                    self.tombstones[str(path)] = action


def write_checkpoint(store: WritableStore, version: int, state: TableState) -> None:
    """Write a classic single-part checkpoint of `version`, then `_last_checkpoint`.

    Source: PROTOCOL.md, "Checkpoint Format" and "Last Checkpoint File".

    Raises:
        FileExistsError: If the log already has a checkpoint of that version.
    """
    actions = [
        protocol_action(),
        state.metadata,
        *state.live.values(),
        *state.tombstones.values(),
    ]
    rows = [
        {
            kind: typing.cast("Action", action.get(kind))
            for kind in CHECKPOINT_SCHEMA.names
        }
        for action in actions
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=CHECKPOINT_SCHEMA), sink)
    name = f"{version:020d}.checkpoint.parquet"
    store.put_if_absent(name, sink.getvalue().to_pybytes())
    hint = {"version": version, "size": len(actions)}
    store.put("_last_checkpoint", json.dumps(hint).encode())


def _folder_text(value: str | None) -> str:
    return NULL_PARTITION if value in {None, ""} else quote(str(value), safe=" ")


_TEXT_MAP: Final = pa.map_(pa.string(), pa.string())
CHECKPOINT_SCHEMA: Final = pa.schema(
    {
        "txn": pa.struct({"appId": pa.string(), "version": pa.int64()}),
        "add": pa.struct(
            {
                "path": pa.string(),
                "partitionValues": _TEXT_MAP,
                "size": pa.int64(),
                "modificationTime": pa.int64(),
                "dataChange": pa.bool_(),
                "stats": pa.string(),
                "tags": _TEXT_MAP,
            }
        ),
        "remove": pa.struct(
            {
                "path": pa.string(),
                "deletionTimestamp": pa.int64(),
                "dataChange": pa.bool_(),
                "extendedFileMetadata": pa.bool_(),
                "partitionValues": _TEXT_MAP,
                "size": pa.int64(),
            }
        ),
        "metaData": pa.struct(
            {
                "id": pa.string(),
                "name": pa.string(),
                "description": pa.string(),
                "format": pa.struct({"provider": pa.string(), "options": _TEXT_MAP}),
                "schemaString": pa.string(),
                "partitionColumns": pa.list_(pa.string()),
                "configuration": _TEXT_MAP,
                "createdTime": pa.int64(),
            }
        ),
        "protocol": pa.struct(
            {"minReaderVersion": pa.int32(), "minWriterVersion": pa.int32()}
        ),
    }
)
