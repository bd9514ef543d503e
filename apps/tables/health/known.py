"""What is known of a table beside its index: its folder, and what other apps add."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from apps.tables.extension.indexed import adds_facts
from apps.tables.models import Table
from apps.tables.operations.vacuum.storage_ledger import StorageLedger, ledger_of
from deltaweb.health.facts import HealthFacts, ListedFolder

GOOD_FOR: Final = timedelta(days=30)
"""How long a listing of the folder says something."""
ORPHAN: Final = "orphan"


def with_known(facts: HealthFacts, table: Table, *, now: datetime) -> HealthFacts:
    """Return facts with all that this server knows of the table."""
    known = replace(facts, listing=listed_folder(ledger_of(table), now=now))
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
    orphan_files = sum(part.num_files for part in orphans)
    orphan_bytes = sum(part.size_bytes for part in orphans)
    goes = ledger.could_go.deletion if ledger.could_go else None
    return ListedFolder(
        listed_at=listed_at,
        # What would go includes the orphans that are old enough.
        removed_files=max(goes.num_files - orphan_files, 0) if goes else 0,
        removed_bytes=max(goes.size_bytes - orphan_bytes, 0) if goes else 0,
        num_lost=goes.num_lost if goes else 0,
        orphan_files=orphan_files,
        orphan_bytes=orphan_bytes,
    )
