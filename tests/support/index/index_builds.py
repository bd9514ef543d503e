"""Indexes that tests build, and commits that they add by hand."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deltaweb.delta.errors import DeltaError
from deltaweb.index.build.full import index_table
from deltaweb.index.folder.file_index import COMMITS
from deltaweb.index.folder.result import IndexResult
from deltaweb.table import DeltaTable
from tests.support.index.index_folders import commit_rows

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)


def build_index(
    location: str,
    storage_options: Mapping[str, Any] | None,
    folder: Path | str,
    **options: Any,  # noqa: ANN401 (those of `index_table`)
) -> IndexResult:
    """Index the table at a place; a broken one gives a result that says so."""
    try:
        return index_table(DeltaTable(location, storage_options), folder, **options)
    except DeltaError as error:
        return IndexResult.from_error(error)


def index(location: Path, folder: Path) -> IndexResult:
    return build_index(str(location), None, folder / "index", now_ms=NOW_MS)


def commits(result: IndexResult) -> list[dict[str, Any]]:
    return rows(result, COMMITS)


def rows(result: IndexResult, name: str) -> list[dict[str, Any]]:
    return commit_rows(Path(result.folder), name)


def add_commit(table: Path, version: int, *actions: dict[str, Any]) -> None:
    text = "".join(json.dumps(action) + "\n" for action in actions)
    (table / "_delta_log" / f"{version:020d}.json").write_text(text)


def add_file(
    path: str,
    *,
    size: int = 1,
    stats: str | None = None,
    partition_values: dict[str, str] | None = None,
) -> dict[str, Any]:
    add = {
        "path": path,
        "size": size,
        "partitionValues": partition_values or {},
        "modificationTime": 1,
        "dataChange": True,
    }
    return {"add": add if stats is None else {**add, "stats": stats}}


def set_metadata(schema_string: str, *, created_time: int = 1) -> dict[str, Any]:
    metadata = {
        "id": "another",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema_string,
        "partitionColumns": [],
        "configuration": {},
        "createdTime": created_time,
    }
    return {"metaData": metadata}


def schema_of(name: str, type_name: str) -> str:
    field = {"name": name, "type": type_name, "nullable": True, "metadata": {}}
    return json.dumps({"type": "struct", "fields": [field]})
