import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deltaweb.delta.errors import TableNotFoundError
from deltaweb.delta.log.overview import load_log_overview
from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.delta.log.segment import VersionRun
from deltaweb.delta.log.store import LogStore
from deltaweb.storage.local import LocalTableStore
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, commit_bytes
from tests.support.stores.memory import MemoryTableStore

TIMES_MS = {
    commit_name(0): 100,
    commit_name(1): 50,
    checkpoint_name(5): 70,
    commit_name(6): 80,
    checkpoint_name(6): 85,
    commit_name(7): 90,
    checkpoint_part_names(9, 2)[0]: 95,
    checkpoint_part_names(9, 2)[1]: 97,
    "notes.txt": 1,
}


def in_memory(_folder: Path) -> LogStore:
    store = MemoryTableStore()
    for name, time_ms in TIMES_MS.items():
        store.put(name, b"")
        store.modification_times[name] = time_ms
    return store


def on_disk(folder: Path) -> LogStore:
    log = folder / "_delta_log"
    log.mkdir()
    for name, time_ms in TIMES_MS.items():
        (log / name).touch()
        os.utime(log / name, ns=(0, time_ms * 1_000_000))
    return LocalTableStore(str(folder))


@cases(
    "make, commit_ms",
    {
        "listings tell times": (in_memory, {0: 100, 1: 50, 6: 80, 7: 90}),
        "reads tell times": (on_disk, {}),
    },
)
def test_one_listing_tells_commits_runs_and_times_that_reads_do_not(
    tmp_path: Path, make: Callable[[Path], LogStore], commit_ms: dict[int, int]
) -> None:
    overview = load_log_overview(make(tmp_path))

    assert overview.listing.commits == [0, 1, 6, 7]
    assert [found.version for found in overview.listing.checkpoints] == [5, 6, 9]
    assert overview.runs == [VersionRun(0, 1), VersionRun(5, 7), VersionRun(9, 9)]
    assert overview.commit_ms == commit_ms
    assert list(overview.checkpoint_ms.items()) == [(5, 70), (9, 95)]


def test_a_log_without_commits_is_no_table() -> None:
    builder = LogBuilder()
    builder.store.put("_last_checkpoint", commit_bytes({}))

    with pytest.raises(TableNotFoundError):
        load_log_overview(builder.store)
