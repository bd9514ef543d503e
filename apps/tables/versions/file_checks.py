"""What workers find out of a table's data files, and what they keep of it."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Final

from django.utils import timezone

from apps.jobs.models import Job
from apps.pages.page_json import IfKnown, from_json
from apps.tables.models import MissingFiles, Table
from apps.tables.versions import missing_files
from deltaweb.delta.changes.errors import VersionFilesMissingError
from deltaweb.delta.errors import (
    DataFileMissingError,
    DeltaError,
    PathEscapesTableError,
)
from deltaweb.delta.log.checkpoints.sidecars import log_size_bytes
from deltaweb.delta.log.segment import load_log_segment
from deltaweb.delta.log.store import DataStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.file_check import FileCheck
from deltaweb.index.lacking_versions import LackingRun, lacking_versions
from deltaweb.table import DeltaTable

logger = logging.getLogger(__name__)

MAX_LOG_BYTES: Final = 256 << 20  # of a log that is replayed for one read that failed
LOOK_S: Final = 3.0  # at single files, after a read that has failed anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFiles:
    """What a check found of the data files of all versions.

    Attributes:
        num_partly: Versions that lack some of their files.
        num_gone: Versions that lack all of them.
        num_files: Data files that any of the versions has.
        num_spelled_otherwise: Files whose values of a partition column an optimization
            would respell; None without any.
        num_nested_changes: Commits of earlier releases that may have lost or exchanged
            nested values; None without any.
    """

    version: int
    num_versions: int
    num_complete: int
    num_partly: int
    num_gone: int
    num_files: int
    num_missing: int
    num_spelled_otherwise: IfKnown[int | None] = None
    num_nested_changes: IfKnown[int | None] = None

    @property
    def counts(self) -> dict[str, int]:
        """The numbers by their names, without the unknown ones."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: number for name, number in found.items() if number is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRead:
    """A read of a version that met a missing file.

    Attributes:
        missing: The path of the file.
        num_files: Files of the version.
        num_missing: Those of them that are known to be missing.
        is_exact: Whether all were looked for.
    """

    missing: str
    num_files: int
    num_missing: int
    is_exact: bool


def failed_read_of(job: Job) -> FailedRead | None:
    """Return the missing file that a finished job met; None of any other job."""
    found = job.result if job.state == Job.State.DONE else None
    if not isinstance(found, dict) or not isinstance(found.get("missing"), str):
        return None
    return from_json(FailedRead, found) if found["missing"] else None


def keep_check(table: Table, check: FileCheck, *, now: datetime) -> CheckedFiles:
    """Store what a listing of storage shows; return it as a job's result."""
    missing_files.store_check(table.id, check, now=now)
    partly = gone = 0
    num_nested = len(check.nested_changes)
    most = max((one.num_others for one in check.spelled), default=0)
    for row in check.missing.to_pylist():
        count = row["last_version"] - row["first_version"] + 1
        if row["num_missing"] < row["num_files"]:
            partly += count
        else:
            gone += count
    return CheckedFiles(
        version=check.version,
        num_versions=check.num_versions,
        num_complete=check.num_versions - partly - gone,
        num_partly=partly,
        num_gone=gone,
        num_files=check.num_paths,
        num_missing=check.num_missing,
        num_spelled_otherwise=most or None,
        num_nested_changes=num_nested or None,
    )


def keep_failed_read(
    table: Table,
    snapshot: Snapshot,
    opened: DeltaTable,
    error: DataFileMissingError,
    *,
    now: datetime,
) -> FailedRead:
    """Remember that versions lack a file; look for the others of this one a while."""
    paths = snapshot.files["path"].to_pylist()
    deadline_s = time.monotonic() + LOOK_S
    looked, missing = 0, {error.path: None}
    for path in paths:
        if time.monotonic() > deadline_s:
            break
        looked += 1
        if is_missing(opened.store, path):
            missing[path] = None
    is_exact = looked == len(paths)
    # The error may name the deletion vector of a file that is there itself.
    num_missing = max(len(missing.keys() & set(paths)), 1)
    here = LackingRun(
        first_version=snapshot.version,
        last_version=snapshot.version,
        num_files=len(paths),
        num_missing=num_missing,
        vacuum_version=None,
        path=error.path,
    )
    exact_at = snapshot.version if is_exact else None
    _keep_lacking(table, opened, here, [*missing], exact_at=exact_at, now=now)
    return FailedRead(
        missing=error.path,
        num_files=len(paths),
        num_missing=num_missing,
        is_exact=is_exact,
    )


def keep_missing(
    table: Table, opened: DeltaTable, error: VersionFilesMissingError
) -> None:
    """Remember the files that a comparison of rows has missed."""
    commit = table.commits.filter(version=error.version).first()
    here = LackingRun(
        first_version=error.version,
        last_version=error.version,
        num_files=(commit.num_files if commit else None) or len(error.paths),
        num_missing=len(error.paths),
        vacuum_version=None,
        path=error.paths[0],
    )
    now = timezone.now()
    _keep_lacking(table, opened, here, error.paths, exact_at=None, now=now)


def _keep_lacking(  # noqa: PLR0913 (each is a part of what was found)
    table: Table,
    opened: DeltaTable,
    here: LackingRun,
    paths: Sequence[str],
    *,
    exact_at: int | None,
    now: datetime,
) -> None:
    """Mark every version that needs some files; only one where the log is large.

    The others of such a table are found by a check of its files.
    """
    known = missing_files.missing_files_of(table, [here.first_version])
    before = known.get(here.first_version)
    here = replace(here, vacuum_version=before.vacuum_version if before else None)
    runs = [here]
    try:
        if (
            log_size_bytes(opened.store, load_log_segment(opened.store))
            <= MAX_LOG_BYTES
        ):
            runs = lacking_versions(opened, paths) or runs
    except DeltaError:  # of other versions: the one that was read is marked
        logger.info("The versions that need %s are not known.", here.path)
    missing_files.store_read(table.id, runs, exact_at=exact_at, now=now)


def look_again(table: Table, version: int, store: DataStore) -> None:
    """Forget what reads have missed of a version where the files are there again."""
    rows: list[MissingFiles] = list(missing_files.of_reads(table, version))
    paths = {row.path for row in rows if row.path}
    found = [path for path in paths if not is_missing(store, path)]
    if found:
        missing_files.forget_reads(table.id, found)


def is_missing(store: DataStore, path: str) -> bool:
    """Tell whether a data file is gone; where nobody may look, reading it says so."""
    try:
        return not store.has_data_file(path)
    except PathEscapesTableError:
        return False
