"""The queues of webhooks: who sends from which, in what order, and when again.

A process takes a webhook by a lease in its row, and sends what is due, one request
after the other. If it is killed, the lease ends and another process goes on: the event
may arrive twice, with the same id. Each webhook has a thread of its own while it is
sent to, so a slow receiver delays no other one. Two webhooks of one host may be sent to
at a time.
"""

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache
from threading import Lock
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.accounts.lifetimes.suspension import is_suspended, not_suspended
from apps.accounts.models import User
from apps.jobs.running.database_faults import DATABASE_FAULTS
from apps.notices.events.cloud_event import CloudEvent, cloud_event
from apps.notices.events.visibility import visible_events
from apps.notices.models import Attempt, Delivery, Webhook
from apps.notices.sending.pauses import pause
from apps.notices.sending.posting import Answer, post
from apps.notices.sending.signing import secret_of, signed_headers
from apps.pages.responses import to_json
from deltaweb.environment.outages import lost_database

logger = logging.getLogger(__name__)

WAITS: Final = (
    timedelta(seconds=10),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=8, minutes=20),
    timedelta(hours=8),
)
"""The pauses between attempts: 24 h in all, but for five minutes."""
MAX_ATTEMPTS: Final = len(WAITS) + 1
LEASE: Final = timedelta(seconds=60)
TURN: Final = timedelta(seconds=30)  # of one webhook, before others have theirs
HEADS: Final = 500  # deliveries of a queue that are looked at
MAX_A_HOST: Final = 2
MAX_THREADS: Final = 32
MAX_ANSWER: Final = 4_000  # characters that are kept
GONE: Final = 410
FAILED: Final = "after 24 h of failures"
NOT_WANTED: Final = "because the receiver answered 410 Gone"
_sending: Final[set[Future[None]]] = set()
"""The queues that threads of this process send from."""
_lock: Final = Lock()


def send_due(*, now: datetime) -> int:
    """Begin to send from the queues with something due; return the number of queues.

    No more are taken than threads are free, because the lease of a queue that waits for
    a thread would expire.
    """
    with _lock:
        _sending.difference_update([one for one in _sending if one.done()])
        free = MAX_THREADS - len(_sending)
        taken = take_queues(now=now, most=free) if free else []
        _sending.update(_threads().submit(_send_quietly, one) for one in taken)
    return len(taken)


def take_queues(*, now: datetime, most: int) -> list[UUID]:
    """Take the leases of webhooks to which something is due, two of a host at most.

    Those that had no turn for the longest time come first, so that none waits forever.
    """
    due = Delivery.objects.waiting().filter(webhook=OuterRef("pk"), due_at__lte=now)
    free = Q(leased_until=None) | Q(leased_until__lte=now)
    active = User.objects.filter(not_suspended(now), is_active=True)
    waiting = Webhook.objects.filter(Exists(due), paused_at=None, user__in=active)
    with transaction.atomic():
        # The rows of leases are locked together, so that two processes count right.
        every = Webhook.objects.select_for_update().order_by("id")
        busy: dict[str, int] = {}
        for host in every.filter(leased_until__gt=now).values_list("host", flat=True):
            busy[host] = busy.get(host, 0) + 1
        taken: list[UUID] = []
        found = every.filter(free, id__in=waiting.values("id"))
        for webhook in sorted(found, key=_last_turn):
            if len(taken) < most and busy.get(webhook.host, 0) < MAX_A_HOST:
                busy[webhook.host] = busy.get(webhook.host, 0) + 1
                taken.append(webhook.pk)
        Webhook.objects.filter(id__in=taken).update(leased_until=now + LEASE)
    return taken


def _last_turn(webhook: Webhook) -> tuple[bool, float]:
    """Return a key that sorts webhooks by the end of their last turn; none is first."""
    end = webhook.leased_until
    return end is not None, end.timestamp() if end else 0.0


def send_from(webhook_id: UUID) -> int:
    """Send what is due to a webhook, and return its lease; return how many requests."""
    begin, num_sent = timezone.now(), 0
    while True:
        now = timezone.now()
        webhook = Webhook.objects.select_related("user").filter(id=webhook_id).first()
        delivery = None
        if webhook is not None and webhook.paused_at is None and now - begin < TURN:
            delivery = next_due(webhook, now)
        if webhook is None or delivery is None:
            Webhook.objects.filter(id=webhook_id).update(leased_until=now)
            return num_sent
        Webhook.objects.filter(id=webhook_id).update(leased_until=now + LEASE)
        num_sent += _deliver(webhook, delivery, now)


def next_due(webhook: Webhook, now: datetime) -> Delivery | None:
    """Return the oldest delivery of a table that is due; None if no table has one."""
    heads: set[str] = set()
    waiting = webhook.deliveries.waiting().select_related("event").order_by("id")
    for one in waiting[:HEADS]:
        if one.order not in heads:
            heads.add(one.order)
            if one.due_at <= now:
                return one
    return None


def body_of(delivery: Delivery) -> bytes:
    """Return what is sent: the same bytes at each attempt."""
    event = delivery.event
    shown = _test_event(delivery) if event is None else cloud_event(event)
    return to_json(shown).encode()


def _deliver(webhook: Webhook, delivery: Delivery, now: datetime) -> bool:
    """Send one event if its person may still see it; return whether it was sent."""
    user, event = webhook.user, delivery.event
    if not user.is_active or is_suspended(user, now):
        # Its person may come back: the queue waits, until the events are removed.
        Delivery.objects.filter(id=delivery.id).update(due_at=now + LEASE)
        return False
    if event is not None and not visible_events(user, [event]):
        Delivery.objects.filter(id=delivery.id).update(state=Delivery.State.DROPPED)
        return False
    body = body_of(delivery)
    headers = signed_headers(secret_of(webhook), delivery.message_id, body, now=now)
    answer = post(webhook.url, body, headers)
    _note(webhook, delivery, answer, begun_at=now)
    return True


def _note(
    webhook: Webhook, delivery: Delivery, answer: Answer, *, begun_at: datetime
) -> None:
    """Keep an attempt, and decide when the next one is."""
    number, now = delivery.num_attempts + 1, timezone.now()
    row: dict[str, object] = {"num_attempts": number}
    reason = ""
    if answer.is_success:
        row["state"] = Delivery.State.DONE
    elif answer.status == GONE:
        reason = NOT_WANTED
    elif delivery.event is None:  # a test is sent once
        row["state"] = Delivery.State.DROPPED
    elif number >= MAX_ATTEMPTS:
        reason = FAILED
    else:
        row["due_at"] = now + WAITS[number - 1]
    with transaction.atomic():
        Delivery.objects.filter(id=delivery.id).update(**row)
        Attempt.objects.create(
            delivery=delivery,
            at=begun_at,
            number=number,
            status=answer.status,
            reason=answer.reason,
            answer=answer.body[:MAX_ANSWER],
            took_s=answer.took_s,
        )
        if reason:
            pause(webhook, reason, now)


def _test_event(delivery: Delivery) -> CloudEvent:
    return CloudEvent(
        id=str(delivery.uid),
        source=settings.PUBLIC_URL,
        type="deltaweb.webhook.test",
        subject=f"webhook:{delivery.webhook_id}",
        time=delivery.created_at.astimezone(UTC).isoformat(),
        sentence="This is a test. Nothing has happened.",
        data={},
    )


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="webhook")


def _send_quietly(webhook_id: UUID) -> None:
    try:
        send_from(webhook_id)
    except DATABASE_FAULTS as error:
        kind, lost = type(error).__name__, lost_database(error)
        logger.warning("A webhook waits for its lease (%s).", kind, exc_info=lost)
    except Exception:
        logger.exception("A webhook waits for its lease.")
    finally:
        connection.close()
