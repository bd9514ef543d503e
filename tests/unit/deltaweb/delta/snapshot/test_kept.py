"""What a process keeps of versions: a second question reads no log, unless it must."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.snapshot.kept import kept
from deltaweb.storage.local import LocalTableStore
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, add
from tests.support.stores.counting_store import CountingStore
from tests.support.tables.zoned_tables import MIDNIGHT, NEW_YORK, write_zoned_table

ROWS = pa.table({"id": [1, 2, 3]})


class KeyedStore(CountingStore):
    """A store that tells what it has in common with others."""

    key: object = "k"


@pytest.fixture(autouse=True)
def _keeping() -> Iterator[None]:
    kept.begin()
    yield
    kept.end()


@pytest.fixture
def store() -> KeyedStore:
    """Versions 0 to 3, one file more in each."""
    made = KeyedStore()
    log = LogBuilder(made)
    log.start(add("f-0"))
    for version in range(1, 4):
        log.commit(version, add(f"f-{version}"))
    made.forget()
    return made


def num_files(store: CountingStore, version: int | None = None) -> int:
    return DeltaTable.from_store(store).snapshot(version).num_files


@pytest.mark.parametrize("version", [None, 2])
def test_a_version_is_read_once(store: KeyedStore, version: int | None) -> None:
    first = num_files(store, version)
    store.forget()

    assert num_files(store, version) == first
    assert store.listings == []
    assert [name for name in store.reads if name.endswith(".json")] == []


def test_a_later_version_is_reached_by_the_commits_in_between(store: KeyedStore):
    num_files(store, 1)
    store.forget()

    assert num_files(store, 3) == 4
    assert store.listings == []
    assert [name[:20] for name in store.reads] == [f"{2:020}", f"{3:020}"]


def test_an_earlier_version_is_read_by_itself(store: KeyedStore) -> None:
    num_files(store, 3)

    assert num_files(store, 1) == 2
    assert num_files(store, 3) == 4


def test_statistics_are_typed_once(store: KeyedStore) -> None:
    table = DeltaTable.from_store(store)

    assert table.snapshot(3).statistics() is table.snapshot(3).statistics()


def test_with_other_options_nothing_is_found(store: KeyedStore) -> None:
    num_files(store, 3)
    store.key = "other"
    store.forget()

    assert num_files(store, 3) == 4
    assert store.listings


def test_what_is_kept_reads_each_condition_in_the_zone_of_its_table(tmp_path: Path):
    write_zoned_table(tmp_path)
    zones = (None, NEW_YORK, None, "+05:30", NEW_YORK)

    found = [
        DeltaTable(str(tmp_path), time_zone=zone).snapshot().read(["id"], MIDNIGHT)
        for zone in zones
    ]

    read = [sorted(rows["id"].to_pylist()) for rows in found]
    assert read == [[1, 2], [2], [1, 2], [1, 2], [2]]


def test_a_process_that_does_not_say_so_keeps_nothing(store: KeyedStore) -> None:
    kept.end()
    num_files(store, 3)
    store.forget()

    num_files(store, 3)

    assert store.listings


def test_what_does_not_fit_is_forgotten(store: KeyedStore) -> None:
    kept.begin(1)
    num_files(store, 1)
    num_files(store, 3)
    store.forget()

    num_files(store, 1)

    assert store.listings


def make_anew(root: Path) -> None:
    """Put another table at the place of one, of as many versions."""
    shutil.rmtree(root)
    DeltaTable.create(str(root), ROWS.schema).append(ROWS.slice(0, 1))


def touch(root: Path) -> None:
    """Put back a commit of a backup, which has the same bytes."""
    commit = root / "_delta_log" / f"{1:020}.json"
    os.utime(commit, (1_600_000_000, 1_600_000_000))
    DeltaTable(str(root)).append(ROWS.slice(0, 1))


@cases(
    "change, version, expected",
    {
        "a table made anew": (make_anew, None, 1),
        "a version of a table made anew": (make_anew, 1, 1),
        "a log that goes on from a backup": (touch, None, 4),
    },
)
def test_another_log_at_the_same_place_is_noticed(tmp_path, change, version, expected):
    DeltaTable.create(str(tmp_path), ROWS.schema).append(ROWS)
    assert DeltaTable(str(tmp_path)).snapshot(1).read().num_rows == 3

    change(tmp_path)

    assert DeltaTable(str(tmp_path)).snapshot(version).read().num_rows == expected


def test_a_link_that_leads_elsewhere_is_another_table(tmp_path: Path) -> None:
    for name in ("a", "b"):
        DeltaTable.create(str(tmp_path / name), ROWS.schema)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    before = LocalTableStore(str(link)).key
    link.unlink()
    link.symlink_to(tmp_path / "b")

    assert LocalTableStore(str(link)).key != before
