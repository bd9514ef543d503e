"""Which versions lack data files: what is stored of it, and what hides what.

    LOG      what VACUUMs of the history have deleted; stored with each index
    LISTING  what storage holds of every version; each check replaces the one before
    READ     a read that met a missing file; holds until somebody finds the file there

A listing hides what the log says of the versions that it has checked, but for what a
later VACUUM has deleted; a later read adds to both. `Table.summary` and the commits
have what comes of it, so that pages need not ask.
"""

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from django.db import transaction

from apps.tables.models import MissingFiles, Table
from apps.tables.models.row_loading import insert_rows, stored_values
from apps.tables.versions.states import update_readability
from deltaweb.delta.log.versions import FILES_GONE, PARTLY, READABLE, ReadableRun
from deltaweb.index.file_check import FileCheck
from deltaweb.index.history.missing_files import MISSING_SCHEMA
from deltaweb.index.history.readability import (
    files_gone_reason,
    overlaid_runs,
    partly_reason,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from deltaweb.index.lacking_versions import LackingRun

LISTED_PARTLY: Final = "Some of its files are not in storage."
LISTED_GONE: Final = "None of its files is in storage."
READ_PARTLY: Final = "A read found that a file of it is not in storage."
_COLUMNS: Final = tuple(MISSING_SCHEMA.names)
_FIELDS: Final = (*_COLUMNS, "table", "is_exact", "source", "path", "found_at")

Runs = Sequence[Sequence[Any]]


# === What is known of a version ===


def missing_files_of(
    table: Table, versions: Collection[int]
) -> dict[int, MissingFiles]:
    """Return what each of some versions lacks; those that lack nothing are left out.

    Args:
        versions: Close to one another, as on a page.
    """
    if not versions:
        return {}
    rows = table.missing_files.filter(
        first_version__lte=max(versions), last_version__gte=min(versions)
    )
    found: dict[int, MissingFiles] = {}
    for row in sorted(rows, key=lambda row: (_rank(table, row), row.num_missing)):
        for version in versions:
            if row.first_version <= version <= row.last_version:
                found[version] = row
    return {
        version: row
        for version, row in found.items()
        if _rank(table, row) or not are_files_checked(table, version)
    }


def vacuum_version_of(table: Table, missing: MissingFiles) -> int | None:
    """Return the version of the VACUUM that has deleted all that a version lacks.

    A read may have found it before the VACUUM was indexed: the log's word counts too.
    """
    if missing.vacuum_version is not None:
        return missing.vacuum_version
    by_log = table.missing_files.filter(
        source=MissingFiles.Source.LOG,
        first_version__lte=missing.first_version,
        last_version__gte=missing.last_version,
        num_missing__gte=missing.num_missing,
    ).first()
    return by_log.vacuum_version if by_log else None


def lacking_versions(table: Table, limit: int) -> list[MissingFiles]:
    """Return runs of versions that lack files, ascending, at most this many."""
    rows = [
        row
        for row in table.missing_files.order_by("first_version")[:limit]
        if _rank(table, row) or not are_files_checked(table, row.first_version)
    ]
    return sorted(rows, key=lambda row: (row.first_version, row.last_version))


def are_files_checked(table: Table, version: int) -> bool:
    """Whether the newest listing of storage has looked for a version's files."""
    first, last = table.files_checked_first, table.files_checked_last
    return first is not None and last is not None and first <= version <= last


def _rank(table: Table, row: MissingFiles) -> int:
    """Return 0 for what a listing hides, and more for what hides others."""
    if row.source == MissingFiles.Source.READ:
        return 3
    if row.source == MissingFiles.Source.LISTING:
        return 1
    last = table.files_checked_last
    return 2 if last is not None and (row.vacuum_version or 0) > last else 0


# === What comes of it ===


def known_runs(table: Table, runs: Runs) -> list[list[Any]]:
    """Return the runs of a table's versions with what is known of their files.

    Args:
        runs: As an index, or `Table.summary`, has them.
    """
    rows = list(table.missing_files.all())
    by_rank = sorted(rows, key=lambda row: (_rank(table, row), row.is_nothing_left))
    layers = [_layer(row) for row in by_rank if not _rank(table, row)]
    if table.files_checked_first is not None and table.files_checked_last is not None:
        checked = (table.files_checked_first, table.files_checked_last)
        layers.append(ReadableRun(*checked, READABLE, ""))
    layers += [_layer(row) for row in by_rank if _rank(table, row)]
    known = overlaid_runs([ReadableRun(*run[:4]) for run in runs], layers)
    return [list(run) for run in known]


def _layer(row: MissingFiles) -> ReadableRun:
    first, last = row.first_version, row.last_version
    if row.is_nothing_left:
        reason = LISTED_GONE
        if row.vacuum_version is not None:
            reason = files_gone_reason(row.vacuum_version)
        return ReadableRun(first, last, FILES_GONE, reason)
    reason = LISTED_PARTLY
    if row.vacuum_version is not None:
        reason = partly_reason(row.vacuum_version)
    elif row.source == MissingFiles.Source.READ:
        reason = READ_PARTLY
    return ReadableRun(first, last, PARTLY, reason)


def _update_states(table: Table) -> None:
    """Bring runs and commits up to what is known now; to be called in a transaction."""
    runs = known_runs(table, table.summary.get("readable_runs", []))
    update_readability(table, runs)
    table.summary = {**table.summary, "readable_runs": runs}
    table.save(update_fields=["summary"])


# === Storing ===


def store_of_log(table: Table, missing: pa.Table, *, known: int, now: datetime) -> None:
    """Take over what an index says; to be called in a transaction.

    Args:
        table: The table, locked; its other fields are saved by the caller.
        missing: Rows of `MISSING_SCHEMA`.
        known: The newest commit that is still the one that findings are of; -1 where
            none is.
    """
    rows = list(table.missing_files.all())
    if any(row.last_version > known for row in rows):
        table.missing_files.filter(first_version__gt=known).delete()
        table.missing_files.filter(last_version__gt=known).update(last_version=known)
        rows = list(table.missing_files.all())
    if table.files_checked_last is not None and table.files_checked_last > known:
        _forget_check_after(table, known)
    source = MissingFiles.Source.LOG
    stored = [
        tuple(getattr(row, name) for name in _COLUMNS)
        for row in rows
        if row.source == source
    ]
    if stored != _rows(missing):
        table.missing_files.filter(source=source).delete()
        _insert(table, missing, source, now)


def _forget_check_after(table: Table, version: int) -> None:
    """Let the newest listing say nothing of versions that are others now."""
    table.files_checked_last = version
    if version < (table.files_checked_first or 0):
        table.files_checked_first = table.files_checked_last = None
        table.files_checked_at = None
    table.save(
        update_fields=["files_checked_first", "files_checked_last", "files_checked_at"]
    )


@transaction.atomic
def store_check(table_id: uuid.UUID, check: FileCheck, *, now: datetime) -> None:
    """Take over what a listing of storage shows; a table that is gone is skipped.

    Where the table was indexed at an older version, that is as far as it says.
    """
    table = Table.objects.select_for_update().filter(id=table_id).first()
    if table is None or table.version is None or check.first_version > table.version:
        return
    table.missing_files.exclude(source=MissingFiles.Source.LOG).delete()
    table.files_checked_at = now
    table.files_checked_first = check.first_version
    table.files_checked_last = min(check.version, table.version)
    table.save(
        update_fields=["files_checked_at", "files_checked_first", "files_checked_last"]
    )
    _insert(table, check.missing, MissingFiles.Source.LISTING, now)
    _update_states(table)


@transaction.atomic
def store_read(
    table_id: uuid.UUID,
    runs: "Sequence[LackingRun]",
    *,
    exact_at: int | None,
    now: datetime,
) -> None:
    """Remember that a read met missing files, of every version that needs them.

    What is known to be worse already stays as it is.

    Args:
        runs: The versions, ascending, and what they lack.
        exact_at: The version all of whose files were looked at; of any other at least
            so many are missing.
    """
    table = Table.objects.select_for_update().filter(id=table_id).first()
    if table is None or table.version is None or not runs:
        return
    source = MissingFiles.Source.READ
    rows = [
        MissingFiles(
            table=table,
            first_version=first,
            last_version=last,
            num_files=run.num_files,
            num_missing=run.num_missing,
            is_exact=first == last == exact_at,
            source=source,
            vacuum_version=run.vacuum_version,
            path=run.path,
            found_at=now,
        )
        for run in runs
        for first, last in _parts(run, exact_at, newest=table.version)
    ]
    known = _worst(table, rows)
    MissingFiles.objects.bulk_create(row for row in rows if not _is_known(row, known))
    _update_states(table)


def _parts(
    run: "LackingRun", exact_at: int | None, *, newest: int
) -> list[tuple[int, int]]:
    """Split a run at the version that was read; what is not indexed is left out."""
    first, last = run.first_version, min(run.last_version, newest)
    if exact_at is None or not first <= exact_at <= last:
        return [(first, last)] if first <= last else []
    parts = [(first, exact_at - 1), (exact_at, exact_at), (exact_at + 1, last)]
    return [(start, end) for start, end in parts if start <= end]


def _worst(table: Table, rows: Sequence[MissingFiles]) -> list[MissingFiles]:
    """Return what is known of versions of some rows, and not hidden by a listing."""
    if not rows:
        return []
    near = table.missing_files.filter(
        first_version__lte=rows[-1].last_version,
        last_version__gte=rows[0].first_version,
    )
    return [
        row
        for row in near
        if _rank(table, row) or not are_files_checked(table, row.first_version)
    ]


def _is_known(row: MissingFiles, known: Sequence[MissingFiles]) -> bool:
    """Whether one row tells of all versions of another that they lack as much."""
    return any(
        other.first_version <= row.first_version
        and other.last_version >= row.last_version
        and other.num_missing >= row.num_missing
        for other in known
    )


@transaction.atomic
def forget_reads(table_id: uuid.UUID, paths: Collection[str]) -> None:
    """Forget that reads have missed some files: they were found."""
    table = Table.objects.select_for_update().filter(id=table_id).first()
    if table is None:
        return
    reads = table.missing_files.filter(source=MissingFiles.Source.READ)
    if reads.filter(path__in=paths).delete()[0]:
        _update_states(table)


def of_reads(table: Table, version: int) -> "QuerySet[MissingFiles]":
    """Return what reads have found that a version lacks."""
    return table.missing_files.filter(
        source=MissingFiles.Source.READ,
        first_version__lte=version,
        last_version__gte=version,
    )


def _insert(
    table: Table, missing: pa.Table, source: MissingFiles.Source, now: datetime
) -> None:
    ids = stored_values(MissingFiles, "table", [table.id])
    times = stored_values(MissingFiles, "found_at", [now])
    rest = (*ids, True, source.value, "", *times)
    insert_rows(MissingFiles, _FIELDS, ((*row, *rest) for row in _rows(missing)))


def _rows(missing: pa.Table) -> list[tuple[Any, ...]]:
    columns = (missing[name].to_pylist() for name in _COLUMNS)
    return list(zip(*columns, strict=True))
