"""What is taken quickly from commits is what the exact parser takes from them."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.commits.actions import CommitActions, FileActionRows, no_actions
from deltaweb.delta.log.commits.arrow_reader import CommitData
from deltaweb.delta.log.commits.batch import SCHEMA, parse_columns
from deltaweb.delta.log.commits.msgspec_reader import parse_lines
from tests.support.logs.delta_logs import (
    Action,
    add,
    deletion_vector,
    metadata,
    protocol,
    remove,
    txn,
)


def commit_info(operation: str) -> Action:
    metrics = {"numFiles": "1", "nested": {"a": [1, 2.5]}}
    return {
        "commitInfo": {
            "operation": operation,
            "operationMetrics": metrics,
            "operationParameters": None,
            "userId": "7",
            "isBlindAppend": True,
        }
    }


STATS = '{"numRecords":7,"minValues":{"a":1}}'
GOOD: dict[str, Sequence[Action]] = {
    "nothing": [],
    "files": [add("a", stats=STATS), remove("b"), add("c", size=2**40)],
    "a file without statistics": [add("a"), add("b", stats="")],
    "statistics that are none": [add("a", stats="{"), add("b", stats=STATS)],
    "a file added again": [remove("a", deletionTimestamp=5), add("a")],
    "all of it": [protocol(3, 7), metadata("m"), txn("app", 4), commit_info("WRITE")],
    "a metaData twice": [metadata("m"), metadata("n"), protocol(), protocol(2, 5)],
    "what a writer says twice": [commit_info("WRITE"), commit_info("MERGE")],
    "transactions": [txn("app", 4), txn("b", 1), txn("app", 3)],
    "a transaction that says nothing": [{"txn": {"appId": "x"}}],
    "nulls": [{"add": None, "remove": None, "metaData": None, "commitInfo": None}],
    "an unknown action": [{"domainMetadata": {"domain": "x"}}, {}],
    "other keys": [add("a", tags={"x": "y"}, baseRowId=4)],
    "any Unicode": [add("é😀", stats='{"numRecords":1,"minValues":{"a":"é"}}')],
    "a deletion vector": [
        remove("a", deletionVector=deletion_vector("v")),
        add("a", deletionVector=deletion_vector("w")),
        add("b"),
    ],
    "no path": [{"add": {"size": 4}}],
}
ODD: dict[str, bytes] = {
    "a size that is text": b'{"add":{"path":"a","size":"1"}}',
    "a size with a fraction": b'{"add":{"path":"a","size":1.0}}',
    "a size beyond a long": b'{"add":{"path":"a","size":9223372036854775808}}',
    "a protocol that is none": b'{"protocol":5}',
    "a metaData that is none": b'{"metaData":"m"}',
    "an operation that is none": b'{"commitInfo":{"operation":5}}',
    "statistics as an object": b'{"add":{"path":"a","stats":{"numRecords":1}}}',
    "half a character": b'{"add":{"path":"\\ud800"}}',
    "two file actions on a line": b'{"add":{"path":"a"},"remove":{"path":"b"}}',
    "two values on a line": b'{"txn":{}} {"txn":{}}',
    "a value on two lines": b'{"txn":\n{}}',
    "a blank line": b'{"txn":{}}\n\n{"txn":{}}',
    "no object": b"[1]",
    "no number": b'{"commitInfo":{"x":NaN}}',
    "no JSON": b'{"add":{"path":"a"}',
    "no UTF-8, in what is skipped": b'{"add":{"path":"a","x":"\xff"}}',
    "a byte order mark": b'\xef\xbb\xbf{"txn":{}}',
    "deep nesting": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


def commits(*contents: bytes) -> list[CommitData]:
    return [CommitData(str(at), data) for at, data in enumerate(contents)]


def lines(actions: Sequence[Action]) -> bytes:
    return b"".join(json.dumps(action).encode() + b"\n" for action in actions)


def shown(actions: CommitActions) -> dict[str, Any]:
    """All that was parsed, as values that can be compared."""
    found = {one.name: getattr(actions, one.name) for one in fields(CommitActions)}
    for one in fields(FileActionRows):
        column = getattr(actions.files, one.name)
        is_arrow = isinstance(column, pa.Array)
        values = column.to_pylist() if is_arrow else column.tolist()
        found[one.name] = (values, str(column.type) if is_arrow else "")
    return {**found, "files": None, "num_lines": actions.num_lines.tolist()}


@pytest.mark.parametrize("actions", GOOD.values(), ids=GOOD)
def test_both_ways_take_the_same(actions: Sequence[Action]) -> None:
    some = commits(lines([commit_info("WRITE"), add("0")]), lines(actions), b"")

    quick = parse_lines(some)

    assert quick is not None
    assert shown(quick) == shown(parse_columns(some, SCHEMA))


def test_the_last_line_need_not_end() -> None:
    some = commits(b'{"txn":{}}\n{"add":{"path":"a"}}', b'{"add":{"path":"b"}}\r\n')

    quick = parse_lines(some)

    assert quick is not None
    assert shown(quick) == shown(parse_columns(some, SCHEMA))
    assert quick.num_lines.tolist() == [2, 1]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_any_other_commit_is_left_to_the_exact_parser(odd: bytes) -> None:
    some = commits(lines([add("a")]), odd + b"\n")

    assert parse_lines(some) is None


def test_commits_of_many_bytes_are_left_to_columns(monkeypatch: pytest.MonkeyPatch):
    some = commits(lines([add(str(n), stats=STATS) for n in range(9)]))
    quick = parse_lines(some)
    monkeypatch.setattr("deltaweb.delta.log.commits.msgspec_reader.MAX_BYTES", 100)
    monkeypatch.setattr("deltaweb.delta.log.commits.batch.ROWS_A_SLICE", 4)

    assert quick is not None
    assert parse_lines(some) is None
    assert shown(quick) == shown(parse_columns(some, SCHEMA))


def test_no_commit_has_no_actions() -> None:
    quick = parse_lines([])

    assert quick is not None
    assert shown(quick) == shown(no_actions(0)) == shown(parse_columns([], SCHEMA))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**66), 2**66)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([STATS, "a", 5, 2**63]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "numRecords"]), inner, max_size=2)
    ),
    max_leaves=3,
)
FILE_KEYS = ["path", "size", "dataChange", "stats", "deletionTimestamp"]
FIELDS = {
    "add": [*FILE_KEYS, "deletionVector", "tags"],
    "remove": [*FILE_KEYS, "deletionVector"],
    "txn": ["appId", "version", "lastUpdated"],
    "commitInfo": ["operation", "operationParameters", "userName", "userId"],
    "metaData": ["id"],
    "protocol": ["minReaderVersion"],
    "other": ["x"],
}
ACTIONS = st.sampled_from([*FIELDS]).flatmap(
    lambda kind: st.dictionaries(
        st.just(kind),
        VALUES | st.dictionaries(st.sampled_from(FIELDS[kind]), VALUES, max_size=4),
        max_size=1,
    )
)


@given(st.lists(st.lists(ACTIONS, max_size=3), max_size=3))
def test_what_is_taken_quickly_is_what_any_json_says(logs: list[list[dict[str, Any]]]):
    some = commits(*map(lines, logs))

    quick = parse_lines(some)

    if quick is not None:
        assert repr(shown(quick)) == repr(shown(parse_columns(some, SCHEMA)))


def test_what_both_refuse_names_the_commit() -> None:
    some = commits(lines([add("a")]), b"[1]\n")

    assert parse_lines(some) is None
    with pytest.raises(LogCorruptError) as caught:
        parse_columns(some, SCHEMA)

    assert caught.value.path == "1"
