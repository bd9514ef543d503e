"""Both engines make the same of every log, at every version.

Random logs are replayed by Spark and in this process. Frames of many versions are
joined into one job: a job costs more than a small log does.
"""

import json
import tempfile
from collections.abc import Sequence
from functools import reduce
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.compactions import Compaction
from deltaweb.delta.log.paths import checkpoint_part_names
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.files.statistics_text import statistics_texts
from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    commit_bytes,
    deletion_vector,
    metadata,
    of_version,
    protocol,
    remove,
    schema_string,
    sidecar,
    txn,
    uuid_checkpoint_name,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaweb.spark.log.replay import ReplayedState

Vector = tuple[str, int | None]
Key = tuple[str, str | None, int | None]

# A smaller log takes as long as a large one: looking for the least takes minutes.
NO_SHRINKING = [Phase.explicit, Phase.generate]
HEALTH = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
PATHS = [
    *["a", "b", "p=1/c", "p=%20/d", "file:/abs/e", "/abs/e", "file:///abs/e"],
    *["ü", "e\u0301", "\U0001f600", "a'b", 'q"', "back\\slash", "tab\tin", "a,b|c"],
]
VECTORS: list[Vector | None] = [None, None, None, ("v1", None), ("v1", 4), ("v2", None)]
VALUES = [None, "", "1", "x=y", "ü", "__HIVE_DEFAULT_PARTITION__"]
STATS = [
    None,
    "",
    '{"numRecords":3}',
    '{"numRecords": 9007199254740993, "minValues":{"id":"\\u00fc\\n"}}',
    "not json",
    {"numRecords": 9007199254740993, "minValues": {"id": "\u00fc\n"}},  # no text
]
PARTITIONS = [["p"], ["p", "q"], ["q"], []]


# === Random logs ===


@st.composite
def file_action(draw: st.DrawFn, path: str, vector: Vector | None) -> Action:
    extra: dict[str, Any] = {}
    if vector is not None:
        extra["deletionVector"] = deletion_vector(*vector)
    if draw(st.integers(0, 2)) == 0:
        moment = draw(st.sampled_from([0, 1, 2**62]))
        return remove(path, deletionTimestamp=moment, **extra)
    if (stats := draw(st.sampled_from(STATS))) is not None:
        extra["stats"] = stats
    values = draw(
        st.dictionaries(st.sampled_from(["p", "q", "else"]), st.sampled_from(VALUES))
    )
    return add(
        path,
        size=draw(st.sampled_from([0, 1, 2**53 + 1, 2**63 - 1])),
        modificationTime=draw(st.integers(0, 3)),
        dataChange=draw(st.booleans()),  # false alone: statistics made anew
        partitionValues=values,
        **extra,
    )


@st.composite
def commit(draw: st.DrawFn, version: int) -> list[Action]:
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(PATHS), st.sampled_from(VECTORS)),
            unique_by=lambda key: (_canonical(key[0]), key[1]),
            max_size=7,
        )
    )
    actions = [draw(file_action(path, vector)) for path, vector in keys]
    if draw(st.booleans()):
        app = draw(st.sampled_from(["app1", "äpp 2"]))
        actions.append(txn(app, draw(st.integers(-5, 5))))
    if draw(st.integers(0, 2)) == 0:
        actions.append(_metadata(f"t{version}", draw(st.sampled_from(PARTITIONS))))
    if draw(st.integers(0, 4)) == 0:
        actions.append(protocol(1, draw(st.integers(1, 2))))
    if draw(st.booleans()):
        actions.insert(0, {"commitInfo": {"operation": "WRITE", "x": [1, {}]}})
    if draw(st.integers(0, 3)) == 0:
        actions.append({"somethingNew": {"path": "a"}})
    return actions


def _metadata(table_id: str, partition_columns: Sequence[str]) -> Action:
    return metadata(
        table_id,
        partitionColumns=partition_columns,
        schemaString=schema_string("id", "p", "q"),
    )


@st.composite
def logs(draw: st.DrawFn) -> LogBuilder:
    """A log with commits, compactions, checkpoints of any kind, and hints or none."""
    builder = LogBuilder()
    state = _State()
    compactions = {
        first: _State() for first in draw(st.sets(st.integers(0, 3), max_size=2))
    }
    opening = [protocol(), _metadata("t", draw(st.sampled_from(PARTITIONS)))]
    for version in range(draw(st.integers(1, 6))):
        actions = draw(commit(version))
        if version == 0:
            actions = opening + [
                action
                for action in actions
                if not action.keys() & {"metaData", "protocol"}
            ]
        state.take(actions)
        builder.commit(version, *actions)
        for first, compacted in compactions.items():
            if first <= version:
                compacted.take(actions)
            if first < version and draw(st.booleans()):
                name = Compaction(first, version).name
                builder.store.put(name, commit_bytes(*compacted.actions()))
        if draw(st.integers(0, 2)) == 0:
            parts = draw(st.sampled_from([None, 1, 2, 3]))
            kind = draw(st.sampled_from([None, None, "json", "parquet"]))
            if kind is None:
                builder.checkpoint(version, *state.actions(), parts=parts)
            else:
                _later_checkpoint(builder, version, kind, state, parts or 0)
            if kind is None and parts is not None and parts > 1 and draw(st.booleans()):
                builder.delete(checkpoint_part_names(version, parts)[1])
            elif draw(st.booleans()):
                builder.hint(json.dumps({"version": version, "size": 1}).encode())
    return builder


def _later_checkpoint(builder, version, kind, state, sidecars):
    """Write a checkpoint with some sidecars, or with its file actions itself."""
    files = [*state.files.values()]
    named = [f"{version}-{number}.parquet" for number in range(sidecars)]
    for number, name in enumerate(named):
        builder.sidecar(name, *files[number::sidecars])
    builder.manifest(
        uuid_checkpoint_name(version, kind),
        *(of_version(version), *state.rare.values(), *map(sidecar, named)),
        *([] if named else files),
    )


class _State:
    """What a checkpoint holds, kept in dictionaries."""

    def __init__(self) -> None:
        self.files: dict[Any, Action] = {}
        self.rare: dict[str, Action] = {}

    def take(self, actions: Sequence[Action]) -> None:
        for action in actions:
            ((kind, fields),) = action.items()
            if kind in {"add", "remove"}:
                self.files[_key(fields)] = {kind: _with_text(fields)}
            elif kind == "txn":
                self.rare[fields["appId"]] = action
            elif kind in {"protocol", "metaData"}:
                self.rare[f" {kind}"] = action

    def actions(self) -> list[Action]:
        return [*self.rare.values(), *self.files.values()]


def _with_text(fields: Action) -> Action:
    """Return a file action as checkpoints hold it: statistics are text."""
    stats = fields.get("stats")
    return {**fields, "stats": json.dumps(stats)} if isinstance(stats, dict) else fields


def _key(fields: Action) -> Key:
    vector = fields.get("deletionVector", {})
    return (
        _canonical(fields["path"]),
        vector.get("pathOrInlineDv"),
        vector.get("offset"),
    )


def _canonical(path: str) -> str:
    return path.removeprefix("file://").removeprefix("file:")


# === What each engine makes of it ===


def file_facts(rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Rows of files in one order, as values that compare; a map has no order."""
    facts = [
        (*row[:4], None if row[4] is None else sorted(dict(row[4]).items()), *row[5:])
        for row in rows
    ]
    return sorted(facts, key=repr)


def files_here(snapshot: Snapshot) -> list[tuple[Any, ...]]:
    texts = [
        statistics_texts(block.statistics(), block.text, block.num_files)
        for block in snapshot.state.blocks
    ]
    stats = pa.chunked_array(texts, pa.string())
    rows = snapshot.files.append_column("stats", stats).to_pylist()
    return file_facts([tuple(row.values()) for row in rows])


def tombstones_here(snapshot: Snapshot) -> list[tuple[Any, ...]]:
    rows = snapshot.tombstones.to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=repr)


def collected(frames: "Sequence[DataFrame]") -> list[list[tuple[Any, ...]]]:
    """The rows of many frames, by one job."""
    from pyspark.sql import functions

    marked = [
        frame.select(functions.lit(number), "*") for number, frame in enumerate(frames)
    ]
    found: list[list[tuple[Any, ...]]] = [[] for _ in frames]
    for row in reduce(lambda one, other: one.unionAll(other), marked).collect():
        found[row[0]].append(tuple(map(_plain, row[1:])))
    return found


def _plain(value: Any) -> Any:  # noqa: ANN401 (any value of a column)
    """A struct as Arrow gives it."""
    from pyspark.sql import Row

    return value.asDict(recursive=True) if isinstance(value, Row) else value


def assert_engines_agree(pairs: "Sequence[tuple[ReplayedState, Snapshot]]") -> None:
    """Compare states of Spark with snapshots of this process."""
    files = collected([state.live_files() for state, _ in pairs])
    tombstones = collected([state.tombstones() for state, _ in pairs])
    for (state, snapshot), listed, removed in zip(
        pairs, files, tombstones, strict=True
    ):
        assert state.version == snapshot.version
        assert state.protocol == snapshot.protocol
        assert state.metadata == snapshot.metadata
        assert state.transactions() == snapshot.transactions
        assert state.commit_status == snapshot.state.commit_status
        assert file_facts(listed) == files_here(snapshot)
        assert sorted(removed, key=repr) == tombstones_here(snapshot)


def some_versions(spark: "SparkSession", folder: Path, every: int):
    """Versions of a table by both engines, which refuse the same ones.

    Args:
        every: From the newest on; 1 for each.
    """
    from deltaweb.spark.log.replay import load_state
    from deltaweb.storage.place import TablePlace

    table = DeltaTable(str(folder))
    for version in range(table.latest_version(), -1, -every):
        here = outcome(lambda at=version: table.snapshot_metadata(at))
        there = outcome(
            lambda at=version: load_state(spark, TablePlace(str(folder)), at)
        )
        if isinstance(here, DeltaError) or isinstance(there, DeltaError):
            assert (type(there), str(there)) == (type(here), str(here))
        else:
            yield there, here


def outcome(load: Any) -> Any:  # noqa: ANN401 (a snapshot or a state)
    try:
        return load()
    except DeltaError as error:
        return error


TAILS = {
    "one pack": (512 << 20, 4_096),
    "a pack a commit": (512 << 20, 1),
    "shuffled": (0, 2),
}
"""Each way that the size of a tail can call for: bytes that are broadcast, a pack."""


FEW, MANY = (2, 1, 2), (4, 3, 1)
"""Examples, logs of each at most, and of their versions every so many."""


class TestEveryVersion:
    @matrix(
        "tail, sizes",
        product(TAILS, [FEW, MANY]),
        often=[*product(TAILS, [FEW])],
    )
    def test_is_the_same_in_both_engines(
        self,
        spark: "SparkSession",
        monkeypatch: pytest.MonkeyPatch,
        tail: str,
        sizes: tuple[int, int, int],
    ) -> None:
        from deltaweb.spark.log import reader as log_reader
        from deltaweb.spark.log import replay, tail_facts

        broadcast_bytes, commits = TAILS[tail]
        max_examples, most_logs, every = sizes
        monkeypatch.setattr(replay, "SHUFFLE_PARTITIONS", 1)
        monkeypatch.setattr(tail_facts, "BROADCAST_TAIL_BYTES", broadcast_bytes)
        monkeypatch.setattr(log_reader, "PACK_COMMITS", commits)

        @settings(
            max_examples=max_examples,
            phases=NO_SHRINKING,
            deadline=None,
            suppress_health_check=HEALTH,
            database=None,
        )
        @given(st.lists(logs(), min_size=1, max_size=most_logs))
        def compare(builders: list[LogBuilder]) -> None:
            with tempfile.TemporaryDirectory() as home:
                pairs = [
                    pair
                    for number, builder in enumerate(builders)
                    for pair in some_versions(
                        spark, builder.on_disk(Path(home) / str(number)), every
                    )
                ]
                assert_engines_agree(pairs)

        compare()
