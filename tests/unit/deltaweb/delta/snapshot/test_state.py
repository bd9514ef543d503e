"""A checkpoint and the commits after it, read in turn or side by side."""

import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.snapshot import state as snapshot_state
from tests.support import cases
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    commit_bytes,
    metadata,
    protocol,
    remove,
)

NEVER_BYTES = 1 << 40
COLUMNS = ["p", "q"]
OLDER = [
    add("old", partitionValues={"p": "0", "q": "0"}),
    add("kept", partitionValues={"p": "1", "q": None}),
]


def part(path: str, **values: object) -> Action:
    """Return an add with partition values in the order given."""
    return add(path, partitionValues=values)


def log_of(*commits: bytes) -> LogBuilder:
    """Return a checkpoint of two files and the commits after it."""
    head = (protocol(), metadata(partitionColumns=COLUMNS))
    builder = LogBuilder().checkpoint(5, *head, *OLDER)
    for number, data in enumerate(commits):
        builder.raw_commit(6 + number, data)
    return builder


def read(builder: LogBuilder, monkeypatch: pytest.MonkeyPatch, *, beside: bool):
    threshold_bytes = 0 if beside else NEVER_BYTES
    monkeypatch.setattr(snapshot_state, "WORTH_A_THREAD_BYTES", threshold_bytes)
    return builder.table.snapshot()


@cases(
    "commits",
    {
        "no commit": [],
        "no file action": [b"", commit_bytes({"commitInfo": {}})],
        "removes alone": [commit_bytes(remove("old"))],
        "the right columns": [commit_bytes(part("a", p="1", q="2"))],
        "the columns in another order": [
            commit_bytes(part("a", q="2", p="1"), part("b", p="1", q="2"))
        ],
        "fewer columns first": [
            commit_bytes(part("a", p="1")),
            commit_bytes(part("b", p="1", q="2")),
        ],
        "a column that is none of the table": [
            commit_bytes(part("a", p="1", q="2", r={"x": 1}))
        ],
        "values that are no text": [commit_bytes(part("a", p=1, q=True))],
        "no line end": [commit_bytes(part("a", p="1", q="2"))[:-1]],
        "columns that change": [
            commit_bytes(
                metadata(partitionColumns=["q"]), remove("old"), part("a", q="3")
            )
        ],
        "more columns than a table has": [
            commit_bytes(
                add("a", partitionValues=dict.fromkeys(map(str, range(99)), "x"))
            )
        ],
        "a name that is no text": [commit_bytes(part("a", **{"\ud800": "x"}))],
        "an add that is none": [
            commit_bytes(
                {"commitInfo": {"x": {"add": 1}}}, part("a", p="1", q="2")
            ).replace(b" ", b"")
        ],
        "a null": [commit_bytes({"add": None}, remove("old"))],
    },
)
def test_commits_say_the_same_parsed_ahead(commits, monkeypatch):
    builder = log_of(*[data.replace(b'{"add": ', b'{"add":') for data in commits])

    ahead = read(builder, monkeypatch, beside=True)
    in_turn = read(builder, monkeypatch, beside=False)

    assert ahead.files.to_pylist() == in_turn.files.to_pylist()
    assert ahead.tombstones.equals(in_turn.tombstones)
    assert ahead.metadata == in_turn.metadata


def test_partition_values_are_in_the_order_of_the_columns(monkeypatch):
    builder = log_of(commit_bytes(part("a", q="2", p="1")))

    snapshot = read(builder, monkeypatch, beside=True)

    values = snapshot.files["partition_values"].to_pylist()
    assert values[-1] == [("p", "1"), ("q", "2")]


@pytest.mark.parametrize(
    "line",
    [
        b"{\n",
        b'{"add":{"path":1}}\n',
        b"null\n",
        b'{"add"',
        b'{"add":' + b"[" * 100_000,
        b'{"add":{"partitionValues":7,"path":"a"}}\n',
        b'{"add":{"path":"\xff","partitionValues":{"\xff":"x"}}}\n',
    ],
    ids=["torn", "no text", "null", "torn add", "deep", "no map", "no utf-8"],
)
def test_a_broken_commit_is_the_same_fault_parsed_ahead(line, monkeypatch):
    builder = log_of(line, commit_bytes(part("a", p="1", q="2")))

    with pytest.raises(LogCorruptError) as ahead:
        read(builder, monkeypatch, beside=True)
    with pytest.raises(LogCorruptError) as in_turn:
        read(builder, monkeypatch, beside=False)

    assert ahead.value.message == in_turn.value.message


def test_a_broken_checkpoint_is_passed_over_beside_its_commits(monkeypatch):
    builder = log_of(commit_bytes(part("a", p="1", q="2")), commit_bytes(remove("old")))
    builder.store.put(checkpoint_name(6), b"PAR1 is no checkpoint PAR1")

    snapshot = read(builder, monkeypatch, beside=True)

    assert snapshot.version == 7
    assert sorted(snapshot.files["path"].to_pylist()) == ["a", "kept"]
