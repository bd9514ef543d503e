"""The publisher: it gives numbers to events whose transactions have committed.

A number taken inside a transaction would become visible out of order on PostgreSQL: a
reader who has seen 12 would miss 11. So numbers are given afterwards, by whoever holds
the lock of the stream's row. The lock is a lease: PostgreSQL ends it with the
connection, or once its holder does nothing for a while.
"""

import logging
import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Final

from django.db import connection, transaction

from apps.jobs.running.database_faults import DATABASE_FAULTS
from apps.news.publishing import publish
from apps.notices.models import Event, EventSequence
from apps.pages.registry import Registry
from apps.pages.request.lock_waits import short_transaction

logger = logging.getLogger(__name__)

BATCH: Final = 500
LOCK_WAIT_MS: Final = 1_000  # then the next tick publishes
IDLE_MS: Final = 10_000  # of a holder that was stopped or lost its network
TOPIC: Final = "events"

# Called with the highest number after events were published; it does not raise.
after_publishing: Registry[Callable[[int], object]] = Registry()


def publish_on_commit() -> None:
    """Publish once the transaction commits; what fails is left to the next tick."""
    transaction.on_commit(publish_quietly, robust=True)


def publish_quietly() -> None:
    """Publish unless the database is busy: the next tick does it then."""
    try:
        publish_events()
    except DATABASE_FAULTS as error:
        logger.info("Events wait for the next tick (%s).", type(error).__name__)


def publish_events() -> int:
    """Give numbers to all committed events; return how many got one."""
    total = 0
    while Event.objects.unpublished().exists():
        with short_transaction(LOCK_WAIT_MS):
            count, last_number = _publish_some()
        total += count
        if count:
            for follower in after_publishing:
                follower(last_number)
        if count < BATCH:
            break
    return total


def new_epoch() -> str:
    """Begin another epoch, and return it: call it after a restore.

    Numbers that were given after the backup are unknown, so cursors of before are not
    valid any more.
    """
    with transaction.atomic():
        sequence = locked_sequence()
        former = {**sequence.former, sequence.epoch: sequence.last_number}
        sequence.former = {
            name: min(number, sequence.last_number) for name, number in former.items()
        }
        sequence.epoch = _new_name()
        sequence.save(update_fields=["epoch", "former"])
    return sequence.epoch


def prune_events(*, before: datetime) -> int:
    """Remove published events that happened before a moment; return how many.

    Only the oldest numbers are removed, without gaps: a cursor either has all that
    follows it, or is too old.
    """
    with transaction.atomic():
        sequence = locked_sequence()
        kept = Event.objects.after(sequence.pruned_to).filter(at__gte=before).first()
        end = sequence.last_number + 1 if kept is None else kept.number or 0
        removed, _ = Event.objects.filter(number__lt=end).delete()
        if removed:
            sequence.pruned_to = end - 1
            sequence.save(update_fields=["pruned_to"])
    return removed


def the_sequence() -> EventSequence:
    """Return the sequence; the first call makes it."""
    sequence, _ = EventSequence.objects.get_or_create(
        id=EventSequence.THE_ONE, defaults={"epoch": _new_name()}
    )
    return sequence


def locked_sequence() -> EventSequence:
    """Return the sequence, locked until the transaction ends."""
    the_sequence()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_MS}")
    return EventSequence.objects.select_for_update().get(id=EventSequence.THE_ONE)


def _publish_some() -> tuple[int, int]:
    """Number the oldest events; return how many, and the highest number."""
    sequence = locked_sequence()
    events = list(Event.objects.unpublished().only("id", "number")[:BATCH])
    for number, event in enumerate(events, sequence.last_number + 1):
        event.number = number
    if events:
        Event.objects.bulk_update(events, ["number"])
        sequence.last_number += len(events)
        sequence.save(update_fields=["last_number"])
        publish(TOPIC)
    return len(events), sequence.last_number


def _new_name() -> str:
    return secrets.token_hex(4)
