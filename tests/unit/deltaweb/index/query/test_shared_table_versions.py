"""Versions that are named: older ones, refused ones, and ones beyond a gap."""

import json
import os
from pathlib import Path

import pytest

from deltaweb.delta.errors import UnsupportedFeatureError, VersionNotFoundError
from deltaweb.delta.log.commits.times import to_datetime
from deltaweb.index.files.source import SOURCE
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support.logs.delta_logs import add, metadata, own_time, protocol, remove
from tests.support.logs.local_logs import COLUMNS, LocalLog, typed_schema
from tests.support.pages.shared_tables import hint, is_mapped, listed, paths, stats_text


class TestOtherVersions:
    def test_are_read_from_the_log(self, log: LocalLog) -> None:
        log.commit(1, remove("p=1/a"))
        log.commit(2, remove("p=1/b"))
        reader, index = SharedTableReader(), log.index()

        opened = reader.open_version(log.table, index_folder=index, version=1)

        assert (opened.version, paths(opened)) == (1, ["p=1/b", "p=2/c"])
        again = reader.open_version(log.table, index_folder=index, version=1)
        assert again is opened

    def test_the_newest_by_its_number_comes_from_the_index(self, log: LocalLog) -> None:
        opened = SharedTableReader().open_version(
            log.table, index_folder=log.index(), version=0
        )

        assert is_mapped(opened)

    def test_a_version_that_is_not_there_is_an_error(self, log: LocalLog) -> None:
        with pytest.raises(VersionNotFoundError):
            SharedTableReader().open_version(
                log.table, index_folder=log.index(), version=5
            )

    def test_are_found_by_time(self, log: LocalLog) -> None:
        log.commit(1, remove("p=1/a"))
        os.utime(log.log / f"{0:020d}.json", (1_000, 1_000))
        os.utime(log.log / f"{1:020d}.json", (2_000, 2_000))
        reader, times = SharedTableReader(), log.table.commit_times()
        first = log.table.snapshot(0).timestamp
        last = log.table.snapshot(1).timestamp

        opened = [
            reader.open_version(log.table, index_folder=None, timestamp=moment).version
            for moment in (first, last)
        ]

        assert opened == [0, 1] == list(times.versions)

    def test_a_time_means_a_version_by_the_times_in_the_commits(self, log: LocalLog):
        log.commit(
            1,
            own_time(2_000_000_000_000),
            protocol(1, 7, writerFeatures=["inCommitTimestamp"]),
            metadata(
                configuration={
                    "delta.enableInCommitTimestamps": "true",
                    "delta.inCommitTimestampEnablementVersion": "1",
                    "delta.inCommitTimestampEnablementTimestamp": "2000000000000",
                }
            ),
        )
        first, second = to_datetime(1_999_999_999_999), to_datetime(2_000_000_000_000)

        opened = [
            SharedTableReader()
            .open_version(log.table, index_folder=None, timestamp=moment)
            .version
            for moment in (first, second)
        ]

        assert opened == [0, 1]

    def test_a_commit_that_was_made_anew_is_read_again(self, log: LocalLog) -> None:
        log.commit(1, remove("p=1/a"))
        log.commit(2, remove("p=1/b"))
        reader = SharedTableReader()
        reader.open_version(log.table, index_folder=None, version=1)
        log.commit(1, remove("p=1/a"), remove("p=2/c"))

        opened = reader.open_version(log.table, index_folder=None, version=1)

        assert paths(opened) == ["p=1/b"]

    def test_only_a_few_are_held(self, log: LocalLog) -> None:
        for version in range(1, 10):
            log.commit(version, add(f"f{version}", partitionValues={"p": "3"}))
        reader = SharedTableReader()
        first = reader.open_version(log.table, index_folder=None, version=1)
        for version in range(2, 9):
            reader.open_version(log.table, index_folder=None, version=version)

        again = reader.open_version(log.table, index_folder=None, version=1)
        assert again is not first

    def test_are_fewer_where_they_have_many_files(self, log, monkeypatch):
        monkeypatch.setattr("deltaweb.index.query.shared_table.MAX_OLDER_FILES", 5)
        log.commit(1, remove("p=1/a"))
        log.commit(2, add("d", partitionValues={"p": "3"}))
        reader = SharedTableReader()

        def opened(version: int) -> SharedVersion:
            return reader.open_version(log.table, index_folder=None, version=version)

        first, second = opened(0), opened(1)
        assert opened(1) is second
        assert opened(0) is first
        monkeypatch.setattr("deltaweb.index.query.shared_table.MAX_OLDER_FILES", 4)
        assert opened(1) is second
        assert opened(0) is not first


class TestRefusals:
    def test_are_told_of_a_protocol_beyond_ours(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).commit(0, protocol(4, 7), metadata(), add("a"))

        opened = SharedTableReader().open_version(log.table, index_folder=log.index())

        assert opened.refusal is not None
        assert opened.num_files == 1

    def test_are_told_of_files_that_are_not_parquet(self, tmp_path: Path) -> None:
        other = {"provider": "orc", "options": {}}
        log = LocalLog(tmp_path).start(add("a"), format=other)

        opened = SharedTableReader().open_version(log.table, index_folder=None)

        assert isinstance(opened.refusal, UnsupportedFeatureError)

    def test_are_not_told_of_parquet_in_capitals(self, tmp_path: Path) -> None:
        spelled = {"provider": "PARQUET", "options": {}}
        log = LocalLog(tmp_path).start(add("a"), format=spelled)

        opened = SharedTableReader().open_version(log.table, index_folder=None)

        assert opened.refusal is None


class TestCommitsThatAreGone:
    @pytest.fixture
    def cleaned(self, log: LocalLog) -> tuple[LocalLog, Path]:
        """A log of a checkpoint alone, and the index of before its clean-up."""
        log.commit(1, remove("p=1/a"))
        index = log.index()
        schema = typed_schema(**COLUMNS)
        log.checkpoint(1, protocol(), metadata(schemaString=schema), add("kept"))
        for version in (0, 1):
            (log.log / f"{version:020d}.json").unlink()
        return log, index

    def test_leave_the_index_without_proof(self, cleaned: tuple[LocalLog, Path]):
        log, index = cleaned

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert paths(opened) == ["kept"]

    def test_have_an_older_version_read_every_time(self, cleaned):
        log, _ = cleaned
        log.commit(2, add("newer"))
        reader = SharedTableReader()
        older = [
            reader.open_version(log.table, index_folder=None, version=1)
            for _ in range(2)
        ]

        assert older[0] is not older[1]
        assert paths(older[1]) == ["kept"]

    def test_leave_an_index_of_the_checkpoint_without_a_source(self, cleaned):
        log, _ = cleaned

        assert not (log.index("again") / SOURCE).exists()


@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_held_version_is_listed_after_a_clean_up(log, *, is_indexed: bool) -> None:
    reader, index = SharedTableReader(), log.index() if is_indexed else None
    reader.open_version(log.table, index_folder=index)
    new = add("d", partitionValues={"p": "3"}, stats=stats_text(7, 20, 30))
    log.commit(1, new).commit(2)
    held = reader.open_version(log.table, index_folder=index)
    old = [{"add": row} for row in _actions(log, 0, "add")]
    log.checkpoint(2, protocol(), *log_metadata(log), *old, new)
    for version in (0, 1):
        (log.log / f"{version:020d}.json").unlink()

    again = reader.open_version(log.table, index_folder=index)
    found = {row["path"]: row["num_records"] for row in listed(again)}

    assert again is held
    assert found["d"] == 7
    assert paths(held, predicates=[hint("id >= 20 AND id < 25")]) == ["d", "p=2/c"]


def _actions(log: LocalLog, version: int, kind: str) -> list[dict[str, object]]:
    lines = (log.log / f"{version:020d}.json").read_text().splitlines()
    return [line[kind] for line in map(json.loads, lines) if kind in line]


def log_metadata(log: LocalLog) -> list[dict[str, object]]:
    return [{"metaData": row} for row in _actions(log, 0, "metaData")]
