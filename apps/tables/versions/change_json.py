"""What changed between two versions, as JSON documents tell it."""

from typing import Any

import pyarrow.compute as pc

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
        "files": None if diff.refusal else files_json(diff.files),
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


def files_json(files: FileChanges) -> dict[str, Any]:
    """Return counts and bytes.

    `added` and `removed` are the files that change data; `rewritten` are the files
    that others replaced without a change of data, and `rewritten_into` those others.
    """
    parts = {
        "added": files.added,
        "removed": files.removed,
        "rewritten": files.replaced,
        "rewritten_into": files.replacing,
    }
    counts: dict[str, Any] = {name: part.num_rows for name, part in parts.items()}
    sizes = {
        f"{name}_bytes": pc.sum(part["size"]).as_py() or 0
        for name, part in parts.items()
    }
    return {
        **counts,
        **sizes,
        "shared": files.num_shared,
        "rewrites_known": files.rewrites_known,
    }


def rows_json(changes: RowChanges) -> dict[str, Any]:
    """Return the counts of rows; `updated` is only there with a key."""
    found: dict[str, Any] = {
        "inserted": changes.inserted,
        "deleted": changes.deleted,
    }
    if changes.updated is not None:
        found |= {
            "updated": changes.updated,
            "key": list(changes.key),
            "changed_cells": changes.changed_cells,
            "unmatched_keys": changes.unmatched_keys,
            "null_key_rows": changes.null_key_rows,
        }
    return found | {
        "files_read": changes.num_files_read,
        "rows_read": changes.num_rows_read,
        "columns_only_in_from": list(changes.columns.only_before),
        "columns_only_in_to": list(changes.columns.only_after),
        "columns_as_text": list(changes.columns.as_text),
    }


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
