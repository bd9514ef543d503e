"""Tables with all that today's writers say of them: rows, times, history, changes.

They are our own, and those below `modern` of the folder that DELTAWEB_GOLDEN names.
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from tests.support.golden.recorded import table_folders

FOLDERS = table_folders("modern", "tables")
NAMES = [*FOLDERS]
LARGE = {"dv-large", "wide-plain"}
"""Tables whose rows take seconds, and say nothing that those of others do not."""


@dataclass(frozen=True)
class ModernTable:
    """A recorded table; what is read of it is kept as long as it is."""

    name: str

    @property
    def expected(self) -> Mapping[str, Any]:
        """What the reference implementation says."""
        return _expected_of(self.name)

    @property
    def folder(self) -> Path:
        """Where the table is; never written."""
        return FOLDERS[self.name] / "table"

    @cached_property
    def table(self) -> DeltaTable:
        """The table in place."""
        return DeltaTable(str(self.folder))

    @property
    def versions(self) -> dict[int, Mapping[str, Any]]:
        """What is recorded of each version."""
        return {int(text): said for text, said in self.expected["versions"].items()}

    def snapshot(self, version: int) -> Snapshot:
        """Return a version, also one that is refused."""
        if version not in self._snapshots:
            self._snapshots[version] = self.table.snapshot_metadata(version)
        return self._snapshots[version]

    @cached_property
    def _snapshots(self) -> dict[int, Snapshot]:
        return {}

    def dated_copy(self, folder: Path) -> DeltaTable:
        """Copy the log, and give its commits the times that they had.

        Args:
            folder: Where the copy goes; it is made.
        """
        log = folder / "_delta_log"
        shutil.copytree(self.folder / "_delta_log", log)
        for version, time_ms in self.expected["commit_mtimes_ms"].items():
            path = log / f"{int(version):020d}.json"
            if path.exists():  # a checkpoint may have outlived its commit
                os.utime(path, ns=(time_ms * 1_000_000, time_ms * 1_000_000))
        return DeltaTable(str(folder))


@cache  # of all they are a megabyte of text
def _expected_of(name: str) -> Mapping[str, Any]:
    text = (FOLDERS[name] / "expected.json").read_text(encoding="utf-8")
    expected: dict[str, Any] = json.loads(text)
    return expected


@lru_cache(maxsize=1)
def modern_table(name: str) -> ModernTable:
    """Return a recorded table; tests of one table that follow each other share it."""
    return ModernTable(name)
