"""What changed between two versions, as JSON documents tell it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apps.pages.page_json import IfKnown, json_of
from apps.pages.request.server_paths import text_for_reader
from deltaweb.delta.changes import (
    FieldChange,
    FieldState,
    FileChanges,
    RowChanges,
    SchemaChanges,
    SnapshotDiff,
    ValueChanges,
)
from deltaweb.delta.errors import SchemaError


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCounts:
    """The files that differ between two versions.

    Attributes:
        added: Files that were added and change data; `removed` are those that were
            removed.
        rewritten: Files that were replaced without a change of data.
        rewritten_into: The files that replaced them.
        shared: Files that are in both versions.
        rewrites_known: Whether it is known which files were rewritten.
    """

    added: int
    removed: int
    rewritten: int
    rewritten_into: int
    added_bytes: int
    removed_bytes: int
    rewritten_bytes: int
    rewritten_into_bytes: int
    shared: int
    rewrites_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """The rows that differ between two versions.

    Attributes:
        updated: None without a key, like the next four.
        key: The columns by which rows are matched.
        changed_cells: How many rows have another value, by the column.
        unmatched_keys: Keys that several rows of a version have.
        null_key_rows: Rows whose key is null.
        columns_as_text: Columns that are compared as text.
    """

    inserted: int
    deleted: int
    updated: IfKnown[int | None] = None
    key: IfKnown[tuple[str, ...] | None] = None
    changed_cells: IfKnown[Mapping[str, int] | None] = None
    unmatched_keys: IfKnown[int | None] = None
    null_key_rows: IfKnown[int | None] = None
    files_read: int
    rows_read: int
    columns_only_in_from: tuple[str, ...]
    columns_only_in_to: tuple[str, ...]
    columns_as_text: tuple[str, ...]


def diff_json(diff: SnapshotDiff) -> dict[str, Any]:
    """Return everything but rows; what may not or cannot be read is null."""
    before, after = diff.partition_columns
    return {
        "from": diff.before.version,
        "to": diff.after.version,
        "schema": _schema_or_none(diff),
        "properties": values_json(diff.properties),
        "protocol": values_json(diff.protocol),
        "details": values_json(diff.details),
        "partition_columns": {
            "from": list(before),
            "to": list(after),
            "changed": before != after,
        },
        "files": None if diff.refusal else json_of(file_counts(diff.files)),
        "warning": text_for_reader(diff.refusal.message) if diff.refusal else None,
    }


def schema_json(changes: SchemaChanges) -> dict[str, Any]:
    """Return the fields that were added, removed and changed, by name."""
    return {
        "added": [_field_json(change) for change in changes.added],
        "removed": [_field_json(change) for change in changes.removed],
        "changed": [
            {
                "name": change.name,
                **({"renamed_from": change.old_name} if change.old_name else {}),
                "changed": [str(aspect) for aspect in change.aspects],
                "from": _state_json(change.before),
                "to": _state_json(change.after),
            }
            for change in changes.changed
        ],
        "reordered": [".".join(path) for path in changes.reordered],
    }


def values_json(changes: ValueChanges) -> dict[str, Any]:
    """Return the named values that were added, removed and changed."""
    return {
        "added": [{"name": c.name, "value": c.after} for c in changes.added],
        "removed": [{"name": c.name, "value": c.before} for c in changes.removed],
        "changed": [
            {"name": c.name, "from": c.before, "to": c.after} for c in changes.changed
        ],
    }


def file_counts(files: FileChanges) -> FileCounts:
    """Return counts and bytes of the files that differ."""

    def size_bytes(part: pa.Table) -> int:
        return pc.sum(part["size"]).as_py() or 0

    return FileCounts(
        added=files.added.num_rows,
        removed=files.removed.num_rows,
        rewritten=files.replaced.num_rows,
        rewritten_into=files.replacing.num_rows,
        added_bytes=size_bytes(files.added),
        removed_bytes=size_bytes(files.removed),
        rewritten_bytes=size_bytes(files.replaced),
        rewritten_into_bytes=size_bytes(files.replacing),
        shared=files.num_shared,
        rewrites_known=files.rewrites_known,
    )


def row_counts(changes: RowChanges) -> RowCounts:
    """Return the counts of rows that differ."""
    has_key = changes.updated is not None
    return RowCounts(
        inserted=changes.inserted,
        deleted=changes.deleted,
        updated=changes.updated,
        key=tuple(changes.key) if has_key else None,
        changed_cells=changes.changed_cells if has_key else None,
        unmatched_keys=changes.unmatched_keys if has_key else None,
        null_key_rows=changes.null_key_rows if has_key else None,
        files_read=changes.num_files_read,
        rows_read=changes.num_rows_read,
        columns_only_in_from=tuple(changes.columns.only_before),
        columns_only_in_to=tuple(changes.columns.only_after),
        columns_as_text=tuple(changes.columns.as_text),
    )


def _schema_or_none(diff: SnapshotDiff) -> dict[str, Any] | None:
    """Return the schema's changes; None where a version has no schema that parses."""
    try:
        return schema_json(diff.schema)
    except SchemaError:
        return None


def _field_json(change: FieldChange) -> dict[str, Any]:
    return {"name": change.name, **_state_json(change.after or change.before)}


def _state_json(state: FieldState | None) -> dict[str, Any]:
    if state is None:  # pragma: no cover (a change has a side at least)
        return {}
    return {
        "type": state.type_text,
        "nullable": state.nullable,
        "comment": state.comment,
        "metadata": dict(state.metadata),
    }
