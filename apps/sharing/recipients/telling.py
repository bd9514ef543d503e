"""Reminders that are sent by the clock: each once, by mail and to a webhook.

The webhook is a POST of JSON, signed as Standard Webhooks has it. What could not be
sent is tried again.
"""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, NoParameters
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.news.mails import MailRefusedError
from apps.notices.sending.signing import MARK, signed_headers
from apps.pages.page_json import IfKnown
from apps.pages.responses import to_json
from apps.sharing.errors import NoWayToTellError
from apps.sharing.models import ToldReminder
from apps.sharing.recipients.reminders import (
    Reminder,
    mail_reminders,
    reminders,
)
from apps.tables.extension.clock import begun_at
from apps.tables.storage.documents import post_document
from apps.tables.storage.errors import DocumentError
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.received.transport import host_of

RETRY_AFTER: Final = timedelta(minutes=15)
FORGET_AFTER: Final = timedelta(days=90)  # no reminder is due for so long


def request_due_reminders(*, now: datetime) -> None:
    """Queue what sends reminders: once a day, and again where that failed."""
    begins = begun_at(settings.REMINDER_HOUR, now=now)
    if begins is None or not (settings.EMAIL_HOST or settings.WEBHOOK_URL):
        return
    of_today = Job.objects.filter(kind=SEND_REMINDERS.name, created_at__gte=begins)
    last = of_today.order_by("-created_at").first()
    if last is not None and (
        last.state == Job.State.DONE or now - last.created_at < RETRY_AFTER
    ):
        return
    _enqueue(now=now)


def request_reminders(*, now: datetime, requested_by: User | None) -> Job:
    """Queue what sends the reminders that were not sent yet, or return what does."""
    if not (settings.EMAIL_HOST or settings.WEBHOOK_URL):
        raise NoWayToTellError
    return _enqueue(now=now, requested_by=requested_by)


def _enqueue(*, now: datetime, requested_by: User | None = None) -> Job:
    return enqueue(
        kind=SEND_REMINDERS.name,
        title="Send reminders",
        key="remind",
        requested_by=requested_by,
        now=now,
    )


def send_by_mail(found: Sequence[Reminder], *, now: datetime) -> int:
    """Mail reminders to the contacts of recipients, one mail to each.

    Returns:
        How many reminders were sent.
    """
    num_sent = 0
    for sent in mail_reminders(found):
        _note("mail", sent, now)
        num_sent += len(sent)
    return num_sent


def send_to_webhook(found: Sequence[Reminder], *, now: datetime) -> int:
    """Send reminders to the webhook of the settings, in one message.

    Returns:
        How many there are.

    Raises:
        DeltaError: If its host may not be asked, or it does not answer with 2xx.
    """
    if not found:
        return 0
    body = to_json({"type": "reminders", "reminders": found}).encode()
    message_id = hashlib.sha256(" ".join(one.key for one in found).encode()).hexdigest()
    key = _signing_key(settings.WEBHOOK_SECRET)
    post_document(
        settings.WEBHOOK_URL,
        body,
        headers=signed_headers(key, message_id, body, now=now),
        allowed=settings.STORAGE_HOSTS,
    )
    _note("webhook", found, now)
    return len(found)


def _signing_key(secret: str) -> bytes:
    """Return what a secret stands for: libraries of the standard write it in base64."""
    encoded = secret.removeprefix(MARK)
    if encoded == secret:
        return secret.encode()
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        reason = f"what follows {MARK} in DELTAWEB_WEBHOOK_SECRET is not base64"
        raise DocumentError(url=host_of(settings.WEBHOOK_URL), reason=reason) from error


_WAYS: Final = {
    "mail": ("EMAIL_HOST", send_by_mail),
    "webhook": ("WEBHOOK_URL", send_to_webhook),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemindersSent:
    """How many reminders were sent; None of a way that is not set up."""

    mail: IfKnown[int | None] = None
    webhook: IfKnown[int | None] = None


def _run(job: TrackedJob, _asked: NoParameters) -> RemindersSent:
    """Send what was not sent yet; one way that fails does not keep the other."""
    now = timezone.now()
    ToldReminder.objects.filter(told_at__lt=now - FORGET_AFTER).delete()
    found, sent = reminders(now), {}
    errors: list[DeltaError | MailRefusedError] = []
    for way, (setting, send) in _WAYS.items():
        if getattr(settings, setting):
            job.step(f"Sending by {way}")
            try:
                sent[way] = send(_unsent(way, found), now=now)
            except (DeltaError, MailRefusedError) as error:
                errors.append(error)
    if errors:
        raise errors[0]
    return RemindersSent(**sent)


def _unsent(way: str, found: Sequence[Reminder]) -> list[Reminder]:
    by_digest = {_digest(way, one): one for one in found}
    sent = ToldReminder.objects.in_bulk(list(by_digest))
    return [one for digest, one in by_digest.items() if digest not in sent]


def _note(way: str, sent: Sequence[Reminder], now: datetime) -> None:
    rows = [ToldReminder(told_sha256=_digest(way, one), told_at=now) for one in sent]
    ToldReminder.objects.bulk_create(rows, ignore_conflicts=True)


def _digest(way: str, reminder: Reminder) -> str:
    return hashlib.sha256(f"{way}:{reminder.key}".encode()).hexdigest()


SEND_REMINDERS: Final = kinds.register(
    JobKind(
        name="sharing.remind",
        words="Send reminders",
        parameters=NoParameters,
        result=RemindersSent,
        run=_run,
        is_for_admins=True,
    )
)
