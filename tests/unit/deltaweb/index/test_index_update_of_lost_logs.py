"""A log that was cleaned is gone on from; one that was rewritten is noticed."""

from pathlib import Path

import pytest

from deltaweb.delta.log.paths import commit_name
from deltaweb.index.folder.file_index import COMMITS, METADATA, PROTOCOLS
from deltaweb.index.folder.manifest import MANIFEST
from tests.support.index.index_folders import commit_rows
from tests.support.logs.delta_logs import metadata, protocol, remove
from tests.support.logs.indexed_logs import NOW_MS, SCHEMA, Indexed, file_of, vacuum_of

pytestmark = pytest.mark.slow


class TestALogThatWasCleaned:
    @pytest.fixture
    def cleaned(self, indexed: Indexed) -> Indexed:
        """Versions 0 to 2, of which only the last one can still be built."""
        indexed.commit(file_of("a", 1)).commit(file_of("b", 1)).index()
        files = [file_of(f"p={n}/{n}", n) for n in range(8)]
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        everything = [*head, *files, file_of("a", 1), file_of("b", 1)]
        indexed.log.checkpoint(2, *everything)
        for version in (0, 1):
            indexed.log.delete(commit_name(version))
        return indexed

    def test_is_gone_on_from(self, cleaned: Indexed) -> None:
        cleaned.commit(file_of("c", 1))

        result = cleaned.index()

        assert cleaned.store.reads == [commit_name(3)]
        assert (result.first_commit, result.is_rewritten) == (2, False)
        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [0, 1, 2, 3]
        states = [row["readability"] for row in rows]
        assert states == ["GONE", "GONE", "READABLE", "READABLE"]
        assert [row["num_files"] for row in rows] == [8, 9, 10, 11]
        runs = [run[:3] for run in result.summary["readable_runs"]]
        assert runs == [[0, 1, "GONE"], [2, 3, "READABLE"]]
        assert result.summary["earliest_version"] == 2

    def test_with_holes_is_read_from_the_start(self, cleaned: Indexed) -> None:
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        cleaned.log.checkpoint(0, *head)
        cleaned.commit(file_of("c", 1))

        result = cleaned.index()

        assert not cleaned.has_gone_on
        runs = [run[:3] for run in result.summary["readable_runs"]]
        assert runs == [[0, 1, "GONE"], [2, 3, "READABLE"]]

    def test_once_known_is_not_listed_again(self, cleaned: Indexed) -> None:
        cleaned.index()
        assert len(cleaned.store.listings) == 2

        cleaned.commit(file_of("c", 1)).index()

        assert cleaned.has_gone_on

    def test_keeps_its_old_commits_when_it_is_read_from_the_start(self, cleaned):
        cleaned.commit(vacuum_of("VACUUM START"))

        result = cleaned.index()

        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [0, 1, 2, 3]
        assert [row["readability"] for row in rows[:2]] == ["GONE", "GONE"]
        assert sum(result.summary["commits_30d"]) == 4
        assert not result.is_rewritten

    def test_keeps_what_an_index_without_a_seal_knows(self, cleaned: Indexed) -> None:
        assert cleaned.folder is not None
        (cleaned.folder / MANIFEST).unlink()

        result = cleaned.index()

        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [0, 1, 2]

    def test_takes_nothing_from_rows_that_a_disk_has_changed(self, cleaned: Indexed):
        assert cleaned.folder is not None
        spoilt = (cleaned.folder / COMMITS).read_bytes().replace(b"READ", b"REAF")
        (cleaned.folder / COMMITS).write_bytes(spoilt)

        result = cleaned.index()

        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [2]
        assert not result.is_rewritten

    def test_beyond_the_indexed_version_is_the_same_log(self, indexed: Indexed) -> None:
        indexed.commit(remove("p=0/0")).commit(file_of("b", 1))
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        indexed.log.checkpoint(2, *head, file_of("b", 1))
        for version in (0, 1):
            indexed.log.delete(commit_name(version))

        result = indexed.index()

        assert (result.version, result.num_files) == (2, 1)
        assert (result.first_commit, result.is_rewritten) == (2, False)
        rows = commit_rows(Path(result.folder))
        assert [row["version"] for row in rows] == [0, 2]
        assert [row["readability"] for row in rows] == ["GONE", "READABLE"]

    def test_that_begins_at_a_checkpoint_tells_each_change_once(self, indexed: Indexed):
        head = [protocol(), metadata(schemaString=SCHEMA, partitionColumns=["p"])]
        indexed.commit(file_of("a", 1))
        indexed.log.checkpoint(1, *head, file_of("a", 1))
        for version in (0, 1):
            indexed.log.delete(commit_name(version))
        indexed.index()
        indexed.commit(file_of("b", 1))

        result = indexed.index()

        for name in (METADATA, PROTOCOLS):
            rows = commit_rows(Path(result.folder), name)
            assert [row["version"] for row in rows] == [0, 1]


class TestARewrittenLog:
    def test_has_another_commit_at_the_indexed_version(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1)).index()
        indexed.version = 0
        indexed.commit(file_of("b", 1)).commit(file_of("c", 1))

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (2, True)
        indexed.assert_is_what_the_log_gives()

    def test_ends_before_the_indexed_version(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1)).commit(file_of("b", 1)).index()
        indexed.log.delete(commit_name(2))

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (1, True)
        indexed.assert_is_what_the_log_gives()

    def test_is_of_another_table(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1)).index()
        indexed.version = -1
        indexed.commit(protocol(), metadata("new", schemaString=SCHEMA))
        indexed.commit(file_of("a", 1))  # the same bytes, at another time
        indexed.log.time(1, NOW_MS)

        result = indexed.index()

        assert (result.version, result.is_rewritten) == (1, True)
        indexed.assert_is_what_the_log_gives()

    def test_is_noticed_where_the_index_holds_no_files(self, indexed: Indexed) -> None:
        indexed.commit(protocol(99, 99)).index()
        indexed.version = 0
        indexed.commit(protocol(98, 98))

        assert indexed.index().is_rewritten

    def test_is_not_one_that_a_commit_replaced(self, indexed: Indexed) -> None:
        indexed.commit(metadata("replaced", schemaString=SCHEMA))

        assert not indexed.index().is_rewritten
