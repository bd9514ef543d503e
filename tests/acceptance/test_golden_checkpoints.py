"""Recorded tables through a checkpoint of ours: same files, same rows, to all.

Each is copied, a checkpoint of its newest version is made, and all else that this
version could be read from is deleted: the commits below it and older checkpoints.
"""

import json
import shutil
from collections import Counter
from collections.abc import Collection
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from deltalake.exceptions import DeltaError as PeerError

from deltaweb.delta.errors import DeltaError, UnsupportedWriterFeatureError
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.protocol.schema import PrimitiveType
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.golden.golden_tables import (
    NAMES,
    SOME_NAMES,
    golden_folder,
    golden_table,
    some_golden_tables,
)
from tests.support.logs.raw_commits import metadata_action
from tests.support.peers.checkpoint_peers import (
    checkpoint_alone,
    checkpoints_at,
    delete_all_but,
    files_and_rows,
    polars_rows,
    rows,
    said,
)

PARTS = (None, 3)
CODES_OF_REFUSALS = {
    "location-not-found",
    "log-corrupt",
    "log-gap",
    "no-metadata",
    "no-protocol",
    "not-a-delta-table",
    "metadata-missing-schema",
    "schema-invalid",
    "unsupported-feature",
    "unsupported-protocol",
    "unsupported-writer-feature",
}


@matrix(
    "name, parts",
    product(NAMES, PARTS),
    often=[*zip(SOME_NAMES, cycle(PARTS), strict=False)],
)
def test_a_checkpoint_of_ours_holds_all_that_the_log_says(name, parts, tmp_path):
    folder = _copied(name, tmp_path)
    before = _recorded(name)
    if before is None:
        _check_is_refused(folder)
        return
    to_peer = files_and_rows(folder)
    try:
        written = checkpoint_alone(folder, _other_than_recorded(folder, before, parts))
    except UnsupportedWriterFeatureError:
        return

    after = DeltaTable(str(folder)).snapshot()

    assert after.state.checkpoint is not None
    assert after.state.checkpoint.version == after.version == before.version
    assert written.num_files == before.num_files
    assert said(after) == _told(name)
    assert rows(after) == _rows(name)
    assert files_and_rows(folder) == to_peer
    assert polars_rows(folder) == _rows_to_polars(name)


@some_golden_tables
def test_a_checkpoint_of_a_peer_says_the_same_to_us(name: str, tmp_path: Path) -> None:
    folder = _copied(name, tmp_path)
    before = _recorded(name)
    if before is None:
        pytest.skip("the table may not be read")
    try:
        table = deltalake.DeltaTable(str(folder))
        if table.version() != before.version:
            pytest.skip("the peer reads another version")
        table.create_checkpoint()
    except (PeerError, OSError) as error:
        pytest.skip(f"the peer makes none: {type(error).__name__}")
    delete_all_but(folder, before.version, checkpoints_at(folder, before.version))

    after = DeltaTable(str(folder)).snapshot()

    found, told = said(after), _told(name)
    for part in ("files", "metadata", "transactions"):
        assert found[part] == told[part]
    assert rows(after) == _rows(name)


@some_golden_tables
def test_statistics_with_types_say_what_the_textsaid(name: str, tmp_path: Path) -> None:
    folder = _copied(name, tmp_path)
    newest = _recorded(name)
    if newest is None:
        pytest.skip("the table may not be read")
    _ask_for_typed_statistics(folder, newest)
    before = DeltaTable(str(folder)).snapshot()
    told = said(before)
    known = _peer_statistics(folder, before)

    try:
        checkpoint_alone(folder, None)
    except UnsupportedWriterFeatureError:
        return

    after = DeltaTable(str(folder)).snapshot()
    found = said(after)
    assert _known(after) == _known(before)
    del found["statistics"], told["statistics"]
    assert found == told
    assert rows(after) == rows(before)
    found_by_peer = _peer_statistics(folder, after)
    for path, statistics in known.items():
        # It does not know null counts by the name that one recorded table has.
        assert found_by_peer[path].items() >= statistics.items()


def _ask_for_typed_statistics(folder: Path, newest: Snapshot) -> None:
    """Commit the table's own metaData again, with other properties."""
    metadata = newest.metadata
    configuration = {
        **metadata.configuration,
        "delta.checkpoint.writeStatsAsStruct": "true",
        "delta.checkpoint.writeStatsAsJson": "false",
    }
    action = metadata_action(
        table_id=metadata.id or "",
        schema_string=metadata.schema_string or "",
        created_time=metadata.created_time or 0,
        partition_columns=metadata.partition_columns,
        configuration=configuration,
        name=metadata.name,
        description=metadata.description,
    )
    name = commit_name(newest.version + 1)
    (folder / "_delta_log" / name).write_text(json.dumps(action), encoding="utf-8")


def _known(snapshot: Snapshot) -> list[str]:
    """Statistics by path, but for the bounds of truth values, which have no type."""
    truths = _truths(snapshot)
    found = zip(
        snapshot.files["path"].to_pylist(),
        snapshot.statistics().to_pylist(),
        strict=True,
    )
    return sorted(
        repr((path, _without(statistics, truths))) for path, statistics in found
    )


def _without(statistics: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    left = dict(statistics)
    for bound in ("min", "max"):
        known = left[bound] or {}
        left[bound] = {n: v for n, v in known.items() if n not in names}
    return left


# Of bounds with types it leaves out those that are no finite number.
NONE = ("None", "nan", "inf", "-inf")


def _peer_statistics(folder: Path, snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """What `deltalake` knows of each file, but for the bounds of truth values."""
    try:
        table = deltalake.DeltaTable(str(folder))
        actions = pa.table(table.get_add_actions(flatten=True))
    except (PeerError, OSError, ValueError):
        return {}
    truths = {
        f"{bound}.{name}" for bound in ("min", "max") for name in _truths(snapshot)
    }
    kept = ("num_records", "null_count.", "min.", "max.")
    return {
        row["path"]: {
            name: repr(value)
            for name, value in row.items()
            if name.startswith(kept) and name not in truths and repr(value) not in NONE
        }
        for row in actions.to_pylist()
    }


def _truths(snapshot: Snapshot) -> set[str]:
    boolean = PrimitiveType("boolean")
    fields = snapshot.schema.fields
    return {field.name for field in fields if field.data_type == boolean}


def _copied(name: str, tmp_path: Path) -> Path:
    folder = tmp_path / "table"
    shutil.copytree(golden_folder(name), folder, symlinks=True)
    return folder


@cache
def _recorded(name: str) -> Snapshot | None:
    """The newest version of a table as it was recorded; None where it is refused."""
    try:
        return golden_table(name).snapshot()
    except DeltaError:
        return None


@cache
def _told(name: str) -> dict[str, Any]:
    snapshot = _recorded(name)
    assert snapshot is not None
    return said(snapshot)


@cache
def _rows(name: str) -> Counter[str] | str:
    snapshot = _recorded(name)
    assert snapshot is not None
    return rows(snapshot)


@cache
def _rows_to_polars(name: str) -> object:
    return polars_rows(golden_folder(name))


def _other_than_recorded(folder: Path, newest: Snapshot, parts: int | None):
    """How many parts to write: one more where the recorded checkpoint has as many.

    A checkpoint of another writer in as many parts is not written over.
    """
    recorded = len(checkpoints_at(folder, newest.version))
    return recorded + 1 if recorded == parts else parts


def _check_is_refused(folder: Path) -> None:
    """A table that is not read gets no checkpoint, and its log stays as it is."""
    names = sorted(path.name for path in folder.rglob("*"))

    with pytest.raises(DeltaError) as caught:
        DeltaTable(str(folder)).create_checkpoint()

    assert caught.value.code in CODES_OF_REFUSALS
    assert sorted(path.name for path in folder.rglob("*")) == names
