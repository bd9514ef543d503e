"""Logs on disk of dated commits, for tests of what the database keeps of them."""

import os
from pathlib import Path

from deltaweb.delta.log.paths import commit_name
from tests.support.logs.delta_logs import Action, add, metadata, protocol
from tests.support.logs.local_logs import LocalLog

START_S = 1_790_000_000
STEP_S = 3600


class DatedLog(LocalLog):
    """A table that gets a file a commit, an hour after the other.

    Attributes:
        table_id: The metaData.id.
        writer: Its name is in every commit, and in the paths of its files.
    """

    def __init__(
        self, folder: Path, *, table_id: str = "table", writer: str = "etl"
    ) -> None:
        super().__init__(folder)
        self.table_id = table_id
        self.writer = writer

    def write(self, first: int, last: int) -> "DatedLog":
        """Commit the versions `first` to `last`."""
        for version in range(first, last + 1):
            start = self.definition() if version == 0 else []
            self.commit(version, self._info(version), *start, self._file(version))
        return self

    def commit(self, version: int, *actions: Action) -> "DatedLog":
        super().commit(version, *actions)
        time_s = START_S + version * STEP_S
        os.utime(self.log / commit_name(version), (time_s, time_s))
        return self

    def definition(self) -> list[Action]:
        """The protocol and the metaData."""
        return [protocol(), metadata(self.table_id)]

    def clean_up(self, version: int) -> "DatedLog":
        """Write a checkpoint of a version and take the commits before it away."""
        files = [self._file(older) for older in range(version + 1)]
        self.checkpoint(version, *self.definition(), *files)
        for older in range(version):
            (self.log / commit_name(older)).unlink(missing_ok=True)
        return self

    def _info(self, version: int) -> Action:
        return {
            "commitInfo": {
                "operation": "WRITE",
                "operationParameters": {"mode": "Append", "batch": str(version)},
                "operationMetrics": {"numFiles": "1"},
                "userName": self.writer,
            }
        }

    def _file(self, version: int) -> Action:
        return add(f"{self.writer}-{version}.parquet", size=100 + version)
