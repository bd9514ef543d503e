"""Looking for new commits: two small questions to storage a table, while the app runs.

A log that was recreated or put back from a backup is recognised by the commit file of
the indexed version: by its size and time, where its version says nothing.

A table that answers is asked again as its schedule says; one that fails rests longer
each time.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from apps.tables.index.folders import index_folder
from apps.tables.index.refresh import refresh_table
from apps.tables.index.results import store_failure
from apps.tables.models import Table
from apps.tables.models.news import tell_changed
from apps.tables.models.schedules import ONLY_WHEN_ASKED_S, next_look
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.storage.received import asking, is_received
from deltaweb.delta.errors import DeltaError, LocationUnreachableError
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import FileStatus
from deltaweb.environment.outages import outages
from deltaweb.index.folder.file_index import SUMMARY
from deltaweb.index.folder.manifest import load_manifest
from deltaweb.storage.location import RECEIVED

BATCH: Final = 200  # tables claimed at once
TIME_LIMIT_S: Final = 30
CLOCK_STEP_MS: Final = 1000  # listings of some stores have times to the second only
_READ: Final = [
    "id",
    "namespace",
    "name",
    "location",
    "state",
    "version",
    "refresh_interval_s",
    "commit_file_bytes",
    "commit_file_ms",
    "probe_failures",
    "error_code",
    "fault_code",
]


def probe_tables(*, now: datetime) -> int:
    """Look at every table that is due; queue an index where there is something new.

    Those that others share are left to jobs of their own (`received_checks`).

    Returns:
        How many tables were looked at.
    """
    started, looked_at = time.monotonic(), 0
    while time.monotonic() - started < TIME_LIMIT_S:
        own = Table.objects.due_for_probe(now).exclude(location__startswith=RECEIVED)
        due = list(own.only(*_READ)[:BATCH])
        if not due:
            break
        probe_some(due, now=now)
        looked_at += len(due)
    return looked_at


def due_of(prefix: str, *, now: datetime) -> list[Table]:
    """Return some of the tables below a prefix that are due."""
    below = Table.objects.due_for_probe(now).filter(location__startswith=prefix)
    return list(below.only(*_READ)[:BATCH])


def probe_some(due: Sequence[Table], *, now: datetime) -> None:
    """Look at some tables."""
    _put_off(due, now)  # keeps other workers off; a second look does no harm
    _note_unchanged([table for table in due if _probe(table, now)], now)


@dataclass(frozen=True, slots=True)
class Look:
    """What two questions to storage show of a log.

    Attributes:
        version: Its newest version.
        commit: The commit file of the indexed version; None where the log has none, or
            where there are newer ones and no one has asked.
    """

    version: int
    commit: FileStatus | None = None


def look_at(table: Table) -> Look:
    """Ask for the newest version of a table's log, by the cheapest questions."""
    log = open_table(table, roots=roots_of_server())
    if table.version is None:
        return Look(log.latest_version())
    try:
        log.store.status(commit_name(table.version + 1))
    except FileNotFoundError:
        try:
            commit = log.store.status(commit_name(table.version))
        except FileNotFoundError:
            return Look(log.latest_version())
        return Look(table.version, commit)
    return Look(log.latest_version())


def _probe(table: Table, now: datetime) -> bool:
    """Look at one table; True when there is nothing to note but that it answered."""
    try:
        if is_received(table.location):
            with asking(table.location):
                look = look_at(table)
        else:
            look = look_at(table)
    except DeltaError as error:
        if isinstance(error, LocationUnreachableError):
            outages.began(_storage_of(table), error.message)
        store_failure(
            table.id, code=error.code, message=error.message, hint=error.hint, now=now
        )
        return False
    outages.ended(_storage_of(table))
    is_indexed = table.state in {Table.State.INDEXED, Table.State.UNSUPPORTED}
    is_same = look.version == table.version and not _is_another(look.commit, table)
    if is_indexed and is_same and not _may_be_mended(table):
        if look.commit is not None and table.commit_file_bytes is None:
            _note_commit(table, look.commit)
        return True
    Table.objects.filter(id=table.id).update(
        probed_at=now, latest_version_seen=look.version
    )
    tell_changed(table)
    _put_off([table], now, failures=table.probe_failures)
    refresh_table(table, now=now)
    return False


def _storage_of(table: Table) -> str:
    """Return the storage of a table, as lines about outages name it."""
    place = urlsplit(table.location)
    host = place.netloc.rpartition("@")[2]
    return f"storage {place.scheme}://{host}" if place.scheme else "storage"


def _may_be_mended(table: Table) -> bool:
    """Whether the fault of a table's log may be gone, by the names that the log has.

    Its words are found again by an index, too, where storage did not answer meanwhile.
    """
    if not table.fault_code:
        return False
    if table.error_code != table.fault_code:
        return True
    log = open_table(table, roots=roots_of_server())
    try:
        newest = log.readable_versions()[-1:]
        return bool(newest) and newest[0].last == log.latest_version()
    except DeltaError:
        return False  # the next look meets it again, and says so


def _is_another(commit: FileStatus | None, table: Table) -> bool:
    """Whether the commit file of the indexed version is not the one that was there."""
    if commit is None or table.commit_file_bytes is None:
        return False
    if commit.size != table.commit_file_bytes:
        return True
    known_ms, found_ms = table.commit_file_ms, commit.modification_time
    if not known_ms or not found_ms:  # of a store that has none
        return False
    return abs(found_ms - known_ms) >= CLOCK_STEP_MS


def _note_commit(table: Table, commit: FileStatus) -> None:
    """Keep what the next probes compare with, unless it was indexed again meanwhile."""
    Table.objects.filter(
        id=table.id, version=table.version, commit_file_bytes=None
    ).update(commit_file_bytes=commit.size, commit_file_ms=commit.modification_time)


def _put_off(tables: Sequence[Table], now: datetime, failures: int = 0) -> None:
    """Set when these are due next, unless somebody gave one another schedule just now.

    There are few schedules, and each takes one statement.
    """
    ids = [table.id for table in tables]
    for interval_s in {table.refresh_interval_s for table in tables}:
        due_at = next_look(interval_s, failures=failures, now=now)
        scheduled = Table.objects.filter(id__in=ids, refresh_interval_s=interval_s)
        scheduled.update(probe_due_at=due_at)


def _note_unchanged(tables: Sequence[Table], now: datetime) -> None:
    """Note in one statement that these answered, and forget what was wrong before.

    What is wrong with a log stays: storage that answers mends nothing of it.
    """
    Table.objects.filter(id__in=[table.id for table in tables]).update(
        probed_at=now, probe_failures=0
    )
    healed = [t.id for t in tables if t.error_code and not t.fault_code]
    Table.objects.filter(id__in=healed).update(
        error_code="", error="", error_hint="", error_since=None
    )


def refresh_corrupt_indexes(*, now: datetime) -> int:
    """Queue an index of every table whose own is not there as it was written.

    A machine that goes down leaves such. Pages and recipients read the log instead,
    which takes them longer, until there is a new commit; of a table that rests there
    may be none for long.

    Sizes are compared, and no file is read. Tables that cannot be read, and those that
    are only indexed when somebody asks for it, are left.

    Returns:
        How many were queued.
    """
    indexed = Table.objects.exclude(index_name="").filter(error_code="")
    wanted = indexed.exclude(refresh_interval_s=ONLY_WHEN_ASKED_S)
    names = wanted.only("id", "namespace", "name", "index_name").order_by("id")
    corrupt = [table for table in names.iterator() if _is_corrupt(table)]
    for table in corrupt:
        refresh_table(table, now=now)
    return len(corrupt)


def _is_corrupt(table: Table) -> bool:
    folder = index_folder(table)
    if folder is None:
        return False
    manifest = load_manifest(folder)
    if manifest is None:  # of before there were manifests
        return not (folder / SUMMARY).is_file()
    return not manifest.has_sizes()
