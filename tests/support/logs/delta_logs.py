"""Small logs for tests: actions as the log spells them, commits and checkpoints."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.table import DeltaTable
from tests.support.stores.memory import MemoryTableStore

Action = dict[str, Any]

TEXT_MAP = pa.map_(pa.string(), pa.string())
DELETION_VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
CHECKPOINT_SCHEMA = pa.schema(
    [
        ("txn", pa.struct([("appId", pa.string()), ("version", pa.int64())])),
        (
            "add",
            pa.struct(
                [
                    ("path", pa.string()),
                    ("partitionValues", TEXT_MAP),
                    ("size", pa.int64()),
                    ("modificationTime", pa.int64()),
                    ("dataChange", pa.bool_()),
                    ("tags", TEXT_MAP),
                    ("deletionVector", DELETION_VECTOR),
                    ("stats", pa.string()),
                ]
            ),
        ),
        (
            "remove",
            pa.struct(
                [
                    ("path", pa.string()),
                    ("deletionTimestamp", pa.int64()),
                    ("dataChange", pa.bool_()),
                    ("deletionVector", DELETION_VECTOR),
                ]
            ),
        ),
        (
            "metaData",
            pa.struct(
                [
                    ("id", pa.string()),
                    ("name", pa.string()),
                    (
                        "format",
                        pa.struct([("provider", pa.string()), ("options", TEXT_MAP)]),
                    ),
                    ("schemaString", pa.string()),
                    ("partitionColumns", pa.list_(pa.string())),
                    ("configuration", TEXT_MAP),
                    ("createdTime", pa.int64()),
                ]
            ),
        ),
        (
            "protocol",
            pa.struct(
                [
                    ("minReaderVersion", pa.int32()),
                    ("minWriterVersion", pa.int32()),
                    ("readerFeatures", pa.list_(pa.string())),
                    ("writerFeatures", pa.list_(pa.string())),
                ]
            ),
        ),
    ]
)
MANIFEST_SCHEMA = pa.schema(
    [
        *CHECKPOINT_SCHEMA,
        (
            "checkpointMetadata",
            pa.struct([("version", pa.int64()), ("tags", TEXT_MAP)]),
        ),
        (
            "sidecar",
            pa.struct(
                [
                    ("path", pa.string()),
                    ("sizeInBytes", pa.int64()),
                    ("modificationTime", pa.int64()),
                    ("tags", TEXT_MAP),
                ]
            ),
        ),
    ]
)
UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"


def schema_string(*names: str) -> str:
    fields = [
        {"name": name, "type": "string", "nullable": True, "metadata": {}}
        for name in names
    ]
    return json.dumps({"type": "struct", "fields": fields})


def protocol(reader: int = 1, writer: int = 2, **features: Sequence[str]) -> Action:
    versions = {"minReaderVersion": reader, "minWriterVersion": writer}
    return {"protocol": {**versions, **features}}


def metadata(table_id: object = "table", **fields: object) -> Action:
    defaults = {
        "id": table_id,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema_string("id", "p"),
        "partitionColumns": [],
        "configuration": {},
        "createdTime": 1,
    }
    return {"metaData": {**defaults, **fields}}


def add(path: str, **fields: object) -> Action:
    defaults = {
        "path": path,
        "partitionValues": {},
        "size": 1,
        "modificationTime": 1,
        "dataChange": True,
    }
    return {"add": {**defaults, **fields}}


def remove(path: str, **fields: object) -> Action:
    defaults = {"path": path, "deletionTimestamp": 1, "dataChange": True}
    return {"remove": {**defaults, **fields}}


def txn(app_id: str, version: int) -> Action:
    return {"txn": {"appId": app_id, "version": version}}


def own_time(time_ms: int) -> Action:
    return {"commitInfo": {"operation": "WRITE", "inCommitTimestamp": time_ms}}


def of_version(version: int) -> Action:
    return {"checkpointMetadata": {"version": version}}


def sidecar(path: str) -> Action:
    return {"sidecar": {"path": path, "sizeInBytes": 9, "modificationTime": 1}}


def uuid_checkpoint_name(version: int, kind: str = "parquet", uuid: str = UUID) -> str:
    return f"{version:020d}.checkpoint.{uuid}.{kind}"


def deletion_vector(name: str, offset: int | None = None) -> Action:
    fields: Action = {
        "storageType": "u",
        "pathOrInlineDv": name,
        "sizeInBytes": 1,
        "cardinality": 1,
    }
    return fields if offset is None else {**fields, "offset": offset}


def commit_bytes(*actions: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(action).encode() + b"\n" for action in actions)


class LogBuilder:
    """A table in memory, built commit by commit."""

    def __init__(self, store: MemoryTableStore | None = None) -> None:
        self.store = store or MemoryTableStore()

    @property
    def table(self) -> DeltaTable:
        return DeltaTable.from_store(self.store)

    def start(self, *actions: Action, **fields: object) -> "LogBuilder":
        """Commit version 0 with a protocol and a metaData, and more."""
        return self.commit(0, protocol(), metadata(**fields), *actions)

    def commit(self, version: int, *actions: Mapping[str, object]) -> "LogBuilder":
        return self.raw_commit(version, commit_bytes(*actions))

    def raw_commit(self, version: int, data: bytes) -> "LogBuilder":
        self.store.put(commit_name(version), data)
        return self

    def time(self, version: int, time_ms: int) -> "LogBuilder":
        self.store.modification_times[commit_name(version)] = time_ms
        return self

    def checkpoint(
        self, version: int, *actions: Mapping[str, Any], parts: int | None = None
    ) -> "LogBuilder":
        """Write a checkpoint of the actions given, in one file or in parts."""
        names = (
            (checkpoint_name(version),)
            if parts is None
            else checkpoint_part_names(version, parts)
        )
        for index, name in enumerate(names):
            self.store.put(name, checkpoint_bytes(actions[index :: len(names)]))
        return self

    def manifest(self, name: str, *actions: Mapping[str, Any]) -> "LogBuilder":
        """Write a checkpoint, JSON or Parquet by its name, that may have sidecars."""
        is_json = name.endswith(".json")
        data = commit_bytes(*actions) if is_json else checkpoint_bytes(actions)
        self.store.put(name, data)
        return self

    def sidecar(self, name: str, *actions: Mapping[str, Any]) -> "LogBuilder":
        """Write a file with actions that a checkpoint may name."""
        self.store.put(f"_sidecars/{name}", checkpoint_bytes(actions))
        return self

    def hint(self, data: bytes) -> "LogBuilder":
        self.store.put("_last_checkpoint", data)
        return self

    def delete(self, name: str) -> "LogBuilder":
        del self.store.log_files[name]
        return self

    def on_disk(self, folder: Path) -> Path:
        """Write the log into the new folder of a table; return the folder."""
        log = folder / "_delta_log"
        log.mkdir(parents=True)
        for name, data in self.store.log_files.items():
            (log / name).parent.mkdir(exist_ok=True)
            (log / name).write_bytes(data)
        return folder


def checkpoint_bytes(
    actions: Sequence[Mapping[str, Any]], *, row_group_rows: int = 3
) -> bytes:
    """Return a checkpoint file; small row groups, as large tables have many."""
    rows = [_as_row(action) for action in actions]
    sink = io.BytesIO()
    is_later = any({"sidecar", "checkpointMetadata"} & {*action} for action in actions)
    schema = MANIFEST_SCHEMA if is_later else CHECKPOINT_SCHEMA
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, sink, row_group_size=row_group_rows)
    return sink.getvalue()


def _as_row(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return an action as Arrow takes it: maps are lists of pairs."""
    ((kind, fields),) = action.items()
    row = dict(fields)
    for name in ("partitionValues", "configuration", "tags"):
        if isinstance(row.get(name), Mapping):
            row[name] = list(row[name].items())
    if isinstance(row.get("format"), Mapping):
        options = list(row["format"].get("options", {}).items())
        row["format"] = {**row["format"], "options": options}
    return {kind: row}
