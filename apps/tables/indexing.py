"""From an index folder to the database: what pages read of a table.

A page sees the old index or the new one, never a mix: all rows change in one
transaction, and an index folder is removed only after that.
"""

import shutil
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q

from apps.tables.index_folders import INDEX_FORMAT, remove_other_indexes
from apps.tables.index_rows import (
    columns_of,
    commit_of,
    metadata_of,
    moment,
    protocol_of,
)
from apps.tables.models import (
    Commit,
    MetadataVersion,
    ProtocolVersion,
    Table,
    TableColumn,
)
from deltaweb.index.file_index import COMMITS, METADATA, PROTOCOLS, read_batches
from deltaweb.index.index_result import FAILED, IndexResult
from deltaweb.index.stored_values import clean_text

INSERT_BATCH: Final = 500
MAX_BACKOFF_S: Final = 3600


# === Failure ===


def backoff(failures: int) -> timedelta:
    """How long a table rests after so many failures in a row."""
    interval_s = settings.PROBE_INTERVAL_S
    longest_s = max(interval_s, MAX_BACKOFF_S)
    return timedelta(seconds=min(interval_s * 2 ** min(failures, 20), longest_s))


def store_failure(
    table_id: uuid.UUID, *, code: str, message: str, hint: str, now: datetime
) -> None:
    """Note that a table could not be read; what was indexed before stays."""
    with transaction.atomic():
        table = Table.objects.select_for_update().filter(id=table_id).first()
        if table is None:
            return
        table.probe_failures += 1
        table.probe_due_at = now + backoff(table.probe_failures)
        if table.error_since is None:
            table.error_since = now
        table.error_code = code[:64]
        table.error, table.error_hint = clean_text(message), clean_text(hint)
        if table.state == Table.State.NEW:
            table.state = Table.State.FAILED
        table.save(
            update_fields=[
                "probe_failures",
                "probe_due_at",
                "error_since",
                "error_code",
                "error",
                "error_hint",
                "state",
            ]
        )


# === Success ===


def store_index(table: Table, result: IndexResult, *, now: datetime) -> None:
    """Make an index the one that pages read.

    Commits never change, so those that are stored are kept and newer ones are added;
    all are replaced where the log is not the one that was indexed before. What the
    log has lost stays in the history.

    Args:
        table: The table; a removed one is passed over and its folder removed.
        result: A result with a folder.
        now: The current time.
    """
    folder = Path(result.folder)
    with transaction.atomic():
        current = Table.objects.select_for_update().filter(id=table.id).first()
        if current is not None:
            _store_rows(current, result, folder)
            _store_summary(current, result, folder, now)
    if current is None:
        shutil.rmtree(folder.parent, ignore_errors=True)
        return
    table.refresh_from_db()
    remove_other_indexes(table.id, keep=folder.name)


def store_result(table: Table, result: IndexResult, *, now: datetime) -> None:
    """Store an index, or the failure to make one; a broken end of a log is both.

    What is indexed already is not replaced by an earlier version of the same log.
    """
    if result.state != FAILED and not _has_as_much(table, result):
        store_index(table, result, now=now)
    elif result.folder:
        shutil.rmtree(result.folder, ignore_errors=True)
    if result.state == FAILED or result.is_broken:
        store_failure(
            table.id,
            code=result.error_code,
            message=result.error,
            hint=result.error_hint,
            now=now,
        )


def _has_as_much(table: Table, result: IndexResult) -> bool:
    """Whether the index of a broken log brings nothing that the stored one lacks."""
    if not result.is_broken or table.version is None or result.version is None:
        return False
    return table.delta_id == result.delta_id and table.version >= result.version


def _store_rows(table: Table, result: IndexResult, folder: Path) -> None:
    known = _last_known_version(table, result, folder)
    if known is None:
        for model in (Commit, MetadataVersion, ProtocolVersion):
            model.objects.filter(table=table).delete()
        known = -1
    for rows in _rows_after(folder, COMMITS, known):
        Commit.objects.bulk_create(
            [commit_of(table, row) for row in rows], batch_size=INSERT_BATCH
        )
    newest = None
    for rows in _rows_after(folder, METADATA, known):
        MetadataVersion.objects.bulk_create(
            [metadata_of(table, row) for row in rows], batch_size=INSERT_BATCH
        )
        newest = rows[-1]
    for rows in _rows_after(folder, PROTOCOLS, known):
        ProtocolVersion.objects.bulk_create(
            [protocol_of(table, row) for row in rows], batch_size=INSERT_BATCH
        )
    _store_readability(table, result)
    if newest is not None:
        _store_columns(table, newest["schema_string"])


def _last_known_version(table: Table, result: IndexResult, folder: Path) -> int | None:
    """The newest stored version, if the stored history is the start of the new one."""
    is_same_log = (
        table.index_name.startswith(f"{INDEX_FORMAT}-")
        and table.delta_id == result.delta_id
        and result.version is not None
    )
    newest = table.commits.order_by("-version").first() if is_same_log else None
    if newest is None:
        return None
    for rows in read_batches(folder, COMMITS):
        for row in rows:
            if row["version"] == newest.version:
                same = commit_of(table, row)
                facts = ("committed_at", "operation", "metrics", "num_added_files")
                equal = all(getattr(same, f) == getattr(newest, f) for f in facts)
                return newest.version if equal else None
    return None


def _rows_after(
    folder: Path, name: str, version: int
) -> Iterator[list[dict[str, Any]]]:
    for rows in read_batches(folder, name):
        newer = [row for row in rows if row["version"] > version]
        if newer:
            yield newer


def _store_readability(table: Table, result: IndexResult) -> None:
    """Bring older commits up to date: a VACUUM or a cleaning changed their state."""
    newest = table.commits.aggregate(newest=Max("version"))["newest"]
    for first, last, state, reason in result.summary.get("readable_runs", []):
        if newest is None or first > newest:
            break
        other = ~Q(readability=state) | ~Q(readability_reason=reason[:300])
        table.commits.filter(other, version__gte=first, version__lte=last).update(
            readability=state, readability_reason=reason[:300]
        )


def _store_columns(table: Table, schema_string: str) -> None:
    table.columns.all().delete()
    TableColumn.objects.bulk_create(
        columns_of(table, schema_string), batch_size=INSERT_BATCH
    )


def _store_summary(
    table: Table, result: IndexResult, folder: Path, now: datetime
) -> None:
    newest = table.metadata_versions.order_by("-version").first()
    table.comment = newest.description if newest else ""
    table.state = result.state
    table.version = table.latest_version_seen = result.version
    table.committed_at = moment(result.committed_at_ms or 0)
    table.indexed_at = table.probed_at = now
    table.index_name = folder.name
    table.delta_id = result.delta_id[:200]
    table.num_files = result.num_files
    table.size_bytes = result.size_bytes
    table.num_records = result.num_records
    table.num_tombstones = result.num_tombstones
    table.num_columns = result.num_columns
    table.partition_columns = result.partition_columns
    table.summary = result.summary
    table.probe_failures = 0
    table.probe_due_at = now + timedelta(seconds=settings.PROBE_INTERVAL_S)
    table.error_code = table.error = table.error_hint = ""
    table.error_since = None
    table.save(update_fields=_INDEX_FIELDS)


_INDEX_FIELDS: Final = [
    "comment",
    "state",
    "version",
    "latest_version_seen",
    "committed_at",
    "indexed_at",
    "probed_at",
    "index_name",
    "delta_id",
    "num_files",
    "size_bytes",
    "num_records",
    "num_tombstones",
    "num_columns",
    "partition_columns",
    "summary",
    "probe_failures",
    "probe_due_at",
    "error_code",
    "error",
    "error_hint",
    "error_since",
]
