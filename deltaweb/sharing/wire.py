"""The lines of answers that are streams of JSON objects, one a line.

A line holds no raw line end of any kind, and nothing but ASCII: clients split text at
more characters than a newline. Keys without a value are left out; what the log holds
is passed on as it is.

Source: delta_sharing_protocol.md, "Table Metadata Format" and "Data Files".
"""

import json
from collections.abc import Sequence
from hashlib import md5
from json.encoder import encode_basestring_ascii
from typing import Any

import pyarrow as pa

from deltaweb.delta.actions import Metadata

PROTOCOL_LINE = b'{"protocol":{"minReaderVersion":1}}\n'


def protocol_line() -> bytes:
    """Return the line of the protocol."""
    return PROTOCOL_LINE


def metadata_line(
    metadata: Metadata,
    *,
    version: int | None = None,
    size_bytes: int | None = None,
    num_files: int | None = None,
) -> bytes:
    """Return the line of the metadata.

    Args:
        metadata: The metaData of the log.
        version: The version that it is of; left out for None, like the next two.
        size_bytes: Sum of the sizes of the version's files.
        num_files: Count of them.
    """
    values: dict[str, Any] = {
        "id": metadata.id or "",
        "name": metadata.name,
        "description": metadata.description,
        "format": {"provider": metadata.format.provider},
        "schemaString": clean_schema(metadata.schema_string or ""),
        "partitionColumns": list(metadata.partition_columns),
        "configuration": dict(metadata.configuration),
        "version": version,
        "size": size_bytes,
        "numFiles": num_files,
    }
    present = {key: value for key, value in values.items() if value is not None}
    text = json.dumps({"metaData": present}, separators=(",", ":"))
    return text.encode("ascii") + b"\n"


def clean_schema(schema_string: str) -> str:
    """Return a schema without what writers keep of columns, but for comments.

    A text that is no schema is returned as it is.
    """
    try:
        schema = json.loads(schema_string)
        return json.dumps(_clean_type(schema), separators=(",", ":"))
    except (ValueError, RecursionError):
        return schema_string


def _clean_type(value: object) -> object:
    """Return a type of a schema with the metadata of its fields cleaned."""
    if not isinstance(value, dict):
        return value
    cleaned = {key: _clean_type(part) for key, part in value.items()}
    if isinstance(value.get("fields"), list):
        cleaned["fields"] = [_clean_field(column) for column in value["fields"]]
    return cleaned


def _clean_field(value: object) -> object:
    if not isinstance(value, dict):
        return value
    cleaned = {**value, "type": _clean_type(value.get("type"))}
    kept = value.get("metadata")
    comment = kept.get("comment") if isinstance(kept, dict) else None
    cleaned["metadata"] = {"comment": comment} if isinstance(comment, str) else {}
    return cleaned


def file_lines(
    batch: pa.RecordBatch,
    urls: Sequence[str],
    *,
    expiration_ms: int,
    version_and_timestamp: tuple[int, int] | None = None,
) -> bytes:
    """Return a line a file.

    Args:
        batch: Files in the columns path, size, partition_values and stats.
        urls: The URL of each.
        expiration_ms: When the URLs expire, in milliseconds since the epoch.
        version_and_timestamp: The version and its time in milliseconds, where the
            answer is of a version that was asked for.
    """
    escape = encode_basestring_ascii
    end = f',"expirationTimestamp":{expiration_ms}'
    if version_and_timestamp is not None:
        version, timestamp_ms = version_and_timestamp
        end += f',"version":{version},"timestamp":{timestamp_ms}'
    end += "}}\n"
    lines = []
    for path, url, size, values, stats in zip(
        batch["path"].to_pylist(),
        urls,
        batch["size"].to_pylist(),
        batch["partition_values"].to_pylist(),
        batch["stats"].to_pylist(),
        strict=True,
    ):
        file_id = md5(path.encode(), usedforsecurity=False).hexdigest()
        told = "" if stats is None else f',"stats":{escape(stats)}'
        partition = json.dumps(dict(values or ()), separators=(",", ":"))
        lines.append(
            f'{{"file":{{"url":{escape(url)},"id":"{file_id}",'
            f'"partitionValues":{partition},"size":{size}{told}{end}'
        )
    return "".join(lines).encode("ascii")
