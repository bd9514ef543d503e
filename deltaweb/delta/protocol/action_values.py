"""Raw actions, from JSON or a checkpoint, to the values of `actions`.

A field of another type than the specification gives it is an error that names it; an
unknown field is ignored.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.protocol.actions import Format, Metadata, Protocol

DEFAULT_PROVIDER = "parquet"


def parse_metadata(raw: Mapping[str, Any], *, path: str) -> Metadata:
    """Return a metaData action.

    Args:
        raw: The action's fields; a map may be an object or a list of pairs.

    Source: delta_protocol.md, "Change Metadata".
    """
    fields = _Fields(raw, action="metaData", path=path)
    return Metadata(
        id=fields.text("id"),
        name=fields.text("name"),
        description=fields.text("description"),
        format=_format(fields),
        schema_string=fields.text("schemaString"),
        partition_columns=fields.texts("partitionColumns") or [],
        configuration=fields.text_map("configuration"),
        created_time=fields.integer("createdTime"),
    )


def parse_protocol(raw: Mapping[str, Any], *, path: str) -> Protocol:
    """Return a protocol action.

    Source: delta_protocol.md, "Protocol Evolution".
    """
    fields = _Fields(raw, action="protocol", path=path)
    return Protocol(
        min_reader_version=fields.required_integer("minReaderVersion"),
        min_writer_version=fields.required_integer("minWriterVersion"),
        reader_features=fields.texts("readerFeatures"),
        writer_features=fields.texts("writerFeatures"),
    )


def _format(fields: "_Fields") -> Format:
    raw = fields.raw.get("format")
    if raw is None:
        return Format(provider=DEFAULT_PROVIDER)
    if not isinstance(raw, Mapping):
        raise fields.error("format")  # noqa: EM101 (the name of a field)
    inner = _Fields(raw, action="metaData.format", path=fields.path)
    return Format(
        provider=inner.text("provider") or DEFAULT_PROVIDER,
        options=inner.text_map("options"),
    )


class _Fields:
    """Typed reads of an action's fields, with errors that name the field."""

    def __init__(self, raw: Mapping[str, Any], *, action: str, path: str) -> None:
        self.raw = raw
        self.action = action
        self.path = path

    def error(self, name: str) -> LogCorruptError:
        reason = f"{self.action}.{name} is missing or has the wrong type"
        return LogCorruptError(path=self.path, reason=reason)

    def text(self, name: str) -> str | None:
        value = self.raw.get(name)
        if value is None or isinstance(value, str):
            return value
        raise self.error(name)

    def texts(self, name: str) -> list[str] | None:
        value = self.raw.get(name)
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return value
        raise self.error(name)

    def text_map(self, name: str) -> dict[str, str]:
        value = self.raw.get(name)
        if value is None:
            return {}
        try:
            pairs = dict(_as_pair(item) for item in _items(value)).items()
        except (TypeError, ValueError):
            raise self.error(name) from None
        if not all(isinstance(key, str) for key, _ in pairs):
            raise self.error(name)
        return {
            key: text if isinstance(text, str) else json.dumps(text)
            for key, text in pairs
            if text is not None
        }

    def integer(self, name: str) -> int | None:
        value = self.raw.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self.error(name)

    def required_integer(self, name: str) -> int:
        value = self.integer(name)
        if value is None:
            raise self.error(name)
        return value


def _items(value: Any) -> Iterable[Any]:  # noqa: ANN401  # any JSON
    return value.items() if isinstance(value, Mapping) else value


def _as_pair(item: object) -> tuple[Any, ...]:
    """Return an entry of a map; without Parquet's annotation it is a struct of two."""
    if isinstance(item, Mapping):
        return tuple(item.values())
    if isinstance(item, Sequence) and not isinstance(item, str):
        return tuple(item)
    raise TypeError(item)
