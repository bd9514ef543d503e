import json

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.info import HEAD_BYTES
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    commit_bytes,
    metadata,
    protocol,
    remove,
    txn,
)


def info(operation: object, **fields: object) -> Action:
    return {"commitInfo": {"operation": operation, **fields}}


class TestHistory:
    def test_is_newest_first_with_times(self) -> None:
        builder = LogBuilder().start().commit(1, info("WRITE")).commit(2, info("MERGE"))
        builder.time(0, 1000).time(1, 3000).time(2, 2000)

        history = builder.table.history()

        assert [entry.version for entry in history] == [2, 1, 0]
        assert [entry.operation for entry in history] == ["MERGE", "WRITE", None]
        assert [entry.timestamp.timestamp() for entry in history] == [3.001, 3, 1]

    def test_may_be_limited(self) -> None:
        builder = LogBuilder().start().commit(1).commit(2)

        assert [entry.version for entry in builder.table.history(limit=2)] == [2, 1]
        assert builder.table.history(limit=0) == []

    def test_finds_commit_info_anywhere_in_a_large_commit(self) -> None:
        large = add("x" * HEAD_BYTES)
        builder = LogBuilder().start().commit(1, large, info("WRITE"))

        assert builder.table.history(limit=1)[0].operation == "WRITE"

    def test_takes_no_text_for_commit_info(self) -> None:
        builder = LogBuilder().start().commit(1, add('"commitInfo"'), add("commitInfo"))

        assert builder.table.history(limit=1)[0].raw is None

    def test_goes_on_past_a_commit_that_does_not_read(self) -> None:
        builder = LogBuilder().start().raw_commit(1, b'{"commitInfo":{"operation"')
        builder.raw_commit(2, b"\xff\0").commit(3, info("WRITE"))

        operations = [entry.operation for entry in builder.table.history()]

        assert operations == ["WRITE", None, None, None]

    def test_shows_commits_that_snapshots_cannot_reach(self) -> None:
        builder = LogBuilder().commit(3, info("A")).commit(7, info("B"))

        assert [entry.version for entry in builder.table.history()] == [7, 3]

    def test_keeps_any_json(self) -> None:
        raw = {"operationParameters": {"n": 1, "l": [None]}, "notebook": {"id": "1"}}
        builder = LogBuilder().start().commit(1, info(7, **raw))

        (entry,) = builder.table.history(limit=1)

        assert entry.raw == {"operation": 7, **raw}
        assert entry.parameters == {"n": 1, "l": [None]}


class TestReadCommit:
    def test_returns_actions_as_they_are(self) -> None:
        actions = [info("WRITE"), add("a"), {"unknown": [1]}]
        builder = LogBuilder().start().commit(1, *actions)

        assert builder.table.read_commit(1) == actions

    def test_is_cut_to_whole_lines(self) -> None:
        builder = LogBuilder().start().commit(1, add("a"), add("b"), add("c"))
        length = len(json.dumps(add("a"))) + 1

        read = builder.table.read_commit(1, max_bytes=2 * length + 5)

        assert read == [add("a"), add("b")]

    def test_names_a_line_that_does_not_read(self) -> None:
        builder = LogBuilder().start().raw_commit(1, b"torn")

        with pytest.raises(LogCorruptError, match=r"0001\.json"):
            builder.table.read_commit(1)


class TestCommitSummaries:
    def test_count_files_bytes_and_rows(self) -> None:
        stats = '{"numRecords": 5, "minValues": {"x": "\\n"}}'
        builder = LogBuilder().start(add("a", size=10, stats=stats))
        builder.commit(
            1,
            info("MERGE", userName="ada", engineInfo="e", operationMetrics={"n": "1"}),
            remove("a", size=10, deletionTimestamp=7),
            remove("z", size=1, deletionTimestamp=9),
            add("b", size=20, stats=stats),
            add("c", size=30, stats='{"numRecords": 2}'),
            txn("app", 3),
        )
        builder.time(1, 5000)

        first, second = builder.table.commit_summaries()

        assert (first.num_added_files, first.added_bytes, first.added_rows) == (
            1,
            10,
            5,
        )
        assert first.metadata is not None
        assert first.protocol is not None
        assert (first.removed_bytes, first.removed_rows) == (0, 0)
        assert (second.version, second.timestamp_ms) == (1, 5000)
        assert (second.num_added_files, second.num_removed_files) == (2, 2)
        assert (second.added_bytes, second.removed_bytes) == (50, 11)
        assert (second.added_rows, second.removed_rows) == (7, None)
        assert (second.operation, second.user_name) == ("MERGE", "ada")
        assert (second.engine_info, second.metrics) == ("e", {"n": "1"})
        assert second.max_deletion_timestamp_ms == 9
        assert [t.app_id for t in second.transactions] == ["app"]
        assert (second.metadata, second.protocol, second.fault) == (None, None, None)
        assert second.num_actions == 6
        commit = builder.store.read("00000000000000000001.json")
        assert second.size_bytes == len(commit)
        assert second.commit_info is not None

    def test_leave_out_what_is_not_known(self) -> None:
        builder = LogBuilder().start().commit(1, remove("a"), add("b"), add("c"))

        summary = next(iter(builder.table.commit_summaries(start_version=1)))

        assert (summary.removed_bytes, summary.added_rows) == (None, None)
        assert (summary.operation, summary.commit_info) == ("", None)

    def test_tell_whether_data_changes(self) -> None:
        builder = LogBuilder().start()
        builder.commit(1, add("a", dataChange=False), remove("b", dataChange=False))
        builder.commit(2, add("a", dataChange=False), {"remove": {"path": "b"}})

        changes = [summary.data_change for summary in builder.table.commit_summaries()]

        assert changes == [False, False, True]

    def test_begin_where_asked(self) -> None:
        builder = LogBuilder().start().commit(1).commit(2)

        versions = [s.version for s in builder.table.commit_summaries(start_version=1)]

        assert versions == [1, 2]

    def test_go_on_past_a_commit_that_does_not_read(self) -> None:
        builder = LogBuilder().start().raw_commit(1, b'{"add":{"path"').commit(2)
        builder.commit(3, {"metaData": {"id": 5}}).commit(4, add("a"))

        summaries = list(builder.table.commit_summaries())

        faults = [summary.fault is not None for summary in summaries]
        assert faults == [False, True, False, True, False]
        assert summaries[1].fault == "a line is not JSON"
        assert summaries[4].num_added_files == 1

    def test_take_the_last_of_several(self) -> None:
        data = commit_bytes(protocol(), metadata("a"), metadata("b"), protocol(1, 3))
        builder = LogBuilder().raw_commit(0, data)

        (summary,) = builder.table.commit_summaries()

        assert summary.metadata is not None
        assert summary.metadata.id == "b"
        assert summary.protocol is not None
        assert summary.protocol.min_writer_version == 3
