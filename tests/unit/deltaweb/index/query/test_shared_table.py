"""A version is the same whether its index or its log is read, and always the newest."""

import os
import shutil
import threading
from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationNotFoundError, LogCorruptError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol, remove
from tests.support.logs.local_logs import LocalLog, RandomLog
from tests.support.pages.shared_tables import (
    CONDITIONS,
    hint,
    is_mapped,
    listed,
    paths,
    read_no_log,
    stats_text,
)

pytestmark = pytest.mark.slow


class TestParity:
    @matrix("seed", range(12), often=range(5))
    def test_an_older_index_answers_as_the_log_does(self, tmp_path: Path, seed: int):
        log = RandomLog(tmp_path, seed)
        log.grow(seed % 5)
        index = log.index()
        log.grow(seed % 4)

        replayed = SharedTableReader().open_version(log.table, index_folder=None)
        indexed = SharedTableReader().open_version(log.table, index_folder=index)

        assert is_mapped(indexed)
        assert not is_mapped(replayed)
        assert indexed.version == replayed.version == log.version
        assert indexed.metadata == replayed.metadata
        assert indexed.protocol == replayed.protocol
        assert indexed.num_files == replayed.num_files == len(log.live)
        assert indexed.size_bytes == replayed.size_bytes
        assert indexed.timestamp == replayed.timestamp
        assert listed(indexed) == listed(replayed)
        for text in CONDITIONS:
            condition = hint(text, indexed.schema)
            assert listed(indexed, predicates=[condition]) == listed(
                replayed, predicates=[condition]
            ), text

    @matrix("seed", range(6), often=range(3))
    def test_going_on_commit_by_commit_ends_where_reading_anew_does(
        self, tmp_path: Path, seed: int
    ) -> None:
        log, reader = RandomLog(tmp_path, seed), SharedTableReader()
        index = log.index()
        for _ in range(8):
            log.grow(1)
            opened = reader.open_version(log.table, index_folder=index)

        fresh = SharedTableReader().open_version(log.table, index_folder=None)
        assert listed(opened) == listed(fresh)

    def test_lists_what_the_log_has(self, log: LocalLog) -> None:
        opened = SharedTableReader().open_version(log.table, index_folder=log.index())

        assert listed(opened)[0] == {
            "path": "p=1/a",
            "relative_path": "p=1/a",
            "size": 1,
            "modification_time": 1,
            "partition_values": [("p", "1")],
            "stats": stats_text(10, 0, 9),
            "num_records": 10,
            "deletion_vector": None,
            "relative_vector_path": None,
        }
        assert listed(opened)[2]["stats"] is None


class TestNewestVersion:
    def test_an_index_is_gone_on_from_without_a_replay(self, log, monkeypatch):
        index = log.index()
        log.commit(1, add("d", partitionValues={"p": "3"}), remove("p=1/a"))
        read_no_log(monkeypatch)

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert opened.version == 1
        assert paths(opened) == ["d", "p=1/b", "p=2/c"]

    @pytest.mark.parametrize("has_index", [True, False], ids=["indexed", "replayed"])
    def test_is_the_same_object_until_a_commit_comes(self, log, *, has_index):
        index = log.index() if has_index else None
        reader = SharedTableReader()
        first = reader.open_version(log.table, index_folder=index)

        assert reader.open_version(log.table, index_folder=index) is first
        log.commit(1, add("d", partitionValues={"p": "3"}))
        assert reader.open_version(log.table, index_folder=index).version == 1

    def test_a_table_made_anew_in_its_place_is_noticed(self, log, tmp_path):
        reader, index = SharedTableReader(), log.index()
        reader.open_version(log.table, index_folder=index)
        shutil.rmtree(log.log.parent)
        other = LocalLog(tmp_path).start(add("other"), id="another")

        for one in (reader, SharedTableReader()):
            opened = one.open_version(other.table, index_folder=index)
            assert (opened.metadata.id, paths(opened)) == ("another", ["other"])

    def test_a_commit_of_the_same_size_and_time_is_told_by_its_bytes(self, log):
        index = log.index()
        name = log.log / f"{0:020d}.json"
        found = name.stat()
        name.write_bytes(name.read_bytes().replace(b"p=1/a", b"p=1/X"))
        os.utime(name, ns=(found.st_atime_ns, found.st_mtime_ns))

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert "p=1/X" in paths(opened)

    def test_a_log_that_went_on_behind_a_checkpoint_is_followed(self, log: LocalLog):
        reader, index = SharedTableReader(), log.index()
        reader.open_version(log.table, index_folder=index)
        log.checkpoint(9, protocol(), metadata(), add("far"))
        (log.log / "_last_checkpoint").write_text('{"version":9,"size":3}')

        opened = reader.open_version(log.table, index_folder=index)

        assert (opened.version, paths(opened)) == (9, ["far"])

    def test_a_table_that_is_gone_is_an_error(self, log: LocalLog) -> None:
        reader, index = SharedTableReader(), log.index()
        reader.open_version(log.table, index_folder=index)
        shutil.rmtree(log.log.parent)

        with pytest.raises(LocationNotFoundError):
            reader.open_version(log.table, index_folder=index)

    def test_a_commit_that_does_not_read_is_an_error_as_it_is_for_the_log(self, log):
        index = log.index()
        (log.log / f"{1:020d}.json").write_text("{torn")

        for folder in (index, None):
            with pytest.raises(LogCorruptError):
                SharedTableReader().open_version(log.table, index_folder=folder)

    def test_a_checkpoint_leads_around_a_commit_that_does_not_read(self, log: LocalLog):
        index = log.index()
        (log.log / f"{1:020d}.json").write_text("{torn")
        log.commit(2, add("two"))
        log.checkpoint(2, protocol(), metadata(), add("two"))

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert (opened.version, paths(opened)) == (2, ["two"])

    def test_a_newer_index_takes_the_place_of_the_older(self, log: LocalLog) -> None:
        reader, first = SharedTableReader(), log.index("first")
        reader.open_version(log.table, index_folder=first)
        log.commit(1, add("d", partitionValues={"p": "3"}))
        assert reader.open_version(log.table, index_folder=first).version == 1

        opened = reader.open_version(log.table, index_folder=log.index("second"))

        assert opened.num_files_in_memory == 0
        assert opened.num_files == 4

    def test_many_commits_one_by_one_come_back_to_the_index(self, log, monkeypatch):
        reader, index = SharedTableReader(), log.index()
        read_no_log(monkeypatch)
        for version in range(1, 80):
            log.commit(version, add(f"f{version}", partitionValues={"p": "3"}))
            opened = reader.open_version(log.table, index_folder=index)

        assert opened.num_files == 82


class TestAccess:
    def test_of_other_credentials_is_another_reading(self) -> None:
        location = "memory://access/table"
        keys = [DeltaTable(location, {"key": key}) for key in ("a", "a", "b")]
        name = f"{0:020d}.json"
        keys[0].store.put(name, commit_bytes(protocol(), metadata(), add("x")))
        reader = SharedTableReader()

        opened = [reader.open_version(table, index_folder=None) for table in keys]

        assert opened[1] is opened[0]
        assert opened[2] is not opened[0]


class TestEviction:
    def test_counts_a_table_that_did_not_open_as_none(self, log, tmp_path):
        reader = SharedTableReader()
        with pytest.raises(LocationNotFoundError):
            reader.open_version(DeltaTable(str(tmp_path / "none")), index_folder=None)

        assert reader.open_version(log.table, index_folder=None).num_files == 3

    def test_forgets_the_table_that_was_asked_for_the_longest_ago(self, tmp_path: Path):
        logs = [LocalLog(tmp_path / str(n)).start(add("a")) for n in range(3)]
        reader = SharedTableReader(max_tables=2)
        opened = [reader.open_version(log.table, index_folder=None) for log in logs]

        again = [
            reader.open_version(log.table, index_folder=None) for log in reversed(logs)
        ]

        assert again[0] is opened[2]
        assert again[1] is opened[1]
        assert again[2] is not opened[0]

    def test_forgets_tables_whose_files_take_too_much_memory(self, tmp_path: Path):
        logs = [
            LocalLog(tmp_path / str(n)).start(*(add(f"f{i}") for i in range(30)))
            for n in range(2)
        ]
        reader = SharedTableReader(max_files=50)
        first = reader.open_version(logs[0].table, index_folder=None)
        reader.open_version(logs[1].table, index_folder=None)

        assert reader.open_version(logs[0].table, index_folder=None) is not first


class TestConcurrency:
    def test_threads_select_while_the_index_is_replaced_and_removed(self, tmp_path):
        log = RandomLog(tmp_path, 7)
        reader, index = SharedTableReader(), log.index()
        condition = hint("id < 500", log.table.snapshot().schema)
        faults: list[BaseException] = []
        stop = threading.Event()

        def ask() -> None:
            try:
                while not stop.is_set():
                    opened = reader.open_version(log.table, index_folder=index)
                    found = listed(opened)
                    pruned = listed(opened, predicates=[condition])
                    assert len(found) == opened.num_files
                    assert len(pruned) <= len(found)
            except BaseException as error:  # noqa: BLE001 (told after the threads)
                faults.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(6):
            log.grow(1)
            log.index()
            shutil.rmtree(index)
        stop.set()
        for thread in threads:
            thread.join()

        assert faults == []
