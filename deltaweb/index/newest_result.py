"""The facts of a newest version."""

from pathlib import Path
from typing import Any

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.file_rows import NewestFiles
from deltaweb.index.history.stored_values import bounded_names, clean_json, clean_text
from deltaweb.index.index_result import INDEXED, UNSUPPORTED, IndexResult


def newest_result(
    folder: Path,
    snapshot: Snapshot,
    newest: NewestFiles | None,
    summary: dict[str, Any],
    committed_at_ms: int,
) -> IndexResult:
    """Return the facts of the newest version, made fit for every database.

    Args:
        folder: The index.
        snapshot: The version.
        newest: Its files; None where it may not be read.
        summary: What the overview draws.
        committed_at_ms: Time of its commit.
    """
    try:
        num_columns = len(snapshot.schema.fields)
    except SchemaError:
        num_columns = None
    refusal = snapshot.refusal
    return IndexResult(
        state=UNSUPPORTED if newest is None else INDEXED,
        folder=str(folder),
        version=snapshot.version,
        committed_at_ms=committed_at_ms,
        delta_id=clean_text(snapshot.metadata.id or ""),
        num_files=None if newest is None else newest.num_files,
        size_bytes=None if newest is None else newest.size_bytes,
        num_records=None if newest is None else newest.total_records,
        num_tombstones=None if newest is None else newest.num_tombstones,
        num_columns=num_columns,
        partition_columns=bounded_names(snapshot.metadata.partition_columns),
        summary=clean_json(summary),
        error_code=refusal.code if refusal else "",
        error=refusal.message if refusal else "",
        error_hint=refusal.hint if refusal else "",
    )
