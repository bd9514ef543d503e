"""A scan of a lake: its tables are registered, and those that vanished are marked."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django.db import transaction

from apps.accounts.models import User
from apps.news.publishing import publish
from apps.pages.actions import Stamp, report
from apps.tables.catalogue.lakes.services import lake_action
from apps.tables.catalogue.scanning import (
    SCAN_BATCH,
    Registration,
    ScanReport,
    Seen,
)
from apps.tables.models import Lake, Table
from apps.tables.models.news import LAKES, TABLES
from apps.tables.models.rights import is_open
from apps.tables.models.schedules import next_look
from apps.tables.storage.finding import find_tables
from apps.tables.storage.roots import check_scanned
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.objects.scan import FoundTables

SCANNED: Final = (
    *("scanned_at", "failures", "scan_due_at", "num_tables", "num_folders"),
    *("num_unreadable", "is_truncated", "error_code", "error", "error_hint"),
)
REGISTER_S: Final = 1.0
"""Seconds between two transactions that register what was found so far."""
IDS_A_STATEMENT: Final = 500  # databases bound the parameters of one


def scan_lake(  # noqa: PLR0913  # each is one fact of the scan
    lake: Lake,
    *,
    asked_by: User | None = None,
    stamp: Stamp,
    is_asked: bool = False,
    on_progress: Seen = lambda *_: None,
    clock: Callable[[], float] = time.monotonic,
) -> ScanReport:
    """Look for the tables of a lake, and keep with it how that ended.

    Tables are registered while the scan is looking for more.

    Args:
        asked_by: Who asked; None for its schedule and the command line.
        is_asked: Whether somebody asks for it: tables come back that were removed.
        on_progress: Told what is being done, and how far it is; what it raises ends
            the scan.
        clock: Returns seconds.
    """
    lake.refresh_from_db()
    if is_asked:
        lake.removed = []
        lake.save(update_fields=["removed"])
    try:
        check_scanned(lake.url, asked_by or lake.owner)
        registration = Registration(
            lake.url,
            lake=lake,
            created_by=asked_by or lake.owner,
            stamp=stamp,
            on_progress=on_progress,
        )
        looking = _looking(registration, on_progress, clock)
        found = find_tables(lake.url, on_progress=looking)
    except DeltaError as error:
        _note_failure(lake, error, now=stamp.at)
        raise
    registered = registration.finish(found)
    _note_end(lake, registered, stamp=stamp)
    return registered


def _looking(
    registration: Registration, on_progress: Seen, clock: Callable[[], float]
) -> Callable[[FoundTables], None]:
    """Return what tells how far a scan is, and registers what it has found.

    The first tables are registered at once.
    """
    due_at = clock()

    def tell(found: FoundTables) -> None:
        nonlocal due_at
        # Threads append to the list meanwhile; it is sorted at the end.
        num_found = len(found.tables)
        tables = "table" if num_found == 1 else "tables"
        unit = f"{tables} in {found.num_folders:,} folders"
        on_progress("Looking for tables", num_found, None, unit)
        new = found.tables[registration.num_done : num_found][:SCAN_BATCH]
        if new and (clock() >= due_at or len(new) == SCAN_BATCH):
            registration.take(found, sorted(new))
            due_at = clock() + REGISTER_S

    return tell


@transaction.atomic
def _note_end(lake: Lake, registered: ScanReport, *, stamp: Stamp) -> None:
    gone, back = _mark(lake, registered, now=stamp.at)
    registered.vanished, registered.returned = gone, back
    lake.scanned_at, lake.failures = stamp.at, 0
    lake.scan_due_at = next_look(lake.scan_interval_s, now=stamp.at)
    lake.num_tables, lake.num_folders = registered.num_found, registered.num_folders
    lake.num_unreadable = len(registered.unreadable)
    lake.is_truncated = registered.truncated
    lake.error_code = lake.error = lake.error_hint = ""
    lake.save(update_fields=SCANNED)
    if registered.registered or gone or back:
        counts = {
            "registered": len(registered.registered),
            "vanished": len(gone),
            "returned": len(back),
        }
        report(lake_action("lake.scan", lake, stamp=stamp, **counts))
        publish(TABLES)
    publish(LAKES)


def _note_failure(lake: Lake, error: DeltaError, *, now: datetime) -> None:
    lake.failures += 1
    lake.scan_due_at = next_look(lake.scan_interval_s, now=now, failures=lake.failures)
    lake.error_code, lake.error = error.code, error.message
    lake.error_hint = error.hint
    lake.save(
        update_fields=["failures", "scan_due_at", "error_code", "error", "error_hint"]
    )
    publish(LAKES)


def _mark(
    lake: Lake, registered: ScanReport, *, now: datetime
) -> tuple[list[str], list[str]]:
    """Mark the tables that are gone, and those that are back; return their names.

    What lies in a folder that could not be listed, or was not come to, may be there.
    """
    gone: list[Table] = []
    back: list[Table] = []
    tables = lake.tables.only(
        "id", "lake_id", "namespace", "name", "location", "vanished_at"
    )
    unknown = tuple(f"{registered.root}/{path}/" for path in registered.unreadable)
    for table in tables:
        if table.location in registered.locations:
            if table.vanished_at is not None:
                back.append(table)
        elif (
            table.vanished_at is None
            and not registered.truncated
            and not f"{table.location}/".startswith(unknown)
        ):
            gone.append(table)
    _set_vanished(gone, now)
    _set_vanished(back, None)
    return _open_names(gone), _open_names(back)


def _open_names(tables: Sequence[Table]) -> list[str]:
    """Return the names of the open tables among some; every editor sees them."""
    ids = [table.id for table in tables]
    found = Table.objects.filter(is_open(), lake__in={one.lake_id for one in tables})
    seen = set(found.values_list("id", flat=True)) if ids else set()
    return [table.full_name for table in tables if table.id in seen]


def _set_vanished(tables: Sequence[Table], at: datetime | None) -> None:
    for first in range(0, len(tables), IDS_A_STATEMENT):
        ids = [table.id for table in tables[first : first + IDS_A_STATEMENT]]
        Table.objects.filter(id__in=ids).update(vanished_at=at)
