"""From an index folder to the database: what pages read of a table.

A page sees the old index or the new one, never a mix: all rows change in one
transaction, and an index folder is removed only after that.
"""

import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.db import transaction

from apps.notices.events import emit_all
from apps.tables.extension.indexed import follow_index
from apps.tables.index.folders import begun_at_ms, remove_other_indexes
from apps.tables.index.history import IndexedHistory, open_history
from apps.tables.index.rows import moment
from apps.tables.index.stored_history import load_ahead, store_history
from apps.tables.index.version_events import version_events
from apps.tables.models import Table
from apps.tables.models.news import table_revision, tell_changed
from apps.tables.models.schedules import next_look
from deltaweb.index.files.source import load_source
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.index.folder.result import FAILED, IndexResult
from deltaweb.index.history.stored_values import bounded_text

MAX_FAULT: Final = 300

# === Failure ===


def store_failure(  # noqa: PLR0913 (each is a column)
    table_id: uuid.UUID,
    *,
    code: str,
    message: str,
    hint: str,
    now: datetime,
    fault: str = "",
) -> None:
    """Note that a table could not be read; what was indexed before stays.

    What follows an index follows a new fault of the log, too.

    Args:
        fault: What of its log is wrong, in words; "" where something else is.
    """
    with transaction.atomic():
        table = Table.objects.select_for_update().filter(id=table_id).first()
        if table is None:
            return
        is_new_fault = bool(fault) and table.fault != fault[:MAX_FAULT]
        failures = table.probe_failures + 1
        values: dict[str, Any] = {
            "probe_failures": failures,
            "probe_due_at": next_look(
                table.refresh_interval_s, failures=failures, now=now
            ),
            "error_since": table.error_since or now,
            "error_code": code[:64],
            "error": bounded_text(message),
            "error_hint": bounded_text(hint),
        }
        if table.state == Table.State.NEW:
            values["state"] = Table.State.FAILED
        if fault:
            values |= {"fault": fault[:MAX_FAULT], "fault_code": values["error_code"]}
        _save(table, values)
    if is_new_fault:
        follow_index(table, now=now)


# === Success ===


def store_index(table: Table, result: IndexResult, *, now: datetime) -> None:
    """Make an index the one that pages read.

    What follows an index waits for the fault of a broken log.

    Args:
        table: The table; a removed one is skipped and its folder removed, and so
            is an index that is older than the stored one.
    """
    folder = Path(result.folder)
    try:
        history = open_history(folder, result)
        load_ahead(table, history)
        is_stored = _store(table, history, folder, now)
    except IndexMissingError:
        # Whoever stores an index removes the folders of all others.
        current = Table.objects.filter(id=table.id).first()
        if current is not None and not _is_outdated(current, result, folder.name, now):
            raise
        is_stored = False
    if is_stored:
        table.refresh_from_db()
        remove_other_indexes(table.id, keep=folder.name)
        if not result.is_broken:
            follow_index(table, now=now)
    elif Table.objects.filter(id=table.id).exists():
        shutil.rmtree(folder, ignore_errors=True)
    else:
        shutil.rmtree(folder.parent, ignore_errors=True)


@transaction.atomic
def _store(table: Table, history: IndexedHistory, folder: Path, now: datetime) -> bool:
    """Store an index; False where the table is gone or has a newer one."""
    current = Table.objects.select_for_update().filter(id=table.id).first()
    if current is None or _is_outdated(current, history.result, folder.name, now):
        return False
    events = version_events(current, history)
    runs = store_history(current, history, now=now)
    summary = {**history.result.summary, "readable_runs": runs}
    _store_summary(current, replace(history.result, summary=summary), folder, now)
    emit_all(events, now=now)
    return True


def _is_outdated(
    current: Table, result: IndexResult, index_name: str, now: datetime
) -> bool:
    """Whether another worker has stored an index that was begun after this one.

    A worker that lost its lease, and does not know it yet, must not put an older
    index in place of a newer one. What was begun in the future proves nothing: a clock
    was wrong.
    """
    stored_ms, own_ms = begun_at_ms(current.index_name), begun_at_ms(index_name)
    if stored_ms is None or own_ms is None or current.version is None:
        return False
    if not own_ms < stored_ms <= now.timestamp() * 1000:
        return False
    return result.version is None or result.version <= current.version


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
            fault=result.fault,
        )


def _has_as_much(table: Table, result: IndexResult) -> bool:
    """Whether the index of a broken log brings nothing that the stored one lacks."""
    if not result.is_broken or table.version is None or result.version is None:
        return False
    known = table.metadata_versions.filter(version__lte=result.version).first()
    is_same_log = known is not None and known.metadata_id == result.delta_id[:200]
    return is_same_log and table.version >= result.version


_FACTS: Final = (
    "state",
    "version",
    "num_files",
    "size_bytes",
    "num_records",
    "num_tombstones",
    "num_columns",
    "partition_columns",
    "summary",
)
"""What a result and a table have by the same names."""


def _store_summary(
    table: Table, result: IndexResult, folder: Path, now: datetime
) -> None:
    newest = table.metadata_versions.order_by("-version").first()
    commits = table.commits.filter(version__in=[result.version])  # empty for None
    commit = commits.only("user_name").first()
    protocol = table.protocol_versions.first()
    commit_bytes, commit_ms = _commit_file(table, result, folder)
    values = {
        **{name: getattr(result, name) for name in _FACTS},
        "comment": newest.description if newest else "",
        "last_writer": commit.user_name if commit else "",
        "features": protocol.writer_features or [] if protocol else [],
        "latest_version_seen": result.version,
        "committed_at": moment(result.committed_at_ms or 0),
        "indexed_at": now,
        "index_name": folder.name,
        "delta_id": result.delta_id[:200],
        "commit_file_bytes": commit_bytes,
        "commit_file_ms": commit_ms,
        "probed_at": now,
        "probe_failures": 0,
        "probe_due_at": next_look(table.refresh_interval_s, now=now),
        "error_code": "",
        "error": "",
        "error_hint": "",
        "error_since": None,
        "fault": "",
        "fault_code": "",
    }
    _save(table, values)


def _commit_file(
    table: Table, result: IndexResult, folder: Path
) -> tuple[int | None, int | None]:
    """Return size and time of the commit file that probes compare with what they find.

    Where the version is the one that was indexed before, the next probe notes it: what
    storage says of one file may differ from its listing, and would be taken for a
    change again and again.
    """
    if table.version != result.version or result.is_rewritten:
        with suppress(IndexMissingError):  # of deletion vectors, or of a broken log
            source = load_source(folder)
            return source.commit_size, source.commit_time_ms
    return None, None


def _save(table: Table, values: Mapping[str, Any]) -> None:
    """Set some fields of a table, and write these alone; pages hear what they show."""
    shown = table_revision(table)
    for name, value in values.items():
        setattr(table, name, value)
    table.save(update_fields=values)
    if table_revision(table) != shown:
        tell_changed(table)
