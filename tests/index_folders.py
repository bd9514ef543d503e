"""What an index folder says, in values that compare."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from deltaweb.index.file_index import COMMITS, METADATA, PROTOCOLS, open_index
from deltaweb.index.file_index import read_batches as rows_of

NOT_COMPARED = ("folder", "num_tombstones", "is_rewritten")


def contents(folder: Path) -> dict[str, Any]:
    """All that an index holds, whichever way it was made; files by their paths."""
    index = open_index(folder)
    source = folder / "source.json"
    return {
        "summary": without(index.summary, *NOT_COMPARED),
        "files": sorted_files(index.files),
        "source": _source(json.loads(source.read_text())) if source.exists() else None,
        **{name: commit_rows(folder, name) for name in (COMMITS, METADATA, PROTOCOLS)},
    }


def commit_rows(folder: Path, name: str = COMMITS) -> list[dict[str, Any]]:
    return [row for rows in rows_of(folder, name) for row in rows]


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def sorted_files(files: pa.Table) -> tuple[str, list[dict[str, Any]]]:
    """The columns, and the rows in one order; a map's entries have none."""
    rows = files.to_pylist()
    for row in rows:
        row["partition_values"] = sorted(row["partition_values"])
    return str(files.schema), sorted(rows, key=lambda row: str(row["path"]))


def _source(values: dict[str, Any]) -> dict[str, Any]:
    return without(values, "files_bytes")
