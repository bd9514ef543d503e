"""Mails of notifications: one mail to a person for all events that are due.

What the relay refuses is tried again later. The text names what happened, as the event
does, and no content of tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.lifetimes.suspension import is_suspended
from apps.accounts.models import User
from apps.accounts.services import mailing, send_account_mail
from apps.accounts.zones import user_zone
from apps.jobs import kinds
from apps.jobs.kind import JobKind, NoParameters, hashed_key, to_json
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.news.mails import MailRefusedError, mail_is_set_up, send_text
from apps.notices.events.visibility import visible_events
from apps.notices.following.distribution import mailed_ids
from apps.notices.models import Notice
from deltaweb.words import counted

SEND_MAILS: Final = "notices.send_mails"
ACCOUNT_MAIL: Final = "accounts.send_mail"
MAX_LISTED: Final = 100
MAX_SENTENCE: Final = 300
RETRY_AFTER: Final = timedelta(minutes=5)
MAX_TRIES: Final = 8
PAGE: Final = "/notifications/following"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailsSent:
    """The mails that were sent.

    Attributes:
        mails: The number of mails.
        events: The number of events in them.
        refused: The number of mails that the relay refused.
    """

    mails: int
    events: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountMailSent:
    """Whether there was still something to send."""

    sent: bool


def request_due_mails(*, now: datetime) -> None:
    """Queue a job that sends mails, if some are due."""
    if not mail_is_set_up() or not _due(now).exists():
        return
    enqueue(kind=SEND_MAILS, title="Send notifications", key=SEND_MAILS, now=now)


def queue_account_mail(asked: mailing.MailAsked) -> None:
    """Queue a mail about an account."""
    enqueue(
        kind=ACCOUNT_MAIL,
        title="Send a mail about an account",
        parameters=to_json(asked),
        key=hashed_key(ACCOUNT_MAIL, asked.user_id, asked.purpose, asked.address),
        now=timezone.now(),
    )


def send_due_mails(*, now: datetime) -> MailsSent:
    """Send the notifications that are due, one mail to each person."""
    mails = events = refused = 0
    people = User.objects.filter(id__in=_due(now).values("user")).order_by("id")
    for user in people:
        rows = list(_due(now).filter(user=user).select_related("event").order_by("id"))
        if not user.is_active or is_suspended(user, now) or not user.mail_address:
            _mark(rows, mailed_at=None)
            continue
        seen = visible_events(user, [row.event for row in rows])
        wanted = mailed_ids(user, seen, now)
        told = [row for row in rows if row.event_id in wanted]
        try:
            if told:
                _send(user, told)
        except MailRefusedError:
            refused += 1
            _put_off(rows, now)
            continue
        _mark(rows, mailed_at=now)
        mails, events = mails + bool(told), events + len(told)
    return MailsSent(mails=mails, events=events, refused=refused)


def _send(user: User, rows: Sequence[Notice]) -> None:
    zone = user_zone(user)
    first = rows[0].event.sentence
    subject = first if len(rows) == 1 else f"{counted(len(rows), 'notification')}"
    lines = [
        f"{row.event.at.astimezone(zone):%Y-%m-%d %H:%M}  "
        f"{_line(row.event.sentence)[:MAX_SENTENCE]}"
        for row in rows[:MAX_LISTED]
    ]
    if len(rows) > MAX_LISTED:
        lines.append(f"… and {len(rows) - MAX_LISTED:,} more.")
    text = (
        "\n".join(lines)
        + f"\n\nTimes are of {user.time_zone}.\n"
        + f"All notifications: {settings.PUBLIC_URL}/notifications/\n"
        + f"Change or stop them: {settings.PUBLIC_URL}{PAGE}\n"
    )
    headers = {
        # A second try has the same id, so that mail programs show it once.
        "Message-ID": f"<{rows[0].event.uid}.{user.pk}.{len(rows)}@deltaweb>",
        "Auto-Submitted": "auto-generated",
        "List-Unsubscribe": f"<{settings.PUBLIC_URL}{PAGE}>",
    }
    said = _line(subject)[:150]
    send_text(
        user.mail_address, f"{settings.PROVIDER_NAME}: {said}", text, headers=headers
    )


def _line(sentence: str) -> str:
    """Return a sentence as one line, so that a name in it adds none to a mail."""
    return " ".join(sentence.split())


def _due(now: datetime) -> QuerySet[Notice]:
    return Notice.objects.filter(mail_due_at__lte=now)


def _mark(rows: Sequence[Notice], *, mailed_at: datetime | None) -> None:
    ids = [row.id for row in rows]
    Notice.objects.filter(id__in=ids).update(mail_due_at=None, mailed_at=mailed_at)


def _put_off(rows: Sequence[Notice], now: datetime) -> None:
    """Try again later, with longer pauses; give up in the end."""
    for row in rows:
        row.mail_tries += 1
        pause = RETRY_AFTER * 2 ** (row.mail_tries - 1)
        row.mail_due_at = None if row.mail_tries >= MAX_TRIES else now + pause
    Notice.objects.bulk_update(rows, ["mail_tries", "mail_due_at"])


def _run(job: TrackedJob, _: NoParameters) -> MailsSent:
    job.step("Sending mail")
    return send_due_mails(now=timezone.now())


def _run_account(job: TrackedJob, asked: mailing.MailAsked) -> AccountMailSent:
    job.step("Sending mail")
    return AccountMailSent(sent=send_account_mail(asked, now=timezone.now()))


kinds.register(
    JobKind(
        name=SEND_MAILS,
        words="Send notifications",
        parameters=NoParameters,
        result=MailsSent,
        run=_run,
        is_for_admins=True,
    )
)
kinds.register(
    JobKind(
        name=ACCOUNT_MAIL,
        words="Send a mail about an account",
        parameters=mailing.MailAsked,
        result=AccountMailSent,
        run=_run_account,
        is_for_admins=True,
    )
)
