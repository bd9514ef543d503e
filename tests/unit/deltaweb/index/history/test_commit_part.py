"""The rows of an index are what the summaries of the commits say."""

import json
from typing import Any

import pytest

from deltaweb.delta.log.commits.batch import read_commit_batches
from deltaweb.index.history.commit_part import CommitPart, commit_part
from deltaweb.index.history.sentences.changes import commit_sentence
from tests.support.logs.delta_logs import Action, LogBuilder, add, metadata, remove, txn

INFOS: list[Any] = [
    {},
    {
        "operation": "WRITE",
        "operationParameters": {"mode": "Append"},
        "userName": "Ann",
    },
    {"operation": 5, "operationMetrics": ["x"], "userId": 7, "engineInfo": {"a": 1}},
    {"operation": "MERGE\0", "operationMetrics": {"numTargetRowsUpdated": "3"}},
    {"operation": "é" * 200, "userName": "u" * 400, "engineInfo": "\ud800"},
    "no object",
]
ACTIONS: list[list[Action]] = [
    [],
    [add("a", stats='{"numRecords":3}'), add("b", size=7, stats='{"numRecords":4}')],
    [remove("a", size=1, stats='{"numRecords":3}'), add("c")],
    [remove("b", dataChange=False), txn("app", 4)],
    [metadata("other")],
]


def parts(builder: LogBuilder, count: int) -> list[CommitPart]:
    batches = read_commit_batches(builder.store, range(count))
    return [commit_part(batch) for batch in batches]


@pytest.mark.parametrize("info", INFOS, ids=lambda info: json.dumps(info)[:30])
def test_a_row_says_what_the_summary_says(info: Any) -> None:  # noqa: ANN401 (any JSON)
    builder = LogBuilder().start()
    for version, actions in enumerate(ACTIONS, start=1):
        builder.commit(version, {"commitInfo": info}, *actions)

    (part,) = parts(builder, len(ACTIONS) + 1)

    rows = part.rows.to_pylist()
    for row, summary in zip(rows, builder.table.commit_summaries(), strict=True):
        for name in ("num_added_files", "num_removed_files", "added_bytes"):
            assert row[name] == getattr(summary, name)
        for name in ("removed_bytes", "added_rows", "removed_rows", "data_change"):
            assert row[name] == getattr(summary, name)
        assert row["changes_metadata"] == (summary.metadata is not None)
        sentence = commit_sentence(summary)
        assert row["sentence"] == sentence.replace("\0", "\ufffd")
        assert json.loads(row["parameters"]) == summary.parameters
        assert row["operation"].isprintable()
        assert len(row["operation"]) <= 100
        assert len(row["user_name"]) <= 300


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        pytest.param(["overwrite", "append"] * 2, ["Overwrote", "Appended"] * 2),
        pytest.param(["overwrite", "overwrite"], ["Overwrote", "Overwrote"]),
    ],
)
def test_each_row_has_its_own_parameters_and_words(modes: list[str], words: list[str]):
    builder = LogBuilder().start()
    for version, mode in enumerate(modes, start=1):
        info = {"operation": "WRITE", "operationParameters": {"mode": mode}}
        builder.commit(version, {"commitInfo": info}, add(f"f{version}"))

    (part,) = parts(builder, len(modes) + 1)

    rows = part.rows.to_pylist()[1:]
    assert [json.loads(row["parameters"])["mode"] for row in rows] == modes
    assert [row["sentence"].split(" ")[0] for row in rows] == words


def test_parameters_that_only_python_holds_for_equal_stay_apart() -> None:
    builder = LogBuilder().start()
    for version, number in enumerate([1, True, 1.0], start=1):
        info = {"operation": "RESTORE", "operationParameters": {"version": number}}
        builder.commit(version, {"commitInfo": info})

    (part,) = parts(builder, 4)

    rows = part.rows.to_pylist()[1:]
    texts = ['{"version": 1}', '{"version": true}', '{"version": 1.0}']
    assert [row["parameters"] for row in rows] == texts
    named = [row["sentence"].split(":")[0] for row in rows]
    assert named == [f"Restored version {word}" for word in ("1", "True", "1.0")]


def test_changes_are_the_commits_that_change_more_than_files() -> None:
    vacuum = {
        "operation": " vacuum start",
        "timestamp": 77,
        "operationParameters": {"specifiedRetentionMillis": "5"},
    }
    builder = LogBuilder().start().commit(1, add("a")).commit(2, metadata("other"))
    builder.commit(3, {"commitInfo": vacuum})

    (part,) = parts(builder, 4)

    assert [change.row for change in part.changes] == [0, 2, 3]
    last = part.changes[-1]
    assert (last.is_vacuum_start, last.is_vacuum_end) == (True, False)
    assert (last.retention_ms, last.claimed_ms) == (5, 77)


def test_a_commit_that_does_not_read_is_a_part_of_its_own() -> None:
    builder = LogBuilder().start().raw_commit(1, b"{\n").commit(2, add("a"))

    first, spoilt, last = parts(builder, 3)

    assert [part.is_faulty for part in (first, spoilt, last)] == [False, True, False]
    assert spoilt.file_actions is None
    (row,) = spoilt.rows.to_pylist()
    assert row["sentence"] == "This commit cannot be read: a line is not JSON."
    assert (row["num_added_files"], row["added_rows"]) == (0, None)
