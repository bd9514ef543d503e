"""What users ask of the catalogue: register, scan, rename, describe, refresh, remove.

The work that touches storage for long is queued as a job; its tasks are in `tasks`.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.services import enqueue
from apps.tables import guards
from apps.tables.errors import (
    TableInUseError,
    TableNameTakenError,
    TableNotRegisteredError,
)
from apps.tables.locations import check_allowed, parse_location
from apps.tables.models import AllowedRoot, Table
from apps.tables.names import TableName, name_from_path, parse_table_name, with_suffix
from apps.tables.scan import ScanResult, find_tables
from deltaweb.samples import make_samples

SAMPLES_FOLDER = "samples"
SCAN_BATCH = 100  # tables a transaction: the database is never held for long
MAX_SIMILAR = 3  # names that a refusal of a name offers


# === Roots ===


def allow_root(path: str, *, reason: str, now: datetime) -> AllowedRoot:
    """Allow a folder for good, whatever `DELTAWEB_ALLOWED_ROOTS` says (LAKE)."""
    root, _ = AllowedRoot.objects.update_or_create(
        path=str(Path(path).resolve()),
        defaults={"reason": reason},
        create_defaults={"reason": reason, "created_at": now},
    )
    return root


def samples_folder() -> Path:
    """Return the folder of the sample tables."""
    return Path(settings.HOME) / SAMPLES_FOLDER


def roots_for(user: User | None) -> list[str] | None:
    """Return the folders that `user` may register from; None is any.

    Where `DELTAWEB_ALLOWED_ROOTS` is not set, administrators and the command line
    (no user) may register any path; editors what LAKE and the samples hold.
    """
    if settings.ALLOWED_ROOTS is None and (user is None or user.is_admin):
        return None
    stored = AllowedRoot.objects.order_by("path").values_list("path", flat=True)
    return [*(settings.ALLOWED_ROOTS or []), *stored, str(samples_folder())]


# === Registering ===


@transaction.atomic
def register_table(  # noqa: PLR0913 (each is one fact of the table)
    *,
    name: str | TableName,
    location: str,
    now: datetime,
    description: str = "",
    restricted: bool = False,
    created_by: User | None = None,
) -> Table:
    """Add a table to the catalogue and queue its first index.

    Nothing is read here: `checks.check_location` says what is at the location.

    Raises:
        TableNameError: If the name breaks the rules of names.
        TableNameTakenError: If another table has it.
        LocationInvalidError: If the location is none.
        LocationNotAllowedError: If the user may not register from there.
    """
    parsed = parse_table_name(name) if isinstance(name, str) else name
    where = parse_location(location)
    check_allowed(where, roots=roots_for(created_by))
    _check_free(parsed)
    table = Table(
        namespace=parsed.namespace,
        name=parsed.name,
        location=where,
        description=description,
        restricted=restricted,
        created_at=now,
        created_by=created_by,
        probe_due_at=now,
    )
    _save_named(table, parsed)
    refresh_table(table, requested_by=created_by, now=now)
    return table


@dataclass(slots=True, kw_only=True)
class ScanReport:
    """What a scan did.

    Attributes:
        registered: New tables, in the order of their paths.
        known: Tables whose location was registered before.
        renamed: New tables that had to take another name, with the one they lost.
        unreadable: Folders that could not be listed.
        truncated: Whether a bound ended the scan early.
    """

    root: str
    registered: list[Table] = field(default_factory=list)
    known: list[Table] = field(default_factory=list)
    renamed: list[tuple[Table, str]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    truncated: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON, for a job's result and for commands."""
        return {
            "root": self.root,
            "num_registered": len(self.registered),
            "num_known": len(self.known),
            "registered": [
                {"name": table.full_name, "location": table.location}
                for table in self.registered
            ],
            "known": [table.full_name for table in self.known],
            "renamed": [
                {"wanted": wanted, "name": table.full_name, "location": table.location}
                for table, wanted in self.renamed
            ],
            "unreadable": self.unreadable,
            "truncated": self.truncated,
        }


def scan_root(
    *, root: str, now: datetime, created_by: User | None = None
) -> ScanReport:
    """Register every Delta table below a local folder that is not registered yet.

    Raises:
        LocationInvalidError: If `root` is no path.
        LocationNotAllowedError: If the user may not register from there.
        ScanRootError: If the folder cannot be scanned.
    """
    where = parse_location(root)
    check_allowed(where, roots=roots_for(created_by))
    return register_found(find_tables(where), now=now, created_by=created_by)


def register_found(
    found: ScanResult, *, now: datetime, created_by: User | None = None
) -> ScanReport:
    """Register the tables that a scan found."""
    report = ScanReport(
        root=str(found.root), unreadable=found.unreadable, truncated=found.truncated
    )
    taken = set(Table.objects.values_list("namespace", "name"))
    by_location = {table.location: table for table in Table.objects.defer("summary")}
    roots = roots_for(created_by)
    for start in range(0, len(found.tables), SCAN_BATCH):
        with transaction.atomic():
            for parts in found.tables[start : start + SCAN_BATCH]:
                location = str(found.root.joinpath(*parts))
                if known := by_location.get(location):
                    report.known.append(known)
                    continue
                wanted = name_from_path(parts or (found.root.name or "table",))
                name = _free_name(wanted, taken)
                taken.add((name.namespace, name.name))
                check_allowed(location, roots=roots)
                table = register_table(
                    name=name, location=location, now=now, created_by=created_by
                )
                report.registered.append(table)
                if name != wanted:
                    report.renamed.append((table, str(wanted)))
    return report


def load_samples(*, now: datetime, created_by: User | None = None) -> list[Table]:
    """Make the sample tables that are missing and register those that are not.

    A sample whose name another table has taken gets a numbered name.
    """
    tables = []
    for sample in make_samples(samples_folder(), now):
        table = Table.objects.filter(location=sample.location).first()
        if table is None:
            taken = set(Table.objects.values_list("namespace", "name"))
            name = _free_name(TableName(sample.namespace, sample.name), taken)
            table = register_table(
                name=name, location=sample.location, now=now, created_by=created_by
            )
        tables.append(table)
    return tables


# === Changing ===


@transaction.atomic
def rename_table(table: Table, *, name: str) -> Table:
    """Give a table another name; its address changes with it.

    Raises:
        TableNameError: If the name breaks the rules of names.
        TableNameTakenError: If another table has it.
    """
    parsed = parse_table_name(name)
    if (table.namespace, table.name) == (parsed.namespace, parsed.name):
        return table
    _check_free(parsed)
    table.namespace, table.name = parsed.namespace, parsed.name
    _save_named(table, parsed, update_fields=["namespace", "name"])
    return table


def describe_table(table: Table, *, description: str, restricted: bool) -> Table:
    """Set what people read of a table and who may see it."""
    table.description = description.strip()
    table.restricted = restricted
    table.save(update_fields=["description", "restricted"])
    return table


@transaction.atomic
def remove_table(table: Table, *, now: datetime) -> None:
    """Take a table out of the catalogue; its own files are never touched.

    Raises:
        TableInUseError: If something still uses it, such as a share.
    """
    check_removable(table)
    index_folder = Path(settings.HOME) / "index" / str(table.id)
    active = Job.objects.active().filter(subject_id=table.id)
    active.filter(cancel_requested_at=None).update(cancel_requested_at=now)
    active.filter(state=Job.State.QUEUED).update(
        state=Job.State.CANCELLED, finished_at=now
    )
    table.delete()
    transaction.on_commit(lambda: shutil.rmtree(index_folder, ignore_errors=True))


def check_removable(table: Table) -> None:
    """Refuse while something still uses the table.

    Raises:
        TableInUseError: Naming what uses it, such as a share.
    """
    if users := guards.users_of(table):
        raise TableInUseError(name=table.full_name, users=users)


def find_table(name: str) -> Table:
    """Return the table that the command line names.

    Raises:
        TableNameError: If the text is no name.
        TableNotRegisteredError: If there is none.
    """
    parsed = parse_table_name(name)
    table = Table.objects.filter(namespace=parsed.namespace, name=parsed.name).first()
    if table is None:
        others = Table.objects.filter(name=parsed.name)[:MAX_SIMILAR]
        raise TableNotRegisteredError(
            name=name, similar=[other.full_name for other in others]
        )
    return table


# === Jobs ===


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
        key=_key("preview", parameters, table.location),
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
        key=_key("files", parameters, table.location),
        requested_by=requested_by,
        now=now,
        reuse=True,
    )


def _key(kind: str, *parts: object) -> str:
    """Name equal work equally, within the length of a key."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"


# === Names ===


def _check_free(name: TableName) -> None:
    taken = Table.objects.filter(namespace=name.namespace, name=name.name).first()
    if taken is not None:
        raise TableNameTakenError(name=str(name), location=taken.location)


def _save_named(
    table: Table, name: TableName, update_fields: list[str] | None = None
) -> None:
    """Save; the database has the last word where two ask for one name at once."""
    try:
        with transaction.atomic():
            table.save(update_fields=update_fields)
    except IntegrityError as error:
        raise TableNameTakenError(
            name=str(name), location="another location"
        ) from error


def _free_name(wanted: TableName, taken: set[tuple[str, str]]) -> TableName:
    """Return `wanted`, or the first of its numbered variants that is free."""
    name, number = wanted, 1
    while (name.namespace, name.name) in taken:
        number += 1
        name = with_suffix(wanted, number)
    return name
