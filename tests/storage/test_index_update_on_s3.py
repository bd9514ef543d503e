"""An index of a table on S3 is gone on from as one of a table on disk is."""

import shutil
from pathlib import Path

from deltaweb.delta.log.paths import commit_name
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import contents
from tests.support.logs.local_logs import RandomLog
from tests.support.stores.s3_server import S3Server


class UploadedLog:
    """A table on S3 that is written on disk, file by file."""

    def __init__(self, s3: S3Server, folder: Path) -> None:
        self.random = RandomLog(folder / "written", seed=3)
        self.location = f"s3://{s3.new_bucket()}/table"
        self._s3 = s3
        self._sent = folder / "sent"
        self._known: set[str] = set()

    def grow(self, commits: int) -> None:
        self.random.grow(commits)
        names = {path.name for path in self.random.log.iterdir()} - self._known
        self.send(*names)

    def send(self, *names: str) -> None:
        self._known |= set(names)
        shutil.rmtree(self._sent, ignore_errors=True)
        self._sent.mkdir()
        for name in names:
            shutil.copy(self.random.log / name, self._sent)
        bucket = self.location.split("/")[2]
        self._s3.upload(self._sent, bucket, "table/_delta_log")


def test_new_commits_alone_are_read(s3: S3Server, tmp_path: Path) -> None:
    log = UploadedLog(s3, tmp_path)
    log.grow(3)
    build_index(log.location, s3.options, tmp_path / "base", now_ms=0)
    log.grow(2)
    build_index(log.location, s3.options, tmp_path / "fresh", now_ms=0)
    (log.random.log / commit_name(1)).write_bytes(b"{torn")
    log.send(commit_name(1))  # whoever reads the whole log says so

    result = build_index(
        log.location, s3.options, tmp_path / "next", base=tmp_path / "base", now_ms=0
    )

    assert (result.version, result.is_broken) == (5, False)
    assert contents(tmp_path / "next") == contents(tmp_path / "fresh")
