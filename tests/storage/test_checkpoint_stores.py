"""Checkpoints and clean-ups of tables that are not on a local disk."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from deltaweb.delta.log.paths import checkpoint_part_names, commit_name
from deltaweb.storage.place import open_store
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import START_MS, write_checkpointed_log, write_json_log

NOW = datetime.fromtimestamp(START_MS / 1000, UTC)
LATE = datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("parts", [None, 3], ids=["one file", "three parts"])
def test_a_table_on_s3_gets_a_checkpoint_and_loses_what_is_older(s3, tmp_path, parts):
    bucket = s3.new_bucket()
    folder = write_json_log(tmp_path / "table", commits=12, adds=50, removes=10)
    s3.upload(folder, bucket, "lake/ä b")
    table = DeltaTable(f"s3://{bucket}/lake/ä b", s3.options)
    before = sorted(table.snapshot().files["path"].to_pylist())

    written = table.create_checkpoint(parts=parts, now=NOW)
    cleaned = table.clean_up_log(now=LATE)

    assert written.num_files == len(before)
    assert [file.name for file in cleaned.files] == [commit_name(v) for v in range(11)]
    assert table.store.list_names_from("") == [
        *sorted([*written.names, commit_name(11)]),
        "_last_checkpoint",
    ]
    snapshot = DeltaTable(f"s3://{bucket}/lake/ä b", s3.options).snapshot()
    assert sorted(snapshot.files["path"].to_pylist()) == before
    assert snapshot.state.checkpoint is not None


def test_a_large_checkpoint_is_read_in_pieces_from_afar(tmp_path: Path) -> None:
    local = write_checkpointed_log(tmp_path / "table", files=50_000, tail=2)
    store = open_store("memory://checkpoint-stores/table")
    for path in (local / "_delta_log").iterdir():
        store.put(path.name, path.read_bytes())
    table = DeltaTable.from_store(store)
    before = table.snapshot()

    written = table.create_checkpoint(parts=2, now=NOW)

    assert written.names == checkpoint_part_names(12, 2)
    after = DeltaTable.from_store(store).snapshot()
    assert after.num_files == before.num_files == written.num_files
    assert after.size_bytes == before.size_bytes
