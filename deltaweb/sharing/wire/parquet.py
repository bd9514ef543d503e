"""The lines of answers in the parquet format: files are plain Parquet to a client.

Source: delta_sharing_protocol.md, "Table Metadata Format" and "Data Files".
"""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema.field_keys import COMMENT
from deltaweb.environment.bounded_json import parse_json
from deltaweb.sharing.json_text import escaped, json_bytes
from deltaweb.sharing.narrowed import with_field_metadata
from deltaweb.sharing.wire.lines import (
    FileAnswer,
    TableFacts,
    change_fields,
    json_line,
    line_buffer,
)

NAME: Final = "parquet"
FEED_PROPERTY: Final = "enableChangeDataFeed"
CHANGE_NAMES: Final = {"cdc": "cdf", "add": "add", "remove": "remove"}
PROTOCOL_LINE: Final = b'{"protocol":{"minReaderVersion":1}}\n'


def head_lines(metadata: Metadata, facts: TableFacts) -> bytes:
    return PROTOCOL_LINE + metadata_line(metadata, facts)


def metadata_line(metadata: Metadata, facts: TableFacts) -> bytes:
    values: dict[str, Any] = {
        "id": metadata.id or "",
        "name": metadata.name,
        "description": metadata.description,
        "format": {"provider": metadata.format.provider},
        "schemaString": clean_schema(metadata.schema_string or ""),
        # What else the table is configured by is its owner's alone.
        "configuration": {FEED_PROPERTY: "true"} if facts.has_feed else {},
        "partitionColumns": list(metadata.partition_columns),
        **facts.access(),
        "version": facts.version,
        "size": facts.size_bytes,
        "numFiles": facts.num_files,
    }
    return json_line("metaData", values)


def clean_schema(schema_string: str) -> str:
    """Return a schema without what writers keep of columns, but for comments.

    A text that is no schema is returned as it is.
    """
    try:
        schema = parse_json(schema_string)
        cleaned = with_field_metadata(schema, _comment_alone)
        return json_bytes(cleaned).decode()
    except (ValueError, RecursionError):
        return schema_string


def _comment_alone(kept: Mapping[str, Any]) -> dict[str, Any]:
    comment = kept.get(COMMENT)
    return {COMMENT: comment} if isinstance(comment, str) else {}


def file_lines(batch: pa.RecordBatch, answer: FileAnswer) -> bytes:
    """Return a line a file.

    Args:
        batch: Files in the columns path, size, partition_values and stats.
    """
    return line_buffer(
        pc.binary_join_element_wise(
            '{"file":{"url":"',
            escaped(answer.urls),
            '","id":"',
            answer.file_ids(batch),
            '"',
            answer.unchanging_fields(batch),
            f"{answer.shared_fields()}}}}}\n",
            "",
        )
    )


def change_lines(batch: pa.RecordBatch, answer: FileAnswer) -> bytes:
    """Return a line a file that was added or removed, or holds changes.

    Args:
        batch: As `file_lines`, and kind, version and timestamp.
    """
    kinds = pa.array([*CHANGE_NAMES.values()]).take(
        pc.index_in(batch["kind"], value_set=pa.array([*CHANGE_NAMES]))
    )
    return line_buffer(
        pc.binary_join_element_wise(
            '{"',
            kinds,
            '":{"url":"',
            escaped(answer.urls),
            '","id":"',
            answer.file_ids(batch),
            '"',
            answer.unchanging_fields(batch),
            change_fields(batch, answer),
            "}}\n",
            "",
        )
    )
