"""A clean-up that runs while the whole log is read for its index."""

from pathlib import Path

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.paths import checkpoint_name, commit_name
from deltaweb.index.build.full import index_table
from tests.support.index.index_folders import contents
from tests.support.logs.delta_logs import LogBuilder, metadata, protocol
from tests.support.logs.indexed_logs import NOW_MS, SCHEMA, file_of
from tests.support.stores.counting_store import CountingStore

HEAD = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
OLD = (commit_name(0), commit_name(1), checkpoint_name(1))


class CleanedStore(CountingStore):
    """A log of which files go when one of them is about to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.due: dict[str, tuple[str, ...]] = {}

    def read(self, name: str) -> bytes:
        for gone in self.due.pop(name, ()):
            self.log_files.pop(gone, None)
        return super().read(name)


@pytest.fixture
def store() -> CleanedStore:
    """Versions 0 to 3; those from 2 on are also built by a checkpoint."""
    files = [file_of(name, 1) for name in "abcd"]
    store = CleanedStore()
    log = LogBuilder(store).commit(0, *HEAD, files[0]).commit(1, files[1])
    log.checkpoint(1, *HEAD, *files[:2]).commit(2, files[2])
    log.checkpoint(2, *HEAD, *files[:3]).commit(3, files[3])
    for version in range(4):
        log.time(version, NOW_MS + version)
    return store


@pytest.mark.parametrize("read", [commit_name(0), commit_name(1)])
def test_does_not_break_the_index(store: CleanedStore, tmp_path: Path, read: str):
    table = LogBuilder(store).table
    store.due = {read: OLD}

    result = index_table(table, tmp_path / "own", now_ms=NOW_MS)

    assert store.due == {}
    assert (result.version, result.first_commit, result.is_broken) == (3, 2, False)
    index_table(table, tmp_path / "later", now_ms=NOW_MS)
    assert contents(tmp_path / "own") == contents(tmp_path / "later")


def test_of_a_checkpoint_does_not_break_the_index(store: CleanedStore, tmp_path: Path):
    store.due = {commit_name(3): (checkpoint_name(2),)}

    result = index_table(LogBuilder(store).table, tmp_path / "own", now_ms=NOW_MS)

    assert store.due == {}
    assert (result.version, result.num_files, result.is_broken) == (3, 4, False)


def test_that_does_not_end_is_told(store: CleanedStore, tmp_path: Path) -> None:
    store.due = {commit_name(n): (commit_name(n),) for n in (0, 1, 2)}

    with pytest.raises(LogCorruptError, match="disappeared"):
        index_table(LogBuilder(store).table, tmp_path / "own", now_ms=NOW_MS)

    assert not (tmp_path / "own").exists()
