"""Writers in processes: none loses a commit, none doubles one, and some are killed."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deltaweb.delta.log.paths import commit_name
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.place import open_store
from deltaweb.table import DeltaTable
from tests.support.processes.lean import run_lean
from tests.support.processes.racing_writers import STEPS
from tests.support.stores.s3_server import S3Server
from tests.support.tables.written_tables import create, live_paths

IS_FULL = os.environ.get("DELTAWEB_RACES") == "full"  # as many as were asked for once


def race(
    location: str, options: Mapping[str, object], *, processes: int, appends: int
) -> None:
    store = open_store(location, options)
    create(store)

    run_lean(
        "racing_writers",
        "race",
        location,
        json.dumps(options),
        str(processes),
        str(appends),
    )

    total = processes * appends
    commits = [name for name in store.list_names_from("0") if name.endswith(".json")]
    assert commits == [commit_name(version) for version in range(total + 1)]
    names = live_paths(store)
    assert len(names) == len(set(names)) == total
    by_writer = [name.rsplit("-", 5)[0] for name in names]
    assert len(set(by_writer)) == total
    assert sum(b.num_rows for b in store.list_data_statuses()) == total


def test_racing_appends_are_each_there_once_on_a_disk(tmp_path: Path) -> None:
    processes, appends = (8, 50) if IS_FULL else (4, 12)
    race(str(tmp_path / "t"), {}, processes=processes, appends=appends)


def test_racing_appends_are_each_there_once_on_s3(s3: S3Server) -> None:
    processes, appends = (8, 50) if IS_FULL else (2, 4)
    url = f"s3://{s3.new_bucket()}/t"
    race(url, s3.options, processes=processes, appends=appends)


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table for each step at which a writer was killed, all by one process."""
    folder = tmp_path_factory.mktemp("left")
    for step in STEPS:
        create(LocalTableStore(str(folder / step)))
    run_lean("racing_writers", "die", folder)
    return folder


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_that_is_killed_leaves_the_old_or_the_new_version(left, step):
    store = LocalTableStore(str(left / step))

    table = DeltaTable.from_store(store)
    is_new = step == "after the commit"
    assert table.latest_version() == int(is_new)
    assert live_paths(store) == (["new"] if is_new else [])
    table.vacuum(dry_run=False, now=datetime.now(UTC) + timedelta(days=8))
    assert store.has_data_file("new") == is_new
    assert json.loads(store.read(commit_name(0)).splitlines()[0])


def test_a_torn_file_beside_the_log_is_no_commit(tmp_path: Path) -> None:
    store = LocalTableStore(str(tmp_path / "t"))
    create(store)
    torn = tmp_path / "t" / "_delta_log" / f".{commit_name(1)}.abcdefgh.tmp"
    torn.write_text('{"add":{"path":"to')

    assert DeltaTable.from_store(store).latest_version() == 0
    assert store.remove_leftovers() == []  # somebody may be writing it
