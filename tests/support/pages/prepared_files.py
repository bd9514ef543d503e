"""Rewritten files as tests make them: a row each, and bytes where it holds rows."""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from apps.sharing.access.grants.prepared import location_of, path_of
from apps.sharing.models import PreparedChanges, PreparedFile, SharedTable
from tests.support.pages.factories import NOW


def new_prepared_file(shared: SharedTable, key: str, **fields: Any) -> PreparedFile:  # noqa: ANN401 (columns)
    """A rewritten file of ten rows and 100 bytes, last used now."""
    defaults = {
        "rule": "rule",
        "source_path": f"source-{key}",
        "num_rows": 10,
        "size_bytes": 100,
        "prepared_at": NOW,
        "last_used_at": NOW,
    }
    made = PreparedFile.objects.create(
        shared_table=shared, key=key, **(defaults | fields)
    )
    if made.num_rows:
        put_file(shared, path_of(key))
    return made


def new_prepared_changes(shared: SharedTable, version: int) -> PreparedChanges:
    """The changes of a version, ready."""
    return PreparedChanges.objects.create(
        shared_table=shared, rule="rule", version=version, is_ready=True, made_ms=0
    )


def put_file(shared: SharedTable, name: str, *, at: datetime = NOW) -> None:
    """Write a file of the store of rewritten files, as of a time."""
    path = Path(location_of(shared.id), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"rows")
    os.utime(path, (at.timestamp(), at.timestamp()))


def stored_files(shared: SharedTable) -> set[str]:
    """Return the keys of the files that the store has."""
    return {path.stem for path in Path(location_of(shared.id)).glob("*.parquet")}
