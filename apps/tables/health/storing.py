"""Findings in the database: one is opened when a rule finds it, and closed after."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q

from apps.notices.events import EventSubject, emit_all
from apps.notices.events.kind import EventKind
from apps.tables.health import finding_events
from apps.tables.health.finding_events import KeptFindings
from apps.tables.models import StoredFinding, Table
from apps.tables.models.health import MAX_KEY_LENGTH, StoredFindingQuerySet
from deltaweb.health.finding import BYTES, Finding, Severity

RANKS: Final = {
    Severity.ACT_NOW: StoredFinding.Severity.ACT_NOW,
    Severity.COSTS: StoredFinding.Severity.COSTS,
    Severity.TO_KNOW: StoredFinding.Severity.TO_KNOW,
}
FACTS: Final = (
    *("severity", "sentence", "evidence", "cost", "cost_bytes", "remedy"),
    *("subject", "subject_url", "seen_at"),
)
"""What a later look may change of a finding."""
KEEP_CLOSED: Final = timedelta(days=90)
"""The time after which a closed finding is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingOfSharing:
    """A finding about a share, a token or a recipient.

    Attributes:
        subject: The name of what it is about.
        subject_url: Its page.
        kind: The kind of the events when it is opened and closed.
        event_subject: The share or the recipient, for events.
    """

    finding: Finding
    subject: str
    subject_url: str
    kind: EventKind
    event_subject: EventSubject


def keep_findings(table: Table, found: Iterable[Finding], *, now: datetime) -> None:
    """Open what is new of a table, and close what no longer holds."""
    rows = [_row(f"{table.id}:", one, now) for one in found]
    for row in rows:
        row.table = table
    with transaction.atomic():
        # Two looks at one table are made one after the other.
        locked = Table.objects.select_for_update(no_key=True).filter(id=table.id)
        if not locked.update(health_checked_at=now):
            return
        before = StoredFinding.objects.filter(table=table, is_of_sharing=False)
        kept = _keep(before.open(), rows, now=now, version=table.version)
        if table.health_checked_at is not None:
            emit_all(finding_events.of_table(table, kept), now=now)
    table.health_checked_at = now


@transaction.atomic
def keep_findings_of_sharing(
    found: Iterable[FindingOfSharing],
    *,
    unfinished: Collection[str] = (),
    now: datetime,
) -> None:
    """Open what is new of all shares and recipients, and close what no longer holds.

    Args:
        unfinished: Rules that were not evaluated to the end: none of their findings is
            closed.
    """
    rows, all_found = [], list(found)
    for one in all_found:
        row = _row("sharing:", one.finding, now)
        row.is_of_sharing, row.subject = True, one.subject
        row.subject_url = one.subject_url
        rows.append(row)
    before = StoredFinding.objects.filter(is_of_sharing=True).open()
    shown = {row.key for row in rows}
    before = before.exclude(Q(rule__in=unfinished) & ~Q(key__in=shown))
    kept = _keep(before.select_for_update(), rows, now=now, version=None)
    subjects = {
        row.key: (one.kind, one.event_subject)
        for row, one in zip(rows, all_found, strict=True)
    }
    emit_all(finding_events.of_sharing(kept, subjects), now=now)


def delete_old_findings(*, now: datetime) -> int:
    """Delete findings that were closed long ago, and return their number.

    One that is still muted stays: it may come back, and is muted again then.
    """
    old = StoredFinding.objects.filter(closed_at__lt=now - KEEP_CLOSED)
    deleted, _ = old.exclude(muted_until__gt=now).delete()
    return deleted


def _keep(
    before: StoredFindingQuerySet,
    rows: list[StoredFinding],
    *,
    now: datetime,
    version: int | None,
) -> KeptFindings:
    known: dict[str, StoredFinding] = {row.key: row for row in before}
    new = {row.key: row for row in rows if row.key not in known}
    kept = []
    for row in rows:
        if (old := known.pop(row.key, None)) is not None:
            for name in FACTS:
                setattr(old, name, getattr(row, name))
            kept.append(old)
    _mute_again(new, now)
    StoredFinding.objects.bulk_update(kept, FACTS)
    StoredFinding.objects.bulk_create(new.values(), ignore_conflicts=True)
    opened = StoredFinding.objects.listed(now).filter(key__in=new, found_at=now)
    gone = StoredFinding.objects.filter(id__in=[row.id for row in known.values()])
    gone.update(closed_at=now, closed_version=version)
    return KeptFindings(opened=list(opened) if new else [], closed=list(known.values()))


def _mute_again(new: dict[str, StoredFinding], now: datetime) -> None:
    """Mute a finding that comes back before the date until which it was muted."""
    if not new:
        return
    muted = StoredFinding.objects.filter(
        Q(muted_until__gt=now), key__in=new, closed_at__isnull=False
    )
    for old in muted.order_by("closed_at"):
        new[old.key].muted_at = old.muted_at
        new[old.key].muted_until = old.muted_until
        new[old.key].muted_by = old.muted_by


def _row(prefix: str, one: Finding, now: datetime) -> StoredFinding:
    shown = one.to_json()
    in_bytes = one.cost is not None and one.cost.unit == BYTES
    return StoredFinding(
        rule=one.rule,
        key=f"{prefix}{one.key}"[:MAX_KEY_LENGTH],
        severity=RANKS[one.severity],
        sentence=one.sentence,
        evidence=shown["evidence"],
        cost=shown["cost"],
        cost_bytes=int(one.cost.amount) if one.cost and in_bytes else None,
        remedy=shown["remedy"],
        since=one.since or now,
        found_at=now,
        seen_at=now,
    )
