"""What is known of a table beside its index: its folder, and what other apps add."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max, Min

from apps.tables.extension.guards import holds_at, oldest_held
from apps.tables.extension.indexed import adds_facts
from apps.tables.models import Commit, Table
from apps.tables.operations.vacuum.storage_ledger import StorageLedger, ledger_of
from deltaweb.health.facts import HealthFacts, ListedFolder, ScheduledVacuum

GOOD_FOR: Final = timedelta(days=30)
"""How long a listing of the folder says something."""
ORPHAN: Final = "orphan"
VACUUM: Final = "vacuum"
HOUR_MS: Final = 3_600_000


def with_known(facts: HealthFacts, table: Table, *, now: datetime) -> HealthFacts:
    """Return facts with all that this server knows of the table."""
    known = replace(
        facts,
        listing=listed_folder(ledger_of(table), now=now),
        scheduled_vacuum=scheduled_vacuum(facts, table, now=now),
    )
    for add in adds_facts:
        known = add(known, table, now)
    return known


def listed_folder(ledger: StorageLedger, *, now: datetime) -> ListedFolder | None:
    """Return what the last listing found; None if a vacuum ran since, or it is old."""
    listed_at = ledger.listed_at
    if listed_at is None or ledger.vacuum_since is not None:
        return None
    if now - listed_at > GOOD_FOR:
        return None
    orphans = [part for part in ledger.parts if part.kind == ORPHAN]
    goes = ledger.could_go.deletion if ledger.could_go else None
    # A file that is too young to go may be of a write that is under way.
    orphan_files = min(
        sum(part.num_files for part in orphans), goes.num_files if goes else 0
    )
    orphan_bytes = min(
        sum(part.size_bytes for part in orphans), goes.size_bytes if goes else 0
    )
    return ListedFolder(
        listed_at=listed_at,
        # What would go includes the orphans that are old enough.
        removed_files=goes.num_files - orphan_files if goes else 0,
        removed_bytes=goes.size_bytes - orphan_bytes if goes else 0,
        num_lost=goes.num_lost if goes else 0,
        orphan_files=orphan_files,
        orphan_bytes=orphan_bytes,
    )


def scheduled_vacuum(
    facts: HealthFacts, table: Table, *, now: datetime
) -> ScheduledVacuum | None:
    """Return the next vacuum of a schedule, with the versions that may end by it.

    None if there is no schedule, or no version ends. The newest removal that is old
    enough by then ends at most all versions before it, but for those that are held.
    """
    repeat = table.repeated_operations.filter(operation=VACUUM).first()
    if repeat is None:
        return None
    hours = repeat.parameters.get("hours") or _retention_hours(facts)
    if hours is None:
        return None
    old = table.commits.filter(
        num_removed_files__gt=0, committed_at__lt=repeat.due_at - timedelta(hours=hours)
    )
    end = old.aggregate(newest=Max("version"))["newest"]
    held = oldest_held(holds_at(table.location, now=now))
    if end is not None and held is not None:
        end = min(end, held)
    ending = table.commits.filter(
        version__lt=-1 if end is None else end, readability=Commit.Readability.READABLE
    ).aggregate(first=Min("version"), last=Max("version"))
    if ending["first"] is None:
        return None
    return ScheduledVacuum(
        next_at=repeat.due_at,
        hours=hours,
        first_lost=ending["first"],
        last_lost=ending["last"],
    )


def _retention_hours(facts: HealthFacts) -> float | None:
    retention_ms = facts.file_retention_ms
    return None if retention_ms is None else retention_ms / HOUR_MS
