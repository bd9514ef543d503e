"""Going on from an index reads what is new."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from deltaweb.delta.log.commits import batch
from deltaweb.delta.log.paths import (
    LAST_CHECKPOINT,
    checkpoint_name,
    checksum_name,
    commit_name,
)
from deltaweb.index.build import new_commits
from deltaweb.index.build.full import LogTooLargeError
from deltaweb.index.folder.file_index import FILES
from deltaweb.index.folder.result import IndexResult
from tests.support import cases
from tests.support.index.index_folders import open_index
from tests.support.logs.delta_logs import Action, add, metadata, protocol, remove
from tests.support.logs.indexed_logs import (
    DAY_MS,
    NOW_MS,
    SCHEMA,
    Indexed,
    file_of,
    vacuum_of,
)
from tests.support.logs.local_logs import typed_schema


class TestWhatIsRead:
    def test_is_each_new_commit_once(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1)).commit(remove("p=1/1")).commit(file_of("b", 2))

        indexed.index()

        assert indexed.store.reads == [commit_name(number) for number in (1, 2, 3)]
        heads = [commit_name(0), LAST_CHECKPOINT, checksum_name(3)]
        assert indexed.store.heads == heads
        assert len(indexed.store.listings) == 1
        assert indexed.store.looks == [commit_name(3)]
        indexed.assert_is_what_the_log_gives()

    def test_is_parted_where_it_is_much(self, indexed, monkeypatch):
        monkeypatch.setattr(batch, "BATCH_BYTES", 1)
        monkeypatch.setattr(new_commits, "CHUNK_BYTES", 1)
        indexed.commit(file_of("a", 1)).commit(remove("a"), file_of("b", 2))
        indexed.commit(file_of("a", 3), remove("p=1/1")).commit(remove("b"))

        indexed.index()

        names = [commit_name(number) for number in (1, 2, 3, 4)]
        assert indexed.store.reads == names
        indexed.assert_is_what_the_log_gives()

    def test_is_the_whole_log_where_too_much_is_new(self, indexed, monkeypatch):
        monkeypatch.setattr(new_commits, "MAX_FILE_ACTIONS", 1)
        indexed.commit(file_of("a", 1), file_of("b", 2))

        indexed.index()

        assert not indexed.has_gone_on
        indexed.assert_is_what_the_log_gives()

    def test_is_no_commit_where_none_is_new(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1)).index()
        indexed.now_ms += 3 * DAY_MS

        result = indexed.index()

        assert indexed.store.reads == []
        heads = [commit_name(1), LAST_CHECKPOINT, checksum_name(1)]
        assert indexed.store.heads == heads
        assert len(indexed.store.listings) == 1
        assert indexed.store.looks == [commit_name(0)]  # has the log been cleaned?
        assert sum(result.summary["commits_30d"][:-3]) == 2
        indexed.assert_is_what_the_log_gives()

    def test_is_no_more_of_a_storage_that_tells_times_in_two_ways(self, indexed):
        indexed.log.time(0, NOW_MS - DAY_MS + 999)  # it said a whole second before
        indexed.commit(file_of("a", 1))

        indexed.index()

        assert indexed.has_gone_on

    def test_is_no_checkpoint(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1))
        indexed.log.checkpoint(1, protocol(), metadata(), add("another"))
        indexed.commit(file_of("b", 1))

        indexed.index()

        assert indexed.store.reads == [commit_name(1), commit_name(2)]

    def test_is_not_copied_where_no_file_came_or_went(self, indexed: Indexed) -> None:
        before = indexed.folder
        assert before is not None
        indexed.commit({"commitInfo": {"operation": "SET TBLPROPERTIES"}})

        result = indexed.index()

        assert Path(result.folder, FILES).samefile(before / FILES)
        indexed.assert_is_what_the_log_gives()

    def test_may_have_no_more_bytes_than_were_allowed(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1))
        new, old = (len(indexed.store.log_files[commit_name(v)]) for v in (1, 0))
        assert new < old

        indexed.index(max_bytes=new)

        assert indexed.has_gone_on
        indexed.commit(file_of("b", 1))
        with pytest.raises(LogTooLargeError):
            indexed.index(max_bytes=new - 1)


class TestWhatIsGoneOnFrom:
    @cases(
        "actions",
        {
            "an append": [file_of("new", 9)],
            "a delete": [remove("p=1/1"), remove("p=2/2")],
            "an overwrite": [
                *(remove(f"p={n}/{n}") for n in range(8)),
                file_of("all", 3),
            ],
            "a truncation": [remove(f"p={n}/{n}") for n in range(8)],
            "an OPTIMIZE": [
                remove("p=1/1", dataChange=False),
                remove("p=2/2", dataChange=False),
                file_of("p=1/small", 1, dataChange=False),
            ],
            "statistics made anew": [file_of("p=3/3", 30)],
            "a remove of no file": [remove("never there")],
            "a new column": [
                metadata(
                    schemaString=typed_schema(id="long", p="integer", more="date"),
                    partitionColumns=["p"],
                )
            ],
            "other types": [
                metadata(
                    schemaString=typed_schema(id="string", p="long"),
                    partitionColumns=["p"],
                )
            ],
            "fewer columns with statistics": [
                metadata(
                    schemaString=SCHEMA,
                    partitionColumns=["p"],
                    configuration={"delta.dataSkippingNumIndexedCols": "0"},
                )
            ],
            "another protocol that is read": [protocol(1, 4)],
            "a value that is not of its type": [
                add("odd", partitionValues={"p": "seven"})
            ],
            "the end of a VACUUM": [vacuum_of("VACUUM END")],
        },
    )
    def test_is_the_usual(self, indexed: Indexed, actions: list[Action]) -> None:
        indexed.commit(*actions).index()

        assert indexed.has_gone_on
        indexed.assert_is_what_the_log_gives()
        indexed.commit(remove("odd"), file_of("last", 5)).index()
        assert indexed.has_gone_on
        indexed.assert_is_what_the_log_gives()


def test_the_facts_of_the_index_are_those_of_the_result(indexed: Indexed) -> None:
    result = indexed.commit(file_of("a", 1)).index()

    assert open_index(result.folder).summary == result.to_json()
    assert IndexResult.from_json(json.loads(json.dumps(result.to_json()))) == result
    assert replace(result, first_commit=None) != result
    assert checkpoint_name(1) not in indexed.store.log_files
