"""One sample table while its story is told: each step by somebody, at a time.

The steps are those of `DeltaTable`, as everybody has them. Files on disk are dated as
the log says they are, so that times by either are the same.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from deltaweb.delta.writing.authorship import authored
from deltaweb.table import DeltaTable


class ScriptedTable:
    """A table below a folder that holds nothing else."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._dated: dict[str, float] = {}

    @property
    def table(self) -> DeltaTable:
        """The table, once a step has created it."""
        return DeltaTable(str(self._root))

    @contextmanager
    def step(self, user: str, at: datetime) -> Iterator[str]:
        """Let somebody write at a time; yields the location."""
        with authored(user, at=at):
            yield str(self._root)
        self._date(str(self._root), at.timestamp())

    def _date(self, folder: str, seconds: float) -> None:
        """Give what was written since the last step the time of this one."""
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    self._date(entry.path, seconds)
                elif self._dated.get(entry.path) != entry.stat().st_mtime:
                    os.utime(entry.path, (seconds, seconds))
                    self._dated[entry.path] = os.stat(entry.path).st_mtime  # noqa: PTH116  # of many files
