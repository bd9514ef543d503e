"""A checkpoint that is JSON, read as the Parquet file that it could be.

Such a file is a list of names most of the time, its file actions being in sidecars. One
that has them itself is turned into columns some lines at a time; memory holds the file
and its columns, compressed, and little more.

Source: delta_protocol.md, "UUID-named checkpoint" and "Checkpoint Schema".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.arrow_reader import BYTE_ORDER_MARK, load_line
from deltaweb.delta.log.file_actions import PARTITION_VALUES
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.values.statistics.text import statistics_as_text

LINES_AT_ONCE: Final = 8_192
FAULTS: Final = (pa.ArrowException, ValueError, TypeError, OverflowError)
_TEXTS: Final = pa.list_(pa.string())
_VECTOR: Final = pa.struct(
    {
        "storageType": pa.string(),
        "pathOrInlineDv": pa.string(),
        "offset": pa.int64(),
        "sizeInBytes": pa.int64(),
        "cardinality": pa.int64(),
        "maxRowIndex": pa.int64(),
    }
)
_FILE: Final[Mapping[str, pa.DataType]] = {
    "path": pa.string(),
    "partitionValues": PARTITION_VALUES,
    "size": pa.int64(),
    "dataChange": pa.bool_(),
    "deletionVector": _VECTOR,
    "baseRowId": pa.int64(),
    "defaultRowCommitVersion": pa.int64(),
}
ACTIONS: Final[Mapping[str, pa.StructType]] = {
    "checkpointMetadata": pa.struct({"version": pa.int64(), "tags": PARTITION_VALUES}),
    "sidecar": pa.struct(
        {
            "path": pa.string(),
            "sizeInBytes": pa.int64(),
            "modificationTime": pa.int64(),
            "tags": PARTITION_VALUES,
        }
    ),
    "protocol": pa.struct(
        {
            "minReaderVersion": pa.int32(),
            "minWriterVersion": pa.int32(),
            "readerFeatures": _TEXTS,
            "writerFeatures": _TEXTS,
        }
    ),
    "metaData": pa.struct(
        {
            "id": pa.string(),
            "name": pa.string(),
            "description": pa.string(),
            "format": pa.struct({"provider": pa.string(), "options": PARTITION_VALUES}),
            "schemaString": pa.string(),
            "partitionColumns": _TEXTS,
            "configuration": PARTITION_VALUES,
            "createdTime": pa.int64(),
        }
    ),
    "txn": pa.struct(
        {"appId": pa.string(), "version": pa.int64(), "lastUpdated": pa.int64()}
    ),
    "domainMetadata": pa.struct(
        {"domain": pa.string(), "configuration": pa.string(), "removed": pa.bool_()}
    ),
    "add": pa.struct(
        {
            **_FILE,
            "modificationTime": pa.int64(),
            "stats": pa.string(),
            "tags": PARTITION_VALUES,
            "clusteringProvider": pa.string(),
        }
    ),
    "remove": pa.struct(
        {
            **_FILE,
            "deletionTimestamp": pa.int64(),
            "extendedFileMetadata": pa.bool_(),
        }
    ),
}


def read_as_parquet(store: LogStore, name: str) -> pa.Buffer:
    """Read a checkpoint of JSON lines into the bytes of a Parquet file.

    Columns are those that some line has.
    """
    path = f"{store.root}/_delta_log/{name}"
    lines = store.read(name).removeprefix(BYTE_ORDER_MARK).split(b"\n")
    kinds = [kind for kind in ACTIONS if any(_names(kind, line) for line in lines)]
    schema = pa.schema({kind: ACTIONS[kind] for kind in kinds})
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema) as writer:
        for first in range(0, len(lines), LINES_AT_ONCE):
            some = lines[first : first + LINES_AT_ONCE]
            writer.write_batch(_batch(some, schema, path))
    return sink.getvalue()


def _names(kind: str, line: bytes) -> bool:
    """Tell whether a line may hold an action; a key may be written with escapes."""
    return kind.encode() in line or b"\\u" in line


def _batch(lines: Sequence[bytes], schema: pa.Schema, path: str) -> pa.RecordBatch:
    actions = [*_actions(lines, path)]
    columns = []
    for field in schema:
        given = [action.get(field.name) for action in actions]
        try:
            values = [_shaped(value, field.type) for value in given]
            columns.append(pa.array(values, field.type))
        except FAULTS:
            reason = f"its {field.name} has the wrong types"
            raise LogCorruptError(path=path, reason=reason) from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _actions(lines: Sequence[bytes], path: str) -> Iterator[dict[str, Any]]:
    for line in lines:
        if text := line.strip():
            try:
                yield statistics_as_text(load_line(text, name=path), text)
            except RecursionError:
                reason = "a line is nested too deeply"
                raise LogCorruptError(path=path, reason=reason) from None


def _shaped(value: Any, data_type: pa.DataType) -> object:  # noqa: ANN401 (any JSON)
    """Return JSON as Arrow takes it: of an object its known fields, a map's pairs."""
    if value is None or not pa.types.is_nested(data_type):
        return value
    if pa.types.is_list(data_type):
        if not isinstance(value, list):
            raise TypeError(data_type)
        return value
    if not isinstance(value, dict):
        raise TypeError(data_type)
    if pa.types.is_map(data_type):
        return [*value.items()]
    return {part.name: _shaped(value.get(part.name), part.type) for part in data_type}
