"""A table whose files are those of another, by absolute paths: a shallow clone."""

import json
from pathlib import Path

from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

NUMBERS = [1, 2, 3, 4]


def source_table(folder: Path) -> DeltaTable:
    """Two files of two rows each."""
    return TableBuilder(folder).rows(n=NUMBERS[:2]).rows(n=NUMBERS[2:]).build()


def shallow_clone(source: DeltaTable, folder: Path) -> Path:
    """A table of the same files: their paths are absolute."""
    lines = []
    for version in range(source.latest_version() + 1):
        for action in source.read_commit(version):
            said = dict(action)
            if "add" in said:
                path = f"file:{source.root}/{said['add']['path']}"
                said["add"] = {**said["add"], "path": path}
            if "commitInfo" not in said:
                lines.append(json.dumps(said))
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("\n".join(lines))
    return folder
