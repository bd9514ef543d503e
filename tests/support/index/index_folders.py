"""What an index folder says, in values that compare."""

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from deltaweb.index.folder.file_index import (
    COMMITS,
    HISTORY_SCHEMAS,
    METADATA,
    PROTOCOLS,
    SUMMARY,
    open_files,
)
from deltaweb.index.folder.parts import map_batches
from deltaweb.sharing.wire.lines import UNCHANGING

NOT_COMPARED = ("folder", "num_tombstones", "is_rewritten")


@dataclass(frozen=True)
class OpenIndex:
    folder: Path
    files: pa.Table
    summary: dict[str, Any]


def open_index(folder: Path | str) -> OpenIndex:
    place = Path(folder)
    summary = json.loads((place / SUMMARY).read_text(encoding="utf-8"))
    return OpenIndex(place, open_files(place), summary)


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
    batches = map_batches(folder, name, HISTORY_SCHEMAS[name])
    return [row for batch in batches for row in batch.to_pylist()]


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def sorted_files(files: pa.Table) -> tuple[str, list[dict[str, Any]]]:
    """The columns, and the rows in one order; entries of maps and objects have none."""
    rows = files.to_pylist()
    for row in rows:
        row["partition_values"] = sorted(row["partition_values"])
        with suppress(TypeError, ValueError):
            row["stats"] = json.dumps(json.loads(row["stats"]), sort_keys=True)
        if row.get(UNCHANGING):
            row[UNCHANGING] = _fields(row[UNCHANGING])
    return str(files.schema), [
        _with_equal_nans(row) for row in sorted(rows, key=lambda row: str(row["path"]))
    ]


def _with_equal_nans(value: Any) -> Any:  # noqa: ANN401 (JSON of any type)
    """A bound may be NaN, which is equal to no other one."""
    if isinstance(value, dict):
        return {name: _with_equal_nans(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_equal_nans(part) for part in value]
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _fields(text: str) -> dict[str, Any]:
    """What a file's line says that no answer changes, its statistics parsed, too."""
    fields: dict[str, Any] = json.loads("{" + text.lstrip(",") + "}")
    with suppress(TypeError, ValueError, KeyError):
        fields["stats"] = json.loads(fields["stats"])
    return fields


def _source(values: dict[str, Any]) -> dict[str, Any]:
    return without(values, "files_bytes")
