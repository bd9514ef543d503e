"""What workers find out of a table's data files, and what they keep of it."""

import time
from datetime import datetime
from typing import Any, Final

from django.utils import timezone

from apps.tables.models import MissingFiles, Table
from apps.tables.versions import missing_files
from deltaweb.delta.changes.errors import VersionFilesMissingError
from deltaweb.delta.errors import (
    DataFileMissingError,
    PathEscapesTableError,
)
from deltaweb.delta.log.store import DataStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.file_check import FileCheck

LOOK_S: Final = 3.0  # at single files, after a read that has failed anyway


def keep_check(table: Table, check: FileCheck, *, now: datetime) -> dict[str, Any]:
    """Store what a listing of storage shows; return it as a job's result.

    Returns:
        `version`, `num_versions`, `num_complete`, `num_partly`, `num_gone` (of these),
        `num_files` (data files that any of them has) and `num_missing`.
    """
    missing_files.store_check(table.id, check, now=now)
    partly = gone = 0
    for row in check.missing.to_pylist():
        count = row["last_version"] - row["first_version"] + 1
        if row["num_missing"] < row["num_files"]:
            partly += count
        else:
            gone += count
    return {
        "version": check.version,
        "num_versions": check.num_versions,
        "num_complete": check.num_versions - partly - gone,
        "num_partly": partly,
        "num_gone": gone,
        "num_files": check.num_paths,
        "num_missing": check.num_missing,
    }


def keep_failed_read(
    table: Table,
    snapshot: Snapshot,
    store: DataStore,
    error: DataFileMissingError,
    *,
    now: datetime,
) -> dict[str, Any]:
    """Remember that a version lacks a file; look at its others for a while.

    Returns:
        `missing`: the path of the file, `num_files` of the version, `num_missing` of
        these and `is_exact`, whether all were looked at.
    """
    paths = snapshot.files["path"].to_pylist()
    deadline_s = time.monotonic() + LOOK_S
    looked = missing = 0
    for path in paths:
        if time.monotonic() > deadline_s:
            break
        looked += 1
        missing += _is_missing(store, path)
    is_exact = looked == len(paths)
    missing = max(missing, 1)
    missing_files.store_read(
        table.id,
        snapshot.version,
        path=error.path,
        num_files=len(paths),
        num_missing=missing,
        is_exact=is_exact,
        now=now,
    )
    return {
        "missing": error.path,
        "num_files": len(paths),
        "num_missing": missing,
        "is_exact": is_exact,
    }


def keep_missing(table: Table, error: VersionFilesMissingError) -> None:
    """Remember the files of a version that a comparison of rows has missed."""
    commit = table.commits.filter(version=error.version).first()
    missing_files.store_read(
        table.id,
        error.version,
        path=error.paths[0],
        num_files=commit.num_files if commit else None,
        num_missing=len(error.paths),
        is_exact=False,
        now=timezone.now(),
    )


def look_again(table: Table, version: int, store: DataStore) -> None:
    """Forget what a read has found of a version where the file is there again."""
    rows: list[MissingFiles] = list(missing_files.of_reads(table, version))
    if rows and not any(_is_missing(store, row.path) for row in rows):
        missing_files.forget_reads(table.id, version)


def _is_missing(store: DataStore, path: str) -> bool:
    try:
        return not store.has_data_file(path)
    except PathEscapesTableError:
        return False  # nobody looks there
