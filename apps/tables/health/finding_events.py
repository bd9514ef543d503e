"""The events of findings that were opened or closed. Muted ones have none."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apps.notices.events import EventSubject, Happening
from apps.notices.events.finding import CLOSED, OPEN, FindingEvent
from apps.notices.events.kind import EventKind, event_kinds
from apps.notices.kinds.table_health import TABLE_HEALTH
from apps.notices.models import Event
from apps.tables.models import StoredFinding, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFindings:
    """The findings that a look has opened, and those that it has closed."""

    opened: Sequence[StoredFinding]
    closed: Sequence[StoredFinding]

    def __iter__(self) -> Iterator[tuple[str, StoredFinding]]:
        """Yield each with its state."""
        yield from ((OPEN, row) for row in self.opened)
        yield from ((CLOSED, row) for row in self.closed if row.muted_until is None)


def of_table(table: Table, kept: KeptFindings) -> list[Happening]:
    """Return the events of findings about a table."""
    subject = EventSubject("table", str(table.id), table.full_name)
    return [
        Happening(
            kind=TABLE_HEALTH,
            subject=subject,
            data=_data(row, state),
            table_id=table.id,
            key=_key(row, state),
        )
        for state, row in kept
    ]


def of_sharing(
    kept: KeptFindings, subjects: Mapping[str, tuple[EventKind, EventSubject]]
) -> list[Happening]:
    """Return the events of findings about sharing.

    A finding that is closed has the subject of the event that opened it; without that
    event it has none.

    Args:
        subjects: The kind and the subject of a finding that holds, by its key.
    """
    events = []
    for state, row in kept:
        known = subjects.get(row.key) or _opened(row)
        if known is not None:
            kind, subject = known
            data, key = _data(row, state), _key(row, state)
            events.append(Happening(kind=kind, subject=subject, data=data, key=key))
    return events


def _opened(row: StoredFinding) -> tuple[EventKind, EventSubject] | None:
    kinds = event_kinds()
    keys = [f"{name}:{_key(row, OPEN)}" for name in kinds]
    event = Event.objects.filter(key__in=keys).first()
    if event is None:
        return None
    subject = EventSubject(event.subject_kind, event.subject_id, event.subject_name)
    return kinds[event.kind], subject


def _data(row: StoredFinding, state: str) -> FindingEvent:
    return FindingEvent(
        rule=row.rule,
        severity=row.severity_word,
        state=state,
        finding=row.sentence,
    )


def _key(row: StoredFinding, state: str) -> str:
    found = f"{row.key} {row.found_at.timestamp()} {state}"
    return hashlib.sha256(found.encode()).hexdigest()
