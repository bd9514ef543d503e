"""What a table says to us and to two other readers, with a checkpoint alone or not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import deltalake
import polars as pl
import pyarrow as pa
from deltalake.exceptions import DeltaError as PeerError

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import (
    commit_name,
    parse_checkpoint_name,
    parse_commit_name,
)
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.checkpoint.builder import WrittenCheckpoint
from deltaweb.table import DeltaTable

NO_TOMBSTONE_EXPIRES = datetime(1970, 1, 1, tzinfo=UTC)


def checkpoint_alone(folder: Path, parts: int | None) -> WrittenCheckpoint:
    """Write a checkpoint of the newest version, and delete all that came before."""
    written = DeltaTable(str(folder)).create_checkpoint(
        parts=parts, now=NO_TOMBSTONE_EXPIRES
    )
    delete_all_but(folder, written.version, written.names)
    return written


def checkpoints_at(folder: Path, version: int) -> list[str]:
    """The files of the checkpoints of a version."""
    names = [path.name for path in (folder / "_delta_log").iterdir()]
    found = ((name, parse_checkpoint_name(name)) for name in names)
    return [name for name, parsed in found if parsed and parsed.version == version]


def delete_all_but(folder: Path, version: int, kept: Sequence[str]) -> None:
    """Delete commits and checkpoints but a version's commit and the files kept."""
    for path in (folder / "_delta_log").iterdir():
        is_log = parse_commit_name(path.name) is not None
        is_log = is_log or parse_checkpoint_name(path.name) is not None
        if is_log and path.name not in {commit_name(version), *kept}:
            path.unlink()


def said(snapshot: Snapshot) -> dict[str, Any]:
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


def rows(snapshot: Snapshot) -> Counter[str] | str:
    """The rows of a snapshot as a multiset; the code of the error where they fail."""
    try:
        return counted(snapshot.read())
    except DeltaError as error:
        return error.code


def counted(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, rows.to_pylist()))


def files_and_rows(folder: Path) -> object:
    """What `deltalake` makes of a table; the kind of its error where it fails."""
    try:
        table = deltalake.DeltaTable(str(folder))
        files = sorted(table.file_uris())
        rows = pa.table(table.to_pyarrow_table())
    except (PeerError, OSError, ValueError, KeyError, pa.ArrowException) as error:
        return type(error).__name__
    return table.version(), files, counted(rows)


def polars_rows(folder: Path) -> object:
    try:
        rows = pl.scan_delta(str(folder)).collect()
    except (PeerError, OSError, ValueError, pl.exceptions.PolarsError) as error:
        return type(error).__name__
    return Counter(map(repr, _iter_rows(rows)))


def _iter_rows(rows: pl.DataFrame) -> Iterator[object]:
    return rows.select(sorted(rows.columns)).iter_rows()
