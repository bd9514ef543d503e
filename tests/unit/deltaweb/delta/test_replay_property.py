"""Replay of random logs, held against a model that is plain enough to be right.

The model keeps dictionaries and applies one action after the other. The log is then
written in any of the ways that real logs are: with checkpoints of one or several
parts, with compactions of some commits, with commits cleaned up before them, with good
and bad hints, with any line ends. Every version must be what the model says, or refused
where it is gone.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.checkpoints import part as checkpoint_part
from deltaweb.delta.log.compactions import Compaction
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot import state as snapshot_state
from tests.support.conditions.drawn_examples import examples
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    commit_bytes,
    deletion_vector,
    metadata,
    protocol,
    remove,
    txn,
)

PATHS = ["a", "b", "p=1/c", "p=%20/d", "file:/abs/e", "ü", "metaData", 'q"']
VECTORS = [None, None, None, "dv1", "dv2"]
RARE = {"protocol", "metaData"}
Key = tuple[str, str | None]


@pytest.fixture(
    autouse=True,
    params=[(0, 4, 0), (20_000, 4, 1 << 30), (20_000, 0, 0)],
    ids=["large, beside", "small, in turn", "small with many row groups, beside"],
)
def _logs_are_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Read checkpoints as their size can call for, in turn with commits or beside."""
    rows, row_groups, worth_a_thread_bytes = request.param
    monkeypatch.setattr(checkpoint_part, "SMALL_ROWS", rows)
    monkeypatch.setattr(checkpoint_part, "FEW_ROWS", 0)
    monkeypatch.setattr(checkpoint_part, "FEW_ROW_GROUPS", row_groups)
    monkeypatch.setattr(snapshot_state, "WORTH_A_THREAD_BYTES", worth_a_thread_bytes)


@dataclass(frozen=True)
class State:
    """What a table is, in dictionaries."""

    files: dict[Key, Any] = field(default_factory=dict)
    tombstones: dict[Key, Any] = field(default_factory=dict)
    transactions: dict[str, int] = field(default_factory=dict)
    table_id: str = ""
    reader_version: int = 0

    def after(self, actions: list[Action]) -> "State":
        state = self
        for action in actions:
            ((kind, fields),) = action.items()
            state = getattr(state, f"_after_{kind}", lambda _, s=state: s)(fields)
        return state

    def _after_add(self, fields: Action) -> "State":
        key = _key(fields)
        return replace(
            self,
            files={**self.files, key: fields},
            tombstones={k: v for k, v in self.tombstones.items() if k != key},
        )

    def _after_remove(self, fields: Action) -> "State":
        key = _key(fields)
        return replace(
            self,
            files={k: v for k, v in self.files.items() if k != key},
            tombstones={**self.tombstones, key: fields},
        )

    def _after_txn(self, fields: Action) -> "State":
        newest = {fields["appId"]: fields["version"]}
        return replace(self, transactions={**self.transactions, **newest})

    def _after_metaData(self, fields: Action) -> "State":  # noqa: N802  # the action's name
        return replace(self, table_id=fields["id"])

    def _after_protocol(self, fields: Action) -> "State":
        return replace(self, reader_version=fields["minReaderVersion"])

    def checkpoint(self) -> list[Action]:
        return [
            protocol(self.reader_version),
            metadata(self.table_id, partitionColumns=["p"]),
            *(txn(app, version) for app, version in self.transactions.items()),
            *({"add": fields} for fields in self.files.values()),
            *({"remove": fields} for fields in self.tombstones.values()),
        ]


def _key(fields: Action) -> Key:
    vector = fields.get("deletionVector")
    return fields["path"], None if vector is None else "u" + vector["pathOrInlineDv"]


@st.composite
def commits(draw: st.DrawFn) -> list[list[Action]]:
    """Commits of a table, valid one by one: no file twice in one commit."""
    first = [protocol(), metadata("t0", partitionColumns=["p"])]
    history = [first + draw(file_actions())]
    for number in range(draw(st.integers(0, 7))):
        commit = draw(file_actions())
        if draw(st.booleans()):
            app = draw(st.sampled_from(["app1", "app2"]))
            commit.append(txn(app, draw(st.integers(-5, 5))))
        if draw(st.integers(0, 3)) == 0:
            commit.append(metadata(f"t{number + 1}", partitionColumns=["p"]))
        if draw(st.integers(0, 5)) == 0:
            commit.append(protocol())
        if draw(st.booleans()):
            commit.insert(0, {"commitInfo": {"operation": "WRITE", "x": [1, {}]}})
        if draw(st.integers(0, 4)) == 0:
            commit.append({"somethingNew": {"path": "a"}})
        history.append(commit)
    return history


@st.composite
def file_actions(draw: st.DrawFn) -> list[Action]:
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(PATHS), st.sampled_from(VECTORS)),
            unique=True,
            max_size=6,
        )
    )
    return [draw(file_action(path, vector)) for path, vector in keys]


@st.composite
def file_action(draw: st.DrawFn, path: str, vector: str | None) -> Action:
    extra: dict[str, Any] = {}
    if vector is not None:
        extra["deletionVector"] = deletion_vector(vector)
    if draw(st.booleans()):
        return remove(path, **extra)
    value = draw(st.sampled_from([None, "", "1", "x=y"]))
    size = draw(st.integers(0, 2**62))
    return add(path, size=size, partitionValues={"p": value}, **extra)


@st.composite
def logs(draw: st.DrawFn) -> tuple[LogBuilder, list[State], int]:
    """A log in one of its many forms, the states it means, and its first version."""
    history = draw(commits())
    states: list[State] = []
    builder = LogBuilder()
    for version, actions in enumerate(history):
        before = states[-1] if states else State()
        states.append(before.after(actions))
        builder.raw_commit(version, draw(spelled(actions)))
    for first, last in draw(ranges(len(history))):
        actions = compacted(history[first : last + 1])
        builder.store.put(Compaction(first, last).name, commit_bytes(*actions))
    earliest = 0
    for version in draw(st.sets(st.integers(0, len(history) - 1), max_size=3)):
        parts = draw(st.sampled_from([None, None, 1, 2, 3]))
        builder.checkpoint(version, *states[version].checkpoint(), parts=parts)
        if draw(st.integers(0, 3)) == 0:
            earliest = max(earliest, version)
    keeps_its_commit = draw(st.booleans())
    for version in range(earliest if keeps_its_commit else earliest + bool(earliest)):
        builder.delete(commit_name(version))
    if (hint := draw(hints(len(history)))) is not None:
        builder.hint(hint)
    return builder, states, earliest


def ranges(count: int) -> st.SearchStrategy[set[tuple[int, int]]]:
    """Runs of at least two commits; they may overlap."""
    if count <= 1:
        return st.just(set())
    last = st.integers(1, count - 1)
    pairs = last.flatmap(
        lambda last: st.tuples(st.integers(0, last - 1), st.just(last))
    )
    return st.sets(pairs, max_size=4)


def compacted(history: list[list[Action]]) -> list[Action]:
    """What a file in the place of some commits holds: the last action of each key."""
    rare: dict[str, Action] = {}
    state = State()
    for commit in history:
        state = state.after(commit)
        rare |= {kind: one for one in commit for kind in one if kind in RARE}
    return [
        *rare.values(),
        *(txn(app, version) for app, version in state.transactions.items()),
        *({"remove": fields} for fields in state.tombstones.values()),
        *({"add": fields} for fields in state.files.values()),
    ]


def spelled(actions: list[Action]) -> st.SearchStrategy[bytes]:
    """The bytes of a commit, with any of the line ends that are in use."""
    plain = commit_bytes(*actions)
    odd_number = plain.replace(b'"modificationTime": 1,', b'"modificationTime": 1.0,')
    return st.sampled_from(
        [
            plain,
            plain.rstrip(b"\n"),
            plain.replace(b"\n", b"\r\n"),
            b"\n" + plain.replace(b"\n", b"\n\n"),
            b"  " + plain,
            odd_number,
        ]
    )


def hints(count: int) -> st.SearchStrategy[bytes | None]:
    version = st.integers(-1, count + 3)
    return st.one_of(
        st.none(),
        st.sampled_from([b"", b"{", b"[]", b'{"version": "1"}', b"\xff", b"null"]),
        version.map(lambda number: json.dumps({"version": number, "size": 1}).encode()),
    )


def _facts(snapshot: Snapshot) -> State:
    files = {
        (row["path"], row["dv_id"]): (row["size"], dict(row["partition_values"]))
        for row in snapshot.files.to_pylist()
    }
    assert snapshot.num_files == snapshot.files.num_rows == len(files)
    assert snapshot.size_bytes == sum(size for size, _ in files.values())
    tombstones = snapshot.tombstones.to_pylist()
    return State(
        files=files,
        tombstones=dict.fromkeys((row["path"], row["dv_id"]) for row in tombstones),
        transactions={
            app_id: transaction.version
            for app_id, transaction in snapshot.transactions.items()
        },
        table_id=snapshot.metadata.id or "",
        reader_version=snapshot.protocol.min_reader_version,
    )


def _wanted(state: State) -> State:
    return replace(
        state,
        files={
            key: (fields["size"], fields["partitionValues"])
            for key, fields in state.files.items()
        },
        tombstones=dict.fromkeys(state.tombstones),
    )


@settings(max_examples=examples(30))
@given(logs())
def test_every_version_is_what_the_model_says(log: tuple[LogBuilder, list[State], int]):
    builder, states, earliest = log

    assert builder.table.latest_version() == len(states) - 1
    for version, state in enumerate(states):
        if version < earliest:
            continue
        assert _facts(builder.table.snapshot(version)) == _wanted(state), version


@settings(max_examples=examples(15))
@given(logs())
def test_a_version_that_was_cleaned_up_is_right_or_refused(log):
    builder, states, earliest = log

    for version in range(earliest):
        try:
            snapshot = builder.table.snapshot(version)
        except DeltaError:
            continue
        assert _facts(snapshot) == _wanted(states[version])
    with pytest.raises(DeltaError):
        builder.table.snapshot(len(states))


@settings(max_examples=examples(15))
@given(commits(), st.data())
def test_a_refreshed_snapshot_is_the_one_read_afresh(history, data):
    builder = LogBuilder().commit(0, *history[0])
    table = builder.table
    snapshot = table.snapshot()
    state = State().after(history[0])

    for version, actions in enumerate(history[1:], start=1):
        builder.commit(version, *actions)
        state = state.after(actions)
        if data.draw(st.booleans()):
            builder.checkpoint(version, *state.checkpoint())
        if data.draw(st.booleans()):
            snapshot = table.refresh(snapshot)
            assert snapshot.version == version
            assert _facts(snapshot) == _wanted(state)

    assert _facts(table.refresh(snapshot)) == _wanted(state)
