"""Work on tables that touches storage for long: it is queued, and `tasks` does it."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.services import enqueue
from apps.tables.locations import check_allowed, parse_location
from apps.tables.models import Table
from apps.tables.services.roots import roots_for


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
    parameters: dict[str, Any] = {
        "table_id": str(table.id),
        "version": version,
        "columns": None if columns is None else list(columns),
        "predicate": predicate,
        "limit": limit,
        "offset": offset,
    }
    verb = "Export" if limit is None else "Preview"
    return enqueue(
        kind="tables.preview_rows",
        title=f"{verb} {table.full_name} at version {version}",
        parameters=parameters,
        subject_id=table.id,
        key=work_key("tables.preview_rows", table, parameters),
        requested_by=requested_by,
        now=now,
        reuse=True,
    )


def request_version_files(
    table: Table, *, version: int, now: datetime, requested_by: User | None = None
) -> Job:
    """Queue the file list of an older version; a finished one is its cache."""
    parameters = {"table_id": str(table.id), "version": version}
    return enqueue(
        kind="tables.list_version_files",
        title=f"List the files of {table.full_name} at version {version}",
        parameters=parameters,
        subject_id=table.id,
        key=work_key("tables.list_version_files", table, parameters),
        requested_by=requested_by,
        now=now,
        reuse=True,
    )


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
    return _request_diff("tables.diff_files", table, parameters, now, requested_by)


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
    return _request_diff("tables.diff_rows", table, parameters, now, requested_by)


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
    parameters: dict[str, Any] = {
        "table_id": str(table.id),
        "version": version,
        "column": list(column),
    }
    return enqueue(
        kind="tables.profile_column",
        title=f"Profile {'.'.join(column)} of {table.full_name} at version {version}",
        parameters=parameters,
        subject_id=table.id,
        key=profile_key(table, version=version, column=column),
        requested_by=requested_by,
        now=now,
        reuse=True,
    )


def profile_key(table: Table, *, version: int, column: Sequence[str]) -> str:
    """Name the profile of a column: of this very table, at one version."""
    parts = (str(table.id), table.delta_id, table.location, version, list(column))
    return _key("profile", *parts)


def work_key(kind: str, table: Table, parameters: Mapping[str, Any]) -> str:
    """Name the work that a kind of job does with these parameters.

    It is that of this very table: one that is made anew at the same place, or a row
    that points elsewhere now, asks for other work.

    Args:
        kind: The name of the task.
        table: The table.
        parameters: What the task reads; the table's id need not be among them.
    """
    facts = {"table_id": str(table.id), **parameters}
    return _key(kind, facts, table.delta_id, table.location)


def _request_diff(
    kind: str,
    table: Table,
    parameters: dict[str, Any],
    now: datetime,
    requested_by: User | None,
) -> Job:
    what = "files" if kind == "tables.diff_files" else "rows"
    versions = f"{parameters['from']} and {parameters['to']}"
    parameters = {"table_id": str(table.id), **parameters}
    return enqueue(
        kind=kind,
        title=f"Compare {what} of {table.full_name}, versions {versions}",
        parameters=parameters,
        subject_id=table.id,
        key=work_key(kind, table, parameters),
        requested_by=requested_by,
        now=now,
        reuse=True,
    )


def _key(kind: str, *parts: object) -> str:
    """Name equal work equally, within the length of a key."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"
