"""What the rows of an index become in the database: commits, metadata, columns."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

import pyarrow as pa

from apps.tables.models import (
    MAX_REASON_LENGTH,
    Commit,
    MetadataVersion,
    ProtocolVersion,
    Table,
    TableColumn,
    WideSchema,
)
from apps.tables.models.row_loading import stored_values
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import (
    fields_in,
    is_too_wide,
    parse_schema,
    schema_width,
    short_type_text,
)
from deltaweb.index.folder.file_index import COMMIT_COLUMNS
from deltaweb.index.history.stored_values import clean_text

MAX_COLUMNS: Final = 10_000
MAX_PATH_LENGTH: Final = 1000
MAX_INT32: Final = 2**31 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MS: Final = 253_402_300_799_000  # the end of the year 9999
_FIRST_MS: Final = -62_135_596_800_000  # the start of the year 1
_CUT: Final = "readability_reason"
_COPIED: Final = tuple(
    one.name for one in COMMIT_COLUMNS if one.name == one.field and one.name != _CUT
)
COMMIT_FIELDS: Final = (
    *_COPIED,
    "committed_at",
    _CUT,
    "is_archived",
    "table",
)


def moment(time_ms: int) -> datetime:
    """The aware time of milliseconds since the epoch, within what dates can say."""
    return _EPOCH + timedelta(milliseconds=min(max(time_ms, _FIRST_MS), LAST_MS))


def commit_values(
    table: Table, batch: pa.RecordBatch, *, first_kept: int
) -> Iterator[tuple[Any, ...]]:
    """Yield a batch of `commits.arrow` as rows of `COMMIT_FIELDS`, fit to be inserted.

    Args:
        first_kept: The oldest commit whose file the log holds.
    """
    moments = map(moment, batch["timestamp_ms"].to_pylist())
    reasons = batch[_CUT].to_pylist()
    table_ids = stored_values(Commit, "table", [table.id])
    return zip(
        *(batch[name].to_pylist() for name in _COPIED),
        stored_values(Commit, "committed_at", moments),
        [reason[:MAX_REASON_LENGTH] for reason in reasons],
        [version < first_kept for version in batch["version"].to_pylist()],
        table_ids * batch.num_rows,
        strict=True,
    )


def metadata_of(table: Table, row: dict[str, Any]) -> MetadataVersion:
    """Return, unsaved, the metadata of a row of `metadata.arrow`.

    Of a schema that is too wide for a page it keeps the digest; see `wide_schema_of`.
    """
    text = row["schema_string"]
    is_wide = is_too_wide(text)
    return MetadataVersion(
        table=table,
        version=row["version"],
        metadata_id=row["metadata_id"][:200],
        metadata_name=row["metadata_name"],
        description=row["description"],
        format_provider=row["format_provider"][:100],
        schema_string="" if is_wide else text,
        wide_schema_digest=_digest(text) if is_wide else "",
        partition_columns=json.loads(row["partition_columns"]),
        configuration=json.loads(row["configuration"]),
        created_time=row["created_time"],
    )


def wide_schema_of(table: Table, row: dict[str, Any]) -> WideSchema | None:
    """Return, unsaved, the schema of a row of `metadata.arrow` if it is too wide."""
    text = row["schema_string"]
    if not is_too_wide(text):
        return None
    width = schema_width(text)
    return WideSchema(
        table=table,
        digest=_digest(text),
        num_columns=width.num_columns,
        num_fields=width.num_fields,
        schema_string=text,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def protocol_of(table: Table, row: dict[str, Any]) -> ProtocolVersion:
    """Return, unsaved, the protocol of a row of `protocols.arrow`."""
    return ProtocolVersion(
        table=table,
        version=row["version"],
        min_reader_version=min(row["min_reader_version"], MAX_INT32),
        min_writer_version=min(row["min_writer_version"], MAX_INT32),
        reader_features=_optional_json(row["reader_features"]),
        writer_features=_optional_json(row["writer_features"]),
        unsupported_reason=row["unsupported_reason"],
    )


def columns_of(table: Table, schema_string: str) -> list[TableColumn]:
    """Return, unsaved, the columns of a schema, nested ones too; none of a bad one."""
    try:
        schema = parse_schema(schema_string)
    except SchemaError:
        return []
    return [
        TableColumn(
            table=table,
            position=position,
            path=clean_text(".".join(path))[:MAX_PATH_LENGTH],
            type_text=clean_text(short_type_text(column.data_type, MAX_PATH_LENGTH)),
        )
        for position, (path, column) in enumerate(
            islice(fields_in(schema), MAX_COLUMNS)
        )
    ]


def _optional_json(text: str | None) -> Any:  # noqa: ANN401 (any JSON)
    return None if text is None else json.loads(text)
