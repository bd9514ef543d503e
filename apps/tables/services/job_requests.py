"""Work on tables that touches storage for long: it is queued, and `tasks` does it."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.services import enqueue
from apps.tables.locations import check_allowed, parse_location
from apps.tables.models import Table
from apps.tables.services.roots import roots_for

FILE_CHECK_KIND: Final = "tables.check_files"
_VERSIONS: Final = ("version", "from", "to")  # parameters that are one
_COMMIT_FACTS: Final = (
    "version",
    "operation",
    "parameters",
    "metrics",
    "user_name",
    "engine_info",
    "num_added_files",
    "num_removed_files",
    "added_bytes",
)


def refresh_table(
    table: Table, *, now: datetime, requested_by: User | None = None
) -> Job:
    """Queue an index of the table's log; a queued or running one is returned."""
    return enqueue(
        kind="tables.index_log",
        title=f"Index {table.full_name}",
        parameters={"table_id": str(table.id)},
        subject_id=table.id,
        key=f"index:{table.id}",
        requested_by=requested_by,
        now=now,
    )


def refresh_anew(table: Table, *, now: datetime) -> Job:
    """Queue an index of a log that has just lost commits; no version tells of that.

    One that runs may have listed the log before: another comes after it.
    """
    job = refresh_table(table, now=now)
    if job.state != Job.State.RUNNING:
        return job
    return enqueue(
        kind=job.kind,
        title=job.title,
        parameters=job.parameters,
        subject_id=table.id,
        key=f"index:{table.id}:after:{job.id}",
        now=now,
    )


def request_file_check(
    table: Table, *, now: datetime, requested_by: User | None = None
) -> Job:
    """Queue a check of which data files of all versions storage holds.

    One that waits or runs is returned.
    """
    return enqueue(
        kind=FILE_CHECK_KIND,
        title=f"Check the files of {table.full_name}",
        parameters={"table_id": str(table.id)},
        subject_id=table.id,
        key=f"check-files:{table.id}",
        requested_by=requested_by,
        now=now,
    )


def request_check(*, location: str, now: datetime, requested_by: User) -> Job:
    """Queue a look at a location before it is registered.

    Raises:
        LocationInvalidError: If the text is no location.
        LocationNotAllowedError: If the user may not register from there.
    """
    where = parse_location(location)
    check_allowed(where, roots=roots_for(requested_by))
    return enqueue(
        kind="tables.check_location",
        title=f"Check {where}",
        parameters={"location": where},
        key=_key("check", str(requested_by.pk), where),
        requested_by=requested_by,
        now=now,
    )


def request_scan(*, root: str, now: datetime, requested_by: User) -> Job:
    """Queue the registration of every table below a folder.

    Raises:
        LocationInvalidError: If the text is no path.
        LocationNotAllowedError: If the user may not register from there.
    """
    where = parse_location(root)
    check_allowed(where, roots=roots_for(requested_by))
    return enqueue(
        kind="tables.scan_root",
        title=f"Scan {where}",
        parameters={"root": where},
        key=_key("scan", str(requested_by.pk), where),
        requested_by=requested_by,
        now=now,
    )


def request_samples(*, now: datetime, requested_by: User) -> Job:
    """Queue the making of the sample tables; a queued or running one is returned."""
    return enqueue(
        kind="tables.load_samples",
        title="Load the sample tables",
        key="samples",
        requested_by=requested_by,
        now=now,
    )


def request_preview(  # noqa: PLR0913 (each is one part of what is asked)
    table: Table,
    *,
    version: int,
    now: datetime,
    columns: Iterable[str] | None = None,
    predicate: str = "",
    limit: int | None = 50,
    offset: int = 0,
    requested_by: User | None = None,
) -> Job:
    """Queue rows of a version, every one where `limit` is None.

    Equal requests share one cached result.
    """
    parameters = {
        "version": version,
        "columns": None if columns is None else list(columns),
        "predicate": predicate,
        "limit": limit,
        "offset": offset,
    }
    verb = "Export" if limit is None else "Preview"
    work = _Work("tables.preview_rows", table, parameters)
    title = f"{verb} {table.full_name} at version {version}"
    return work.request(title, now=now, requested_by=requested_by)


def request_version_files(
    table: Table, *, version: int, now: datetime, requested_by: User | None = None
) -> Job:
    """Queue the file list of an older version; a finished one is its cache."""
    work = _Work("tables.list_version_files", table, {"version": version})
    title = f"List the files of {table.full_name} at version {version}"
    return work.request(title, now=now, requested_by=requested_by)


def request_file_diff(
    table: Table,
    *,
    parameters: dict[str, Any],
    now: datetime,
    requested_by: User | None = None,
) -> Job:
    """Queue the comparison of two versions' files; a finished one is its cache.

    Args:
        table: The table.
        parameters: As `tasks.diff_files` reads them; the table's id is added.
        now: The current time.
        requested_by: Who asked.
    """
    work = _Work("tables.diff_files", table, parameters)
    return work.request(
        f"Compare files of {_versions(work)}", now=now, requested_by=requested_by
    )


def request_row_diff(
    table: Table,
    *,
    parameters: dict[str, Any],
    now: datetime,
    requested_by: User | None = None,
) -> Job:
    """Queue the comparison of two versions' rows; a finished one is its cache.

    Args:
        table: The table.
        parameters: As `tasks.diff_rows` reads them; the table's id is added.
        now: The current time.
        requested_by: Who asked.
    """
    work = _Work("tables.diff_rows", table, parameters)
    return work.request(
        f"Compare rows of {_versions(work)}", now=now, requested_by=requested_by
    )


def request_profile(
    table: Table,
    *,
    version: int,
    column: Sequence[str],
    now: datetime,
    requested_by: User | None = None,
) -> Job:
    """Queue the profile of a column; a finished one is its cache.

    Args:
        table: The table.
        version: The version to read.
        column: Names from the top.
        now: The current time.
        requested_by: Who asked.
    """
    work = _profile(table, version, column)
    title = f"Profile {'.'.join(column)} of {table.full_name} at version {version}"
    return work.request(title, now=now, requested_by=requested_by)


def profile_key(table: Table, *, version: int, column: Sequence[str]) -> str:
    """Name the profile of a column: of this very table, at one version."""
    return _profile(table, version, column).key


def work_key(kind: str, table: Table, parameters: Mapping[str, Any]) -> str:
    """Name the work that a kind of job does with these parameters.

    Args:
        kind: The name of the task.
        table: The table.
        parameters: What the task reads; the table's id need not be among them.
    """
    return _Work(kind, table, parameters).key


@dataclass(frozen=True, slots=True)
class _Work:
    """What a task finds out about a table: a finished job of it is its cache.

    Attributes:
        kind: The name of the task.
        table: The table.
        parameters: What the task reads; the table's id is added.
    """

    kind: str
    table: Table
    parameters: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What equal work has in common.

        It is that of this very table: one that is made anew at the same place, or a row
        that points elsewhere now, asks for other work. So does a version that another
        commit has made since: a backup was put back, and the log went on from it.
        """
        place = (self.table.delta_id, self.table.location)
        return _key(self.kind, self._facts, *place, self._commits)

    @property
    def _commits(self) -> list[list[Any]]:
        """What is indexed of the commits that made the versions."""
        wanted = [
            self.parameters[name] for name in _VERSIONS if name in self.parameters
        ]
        commits = self.table.commits.filter(version__in=wanted).order_by("version")
        return [
            [at.isoformat(), *facts]
            for at, *facts in commits.values_list("committed_at", *_COMMIT_FACTS)
        ]

    @property
    def _facts(self) -> dict[str, Any]:
        return {"table_id": str(self.table.id), **self.parameters}

    def request(self, title: str, *, now: datetime, requested_by: User | None) -> Job:
        """Queue it, or return the job that does it or has done it."""
        return enqueue(
            kind=self.kind,
            title=title,
            parameters=self._facts,
            subject_id=self.table.id,
            key=self.key,
            requested_by=requested_by,
            now=now,
            reuse=True,
        )


def _profile(table: Table, version: int, column: Sequence[str]) -> _Work:
    parameters = {"version": version, "column": list(column)}
    return _Work("tables.profile_column", table, parameters)


def _versions(work: _Work) -> str:
    both = f"{work.parameters['from']} and {work.parameters['to']}"
    return f"{work.table.full_name}, versions {both}"


def _key(kind: str, *parts: object) -> str:
    """Name equal work equally, within the length of a key."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"
