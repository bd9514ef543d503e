"""Looking for new commits: two small questions to storage a table, while the app runs.

A table that fails rests longer each time; one that answers is asked every
`DELTAWEB_PROBE_INTERVAL_S` seconds.
"""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from apps.tables.indexing import backoff, store_failure
from apps.tables.models import Table
from apps.tables.opening import open_table, roots_of_server
from apps.tables.services import refresh_table
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log_path import commit_name

BATCH: Final = 200  # tables claimed at once
TIME_LIMIT_S: Final = 30
_READ: Final = [
    "id",
    "namespace",
    "name",
    "location",
    "state",
    "version",
    "probe_failures",
    "error_code",
]


def probe_tables(*, now: datetime) -> int:
    """Look at every table that is due; queue an index where there is something new.

    Returns:
        How many tables were looked at.
    """
    started, looked_at = time.monotonic(), 0
    while time.monotonic() - started < TIME_LIMIT_S:
        due = list(Table.objects.due_for_probe(now).only(*_READ)[:BATCH])
        if not due:
            break
        _claim(due, now)
        unchanged = [table for table in due if _probe(table, now)]
        looked_at += len(due)
        _note_unchanged(unchanged, now)
    return looked_at


def newest_version(table: Table) -> int:
    """The newest version of a table's log, by the cheapest question that tells.

    Raises:
        DeltaError: If the log cannot be read.
    """
    log = open_table(table, roots=roots_of_server())
    if table.version is None:
        return log.latest_version()
    try:
        log.store.status(commit_name(table.version + 1))
    except FileNotFoundError:
        try:
            log.store.status(commit_name(table.version))
        except FileNotFoundError:
            return log.latest_version()
        return table.version
    return log.latest_version()


def _probe(table: Table, now: datetime) -> bool:
    """Look at one table; True when there is nothing to note but that it answered."""
    try:
        newest = newest_version(table)
    except DeltaError as error:
        store_failure(
            table.id, code=error.code, message=error.message, hint=error.hint, now=now
        )
        return False
    is_indexed = table.state in {Table.State.INDEXED, Table.State.UNSUPPORTED}
    if is_indexed and newest == table.version:
        return True
    Table.objects.filter(id=table.id).update(
        probed_at=now,
        latest_version_seen=newest,
        probe_due_at=now + backoff(table.probe_failures),
    )
    refresh_table(table, now=now)
    return False


def _claim(tables: Sequence[Table], now: datetime) -> None:
    """Keep other workers off; a probe that is done twice does no harm."""
    due_at = now + timedelta(seconds=settings.PROBE_INTERVAL_S)
    ids = [table.id for table in tables]
    Table.objects.filter(id__in=ids).update(probe_due_at=due_at)


def _note_unchanged(tables: Sequence[Table], now: datetime) -> None:
    """Note in one statement that these answered, and forget what was wrong before."""
    Table.objects.filter(id__in=[table.id for table in tables]).update(
        probed_at=now, probe_failures=0
    )
    healed = [table.id for table in tables if table.error_code]
    Table.objects.filter(id__in=healed).update(
        error_code="", error="", error_hint="", error_since=None
    )
