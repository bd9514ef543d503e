"""The metaData of a version as it is told to those who may not see all of it.

Of columns only what a reader needs is told: no expressions, no constraints, no marks
of identity columns. Where columns are hidden, no text that names one is told either.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from deltaweb.delta.features.column_mapping import MAX_COLUMN_ID
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema.field_keys import (
    CHAR_TYPE,
    COLLATIONS,
    COMMENT,
    FIELD_ID,
    NESTED_IDS,
    PHYSICAL_NAME,
    TYPE_CHANGES,
)
from deltaweb.sharing.json_text import json_bytes

READ_KEYS: Final = frozenset(
    {
        FIELD_ID,
        PHYSICAL_NAME,
        NESTED_IDS,
        TYPE_CHANGES,
        CHAR_TYPE,
        COLLATIONS,
    }
)
"""What the log keeps of a column that a reader of its files needs."""

KeepMetadata = Callable[[Mapping[str, Any]], dict[str, Any]]


def narrowed(
    metadata: Metadata, schema: StructType, columns: Sequence[str]
) -> Metadata:
    """Return the metaData of a version that tells of some columns alone.

    Args:
        schema: Its logical schema, which knows what columns are stored as.
    """
    hidden = [column for column in schema.fields if column.name not in columns]
    words = {column.name.lower() for column in hidden}
    words |= {column.physical_name.lower() for column in hidden if column.physical_name}

    def shown(text: str | None) -> str | None:
        lower = (text or "").lower()
        return None if any(word in lower for word in words) else text

    def kept(found: Mapping[str, Any]) -> dict[str, Any]:
        comment = found.get(COMMENT)
        is_shown = isinstance(comment, str) and shown(comment) is not None
        named = {key: value for key, value in found.items() if key in READ_KEYS}
        return named | ({COMMENT: comment} if is_shown else {})

    text = json.loads(metadata.schema_string or "")
    fields = [one for one in text["fields"] if one.get("name") in columns]
    tree = with_field_metadata({"type": "struct", "fields": fields}, kept)
    configuration = dict(metadata.configuration)
    if hidden and MAX_COLUMN_ID in configuration:
        configuration[MAX_COLUMN_ID] = str(max(field_ids_of(tree), default=0))
    return replace(
        metadata,
        name=shown(metadata.name),
        description=shown(metadata.description),
        schema_string=json_bytes(tree).decode(),
        partition_columns=[n for n in metadata.partition_columns if n in columns],
        configuration=configuration,
    )


def with_field_metadata(value: object, keep: KeepMetadata) -> object:
    """Return a type of a schema, as JSON, with other metadata of its fields."""
    if not isinstance(value, dict):
        return value
    cleaned = {key: with_field_metadata(part, keep) for key, part in value.items()}
    if isinstance(value.get("fields"), list):
        cleaned["fields"] = [_with_metadata(column, keep) for column in value["fields"]]
    return cleaned


def _with_metadata(value: object, keep: KeepMetadata) -> object:
    if not isinstance(value, dict):
        return value
    kept = value.get("metadata")
    return {
        **value,
        "type": with_field_metadata(value.get("type"), keep),
        "metadata": keep(kept if isinstance(kept, dict) else {}),
    }


def field_ids_of(value: object) -> Iterator[int]:
    """Yield the ids of all fields of a schema, as JSON."""
    if isinstance(value, list):
        for part in value:
            yield from field_ids_of(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key == FIELD_ID and isinstance(part, int):
                yield part
            elif key == NESTED_IDS and isinstance(part, dict):
                yield from (one for one in part.values() if isinstance(one, int))
            else:
                yield from field_ids_of(part)
