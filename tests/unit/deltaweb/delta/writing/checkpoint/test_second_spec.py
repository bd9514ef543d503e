"""Checkpoints of the second specification, where a table asks for them."""

import io
import json
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.log.hint import checksum_of
from deltaweb.delta.log.paths import (
    SIDECARS,
    checkpoint_name,
    commit_name,
    parse_checkpoint_name,
)
from deltaweb.table import DeltaTable
from tests.support.logs.appendix_log import NOW, NOW_MS, hint_of
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    metadata,
    protocol,
    remove,
    txn,
)

V2 = {"readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}
POLICY = {"delta.checkpointPolicy": "v2"}
DOMAIN = {"domainMetadata": {"domain": "d", "configuration": "{}", "removed": False}}
HEAD: list[Action] = [protocol(3, 7, **V2), metadata(configuration=POLICY)]


def new_log() -> LogBuilder:
    gone = remove("gone", deletionTimestamp=NOW_MS)
    log = LogBuilder().commit(0, *HEAD, txn("app", 7), DOMAIN, gone, *map(add, "abc"))
    return log.commit(1, remove("a", deletionTimestamp=NOW_MS), add("d", baseRowId=5))


def alone(log: LogBuilder, version: int) -> LogBuilder:
    """Leave the checkpoint and the commit of its version."""
    for before in range(version):
        log.delete(commit_name(before))
    return log


class TestWithoutParts:
    def test_has_all_actions_and_a_name_of_its_own(self) -> None:
        log = new_log()

        written = log.table.create_checkpoint(now=NOW)

        (name,) = written.names
        named = parse_checkpoint_name(name)
        assert named is not None
        assert named.has_uuid
        rows = pq.read_table(io.BytesIO(log.store.log_files[name])).to_pylist()
        (said,) = [
            row["checkpointMetadata"]
            for row in rows
            if row["protocol"] is None and row["checkpointMetadata"]
        ]
        assert said["version"] == 1
        (protocol,) = [row["protocol"] for row in rows if row["protocol"]]
        assert protocol["readerFeatures"] == ["v2Checkpoint"]
        snapshot = alone(log, 1).table.snapshot()
        assert sorted(snapshot.files["path"].to_pylist()) == ["b", "c", "d"]
        assert sorted(snapshot.tombstones["path"].to_pylist()) == ["a", "gone"]
        assert snapshot.transactions["app"].version == 7

    def test_is_named_by_a_hint_with_its_file(self) -> None:
        log = new_log()

        written = log.table.create_checkpoint(now=NOW)

        hint = hint_of(log)
        assert hint.pop("checksum") == checksum_of(json.dumps(hint).encode())
        assert "parts" not in hint
        assert hint["v2Checkpoint"] == {
            "path": written.names[0],
            "sizeInBytes": written.size_bytes,
            "modificationTime": NOW_MS,
        }

    def test_is_classic_where_the_policy_is(self) -> None:
        log = LogBuilder().commit(0, protocol(3, 7, **V2), metadata(), add("a"))

        assert log.table.create_checkpoint(now=NOW).names == (checkpoint_name(0),)

    def test_is_classic_where_no_feature_announces_another(self) -> None:
        log = LogBuilder().start(add("a"), configuration=POLICY)

        assert log.table.create_checkpoint(now=NOW).names == (checkpoint_name(0),)


class TestParts:
    @pytest.mark.parametrize("configuration", [POLICY, {}])
    def test_are_sidecars(self, configuration: dict[str, str]) -> None:
        log = new_log().commit(2, metadata(configuration=configuration))

        written = log.table.create_checkpoint(parts=3, now=NOW)

        manifest, *sidecars = written.names
        assert manifest.endswith(".json")
        assert len(sidecars) == 3
        assert all(name.startswith(f"{SIDECARS}/") for name in sidecars)
        for name in sidecars:
            schema = pq.read_schema(io.BytesIO(log.store.log_files[name]))
            assert schema.names == ["add", "remove"]
        lines = map(json.loads, log.store.log_files[manifest].splitlines())
        kinds = [kind for line in lines for kind in line]
        assert kinds == [
            *("checkpointMetadata", "protocol", "metaData", "txn", "domainMetadata"),
            *("sidecar", "sidecar", "sidecar"),
        ]
        snapshot = alone(log, 2).table.snapshot()
        assert sorted(snapshot.files["path"].to_pylist()) == ["b", "c", "d"]
        assert snapshot.state.checkpoint is not None
        assert snapshot.state.checkpoint.domains() == {"d": "{}"}
        assert snapshot.transactions["app"].version == 7

    def test_of_one_checkpoint_are_the_source_of_the_next(self) -> None:
        log = new_log()
        log.table.create_checkpoint(parts=2, now=NOW)
        log.commit(2, add("e"), remove("b", deletionTimestamp=NOW_MS))

        written = log.table.create_checkpoint(parts=2, now=NOW)

        assert (written.num_files, written.num_tombstones) == (3, 3)
        snapshot = alone(log, 2).table.snapshot()
        assert sorted(snapshot.files["path"].to_pylist()) == ["c", "d", "e"]


@pytest.mark.parametrize("parts", [None, 3])
def test_a_peer_reads_the_table_through_it(tmp_path: Path, parts: int | None) -> None:
    log = new_log()
    folder = log.on_disk(tmp_path / "table")
    DeltaTable(str(folder)).create_checkpoint(parts=parts)
    (folder / "_delta_log" / commit_name(0)).unlink()

    theirs = deltalake.DeltaTable(str(folder)).get_add_actions(flatten=True)

    assert sorted(pa.table(theirs)["path"].to_pylist()) == ["b", "c", "d"]
    ours = DeltaTable(str(folder)).snapshot().files["path"].to_pylist()
    assert sorted(ours) == ["b", "c", "d"]
    left = [*(folder / "_delta_log").rglob("*.tmp")]
    assert left == []
