"""The lines of a commit: actions as JSON, of files without an object a file.

Source: delta_protocol.md, "Delta Log Entries" and "Actions".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.row_tracking.logged_fields import (
    BASE_ROW_ID,
    IN_THE_LOG,
    ROW_VERSION,
)

ROWS_AT_ONCE: Final = 1 << 14
FEW_FILES: Final = 32
"""Up to so many, an object a file takes less time than Arrow's calls for all."""
VECTOR_FIELD: Final = "deletionVector"
_CONTROL: Final = r"[\x00-\x1f]"


def action_line(name: str, fields: Mapping[str, Any]) -> bytes:
    """Return one action as a line; fields that are None are left out."""
    said = {key: value for key, value in fields.items() if value is not None}
    text = json.dumps({name: said}, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half a character is written as an escape
        return json.dumps({name: said}, separators=(",", ":")).encode() + b"\n"


def protocol_line(protocol: Protocol) -> bytes:
    """Return the protocol action.

    Source: delta_protocol.md, "Protocol Evolution".
    """
    lists = {
        "readerFeatures": protocol.reader_features,
        "writerFeatures": protocol.writer_features,
    }
    return action_line(
        "protocol",
        {
            "minReaderVersion": protocol.min_reader_version,
            "minWriterVersion": protocol.min_writer_version,
            **{
                key: None if names is None else [*names] for key, names in lists.items()
            },
        },
    )


def metadata_line(metadata: Metadata) -> bytes:
    """Return the metaData action.

    Source: delta_protocol.md, "Change Metadata".
    """
    return action_line(
        "metaData",
        {
            "id": metadata.id,
            "name": metadata.name,
            "description": metadata.description,
            "format": {
                "provider": metadata.format.provider,
                "options": dict(metadata.format.options),
            },
            "schemaString": metadata.schema_string,
            "partitionColumns": [*metadata.partition_columns],
            "configuration": dict(metadata.configuration),
            "createdTime": metadata.created_time,
        },
    )


def transaction_line(txn: SetTransaction) -> bytes:
    """Return the txn action.

    Source: delta_protocol.md, "Transaction Identifiers".
    """
    return action_line(
        "txn",
        {
            "appId": txn.app_id,
            "version": txn.version,
            "lastUpdated": txn.last_updated,
        },
    )


def add_lines(
    files: pa.Table, keys: Sequence[str], *, data_change: bool
) -> Iterator[bytes]:
    """Yield the add actions of files, many lines at a time.

    Args:
        files: In the columns of `transaction.MARKED_FILES`.
        keys: The keys of partitionValues, in their order.
        data_change: Whether rows come with them.
    """
    for batch in files.to_batches(ROWS_AT_ONCE):
        if batch.num_rows <= FEW_FILES:
            for file in batch.to_pylist():
                yield action_line(
                    "add",
                    {
                        "path": file["path"],
                        "partitionValues": _values_of(file, keys),
                        "size": file["size"],
                        "modificationTime": file["modification_time"],
                        "dataChange": data_change,
                        "stats": file["stats"],
                        VECTOR_FIELD: _vector_of(file),
                        **_logged_fields_of(file),
                    },
                )
            continue
        yield _lines(
            "add",
            batch.num_rows,
            {
                "path": _quoted(batch["path"]),
                "partitionValues": _partition_values(batch["partition_values"], keys),
                "size": batch["size"].cast(pa.string()),
                "modificationTime": batch["modification_time"].cast(pa.string()),
                "dataChange": _constant(data_change, batch.num_rows),
                "stats": _quoted(batch["stats"]),
                VECTOR_FIELD: _vectors(batch[VECTOR]),
                **_logged_fields(batch),
            },
        )


def remove_lines(
    files: pa.Table, keys: Sequence[str], *, data_change: bool, deletion_ms: int
) -> Iterator[bytes]:
    """Yield the remove actions of files, many lines at a time.

    Args:
        files: In the columns of `transaction.REMOVED_FILES`, and with their vectors.
        keys: The keys of partitionValues, in their order.
        data_change: Whether rows go with them.
        deletion_ms: The time from which the tombstones count, in milliseconds.
    """
    for batch in files.to_batches(ROWS_AT_ONCE):
        count = batch.num_rows
        if count <= FEW_FILES:
            for file in batch.to_pylist():
                yield action_line(
                    "remove",
                    {
                        "path": file["path"],
                        "deletionTimestamp": deletion_ms,
                        "dataChange": data_change,
                        "extendedFileMetadata": True,
                        "partitionValues": _values_of(file, keys),
                        "size": file["size"],
                        VECTOR_FIELD: _vector_of(file),
                        **_logged_fields_of(file, (BASE_ROW_ID, ROW_VERSION)),
                    },
                )
            continue
        yield _lines(
            "remove",
            count,
            {
                "path": _quoted(batch["path"]),
                "deletionTimestamp": _constant(deletion_ms, count),
                "dataChange": _constant(data_change, count),
                "extendedFileMetadata": _constant(True, count),  # noqa: FBT003  # a value
                "partitionValues": _partition_values(batch["partition_values"], keys),
                "size": batch["size"].cast(pa.string()),
                VECTOR_FIELD: _vectors(batch[VECTOR]),
                **_logged_fields(batch, (BASE_ROW_ID, ROW_VERSION)),
            },
        )


def change_lines(files: pa.Table, keys: Sequence[str]) -> Iterator[bytes]:
    """Yield the cdc actions of files with the rows that changed.

    Args:
        files: In the columns of `transaction.CHANGE_FILES`.
        keys: The keys of partitionValues, in their order.

    Source: delta_protocol.md, "Add CDC File".
    """
    for batch in files.to_batches(ROWS_AT_ONCE):
        yield _lines(
            "cdc",
            batch.num_rows,
            {
                "path": _quoted(batch["path"]),
                "partitionValues": _partition_values(batch["partition_values"], keys),
                "size": batch["size"].cast(pa.string()),
                "dataChange": _constant(False, batch.num_rows),  # noqa: FBT003  # a value
            },
        )


def domain_line(domain: str, configuration: str) -> bytes:
    """Return the domainMetadata action.

    Source: delta_protocol.md, "Domain Metadata".
    """
    fields = {"domain": domain, "configuration": configuration, "removed": False}
    return action_line("domainMetadata", fields)


def _logged_fields(
    batch: pa.RecordBatch, names: Sequence[str] = tuple(IN_THE_LOG)
) -> dict[str, pa.Array]:
    """Return what else the log says of files, as far as it is known."""
    present = [name for name in names if name in batch.schema.names]
    return {
        IN_THE_LOG[name]: _quoted(batch[name])
        if pa.types.is_string(batch[name].type)
        else batch[name].cast(pa.string())
        for name in present
    }


def _logged_fields_of(
    file: Mapping[str, Any], names: Sequence[str] = tuple(IN_THE_LOG)
) -> dict[str, Any]:
    return {IN_THE_LOG[name]: file[name] for name in names if name in file}


def _values_of(file: Mapping[str, Any], keys: Sequence[str]) -> dict[str, str | None]:
    values = dict(file["partition_values"] or ())
    return {key: values.get(key) for key in keys}


def _vector_of(file: Mapping[str, Any]) -> dict[str, Any] | None:
    vector = file[VECTOR]
    return vector and {key: said for key, said in vector.items() if said is not None}


def _vectors(vectors: pa.StructArray) -> pa.Array:
    """Return descriptors of deletion vectors as JSON, null where there is none."""
    if vectors.null_count == len(vectors):
        return pa.nulls(len(vectors), pa.string())
    said = [_vector_of({VECTOR: fields}) for fields in vectors.to_pylist()]
    texts = [fields and json.dumps(fields, separators=(",", ":")) for fields in said]
    return pa.array(texts, pa.string())


def _lines(action: str, count: int, fields: Mapping[str, pa.Array]) -> bytes:
    """Join fields, given as JSON texts, to lines; one that is null is left out."""
    if not count:
        return b""
    parts: list[pa.Array | str] = []
    for position, (name, texts) in enumerate(fields.items()):
        start = f'{{"{action}":{{' if not position else ","
        named = pc.binary_join_element_wise(f'{start}"{name}":', texts, "")
        parts.append(pc.coalesce(named, ""))
    lines = pc.binary_join_element_wise(*parts, "}}\n", "")
    return "".join(lines.to_pylist()).encode()


def _constant(value: object, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(json.dumps(value)), count)


def _partition_values(values: pa.Array, keys: Sequence[str]) -> pa.Array:
    texts: list[pa.Array | str] = []
    for position, key in enumerate(keys):
        found = pc.map_lookup(values, query_key=key, occurrence="last")
        start = f"{',' if position else ''}{json.dumps(key, ensure_ascii=False)}:"
        value = pc.coalesce(_quoted(found), "null")
        texts.append(pc.binary_join_element_wise(start, value, ""))
    if not texts:
        return _constant({}, len(values))
    return pc.binary_join_element_wise("{", *texts, "}", "")


def _quoted(texts: pa.Array) -> pa.Array:
    if pc.any(pc.match_substring_regex(texts, _CONTROL)).as_py():
        said = [
            None if text is None else json.dumps(text, ensure_ascii=False)
            for text in texts.to_pylist()
        ]
        return pa.array(said, pa.string())
    escaped = pc.replace_substring(texts, pattern="\\", replacement="\\\\")
    escaped = pc.replace_substring(escaped, pattern='"', replacement='\\"')
    return pc.binary_join_element_wise('"', escaped, '"', "")
