"""Every recorded table through a checkpoint of ours: same files, same rows, to all.

The tables are a folder that DELTAWEB_GOLDEN names; without it no case is collected.
Each is copied, a checkpoint of its newest version is made, and all else that this
version could be read from is deleted: the commits below it and older checkpoints.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import deltalake
import polars as pl
import pyarrow as pa
import pytest
from deltalake.exceptions import DeltaError as PeerError

from deltaweb.delta.checkpoint_writer.builder import WrittenCheckpoint
from deltaweb.delta.errors import DeltaError, UnsupportedWriterFeatureError
from deltaweb.delta.log_path import (
    commit_name,
    parse_checkpoint_name,
    parse_commit_name,
)
from deltaweb.delta.schema import PrimitiveType
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.transaction import metadata_action
from deltaweb.table import DeltaTable

ROOT = Path(os.environ.get("DELTAWEB_GOLDEN", ""))
TABLES = ROOT / "tables"
HAS_GOLDEN = bool(os.environ.get("DELTAWEB_GOLDEN")) and TABLES.is_dir()
NO_TOMBSTONE_EXPIRES = datetime(1970, 1, 1, tzinfo=UTC)
PARTS = [pytest.param(None, id="one file"), pytest.param(3, id="three parts")]


def _names() -> list[str]:
    if not HAS_GOLDEN:
        return []
    return sorted(path.parent.name for path in TABLES.glob("*/expected.json"))


NAMES = _names()
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


@pytest.mark.skipif(not HAS_GOLDEN, reason="DELTAWEB_GOLDEN names no folder")
def test_every_recorded_table_is_a_case() -> None:
    folders = [path for path in TABLES.iterdir() if path.is_dir()]

    assert len(NAMES) == len(folders) > 0


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_of_ours_holds_all_that_the_log_says(
    name: str, parts: int | None, tmp_path: Path
) -> None:
    folder = _copied(name, tmp_path)
    before = _snapshot_or_none(folder)
    if before is None:
        _check_is_refused(folder)
        return
    said = _said(before)
    peers = [_files_and_rows(folder), _polars_rows(folder)]
    try:
        written = _checkpoint_alone(folder, parts)
    except UnsupportedWriterFeatureError:
        return

    after = DeltaTable(str(folder)).snapshot()

    assert after.state.checkpoint is not None
    assert after.state.checkpoint.version == after.version == before.version
    assert written.num_files == before.num_files
    assert _said(after) == said
    assert _rows(after) == _rows(before)
    assert [_files_and_rows(folder), _polars_rows(folder)] == peers


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_of_a_peer_says_the_same_to_us(name: str, tmp_path: Path) -> None:
    folder = _copied(name, tmp_path)
    before = _snapshot_or_none(folder)
    if before is None:
        pytest.skip("the table may not be read")
    said = _said(before)
    try:
        table = deltalake.DeltaTable(str(folder))
        if table.version() != before.version:
            pytest.skip("the peer reads another version")
        table.create_checkpoint()
    except (PeerError, OSError) as error:
        pytest.skip(f"the peer makes none: {type(error).__name__}")
    _delete_all_but(folder, before.version, _checkpoints_at(folder, before.version))

    after = DeltaTable(str(folder)).snapshot()

    for part in ("files", "metadata", "transactions"):
        assert _said(after)[part] == said[part]
    assert _rows(after) == _rows(before)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_with_types_say_what_the_text_said(
    name: str, tmp_path: Path
) -> None:
    folder = _copied(name, tmp_path)
    newest = _snapshot_or_none(folder)
    if newest is None:
        pytest.skip("the table may not be read")
    _ask_for_typed_statistics(folder, newest)
    before = DeltaTable(str(folder)).snapshot()
    said, rows = _said(before), _files_and_rows(folder)
    known = _peer_statistics(folder, before)

    try:
        _checkpoint_alone(folder, None)
    except UnsupportedWriterFeatureError:
        return

    after = DeltaTable(str(folder)).snapshot()
    found = _said(after)
    assert _known(after) == _known(before)
    del found["statistics"], said["statistics"]
    assert found == said
    assert _rows(after) == _rows(before)
    assert _files_and_rows(folder) == rows
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
    rows = zip(
        snapshot.files["path"].to_pylist(),
        snapshot.statistics().to_pylist(),
        strict=True,
    )
    return sorted(
        repr((path, _without(statistics, truths))) for path, statistics in rows
    )


def _without(statistics: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    left = dict(statistics)
    for bound in ("min", "max"):
        known = left[bound] or {}
        left[bound] = {n: v for n, v in known.items() if n not in names}
    return left


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
            if name.startswith(kept) and name not in truths and value is not None
        }
        for row in actions.to_pylist()
    }


def _truths(snapshot: Snapshot) -> set[str]:
    boolean = PrimitiveType("boolean")
    fields = snapshot.schema.fields
    return {field.name for field in fields if field.data_type == boolean}


def _copied(name: str, tmp_path: Path) -> Path:
    folder = tmp_path / "table"
    shutil.copytree(TABLES / name / "table", folder, symlinks=True)
    return folder


def _snapshot_or_none(folder: Path) -> Snapshot | None:
    try:
        return DeltaTable(str(folder)).snapshot()
    except DeltaError:
        return None


def _check_is_refused(folder: Path) -> None:
    """A table that is not read gets no checkpoint, and its log stays as it is."""
    names = sorted(path.name for path in folder.rglob("*"))

    with pytest.raises(DeltaError) as caught:
        DeltaTable(str(folder)).create_checkpoint()

    assert caught.value.code in CODES_OF_REFUSALS
    assert sorted(path.name for path in folder.rglob("*")) == names


def _checkpoint_alone(folder: Path, parts: int | None) -> WrittenCheckpoint:
    written = DeltaTable(str(folder)).create_checkpoint(
        parts=parts, now=NO_TOMBSTONE_EXPIRES
    )
    _delete_all_but(folder, written.version, written.names)
    return written


def _checkpoints_at(folder: Path, version: int) -> list[str]:
    names = [path.name for path in (folder / "_delta_log").iterdir()]
    found = ((name, parse_checkpoint_name(name)) for name in names)
    return [name for name, parsed in found if parsed and parsed.version == version]


def _delete_all_but(folder: Path, version: int, kept: Sequence[str]) -> None:
    for path in (folder / "_delta_log").iterdir():
        is_log = parse_commit_name(path.name) is not None
        is_log = is_log or parse_checkpoint_name(path.name) is not None
        if is_log and path.name not in {commit_name(version), *kept}:
            path.unlink()


def _said(snapshot: Snapshot) -> dict[str, Any]:
    """What a snapshot says, but for its rows."""
    files = snapshot.files.to_pylist()
    for file in files:
        file["partition_values"] = sorted(
            (key, value) for key, value in file["partition_values"] or () if value
        )
    paths = snapshot.files["path"].to_pylist()
    statistics = zip(paths, snapshot.statistics().to_pylist(), strict=True)
    return {
        "files": sorted(map(repr, files)),
        "statistics": sorted(map(repr, statistics)),
        "tombstones": sorted(map(repr, snapshot.tombstones.to_pylist())),
        "metadata": snapshot.metadata,
        "protocol": snapshot.protocol,
        "transactions": snapshot.transactions,
    }


def _rows(snapshot: Snapshot) -> Counter[str] | str:
    try:
        return _counted(snapshot.read())
    except DeltaError as error:
        return error.code


def _counted(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, rows.to_pylist()))


def _files_and_rows(folder: Path) -> object:
    """What `deltalake` makes of a table; the kind of its error where it fails."""
    try:
        table = deltalake.DeltaTable(str(folder))
        files = sorted(table.file_uris())
        rows = pa.table(table.to_pyarrow_table())
    except (PeerError, OSError, ValueError, KeyError, pa.ArrowException) as error:
        return type(error).__name__
    return table.version(), files, _counted(rows)


def _polars_rows(folder: Path) -> object:
    try:
        rows = pl.scan_delta(str(folder)).collect()
    except (PeerError, OSError, ValueError, pl.exceptions.PolarsError) as error:
        return type(error).__name__
    return Counter(map(repr, _iter_rows(rows)))


def _iter_rows(rows: pl.DataFrame) -> Iterator[object]:
    return rows.select(sorted(rows.columns)).iter_rows()
