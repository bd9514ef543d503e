"""Commits of given actions, and data files of given names, as a test wants them.

The writer of the library makes the tables of everybody; this makes what no operation of
it would.
"""

import json
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.protocol.schema import leaf_fields, schema_of_arrow
from deltaweb.writer.files.statistics import FileStatistics

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

    def put_data_file(self, path: str, data: bytes) -> None:
        """Create a data file at a path of the log, or raise `FileExistsError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedFile:
    """A data file as its `add` action describes it; sizes are bytes, times are ms."""

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
    versions = {"minReaderVersion": READER_VERSION, "minWriterVersion": WRITER_VERSION}
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
    leaves = leaf_fields(schema_of_arrow(data.schema))
    statistics = FileStatistics(tuple(leaf.path for leaf in leaves))
    statistics.add(data)
    content = sink.getvalue().to_pybytes()
    store.put_data_file(path, content)
    return CommittedFile(
        path=path,
        partition_values=values,
        size=len(content),
        modification_time=modification_time,
        stats=statistics.to_json(),
    )


def write_commit(store: WritableStore, version: int, actions: Iterable[Action]) -> None:
    """Write the commit of `version`: one action a line.

    Raises:
        FileExistsError: If another writer has made that version.
    """
    lines = [json.dumps(action, separators=(",", ":")) + "\n" for action in actions]
    store.put_if_absent(f"{version:020d}.json", "".join(lines).encode())


def _folder_text(value: str | None) -> str:
    return NULL_PARTITION if value in {None, ""} else quote(str(value), safe=" ")
