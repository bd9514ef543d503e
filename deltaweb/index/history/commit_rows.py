"""The history as rows: one a commit, and one a change of metadata or protocol."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.errors import DeltaError, PropertyError, SchemaMissingError
from deltaweb.delta.features.registry import reading_refusal
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.table_properties import deleted_file_retention_ms
from deltaweb.index.folder.file_index import (
    METADATA_SCHEMA,
    PROTOCOL_SCHEMA,
    bounded_batches,
)
from deltaweb.index.history.commit_part import CommitChange, CommitPart
from deltaweb.index.history.lifetimes import Vacuum
from deltaweb.index.history.readability import refusal_reason
from deltaweb.index.history.stored_values import (
    bounded_json,
    bounded_names,
    bounded_text,
    clean_text,
)

ROWS_A_BATCH: Final = 4096
MAX_EVENTS: Final = 5000
MAX_VACUUMS: Final = 100
LONG: Final = range(-(2**63), 2**63)


@dataclass(slots=True)
class History:
    """What the commits of a table say, gathered oldest first.

    Attributes:
        refusals: Why each of them may not be read; None where it may.
        events: What the timeline marks: `version` and `kind`.
        vacuums: The newest VACUUMs that began, oldest first.
        faults: The commits that do not read.
    """

    root: str
    versions: list[int] = field(default_factory=list)
    refusals: list[DeltaError | None] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    vacuums: list[Vacuum] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    _metadata: Metadata | None = None
    _protocol: Protocol | None = None
    _refusal: DeltaError | None = None
    _metadata_rows: list[dict[str, Any]] = field(default_factory=list)
    _protocol_rows: list[dict[str, Any]] = field(default_factory=list)
    _batches: list[pa.RecordBatch] = field(default_factory=list)

    def start_at(self, version: int, protocol: Protocol, metadata: Metadata) -> None:
        """Take what is in force at a version whose earlier commits are gone."""
        self._set(version, protocol, metadata)

    def take(self, part: CommitPart) -> None:
        versions = part.versions
        num_rows = len(versions)
        changed = np.zeros((2, num_rows), dtype=np.bool_)
        done = 0
        for change in part.changes:
            self.refusals += [self._refusal] * (change.row - done)
            version = versions[change.row]
            schema = self._changes_schema(change.metadata)
            protocol = self._changes_protocol(change.protocol)
            self._set(version, change.protocol, change.metadata)
            self.refusals.append(self._refusal)
            changed[:, change.row] = (schema, protocol)
            self._note(version, change, schema=schema, protocol=protocol)
            if change.is_vacuum_start:
                time_ms = part.rows["timestamp_ms"][change.row].as_py()
                self.vacuums.append(_vacuum(version, change, time_ms, self._metadata))
            done = change.row + 1
        del self.vacuums[:-MAX_VACUUMS]
        self.refusals += [self._refusal] * (num_rows - done)
        self.versions += versions
        if part.is_faulty:
            self.faults += versions
        self._batches.append(_with_changes(part.rows, changed))

    def _changes_protocol(self, protocol: Protocol | None) -> bool:
        return (
            protocol is not None
            and self._protocol is not None
            and protocol != self._protocol
        )

    def _note(
        self, version: int, change: CommitChange, *, schema: bool, protocol: bool
    ) -> None:
        kinds = [
            ("vacuum", change.is_vacuum_end),
            ("schema", schema),
            ("protocol", protocol),
        ]
        self.events += [
            {"version": version, "kind": kind} for kind, is_one in kinds if is_one
        ]
        del self.events[:-MAX_EVENTS]

    def commit_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield the commits by `COMMIT_SCHEMA` with the index of their first.

        What depends on all commits (totals, readability) is null in them.
        """
        parts = (pa.Table.from_batches([batch]) for batch in self._batches)
        start = 0
        for batch in bounded_batches(parts, ROWS_A_BATCH):
            yield start, batch
            start += batch.num_rows

    def metadata_batch(self) -> pa.RecordBatch:
        """The metadata by version, a row a change."""
        return pa.RecordBatch.from_pylist(self._metadata_rows, METADATA_SCHEMA)

    def protocol_batch(self) -> pa.RecordBatch:
        """The protocol by version, a row a change or a change of its refusal."""
        return pa.RecordBatch.from_pylist(self._protocol_rows, PROTOCOL_SCHEMA)

    def metadata_ids(self) -> list[tuple[int, str]]:
        """Versions that set the metadata, ascending, with the metaData.id."""
        return [(row["version"], row["metadata_id"]) for row in self._metadata_rows]

    def _changes_schema(self, metadata: Metadata | None) -> bool:
        if metadata is None or self._metadata is None:
            return False
        return metadata.schema_string != self._metadata.schema_string

    def _set(
        self, version: int, protocol: Protocol | None, metadata: Metadata | None
    ) -> None:
        before = (self._protocol, self._refusal)
        if metadata is not None and metadata != self._metadata:
            self._metadata = metadata
            self._metadata_rows.append(_metadata_row(version, metadata))
        if protocol is not None:
            self._protocol = protocol
        if self._protocol is None or (protocol is None and metadata is None):
            return
        self._refusal = self._find_refusal(version, self._protocol)
        was_refused = before[1] is not None
        if self._protocol != before[0] or (self._refusal is not None) != was_refused:
            row = _protocol_row(version, self._protocol, self._refusal)
            self._protocol_rows.append(row)

    def _find_refusal(self, version: int, protocol: Protocol) -> DeltaError | None:
        metadata = self._metadata or Metadata(id=None)
        refusal = reading_refusal(protocol, metadata, root=self.root, version=version)
        if refusal is None and metadata.schema_string is None:
            return SchemaMissingError(root=self.root, version=version)
        return refusal


def _vacuum(
    version: int, change: CommitChange, time_ms: int, metadata: Metadata | None
) -> Vacuum:
    retention_ms = change.retention_ms
    if retention_ms is None:
        try:
            configuration = metadata.configuration if metadata else {}
            retention_ms = deleted_file_retention_ms(configuration)
        except PropertyError:
            retention_ms = deleted_file_retention_ms({})
    # The writer's own clock set the tombstones' times as well; a copied log has lost
    # the times of its files.
    began_ms = time_ms if change.claimed_ms is None else change.claimed_ms
    return Vacuum(version, began_ms - retention_ms)


def _with_changes(
    rows: pa.RecordBatch, changed: np.ndarray[Any, np.dtype[np.bool_]]
) -> pa.RecordBatch:
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    columns["changes_schema"] = pa.array(changed[0])
    columns["changes_protocol"] = pa.array(changed[1])
    return pa.RecordBatch.from_arrays([*columns.values()], schema=rows.schema)


def _metadata_row(version: int, metadata: Metadata) -> dict[str, Any]:
    return {
        "version": version,
        "metadata_id": clean_text(metadata.id or ""),
        "metadata_name": bounded_text(metadata.name or ""),
        "description": bounded_text(metadata.description or ""),
        "format_provider": clean_text(str(metadata.format)),
        "schema_string": clean_text(metadata.schema_string or ""),
        "partition_columns": json.dumps(bounded_names(metadata.partition_columns)),
        "configuration": bounded_json(metadata.configuration),
        "created_time": _long(metadata.created_time),
    }


def _protocol_row(
    version: int, protocol: Protocol, refusal: DeltaError | None
) -> dict[str, Any]:
    return {
        "version": version,
        "min_reader_version": _long(protocol.min_reader_version),
        "min_writer_version": _long(protocol.min_writer_version),
        "reader_features": _features(protocol.reader_features),
        "writer_features": _features(protocol.writer_features),
        "unsupported_reason": bounded_text(refusal_reason(refusal)) if refusal else "",
    }


def _long(value: int | None) -> int | None:
    """A number that a column can hold: the nearest one."""
    return None if value is None else min(max(value, LONG.start), LONG.stop - 1)


def _features(names: Any) -> str | None:  # noqa: ANN401 (a sequence of texts or None)
    return None if names is None else json.dumps(bounded_names(names))
