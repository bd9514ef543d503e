"""Commits that carry their own times, in an index and after it."""

from pathlib import Path

from deltaweb.index.folder.file_index import COMMITS
from tests.support.index.index_folders import commit_rows
from tests.support.logs.delta_logs import Action, metadata, own_time, protocol
from tests.support.logs.indexed_logs import SCHEMA, Indexed, file_of

FEATURES = protocol(1, 7, writerFeatures=["inCommitTimestamp"])


def turned_on(version: int, time_ms: int) -> Action:
    return metadata(
        partitionColumns=["p"],
        schemaString=SCHEMA,
        configuration={
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": str(version),
            "delta.inCommitTimestampEnablementTimestamp": str(time_ms),
        },
    )


def times_of(indexed: Indexed) -> list[int]:
    result = indexed.index()
    return [row["timestamp_ms"] for row in commit_rows(Path(result.folder), COMMITS)]


def test_times_are_those_of_the_commits_from_where_they_are_turned_on(indexed: Indexed):
    indexed.commit(own_time(77), FEATURES, turned_on(1, 77))
    indexed.commit(own_time(78), file_of("a", 1))

    times = times_of(indexed)

    assert times == [*indexed.log.table.commit_times().times_ms]
    assert times[1:] == [77, 78]
    assert not indexed.has_gone_on


def test_an_index_goes_on_by_them(indexed: Indexed) -> None:
    indexed.commit(own_time(77), FEATURES, turned_on(1, 77)).index()
    indexed.commit(own_time(78), file_of("a", 1)).commit(file_of("b", 2))

    times = times_of(indexed)

    assert indexed.has_gone_on
    assert times[1:3] == [77, 78]
    indexed.assert_is_what_the_log_gives()


def test_an_index_is_made_anew_where_they_are_turned_off(indexed: Indexed) -> None:
    indexed.commit(own_time(77), FEATURES, turned_on(1, 77)).index()
    plain = metadata(partitionColumns=["p"], schemaString=SCHEMA)
    indexed.commit(own_time(78), plain)

    times = times_of(indexed)

    assert not indexed.has_gone_on
    assert times == sorted(times)
    assert times[1] > 78
