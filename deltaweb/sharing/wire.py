"""The lines of answers that are streams of JSON objects, one a line.

A line holds no raw line end of any kind, and nothing but ASCII: clients split text at
more characters than a newline. Keys without a value are left out; what the log holds
is passed on as it is.

Source: delta_sharing_protocol.md, "Table Metadata Format" and "Data Files".
"""

import json
from collections.abc import Sequence
from hashlib import md5
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.actions import Metadata
from deltaweb.sharing.json_text import escaped, object_texts

ID_LENGTH: Final = 32  # hexadecimal digits of an MD5
PROTOCOL_LINE: Final = b'{"protocol":{"minReaderVersion":1}}\n'


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
        "configuration": {},  # of the table's owner alone, but for what is not served
        "partitionColumns": list(metadata.partition_columns),
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
    urls: Sequence[str] | pa.StringArray,
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
    lines = pc.binary_join_element_wise(
        '{"file":{"url":"',
        escaped(pa.array(urls, pa.string())),
        '","id":"',
        file_ids(batch["path"]),
        '","partitionValues":',
        object_texts(batch["partition_values"]),
        ',"size":',
        batch["size"].fill_null(0).cast(pa.string()),
        _told_statistics(batch["stats"]),
        _line_end(expiration_ms, version_and_timestamp),
        "",
    )
    return b"" if not len(lines) else bytes(memoryview(lines.buffers()[2]))


def file_ids(paths: pa.StringArray) -> pa.StringArray:
    """Return the id of each file: the MD5 of its path as the log writes it.

    So it is the same for every recipient and at every time.
    """
    digests = [
        md5(path, usedforsecurity=False).digest()
        for path in paths.cast(pa.binary()).to_pylist()
    ]
    text = b"".join(digests).hex().encode()
    offsets = np.arange(0, len(text) + 1, ID_LENGTH, dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(digests), pa.py_buffer(offsets), pa.py_buffer(text)
    )


def _told_statistics(stats: pa.StringArray) -> pa.StringArray:
    told = pc.binary_join_element_wise(',"stats":"', escaped(stats), '"', "")
    return told.fill_null("") if told.null_count else told


def _line_end(expiration_ms: int, version_and_timestamp: tuple[int, int] | None) -> str:
    end = f',"expirationTimestamp":{expiration_ms}'
    if version_and_timestamp is not None:
        version, timestamp_ms = version_and_timestamp
        end += f',"version":{version},"timestamp":{timestamp_ms}'
    return end + "}}\n"
