"""Checkpoints of random logs, held against a model that is plain enough to be right.

The model keeps the raw actions in dictionaries. A chain of checkpoints is built, each
from the one before and the commits since, or from the commits alone; the rows of each
must be the model's, field for field, and the log cut off below it must read as before.
"""

import io
from collections.abc import Iterable

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.log.paths import commit_name, parse_checkpoint_name
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.checkpoint import older_checkpoint, parts
from deltaweb.table import DeltaTable
from tests.support.conditions.drawn_examples import examples
from tests.support.logs.checkpoint_logs import NOW, OLDEST_KEPT_MS, commits
from tests.support.logs.delta_logs import Action, LogBuilder
from tests.support.stores.memory import MemoryTableStore

Rows = dict[str, dict[str, Action]]


@pytest.fixture(
    autouse=True,
    params=[(1 << 17, 1 << 18, 192 << 20), (2, 0, 1)],
    ids=["as they are", "small row groups, streamed"],
)
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    full_rows, streamed_rows, buffered_bytes = request.param
    monkeypatch.setattr(parts, "FULL_ROWS", full_rows)
    monkeypatch.setattr(parts, "BUFFERED_BYTES", buffered_bytes)
    monkeypatch.setattr(older_checkpoint, "STREAMED_ROWS", streamed_rows)
    monkeypatch.setattr(older_checkpoint, "ROWS_AT_ONCE", max(2, streamed_rows // 2))


def canonical(path: str) -> str:
    return path.replace("file:/", "/")


def model(history: list[list[Action]]) -> Rows:
    """The rows of the checkpoint after these commits, by kind and by key."""
    rows: Rows = {"add": {}, "remove": {}, "txn": {}, "domainMetadata": {}}
    for action in (action for commit in history for action in commit):
        ((kind, fields),) = action.items()
        if kind in {"add", "remove"}:
            key = canonical(fields["path"])
            rows["add"].pop(key, None)
            rows["remove"].pop(key, None)
            rows[kind][key] = shaped(fields)
        elif kind == "txn":
            rows["txn"][fields["appId"]] = fields
        elif kind == "domainMetadata":
            rows["domainMetadata"][fields["domain"]] = fields
        elif kind in {"metaData", "protocol"}:
            rows[kind] = {"": shaped(fields)}
    rows["remove"] = {
        key: fields
        for key, fields in rows["remove"].items()
        if fields.get("deletionTimestamp", 0) >= OLDEST_KEPT_MS
    }
    domains = rows["domainMetadata"].items()
    rows["domainMetadata"] = {key: row for key, row in domains if not row["removed"]}
    return rows


def shaped(fields: Action) -> Action:
    """An action as a checkpoint has it: each partition column has a value."""
    known = {name: value for name, value in fields.items() if value is not None}
    if "partitionValues" in known:
        known["partitionValues"] = {"p": None, **known["partitionValues"]}
    return known


def rows_of(store: MemoryTableStore, names: Iterable[str]) -> Rows:
    """The rows of a checkpoint, read as plain Parquet."""
    keys = {"txn": "appId", "domainMetadata": "domain"}
    found: Rows = {"add": {}, "remove": {}, "txn": {}, "domainMetadata": {}}
    for name in names:
        table = pq.read_table(io.BytesIO(store.log_files[name]))
        for row in table.to_pylist(maps_as_pydicts="strict"):
            ((kind, fields),) = ((k, v) for k, v in row.items() if v is not None)
            key = fields.get(keys.get(kind, "path"), "")
            known = {n: value for n, value in fields.items() if value is not None}
            assert canonical(key) not in found.setdefault(kind, {})
            found[kind][canonical(key)] = known
    return found


def checkpoint_names(store: MemoryTableStore, version: int) -> list[str]:
    names = ((name, parse_checkpoint_name(name)) for name in store.log_files)
    return [name for name, parsed in names if parsed and parsed.version == version]


def said(snapshot: Snapshot) -> object:
    files = [
        {**file, "partition_values": dict(file["partition_values"])}
        for file in snapshot.files.to_pylist()
    ]
    return (
        sorted(map(repr, files)),
        snapshot.metadata,
        snapshot.protocol,
        snapshot.transactions,
        sorted(map(repr, snapshot.unexpired_tombstones(NOW).to_pylist())),
    )


@settings(max_examples=examples(25))
@given(history=commits(), data=st.data())
def test_a_chain_of_checkpoints_says_what_the_commits_said(history, data):
    builder = LogBuilder()
    for version, commit in enumerate(history):
        builder.commit(version, *commit)
    table, store = builder.table, builder.store
    newest = len(history) - 1
    expected = {v: said(table.snapshot(v)) for v in range(len(history))}

    chain = data.draw(st.lists(st.integers(0, newest), min_size=1, max_size=3))
    for version in sorted(chain):
        wanted_parts = data.draw(st.sampled_from([None, 1, 3]))
        written = table.create_checkpoint(version, parts=wanted_parts, now=NOW)
        assert written.version == version
        assert rows_of(store, written.names) == model(history[: version + 1])
        for older in range(version):
            store.log_files.pop(commit_name(older), None)
            for name in checkpoint_names(store, older):
                del store.log_files[name]

    fresh = DeltaTable.from_store(store)
    for version in range(max(chain), newest + 1):
        assert said(fresh.snapshot(version)) == expected[version]
