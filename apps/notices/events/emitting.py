"""Writing events to the outbox, in the transaction in which they happen.

    emit(
        NEW_VERSION,
        EventSubject("table", str(table.id), table.full_name),
        NewVersion(version=3),
        now=now,
        table_id=table.id,
    )

A reader sees an event once the publisher has given it a number.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4, uuid5

from django.db import transaction

from apps.notices.events.kind import EventData, EventKind, EventSubject
from apps.notices.events.publisher import publish_on_commit
from apps.notices.models import Event
from apps.pages.page_json import json_of

BATCH: Final = 500
MAX_NAME: Final = 500


class NoTransactionError(Exception):
    """An event was written outside of a transaction."""

    def __init__(self) -> None:
        super().__init__("Write an event in the transaction in which it happens.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event that is to be written.

    Attributes:
        data: An instance of the kind's dataclass.
        table_id: The table that it is about, also if the subject is a job or a share.
        also: More subjects; who may not see all of them does not see the event.
        key: Equal keys are one event, for as long as events are kept; "" for an event
            that has no equal. The kind's name is added to it. An event of a table has
            an id made of its key, so that a server restored from a backup reports it
            again with the same id.
    """

    kind: EventKind
    subject: EventSubject
    data: EventData
    table_id: UUID | None = None
    also: Sequence[EventSubject] = ()
    key: str = ""


def emit(  # noqa: PLR0913 (each is a column of the row)
    kind: EventKind,
    subject: EventSubject,
    data: EventData,
    *,
    now: datetime,
    table_id: UUID | None = None,
    also: Sequence[EventSubject] = (),
    key: str = "",
) -> None:
    """Write one event; see `Happening` and `emit_all`."""
    happening = Happening(
        kind=kind, subject=subject, data=data, table_id=table_id, also=also, key=key
    )
    emit_all([happening], now=now)


def emit_all(happenings: Sequence[Happening], *, now: datetime) -> None:
    """Write events in their order, and publish them once the transaction commits.

    Call it in the transaction that makes the change. Where the order of a table's
    events matters, call it while the table's row is locked. An event whose key was
    written before is left out.

    Raises:
        NoTransactionError: If there is no transaction.
    """
    if not happenings:
        return
    if not transaction.get_connection().in_atomic_block:
        raise NoTransactionError
    rows = [_row(happening, now) for happening in happenings]
    Event.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
    publish_on_commit()


def _row(happening: Happening, now: datetime) -> Event:
    kind, subject, table_id = happening.kind, happening.subject, happening.table_id
    key = f"{kind.name}:{happening.key}"[:200] if happening.key else None
    return Event(
        uid=uuid5(table_id, key) if table_id and key else uuid4(),
        kind=kind.name,
        key=key,
        subject_kind=subject.kind,
        subject_id=subject.id,
        subject_name=subject.name[:MAX_NAME],
        table_id=table_id,
        also=[json_of(one) for one in happening.also],
        data=json.dumps(json_of(happening.data), ensure_ascii=False),
        sentence=happening.data.sentence(subject.name),
        at=now,
    )
