"""What one line of the log says: the actions that a snapshot has one of.

The files of a table are never held as such objects but as Arrow tables (see `replay`).

Fields keep the protocol's names in snake case, and its units: sizes are bytes, times
are milliseconds since the Unix epoch. A field that the log leaves out is None.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The versions and features that readers and writers must know.

    Source: delta_protocol.md, "Protocol Evolution".
    """

    min_reader_version: int
    min_writer_version: int
    reader_features: Sequence[str] | None = None
    writer_features: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Encoding of the data files.

    Source: delta_protocol.md, "Format Specification".
    """

    provider: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Name, schema, partitioning and properties of a table.

    `schema_string` is None where the log has no schema (old logs, or broken ones).

    Source: delta_protocol.md, "Change Metadata".
    """

    id: str | None
    name: str | None = None
    description: str | None = None
    format: Format = field(default_factory=lambda: Format(provider="parquet"))
    schema_string: str | None = None
    partition_columns: Sequence[str] = ()
    configuration: Mapping[str, str] = field(default_factory=dict)
    created_time: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTransaction:
    """How far an application has come with this table.

    Source: delta_protocol.md, "Transaction Identifiers".
    """

    app_id: str
    version: int
    last_updated: int | None = None


class Provenance(NamedTuple):
    """What of a commitInfo is well formed; the rest is in the log alone."""

    operation: str | None
    parameters: Mapping[str, Any]
    metrics: Mapping[str, Any]
    engine_info: str | None
    user: str | None


def parse_provenance(raw: Mapping[str, Any] | None) -> Provenance:
    """Take what is well formed from any JSON object.

    Source: delta_protocol.md, "Commit Provenance Information".
    """
    if raw is None:
        return Provenance(None, {}, {}, None, None)
    return Provenance(
        _text(raw.get("operation")),
        _mapping(raw.get("operationParameters")),
        _mapping(raw.get("operationMetrics")),
        _text(raw.get("engineInfo")),
        _text(raw.get("userName")) or _text(raw.get("userId")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitInfo:
    """What a commit says of itself; `raw` may hold any JSON.

    `timestamp` is the time of the commit in the table's history (aware UTC, made
    monotonic), not the one that the writer claims; that stays in `raw`.

    Source: delta_protocol.md, "Commit Provenance Information".
    """

    version: int
    timestamp: datetime
    operation: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    engine_info: str | None = None
    user: str | None = None
    raw: Mapping[str, Any] | None = None

    @classmethod
    def from_raw(
        cls, raw: Mapping[str, Any] | None, *, version: int, timestamp_ms: int
    ) -> "CommitInfo":
        """Take what is well formed from any JSON object; the rest stays in `raw`."""
        return cls(
            version=version,
            timestamp=datetime.fromtimestamp(timestamp_ms / 1000, tz=UTC),
            raw=raw,
            **parse_provenance(raw)._asdict(),
        )


def _text(value: object) -> str | None:
    """Return text as it is, None as None, and any other JSON as its text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}
