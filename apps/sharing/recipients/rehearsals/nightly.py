"""Rehearsals as jobs: by a button, and each night where an hour is set for them."""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.pages.actions import Actor, Stamp
from apps.sharing.issuing.throw_away import OneRecipient
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.recipients.rehearsals.certificates import keep
from apps.sharing.recipients.rehearsals.rehearsal import Rehearsal, rehearse
from apps.tables.extension.clock import begun_at

REHEARSAL: Final = Actor(name="rehearsal")


def rehearsal_key(recipient: Recipient) -> str:
    """Return by what the rehearsals of a recipient are known."""
    return hashed_key("rehearse", str(recipient.id))


def last_rehearsal(recipient: Recipient) -> Job | None:
    """Return the newest rehearsal of a recipient that was asked for."""
    jobs = Job.objects.filter(key=rehearsal_key(recipient))
    return jobs.order_by("-created_at").first()


def request_rehearsal(
    recipient: Recipient, *, requested_by: User | None = None, now: datetime
) -> Job:
    """Queue a rehearsal; one that waits already is returned."""
    return enqueue(
        kind=REHEARSE_RECIPIENT.name,
        title=f"Rehearse what {recipient.name} reads",
        parameters=to_json(OneRecipient(str(recipient.id))),
        key=rehearsal_key(recipient),
        requested_by=requested_by,
        now=now,
    )


def request_due_rehearsals(*, now: datetime) -> int:
    """Queue a rehearsal of each recipient that can come in, once a night.

    Returns:
        For how many.
    """
    begins = begun_at(settings.REHEARSAL_HOUR, now=now)
    if begins is None:
        return 0
    asked = Job.objects.filter(kind=REHEARSE_RECIPIENT.name, created_at__gte=begins)
    done = set(asked.values_list("key", flat=True))
    live = RecipientToken.objects.live(now).values("recipient")
    due = [
        one
        for one in Recipient.objects.filter(id__in=live, grants__isnull=False)
        .distinct()
        .order_by("name_key")
        if rehearsal_key(one) not in done
    ]
    for recipient in due:
        request_rehearsal(recipient, now=now)
    return len(due)


def _run(job: TrackedJob, asked: OneRecipient) -> Rehearsal:
    recipient = Recipient.objects.get(id=UUID(asked.recipient))
    user = Job.objects.get(id=job.id).requested_by
    actor = Actor(name=user.username, user_id=user.pk) if user else REHEARSAL

    def tell(client: str, done: int, total: int) -> None:
        job.step(f"Reading with {client}")
        job.progress(done, total=total, unit="clients")

    held = rehearse(recipient, stamp=Stamp(actor, timezone.now()), report=tell)
    keep(recipient, held)
    return held


REHEARSE_RECIPIENT: Final = kinds.register(
    JobKind(
        name="sharing.rehearse",
        words="Read as a recipient does",
        parameters=OneRecipient,
        result=Rehearsal,
        run=_run,
        is_for_admins=True,
    )
)
